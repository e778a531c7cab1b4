"""Cards: losses of pairs and triplets."""

from __future__ import annotations

from labkit.losses.cards.card import Card
from labkit.losses.modules import pair

CARDS = (
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
