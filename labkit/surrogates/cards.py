"""A card for every way to train on a metric: its equation, where it is from, and what is ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from labkit.base.titles import TITLES
from labkit.surrogates.word_config import ARMS

LS = "Patel, Hodan, Matas, Learning Surrogates via Deep Embedding, ECCV 2020; slides, Algorithm 1"
FEDS = "Patel, Matas, FEDS -- Filtered Edit Distance Surrogate, ICDAR 2021; slides"
OURS = "Layers of h, λ, I_a, I_b, both learning rates and the random pairs are ours: the slides give none."
DISTANCE = r"\hat e_\Phi(z, y) = \lVert h_\Phi(z) - h_\Phi(y) \rVert_2"
LEARN = (
    r"\Phi:\; (\hat e - e)^2 + \lambda \big(\lVert \partial \hat e / \partial z \rVert_2 - 1\big)^2, "
    r"\qquad \Theta:\; \hat e_\Phi(f_\Theta(x), y)"
)


@dataclass(frozen=True)
class ArmCard:
    """What is known of one way: latex, source, what is ours, and the errata that concern it."""

    name: str
    latex: str
    source: str
    ours: str
    errata: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Its name for people."""
        return TITLES.get(self.name, "LS-IoU")

    @property
    def options(self) -> dict[str, Any]:
        """Its options with their defaults, which are ours."""
        return ARMS.get(self.name, {})


CARDS = (
    ArmCard(
        "ls-ed",
        rf"{DISTANCE}, \qquad {LEARN}",
        LS,
        OURS,
        ("E-SL-6", "E-SL-7", "E-SL-B"),
    ),
    ArmCard(
        "ls-ed-ce",
        r"\Theta:\; \hat e_\Phi(f_\Theta(x), y) + c\, L_{CE}",
        LS,
        "The sum with cross-entropy and its weight c are ours, as a control. " + OURS,
    ),
    ArmCard(
        "feds",
        r"w = \max\big(0,\, 1 - |\hat e - e| / \varepsilon\big) \text{ on both losses of LS-ED}",
        FEDS,
        "The paper's ramp and its ε could not be found: this ramp, ε, and that weights pass no gradient on are ours.",
        ("E-SL-8",),
    ),
    ArmCard(
        "feds-hard",
        r"w = 1 \text{ if } |\hat e - e| \le \varepsilon, \text{ else } 0",
        FEDS,
        "The hard filter is ours, beside the ramp.",
    ),
    ArmCard(
        "feds-random",
        r"w_i = w^{ramp}_{\pi(i)} \text{ with a random permutation } \pi",
        "ours",
        "A control that the papers lack: as much is kept, but not what the surrogate is right about.",
    ),
    ArmCard(
        "cross-entropy",
        r"L = -\sum_i \log p_i(y_i), \text{ over the letters and the end}",
        "slides, Proxy Loss for Scene Text Recognition",
        "As a control with the same steps, and with the same CPU time; the slides have neither.",
    ),
    ArmCard(
        "reinforce",
        r"\nabla = \mathbb{E}_{s \sim p}\big[(e(s, y) - b)\, \nabla \log p(s)\big]",
        "Williams, Simple Statistical Gradient-Following Algorithms, 1992",
        "As a control: exact distances of sampled words, the mean of a word's other samples as its baseline b.",
    ),
    ArmCard(
        "soft-edit-distance",
        r"D_{ij} = \mathrm{smin}_T\big(D_{i-1,j} + 1,\; D_{i,j-1} + 1,\; "
        r"D_{i-1,j-1} + 1 - \langle p_i, q_j \rangle\big)",
        "after Cuturi, Blondel, Soft-DTW, ICML 2017",
        "As a control: the edit distance with a soft minimum, and its mean over the lengths of uncertain words.",
    ),
    ArmCard(
        "ls-iou",
        rf"{DISTANCE}, \qquad e = 1 - \mathrm{{IoU}} \text{{ of rotated boxes}}",
        "slides, Results on Scene Text Detection; " + LS,
        "h sees cx, cy, w, h, cos 2θ and sin 2θ. " + OURS,
    ),
)
BY_NAME = {card.name: card for card in CARDS}
