"""Assignment 3: gradients of PNP, who gets them, a loss from points of its derivative, D_q of a batch of any size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize

from labkit.assignments.assignment import Assignment, Question, Written
from labkit.lessons.exercise import Case, Exercise, Mistake


def size(rng: torch.Generator, low: int, high: int) -> int:
    """A whole number from low to high, both included."""
    return int(torch.randint(low, high + 1, (), generator=rng))


def uniform(rng: torch.Generator, low: float, high: float) -> float:
    """A number between low and high."""
    return low + (high - low) * float(torch.rand((), generator=rng, dtype=torch.float64))


def random(rng: torch.Generator, *shape: int) -> Tensor:
    """Numbers between 0 and 1."""
    return torch.rand(*shape, generator=rng, dtype=torch.float64)


def cosines(rng: torch.Generator, items: int, dim: int) -> Tensor:
    """Cosines (n, n) of random vectors."""
    unit = normalize(torch.randn(items, dim, generator=rng, dtype=torch.float64), dim=1)
    return unit @ unit.T


def shuffled(values: Sequence[int], rng: torch.Generator) -> Tensor:
    """The values in another order."""
    return torch.tensor(values)[torch.randperm(len(values), generator=rng)]


def numbers(*values: float) -> Tensor:
    """A float64 tensor."""
    return torch.tensor(values, dtype=torch.float64)


# 1. pnp_gradient

VARIANTS = ("O", "Iu", "Ib", "Ds", "Dq")
SIMILARITY = numbers(0.9, 0.55, 0.6, 0.1, -0.3, 0.58, 0.95)
POSITIVE = torch.tensor([True, False, True, False, False, True, False])


def gradient_cases() -> list[Case]:
    """One ranking, every variant."""
    common = {"similarity": SIMILARITY, "positive": POSITIVE, "alpha": 2.0, "b": 3.0, "tau": 0.1}
    return [Case(f"three positives, variant {variant}", common | {"variant": variant}) for variant in VARIANTS]


def hidden_gradients(rng: torch.Generator) -> list[Case]:
    """Random rankings of every variant; ties, one positive, no negative."""
    found = []
    for variant in VARIANTS:
        n = size(rng, 7, 12)
        positive = shuffled([1, 1, 0, 0, 0, *[size(rng, 0, 1) for _ in range(n - 5)]], rng) > 0
        arguments = {
            "similarity": random(rng, n),
            "positive": positive,
            "variant": variant,
            "alpha": uniform(rng, 1.5, 4),
        }
        arguments |= {"b": uniform(rng, 1.5, 5), "tau": uniform(rng, 0.05, 0.2)}
        found.append(Case(f"hidden: variant {variant}", arguments))
    common = {"alpha": 1.5, "b": 2.0, "tau": 0.1, "similarity": torch.randint(0, 3, (8,), generator=rng).double() / 5}
    found += [
        Case("hidden: ties", common | {"positive": shuffled([1, 0] * 4, rng) > 0, "variant": "Dq"}, edge=True),
        Case("hidden: one positive", common | {"positive": torch.arange(8) == 3, "variant": "Ib"}, edge=True),
        Case("hidden: no negative", common | {"positive": torch.arange(8) < 8, "variant": "Ds"}, edge=True),
    ]
    return found


def slope_of(R: Tensor, variant: str, alpha: float, b: float) -> Tensor:
    """g = dF/dR, Eqs 5, 6, 8, 10, 11."""
    if variant == "O":
        return torch.ones_like(R)
    if variant == "Iu":
        return torch.log1p(R)
    if variant == "Ib":
        return R / (1 + b * R)
    if variant == "Ds":
        return 1 / (1 + R)
    return alpha * (1 + R) ** (-alpha - 1)


def sigmoid_slope(G: Tensor, tau: float) -> Tensor:
    """dG/dx."""
    return G * (1 - G) / tau


def pnp_gradient(
    similarity: Tensor,
    positive: Tensor,
    variant: str,
    alpha: float,
    b: float,
    tau: float,
    slope: Callable[[Tensor, str, float, float], Tensor] = slope_of,
    inner: Callable[[Tensor, float], Tensor] = sigmoid_slope,
    on_item: bool = True,
    on_others: bool = True,
    all_items: bool = False,
) -> Tensor:
    """∂L/∂s (n,) of L = 1/|P| Σ_i F(R_i); what comes after tau is for mistakes."""
    gradient = torch.zeros_like(similarity)
    for i in positive.nonzero().flatten().tolist():
        before = ~positive
        if all_items:
            before = torch.arange(len(similarity)) != i
        G = torch.sigmoid((similarity - similarity[i]) / tau)
        pull = slope(G[before].sum(), variant, alpha, b) * inner(G, tau) * before / positive.sum()
        gradient = gradient + pull * on_others
        gradient[i] = gradient[i] - pull.sum() * on_item
    return gradient


def instead(variant: str, wrong: Callable[[Tensor, float, float], Tensor]) -> Callable[..., Tensor]:
    """The derivatives with one of them wrong."""

    def slope(R: Tensor, name: str, alpha: float, b: float) -> Tensor:
        return wrong(R, alpha, b) if name == variant else slope_of(R, name, alpha, b)

    return lambda **case: pnp_gradient(**case, slope=slope)


GRADIENT = Exercise(
    "pnp_gradient",
    "The gradient of the PNP loss of one query with respect to every similarity, for the derivative that was meant.",
    pnp_gradient,
    gradient_cases,
    (
        Mistake(
            "no mean",
            "The loss is a mean over the positives: 1/|P| is missing, as in the printed derivatives (E-PNP-2).",
            lambda **case: pnp_gradient(**case) * case["positive"].sum(),
        ),
        Mistake(
            "over all items", "It divides by the number of all items; the mean is over the positives.",
            lambda **case: pnp_gradient(**case) * case["positive"].sum() / len(case["positive"]),
        ),
        Mistake(
            "sign", "The sign is turned round: a positive that rises lowers the loss, so its gradient is negative.",
            lambda **case: -pnp_gradient(**case),
        ),
        Mistake(
            "positives only", "Only positives get a gradient here; R depends on the negatives, too. All add up to 0.",
            lambda **case: pnp_gradient(**case, on_others=False),
        ),
        Mistake(
            "negatives only", "Only negatives get a gradient here; R depends on s_i, too. All add up to 0.",
            lambda **case: pnp_gradient(**case, on_item=False),
        ),
        Mistake(
            "all items counted", "R counts all other items before i; PNP counts negatives only.",
            lambda **case: pnp_gradient(**case, all_items=True),
        ),
        Mistake(
            "no 1/tau", "The slope of G is G (1 − G) / τ: the temperature is missing.",
            lambda **case: pnp_gradient(**case, inner=lambda G, tau: G * (1 - G)),
        ),
        Mistake(
            "value for slope", "G itself stands where its slope belongs: G (1 − G) / τ.",
            lambda **case: pnp_gradient(**case, inner=lambda G, tau: G),
        ),
        Mistake(
            "no inner derivative", "Only dF/dR is there: the slope of the sigmoid, dR/ds, is missing.",
            lambda **case: pnp_gradient(**case, inner=lambda G, tau: torch.ones_like(G)),
        ),
        Mistake(
            "I_u of Eq. 7", "For Iu that is the derivative of Eq. 7 as printed; what was meant is Eq. 6 (E-PNP-1).",
            instead("Iu", lambda R, alpha, b: torch.log1p(R) + 1),
        ),
        Mistake(
            "I_b without b", "For Ib the boundary b is not used: R / (1 + bR).",
            instead("Ib", lambda R, alpha, b: R / (1 + R)),
        ),
        Mistake(
            "I_b's loss", "For Ib that is the loss, (bR − log(1 + bR)) / b²; its derivative is asked for.",
            instead("Ib", lambda R, alpha, b: (b * R - torch.log1p(b * R)) / b**2),
        ),
        Mistake(
            "D_s's loss", "For Ds that is the loss, log(1 + R); its derivative is asked for.",
            instead("Ds", lambda R, alpha, b: torch.log1p(R)),
        ),
        Mistake(
            "D_q without alpha", "For Dq the factor α is missing.",
            instead("Dq", lambda R, alpha, b: (1 + R) ** (-alpha - 1)),
        ),
        Mistake(
            "D_q, exponent kept", "For Dq the exponent must go down by one: −α becomes −α − 1.",
            instead("Dq", lambda R, alpha, b: alpha * (1 + R) ** -alpha),
        ),
    ),
)  # fmt: skip

# 2. pull_quantile


def quantile_cases() -> list[Case]:
    """Equal pulls, decreasing and increasing ones, most of it for one positive, none at all."""
    R = numbers(3, 0, 7, 1, 2)
    return [
        Case(
            "equal pulls, exactly half", {"R": numbers(4, 1, 3, 2), "g": numbers(1, 1, 1, 1), "share": 0.5}, edge=True
        ),
        Case("decreasing, half", {"R": R, "g": numbers(0.5, 3, 0.25, 2, 1.25), "share": 0.5}),
        Case("increasing, half", {"R": R, "g": numbers(2, 0, 8, 1, 1), "share": 0.5}),
        Case("nearly equal, a quarter", {"R": R, "g": numbers(2, 1.5, 3, 2.5, 1), "share": 0.25}),
        Case("no pull at all", {"R": R, "g": numbers(0, 0, 0, 0, 0), "share": 0.5}, edge=True),
    ]


def hidden_quantiles(rng: torch.Generator) -> list[Case]:
    """Random counts with increasing, decreasing and random pulls; ties, all of it, a single positive."""
    R = 10 * random(rng, size(rng, 20, 30)) ** 2
    few = 5 * random(rng, 6)
    ties = torch.tensor([0, 1, 1, 1, 2, 2, 5]).double()[torch.randperm(7, generator=rng)]
    return [
        Case("hidden: decreasing", {"R": R, "g": 2 / (1 + R) ** 3, "share": uniform(rng, 0.6, 0.8)}),
        Case("hidden: increasing", {"R": R, "g": torch.log1p(R), "share": uniform(rng, 0.2, 0.4)}),
        Case("hidden: random pulls", {"R": R, "g": random(rng, len(R)), "share": uniform(rng, 0.45, 0.55)}),
        Case("hidden: few positives", {"R": few, "g": random(rng, 6), "share": uniform(rng, 0.3, 0.7)}),
        Case("hidden: ties", {"R": ties, "g": 1 + random(rng, 7), "share": uniform(rng, 0.3, 0.9)}, edge=True),
        Case("hidden: one positive", {"R": few[:1], "g": numbers(0.25), "share": 0.9}, edge=True),
        Case("hidden: exactly half", {"R": R[:8], "g": torch.ones(8, dtype=torch.float64), "share": 0.5}, edge=True),
        Case("hidden: no pull", {"R": few, "g": torch.zeros(6, dtype=torch.float64), "share": 0.3}, edge=True),
    ]


def pull_quantile(R: Tensor, g: Tensor, share: float, power: float = 1.0, strict: bool = False) -> float:
    """The smallest R_i such that positives with at most R_i get at least the share; 0 if there is no pull."""
    weight = g**power
    if float(g.sum()) == 0:
        return 0.0
    for limit in sorted(R.tolist()):
        reached = float(weight[limit >= R].sum())
        if reached > share * float(weight.sum()) or (not strict and reached >= share * float(weight.sum())):
            return float(limit)
    return float(R.max())


def when_pulled(g: Tensor, value: float) -> float:
    """What a mistake gives where there is a pull."""
    return value if float(g.sum()) > 0 else 0.0


def last_before(R: Tensor, g: Tensor, share: float) -> float:
    """The largest R whose positives get less than the share, 0 if there is none."""
    found = pull_quantile(R, g, share)
    return when_pulled(g, max([r for r in R.tolist() if r < found], default=0.0))


def in_given_order(R: Tensor, g: Tensor, share: float) -> float:
    """Cumulated without sorting."""
    reached = g.cumsum(0) >= share * g.sum()
    return when_pulled(g, float(R[reached.double().argmax()]))


QUANTILE = Exercise(
    "pull_quantile",
    "The smallest count R such that the positives with counts up to R get at least a given share of all pull.",
    lambda R, g, share: pull_quantile(R, g, share),
    quantile_cases,
    (
        Mistake(
            "of the positives", "That is the quantile of the positives, as if all were pulled alike: weigh them by g.",
            lambda R, g, share: when_pulled(g, pull_quantile(R, torch.ones_like(g), share)),
        ),
        Mistake(
            "not sorted", "The pull is added up in the given order; sort the positives by R first.", in_given_order,
        ),
        Mistake(
            "sorted by pull", "The positives are sorted by their pull; sort them by R.",
            lambda R, g, share: in_given_order(R[g.argsort()], g.sort().values, share),
        ),
        Mistake(
            "strongest first", "The positives with the strongest pull come first here; sort them by R instead.",
            lambda R, g, share: in_given_order(
                R[g.argsort(descending=True)], g.sort(descending=True).values, share
            ),
        ),
        Mistake(
            "largest first", "It adds up from the largest R down; begin with the smallest.",
            lambda R, g, share: in_given_order(
                R.sort(descending=True).values, g[R.argsort(descending=True)], share
            ),
        ),
        Mistake(
            "one too early", "That is the last count before the share is reached; take the one that reaches it.",
            last_before,
        ),
        Mistake(
            "more than the share", "At least the share is enough; it asks for more than that.",
            lambda R, g, share: pull_quantile(R, g, share, strict=True),
        ),
        Mistake(
            "not divided", "The cumulated pull is compared with the share itself: compare with share times all pull.",
            lambda R, g, share: when_pulled(
                g, next((r for r in sorted(R.tolist()) if float(g[r >= R].sum()) >= share), float(R.max()))
            ),
        ),
        Mistake(
            "centre of mass", "That is the mean of R weighted by the pull, not a quantile.",
            lambda R, g, share: when_pulled(g, float((R * g).sum() / g.sum().clamp_min(1e-12))),
        ),
        Mistake(
            "times R", "The pull is multiplied by R, so that those far back weigh more: g is the pull already.",
            lambda R, g, share: when_pulled(g, pull_quantile(R, g * R + 1e-12, share)),
        ),
        Mistake(
            "the place", "That is how many positives there are up to there; asked for is the count R of the last one.",
            lambda R, g, share: when_pulled(g, float((pull_quantile(R, g, share) >= R).sum())),
        ),
    ),
)  # fmt: skip

# 3. loss_from_points


def table(*points: tuple[float, float]) -> Tensor:
    """Points (R, dF/dR) as (m, 2)."""
    return torch.tensor(points, dtype=torch.float64)


def points_cases() -> list[Case]:
    """Falling, rising and peaked derivatives; beyond the last point; a first point after 0; counts at the points."""
    falling = table((0, 1.0), (2, 0.8), (5, 0.1), (10, 0.3))
    return [
        Case("falling", {"R": numbers(0.5, 1.0, 2.5, 4.0, 7.0), "points": falling}),
        Case("a peak", {"R": numbers(3.0, 0.25, 1.5), "points": table((0, 0.0), (1, 2.0), (4, 0.5))}),
        Case("beyond the last point", {"R": numbers(11.0, 25.0), "points": falling}),
        Case("first point at 1", {"R": numbers(0.4, 1.5, 6.0), "points": table((1, 3.0), (2, 1.0), (3, 1.5))}),
        Case("at the points", {"R": numbers(0, 2, 5, 10), "points": falling}, edge=True),
    ]


def hidden_points(rng: torch.Generator) -> list[Case]:
    """Random tables, many and few points, far beyond them; no negative before anyone, one count."""

    def points(m: int, start: float) -> Tensor:
        steps = 0.5 + 2 * random(rng, m)
        R = start + torch.cumsum(steps, 0) - steps[0]
        # neighbours differ clearly, so that rules of thumb show
        g = 0.2 + random(rng, m) + torch.arange(m) % 2
        return torch.stack([R, g], 1)

    def counts(n: int, largest: float) -> Tensor:
        return largest * random(rng, n)

    several = points(size(rng, 4, 7), 0.0)
    return [
        Case("hidden: several points", {"R": counts(8, float(several[-1, 0])), "points": several}),
        Case("hidden: beyond them", {"R": counts(8, 30.0) + several[-1, 0], "points": several}),
        Case("hidden: two points", {"R": counts(6, 4.0), "points": points(2, 0.0)}),
        Case("hidden: a late start", {"R": counts(8, 9.0), "points": points(4, uniform(rng, 0.5, 1.5))}),
        Case("hidden: before the first", {"R": counts(3, 0.4), "points": points(3, 0.5)}),
        Case("hidden: at the points", {"R": several[:, 0].clone(), "points": several}, edge=True),
        Case("hidden: zero only", {"R": numbers(0.0), "points": points(3, 0.0)}, edge=True),
    ]


def integral(R: Tensor, points: Tensor, half: float = 0.5, beyond: str = "flat") -> Tensor:
    """∫₀ᴿ g for g linear between the points, constant outside; half, beyond: for mistakes."""
    x, y = points[:, 0].tolist(), points[:, 1].tolist()
    if x[0] > 0:
        x, y = [0.0, *x], [y[0], *y]
    last = {"flat": (y[-1], 0.0), "zero": (0.0, 0.0), "line": (y[-1], (y[-1] - y[-2]) / (x[-1] - x[-2]))}[beyond]
    levels = [*y[:-1], last[0]]
    slopes = [*((y[k + 1] - y[k]) / (x[k + 1] - x[k]) for k in range(len(x) - 1)), last[1]]
    found, area = torch.zeros_like(R), 0.0
    for start, end, level, slope in zip(x, [*x[1:], float("inf")], levels, slopes):
        h, length = R - start, end - start
        found = torch.where((start <= R) & (end > R), area + level * h + half * slope * h * h, found)
        if end < float("inf"):
            area += level * length + half * slope * length * length
    return found


def by_clamping(R: Tensor, points: Tensor) -> Tensor:
    """Every stretch adds its part; at a point itself torch.clamp passes on the gradient of both."""
    x, y, _ = whole_table(points)
    rise = torch.cat([y.diff() / x.diff(), torch.zeros(1, dtype=torch.float64)])
    found = torch.zeros_like(R)
    for k, start in enumerate(x.tolist()):
        h = R.clamp(start, float(x[k + 1]) if k + 1 < len(x) else None) - start
        found = found + y[k] * h + rise[k] * h * h / 2
    return found


def loss_from_points(R: Tensor, points: Tensor) -> Tensor:
    """F with F(0) = 0 and F' = g."""
    return integral(R, points)


def whole_table(points: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Nodes and values from R = 0 on, and the integral up to every node."""
    if float(points[0, 0]) > 0:
        points = torch.cat([torch.stack([torch.zeros_like(points[0, 0]), points[0, 1]])[None], points])
    x, y = points[:, 0], points[:, 1]
    area = torch.cat([torch.zeros(1, dtype=torch.float64), (x.diff() * (y[1:] + y[:-1]) / 2).cumsum(0)])
    return x, y, area


def read_off(R: Tensor, x: Tensor) -> Tensor:
    """The stretch that each R lies in."""
    return (torch.searchsorted(x.contiguous(), R.detach().contiguous(), right=True) - 1).clamp(0, len(x) - 1)


def by_rectangles(R: Tensor, points: Tensor, right: bool) -> Tensor:
    """The value of one end in the whole stretch."""
    x, y, _ = whole_table(points)
    level = torch.cat([y[1:], y[-1:]]) if right else y
    area = torch.cat([torch.zeros(1, dtype=torch.float64), (x.diff() * level[:-1]).cumsum(0)])
    k = read_off(R, x)
    return area[k] + level[k] * (R - x[k])


def joined(R: Tensor, points: Tensor) -> Tensor:
    """F is right at the points and a straight line between them."""
    x, y, area = whole_table(points)
    k = read_off(R, x)
    mean = torch.cat([(y[1:] + y[:-1]) / 2, y[-1:]])
    return area[k] + mean[k] * (R - x[k])


def whole_stretches(R: Tensor, points: Tensor) -> Tensor:
    """Only stretches that lie wholly before R."""
    x, _, area = whole_table(points)
    return area[read_off(R, x)] + 0 * R


def slope_at(R: Tensor, points: Tensor) -> Tensor:
    """g itself."""
    x, y, _ = whole_table(points)
    k = read_off(R, x)
    rise = torch.cat([y.diff() / x.diff(), torch.zeros(1, dtype=torch.float64)])
    return y[k] + rise[k] * (R - x[k])


POINTS = Exercise(
    "loss_from_points",
    "The loss with F(0) = 0 whose derivative is given by points, linear between them and constant outside.",
    loss_from_points,
    points_cases,
    (
        Mistake("the derivative", "That is the derivative at R; integrate it from 0 to R.", slope_at),
        Mistake(
            "left ends", "Each stretch has the value of its left end: the derivative is a line between two points.",
            lambda R, points: by_rectangles(R, points, right=False),
        ),
        Mistake(
            "right ends", "Each stretch has the value of its right end: the derivative is a line between two points.",
            lambda R, points: by_rectangles(R, points, right=True),
        ),
        Mistake(
            "straight between the points",
            "The loss is right at the points and straight between them; there it is a parabola, and its slope is g.",
            joined,
        ),
        Mistake(
            "whole stretches only", "Only stretches that lie wholly before R count; add the part of the one R lies in.",
            whole_stretches,
        ),
        Mistake(
            "no half", "The integral of slope · h is slope · h² / 2: the half is missing.",
            lambda R, points: integral(R, points, half=1.0),
        ),
        Mistake(
            "zero beyond", "Beyond the last point the derivative stays at its last value, it is not 0.",
            lambda R, points: integral(R, points, beyond="zero"),
        ),
        Mistake(
            "line goes on", "Beyond the last point the derivative stays at its last value; the line does not go on.",
            lambda R, points: integral(R, points, beyond="line"),
        ),
        Mistake(
            "from the first point", "The integral begins at the first point; begin at 0, where g has its first value.",
            lambda R, points: integral(R, points) - points[0, 1] * torch.minimum(R, points[0, 0]),
        ),
        Mistake(
            "from zero up", "Before the first point the derivative is its first value, not a line from 0.",
            lambda R, points: integral(
                R, points if float(points[0, 0]) == 0 else torch.cat([torch.zeros(1, 2, dtype=torch.float64), points])
            ),
        ),
        Mistake(
            "R times g", "The integral of g is not R · g(R): that holds for a constant only.",
            lambda R, points: R * slope_at(R, points),
        ),
        Mistake(
            "no gradient", "The value is right but carries no gradient: compute with R itself, not with its numbers.",
            lambda R, points: integral(R.detach(), points),
        ),
        Mistake(
            "twice at the points", "At a point itself both stretches send a gradient, as torch.clamp does at its ends.",
            by_clamping,
        ),
        Mistake(
            "sign", "The sign is turned round: a positive derivative makes a loss that grows with R.",
            lambda R, points: -integral(R, points),
        ),
    ),
    gradient="R",
)  # fmt: skip

# 4. pnp_batch


def batch_cases() -> list[Case]:
    """Equal and unequal classes, a singleton, several steepnesses, one class only."""
    rng = torch.Generator().manual_seed(3)
    unequal = torch.tensor([0, 1, 0, 2, 1, 0, 3, 1, 0])  # 2 and 3 have no positive
    equal = torch.tensor([0, 1, 2, 2, 1, 0])
    nine, six = cosines(rng, 9, 3), cosines(rng, 6, 3)
    return [
        Case("unequal classes, α = 1", batch_of(nine, unequal, 1.0, 0.1, 10.0)),
        Case("unequal classes, α = 3", batch_of(nine, unequal, 3.0, 0.05, 4.0)),
        Case("equal classes, α = 2", batch_of(six, equal, 2.0, 0.1, 20.0)),
        Case("a gallery as large as the batch's", batch_of(six, equal, 1.0, 0.2, 4.0)),
        Case("one class", batch_of(six[:4, :4], torch.zeros(4, dtype=torch.int64), 1.0, 0.1, 10.0), edge=True),
    ]


def batch_of(similarity: Tensor, labels: Tensor, alpha: float, tau: float, negatives: float) -> dict[str, Any]:
    """Arguments of a case."""
    return {"similarity": similarity, "labels": labels, "alpha": alpha, "tau": tau, "negatives": negatives}


def hidden_batches(rng: torch.Generator) -> list[Case]:
    """Random batches; pairs, one class, a large gallery, a similarity that is not symmetric."""

    def settings() -> tuple[float, float, float]:
        return uniform(rng, 1.5, 3), uniform(rng, 0.05, 0.2), uniform(rng, 5, 40)

    # two classes of different size, one item alone, and more of the first class or of a fourth
    labels = shuffled([0, 0, 0, 0, 1, 1, 2, *[3 * size(rng, 0, 1) for _ in range(size(rng, 2, 4))]], rng) * 4
    n = len(labels)
    pairs = shuffled([0, 0, 1, 1, 2, 2], rng)
    return [
        Case("hidden: unequal classes", batch_of(cosines(rng, n, 3), labels, *settings())),
        Case("hidden: not symmetric", batch_of(2 * random(rng, n, n) - 1, labels, *settings())),
        Case("hidden: the same with more noise", batch_of(cosines(rng, n, 6), labels, *settings())),
        Case("hidden: pairs", batch_of(cosines(rng, 6, 3), pairs, *settings())),
        Case("hidden: one class", batch_of(cosines(rng, 4, 2), torch.full((4,), 2), *settings()), edge=True),
        Case("hidden: one pair", batch_of(cosines(rng, 2, 2), torch.full((2,), 1), *settings()), edge=True),
    ]


def losses_of_queries(
    similarity: Tensor,
    labels: Tensor,
    alpha: float,
    tau: float,
    negatives: float,
    scale: Callable[[float, int, int], float] = lambda negatives, found, batch: negatives / max(1, found),
    loss: Callable[[Tensor, float], Tensor] = lambda R, alpha: 1 - (1 + R) ** -alpha,
    all_items: bool = False,
    query_positive: bool = False,
    mean_first: bool = False,
) -> tuple[Tensor, Tensor]:
    """The loss of every query that has a positive, and |P|; what comes after negatives is for mistakes."""
    found, numbers_of = [], []
    for q in range(len(labels)):
        same = labels == labels[q]
        others = torch.arange(len(labels)) != q
        positive, counted = same & others, others if all_items else ~same
        if not positive.any():
            continue
        if query_positive:
            positive = same
        targets = positive.nonzero().flatten().tolist()
        before = torch.sigmoid((similarity[q][None, :] - similarity[q, targets][:, None]) / tau)  # [i, j]
        itself = torch.arange(len(labels))[None, :] == torch.tensor(targets)[:, None]
        R = (before * (counted[None, :] & ~itself)).sum(1)
        R = R * scale(negatives, int((~same).sum()), len(labels))
        found.append(loss(R.mean() if mean_first else R, alpha).mean())
        numbers_of.append(torch.tensor(float(positive.sum()), dtype=torch.float64))
    return torch.stack(found), torch.stack(numbers_of)


def pnp_batch(**case: Any) -> Tensor:
    """Mean over queries with a positive of 1 − 1/|P| Σ (1 + M R / |S_N|)^−α."""
    return losses_of_queries(**case)[0].mean()


def scaled_outside(**case: Any) -> Tensor:
    """The loss, not R, is scaled."""
    labels = case["labels"]
    found, _ = losses_of_queries(**case, scale=lambda negatives, found, batch: 1.0)
    kept = [q for q in range(len(labels)) if int((labels == labels[q]).sum()) > 1]
    factor = torch.stack([case["negatives"] / (labels != labels[q]).sum().clamp_min(1) for q in kept])
    return (found * factor).mean()


def singletons_counted(**case: Any) -> Tensor:
    """A query without a positive counts as 0."""
    return losses_of_queries(**case)[0].sum() / len(case["labels"])


def weighed_by_positives(**case: Any) -> Tensor:
    """Every (query, positive) pair counts the same."""
    found, count = losses_of_queries(**case)
    return (found * count).sum() / count.sum()


BATCH = Exercise(
    "pnp_batch",
    "PNP-D_q of a batch, with R counted as if every query had a given number of negatives.",
    pnp_batch,
    batch_cases,
    (
        Mistake(
            "not scaled", "R is the count in this batch: scale it to the given number of negatives.",
            lambda **case: losses_of_queries(**case, scale=lambda negatives, found, batch: 1.0)[0].mean(),
        ),
        Mistake(
            "scaled the wrong way", "The scale is upside down: it is the share R / |S_N|, times the given number.",
            lambda **case: losses_of_queries(
                **case, scale=lambda negatives, found, batch: found / negatives
            )[0].mean(),
        ),
        Mistake(
            "share only", "R / |S_N| is the share of the negatives; multiply it by the given number.",
            lambda **case: losses_of_queries(
                **case, scale=lambda negatives, found, batch: 1 / max(1, found)
            )[0].mean(),
        ),
        Mistake(
            "over the gallery", "R is divided by the whole gallery, B − 1; only negatives can count: divide by |S_N|.",
            lambda **case: losses_of_queries(
                **case, scale=lambda negatives, found, batch: negatives / (batch - 1)
            )[0].mean(),
        ),
        Mistake("loss scaled", "The loss is scaled; scale R, before the power is taken.", scaled_outside),
        Mistake(
            "all items counted", "R counts positives, too; PNP counts negatives only.",
            lambda **case: losses_of_queries(**case, all_items=True)[0].mean(),
        ),
        Mistake(
            "query as positive", "The query is its own positive, as in the released code: leave it out.",
            lambda **case: losses_of_queries(**case, query_positive=True)[0].mean(),
        ),
        Mistake(
            "not a loss", "It is 1 minus the loss: the released code made this mistake until February 2023.",
            lambda **case: 1 - pnp_batch(**case),
        ),
        Mistake(
            "mean of R first", "The mean of R is taken before the power: every positive has a loss of its own.",
            lambda **case: losses_of_queries(**case, mean_first=True)[0].mean(),
        ),
        Mistake(
            "alpha as a factor", "α is an exponent here; as a factor it stands in the derivative only.",
            lambda **case: losses_of_queries(**case, loss=lambda R, alpha: 1 - alpha / (1 + R))[0].mean(),
        ),
        Mistake(
            "queries without a positive", "A query without a positive has no loss: leave it out of the mean.",
            singletons_counted,
        ),
        Mistake(
            "pairs for queries", "Every (query, positive) pair has the same weight; every query should have it.",
            weighed_by_positives,
        ),
        Mistake(
            "sum", "It adds up over the queries; take the mean.",
            lambda **case: losses_of_queries(**case)[0].sum(),
        ),
        Mistake(
            "sign", "The sign is turned round: a negative j counts as before i when s_qj is larger than s_qi.",
            lambda **case: pnp_batch(**case | {"similarity": -case["similarity"]}),
        ),
    ),
    gradient="similarity",
)  # fmt: skip

ASSIGNMENT = Assignment(
    "3_derivatives",
    "A loss by its derivative",
    (
        Question(GRADIENT, 6, hidden_gradients),
        Question(QUANTILE, 4, hidden_quantiles),
        Question(POINTS, 7, hidden_points),
        Question(BATCH, 7, hidden_batches),
    ),
    (
        Written(
            "a_wrong_integral",
            3,
            (
                (
                    1,
                    "the product rule gives R e^(−R) − R² e^(−R) / 2; or: the loss falls again, but g is positive",
                ),
                (1, "the right integral with F(0) = 0: 1 − (1 + R) e^(−R)"),
                (
                    1,
                    "g is 0 at R = 0 and near 0 for large R: it works on those with about one negative before them",
                ),
            ),
        ),
        Written(
            "choose_a_derivative",
            3,
            (
                (
                    1,
                    "from scratch R is large: a derivative that still pulls there, not a large α; uses the table",
                ),
                (1, "wrong labels: such positives are far back, and a decreasing derivative gives them little"),
                (1, "how to find out: validation data, several seeds, equal tuning; a share of the pull is no result"),
            ),
        ),
    ),
)
