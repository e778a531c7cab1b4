"""Cards: losses with proxies: learned vectors that stand for classes."""

from __future__ import annotations

from labkit.losses.cards.card import Card
from labkit.losses.modules import proxy

MPA_PAPER = "Saeki, Kawahara, Aman, Multi Proxy Anchor Family Loss for Several Types of Gradients, 2023"
PROXY_OPTIONS = {
    "centers": "MPA paper, CUB and Cars196; 2 on SOP",
    "alpha": "not in the MPA paper; Proxy-Anchor's value",
    "delta": "MPA paper",
    "gamma": "MPA paper",
    "tau": "MPA paper",
}
NO_CODE = "No implementation has been published."


CARDS = (
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
)
