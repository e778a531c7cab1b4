"""A card for each loss: what the dashboard, the lessons and the docs show, and how the command line builds it."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from torch import nn

from labkit.losses.modules import pair, proxy, ranking, softmax

PNP_PAPER = "Li et al., Rethinking the Optimization of Average Precision (PNP), AAAI 2022"
RSK_PAPER = "Patel, Tolias, Matas, Recall@k Surrogate Loss with Large Batches and Similarity Mixup, CVPR 2022"
MPA_PAPER = "Saeki, Kawahara, Aman, Multi Proxy Anchor Family Loss for Several Types of Gradients, 2023"
SGSL_PAPER = "Yang, Wang, Zhang, Stop-Gradient Softmax Loss for Deep Metric Learning, AAAI 2023"


@dataclass(frozen=True)
class Card:
    """One loss. sources: where an option's default comes from; released: what the released code does differently."""

    name: str
    title: str
    family: str
    latex: str
    paper: str
    equation: str
    errata: tuple[str, ...]
    sources: dict[str, str]
    factory: Callable[..., nn.Module]
    released: str = ""

    @property
    def options(self) -> dict[str, inspect.Parameter]:
        """What the factory takes, with defaults."""
        return dict(inspect.signature(self.factory).parameters)

    @property
    def defaults(self) -> dict[str, tuple[Any, str]]:
        """Option -> (default, where it comes from)."""
        return {name: (self.options[name].default, source) for name, source in self.sources.items()}

    @property
    def needs_classes(self) -> bool:
        """Whether it learns vectors of classes, whose number and dimension it must know."""
        return {"num_classes", "dim"} <= self.options.keys()

    def build(self, num_classes: int | None = None, dim: int | None = None, **options: Any) -> nn.Module:
        """The Module, with options over the defaults; num_classes and dim are needed where the loss has parameters."""
        if not self.needs_classes:
            return self.factory(**options)
        if num_classes is None or dim is None:
            raise ValueError(f"num_classes and dim are needed to build {self.name}: it learns a vector for each class")
        return self.factory(num_classes, dim, **options)


TAU = {"tau": "PNP paper, Eq. 3"}
PNP_RELEASED = "The query counts as its own positive and the sum is divided by |P|+1; labels are read off positions."
RSK_OPTIONS = {"ks": "slides", "tau_rank": "slides, τ1", "tau_sim": "slides, τ2"}
PROXY_OPTIONS = {
    "centers": "MPA paper, CUB and Cars196; 2 on SOP",
    "alpha": "not in the MPA paper; Proxy-Anchor's value",
    "delta": "MPA paper",
    "gamma": "MPA paper",
    "tau": "MPA paper",
}
NO_CODE = "No implementation has been published."


def pnp_card(variant: str, formula: str, equation: str, errata: tuple[str, ...], **extra: str) -> Card:
    """The six PNP variants differ in f alone."""
    shown = {"Iu": "I_u", "Iu-exact": r"I_u\text{, exact}", "Ib": "I_b", "Ds": "D_s", "Dq": "D_q"}.get(variant, variant)
    return Card(
        name=f"pnp-{variant.lower()}",
        title=f"PNP-{variant}",
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
        released="Virtual embeddings are computed, and only for 3, 4 or 6 images a class.",
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
    Card(
        "proxy-nca",
        "ProxyNCA",
        "proxy",
        r"L = -\log \frac{e^{-s\, d^2(x, p_y)}}{\sum_{c \neq y} e^{-s\, d^2(x, p_c)}}",
        "Movshovitz-Attias et al., No Fuss Distance Metric Learning Using Proxies, ICCV 2017",
        "Eq. 4",
        ("E-MPA-7",),
        {"scale": "ProxyNCA++, T = 1/9"},
        proxy.ProxyNCA,
        released="ProxyNCA++ has all proxies in the denominator.",
    ),
    Card(
        "proxy-anchor",
        "ProxyAnchor",
        "proxy",
        r"L = \frac{1}{|C^+|} \sum_{c \in C^+} \log\Big(1 + \sum_{x \in X_c^+} e^{-\alpha (s(x, p_c) - \delta)}\Big) + "
        r"\frac{1}{|C|} \sum_{c \in C} \log\Big(1 + \sum_{x \in X_c^-} e^{\alpha (s(x, p_c) + \delta)}\Big)",
        "Kim et al., Proxy Anchor Loss for Deep Metric Learning, CVPR 2020",
        "Eq. 4",
        ("E-MPA-4", "E-MPA-16"),
        {"alpha": "Proxy-Anchor paper and code", "delta": "Proxy-Anchor paper and code"},
        proxy.ProxyAnchor,
        released="log(1 + Σ exp) overflows in fp16; the training script adds warm-up, gradient clipping and frozen BN.",
    ),
    Card(
        "soft-triple",
        "SoftTriple",
        "proxy",
        r"L = -\log \frac{e^{\lambda (S(x, c_i) - \delta)}}{e^{\lambda (S(x, c_i) - \delta)} + "
        r"\sum_{c \neq c_i} e^{\lambda S(x, c)}} + \tau\, \mathrm{Reg}",
        "Qian et al., SoftTriple Loss, ICCV 2019, as in the MPA paper",
        "MPA Eqs 1-4",
        ("E-MPA-1", "E-MPA-2", "E-MPA-3"),
        {
            "centers": "SoftTriple paper",
            "lam": "SoftTriple paper",
            "delta": "SoftTriple paper",
            "gamma": "SoftTriple and MPA papers",
            "tau": "SoftTriple and MPA papers",
        },
        proxy.SoftTriple,
        released="The mean over samples, not Eq. 4's sum, and 1e-5 inside the regulariser's root.",
    ),
    Card(
        "mpa",
        "MPA",
        "proxy",
        r"L = \frac{1}{|C^+|} \sum_{c \in C^+} \log\Big(1 + \sum_{x \in X_c^+} e^{-\alpha (S(x, c) - \delta)}\Big) + "
        r"\frac{1}{|C^-|} \sum_{c \in C^-} \log\Big(1 + \sum_{x \in X_c^-} e^{\alpha (S(x, c) + \delta)}\Big) + "
        r"\tau\, \mathrm{Reg}",
        MPA_PAPER,
        "Eqs 6, 7",
        ("E-MPA-2", "E-MPA-4", "E-MPA-5", "E-MPA-16"),
        PROXY_OPTIONS,
        proxy.MPA,
        released=NO_CODE,
    ),
    Card(
        "mpa-dw",
        "MPA-DW",
        "proxy",
        r"L = \frac{1}{N} \sum_i \Big[\log\big(1 + e^{-\alpha (S(x_i, c_i) - \delta)}\big) + "
        r"\log\Big(1 + \sum_{c \neq c_i} e^{\alpha (S(x_i, c) + \delta)}\Big)\Big] + \tau\, \mathrm{Reg}",
        MPA_PAPER,
        "Eqs 12, 13",
        ("E-MPA-2", "E-MPA-5", "E-MPA-13"),
        PROXY_OPTIONS,
        proxy.MPADataWise,
        released=NO_CODE,
    ),
    Card(
        "mpa-ap",
        "MPA-AP",
        "proxy",
        r"L = \frac{1}{N} \sum_i \log\Big(1 + \sum_c e^{\alpha S'(x_i, c)}\Big) + \tau\, \mathrm{Reg}, \quad "
        r"S' = \begin{cases} \delta - S & c = c_i \\ S + \delta & c \neq c_i \end{cases}",
        MPA_PAPER,
        "Eqs 15-17",
        ("E-MPA-2", "E-MPA-5", "E-MPA-6", "E-MPA-13"),
        PROXY_OPTIONS,
        proxy.MPAAllPairs,
        released=NO_CODE,
    ),
    Card(
        "softmax",
        "Softmax",
        "softmax",
        r"L = -\frac{1}{N} \sum_i \log \frac{e^{W_{y_i}^T f_i}}{\sum_j e^{W_j^T f_i}}",
        SGSL_PAPER,
        "Eqs 3, 5",
        ("E-SG-1", "E-SG-5"),
        {"label_smoothing": "off; the SGSL base code uses 0.1"},
        softmax.Softmax,
        released="The released SGSL's classifier has no bias and starts at N(0, 0.001); that of the code it grew from "
        "has a bias and starts at zero.",
    ),
    Card(
        "norm-softmax",
        "NormSoftmax",
        "softmax",
        r"L = -\frac{1}{N} \sum_i \log \frac{e^{s \cos(W_{y_i}, f_i)}}{\sum_j e^{s \cos(W_j, f_i)}}",
        "Wang et al., NormFace, ACM MM 2017; Zhai and Wu, BMVC 2019",
        "NormFace Eq. 4 with a scale",
        ("E-SG-4",),
        {"scale": "trained well on Omniglot; 1 is the unscaled softmax, which stalls at its floor"},
        softmax.NormSoftmax,
    ),
    Card(
        "sgsl-alone",
        "SGSL alone",
        "softmax",
        r"L = \frac{1}{N} \sum_i \mathrm{Softplus}\Big(\mathrm{LSE}^{\gamma}_{j \neq y_i} "
        r"\cos(\mathrm{sg}(W_j), f_i) - \cos(\mathrm{sg}(W_{y_i}), f_i)\Big)",
        SGSL_PAPER,
        "Eq. 6",
        ("E-SG-1", "E-SG-3", "E-SG-4", "E-SG-10"),
        {"gamma": "SGSL paper"},
        softmax.SGSLAlone,
    ),
    Card(
        "sgsl",
        "Softmax + SGSL",
        "softmax",
        r"L = L_{softmax} + \beta\, L_{SGSL} \quad \text{from the first time that } L_{softmax} < \mathrm{gate}",
        SGSL_PAPER,
        "Eqs 7, 10",
        ("E-SG-1", "E-SG-3", "E-SG-4", "E-SG-5", "E-SG-6", "E-SG-7", "E-SG-10", "E-SGSL-A"),
        {
            "gamma": "SGSL paper",
            "beta": "SGSL paper",
            "gate": "SGSL paper",
            "label_smoothing": "base code; the released SGSL runs use 0.4 on CUB and Cars196",
        },
        softmax.SGSL,
        released="The gate is asked again at every iteration, on the label-smoothed loss, and is open at 3.0 itself; "
        "the softmax loss is the mean over samples whose loss is not 0.",
    ),
    Card(
        "center",
        "Softmax + Center loss",
        "softmax",
        r"L = L_{softmax} + \frac{\lambda}{2} \mathbb{E}\,\lVert x - c_y \rVert^2",
        "Wen et al., A Discriminative Feature Learning Approach, ECCV 2016",
        "SGSL Eq. 1",
        (),
        {"weight": "Wen et al. 2016"},
        softmax.CenterLoss,
        released="Wen et al. move the centres by a rule of their own; here they learn by gradient.",
    ),
    Card(
        "ring",
        "Softmax + Ring loss",
        "softmax",
        r"L = L_{softmax} + \frac{\lambda}{2m} \sum_i (\lVert f_i \rVert - R)^2",
        "Zheng, Pal, Savvides, Ring Loss, CVPR 2018",
        "SGSL Eq. 4",
        (),
        {"weight": "Zheng et al. 2018", "radius": "start value; learned"},
        softmax.RingLoss,
    ),
    Card(
        "contrastive",
        "Contrastive",
        "pair",
        r"L = \frac{1}{2} d^2 \text{ (same class)}, \quad \frac{1}{2} [m - d]_+^2 \text{ (other class)}",
        "Hadsell, Chopra, LeCun, Dimensionality Reduction by Learning an Invariant Mapping, CVPR 2006",
        "Eq. 4",
        (),
        {
            "margin": "common choice on unit vectors",
            "form": "Hadsell et al. 2006; it hardly trains here, so the presets use linear",
        },
        pair.Contrastive,
        released="pytorch-metric-learning: linear in the distance, means over the pairs above zero.",
    ),
    Card(
        "triplet",
        "Triplet",
        "pair",
        r"L = \mathbb{E}\,[D(x_a, x_p) - D(x_a, x_n) + m]_+",
        "Schroff, Kalenichenko, Philbin, FaceNet, CVPR 2015",
        "SGSL Eq. 2",
        (),
        {"margin": "FaceNet"},
        pair.Triplet,
    ),
    Card(
        "soft-margin-triplet",
        "Soft-margin triplet",
        "pair",
        r"L = \mathbb{E}\,\tfrac{1}{s}\log\big(1 + e^{s (D(x_a, x_p) - D(x_a, x_n))}\big)",
        "Hermans, Beyer, Leibe, In Defense of the Triplet Loss, 2017",
        "SGSL paper, related work",
        (),
        {"scale": "Hermans et al. 2017, on embeddings that are not normalised; on unit rows about 10 trains better"},
        pair.SoftMarginTriplet,
    ),
    Card(
        "lifted-structure",
        "Lifted structure",
        "pair",
        r"L = \frac{1}{2|P|} \sum_{(i,j) \in P} \Big[\log\Big(\sum_{k \in N_i} e^{m - D_{ik}} + "
        r"\sum_{l \in N_j} e^{m - D_{jl}}\Big) + D_{ij}\Big]_+^2",
        "Oh Song et al., Deep Metric Learning via Lifted Structured Feature Embedding, CVPR 2016",
        "Eq. 4",
        (),
        {"margin": "Oh Song et al. 2016"},
        pair.LiftedStructure,
    ),
    Card(
        "ranked-list",
        "Ranked list",
        "pair",
        r"L = \frac{1}{|P^*|} \sum_{P^*} [D - (\alpha - m)]_+ + \lambda \sum_{N^*} \frac{w}{\sum w} [\alpha - D]_+, "
        r"\quad w = e^{T (\alpha - D)}",
        "Wang et al., Ranked List Loss for Deep Metric Learning, CVPR 2019",
        "L_P and L_N of the paper",
        (),
        {
            "margin": "Ranked List paper",
            "alpha": "Ranked List paper",
            "temperature": "Ranked List paper, CUB",
            "balance": "Ranked List paper",
        },
        pair.RankedList,
    ),
    Card(
        "multi-similarity",
        "Multi-similarity",
        "pair",
        r"L = \frac{1}{B} \sum_i \Big[\tfrac{1}{\alpha} \log\Big(1 + \sum_{P_i} e^{-\alpha (s_{ik} - \lambda)}\Big) "
        r"+ \tfrac{1}{\beta} \log\Big(1 + \sum_{N_i} e^{\beta (s_{ik} - \lambda)}\Big)\Big]",
        "Wang et al., Multi-Similarity Loss with General Pair Weighting, CVPR 2019",
        "Eqs 11, 12, 15",
        (),
        {
            "alpha": "Multi-Similarity paper",
            "beta": "Multi-Similarity paper; 40 in the released code",
            "base": "released code's λ",
            "epsilon": "Multi-Similarity paper",
        },
        pair.MultiSimilarity,
    ),
    Card(
        "margin",
        "Margin",
        "pair",
        r"L = [\alpha + D - \beta]_+ \text{ (same class)}, \quad [\alpha + \beta - D]_+ \text{ (other class)}",
        "Wu et al., Sampling Matters in Deep Embedding Learning, ICCV 2017",
        "the paper's margin based loss",
        (),
        {"beta": "Wu et al. 2017, start value", "margin": "Wu et al. 2017"},
        pair.MarginLoss,
        released="Negatives are drawn by their distance, one for each positive pair, and β is learned.",
    ),
    Card(
        "n-pair",
        "N-pair",
        "pair",
        r"L = \log\Big(1 + \sum_n e^{f^T f_n - f^T f_p}\Big) + \tfrac{l_2}{2} \lVert f \rVert^2",
        "Sohn, Improved Deep Metric Learning with Multi-class N-pair Loss Objective, NeurIPS 2016",
        "the paper's N-pair-mc, for any batch",
        (),
        {"negatives": "ours, for batches of any kind; pairs is the paper's", "l2": "TensorFlow's npairs_loss"},
        pair.NPair,
    ),
)

CATALOG: dict[str, Card] = {card.name: card for card in CARDS}
