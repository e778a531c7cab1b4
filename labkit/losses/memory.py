"""Cross-batch memory: embeddings of earlier batches as references (Wang et al. 2020, XBM; the tables' "Cont. w/M")."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from labkit.base.checks import check_count, check_not_negative
from labkit.base.tensors import working_precision
from labkit.losses.modules.base import Loss


class CrossBatchMemory(nn.Module):
    """loss(batch) + weight · loss(batch against what earlier batches left), for a loss that takes references.

    Wang et al. 2020: embeddings drift slowly, so those of recent batches still serve as positives and negatives; they
    get no gradient. The memory holds the last `size` rows. The released code puts the batch in before it compares, so
    that every item meets itself, and drops similarities of 1; here a batch joins the memory after its loss, and its
    own pairs are those of the first term. In evaluation (`.eval()`) nothing is remembered.
    """

    rows: Tensor
    labels: Tensor

    def __init__(self, loss: Loss, dim: int, size: int = 1024, weight: float = 1.0) -> None:
        """Loss: on pairs or ranks, such as Contrastive(); dim: of the embeddings; size: rows that are remembered."""
        super().__init__()
        if not isinstance(loss, Loss) or not loss.takes_others:
            shown = loss.__name__ if isinstance(loss, type) else type(loss).__name__
            raise ValueError(f"loss must be one that compares items, such as losses.Contrastive(), got {shown}")
        check_count("dim", dim)
        check_count("size", size)
        check_not_negative("weight", weight)
        self.loss, self.size, self.weight, self.seen = loss, size, weight, 0
        self.register_buffer("rows", torch.zeros(size, dim))
        self.register_buffer("labels", torch.zeros(size, dtype=torch.int64))

    def forward(self, embeddings: Tensor, labels: Tensor, **how: Any) -> Tensor:
        """(B, D), (B,) -> scalar or (B,); all else as the loss takes it."""
        if how.get("return_parts"):
            raise ValueError("return_parts: parts are those of a batch by itself; ask the loss without the memory")
        value: Tensor = self.loss(embeddings, labels, **how)
        held = min(self.seen, self.size)
        if held and self.weight:
            # a batch whose classes are not in the memory adds nothing
            rows, known = self.rows[:held].clone(), self.labels[:held].clone()  # backward needs them as they are now
            options = self.loss.options | {"empty": "zero"}
            extras = self.loss.extras()
            older = self.loss.function(
                embeddings, labels, ref_embeddings=rows, ref_labels=known, **extras, **options, **how
            )
            assert isinstance(older, Tensor)
            value = value + self.weight * older
        if self.training:
            self.remember(embeddings.detach(), labels)
        return value

    @torch.no_grad()
    def remember(self, embeddings: Tensor, labels: Tensor) -> None:
        """The newest rows take the places of the oldest."""
        new = working_precision(embeddings)[-self.size :].to(self.rows)
        first = (self.seen + len(embeddings) - len(new)) % self.size
        place = (first + torch.arange(len(new), device=self.rows.device)) % self.size
        self.rows[place] = new
        self.labels[place] = labels[-self.size :].to(self.labels)
        self.seen += len(embeddings)

    def get_extra_state(self) -> dict[str, int]:
        """How many rows have been seen, beside the memory itself."""
        return {"seen": self.seen}

    def set_extra_state(self, state: dict[str, int]) -> None:
        """From a state_dict."""
        self.seen = int(state["seen"])
