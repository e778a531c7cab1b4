"""What the papers claim, tested on the recorded runs: each claim is one or more paired differences between groups.

A difference is shown where its 95 % t interval over seeds lies on one side of zero. A claim held if all of its
differences are shown with the claimed sign, is mixed if some are, and did not hold if none is: a difference that three
seeds cannot show did not hold at this scale, which is not to say that it is false at the papers' scale.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from labkit.base.words import is_share, signed
from labkit.runs.compare import PairedDifference, paired_difference
from labkit.runs.read import Run
from labkit.runs.schema import RunError


@dataclass(frozen=True)
class Comparison:
    """The first group is said to have a higher value of the metric than the second."""

    higher: str
    lower: str
    metric: str = "R@1"


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, and the comparisons that would show it; none where it cannot be tested here."""

    paper: str
    where: str
    statement: str
    comparisons: tuple[Comparison, ...] = ()
    why_not: str = ""


@dataclass(frozen=True)
class Finding:
    """A claim with what the runs say: differences found, comparisons without runs, and the verdict."""

    claim: Claim
    differences: tuple[PairedDifference, ...]
    missing: tuple[Comparison, ...]
    verdict: str


def over(presets: tuple[str, ...], higher: str, lower: str, metric: str = "R@1") -> tuple[Comparison, ...]:
    """The same two losses on several presets."""
    return tuple(Comparison(f"{preset}_{higher}", f"{preset}_{lower}", metric) for preset in presets)


PLAIN = {"omniglot": "Omniglot", "emoji": "emoji"}
MERGED = ("omniglot-merged",)


def plain(paper: str, where: str, statement: str, higher: str, lower: str, metric: str = "R@1") -> tuple[Claim, ...]:
    """The same claim on each data set by itself: it may hold on one and not on the other."""
    return tuple(
        Claim(paper, where, f"{name}: {statement}", over((preset,), higher, lower, metric))
        for preset, name in PLAIN.items()
    )


RESNET = "omniglot_softmax_classes=16_last={}_name=small-resnet_neck=bn_pool=avg_steps=1000"
CLAIMS = (
    *plain("pnp", "Tables 1, 2", "PNP-D_q retrieves better than PNP-O", "pnp-dq", "pnp-o"),
    *plain("pnp", "Tables 1, 2", "PNP-D_q retrieves better than PNP-I_b", "pnp-dq", "pnp-ib"),
    *plain("pnp", "Tables 1, 2", "PNP-D_q retrieves better than PNP-D_s", "pnp-dq", "pnp-ds"),
    *plain("pnp", "Table 3", "PNP-D_q retrieves better than Smooth-AP", "pnp-dq", "smooth-ap"),
    *plain(
        "pnp", "Tables 1, 2", "PNP-D_q leaves classes wider (intra-class distance) than PNP-I_b",
        "pnp-dq", "pnp-ib", "intra",
    ),
    *plain(
        "pnp", "Tables 1, 2", "PNP-D_q puts classes further apart (inter-class distance) than PNP-I_b",
        "pnp-dq", "pnp-ib", "inter",
    ),
    Claim("pnp", "Tables 6, 7", "Merged labels: PNP-D_q beats PNP-I_b", over(MERGED, "pnp-dq", "pnp-ib")),
    Claim("pnp", "Tables 6, 7", "Merged labels: PNP-D_q beats Smooth-AP", over(MERGED, "pnp-dq", "smooth-ap")),
    Claim(
        "pnp", "Fig. 6", "Toy ring: PNP-D_q keeps unseen classes apart, PNP-I_b does not",
        (Comparison("toy_pnp-dq_layout=ring", "toy_pnp-ib_layout=ring"),),
    ),
    Claim(
        "pnp", "Fig. 6", "Toy ring: PNP-D_q beats the untrained network (the control that the figure lacks)",
        (Comparison("toy_pnp-dq_layout=ring", "toy_untrained_layout=ring"),),
    ),
    Claim(
        "pnp", "Fig. 6", "The same on clusters placed at random",
        (Comparison("toy_pnp-dq_layout=random", "toy_pnp-ib_layout=random"),),
    ),
    Claim(
        "pnp", "Fig. 8 (a)", "A steeper D_q (α = 4) beats α = 1, from scratch (τ and lr tuned at α = 1)",
        (Comparison("omniglot_pnp-dq_alpha=4.0", "omniglot_pnp-dq"),),
    ),
    Claim(
        "pnp", "Fig. 8 (b)", "I_b with b = 4 beats b = 1",
        (Comparison("omniglot_pnp-ib", "omniglot_pnp-ib_b=1.0"),),
    ),
    Claim(
        "pnp", "Fig. 8 (c)", "Four samples a class beat two and eight, at the same batch size",
        (
            Comparison("omniglot_pnp-dq", "omniglot_pnp-dq_classes=64_per_class=2"),
            Comparison("omniglot_pnp-dq", "omniglot_pnp-dq_classes=16_per_class=8"),
        ),
    ),
    *plain("slides", "results tables", "RS@k retrieves better than Smooth-AP", "recall-at-k", "smooth-ap"),
    *plain("slides", "SiMix", "SiMix improves RS@k", "recall-at-k-simix", "recall-at-k"),
    Claim(
        "slides", "batch size", "A larger batch is better, at equal steps",
        (
            Comparison("omniglot_recall-at-k", "omniglot_recall-at-k_classes=8_steps=2000"),
            Comparison("omniglot_recall-at-k_classes=64_steps=2000", "omniglot_recall-at-k"),
        ),
    ),
    Claim(
        "slides", "batch size", "A larger batch is better, at equal images",
        (Comparison("omniglot_recall-at-k", "omniglot_recall-at-k_classes=8_steps=8000"),
         Comparison("omniglot_recall-at-k_classes=64_steps=1000", "omniglot_recall-at-k")),
    ),
    Claim(
        "slides", "sets of k", "Several k are better than k = 1 alone",
        (Comparison("omniglot_recall-at-k", "omniglot_recall-at-k_ks=1,"),),
    ),
    *plain("mpa", "Tables 4, 5", "MPA retrieves better than ProxyAnchor", "mpa", "proxy-anchor"),
    *plain("mpa", "Tables 4, 5", "MPA retrieves better than SoftTriple", "mpa", "soft-triple"),
    *plain("mpa", "Tables 4, 5", "MPA-AP retrieves better than ProxyAnchor", "mpa-ap", "proxy-anchor"),
    *plain("mpa", "Tables 4, 5", "MPA-AP ranks better (nDCG@10) than MPA", "mpa-ap", "mpa", "nDCG@10"),
    Claim(
        "mpa", "Tables 7, 8", "More proxies a class are better (merged labels, which have several centres)",
        (
            Comparison("omniglot-merged_mpa", "omniglot-merged_mpa_centers=1"),
            Comparison("omniglot-merged_mpa_centers=20", "omniglot-merged_mpa"),
        ),
    ),
    *plain("sgsl", "Tables 1-3", "SGSL improves the softmax", "sgsl", "softmax"),
    *plain("sgsl", "Table 5", "SGSL makes classes more separable (raw CSC)", "sgsl", "softmax", "CSC-raw"),
    Claim(
        "sgsl", "Table 4", "γ = 30 beats γ = 1",
        (Comparison("omniglot_sgsl", "omniglot_sgsl_gamma=1.0"),),
    ),
    Claim(
        "sgsl", "Table 4", "Removing the last BN-ReLU (RBR) helps, from scratch",
        (Comparison(RESNET.format("rbr"), RESNET.format("bn-relu")),),
    ),
    Claim(
        "sgsl", "Fig. 4", "One more BN-ReLU hurts, from scratch",
        (Comparison(RESNET.format("bn-relu"), RESNET.format("extra-bn-relu")),),
    ),
    Claim(
        "sgsl", "Table 4", "Removing the last BN-ReLU (RBR) helps, from ImageNet weights",
        (Comparison("emoji-pretrained_softmax_last=rbr", "emoji-pretrained_softmax_last=bn-relu"),),
    ),
    Claim(
        "sgsl", "Tables 1-3", "SGSL improves the softmax, from ImageNet weights",
        tuple(
            Comparison(f"emoji-pretrained_sgsl_last={last}", f"emoji-pretrained_softmax_last={last}")
            for last in ("bn-relu", "rbr")
        ),
    ),
    Claim(
        "pnp", "Fig. 8 (a)", "A steeper D_q (α = 4) beats α = 1, from ImageNet weights",
        (Comparison("emoji-pretrained_pnp-dq_alpha=4.0", "emoji-pretrained_pnp-dq_alpha=1.0"),),
    ),
    Claim(
        "sgsl", "Fig. 3", "3-D Fashion-MNIST: SGSL makes classes more separable (CSC on the sphere)",
        tuple(
            Comparison(f"fashion-mnist-3d_sgsl_{smoothing}", f"fashion-mnist-3d_softmax_{smoothing}", "CSC")
            for smoothing in ("label_smoothing=0.0", "label_smoothing=0.1")
        ),
    ),
    Claim(
        "sgsl", "Introduction", "A softmax on unscaled unit vectors retrieves worse than a scaled one",
        tuple(
            Comparison(
                f"fashion-mnist-3d_norm-softmax_label_smoothing={s}",
                f"fashion-mnist-3d_norm-softmax_label_smoothing={s}_scale=1.0",
            )
            for s in ("0.0", "0.1")
        ),
    ),
    Claim(
        "pnp", "Tables 3-5", "Absolute results on SOP, VehicleID and iNaturalist",
        why_not="needs ResNet-50 with ImageNet weights and a GPU; the presets sop and vehicle-id are ready for one",
    ),
    Claim(
        "slides", "results tables", "Absolute results with batches of 4096, and on a million distractors",
        why_not="needs several GPUs and data sets that are not here; two-pass training is measured in benchmarks/",
    ),
    Claim(
        "mpa", "Tables 4-6", "Absolute results on CUB, Cars196 and SOP",
        why_not="needs an ImageNet backbone and a GPU; the presets cub and cars196 are ready for one",
    ),
    Claim(
        "sgsl", "Tables 1-3", "Absolute results on CUB, Cars196, SOP and In-shop",
        why_not="needs an ImageNet ResNet-50 and a GPU; the preset in-shop is ready for one",
    ),
)  # fmt: skip


def findings(runs: Iterable[Run]) -> Iterator[Finding]:
    """Every claim with what the runs say about it."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.group, []).append(run)
    for claim in CLAIMS:
        found, missing = [], []
        for comparison in claim.comparisons:
            try:
                both = groups.get(comparison.higher, []) + groups.get(comparison.lower, [])
                found.append(paired_difference(both, comparison.higher, comparison.lower, comparison.metric))
            except RunError:
                missing.append(comparison)
        yield Finding(claim, tuple(found), tuple(missing), verdict(claim, found))


def verdict(claim: Claim, differences: list[PairedDifference]) -> str:
    """One of base.words' VERDICTS; nothing is said before every comparison has at least three seeds."""
    if claim.why_not:
        return "not testable here"
    if len(differences) < len(claim.comparisons) or any(len(d.seeds) < 3 for d in differences):
        return "not measured yet"
    shown = sum(d.low > 0 for d in differences)
    return "held" if shown == len(differences) else "mixed" if shown else "did not hold"


def evidence(difference: PairedDifference) -> str:
    """A difference in words: group − baseline, with its interval and how many seeds agree."""
    scale, unit = (100, " points") if is_share(difference.metric) else (1, "")
    numbers = f"{signed(difference.mean * scale)}{unit}"
    if len(difference.seeds) > 1:
        numbers += f" [{signed(difference.low * scale)}, {signed(difference.high * scale)}]"
    agree = f"{difference.wins} of {len(difference.seeds)} seeds"
    return f"{difference.metric} of {difference.group} − {difference.baseline}: {numbers}, higher in {agree}"
