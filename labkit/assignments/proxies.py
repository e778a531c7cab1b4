"""Assignment 4, from SoftTriple to MPA: classes with unequal numbers of proxies, weights, who shares a logarithm.

embeddings (N, D), labels (N,), proxies (C, K, D), exists (C, K): which of a class's K places hold a proxy; S is
similarity to classes (N, C), or to proxies (N, C, K) where a question says so. Logarithms are sets of places of S.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import normalize, one_hot

from labkit.assignments.assignment import Assignment, Question, Written
from labkit.lessons.exercise import Answer, Case, Exercise, Mistake

LOW = -1e300  # stands for −∞ where a mask must stay finite


def randn(rng: torch.Generator, *shape: int) -> Tensor:
    """Normal numbers in float64."""
    return torch.randn(*shape, generator=rng, dtype=torch.float64)


def whole(rng: torch.Generator, low: int, high: int) -> int:
    """A whole number from low to high."""
    return int(torch.randint(low, high + 1, (1,), generator=rng))


# 1 Classes with unequal numbers of proxies


def some_proxies(rng: torch.Generator, N: int, C: int, K: int, D: int, gamma: float) -> dict[str, Tensor | float]:
    """A class has 1 to K proxies, at any of its places; one class has K, one has a single one."""
    order = torch.rand(C, K, generator=rng).argsort(1)
    count = torch.randint(1, K + 1, (C,), generator=rng)
    count[0], count[-1] = K, 1
    x, v = 3 * randn(rng, N, D), 2 * randn(rng, C, K, D)
    return {"embeddings": x, "proxies": v, "exists": order < count[:, None], "gamma": gamma}


def ragged_cases() -> list[Case]:
    """Soft and sharp γ, unequal numbers, one proxy each, and rows of zeros where no proxy is."""
    rng = torch.Generator().manual_seed(0)
    base = some_proxies(rng, 4, 3, 4, 5, 0.1)
    exists = base["exists"]
    assert isinstance(exists, Tensor)
    return [
        Case("4 samples, classes with 4, 1 to 4, and 1 proxies, γ = 0.1", base),
        Case("the same, γ = 1", base | {"gamma": 1.0}),
        Case("every place holds a proxy, γ = 0.3", base | {"exists": torch.ones_like(exists), "gamma": 0.3}),
        Case(
            "zeros where no proxy is", base | {"proxies": base["proxies"] * exists[..., None], "gamma": 0.5}, edge=True
        ),
    ]


def ragged_hidden(rng: torch.Generator) -> list[Case]:
    """Random sizes; huge rows where no proxy is, a very sharp γ, one class, one sample."""
    cases = []
    for gamma in (0.1, 0.5, 2.0):
        N, C, K, D = whole(rng, 2, 7), whole(rng, 2, 6), whole(rng, 3, 5), whole(rng, 2, 6)
        cases.append(Case(f"{N} samples, {C} classes, K = {K}, γ = {gamma}", some_proxies(rng, N, C, K, D, gamma)))
    base = some_proxies(rng, 5, 4, 3, 4, 0.2)
    huge = torch.where(base["exists"][..., None], base["proxies"], 1e6)  # type: ignore[index]
    zero = torch.where(base["exists"][..., None], base["proxies"], 0.0)  # type: ignore[index]
    single = some_proxies(rng, 1, 1, 3, 4, 0.3)
    return [
        *cases,
        Case("huge rows where no proxy is", base | {"proxies": huge}),
        Case("zeros where no proxy is, γ = 0.2", base | {"proxies": zero}, edge=True),
        Case("γ = 0.0005", base | {"gamma": 0.0005}, edge=True),
        Case("one sample, one class", single | {"exists": torch.tensor([[True, False, True]])}),
    ]


def cosines(embeddings: Tensor, proxies: Tensor) -> Tensor:
    """Of every sample with every place, (N, C, K)."""
    return torch.einsum("nd,ckd->nck", normalize(embeddings, dim=-1), normalize(proxies, dim=-1))


def ragged_similarity(embeddings: Tensor, proxies: Tensor, exists: Tensor, gamma: float) -> Tensor:
    """Eq. 1 over the proxies that a class has."""
    s = cosines(embeddings, proxies)
    return (torch.softmax((s / gamma).masked_fill(~exists, -torch.inf), 2) * s).sum(2)


def of_cosines(measure: Answer) -> Answer:
    """A wrong answer whose cosines are right: measure(s, exists, gamma)."""
    return lambda embeddings, proxies, exists, gamma: measure(cosines(embeddings, proxies), exists, gamma)


def filled(s: Tensor, exists: Tensor, gamma: float, fill: float) -> Tensor:
    """Missing places take part with the similarity `fill`."""
    s = torch.where(exists, s, fill)
    return (torch.softmax(s / gamma, 2) * s).sum(2)


def over_axis(s: Tensor, exists: Tensor, gamma: float) -> Tensor:
    """A softmax over classes, for each place."""
    return (torch.softmax((s / gamma).masked_fill(~exists, LOW), 1) * s * exists).sum(2)


def over_all(s: Tensor, exists: Tensor, gamma: float) -> Tensor:
    """One softmax over all proxies of all classes."""
    p = torch.softmax((s / gamma).masked_fill(~exists, LOW).flatten(1), 1).view_as(s)
    return (p * s).sum(2)


def with_lengths(x: bool) -> Answer:
    """Without normalising the embeddings (x), or the proxies."""

    def answer(embeddings: Tensor, proxies: Tensor, exists: Tensor, gamma: float) -> Tensor:
        a = embeddings if x else normalize(embeddings, dim=-1)
        b = normalize(proxies, dim=-1) if x else proxies
        s = torch.einsum("nd,ckd->nck", a, b)
        return (torch.softmax((s / gamma).masked_fill(~exists, LOW), 2) * s * exists).sum(2)

    return answer


RAGGED = Exercise(
    "ragged_similarity",
    "S(x, c) of every sample with every class (MPA Eq. 1), where classes have different numbers of proxies.",
    ragged_similarity,
    ragged_cases,
    (
        Mistake("mask ignored", "Places without a proxy take part: `exists` is not used.",
            of_cosines(lambda s, e, g: (torch.softmax(s / g, 2) * s).sum(2))),
        Mistake("similarity zero", "A missing place has the similarity 0, and e⁰ = 1 still weighs: it must weigh 0.",
            of_cosines(lambda s, e, g: filled(s, e, g, 0.0))),
        Mistake("similarity minus one", "A missing place has the similarity −1, and e^(−1/γ) still weighs something: "
            "it must weigh 0.", of_cosines(lambda s, e, g: filled(s, e, g, -1.0))),
        Mistake("not renormalised", "Weights are set to 0 after the softmax, so the rest no longer adds up to 1.",
            of_cosines(lambda s, e, g: (torch.softmax(s / g, 2) * e * s).sum(2))),
        Mistake("mean", "It takes the plain mean over the proxies; the weights are a softmax.",
            of_cosines(lambda s, e, g: (s * e).sum(2) / e.sum(1))),
        Mistake("maximum", "It takes the nearest proxy only; Eq. 1 is a weighted mean.",
            of_cosines(lambda s, e, g: s.masked_fill(~e, -torch.inf).amax(2))),
        Mistake("logsumexp", "γ·logsumexp(s/γ) is another soft maximum; Eq. 1 has weights times similarities.",
            of_cosines(lambda s, e, g: g * torch.logsumexp((s / g).masked_fill(~e, -torch.inf), 2))),
        Mistake("over classes", "The softmax runs over the classes; each class has a softmax over its own proxies.",
            of_cosines(over_axis)),
        Mistake("over all proxies", "One softmax over all proxies of all classes; each class has one of its own.",
            of_cosines(over_all)),
        Mistake("times gamma", "The similarity is multiplied by γ; it must be divided, so that a small γ is sharp.",
            of_cosines(lambda s, e, g: (torch.softmax((s * g).masked_fill(~e, -torch.inf), 2) * s).sum(2))),
        Mistake("no gamma", "γ is not used.",
            of_cosines(lambda s, e, g: (torch.softmax(s.masked_fill(~e, -torch.inf), 2) * s).sum(2))),
        Mistake("stopped weights", "The value is right, but the softmax is detached: the weights have a gradient, too.",
            of_cosines(lambda s, e, g: (torch.softmax((s / g).masked_fill(~e, -torch.inf), 2).detach() * s).sum(2))),
        Mistake("embeddings not normalised", "The embeddings keep their length: divide each by its norm.",
            with_lengths(x=True)),
        Mistake("proxies not normalised", "The proxies keep their length: divide each by its norm.",
            with_lengths(x=False)),
    ),
    gradient=("embeddings", "proxies"),
)  # fmt: skip


# 2 The weights of MPA


def some_similarities(rng: torch.Generator, N: int, C: int, *K: int) -> Tensor:
    """Between −0.9 and 0.9, (N, C) or (N, C, K)."""
    return 0.9 * torch.tanh(randn(rng, N, C, *K))


def weights_cases() -> list[Case]:
    """A class that is missing, two scales, no margin, and a scale at which e^α overflows."""
    S = some_similarities(torch.Generator().manual_seed(4), 5, 4)
    y = torch.tensor([2, 0, 0, 2, 1])
    return [
        Case("5 samples, 4 classes, one missing, α = 4", {"similarity": S, "labels": y, "alpha": 4.0, "delta": 0.1}),
        Case("α = 16, δ = 0.3", {"similarity": S, "labels": y, "alpha": 16.0, "delta": 0.3}),
        Case("α = 1, no margin", {"similarity": S, "labels": y, "alpha": 1.0, "delta": 0.0}),
        Case("α = 2000", {"similarity": S, "labels": y, "alpha": 2000.0, "delta": 0.1}, edge=True),
    ]


def weights_hidden(rng: torch.Generator) -> list[Case]:
    """Random sizes, shuffled labels; one class, one sample, a scale at which e^α overflows."""
    cases = []
    for alpha, delta in ((2.0, 0.1), (8.0, 0.2), (32.0, 0.1)):
        N, C = whole(rng, 5, 9), whole(rng, 3, 7)
        y = torch.randint(C - 1, (N,), generator=rng)  # the last class is missing
        S = some_similarities(rng, N, C)
        cases.append(
            Case(
                f"{N} samples, {C} classes, α = {alpha}", {"similarity": S, "labels": y, "alpha": alpha, "delta": delta}
            )
        )
    S, y = some_similarities(rng, 6, 5), torch.randint(5, (6,), generator=rng)
    one = torch.full((3,), whole(rng, 0, 2))
    return [
        *cases,
        Case("all of one class", {"similarity": S[:3, :3], "labels": one, "alpha": 4.0, "delta": 0.1}, edge=True),
        Case("one sample", {"similarity": S[:1], "labels": y[:1], "alpha": 4.0, "delta": 0.1}),
        Case("α = 3000", {"similarity": S, "labels": y, "alpha": 3000.0, "delta": 0.05}, edge=True),
    ]  # fmt: skip


def shares(u: Tensor, mask: Tensor, over: int = 0, one: bool = True) -> Tensor:
    """Slopes of log(1 + Σ e^u) over the masked entries along an axis; one=False: of log Σ e^u."""
    low = torch.where(mask, u, LOW)
    start = torch.full_like(u.select(over, 0), 0.0 if one else LOW).unsqueeze(over)
    return torch.softmax(torch.cat([start, low], over), over).narrow(over, 1, u.shape[over]) * mask


def own_places(S: Tensor, labels: Tensor) -> Tensor:
    """(N, C): the class is the sample's own."""
    return one_hot(labels, S.shape[1]).bool()


def parts(
    S: Tensor, labels: Tensor, alpha: float, delta: float, over: int = 0, one: bool = True
) -> tuple[Tensor, Tensor, int]:
    """Slopes of the positive and the negative part before they are averaged, and the number of classes present."""
    own = own_places(S, labels)
    pull = -alpha * shares(-alpha * (S - delta), own, over, one)
    push = alpha * shares(alpha * (S + delta), ~own, over, one)
    return pull, push, int(own.any(0).sum())


def mpa_weights(similarity: Tensor, labels: Tensor, alpha: float, delta: float) -> Tensor:
    """∂L/∂S of Eq. 6, as Eq. 8 has it; C⁻ are all classes."""
    pull, push, present = parts(similarity, labels, alpha, delta)
    return pull / present + push / similarity.shape[1]


def naive_weights(similarity: Tensor, labels: Tensor, alpha: float, delta: float) -> Tensor:
    """Eq. 8 as it is printed."""
    own = own_places(similarity, labels)
    pull = torch.where(own, torch.exp(-alpha * (similarity - delta)), 0.0)
    push = torch.where(own, 0.0, torch.exp(alpha * (similarity + delta)))
    C = similarity.shape[1]
    return -alpha * pull / (1 + pull.sum(0)) / own.any(0).sum() + alpha * push / (1 + push.sum(0)) / C


def alone(similarity: Tensor, labels: Tensor, alpha: float, delta: float) -> Tensor:
    """Every pair in a logarithm of its own."""
    own = own_places(similarity, labels)
    pull = -alpha * torch.sigmoid(-alpha * (similarity - delta)) * own
    push = alpha * torch.sigmoid(alpha * (similarity + delta)) * ~own
    return pull / own.any(0).sum() + push / similarity.shape[1]


def all_pairs(similarity: Tensor, labels: Tensor, alpha: float, delta: float) -> Tensor:
    """MPA-AP."""
    sign = 1.0 - 2.0 * own_places(similarity, labels)
    share = shares(alpha * (sign * similarity + delta), torch.ones_like(sign, dtype=torch.bool), 1)
    return alpha * sign * share / len(similarity)


def combined(pull: float, push: float, over: int = 0, one: bool = True, margins: tuple[int, int] = (1, 1)) -> Answer:
    """A wrong answer from right parts: divisors (1 right, 2 exchanged, 0 none), axis, the "1 +", the margins' signs."""

    def answer(similarity: Tensor, labels: Tensor, alpha: float, delta: float) -> Tensor:
        a, _, present = parts(similarity, labels, alpha, margins[0] * delta, over, one)
        _, b, _ = parts(similarity, labels, alpha, margins[1] * delta, over, one)
        C = similarity.shape[1]
        return a / (present if pull == 1 else C if pull == 2 else 1) + b / (
            C if push == 1 else present if push == 2 else 1
        )

    return answer


WEIGHTS = Exercise(
    "mpa_weights",
    "∂L/∂S(x, c) of MPA (Eq. 6, C⁻ = all classes) for every sample and class: negative pulls, positive pushes.",
    mpa_weights,
    weights_cases,
    (
        Mistake("overflow", "e^(α…) overflows at large α, and ∞/∞ is NaN: use a softmax with one more entry, 0.",
            naive_weights),
        Mistake("sign", "The sign is turned round: ∂L/∂S is below 0 for the own class, since L falls when S rises.",
            lambda similarity, labels, alpha, delta: -mpa_weights(similarity, labels, alpha, delta)),
        Mistake("no alpha", "The inner derivative is missing: the exponent has the factor ∓α.",
            lambda similarity, labels, alpha, delta: mpa_weights(similarity, labels, alpha, delta) / alpha),
        Mistake("no one", "The 1 inside the logarithm is missing: without it the shares of a class always add up to 1.",
            combined(1, 1, one=False)),
        Mistake("pull over all classes", "The positive part is divided by all classes; divide by those in the batch.",
            combined(2, 1)),
        Mistake("push over present classes", "The negative part is divided by the batch's classes; all classes push.",
            combined(1, 2)),
        Mistake("not divided", "Both parts are means over classes: the divisors are missing.", combined(0, 0)),
        Mistake("by sample", "The sums run over classes for each sample; MPA sums over samples for each class.",
            lambda similarity, labels, alpha, delta: sum(parts(similarity, labels, alpha, delta, 1)[:2])
            / len(similarity)),
        Mistake("all pairs", "Own class and others share one logarithm: that is MPA-AP. MPA has two a class.",
            all_pairs),
        Mistake("alone", "Every pair is treated alone: the denominator sums over all samples in the same logarithm.",
            alone),
        Mistake("margin turned", "The margin has the wrong sign: it is S − δ for the own class, S + δ for the others.",
            lambda similarity, labels, alpha, delta: mpa_weights(similarity, labels, alpha, -delta)),
        Mistake("one margin", "Both parts have S − δ; the others' similarities have S + δ.",
            combined(1, 1, margins=(1, -1))),
        Mistake("margin unscaled", "δ stands outside the scale: it is α(S ± δ), not αS ± δ.",
            lambda similarity, labels, alpha, delta: mpa_weights(similarity, labels, alpha, delta / alpha)),
        Mistake("pull only", "The negative part is missing: other classes push.",
            lambda similarity, labels, alpha, delta: torch.where(
                own_places(similarity, labels), mpa_weights(similarity, labels, alpha, delta), 0.0)),
    ),
)  # fmt: skip


# 3 Who shares a logarithm

LOSSES = ("proxy-nca", "soft-triple", "mpa", "mpa-dw", "mpa-ap")


def enters_cases() -> list[Case]:
    """Every loss once."""
    y = torch.tensor([0, 2, 0])
    sizes = {"soft-triple": 3, "mpa": 3, "mpa-dw": 4, "mpa-ap": 3, "proxy-nca": 4}
    return [
        Case(f"{loss}, {C} classes", {"labels": y, "num_classes": C, "loss": loss}) for loss, C in sizes.items()
    ]  # fmt: skip


def enters_hidden(rng: torch.Generator) -> list[Case]:
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
        Case("soft-triple, one class", {"labels": one, "num_classes": 1, "loss": "soft-triple"}, edge=True),
    ]  # fmt: skip


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


ENTERS = Exercise(
    "enters_gradient",
    "Which similarity has a say in the gradient of which, for five losses: a matrix of booleans (N·C, N·C).",
    enters_gradient,
    enters_cases,
    (
        Mistake("everything", "Everything is connected to everything: only what stands in one logarithm is.",
            lambda labels, num_classes, loss: torch.ones(2 * (len(labels) * num_classes,), dtype=torch.bool)),
        Mistake("without itself", "The diagonal is False: the gradient of log(1 + e^u + …) depends on u itself.",
            lambda labels, num_classes, loss: enters_gradient(labels, num_classes, loss)
            & ~torch.eye(len(labels) * num_classes, dtype=torch.bool)),
        Mistake("nothing but itself", "Only the diagonal is True: who else is in the same logarithm?",
            lambda labels, num_classes, loss: torch.eye(len(labels) * num_classes, dtype=torch.bool)),
        Mistake("mpa by sample", "In MPA a logarithm belongs to a class and sums over samples; yours to a sample.",
            instead(mpa=lambda i, c, own: pairs(i) & pairs(own))),
        Mistake("mpa one logarithm", "MPA has two logarithms a class, one for its own samples and one for the others.",
            instead(mpa=lambda i, c, own: pairs(c))),
        Mistake("by label", "MPA: it compares the labels of the samples; what counts is which class S(x, c) is about.",
            by_label),
        Mistake("mpa-dw by class", "In MPA-DW a logarithm belongs to a sample and sums over classes; yours to a class.",
            instead(mpa_dw=lambda i, c, own: pairs(c) & pairs(own))),
        Mistake("mpa-dw one logarithm", "MPA-DW has two logarithms a sample: its own class stands alone.",
            instead(mpa_dw=lambda i, c, own: pairs(i))),
        Mistake("mpa-dw positive linear", "MPA-DW: log(1 + e^u) is not linear, so the own class has a say in its own "
            "gradient.", instead(mpa_dw=lambda i, c, own: pairs(i) & ~own[:, None] & ~own[None])),
        Mistake("mpa-ap two logarithms", "MPA-AP has one logarithm a sample: own class and others stand together.",
            instead(mpa_ap=lambda i, c, own: pairs(i) & pairs(own))),
        Mistake("soft-triple two logarithms", "In SoftTriple the own class is in the denominator, with the others.",
            instead(soft_triple=lambda i, c, own: pairs(i) & pairs(own))),
        Mistake("proxy-nca with the positive", "In ProxyNCA the own class is not in the denominator: it is linear.",
            instead(proxy_nca=lambda i, c, own: pairs(i))),
        Mistake("proxy-nca positive alone", "ProxyNCA is linear in the own similarity: its second derivative is 0.",
            instead(proxy_nca=lambda i, c, own: pairs(i) & pairs(own))),
        Mistake("order", "Rows and columns count class by class; place i·C + c is S(x_i, c).", class_by_class),
    ),
)  # fmt: skip


# 4 How many proxies work


def shares_cases() -> list[Case]:
    """Several γ, one proxy a class, and a batch on which nothing pulls or pushes."""
    S = some_similarities(torch.Generator().manual_seed(8), 6, 3, 4)
    y = torch.tensor([1, 0, 0, 2, 1, 0])
    base = {"similarity": S, "labels": y, "alpha": 4.0, "delta": 0.1}
    at_rest = torch.where(own_places(S[:, :, 0], y)[..., None], 0.9, -0.9).repeat(1, 1, 2)
    return [
        Case("3 classes, 4 proxies, γ = 0.1", {**base, "gamma": 0.1}),
        Case("γ = 0.5", {**base, "gamma": 0.5}),
        Case("α = 16, γ = 0.3", {**base, "alpha": 16.0, "gamma": 0.3}),
        Case("nothing to do", {**base, "similarity": at_rest.double(), "alpha": 2000.0, "gamma": 0.1}, edge=True),
    ]  # fmt: skip


def shares_hidden(rng: torch.Generator) -> list[Case]:
    """Random sizes; one proxy a class, equal similarities, a batch at rest."""
    cases = []
    for gamma in (0.1, 0.25, 1.0):
        N, C, K = whole(rng, 4, 8), whole(rng, 3, 5), whole(rng, 3, 6)
        S, y = some_similarities(rng, N, C, K), torch.randint(C - 1, (N,), generator=rng)
        told = {"similarity": S, "labels": y, "alpha": 6.0, "delta": 0.1, "gamma": gamma}
        cases.append(Case(f"{N} samples, {C} classes, K = {K}, γ = {gamma}", told))
    S, y = some_similarities(rng, 6, 4, 1), torch.randint(4, (6,), generator=rng)
    base = {"labels": y, "alpha": 4.0, "delta": 0.1, "gamma": 0.2}
    at_rest = torch.where(own_places(S[:, :, 0], y)[..., None], 0.8, -0.8).repeat(1, 1, 3).double()
    return [
        *cases,
        Case("one proxy a class", {**base, "similarity": S}),
        Case("five equal proxies", {**base, "similarity": S.repeat(1, 1, 5)}),
        Case("a batch at rest", {**base, "similarity": at_rest, "alpha": 3000.0}, edge=True),
    ]


def soft_slopes(s: Tensor, gamma: float) -> tuple[Tensor, Tensor]:
    """S of Eq. 1 and ∂S/∂s, p_k (1 + (s_k − S)/γ)."""
    p = torch.softmax(s / gamma, 2)
    S = (p * s).sum(2)
    return S, p * (1 + (s - S[..., None]) / gamma)


def pulls(s: Tensor, labels: Tensor, alpha: float, delta: float, gamma: float) -> Tensor:
    """∂L/∂s (N, C, K)."""
    S, slope = soft_slopes(s, gamma)
    return mpa_weights(S, labels, alpha, delta)[..., None] * slope


def to_shares(size: Tensor) -> Tensor:
    """Rows add up to 1; a row of zeros stays."""
    total = size.sum(1, keepdim=True)
    return size / torch.where(total > 0, total, 1.0)


def proxy_shares(similarity: Tensor, labels: Tensor, alpha: float, delta: float, gamma: float) -> Tensor:
    """Σ_i |∂L/∂s_ick|, divided by its sum over k."""
    return to_shares(pulls(similarity, labels, alpha, delta, gamma).abs().sum(0))


def of_parts(size: Answer) -> Answer:
    """A wrong answer by another size (C, K) in place of Σ_i |∂L/∂s|: size(weights (N, C, 1), slope, p, own)."""

    def answer(similarity: Tensor, labels: Tensor, alpha: float, delta: float, gamma: float) -> Tensor:
        S, slope = soft_slopes(similarity, gamma)
        weight = mpa_weights(S, labels, alpha, delta)[..., None]
        p = torch.softmax(similarity / gamma, 2)
        return to_shares(size(weight, slope, p, own_places(S, labels)[..., None]))

    return answer


def with_mean(similarity: Tensor, labels: Tensor, alpha: float, delta: float, gamma: float) -> Tensor:
    """S is taken as the plain mean in the weights."""
    _, slope = soft_slopes(similarity, gamma)
    weight = mpa_weights(similarity.mean(2), labels, alpha, delta)[..., None]
    return to_shares((weight * slope).abs().sum(0))


def without_gamma(similarity: Tensor, labels: Tensor, alpha: float, delta: float, gamma: float) -> Tensor:
    """∂S/∂s without 1/γ."""
    S, _ = soft_slopes(similarity, gamma)
    slope = torch.softmax(similarity / gamma, 2) * (1 + similarity - S[..., None])
    return to_shares((mpa_weights(S, labels, alpha, delta)[..., None] * slope).abs().sum(0))


def divided(how: str) -> Answer:
    """A wrong answer with another divisor."""

    def answer(similarity: Tensor, labels: Tensor, alpha: float, delta: float, gamma: float) -> Tensor:
        size = pulls(similarity, labels, alpha, delta, gamma).abs().sum(0)
        if how == "not":
            return size
        total = size.sum() if how == "all" else size.amax(1, keepdim=True) if how == "largest" else size.sum(0)
        return size / torch.where(total > 0, total, 1.0)

    return answer


SHARES = Exercise(
    "proxy_shares",
    "For every proxy the share of its class's gradient: Σ_i |∂L/∂s_ick| of MPA, divided by the class's sum; 0 for 0/0.",
    proxy_shares,
    shares_cases,
    (
        Mistake("stopped weights", "∂S/∂s is not the softmax alone: the weights p depend on s, too (product rule).",
            of_parts(lambda w, slope, p, own: (w * p).abs().sum(0))),
        Mistake("size of the sum", "The sum over samples comes before the absolute value: pulls and pushes cancel.",
            of_parts(lambda w, slope, p, own: (w * slope).sum(0).abs())),
        Mistake("squares", "It adds up squares; absolute values are asked for.",
            of_parts(lambda w, slope, p, own: (w * slope).square().sum(0))),
        Mistake("own samples only", "Only the class's own samples are counted; those of other classes push.",
            of_parts(lambda w, slope, p, own: (w * slope * own).abs().sum(0))),
        Mistake("others only", "Only other classes' samples are counted; the class's own samples pull.",
            of_parts(lambda w, slope, p, own: (w * slope * ~own).abs().sum(0))),
        Mistake("no weights", "∂L/∂S is missing: a sample that is far beyond the margin must count less.",
            of_parts(lambda w, slope, p, own: slope.abs().sum(0))),
        Mistake("softmax only", "That is who is nearest (the softmax), not who gets the gradient.",
            of_parts(lambda w, slope, p, own: p.sum(0))),
        Mistake("weights only", "∂S/∂s is missing: within a class the proxies differ by it.",
            of_parts(lambda w, slope, p, own: (w + 0 * slope).abs().sum(0))),
        Mistake("repelled left out", "Negative ∂S/∂s are set to 0; a proxy that is repelled gets a gradient, too.",
            of_parts(lambda w, slope, p, own: (w * slope.clamp_min(0)).abs().sum(0))),
        Mistake("no gamma", "1/γ is missing in ∂S/∂s: the softmax has the argument s/γ.", without_gamma),
        Mistake("mean similarity", "∂L/∂S is taken at the plain mean of the similarities; S is the soft maximum.",
            with_mean),
        Mistake("not divided", "These are sizes; divide by the sum over the proxies of the class.", divided("not")),
        Mistake("of all classes", "It divides by the sum over all classes; each class's shares add up to 1.",
            divided("all")),
        Mistake("of the largest", "It divides by the largest; the shares of a class add up to 1.", divided("largest")),
        Mistake("over classes", "It divides by the sum over classes (axis 0); sum over the class's proxies (axis 1).",
            divided("columns")),
    ),
)  # fmt: skip


ASSIGNMENT = Assignment(
    name="4_proxies",
    title="Proxies: from SoftTriple to MPA",
    questions=(
        Question(RAGGED, 5, ragged_hidden),
        Question(WEIGHTS, 6, weights_hidden),
        Question(ENTERS, 6, enters_hidden),
        Question(SHARES, 7, shares_hidden),
    ),
    written=(
        Written(
            "total_pull_and_push",
            3,
            (
                (1, "Shares of one logarithm add up to less than 1, because of the “1 +”"),
                (1, "Pull: |C⁺| logarithms, each at most α, divided by |C⁺|: at most α in all; push likewise, by C"),
                (1, "Hence for one sample: the larger the batch, the less is left for each"),
            ),
        ),
        Written(
            "one_sample_a_class",
            3,
            (
                (1, "Positive parts are equal: one term in each logarithm, and |C⁺| = N"),
                (1, "Negative parts differ: over samples for each class, over classes for each sample"),
                (1, "So P-P relations cannot show on SOP with random batches, which is what (✓) means"),
            ),
        ),
    ),
)  # fmt: skip
