"""Choosing setting and step on validation data, and what peeking at the test data would add."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from labkit.assignments.assignment import Question
from labkit.lessons.draw import normal, seeded, whole
from labkit.lessons.exercise import Answer, Case, Exercise, Mistake

TASK = "Setting and step with the best mean over seeds on validation, the mean test value there, the gain of peeking."

PUBLIC_SEED = 2  # of curves on which every way to choose chooses something else


def curves_of(rng: torch.Generator, G: int, S: int, steps: int) -> dict[str, Tensor]:
    """Curves that rise and then stay, noisy, in steps of 1/1024 so that sums are exact."""
    rise = torch.linspace(0.4, 0.8, steps, dtype=torch.float64).clamp(max=0.5)
    level = rise + 0.02 * normal(rng, G, 1, 1) + 0.03 * normal(rng, G, 1, steps)
    both = [level + 0.05 * normal(rng, G, S, steps) for _ in range(2)]
    return {name: (x * 1024).round() / 1024 for name, x in zip(("validation", "test"), both)}


def public_cases() -> list[Case]:
    """Several settings, one setting, a failed run, a tie."""
    rng = seeded(PUBLIC_SEED)
    first, second, one = curves_of(rng, 3, 4, 5), curves_of(rng, 4, 3, 6), curves_of(rng, 1, 3, 5)
    failed, tie = curves_of(rng, 3, 3, 4), curves_of(rng, 2, 2, 4)
    failed["validation"][1, 0] = failed["test"][1, 0] = math.nan
    failed["validation"][1, 1:] += 0.5
    tie["validation"][0, :, 1] = tie["validation"][1, :, 0] = tie["validation"][0, :, 3] = 0.875
    return [
        Case("3 settings, 4 seeds, 5 steps", first),
        Case("4 settings, 3 seeds, 6 steps", second),
        Case("one setting", one),
        Case("a run has failed", failed, edge=True),
        Case("a tie on validation", tie, edge=True),
    ]


def hidden_cases(rng: torch.Generator) -> list[Case]:
    """Random sizes; failed runs, ties and near ties, negative values, one seed."""
    cases = []
    for number in range(4):
        G, S, steps = whole(rng, 3, 6), whole(rng, 3, 5), whole(rng, 6, 10)
        cases.append(Case(f"{number + 1}: {G} settings, {S} seeds, {steps} steps", curves_of(rng, G, S, steps)))
    failed, late, tie = curves_of(rng, 4, 3, 6), curves_of(rng, 3, 3, 6), curves_of(rng, 3, 4, 5)
    failed["validation"][2, 1] = failed["test"][2, 1] = math.nan
    failed["validation"][2, [0, 2]] += 0.5
    late["validation"][:, 1, 4:] = late["test"][:, 1, 4:] = math.nan
    tie["validation"][1, :, 1] = tie["validation"][1, :, 4] = tie["validation"][2, :, 0] = 0.9375
    near, negative, unseen = curves_of(rng, 3, 3, 4), curves_of(rng, 3, 3, 5), curves_of(rng, 3, 3, 5)
    near["validation"][0, :, 1], near["validation"][2, :, 3] = 0.9375, 0.9375 + 2e-5
    top = max(float(values.max()) for values in negative.values())
    negative = {split: values - top - 0.01 for split, values in negative.items()}
    negative["validation"][0, 1] = negative["test"][0, 1] = math.nan
    unseen["validation"][1, 2, 2] = math.nan
    unseen["test"][1, :, 2] = unseen["test"].max() + 0.01
    return [
        *cases,
        Case("one seed", curves_of(rng, 3, 1, 5)),
        Case("a run has failed from the start", failed, edge=True),
        Case("a seed has failed half-way", late, edge=True),
        Case("ties", tie, edge=True),
        Case("near ties", near, edge=True),
        Case("negative values, a run has failed", negative, edge=True),
        Case("only validation has failed", unseen, edge=True),
    ]


def place_of(means: Tensor) -> tuple[int, int]:
    """Setting and step of the largest mean, the first of equals; NaN is never largest."""
    best = int(torch.where(means.isnan(), -math.inf, means).argmax())
    return best // means.shape[1], best % means.shape[1]


def choose_on_validation(validation: Tensor, test: Tensor) -> tuple[int, int, float, float]:
    """Setting, step, mean test value there, and what choosing on test would have added."""
    g, k = place_of(validation.mean(1))
    value = float(test.mean(1)[g, k])
    p, q = place_of(test.mean(1))
    return g, k, value, float(test.mean(1)[p, q]) - value


def at(choose: Callable[[Tensor, Tensor], tuple[int, int]]) -> Answer:
    """A wrong answer by another choice."""

    def answer(validation: Tensor, test: Tensor) -> tuple[int, int, float, float]:
        g, k = choose(validation, test)
        p, q = place_of(test.mean(1))
        value = float(test.mean(1)[g, k])
        return g, k, value, float(test.mean(1)[p, q]) - value

    return answer


def told(change: Callable[[Tensor, Tensor, int, int, float, float], tuple[float, float]]) -> Answer:
    """A wrong answer that chooses rightly: change(validation, test, g, k, value, gain) -> value, gain."""

    def answer(validation: Tensor, test: Tensor) -> tuple[int, int, float, float]:
        g, k, value, gain = choose_on_validation(validation, test)
        return g, k, *change(validation, test, g, k, value, gain)

    return answer


def last_of_equals(means: Tensor) -> tuple[int, int]:
    """The last of equal means."""
    g, k = place_of(means.flip(0, 1))
    return means.shape[0] - 1 - g, means.shape[1] - 1 - k


def setting_at_the_end(validation: Tensor, test: Tensor) -> tuple[int, int]:
    """The setting by its last step, then the best step of it."""
    means = validation.mean(1)
    g, _ = place_of(means[:, -1:])
    return g, place_of(means[g : g + 1])[1]


def last_step(validation: Tensor, test: Tensor) -> tuple[int, int]:
    """The best setting at the last step."""
    return place_of(validation.mean(1)[:, -1:])[0], validation.shape[2] - 1


def own_steps(validation: Tensor, test: Tensor, g: int) -> float:
    """Every seed of the setting read at a step of its own."""
    chosen = torch.where(validation[g].isnan(), -math.inf, validation[g]).argmax(1)
    return float(test[g].gather(1, chosen[:, None]).mean())


MISTAKES = (
    Mistake(
        "on test",
        "Setting and step are chosen on the test data: choose on validation.",
        at(lambda validation, test: place_of(test.mean(1))),
    ),
    Mistake("last step", "It takes the last step; the step is chosen on validation, too.", at(last_step)),
    Mistake(
        "setting by the last step",
        "The setting is chosen by its last step; choose both together.",
        at(setting_at_the_end),
    ),
    Mistake(
        "smallest",
        "It takes the smallest value; larger is better.",
        at(lambda validation, test: place_of(-validation.mean(1))),
    ),
    Mistake(
        "luckiest seed",
        "It looks for the best single run; choose by the mean over seeds.",
        at(lambda validation, test: place_of(validation.nan_to_num(-math.inf).amax(1))),
    ),
    Mistake(
        "worst seed",
        "It looks at the worst seed; choose by the mean over seeds.",
        at(lambda validation, test: place_of(validation.amin(1))),
    ),
    Mistake(
        "first seed",
        "It looks at the first seed only; choose by the mean over seeds.",
        at(lambda validation, test: place_of(validation[:, 0])),
    ),
    Mistake(
        "last of equals",
        "Of equal means the first counts: the smaller setting, then the earlier step.",
        at(lambda validation, test: last_of_equals(validation.mean(1))),
    ),
    Mistake(
        "failed seeds left out",
        "A setting with a failed run has the mean of the others here: it cannot be chosen there.",
        at(lambda validation, test: place_of(validation.nanmean(1))),
    ),
    Mistake(
        "validation told",
        "The validation value is told; choose there, but tell the test value.",
        told(lambda validation, test, g, k, value, gain: (float(validation.mean(1)[g, k]), gain)),
    ),
    Mistake(
        "a step for each seed",
        "Every seed is read at a step of its own; one step is chosen for all seeds.",
        told(
            lambda validation, test, g, k, value, gain: (
                own_steps(validation, test, g),
                gain + value - own_steps(validation, test, g),
            )
        ),
    ),
    Mistake(
        "gain turned",
        "The gain has the wrong sign: it is what peeking would add, never negative.",
        told(lambda validation, test, g, k, value, gain: (value, -gain)),
    ),
    Mistake(
        "gain within the setting",
        "The gain looks at the chosen setting only; peeking would look at all.",
        told(
            lambda validation, test, g, k, value, gain: (
                value,
                float(test.mean(1)[g].nan_to_num(-math.inf).max()) - value,
            )
        ),
    ),
    Mistake(
        "gain of the best run",
        "The gain takes the best single run; it is about the best mean over seeds.",
        told(lambda validation, test, g, k, value, gain: (value, float(test.nan_to_num(-math.inf).max()) - value)),
    ),
    Mistake(
        "best test value",
        "That is the best test value, not the gain: subtract the honest one.",
        told(lambda validation, test, g, k, value, gain: (value, value + gain)),
    ),
)

QUESTION = Question(
    Exercise("choose_on_validation", TASK, choose_on_validation, public_cases, MISTAKES),
    points=5,
    hidden=hidden_cases,
)
