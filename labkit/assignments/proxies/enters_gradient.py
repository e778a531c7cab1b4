"""Who shares a logarithm: which similarity has a say in the gradient of which, in five losses."""

from __future__ import annotations

import torch
from torch import Tensor

from labkit.assignments.assignment import Question
from labkit.lessons.draw import whole
from labkit.lessons.exercise import Answer, Case, Exercise, Mistake

TASK = "Which similarity has a say in the gradient of which, for five losses: a matrix of booleans (N·C, N·C)."

LOSSES = ("proxy-nca", "soft-triple", "mpa", "mpa-dw", "mpa-ap")


def public_cases() -> list[Case]:
    """Every loss once."""
    y = torch.tensor([0, 2, 0])
    sizes = {"soft-triple": 3, "mpa": 3, "mpa-dw": 4, "mpa-ap": 3, "proxy-nca": 4}
    return [Case(f"{loss}, {C} classes", {"labels": y, "num_classes": C, "loss": loss}) for loss, C in sizes.items()]


def hidden_cases(rng: torch.Generator) -> list[Case]:
    """Every loss with random labels; two classes and one, where logarithms are empty or have one entry."""
    cases = []
    for loss in LOSSES:
        N, C = whole(rng, 3, 5), whole(rng, 3, 5)
        y = torch.randint(C, (N,), generator=rng)
        y[:2] = y[0]  # two of one class
        cases.append(Case(f"{loss}, {N} samples, {C} classes", {"labels": y, "num_classes": C, "loss": loss}))
    y = torch.randint(2, (4,), generator=rng)
    one = torch.zeros(3, dtype=torch.int64)
    return [
        *cases,
        Case("mpa, all of one class", {"labels": one + 1, "num_classes": 3, "loss": "mpa"}),
        Case("mpa-dw, all of one class", {"labels": one + 1, "num_classes": 3, "loss": "mpa-dw"}),
        Case("proxy-nca, two classes", {"labels": y, "num_classes": 2, "loss": "proxy-nca"}, edge=True),
        Case("mpa-dw, two classes", {"labels": y, "num_classes": 2, "loss": "mpa-dw"}, edge=True),
        Case("mpa-ap, one class", {"labels": one, "num_classes": 1, "loss": "mpa-ap"}, edge=True),
        Case("soft-triple, one class", {"labels": one, "num_classes": 1, "loss": "soft-triple"}, edge=True),
    ]


def places(labels: Tensor, num_classes: int) -> tuple[Tensor, Tensor, Tensor]:
    """Sample, class, and whether it is the own class, of each of the N·C places, sample by sample."""
    sample = torch.arange(len(labels)).repeat_interleave(num_classes)
    c = torch.arange(num_classes).repeat(len(labels))
    return sample, c, labels[sample] == c


def enters_gradient(labels: Tensor, num_classes: int, loss: str) -> Tensor:
    """(N·C, N·C): ∂²L/∂S∂S' is not zero everywhere."""
    sample, c, own = places(labels, num_classes)
    same_sample, same_class, same_kind = (k[:, None] == k[None] for k in (sample, c, own))
    if loss == "mpa":
        return same_class & same_kind
    if loss == "mpa-dw":
        return same_sample & same_kind
    if loss == "proxy-nca":  # linear in the own similarity; log e^u = u is linear, too
        return same_sample & ~own[:, None] & ~own[None] & (num_classes > 2)
    return same_sample & (loss == "mpa-ap" or num_classes > 1)


def instead(**changed: Answer) -> Answer:
    """A wrong answer for some losses (proxy_nca, mpa, …): changed(sample, class, own) as matrices of pairs."""

    def answer(labels: Tensor, num_classes: int, loss: str) -> Tensor:
        wrong = changed.get(loss.replace("-", "_"))
        found = enters_gradient(labels, num_classes, loss) if wrong is None else wrong(*places(labels, num_classes))
        assert isinstance(found, Tensor)
        return found

    return answer


def pairs(of: Tensor) -> Tensor:
    """Whether two places agree."""
    return of[:, None] == of[None]


def by_label(labels: Tensor, num_classes: int, loss: str) -> Tensor:
    """MPA by the samples' labels instead of the places' classes."""
    sample, _, own = places(labels, num_classes)
    return pairs(labels[sample]) & pairs(own) if loss == "mpa" else enters_gradient(labels, num_classes, loss)


def class_by_class(labels: Tensor, num_classes: int, loss: str) -> Tensor:
    """Rows and columns counted class by class."""
    found = enters_gradient(labels, num_classes, loss)
    order = torch.arange(len(found)).view(len(labels), num_classes).T.flatten()
    return found[order][:, order]


MISTAKES = (
    Mistake(
        "everything",
        "Everything is connected to everything: only what stands in one logarithm is.",
        lambda labels, num_classes, loss: torch.ones(2 * (len(labels) * num_classes,), dtype=torch.bool),
    ),
    Mistake(
        "without itself",
        "The diagonal is False: the gradient of log(1 + e^u + …) depends on u itself.",
        lambda labels, num_classes, loss: (
            enters_gradient(labels, num_classes, loss) & ~torch.eye(len(labels) * num_classes, dtype=torch.bool)
        ),
    ),
    Mistake(
        "nothing but itself",
        "Only the diagonal is True: who else is in the same logarithm?",
        lambda labels, num_classes, loss: torch.eye(len(labels) * num_classes, dtype=torch.bool),
    ),
    Mistake(
        "mpa by sample",
        "In MPA a logarithm belongs to a class and sums over samples; yours to a sample.",
        instead(mpa=lambda i, c, own: pairs(i) & pairs(own)),
    ),
    Mistake(
        "mpa one logarithm",
        "MPA has two logarithms per class, one for its own samples and one for the others.",
        instead(mpa=lambda i, c, own: pairs(c)),
    ),
    Mistake(
        "by label", "MPA: it compares the labels of the samples; what counts is which class S(x, c) is about.", by_label
    ),
    Mistake(
        "mpa-dw by class",
        "In MPA-DW a logarithm belongs to a sample and sums over classes; yours to a class.",
        instead(mpa_dw=lambda i, c, own: pairs(c) & pairs(own)),
    ),
    Mistake(
        "mpa-dw one logarithm",
        "MPA-DW has two logarithms per sample: its own class stands alone.",
        instead(mpa_dw=lambda i, c, own: pairs(i)),
    ),
    Mistake(
        "mpa-dw positive linear",
        "MPA-DW: log(1 + e^u) is not linear, so the own class has a say in its own gradient.",
        instead(mpa_dw=lambda i, c, own: pairs(i) & ~own[:, None] & ~own[None]),
    ),
    Mistake(
        "mpa-ap two logarithms",
        "MPA-AP has one logarithm per sample: own class and others stand together.",
        instead(mpa_ap=lambda i, c, own: pairs(i) & pairs(own)),
    ),
    Mistake(
        "soft-triple two logarithms",
        "In SoftTriple the own class is in the denominator, with the others.",
        instead(soft_triple=lambda i, c, own: pairs(i) & pairs(own)),
    ),
    Mistake(
        "proxy-nca with the positive",
        "In ProxyNCA the own class is not in the denominator: it is linear.",
        instead(proxy_nca=lambda i, c, own: pairs(i)),
    ),
    Mistake(
        "proxy-nca positive alone",
        "ProxyNCA is linear in the own similarity: its second derivative is 0.",
        instead(proxy_nca=lambda i, c, own: pairs(i) & pairs(own)),
    ),
    Mistake("order", "Rows and columns count class by class; place i·C + c is S(x_i, c).", class_by_class),
)

QUESTION = Question(
    Exercise("enters_gradient", TASK, enters_gradient, public_cases, MISTAKES),
    points=6,
    hidden=hidden_cases,
)
