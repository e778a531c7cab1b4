"""Lesson 4: hard recall@k, its surrogate, the loss of a perfect ranking. similarity (n,): cosines with the gallery."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from labkit.lessons.exercise import Case, Exercise, Mistake

SIMILARITY = torch.tensor([0.9, 0.55, 0.6, 0.1, -0.3, 0.58, 0.565, 0.3], dtype=torch.float64)
POSITIVE = torch.tensor([False, True, True, False, True, False, False, False])
TIED = torch.tensor([0.8, 0.5, 0.5, 0.5, 0.2], dtype=torch.float64)
TIED_POSITIVE = torch.tensor([False, True, True, False, True])


def hard_cases() -> list[Case]:
    """Several cut-offs, ties, one positive, and a k beyond the gallery."""
    return [
        Case("three positives, k = 1", {"similarity": SIMILARITY, "positive": POSITIVE, "k": 1}),
        Case("three positives, k = 2", {"similarity": SIMILARITY, "positive": POSITIVE, "k": 2}),
        Case("three positives, k = 5", {"similarity": SIMILARITY, "positive": POSITIVE, "k": 5}),
        Case("a tie at the cut-off, k = 2", {"similarity": TIED, "positive": TIED_POSITIVE, "k": 2}),
        Case("a tie within the cut-off, k = 4", {"similarity": TIED, "positive": TIED_POSITIVE, "k": 4}),
        Case("one positive, k = 4", {"similarity": SIMILARITY, "positive": torch.arange(8) == 6, "k": 4}),
        Case("k beyond the gallery", {"similarity": SIMILARITY, "positive": POSITIVE, "k": 100}),
    ]


def ranks(similarity: Tensor, ties: bool = True) -> Tensor:
    """1 + the number of other items that are at least as similar (ties=False: more similar)."""
    difference = similarity[None, :] - similarity[:, None]
    before = (difference >= 0).double() - torch.eye(len(similarity)) if ties else (difference > 0).double()
    return 1 + before.sum(1)


def hits(similarity: Tensor, positive: Tensor, k: float, ties: bool = True) -> Tensor:
    """Number of positives with a rank of at most k."""
    return (ranks(similarity, ties)[positive] <= k).double().sum()


def hard_recall(similarity: Tensor, positive: Tensor, k: int) -> Tensor:
    """Σ_{x∈P} H(k − r(x)) / |P| with H(0) = 1 in both places."""
    return hits(similarity, positive, k) / positive.sum()


def by_topk(similarity: Tensor, positive: Tensor, k: int) -> Tensor:
    """The k most similar; of tied items some get in."""
    return positive[similarity.topk(min(k, len(similarity))).indices].double().sum() / positive.sum()


HARD = Exercise(
    "hard_recall",
    "Fractional recall@k of one query: the share of its positives with rank at most k; a tie counts against the item.",
    hard_recall,
    hard_cases,
    (
        Mistake(
            "any hit",
            "That is 1 as soon as one positive is found; the slides' formula is the share of the positives.",
            lambda similarity, positive, k: (hits(similarity, positive, k) > 0).double(),
        ),
        Mistake(
            "capped",
            "It divides by min(k, |P|), as the released code does; the formula divides by |P|.",
            lambda similarity, positive, k: hits(similarity, positive, k) / min(k, int(positive.sum())),
        ),
        Mistake(
            "precision",
            "It divides by k: that is precision@k. Recall divides by the number of positives |P|.",
            lambda similarity, positive, k: hits(similarity, positive, k) / k,
            also=(lambda similarity, positive, k: positive[similarity.argsort(descending=True)[:k]].double().mean(),),
        ),
        Mistake(
            "rank k left out",
            "Rank exactly k must count (H(0) = 1). Either you compare with <, or each item counts itself in its rank.",
            lambda similarity, positive, k: hits(similarity, positive, k - 1) / positive.sum(),
        ),
        Mistake(
            "ties for free",
            "A tied item counts as before x here: H(0) = 1 in the rank, too, so compare with ≥ (topk and sort let some "
            "of the tied items in).",
            lambda similarity, positive, k: hits(similarity, positive, k, ties=False) / positive.sum(),
            also=(by_topk,),
        ),
        Mistake(
            "ranks from zero",
            "The first rank is 1: add 1 to the number of items before.",
            lambda similarity, positive, k: hits(similarity, positive, k + 1) / positive.sum(),
        ),
        Mistake(
            "sign",
            "The ranking is upside down: the most similar item has rank 1.",
            lambda similarity, positive, k: hard_recall(-similarity, positive, k),
        ),
        Mistake(
            "negatives only",
            "Other positives before x count in its rank as well, not only negatives.",
            lambda similarity, positive, k: (
                (1 + ((similarity[None, :] - similarity[:, None] >= 0) & ~positive).sum(1)[positive] <= k)
                .double()
                .mean()
            ),
        ),
        Mistake(
            "all or nothing",
            "It is 1 only if all positives are found; the share of them is asked for.",
            lambda similarity, positive, k: (hits(similarity, positive, k) == positive.sum()).double(),
        ),
        Mistake(
            "over the gallery",
            "It divides by all items of the gallery; divide by the number of positives |P|.",
            lambda similarity, positive, k: hits(similarity, positive, k) / len(similarity),
        ),
    ),
)


def soft_cases() -> list[Case]:
    """The slides' temperatures, others, small and large k, a single positive."""
    common = {"similarity": SIMILARITY, "positive": POSITIVE}
    return [
        Case("k = 1, τ₁ = 1, τ₂ = 0.01", common | {"k": 1, "tau_rank": 1.0, "tau_sim": 0.01}),
        Case("k = 4, τ₁ = 1, τ₂ = 0.01", common | {"k": 4, "tau_rank": 1.0, "tau_sim": 0.01}),
        Case("k = 2, τ₁ = 0.5, τ₂ = 0.1", common | {"k": 2, "tau_rank": 0.5, "tau_sim": 0.1}),
        Case("k = 5, τ₁ = 2, τ₂ = 0.05", common | {"k": 5, "tau_rank": 2.0, "tau_sim": 0.05}),
        Case("one positive", common | {"positive": torch.arange(8) == 6, "k": 4, "tau_rank": 1.0, "tau_sim": 0.02}),
        Case("a tie", {"similarity": TIED, "positive": TIED_POSITIVE, "k": 2, "tau_rank": 1.0, "tau_sim": 0.05}),
    ]


def before(similarity: Tensor, tau: float) -> Tensor:
    """(n, n): how much item z counts as before item x, nothing on the diagonal."""
    counted = torch.sigmoid((similarity[None, :] - similarity[:, None]) / tau)
    return counted - torch.diag(counted.diagonal())


def recall_surrogate(
    similarity: Tensor, positive: Tensor, k: int, tau_rank: float, tau_sim: float, shift: float = 0.0
) -> Tensor:
    """Σ_{x∈P} σ_τ1(k − 1 − Σ_{z≠x} σ_τ2(s_z − s_x)) / |P|; shift, which only mistakes use, is added to k."""
    counted = before(similarity, tau_sim).sum(1)[positive]
    return torch.sigmoid((k + shift - 1 - counted) / tau_rank).mean()


def hard_inside(similarity: Tensor, positive: Tensor, k: int, tau_rank: float, tau_sim: float) -> Tensor:
    """Ranks are hard; a zero keeps the value attached."""
    return torch.sigmoid((k - ranks(similarity, ties=False)[positive]) / tau_rank).mean() + 0 * similarity.sum()


def negatives_only(similarity: Tensor, positive: Tensor, k: int, tau_rank: float, tau_sim: float) -> Tensor:
    """Positives before x are forgotten."""
    return torch.sigmoid((k - 1 - before(similarity, tau_sim)[positive][:, ~positive].sum(1)) / tau_rank).mean()


SOFT = Exercise(
    "recall_surrogate",
    "rs@k of one query: the mean over positives x of σ_τ1(k − 1 − Σ_{z≠x} σ_τ2(s_z − s_x)).",
    recall_surrogate,
    soft_cases,
    (
        Mistake(
            "temperatures swapped",
            "The temperatures have changed places: τ₂ belongs to similarities, τ₁ to ranks.",
            lambda **case: recall_surrogate(**case | {"tau_rank": case["tau_sim"], "tau_sim": case["tau_rank"]}),
        ),
        Mistake(
            "the slides' label",
            "The outer argument is one too small: it is k − rank, and the rank has its own 1 already (E-SL-1).",
            lambda **case: recall_surrogate(**case, shift=-1),
        ),
        Mistake(
            "no minus one",
            "The outer argument is one too large: k − 1 − (items before), because ranks begin at 1.",
            lambda **case: recall_surrogate(**case, shift=1),
        ),
        Mistake(
            "self counted",
            "Every item counts itself as before itself, as one half: leave z = x out.",
            lambda **case: recall_surrogate(**case, shift=-0.5),
        ),
        Mistake(
            "sign",
            "The sign is turned round: an item z counts as before x when s_z is larger than s_x.",
            lambda **case: recall_surrogate(**case | {"similarity": -case["similarity"]}),
        ),
        Mistake(
            "a loss",
            "That is 1 minus the surrogate; the recall itself is asked for.",
            lambda **case: 1 - recall_surrogate(**case),
        ),
        Mistake(
            "no temperature",
            "One of the temperatures is not used: τ₁ divides in the outer sigmoid, τ₂ in the inner one.",
            lambda **case: recall_surrogate(**case | {"tau_rank": 1.0}),
            also=(
                lambda **case: recall_surrogate(**case | {"tau_sim": 1.0}),
                lambda **case: recall_surrogate(**case | {"tau_sim": 1.0, "tau_rank": 1.0}),
            ),
        ),
        Mistake(
            "a sum",
            "It adds up over the positives; divide by their number |P|.",
            lambda **case: case["positive"].sum() * recall_surrogate(**case),
        ),
        Mistake(
            "capped",
            "It divides by min(k, |P|), as the released code does; the formula divides by |P|.",
            lambda **case: recall_surrogate(**case) * max(1, int(case["positive"].sum()) / case["k"]),
        ),
        Mistake(
            "times tau",
            "A temperature divides: the difference of similarities is multiplied by τ₂ here.",
            lambda **case: recall_surrogate(**case | {"tau_sim": 1 / case["tau_sim"]}),
        ),
        Mistake(
            "negatives only",
            "Other positives before x count as well: the sum runs over all items but x.",
            negatives_only,
        ),
        Mistake("hard ranks", "The inner comparison is hard, so no gradient flows: use σ with τ₂.", hard_inside),
    ),
    gradient="similarity",
)


def floor_cases() -> list[Case]:
    """One positive and many, one k and the slides' set, soft and sharp."""
    ks = (1, 2, 4, 8, 16)
    return [
        Case("one positive, K = {1}", {"num_positives": 1, "ks": (1,), "tau_rank": 1.0}),
        Case("one positive, the slides' K", {"num_positives": 1, "ks": ks, "tau_rank": 1.0}),
        Case("three positives, the slides' K", {"num_positives": 3, "ks": ks, "tau_rank": 1.0}),
        Case("nine positives, the slides' K", {"num_positives": 9, "ks": ks, "tau_rank": 1.0}),
        Case("three positives, τ₁ = 0.2", {"num_positives": 3, "ks": (2, 4), "tau_rank": 0.2}),
        Case("two positives, τ₁ = 3", {"num_positives": 2, "ks": (4, 8, 16), "tau_rank": 3.0}),
    ]


def hits_of_perfect(num_positives: int, ks: Sequence[int], tau_rank: float, shift: float = 0.0) -> Tensor:
    """(K, |P|): σ_τ1(k − rank) of positives at ranks 1 … |P|; shift is added to the argument."""
    rank = torch.arange(1, num_positives + 1, dtype=torch.float64)
    return torch.sigmoid((torch.tensor(ks, dtype=torch.float64)[:, None] - rank + shift) / tau_rank)


def recall_floor(num_positives: int, ks: Sequence[int], tau_rank: float) -> float:
    """1 − 1/|K| Σ_k 1/|P| Σ_{r=1}^{|P|} σ_τ1(k − r)."""
    return 1 - float(hits_of_perfect(num_positives, ks, tau_rank).mean())


def capped_floor(num_positives: int, ks: Sequence[int], tau_rank: float) -> float:
    """Divided by min(k, |P|)."""
    most = torch.tensor([min(k, num_positives) for k in ks], dtype=torch.float64)
    return 1 - float((hits_of_perfect(num_positives, ks, tau_rank).sum(1) / most).mean())


FLOOR = Exercise(
    "recall_floor",
    "The RS@k loss of a perfect ranking: the positives at ranks 1 … |P|, all far apart (τ₂ plays no role).",
    recall_floor,
    floor_cases,
    (
        Mistake("zero", "It is not 0: σ(0) is one half, so even rank 1 is only half a hit for k = 1.", lambda **_: 0.0),
        Mistake(
            "hard",
            "That is the floor of hard recall@k; σ_τ1(k − rank) is never quite 1 and never quite 0.",
            lambda num_positives, ks, tau_rank: 1 - sum(min(k, num_positives) / num_positives for k in ks) / len(ks),
        ),
        Mistake(
            "all at rank 1",
            "Only one positive can have rank 1: they stand at 1, 2, …, |P|.",
            lambda num_positives, ks, tau_rank: recall_floor(1, ks, tau_rank),
        ),
        Mistake(
            "the slides' label",
            "The argument is k − rank; the 1 is in the rank already (E-SL-1).",
            lambda num_positives, ks, tau_rank: 1 - float(hits_of_perfect(num_positives, ks, tau_rank, -1).mean()),
        ),
        Mistake(
            "ranks from zero",
            "The first rank is 1, not 0.",
            lambda num_positives, ks, tau_rank: 1 - float(hits_of_perfect(num_positives, ks, tau_rank, 1).mean()),
        ),
        Mistake(
            "recall",
            "That is the surrogate recall; the loss is 1 minus it.",
            lambda num_positives, ks, tau_rank: 1 - recall_floor(num_positives, ks, tau_rank),
        ),
        Mistake(
            "no temperature",
            "τ₁ is not used: divide k − rank by it.",
            lambda num_positives, ks, tau_rank: recall_floor(num_positives, ks, 1.0),
        ),
        Mistake("capped", "It divides by min(k, |P|), as the released code does; divide by |P|.", capped_floor),
        Mistake(
            "one k",
            "It looks at one k alone; the loss is the mean over all of K.",
            lambda num_positives, ks, tau_rank: recall_floor(num_positives, ks[-1:], tau_rank),
            also=(lambda num_positives, ks, tau_rank: recall_floor(num_positives, ks[:1], tau_rank),),
        ),
        Mistake(
            "the last rank alone",
            "It looks at the last positive alone; take the mean over the ranks 1 … |P|.",
            lambda num_positives, ks, tau_rank: 1 - float(hits_of_perfect(num_positives, ks, tau_rank)[:, -1].mean()),
        ),
    ),
)

EXERCISES = (HARD, SOFT, FLOOR)
