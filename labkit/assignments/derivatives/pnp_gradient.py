"""The gradient of every PNP variant with respect to every similarity."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from labkit.assignments.assignment import Question
from labkit.lessons.draw import number, numbers, shuffled, uniform, whole
from labkit.lessons.exercise import Case, Exercise, Mistake

TASK = "The gradient of the PNP loss of one query with respect to every similarity, for the derivative that was meant."

VARIANTS = ("O", "Iu", "Ib", "Ds", "Dq")
SIMILARITY = numbers(0.9, 0.55, 0.6, 0.1, -0.3, 0.58, 0.95)
POSITIVE = torch.tensor([True, False, True, False, False, True, False])


def public_cases() -> list[Case]:
    """One ranking, every variant."""
    common = {"similarity": SIMILARITY, "positive": POSITIVE, "alpha": 2.0, "b": 3.0, "tau": 0.1}
    return [Case(f"three positives, variant {variant}", common | {"variant": variant}) for variant in VARIANTS]


def hidden_cases(rng: torch.Generator) -> list[Case]:
    """Random rankings of every variant; ties, one positive, no negative."""
    found = []
    for variant in VARIANTS:
        n = whole(rng, 7, 12)
        positive = shuffled(rng, [1, 1, 0, 0, 0, *[whole(rng, 0, 1) for _ in range(n - 5)]]) > 0
        arguments = {
            "similarity": uniform(rng, n),
            "positive": positive,
            "variant": variant,
            "alpha": number(rng, 1.5, 4),
        }
        arguments |= {"b": number(rng, 1.5, 5), "tau": number(rng, 0.05, 0.2)}
        found.append(Case(f"hidden: variant {variant}", arguments))
    common = {"alpha": 1.5, "b": 2.0, "tau": 0.1, "similarity": torch.randint(0, 3, (8,), generator=rng).double() / 5}
    found += [
        Case("hidden: ties", common | {"positive": shuffled(rng, [1, 0] * 4) > 0, "variant": "Dq"}, edge=True),
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


MISTAKES = (
    Mistake(
        "no mean",
        "The loss is a mean over the positives: 1/|P| is missing, as in the printed derivatives (E-PNP-2).",
        lambda **case: pnp_gradient(**case) * case["positive"].sum(),
    ),
    Mistake(
        "over all items",
        "It divides by the number of all items; the mean is over the positives.",
        lambda **case: pnp_gradient(**case) * case["positive"].sum() / len(case["positive"]),
    ),
    Mistake(
        "sign",
        "The sign is turned round: a positive that rises lowers the loss, so its gradient is negative.",
        lambda **case: -pnp_gradient(**case),
    ),
    Mistake(
        "positives only",
        "Only positives get a gradient here; R depends on the negatives, too. All add up to 0.",
        lambda **case: pnp_gradient(**case, on_others=False),
    ),
    Mistake(
        "negatives only",
        "Only negatives get a gradient here; R depends on s_i, too. All add up to 0.",
        lambda **case: pnp_gradient(**case, on_item=False),
    ),
    Mistake(
        "all items counted",
        "R counts all other items before i; PNP counts negatives only.",
        lambda **case: pnp_gradient(**case, all_items=True),
    ),
    Mistake(
        "no 1/tau",
        "The slope of G is G (1 − G) / τ: the temperature is missing.",
        lambda **case: pnp_gradient(**case, inner=lambda G, tau: G * (1 - G)),
    ),
    Mistake(
        "value for slope",
        "G itself stands where its slope belongs: G (1 − G) / τ.",
        lambda **case: pnp_gradient(**case, inner=lambda G, tau: G),
    ),
    Mistake(
        "no inner derivative",
        "Only dF/dR is there: the slope of the sigmoid, dR/ds, is missing.",
        lambda **case: pnp_gradient(**case, inner=lambda G, tau: torch.ones_like(G)),
    ),
    Mistake(
        "I_u of Eq. 7",
        "For Iu that is the derivative of Eq. 7 as printed; what was meant is Eq. 6 (E-PNP-1).",
        instead("Iu", lambda R, alpha, b: torch.log1p(R) + 1),
    ),
    Mistake(
        "I_b without b",
        "For Ib the boundary b is not used: R / (1 + bR).",
        instead("Ib", lambda R, alpha, b: R / (1 + R)),
    ),
    Mistake(
        "I_b's loss",
        "For Ib that is the loss, (bR − log(1 + bR)) / b²; its derivative is asked for.",
        instead("Ib", lambda R, alpha, b: (b * R - torch.log1p(b * R)) / b**2),
    ),
    Mistake(
        "D_s's loss",
        "For Ds that is the loss, log(1 + R); its derivative is asked for.",
        instead("Ds", lambda R, alpha, b: torch.log1p(R)),
    ),
    Mistake(
        "D_q without alpha",
        "For Dq the factor α is missing.",
        instead("Dq", lambda R, alpha, b: (1 + R) ** (-alpha - 1)),
    ),
    Mistake(
        "D_q, exponent kept",
        "For Dq the exponent must go down by one: −α becomes −α − 1.",
        instead("Dq", lambda R, alpha, b: alpha * (1 + R) ** -alpha),
    ),
)

QUESTION = Question(
    Exercise("pnp_gradient", TASK, pnp_gradient, public_cases, MISTAKES),
    points=6,
    hidden=hidden_cases,
)
