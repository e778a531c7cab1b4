"""A loss from points of its derivative, integrated exactly."""

from __future__ import annotations

import torch
from torch import Tensor

from labkit.assignments.assignment import Question
from labkit.lessons.draw import number, numbers, uniform, whole
from labkit.lessons.exercise import Case, Exercise, Mistake

TASK = "The loss with F(0) = 0 whose derivative is given by points, linear between them and constant outside."


def table(*points: tuple[float, float]) -> Tensor:
    """Points (R, dF/dR) as (m, 2)."""
    return torch.tensor(points, dtype=torch.float64)


def public_cases() -> list[Case]:
    """Falling, rising and peaked derivatives; beyond the last point; a first point after 0; counts at the points."""
    falling = table((0, 1.0), (2, 0.8), (5, 0.1), (10, 0.3))
    return [
        Case("falling", {"R": numbers(0.5, 1.0, 2.5, 4.0, 7.0), "points": falling}),
        Case("a peak", {"R": numbers(3.0, 0.25, 1.5), "points": table((0, 0.0), (1, 2.0), (4, 0.5))}),
        Case("beyond the last point", {"R": numbers(11.0, 25.0), "points": falling}),
        Case("first point at 1", {"R": numbers(0.4, 1.5, 6.0), "points": table((1, 3.0), (2, 1.0), (3, 1.5))}),
        Case("at the points", {"R": numbers(0, 2, 5, 10), "points": falling}, edge=True),
    ]


def hidden_cases(rng: torch.Generator) -> list[Case]:
    """Random tables, many and few points, far beyond them, a peak between steps; nobody before, one count."""

    def points(m: int, start: float) -> Tensor:
        steps = 0.5 + 2 * uniform(rng, m)
        R = start + torch.cumsum(steps, 0) - steps[0]
        # neighbours differ clearly, so that rules of thumb show
        g = 0.2 + uniform(rng, m) + torch.arange(m) % 2
        return torch.stack([R, g], 1)

    def counts(n: int, largest: float) -> Tensor:
        return largest * uniform(rng, n)

    far, width = number(rng, 900.0, 1200.0), number(rng, 0.005, 0.02)
    peak = table((0, 0.2), (far, 0.2), (far + width, 60.0), (far + 2 * width, 0.2), (6000, 0.3))
    several = points(whole(rng, 4, 7), 0.0)
    return [
        Case("hidden: several points", {"R": counts(8, float(several[-1, 0])), "points": several}),
        Case("hidden: beyond them", {"R": counts(8, 30.0) + several[-1, 0], "points": several}),
        Case("hidden: two points", {"R": counts(6, 4.0), "points": points(2, 0.0)}),
        Case("hidden: a late start", {"R": counts(8, 9.0), "points": points(4, number(rng, 0.5, 1.5))}),
        Case("hidden: before the first", {"R": counts(3, 0.4), "points": points(3, 0.5)}),
        Case("hidden: at the points", {"R": several[:, 0].clone(), "points": several}, edge=True),
        # steps that are even a little coarser than the peak miss it
        Case("hidden: a narrow peak far out", {"R": 2000 + counts(4, 3000.0), "points": peak}, edge=True),
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


MISTAKES = (
    Mistake("the derivative", "That is the derivative at R; integrate it from 0 to R.", slope_at),
    Mistake(
        "left ends",
        "Each stretch has the value of its left end: the derivative is a line between two points.",
        lambda R, points: by_rectangles(R, points, right=False),
    ),
    Mistake(
        "right ends",
        "Each stretch has the value of its right end: the derivative is a line between two points.",
        lambda R, points: by_rectangles(R, points, right=True),
    ),
    Mistake(
        "straight between the points",
        "The loss is right at the points and straight between them; there it is a parabola, and its slope is g.",
        joined,
    ),
    Mistake(
        "whole stretches only",
        "Only stretches that lie wholly before R count; add the part of the one R lies in.",
        whole_stretches,
    ),
    Mistake(
        "no half",
        "The integral of slope · h is slope · h² / 2: the half is missing.",
        lambda R, points: integral(R, points, half=1.0),
    ),
    Mistake(
        "zero beyond",
        "Beyond the last point the derivative stays at its last value, it is not 0.",
        lambda R, points: integral(R, points, beyond="zero"),
    ),
    Mistake(
        "line goes on",
        "Beyond the last point the derivative stays at its last value; the line does not go on.",
        lambda R, points: integral(R, points, beyond="line"),
    ),
    Mistake(
        "from the first point",
        "The integral begins at the first point; begin at 0, where g has its first value.",
        lambda R, points: integral(R, points) - points[0, 1] * torch.minimum(R, points[0, 0]),
    ),
    Mistake(
        "from zero up",
        "Before the first point the derivative is its first value, not a line from 0.",
        lambda R, points: integral(
            R, points if float(points[0, 0]) == 0 else torch.cat([torch.zeros(1, 2, dtype=torch.float64), points])
        ),
    ),
    Mistake(
        "R times g",
        "The integral of g is not R · g(R): that holds for a constant only.",
        lambda R, points: R * slope_at(R, points),
    ),
    Mistake(
        "no gradient",
        "The value is right but carries no gradient: compute with R itself, not with its numbers.",
        lambda R, points: integral(R.detach(), points),
    ),
    Mistake(
        "twice at the points",
        "At a point itself both stretches send a gradient, as torch.clamp does at its ends.",
        by_clamping,
    ),
    Mistake(
        "sign",
        "The sign is turned round: a positive derivative makes a loss that grows with R.",
        lambda R, points: -integral(R, points),
    ),
)

QUESTION = Question(
    Exercise("loss_from_points", TASK, loss_from_points, public_cases, MISTAKES, gradient="R"),
    points=7,
    hidden=hidden_cases,
)
