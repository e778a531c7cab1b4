"""Cards: softmax losses: a classifier whose embedding is used."""

from __future__ import annotations

from labkit.losses.cards.card import Card
from labkit.losses.modules import softmax

SGSL_PAPER = "Yang, Wang, Zhang, Stop-Gradient Softmax Loss for Deep Metric Learning, AAAI 2023"


CARDS = (
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
)
