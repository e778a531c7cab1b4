"""What the papers claim, as paired differences between groups of runs; `claims.py` judges them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labkit.runs.variant import Variant

Choice = tuple[str, Mapping[str, Any]]  # a loss and its settings


@dataclass(frozen=True)
class Comparison:
    """The first group is said to have a higher value of the metric than the second."""

    higher: Variant
    lower: Variant
    metric: str = "R@1"


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, and the comparisons that would show it; none where it cannot be tested here."""

    paper: str
    where: str
    statement: str
    comparisons: tuple[Comparison, ...] = ()
    why_not: str = ""


def over(presets: tuple[str, ...], higher: str, lower: str, metric: str = "R@1") -> tuple[Comparison, ...]:
    """The same two losses on several presets."""
    return tuple(Comparison(Variant(preset, higher), Variant(preset, lower), metric) for preset in presets)


PLAIN = {"omniglot": "Omniglot", "emoji": "emoji"}
MERGED = ("omniglot-merged",)


def plain(paper: str, where: str, statement: str, higher: str, lower: str, metric: str = "R@1") -> tuple[Claim, ...]:
    """The same claim on each data set by itself: it may hold on one and not on the other."""
    return tuple(
        Claim(paper, where, f"{name}: {statement}", over((preset,), higher, lower, metric))
        for preset, name in PLAIN.items()
    )


def between(preset: str, higher: Choice, lower: Choice, metric: str = "R@1") -> Comparison:
    """Two losses of one preset, each with settings of its own."""
    return Comparison(Variant(preset, *higher), Variant(preset, *lower), metric)


def resnet(last: str) -> Choice:
    """The softmax on a small ResNet with another end of its last block."""
    model = {"model.name": "small-resnet", "model.pool": "avg", "model.neck": "bn", "model.last": last}
    return "softmax", model | {"batch.classes": 16, "train.steps": 1000}


READERS = {"words-tune": "Rendered words", "scene-text": "Real words"}
# Cross-entropy for as many steps as take the CPU time of LS-ED's, which tunes the reader and the surrogate in turn; by
# the CPU seconds of the trials.
SAME_TIME = {"words-tune": 205, "scene-text": 285}


def tuned(where: str, statement: str, better: Choice, worse: Choice | None, *metrics: str) -> tuple[Claim, ...]:
    """One way of tuning a reader is better than another, on each data set; None: cross-entropy for the same time."""
    return tuple(
        Claim("slides", where, f"{name}: {statement}", reading(preset, better, worse or same_time(preset), *metrics))
        for preset, name in READERS.items()
    )


def same_time(preset: str) -> Choice:
    """Cross-entropy for the CPU time of LS-ED."""
    return "cross-entropy", {"train.steps": SAME_TIME[preset]}


def reading(preset: str, better: Choice, worse: Choice, *metrics: str) -> tuple[Comparison, ...]:
    """The same two by several metrics; of the total edit distance the better has less."""
    return tuple(between(preset, *((worse, better) if m == "TED" else (better, worse)), m) for m in metrics)


AS_IT_IS: Choice = ("untrained", {})
CE: Choice = ("cross-entropy", {})
LS: Choice = ("ls-ed", {})
FEDS: Choice = ("feds", {})
RING, RANDOM = {"data.layout": "ring"}, {"data.layout": "random"}
CLAIMS = (
    *plain("pnp", "Tables 1, 2", "PNP-D_q retrieves better than PNP-O", "pnp-dq", "pnp-o"),
    *plain("pnp", "Tables 1, 2", "PNP-D_q retrieves better than PNP-I_b", "pnp-dq", "pnp-ib"),
    *plain("pnp", "Tables 1, 2", "PNP-D_q retrieves better than PNP-D_s", "pnp-dq", "pnp-ds"),
    *plain("pnp", "Table 3", "PNP-D_q retrieves better than Smooth-AP", "pnp-dq", "smooth-ap"),
    *plain(
        "pnp",
        "Tables 1, 2",
        "PNP-D_q leaves classes wider (intra-class distance) than PNP-I_b",
        "pnp-dq",
        "pnp-ib",
        "intra",
    ),
    *plain(
        "pnp",
        "Tables 1, 2",
        "PNP-D_q puts classes further apart (inter-class distance) than PNP-I_b",
        "pnp-dq",
        "pnp-ib",
        "inter",
    ),
    Claim("pnp", "Tables 6, 7", "Merged labels: PNP-D_q beats PNP-I_b", over(MERGED, "pnp-dq", "pnp-ib")),
    Claim("pnp", "Tables 6, 7", "Merged labels: PNP-D_q beats Smooth-AP", over(MERGED, "pnp-dq", "smooth-ap")),
    Claim(
        "pnp",
        "Fig. 6",
        "Toy ring: PNP-D_q keeps unseen classes apart, PNP-I_b does not",
        (between("toy", ("pnp-dq", RING), ("pnp-ib", RING)),),
    ),
    Claim(
        "pnp",
        "Fig. 6",
        "Toy ring: PNP-D_q beats the untrained network (the control that the figure lacks)",
        (between("toy", ("pnp-dq", RING), ("untrained", RING)),),
    ),
    Claim(
        "pnp",
        "Fig. 6",
        "The same on clusters placed at random",
        (between("toy", ("pnp-dq", RANDOM), ("pnp-ib", RANDOM)),),
    ),
    Claim(
        "pnp",
        "Fig. 8 (a)",
        "A steeper D_q (α = 4) beats α = 1, from scratch (τ and lr tuned at α = 1)",
        (between("omniglot", ("pnp-dq", {"alpha": 4.0}), ("pnp-dq", {})),),
    ),
    Claim(
        "pnp",
        "Fig. 8 (b)",
        "I_b with b = 4 beats b = 1",
        (between("omniglot", ("pnp-ib", {}), ("pnp-ib", {"b": 1.0})),),
    ),
    Claim(
        "pnp",
        "Fig. 8 (c)",
        "Four samples per class beat two and eight, at the same batch size",
        (
            between("omniglot", ("pnp-dq", {}), ("pnp-dq", {"batch.classes": 64, "batch.per_class": 2})),
            between("omniglot", ("pnp-dq", {}), ("pnp-dq", {"batch.classes": 16, "batch.per_class": 8})),
        ),
    ),
    *plain("slides", "results tables", "RS@k retrieves better than Smooth-AP", "recall-at-k", "smooth-ap"),
    *plain("slides", "SiMix", "SiMix improves RS@k", "recall-at-k-simix", "recall-at-k"),
    Claim(
        "slides",
        "batch size",
        "A larger batch is better, at equal steps",
        (
            between("omniglot", ("recall-at-k", {}), ("recall-at-k", {"batch.classes": 8, "train.steps": 2000})),
            between("omniglot", ("recall-at-k", {"batch.classes": 64, "train.steps": 2000}), ("recall-at-k", {})),
        ),
    ),
    Claim(
        "slides",
        "batch size",
        "A larger batch is better, at equal images",
        (
            between("omniglot", ("recall-at-k", {}), ("recall-at-k", {"batch.classes": 8, "train.steps": 8000})),
            between("omniglot", ("recall-at-k", {"batch.classes": 64, "train.steps": 1000}), ("recall-at-k", {})),
        ),
    ),
    Claim(
        "slides",
        "sets of k",
        "Several k are better than k = 1 alone",
        (between("omniglot", ("recall-at-k", {}), ("recall-at-k", {"ks": (1,)})),),
    ),
    *plain("mpa", "Tables 4, 5", "MPA retrieves better than ProxyAnchor", "mpa", "proxy-anchor"),
    *plain("mpa", "Tables 4, 5", "MPA retrieves better than SoftTriple", "mpa", "soft-triple"),
    *plain("mpa", "Tables 4, 5", "MPA-AP retrieves better than ProxyAnchor", "mpa-ap", "proxy-anchor"),
    *plain("mpa", "Tables 4, 5", "MPA-AP ranks better (nDCG@10) than MPA", "mpa-ap", "mpa", "nDCG@10"),
    Claim(
        "mpa",
        "Tables 7, 8",
        "More proxies per class are better (merged labels, which have several centres)",
        (
            between("omniglot-merged", ("mpa", {}), ("mpa", {"centers": 1})),
            between("omniglot-merged", ("mpa", {"centers": 20}), ("mpa", {})),
        ),
    ),
    *plain("sgsl", "Tables 1-3", "SGSL improves the softmax", "sgsl", "softmax"),
    *plain("sgsl", "Table 5", "SGSL makes classes more separable (raw CSC)", "sgsl", "softmax", "CSC-raw"),
    Claim(
        "sgsl",
        "Table 4",
        "γ = 30 beats γ = 1",
        (between("omniglot", ("sgsl", {}), ("sgsl", {"gamma": 1.0})),),
    ),
    Claim(
        "sgsl",
        "Table 4",
        "Removing the last BN-ReLU (RBR) helps, from scratch",
        (between("omniglot", resnet("rbr"), resnet("bn-relu")),),
    ),
    Claim(
        "sgsl",
        "Fig. 4",
        "One more BN-ReLU hurts, from scratch",
        (between("omniglot", resnet("bn-relu"), resnet("extra-bn-relu")),),
    ),
    Claim(
        "sgsl",
        "Table 4",
        "Removing the last BN-ReLU (RBR) helps, from ImageNet weights",
        (between("emoji-pretrained", ("softmax", {"model.last": "rbr"}), ("softmax", {"model.last": "bn-relu"})),),
    ),
    Claim(
        "sgsl",
        "Tables 1-3",
        "SGSL improves the softmax, from ImageNet weights",
        tuple(
            between("emoji-pretrained", ("sgsl", {"model.last": last}), ("softmax", {"model.last": last}))
            for last in ("bn-relu", "rbr")
        ),
    ),
    Claim(
        "pnp",
        "Fig. 8 (a)",
        "A steeper D_q (α = 4) beats α = 1, from ImageNet weights",
        (between("emoji-pretrained", ("pnp-dq", {"alpha": 4.0}), ("pnp-dq", {"alpha": 1.0})),),
    ),
    Claim(
        "sgsl",
        "Fig. 3",
        "3-D Fashion-MNIST: SGSL makes classes more separable (CSC on the sphere)",
        tuple(
            between("fashion-mnist-3d", ("sgsl", {"label_smoothing": s}), ("softmax", {"label_smoothing": s}), "CSC")
            for s in (0.0, 0.1)
        ),
    ),
    Claim(
        "sgsl",
        "Introduction",
        "A softmax on unscaled unit vectors retrieves worse than a scaled one",
        tuple(
            between(
                "fashion-mnist-3d",
                ("norm-softmax", {"label_smoothing": s}),
                ("norm-softmax", {"label_smoothing": s, "scale": 1.0}),
            )
            for s in (0.0, 0.1)
        ),
    ),
    *tuned("LS-ED", "tuning on LS-ED lowers the total edit distance of a trained reader", LS, AS_IT_IS, "TED"),
    *tuned("LS-ED", "it reads more words right (Acc) and has a higher NED", LS, AS_IT_IS, "Acc", "NED"),
    *tuned(
        "LS-ED", "and more so than cross-entropy for the same steps (a control that the slides lack)", LS, CE, "TED"
    ),
    *tuned("LS-ED", "and more so than cross-entropy for the same CPU time (control)", LS, None, "TED"),
    *tuned("LS-ED", "and more so than REINFORCE on exact distances (control)", LS, ("reinforce", {}), "TED"),
    *tuned("LS-ED", "and more so than the soft edit distance (control)", LS, ("soft-edit-distance", {}), "TED"),
    *tuned("FEDS", "FEDS' filter improves LS-ED", FEDS, LS, "TED"),
    *tuned("FEDS", "and more so than a random filter of the same strength (control)", FEDS, ("feds-random", {}), "TED"),
    Claim(
        "slides",
        "LS-ED, FEDS",
        "Absolute results of TRBA on seven sets of scene text",
        why_not="needs the two synthetic training sets of 14 million pictures, three of the test sets, and a GPU",
    ),
    Claim(
        "pnp",
        "Tables 3-5",
        "Absolute results on SOP, VehicleID and iNaturalist",
        why_not="needs ResNet-50 with ImageNet weights and a GPU; the presets sop and vehicle-id are ready for one",
    ),
    Claim(
        "slides",
        "results tables",
        "Absolute results with batches of 4096, and on a million distractors",
        why_not="needs several GPUs and data sets that are not here; two-pass training is measured in benchmarks/",
    ),
    Claim(
        "mpa",
        "Tables 4-6",
        "Absolute results on CUB, Cars196 and SOP",
        why_not="needs an ImageNet backbone and a GPU; the presets cub and cars196 are ready for one",
    ),
    Claim(
        "sgsl",
        "Tables 1-3",
        "Absolute results on CUB, Cars196, SOP and In-shop",
        why_not="needs an ImageNet ResNet-50 and a GPU; the preset in-shop is ready for one",
    ),
)
