"""Cards: losses that rank: from soft counts of who is above whom."""

from __future__ import annotations

from functools import partial

from labkit.base.titles import TITLES
from labkit.losses.cards.card import Card
from labkit.losses.modules import ranking

PNP_PAPER = "Li et al., Rethinking the Optimization of Average Precision (PNP), AAAI 2022"
RSK_PAPER = "Patel, Tolias, Matas, Recall@k Surrogate Loss with Large Batches and Similarity Mixup, CVPR 2022"
TAU = {"tau": "PNP paper, Eq. 3"}
PNP_RELEASED = "The query counts as its own positive and the sum is divided by |P|+1; labels are read off positions."
RSK_OPTIONS = {"ks": "slides", "tau_rank": "slides, τ1", "tau_sim": "slides, τ2"}


def pnp_card(variant: str, formula: str, equation: str, errata: tuple[str, ...], **extra: str) -> Card:
    """The six PNP variants differ in f alone."""
    shown = {"Iu": "I_u", "Iu-exact": r"I_u\text{, exact}", "Ib": "I_b", "Ds": "D_s", "Dq": "D_q"}.get(variant, variant)
    return Card(
        name=f"pnp-{variant.lower()}",
        title=TITLES[f"pnp-{variant.lower()}"],
        family="ranking",
        latex=rf"L_{{{shown}}} = \frac{{1}}{{|S_P|}} \sum_{{i \in S_P}} {formula}, \quad R = R(i, S_N)",
        paper=PNP_PAPER,
        equation=equation,
        errata=("E-PNP-2", *errata),
        sources=TAU | extra,
        factory=partial(ranking.PNP, variant=variant),
        released=PNP_RELEASED,
    )


CARDS = (
    Card(
        "smooth-ap",
        "Smooth-AP",
        "ranking",
        r"L_{AP} = 1 - \frac{1}{|S_P|} \sum_{i \in S_P} \frac{1 + R(i, S_P)}{1 + R(i, S_P) + R(i, S_N)}",
        "Brown et al., Smooth-AP, ECCV 2020, as in the PNP paper",
        "PNP Eq. 4",
        ("E-PNP-2", "E-PNP-8", "E-PNP-9"),
        TAU,
        ranking.SmoothAP,
        released="The query stays in its own gallery and counts as a positive; classes must be equal-sized and sorted.",
    ),
    pnp_card("O", "R", "Eq. 5", ()),
    pnp_card("Iu", r"(1 + R) \log(1 + R)", "Eq. 7", ("E-PNP-1", "E-PNP-3", "E-PNP-5")),
    pnp_card("Iu-exact", r"\left[(1 + R) \log(1 + R) - R\right]", "integral of Eq. 6", ("E-PNP-1",)),
    pnp_card(
        "Ib",
        r"\frac{bR - \log(1 + bR)}{b^2}",
        "Eq. 9",
        ("E-PNP-3", "E-PNP-5", "E-PNP-10"),
        b="PNP paper, best on SOP; 1 on VehicleID, 2 in the released code",
    ),
    pnp_card("Ds", r"\log(1 + R)", "Eq. 12", ("E-PNP-4",)),
    pnp_card(
        "Dq",
        r"\left[1 - (1 + R)^{-\alpha}\right]",
        "Eq. 13",
        ("E-PNP-4", "E-PNP-6", "E-PNP-7", "E-PNP-12"),
        alpha="trains from scratch; the released best run, from ImageNet weights, uses 4",
    ),
    Card(
        "from-derivative",
        "Loss from a derivative",
        "ranking",
        r"L = \frac{1}{|S_P|} \sum_{i \in S_P} \int_0^{R(i, S_N)} g(r)\,dr",
        PNP_PAPER,
        "the construction of Eqs 6-13, for any g",
        ("E-PNP-1",),
        TAU | {"g": "an example: points (R, dL/dR)"},
        partial(ranking.FromDerivative, g=((0.0, 1.0), (10.0, 0.1), (100.0, 0.0))),
    ),
    Card(
        "recall-at-k",
        "RS@k",
        "ranking",
        r"L = 1 - \frac{1}{|K|} \sum_{k \in K} \frac{1}{|P|} \sum_{x \in P} \sigma_{\tau_1}\Big(k - 1 - "
        r"\sum_{z \neq x} \sigma_{\tau_2}(s_{qz} - s_{qx})\Big)",
        RSK_PAPER,
        "slides, Recall@k Surrogate",
        ("E-SL-1", "E-SL-2", "E-SL-3", "E-SL-4"),
        RSK_OPTIONS,
        ranking.RecallAtK,
        released="The query stays in its own ranking, hits are capped at k and divided by min(k, |P|).",
    ),
    Card(
        "recall-at-k-simix",
        "RS@k with SiMix",
        "ranking",
        r"v = a x + (1 - a) z,\ a \sim U(0, 1): \quad s(w, v) = a\, s_{wx} + (1 - a)\, s_{wz}",
        RSK_PAPER,
        "slides, Similarity Mixup",
        ("E-SL-3", "E-SL-5"),
        RSK_OPTIONS,
        partial(ranking.RecallAtK, simix=True),
        released="Virtual embeddings are computed, and only for 3, 4 or 6 images per class.",
    ),
    Card(
        "fast-ap",
        "FastAP",
        "ranking",
        r"L = 1 - \frac{1}{|P|} \sum_m \frac{h^+_m H^+_m}{H_m}, \quad h: \text{soft histogram of } d^2 \in [0, 4]",
        "Cakir et al., Deep Metric Learning to Rank (FastAP), CVPR 2019",
        "the paper's FastAP",
        (),
        {"bins": "FastAP paper and released code"},
        ranking.FastAP,
        released="The same formula.",
    ),
    Card(
        "listwise-ap",
        "Listwise AP",
        "ranking",
        r"L = 1 - \frac{1}{|P|} \sum_m \frac{h^+_m H^+_m}{H_m}, \quad h: \text{soft histogram of } s \in [-1, 1]",
        "Revaud et al., Learning with Average Precision: Training Image Retrieval with a Listwise Loss, ICCV 2019",
        "the paper's quantised AP",
        (),
        {"bins": "Revaud et al. 2019"},
        ranking.ListwiseAP,
        released="The bins cover similarities from 0 to 1; what is below 0 lies in the last bin.",
    ),
    Card(
        "blackbox-ap",
        "Blackbox AP",
        "ranking",
        r"L = 1 - \frac{1}{|P|} \sum_{i \in P} \frac{rk^+(i)}{rk(i)}, \quad "
        r"\frac{dL}{ds} := \frac{1}{\lambda}\Big[rk\Big(s + \lambda \frac{dL}{d rk}\Big) - rk(s)\Big]",
        "Rolínek et al., Optimizing Rank-Based Metrics with Blackbox Differentiation, CVPR 2020",
        "the paper's AP loss",
        (),
        {"lam": "as in public code of later AP losses", "margin": "as in public code of later AP losses"},
        ranking.BlackboxAP,
        released="The query is a positive of its own, ranks are divided by the length of the list, and the margin of "
        "each score is drawn at random.",
    ),
    Card(
        "blackbox-recall",
        "Blackbox recall",
        "ranking",
        r"L = \frac{1}{|P|} \sum_{i \in P} \log(1 + rk(i) - rk^+(i))",
        "Rolínek et al., Optimizing Rank-Based Metrics with Blackbox Differentiation, CVPR 2020",
        "the paper's recall loss",
        (),
        {
            "lam": "as in public code of later AP losses",
            "margin": "as in public code of later AP losses",
            "weight": "one of the paper's two",
        },
        ranking.BlackboxRecall,
        released="The query is a positive of its own, ranks are divided by the length of the list, and the mean is "
        "over all positives of all queries.",
    ),
)
