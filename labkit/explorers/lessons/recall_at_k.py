"""One query's gallery on a line: move any item, and recall@k, rs@k and the gradient answer at once (slides, Fig. 1)."""

from __future__ import annotations

from typing import Any

from labkit.base.mode import mode
from labkit.explorers.sliders import Control, Explorer, explore
from labkit.figures.lessons.recall_at_k import GALLERY, gallery, moved_gallery

ITEM, SIMILARITY = "P2", GALLERY["P2"][0]  # what can be moved first
HUNDREDTHS = tuple(round(n / 100, 2) for n in range(101))
TAU_RANK = Control("tau_rank", "τ₁ (ranks)", (0.1, 0.25, 0.5, 1.0, 2.0, 4.0), 1.0)
TAU_SIM = Control("tau_sim", "τ₂ (similarities)", (0.002, 0.005, 0.01, 0.02, 0.05, 0.1), 0.01)


def explore_similarities() -> SimilarityExplorer | None:
    """Live: choose an item and slide it; items stay where they are put. Beneath: one item of the slides' example moves.

    On a page without Python one positive or one negative can be moved, at two values of each temperature.
    """
    live = None
    if mode() == "live":
        live = SimilarityExplorer()
        live.show()
    controls = [
        Control("item", "item", (ITEM, "N1"), ITEM, menu=True),
        Control("similarity", "its similarity", tuple(round(0.03 + 0.04 * n, 2) for n in range(25)), SIMILARITY),
        Control("tau_rank", "τ₁ (ranks)", (0.25, 1.0), 1.0),
        Control("tau_sim", "τ₂ (similarities)", (0.01, 0.05), 0.01),
    ]
    alt = (
        "A query's gallery of eight items, three of them positives, and recall@k and rs@k beneath. The positive P2 "
        "moves from 0.55 to 0.62 and to 0.66. At 0.62 no rank has changed, so recall@k stays, but rs@4 has risen. At "
        "0.66 P2 has passed N3, and recall@4 jumps. Arrows show the gradient: neighbours of different kind are pushed "
        "past each other."
    )
    explore(moved_gallery, controls, [{"similarity": s} for s in (0.55, 0.62, 0.66)], alt, live=False)
    return live


class SimilarityExplorer(Explorer):
    """Every item can be moved, and stays where it was put."""

    def __init__(self) -> None:
        """All items at their start."""
        self.similarity = {name: s for name, (s, _) in GALLERY.items()}
        item = Control("item", "item", tuple(GALLERY), ITEM, menu=True)
        moved = Control("similarity", "its similarity", HUNDREDTHS, SIMILARITY)
        super().__init__(self.present, [item, moved, TAU_RANK, TAU_SIM])

    def present(self, item: str, similarity: float, tau_rank: float, tau_sim: float) -> Any:
        """Put the chosen item where the slider is, and draw."""
        self.similarity[item] = similarity
        return gallery(self.similarity, tau_rank, tau_sim)

    def changed(self, change: Any) -> None:
        """A newly chosen item takes the slider to where the item is; everything else draws anew."""
        if change["owner"] is self.controls["item"]:
            self.controls["similarity"].value = self.similarity[change["new"]]
        else:
            super().changed(change)
