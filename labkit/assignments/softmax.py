"""Assignment 5, the softmax floor and SGSL: the scale a floor asks for, the best scale, SGSL's gradient, and the gate.

cosine (N, C): cosines of N samples with C class vectors; embeddings (N, D), weight (C, D), neither of unit length;
labels (N,).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize, one_hot, softplus

from labkit.assignments.assignment import Assignment, Question, Written
from labkit.lessons.exercise import Answer, Case, Exercise, Mistake

Slope = Callable[[float], Tensor]


def randn(rng: torch.Generator, *shape: int) -> Tensor:
    """Normal numbers in float64."""
    return torch.randn(*shape, generator=rng, dtype=torch.float64)


def whole(rng: torch.Generator, low: int, high: int) -> int:
    """A whole number from low to high."""
    return int(torch.randint(low, high + 1, (1,), generator=rng))


def between(rng: torch.Generator, low: float, high: float) -> float:
    """A number from low to high."""
    return low + (high - low) * float(torch.rand(1, generator=rng, dtype=torch.float64))


# 1 The scale that a loss asks for


def least_cases() -> list[Case]:
    """Few and many classes, losses below and above that of a guess."""
    return [
        Case("10 classes, loss 0.1", {"num_classes": 10, "loss": 0.1}),
        Case("100 classes, loss 0.01", {"num_classes": 100, "loss": 0.01}),
        Case("11,318 classes, loss 0.5", {"num_classes": 11_318, "loss": 0.5}),
        Case("2 classes, loss 0.3", {"num_classes": 2, "loss": 0.3}),
        Case("1,000 classes, loss 8: worse than a guess", {"num_classes": 1000, "loss": 8.0}, edge=True),
    ]


def least_hidden(rng: torch.Generator) -> list[Case]:
    """Random numbers of classes; losses so small that e^ℓ is 1, or so large that it is infinite."""
    cases = []
    for most in (20, 200, 2000, 20_000):
        C = whole(rng, 3, most)
        loss = between(rng, 0.01, 0.9)
        cases.append(Case(f"{C:,} classes, loss {loss:.3f}", {"num_classes": C, "loss": loss}))
    C = whole(rng, 3, 50)
    return [
        *cases,
        Case("2 classes", {"num_classes": 2, "loss": between(rng, 0.05, 0.6)}),
        Case("a loss of 1e-15", {"num_classes": C, "loss": 1e-15}, edge=True),
        Case("a loss of 1e-20", {"num_classes": C, "loss": 1e-20}, edge=True),
        Case("a loss of 1,000", {"num_classes": C, "loss": 1000.0}, edge=True),
    ]


def log_expm1(x: float) -> float:
    """log(e^x − 1), for any x > 0."""
    return x + math.log1p(-math.exp(-x)) if x > 1 else math.log(math.expm1(x))


def least_scale(num_classes: int, loss: float) -> float:
    """s with log(1 + (C−1) e^{−sC/(C−1)}) = ℓ; 0 from log C on."""
    C = num_classes
    return max(0.0, (C - 1) / C * (math.log(C - 1) - log_expm1(loss)))


def with_others(other: Callable[[int], float], count: Callable[[int], int] = lambda C: C - 1) -> Answer:
    """A wrong answer whose other classes, `count` of them, are at the cosine `other`."""
    return lambda num_classes, loss: max(
        0.0, (math.log(count(num_classes)) - log_expm1(loss)) / (1 - other(num_classes))
    )


def unscaled(C: int) -> float:
    """The floor at scale 1."""
    return math.log1p((C - 1) * math.exp(-C / (C - 1)))


LEAST = Exercise(
    "least_scale",
    "The smallest scale s ≥ 0 at which a softmax on s · cosine with C classes can have a loss as low as given.",
    least_scale,
    least_cases,
    (
        Mistake("others orthogonal", "The other classes are put at cosine 0; C vectors can do better, −1/(C−1).",
            with_others(lambda C: 0.0)),
        Mistake("others opposite", "The others are put at cosine −1, but they cannot all be opposite: it is −1/(C−1).",
            with_others(lambda C: -1.0)),
        Mistake("one over C", "The other cosines are −1/(C−1), not −1/C.", with_others(lambda C: -1 / C)),
        Mistake("C others", "There are C − 1 other classes, not C.",
            with_others(lambda C: -1 / (C - 1), lambda C: C)),
        Mistake("one other", "Only one other class is counted; there are C − 1.",
            with_others(lambda C: -1 / (C - 1), lambda C: 1)),
        Mistake("own term left out", "The 1 of log(1 + …) was lost: solve e^ℓ − 1 = (C−1) e^{…}, not e^ℓ = ….",
            lambda num_classes, loss: max(0.0, (num_classes - 1) / num_classes * (math.log(num_classes - 1) - loss))),
        Mistake("not clipped", "A loss above log C is reached without any scale: return 0, not a negative scale.",
            lambda num_classes, loss: (num_classes - 1) / num_classes * (math.log(num_classes - 1) - log_expm1(loss))),
        Mistake("factor turned", "The factor in front is upside down: s C/(C−1) is the exponent, so divide by C/(C−1).",
            lambda num_classes, loss: least_scale(num_classes, loss) * (num_classes / (num_classes - 1)) ** 2),
        Mistake("base 2", "The logarithm is the natural one, not base 2.",
            lambda num_classes, loss: least_scale(num_classes, loss) / math.log(2)),
        Mistake("the floor", "That is the floor of the unscaled softmax; the question is which scale lowers it to ℓ.",
            lambda num_classes, loss: unscaled(num_classes)),
        Mistake("proportional", "The floor does not fall in proportion to the scale: solve its formula for s.",
            lambda num_classes, loss: max(0.0, unscaled(num_classes) / loss)),
        Mistake("error rate", "The loss is taken for 1 minus the own probability; it is minus its logarithm.",
            lambda num_classes, loss: with_others(lambda C: -1 / (C - 1))(
                num_classes, -math.log1p(-min(loss, 0.999999)))),
        Mistake("temperature", "That is the temperature 1/s; the scale is asked for.",
            lambda num_classes, loss: 1 / max(least_scale(num_classes, loss), 1e-9)),
    ),
)  # fmt: skip


# 2 The best scale


def some_cosines(rng: torch.Generator, N: int, C: int, own: float = 0.5, noise: float = 0.35) -> dict[str, Tensor]:
    """Cosines that are mostly right, labels of unequal frequency."""
    labels = torch.randint(C, (N,), generator=rng)
    labels[: N // 3] = 0
    labels = labels[torch.randperm(N, generator=rng)]
    cosine = (own * one_hot(labels, C) + noise * randn(rng, N, C)).clamp(-0.99, 0.99)
    return {"cosine": cosine, "labels": labels}


def best_cases() -> list[Case]:
    """Mistakes in a batch, two classes, and batches that are all right or all wrong."""
    rng = torch.Generator().manual_seed(0)
    apart = torch.tensor([[0.9, 0.1, -0.2], [0.0, 0.8, 0.3]], dtype=torch.float64)
    y = torch.tensor([0, 1])
    return [
        Case("24 samples, 5 classes", some_cosines(rng, 24, 5) | {"most": 100.0}),
        Case("30 samples, 3 classes, many mistakes", some_cosines(rng, 30, 3, 0.3, 0.4) | {"most": 50.0}),
        Case("20 samples, 2 classes", some_cosines(rng, 20, 2, 0.4, 0.4) | {"most": 100.0}),
        Case("all right: the larger, the better", {"cosine": apart, "labels": y, "most": 40.0}, edge=True),
        Case("all wrong", {"cosine": apart, "labels": y.flip(0), "most": 40.0}, edge=True),
    ]


def best_hidden(rng: torch.Generator) -> list[Case]:
    """Random sizes, all right, all wrong, a largest scale that is too small, large cosines times a large scale."""
    cases = []
    for middle, noise in ((0.5, 0.35), (0.3, 0.4), (0.6, 0.4), (0.4, 0.3)):
        N, C = whole(rng, 30, 50), whole(rng, 3, 8)
        told = f"{N} samples, {C} classes, own cosines about {middle}"
        cases.append(Case(told, some_cosines(rng, N, C, middle, noise) | {"most": 200.0}))
    batch = some_cosines(rng, 12, 4, 0.3, 0.1)
    own = one_hot(batch["labels"], 4).bool()
    right = torch.where(own, 0.9, batch["cosine"].clamp(-0.8, 0.8))
    wrong = torch.where(own, -0.9, batch["cosine"].clamp(-0.8, 0.8))
    return [
        *cases,
        Case("12 samples, all right", {"cosine": right, "labels": batch["labels"], "most": 30.0}, edge=True),
        Case("12 samples, all wrong", {"cosine": wrong, "labels": batch["labels"], "most": 64.0}, edge=True),
        Case("best beyond the largest", some_cosines(rng, 30, 4) | {"most": 0.5}, edge=True),
    ]


def root(slope: Slope, most: float) -> float:
    """Where an increasing slope is zero, in 0 … most."""
    low, high = 0.0, most
    if slope(low) >= 0:
        return low
    if slope(high) <= 0:
        return high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return (low + high) / 2


def own_of(cosine: Tensor, labels: Tensor) -> Tensor:
    """cos_y (N,)."""
    return cosine.gather(1, labels[:, None])[:, 0]


def slopes(cosine: Tensor, labels: Tensor, scale: float) -> Tensor:
    """Derivative (N,) of every sample's loss by the scale: expected cosine minus own cosine."""
    return (torch.softmax(scale * cosine, 1) * cosine).sum(1) - own_of(cosine, labels)


def best_scale(cosine: Tensor, labels: Tensor, most: float) -> float:
    """The zero of the derivative, which increases because the loss is convex in the scale."""
    return root(lambda s: slopes(cosine, labels, s).mean(), most)


def own_left_out(cosine: Tensor, labels: Tensor, most: float) -> float:
    """log Σ over the others only."""
    others = cosine.masked_fill(one_hot(labels, cosine.shape[1]).bool(), -1e9)

    def slope(s: float) -> Tensor:
        p = torch.softmax(s * others, 1) * (others > -2)
        p = p / p.sum(1, keepdim=True)
        return ((p * others).sum(1) - own_of(cosine, labels)).mean()

    return root(lambda s: slope(max(s, 1e-6)), most)


def hardest_only(cosine: Tensor, labels: Tensor, most: float) -> float:
    """Own class against the nearest other class."""
    own = own_of(cosine, labels)
    other = cosine.masked_fill(one_hot(labels, cosine.shape[1]).bool(), -2.0).amax(1)
    two = torch.stack([own, other], 1)
    return best_scale(two, torch.zeros_like(labels), most)


def by_class(cosine: Tensor, labels: Tensor, most: float) -> float:
    """Every class counts alike."""
    kinds = labels.unique()
    return root(lambda s: torch.stack([slopes(cosine, labels, s)[labels == c].mean() for c in kinds]).mean(), most)


def one_newton_step(cosine: Tensor, labels: Tensor, most: float) -> float:
    """From scale 1."""
    p = torch.softmax(cosine, 1)
    curve = ((p * cosine.square()).sum(1) - (p * cosine).sum(1).square()).mean()
    return float((1 - slopes(cosine, labels, 1.0).mean() / curve).clamp(0, most))


BEST = Exercise(
    "best_scale",
    "The scale between 0 and `most` at which the mean cross-entropy on scale · cosine is least.",
    best_scale,
    best_cases,
    (
        Mistake("temperature", "That is a temperature: the cosines are multiplied by the scale, not divided by it.",
            lambda cosine, labels, most: min(most, 1 / max(best_scale(cosine, labels, most), 1e-9))),
        Mistake("worst", "The sign is turned round: it looks for the largest loss.",
            lambda cosine, labels, most: 0.0 if cross_entropy(most * cosine, labels) < math.log(cosine.shape[1])
            else most),
        Mistake("labels not used", "It takes the nearest class for the own one: the labels say which is the own class.",
            lambda cosine, labels, most: best_scale(cosine, cosine.argmax(1), most)),
        Mistake("whole numbers", "It tries whole scales only; find it to five digits.",
            lambda cosine, labels, most: float(min(range(int(most) + 1),
                key=lambda s: float(cross_entropy(s * cosine, labels))))),
        Mistake("own class left out", "The own class belongs into the denominator of the softmax, too.", own_left_out),
        Mistake("nearest other only", "Only the nearest other class is counted; the softmax runs over all classes.",
            hardest_only),
        Mistake("mean over classes", "It takes the mean over classes; every sample counts alike.", by_class),
        Mistake("mean of best scales", "Each sample has its own scale here; one scale is wanted for the mean loss.",
            lambda cosine, labels, most: sum(best_scale(c[None], y[None], most) for c, y in zip(cosine, labels))
            / len(labels)),
        Mistake("of squared distances",
            "That is the scale of squared distances 2 − 2 cos; that of cosines is twice it.",
            lambda cosine, labels, most: best_scale(2 * cosine, labels, most / 2)),
        Mistake("base 2", "The exponential has base 2; the softmax has e.",
            lambda cosine, labels, most: min(most, best_scale(math.log(2) * cosine, labels, most / math.log(2)))),
        Mistake("one step", "It stops after one Newton step from 1: repeat until nothing changes.", one_newton_step),
    ),
    tolerance=1e-4,
)  # fmt: skip


# 3 The gradient of SGSL


def some_features(rng: torch.Generator, N: int, C: int, D: int, gamma: float) -> dict[str, Tensor | float]:
    """Random features and class vectors of unequal lengths."""
    x = randn(rng, N, D) * (0.5 + 2 * torch.rand(N, 1, generator=rng, dtype=torch.float64))
    W = randn(rng, C, D) * (0.3 + torch.rand(C, 1, generator=rng, dtype=torch.float64))
    return {"embeddings": x, "labels": torch.randint(C, (N,), generator=rng), "weight": W, "gamma": gamma}


def gradient_cases() -> list[Case]:
    """The paper's γ, a soft one, two classes, and one at which e^γ overflows."""
    rng = torch.Generator().manual_seed(2)
    return [
        Case("5 samples, 4 classes, γ = 30", some_features(rng, 5, 4, 3, 30.0)),
        Case("6 samples, 5 classes, γ = 2", some_features(rng, 6, 5, 3, 2.0)),
        Case("2 classes, γ = 10", some_features(rng, 3, 2, 4, 10.0)),
        Case("γ = 3000", some_features(rng, 4, 6, 3, 3000.0), edge=True),
    ]


def gradient_hidden(rng: torch.Generator) -> list[Case]:
    """Random sizes; collapsed class vectors, features at their class vectors, a γ at which e^γ overflows."""
    cases = []
    for gamma in (1.5, 5.0, 30.0):
        N, C, D = whole(rng, 2, 8), whole(rng, 3, 7), whole(rng, 3, 6)
        cases.append(Case(f"{N} samples, {C} classes, γ = {gamma}", some_features(rng, N, C, D, gamma)))
    arrived = some_features(rng, 4, 5, 4, 20.0)
    weight = arrived["weight"]
    assert isinstance(weight, Tensor)
    return [
        *cases,
        Case("one sample, two classes", some_features(rng, 1, 2, 3, 8.0)),
        Case("features at their class vectors", arrived | {"embeddings": 2 * weight[arrived["labels"]]}),  # type: ignore[index]
        Case("all class vectors equal", arrived | {"weight": weight[:1].repeat(5, 1)}, edge=True),
        Case("γ = 5000", some_features(rng, 5, 4, 3, 5000.0), edge=True),
    ]  # fmt: skip


def cosines(embeddings: Tensor, weight: Tensor) -> Tensor:
    """(N, C)."""
    return normalize(embeddings, dim=1) @ normalize(weight, dim=1).T


def others_share(cosine: Tensor, labels: Tensor, gamma: float) -> tuple[Tensor, Tensor]:
    """Softmax over the other classes with γ (N, C), 0 for the own; and the argument of the softplus (N,)."""
    others = cosine.masked_fill(one_hot(labels, cosine.shape[1]).bool(), -torch.inf)
    margin = torch.logsumexp(gamma * others, 1) / gamma - own_of(cosine, labels)
    return torch.softmax(gamma * others, 1), margin


def to_features(slope: Tensor, embeddings: Tensor, weight: Tensor) -> Tensor:
    """From ∂L/∂cos (N, C) to ∂L/∂f (N, D): across the feature only, divided by its length."""
    u = normalize(embeddings, dim=1)
    along = slope @ normalize(weight, dim=1)
    across: Tensor = (along - (along * u).sum(1, keepdim=True) * u) / embeddings.norm(dim=1, keepdim=True)
    return across


def cosine_slope(cosine: Tensor, labels: Tensor, gamma: float) -> Tensor:
    """∂L/∂cos (N, C) of the mean."""
    share, margin = others_share(cosine, labels, gamma)
    return torch.sigmoid(margin)[:, None] * (share - one_hot(labels, cosine.shape[1])) / len(cosine)


def sgsl_gradient(embeddings: Tensor, labels: Tensor, weight: Tensor, gamma: float) -> Tensor:
    """σ(m)/N · (Σ_{j≠y} p_j Ŵ_j − Ŵ_y), projected across f and divided by ‖f‖."""
    return to_features(cosine_slope(cosines(embeddings, weight), labels, gamma), embeddings, weight)


def by_slope(slope: Answer) -> Answer:
    """A wrong answer with another ∂L/∂cos: slope(cosine, labels, gamma)."""

    def answer(embeddings: Tensor, labels: Tensor, weight: Tensor, gamma: float) -> Tensor:
        return to_features(slope(cosines(embeddings, weight), labels, gamma), embeddings, weight)

    return answer


def by_parts(change: Answer) -> Answer:
    """A wrong answer with another mean over σ(m)·(share − own): change(share, own, margin, gamma)."""

    def slope(cosine: Tensor, labels: Tensor, gamma: float) -> Tensor:
        share, margin = others_share(cosine, labels, gamma)
        found: Tensor = change(share, one_hot(labels, cosine.shape[1]), margin[:, None], gamma) / len(cosine)
        return found

    return by_slope(slope)


def naive_slope(cosine: Tensor, labels: Tensor, gamma: float) -> Tensor:
    """Exponentials as they are written."""
    own = one_hot(labels, cosine.shape[1]).bool()
    e = torch.exp(gamma * cosine) * ~own
    margin = e.sum(1).log() / gamma - own_of(cosine, labels)
    return torch.sigmoid(margin)[:, None] * (e / e.sum(1, keepdim=True) - own.double()) / len(cosine)


def own_left_in(cosine: Tensor, labels: Tensor, gamma: float) -> Tensor:
    """The own class takes part in the soft maximum."""
    margin = torch.logsumexp(gamma * cosine, 1) / gamma - own_of(cosine, labels)
    share = torch.softmax(gamma * cosine, 1)
    return torch.sigmoid(margin)[:, None] * (share - one_hot(labels, cosine.shape[1])) / len(cosine)


def hard_slope(cosine: Tensor, labels: Tensor, gamma: float) -> Tensor:
    """The nearest other class alone."""
    own = one_hot(labels, cosine.shape[1])
    nearest = cosine.masked_fill(own.bool(), -2.0).argmax(1)
    margin = own_of(cosine, nearest) - own_of(cosine, labels)
    return torch.sigmoid(margin)[:, None] * (one_hot(nearest, cosine.shape[1]) - own) / len(cosine)


def not_tangent(project: bool, divide: bool) -> Answer:
    """Without the projection across f, or without dividing by its length."""

    def answer(embeddings: Tensor, labels: Tensor, weight: Tensor, gamma: float) -> Tensor:
        along = cosine_slope(cosines(embeddings, weight), labels, gamma) @ normalize(weight, dim=1)
        u = normalize(embeddings, dim=1)
        across = along - (along * u).sum(1, keepdim=True) * u if project else along
        return across / embeddings.norm(dim=1, keepdim=True) if divide else across

    return answer


def long_weights(embeddings: Tensor, labels: Tensor, weight: Tensor, gamma: float) -> Tensor:
    """W keeps its lengths."""
    u = normalize(embeddings, dim=1)
    along = cosine_slope(u @ weight.T, labels, gamma) @ weight
    across: Tensor = (along - (along * u).sum(1, keepdim=True) * u) / embeddings.norm(dim=1, keepdim=True)
    return across


GRADIENT = Exercise(
    "sgsl_gradient",
    "The gradient (N, D) of SGSL (Eq. 6, mean over the batch) with respect to the features, of any length.",
    sgsl_gradient,
    gradient_cases,
    (
        Mistake("sign", "The sign is turned round: that is the step downhill, the gradient points uphill.",
            lambda embeddings, labels, weight, gamma: -sgsl_gradient(embeddings, labels, weight, gamma)),
        Mistake("not across", "It has a part along f; a cosine does not change with the length, so the gradient is at "
            "right angles to f.", not_tangent(project=False, divide=True)),
        Mistake("length left out", "It is not divided by the length of f: a long feature turns less.",
            not_tangent(project=True, divide=False)),
        Mistake("normalising left out", "That is ∂L/∂cos times Ŵ only: normalising f has a derivative.",
            not_tangent(project=False, divide=False)),
        Mistake("sum", "It is the gradient of the sum; divide by the number of samples.",
            lambda embeddings, labels, weight, gamma: len(labels) * sgsl_gradient(embeddings, labels, weight, gamma)),
        Mistake("no sigmoid", "The derivative of the softplus is missing: σ of its argument.",
            by_parts(lambda share, own, margin, gamma: share - own)),
        Mistake("sigmoid turned", "σ has the wrong sign inside: the worse the margin, the stronger the gradient.",
            by_parts(lambda share, own, margin, gamma: torch.sigmoid(-margin) * (share - own))),
        Mistake("gamma in front", "A factor γ is left: the 1/γ in front of LSE cancels it.",
            by_parts(lambda share, own, margin, gamma: torch.sigmoid(margin) * (gamma * share - own))),
        Mistake("gamma on all", "A factor γ is left before everything: it stands inside LSE, and 1/γ cancels it.",
            by_parts(lambda share, own, margin, gamma: gamma * torch.sigmoid(margin) * (share - own))),
        Mistake("shares without gamma", "The shares of the other classes are a softmax of γ·cos, not of cos.",
            by_slope(lambda cosine, labels, gamma: torch.sigmoid(others_share(cosine, labels, gamma)[1])[:, None]
                * (others_share(cosine, labels, 1.0)[0] - one_hot(labels, cosine.shape[1])) / len(cosine))),
        Mistake("own class left in", "The own class is in the soft maximum: j ≠ y leaves it out.",
            by_slope(own_left_in)),
        Mistake("hard maximum", "Only the nearest other class pushes; the soft maximum shares the push out.",
            by_slope(hard_slope)),
        Mistake("push only", "The pull to the own class is missing.",
            by_parts(lambda share, own, margin, gamma: torch.sigmoid(margin) * share)),
        Mistake("W not normalised", "The class vectors keep their length: SGSL has cosines.", long_weights),
        Mistake("overflow", "e^(γ cos) overflows at large γ: use softmax and logsumexp.", by_slope(naive_slope)),
    ),
)  # fmt: skip


# 4 The gate


def easy_features(rng: torch.Generator, N: int, C: int, D: int, size: float) -> dict[str, Tensor]:
    """Features that lean to their class vectors; the larger `size`, the smaller the softmax loss."""
    W = randn(rng, C, D)
    labels = torch.randint(C, (N,), generator=rng)
    return {"embeddings": size * W[labels] + 0.5 * randn(rng, N, D), "labels": labels, "weight": W}


def mean_loss(batch: dict[str, Tensor], epsilon: float) -> float:
    """Of the smoothed softmax."""
    return float(smoothed(batch["embeddings"] @ batch["weight"].T, batch["labels"], epsilon))


def gate_cases() -> list[Case]:
    """Above the gate, below it, open from before, and a gate between the smoothed and the plain loss."""
    batch = easy_features(torch.Generator().manual_seed(3), 6, 5, 4, 0.5)
    base = {**batch, "gamma": 30.0, "beta": 1.0, "epsilon": 0.1, "was_open": False}
    plain, smooth = mean_loss(batch, 0.0), mean_loss(batch, 0.1)
    return [
        Case("above the gate", {**base, "gate": smooth - 0.3}),
        Case("below the gate, β = 0.5", {**base, "gate": smooth + 0.3, "beta": 0.5}),
        Case("above the gate, but open from before", {**base, "gate": plain - 0.2, "was_open": True, "gamma": 5.0}),
        Case("a gate between smoothed and plain loss, β = 2", {**base, "gate": (plain + smooth) / 2, "beta": 2.0}),
        Case("no smoothing, γ = 10", {**base, "epsilon": 0.0, "gate": plain + 0.1, "beta": 0.7, "gamma": 10.0}),
    ]


def gate_hidden(rng: torch.Generator) -> list[Case]:
    """Random batches on both sides of the gate, two classes, an infinite gate, one that cannot open."""
    cases = []
    for above, was_open in ((True, False), (True, True), (False, False), (False, True)):
        batch = easy_features(rng, whole(rng, 4, 8), whole(rng, 3, 6), whole(rng, 3, 5), between(rng, 0.3, 0.8))
        epsilon, beta = between(rng, 0.1, 0.3), between(rng, 0.3, 2.0)
        gate = mean_loss(batch, epsilon) + (-0.2 if above else 0.2)
        told = f"drawn: {'above' if above else 'below'} the gate{', open from before' if was_open else ''}"
        more = {"gamma": between(rng, 2, 30), "beta": beta, "gate": gate, "epsilon": epsilon, "was_open": was_open}
        cases.append(Case(told, batch | more))
    two = easy_features(rng, 5, 2, 3, 0.5)
    many = easy_features(rng, 6, 4, 3, 0.6)
    between_both = (mean_loss(many, 0.0) + mean_loss(many, 0.3)) / 2
    base = {"gamma": 20.0, "beta": 0.5, "epsilon": 0.2, "was_open": False}
    return [
        *cases,
        Case("between smoothed and plain loss", {**many, **base, "epsilon": 0.3, "gate": between_both}),
        Case("two classes", {**two, **base, "gate": mean_loss(two, 0.2) + 0.1}),
        Case("a gate at infinity", {**many, **base, "gate": math.inf}, edge=True),
        Case("a gate at 0, no smoothing", {**many, **base, "epsilon": 0.0, "gate": 0.0}, edge=True),
    ]  # fmt: skip


def smoothed(logits: Tensor, labels: Tensor, epsilon: float, reduction: str = "mean") -> Tensor:
    """Cross-entropy with the target 1 − ε, and ε/(C − 1) for each other class."""
    own = one_hot(labels, logits.shape[1])
    target = (1 - epsilon) * own + epsilon / (logits.shape[1] - 1) * (1 - own)
    each = -(target * torch.log_softmax(logits, 1)).sum(1)
    return each.mean() if reduction == "mean" else each


def sgsl_each(embeddings: Tensor, labels: Tensor, weight: Tensor, gamma: float) -> Tensor:
    """Eq. 6 of every sample; no stop-gradient here."""
    return softplus(others_share(cosines(embeddings, weight), labels, gamma)[1])


def gated_sgsl(
    embeddings: Tensor, labels: Tensor, weight: Tensor, gamma: float, beta: float, gate: float, epsilon: float,
    was_open: bool,
) -> Tensor:  # fmt: skip
    """Eqs 7 and 10, the gate as the paper describes it: open for good from the first mean softmax loss below it."""
    loss = smoothed(embeddings @ weight.T, labels, epsilon)
    if was_open or bool(loss < gate):
        loss = loss + beta * sgsl_each(embeddings, labels, weight.detach(), gamma).mean()
    return loss


def combine(
    join: Callable[[Tensor, Tensor, float, bool], bool | Tensor] = lambda each, plain, gate, was: (
        was or bool(each.mean() < gate)
    ),
    total: Callable[[Tensor, Tensor, float], Tensor] = lambda softmax, sgsl, beta: softmax + beta * sgsl,
    *,
    spread: bool = False,
    unit: bool = False,
    stop: str = "sgsl",
) -> Answer:
    """A wrong answer from right parts, one of which is changed.

    join(smoothed losses, plain losses, gate, was_open): whether SGSL counts; total: how the terms add up; spread: ε
    over all C classes, as torch has it; unit: softmax on cosines; stop: which term passes no gradient on to W.
    """

    def answer(
        embeddings: Tensor, labels: Tensor, weight: Tensor, gamma: float, beta: float, gate: float, epsilon: float,
        was_open: bool,
    ) -> Tensor:  # fmt: skip
        W = weight.detach() if stop == "both" else weight
        logits = cosines(embeddings, W) if unit else embeddings @ W.T
        each = (
            cross_entropy(logits, labels, label_smoothing=epsilon, reduction="none")
            if spread
            else smoothed(logits, labels, epsilon, "none")
        )
        plain = cross_entropy(logits, labels, reduction="none")
        extra = sgsl_each(embeddings, labels, weight if stop == "none" else weight.detach(), gamma)
        is_open = torch.as_tensor(join(each, plain, gate, was_open))
        return total(each, torch.where(is_open, extra, torch.zeros_like(extra)), beta).mean()

    return answer


GATE = Exercise(
    "gated_sgsl",
    "Softmax with label smoothing plus β times SGSL, which joins once the mean softmax loss is below the gate.",
    gated_sgsl,
    gate_cases,
    (
        Mistake("asked anew", "The gate is asked anew, as in the released code: once open (`was_open`) it stays open.",
            combine(lambda each, plain, gate, was: bool(each.mean() < gate))),
        Mistake("never opens", "SGSL joins only if it was in before: below the gate it must open.",
            combine(lambda each, plain, gate, was: was)),
        Mistake("always open", "The gate is not used: SGSL takes part in every case.",
            combine(lambda each, plain, gate, was: True)),
        Mistake("gate turned", "The gate is turned round: SGSL joins when the softmax loss is below it.",
            combine(lambda each, plain, gate, was: was or bool(each.mean() > gate))),
        Mistake("gate on the plain loss", "The gate looks at the loss without label smoothing; here it looks at the "
            "smoothed one, which is what training shows.",
            combine(lambda each, plain, gate, was: was or bool(plain.mean() < gate))),
        Mistake("gate for each sample", "Every sample has its own gate here; the gate looks at the mean of the batch.",
            combine(lambda each, plain, gate, was: (each < gate) | was)),
        Mistake("no beta", "β is not used.", combine(total=lambda softmax, sgsl, beta: softmax + sgsl)),
        Mistake("beta on the softmax", "β stands before the wrong term: it weighs SGSL.",
            combine(total=lambda softmax, sgsl, beta: beta * softmax + sgsl)),
        Mistake("mixture", "β does not mix the two terms: the softmax keeps its full weight (Eq. 7).",
            combine(total=lambda softmax, sgsl, beta: (1 - beta) * softmax + beta * sgsl)),
        Mistake("smoothing over all",
            "ε is spread over all C classes, as torch does; here over the others only.",
            combine(spread=True)),
        Mistake("softmax on cosines", "The softmax takes the plain products W·f; only SGSL takes cosines.",
            combine(unit=True)),
        Mistake("gradient through W", "The value is right, but W gets a gradient from SGSL: stop it there.",
            combine(stop="none")),
        Mistake("W never moves", "The value is right, but W gets no gradient from the softmax either.",
            combine(stop="both")),
        Mistake("sum", "It adds up over the samples; both terms are means.",
            combine(total=lambda softmax, sgsl, beta: len(softmax) * (softmax + beta * sgsl))),
    ),
    gradient=("embeddings", "weight"),
)  # fmt: skip


ASSIGNMENT = Assignment(
    name="5_softmax",
    title="SGSL and the softmax floor",
    questions=(
        Question(LEAST, 5, least_hidden),
        Question(BEST, 6, best_hidden),
        Question(GRADIENT, 7, gradient_hidden),
        Question(GATE, 6, gate_hidden),
    ),
    written=(
        Written(
            "stalled_training",
            3,
            (
                (1, "Names the floor of the unscaled softmax for 1,000 classes, 5.91: 5.95 is 0.04 above it"),
                (1, "Says that the value tells nothing about retrieval, and what would: R@1 on validation classes"),
                (1, "A remedy with a number: a scale of at least least_scale(1000, ℓ), or another loss"),
            ),
        ),
        Written(
            "length_of_features",
            3,
            (
                (1, "Pythagoras: the step is at right angles to f, so ‖f‖² grows by η²‖g‖² in every step"),
                (1, "The gradient has the factor 1/‖f‖, so the angle turned about 1/‖f‖²: it slows down"),
                (1, "A limit: a network moves parameters, not features; or the softmax term changes lengths"),
            ),
        ),
    ),
)  # fmt: skip
