"""What a surrogate is trained on: its value, and the length of its gradient (Equation 6 of the slides' Algorithm 1)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from labkit.assignments.assignment import Question
from labkit.lessons.draw import normal, number, seeded, uniform, whole
from labkit.lessons.exercise import Answer, Case, Exercise, Mistake

TASK = "Equation 6 with h(x) = tanh(A x): the mean of (ê − e)² + λ (‖∂ê/∂z‖ − 1)². Its gradient by A counts, too."
TINY = 1e-12


def batch(rng: torch.Generator, count: int, n: int, dim: int) -> dict[str, Tensor]:
    """Weights A (dim, n), pairs (count, n), and what the metric says of them."""
    return {
        "A": normal(rng, dim, n),
        "z": normal(rng, count, n),
        "y": normal(rng, count, n),
        "exact": 3 * uniform(rng, count),
    }


def public_cases() -> list[Case]:
    """Several λ, λ = 0, one pair, one number."""
    rng = seeded(7)
    first = batch(rng, 4, 3, 2)
    return [
        Case("four pairs, λ = 0.1", first | {"lam": 0.1}),
        Case("four pairs, λ = 2", first | {"lam": 2.0}),
        Case("four pairs, λ = 0", first | {"lam": 0.0}),
        Case("one pair, λ = 1", batch(rng, 1, 4, 3) | {"lam": 1.0}),
        Case("one number, λ = 0.5", batch(rng, 5, 1, 1) | {"lam": 0.5}),
    ]


def hidden_cases(rng: torch.Generator) -> list[Case]:
    """Drawn batches, a weak h, many pairs, and pairs that are equal."""
    cases = []
    for at in range(5):
        shape = whole(rng, 2, 6), whole(rng, 2, 5), whole(rng, 2, 4)
        cases.append(Case(f"drawn {at + 1}", batch(rng, *shape) | {"lam": number(rng, 0.05, 3)}))
    weak, equal = batch(rng, 4, 3, 3), batch(rng, 4, 3, 2)
    weak["A"] = 0.05 * weak["A"]
    equal["z"] = torch.cat((equal["y"][:2], equal["z"][2:]))
    return [
        *cases,
        Case("drawn: a flat h", weak | {"lam": number(rng, 0.5, 2)}),
        Case("two of four pairs are equal", equal | {"lam": number(rng, 0.5, 2)}, edge=True),
        Case("e = 0 for all", weak | {"exact": torch.zeros(4, dtype=torch.float64), "lam": 1.0}, edge=True),
    ]


def length(x: Tensor) -> Tensor:
    """‖x‖ of every row, finite where it is 0."""
    return (x.square().sum(-1) + TINY).sqrt()


Parts = Callable[[Tensor, Tensor, float], Tensor]  # from ê − e, ‖∂ê/∂z‖ and λ to the loss


def mean_of_both(off: Tensor, norm: Tensor, lam: float) -> Tensor:
    """Equation 6."""
    return (off.square() + lam * (norm - 1).square()).mean()


def objective(
    loss: Parts = mean_of_both,
    *,
    by: str = "z",
    graph: bool = True,
    slope: Callable[[Tensor, Tensor], Tensor] = lambda estimate, exact: estimate.sum(),
    norm: Callable[[Tensor], Tensor] = length,
    distance: Callable[[Tensor], Tensor] = length,
) -> Answer:
    """The answer, or a wrong one from right parts of which one is changed.

    by: whose gradient it is; graph: whether the loss's own gradient goes through it; slope: of what; norm: its length.
    """

    def answer(A: Tensor, z: Tensor, y: Tensor, exact: Tensor, lam: float) -> Tensor:
        with torch.enable_grad():
            pair = {"z": z.detach().clone().requires_grad_(), "y": y.detach().clone().requires_grad_()}
            estimate = distance(torch.tanh(pair["z"] @ A.T) - torch.tanh(pair["y"] @ A.T))
            (gradient,) = torch.autograd.grad(slope(estimate, exact), pair[by], create_graph=graph, retain_graph=True)
            return loss(estimate - exact, norm(gradient), lam)

    return answer


surrogate_objective = objective()

MISTAKES = (
    Mistake(
        "penalty without a gradient",
        "The value is right, but the penalty passes no gradient on to A: torch.autograd.grad needs create_graph=True.",
        objective(graph=False),
    ),
    Mistake(
        "lambda on the first term",
        "λ stands before the wrong term: it weighs the penalty.",
        objective(lambda off, norm, lam: (lam * off.square() + (norm - 1).square()).mean()),
    ),
    Mistake("no lambda", "λ is not used.", objective(lambda off, norm, lam: mean_of_both(off, norm, 1.0))),
    Mistake(
        "no penalty", "The second term is missing.", objective(lambda off, norm, lam: mean_of_both(off, norm, 0.0))
    ),
    Mistake(
        "squared length",
        "The penalty has ‖·‖² − 1; Equation 6 has ‖·‖ − 1, then squared.",
        objective(lambda off, norm, lam: (off.square() + lam * (norm.square() - 1).square()).mean()),
    ),
    Mistake(
        "towards 0",
        "The penalty pulls the gradient's length to 0; it must be pulled to 1.",
        objective(lambda off, norm, lam: (off.square() + lam * norm.square()).mean()),
    ),
    Mistake(
        "one-sided",
        "Only gradients longer than 1 are punished; short ones must grow, too.",
        objective(lambda off, norm, lam: (off.square() + lam * (norm - 1).clamp(min=0).square()).mean()),
    ),
    Mistake(
        "not squared",
        "The penalty is not squared: (‖·‖ − 1)².",
        objective(lambda off, norm, lam: (off.square() + lam * (norm - 1)).mean()),
    ),
    Mistake(
        "amount of the error",
        "The first term is |ê − e|; Equation 6 squares it.",
        objective(lambda off, norm, lam: (off.abs() + lam * (norm - 1).square()).mean()),
    ),
    Mistake(
        "sum",
        "It adds up over the pairs; take the mean.",
        objective(lambda off, norm, lam: len(off) * mean_of_both(off, norm, lam)),
    ),
    Mistake(
        "one length for all",
        "The gradient of the whole batch is taken as one vector; every pair has its own length.",
        objective(norm=lambda gradient: length(gradient.flatten())),
    ),
    Mistake(
        "gradient of the mean",
        "The gradient of the batch's mean is taken: every pair's is then too short, by the factor n. Take the sum.",
        objective(slope=lambda estimate, exact: estimate.mean()),
    ),
    Mistake(
        "gradient of the loss",
        "The gradient of (ê − e)² is taken; the penalty is about that of ê itself.",
        objective(slope=lambda estimate, exact: (estimate - exact).square().sum()),
    ),
    Mistake(
        "gradient by the target",
        "The gradient is taken by y; the model's prediction is z.",
        objective(by="y"),
    ),
    Mistake(
        "squared distance",
        "ê is the distance, with its root, not the squared one.",
        objective(distance=lambda apart: apart.square().sum(-1)),
    ),
    Mistake(
        "NaN at 0",
        "Where z and y are equal the root's derivative is NaN: put 1e-12 under both roots.",
        objective(distance=lambda apart: apart.square().sum(-1).sqrt()),
    ),
)

QUESTION = Question(
    Exercise("surrogate_objective", TASK, surrogate_objective, public_cases, MISTAKES, gradient="A"),
    points=8,
    hidden=hidden_cases,
)
