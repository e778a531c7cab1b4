"""Mathematics in the browser against labkit's own: random cases with a fixed seed, values and gradients in float64.

`python -m benchmarks.browser_maths` prints the table of agreement; a test holds every row of it to 1e-9.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.browser import MODULES, browser, serve_modules
from labkit.explorers.formula import parse
from labkit.explorers.layers import layers_of
from labkit.losses import from_derivative, functional
from labkit.metrics import edit_distance, lists, rotated_iou
from labkit.metrics.evaluation import evaluate
from labkit.metrics.nearest import recall_at_1, unit_rows
from labkit.surrogates import BOX_FEATURES, SequenceEmbedding, Surrogate, VectorEmbedding, box_features

SEED = 20
# everything of a list of cases in the page; a case names a module, a function and its arguments
RUN = """async ([base, text]) => {
  const [{ throughPoints, ofFunction }, { parseFormula }] =
    await Promise.all(["derivative", "formula"].map((name) => import(`${base}maths/${name}.js`)));
  const curve = (given) => (typeof given === "string" ? ofFunction(parseFormula(given)) : throughPoints(given));
  const flat = (value) => (ArrayBuffer.isView(value) ? Array.from(value) : value);
  const found = [];
  for (const { module, name, given, g } of JSON.parse(text)) {
    const called = (await import(`${base}maths/${module}.js`))[name];
    const result = g === undefined ? called(...given) : called(given[0], given[1], curve(g), given[2]);
    const isParts = typeof result === "object" && result !== null;
    found.push(isParts ? Object.fromEntries(Object.entries(result).map(([k, v]) => [k, flat(v)])) : { value: result });
  }
  return JSON.stringify(found, (_, v) => (v === undefined || ArrayBuffer.isView(v) ? null : v));
}"""
FORMULAS = ("1/(1+R)**2", "R*exp(1-R)", "-1/(1+R)**2", "2*R/(1+R**1.5) + .5e-1", "tanh(R)*sqrt(1+R) - log(2+R)")
JS_OPTIONS = {"tau_rank": "tauRank", "tau_sim": "tauSim", "label_smoothing": "labelSmoothing"}


@dataclass(frozen=True)
class Case:
    """A call in the browser, and what it has to give."""

    row: str  # of the table
    call: dict[str, Any]
    expected: dict[str, Any]


def cases(each: int = 14, seed: int = SEED) -> list[Case]:
    """All of them; `each` says how many random batches or lists a row has."""
    rng = np.random.default_rng(seed)
    found: list[Case] = []
    for number in range(each):
        found += [*ranking_cases(rng, number), *pair_cases(rng, number), *proxy_cases(rng, number)]
        found += [*softmax_cases(rng, number), *list_cases(rng), *batch_metric_cases(rng, number)]
        found += [*surrogate_cases(rng, number), *box_cases(rng)]
    return found


def batch(rng: np.random.Generator, number: int, classes: int = 4) -> tuple[Tensor, Tensor]:
    """Shuffled labels of unequal classes, with a singleton, one positive each, or rows that coincide, by turns."""
    sizes = [2] * classes if number % 5 == 1 else [2, *rng.integers(1, 6, classes - 1).tolist()]
    labels = rng.permutation(np.repeat(np.arange(classes), sizes))
    rows = rng.normal(size=(len(labels), 2 + number % 4)) * 10.0 ** rng.integers(-2, 3)
    if number % 5 == 2:
        rows[-1] = rows[0]  # ties with every other item
    return torch.tensor(rows, requires_grad=True), torch.tensor(labels)


def taus(rng: np.random.Generator) -> float:
    """A temperature between 0.005 and 1."""
    return float(0.005 * 200 ** rng.random())


def call(module: str, name: str, *given: Any, **more: Any) -> dict[str, Any]:
    """A call as the page gets it."""
    return {"module": module, "name": name, "given": given, **more}


def js(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options under the names that they have in the browser."""
    return {JS_OPTIONS.get(name, name): value for name, value in options.items()}


def loss_case(
    row: str, module: str, name: str, loss: Callable[..., Any], x: Tensor, y: Tensor, options: Mapping[str, Any]
) -> Case:
    """A loss of embeddings alone."""
    value = loss(x, y, **options)
    (gradient,) = torch.autograd.grad(value, x)
    expected = {"loss": value.item(), "gradient": gradient.flatten().tolist()}
    return Case(row, call(module, name, x.tolist(), y.tolist(), js(options)), expected)


def ranking_cases(rng: np.random.Generator, number: int) -> Iterator[Case]:
    """PNP, Smooth-AP, RS@k, and losses from a derivative."""
    x, y = batch(rng, number)
    for variant in ("O", "Iu", "Iu-exact", "Ib", "Ds", "Dq"):
        shape = {"alpha": float(rng.uniform(0.3, 6)), "b": float(rng.uniform(0.3, 8))}
        options = {"variant": variant, "tau": taus(rng), **shape}
        yield loss_case(f"PNP-{variant}", "ranking", "pnp", functional.pnp, x, y, options)
    yield loss_case("Smooth-AP", "ranking", "smoothAp", functional.smooth_ap, x, y, {"tau": taus(rng)})
    ks = [1, 2, 5]
    several = [float(t) for t in rng.uniform(0.2, 2, 3)]
    options = {"ks": ks, "tau_rank": several if number % 2 else several[0], "tau_sim": taus(rng)}
    yield loss_case("RS@k", "ranking", "recallAtKLoss", functional.recall_at_k, x, y, options)
    ends = np.cumsum(rng.uniform(0.1, 2, 5))
    drawn = [[float(R), float(g)] for R, g in zip(ends - (ends[0] if number % 2 else 0), rng.normal(size=5))]
    text = FORMULAS[number % len(FORMULAS)]
    for row, g, made in (("drawn derivative", drawn, drawn), ("typed derivative", text, parse(text))):
        loss = from_derivative(made, tau=0.1)
        case = loss_case(row, "ranking", "fromDerivative", lambda x, y, loss=loss, **_: loss(x, y), x, y, {"tau": 0.1})
        yield Case(row, case.call | {"g": g}, case.expected)


def pair_cases(rng: np.random.Generator, number: int) -> Iterator[Case]:
    """Contrastive in both forms, triplet, multi-similarity."""
    x, y = batch(rng, number)
    for form in ("squared", "linear"):
        options: dict[str, Any] = {"margin": float(rng.uniform(0.1, 1.5)), "form": form}
        yield loss_case(f"contrastive, {form}", "pairs", "contrastive", functional.contrastive, x, y, options)
    options = {"margin": float(rng.uniform(0.05, 1))}
    yield loss_case("triplet", "pairs", "triplet", functional.triplet, x, y, options)
    options = {"alpha": float(rng.uniform(1, 5)), "beta": float(rng.uniform(5, 60)), "base": float(rng.random())}
    options["epsilon"] = None if number % 3 == 0 else 0.1
    yield loss_case("multi-similarity", "pairs", "multiSimilarity", functional.multi_similarity, x, y, options)


def with_vectors(
    row: str, module: str, name: str, loss: Callable[..., Any], given: tuple[Tensor, ...], options: dict[str, Any]
) -> Case:
    """A loss of embeddings and class vectors (C, D) or (C, K, D)."""
    x, y, w = given
    value = loss(x, y, w, **options)
    by_x, by_w = torch.autograd.grad(value, (x, w), allow_unused=True)
    by_w = torch.zeros_like(w) if by_w is None else by_w
    which = "proxyGradient" if module == "proxies" else "weightGradient"
    expected = {"loss": value.item(), "gradient": by_x.flatten().tolist(), which: by_w.flatten().tolist()}
    centers = {"centers": w.shape[1]} if w.dim() == 3 else {}
    rows = w.detach().reshape(-1, w.shape[-1]).tolist()
    return Case(row, call(module, name, x.tolist(), y.tolist(), rows, js(options) | centers), expected)


def proxy_cases(rng: np.random.Generator, number: int) -> Iterator[Case]:
    """One proxy per class, and several; a class of the proxies may have no sample."""
    x, y = batch(rng, number)
    one = torch.tensor(rng.normal(size=(5, x.shape[1])), requires_grad=True)
    many = torch.tensor(rng.normal(size=(5, 1 + number % 3, x.shape[1])), requires_grad=True)
    sharp = float(rng.uniform(4, 40))
    yield with_vectors("ProxyNCA", "proxies", "proxyNca", functional.proxy_nca, (x, y, one), {"scale": sharp})
    options = {"alpha": sharp, "delta": float(rng.uniform(0, 0.3))}
    yield with_vectors("ProxyAnchor", "proxies", "proxyAnchor", functional.proxy_anchor, (x, y, one), options)
    options |= {"gamma": float(rng.uniform(0.05, 1)), "tau": float(rng.uniform(0, 0.5))}
    for row, name, loss in (
        ("MPA", "mpa", functional.mpa),
        ("MPA-DW", "mpaDataWise", functional.mpa_data_wise),
        ("MPA-AP", "mpaAllPairs", functional.mpa_all_pairs),
    ):
        yield with_vectors(row, "proxies", name, loss, (x, y, many), options)
    options["lam"] = options.pop("alpha")
    yield with_vectors("SoftTriple", "proxies", "softTriple", functional.soft_triple, (x, y, many), options)


def softmax_cases(rng: np.random.Generator, number: int) -> Iterator[Case]:
    """Softmax, on cosines, SGSL, both with the gate open and shut."""
    x, y = batch(rng, number)
    w = torch.tensor(rng.normal(size=(5, x.shape[1])), requires_grad=True)
    smooth = {"label_smoothing": float(rng.uniform(0, 0.5))}
    yield with_vectors("softmax", "softmax", "softmax", functional.softmax, (x, y, w), smooth)
    scaled = {"scale": float(rng.uniform(1, 30)), **smooth}
    yield with_vectors("NormSoftmax", "softmax", "normSoftmax", functional.norm_softmax, (x, y, w), scaled)
    soft = {"gamma": float(rng.uniform(1, 50))}
    yield with_vectors("SGSL", "softmax", "sgsl", functional.sgsl, (x, y, w), soft)
    gated = soft | smooth | {"beta": float(rng.uniform(0.1, 2)), "gate": float(rng.uniform(0.5, 4))}
    yield with_vectors("softmax + SGSL", "softmax", "softmaxSgsl", functional.softmax_sgsl, (x, y, w), gated)


def list_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Metrics of one list, in all their modes."""
    relevance = (rng.random(int(rng.integers(3, 12))) < 0.4).astype(int).tolist()
    total, k = max(1, sum(relevance)) + int(rng.integers(0, 4)), int(rng.integers(1, 14))
    graded, gain = [int(g) for g in rng.integers(0, 4, 6)] + [1], str(rng.choice(lists.GAINS))

    def of(row: str, name: str, value: Tensor, *given: Any) -> Case:
        return Case(row, call("metrics", name, *given), {"value": value.item()})

    for mode in lists.RECALL_MODES:
        value = lists.recall_at_k(relevance, k, total, mode)
        yield of(f"recall@k, {mode}", "recallAtK", value, relevance, k, total, mode)
    for by in lists.AP_DENOMINATORS:
        value = lists.average_precision_at_k(relevance, k, total, by)
        yield of(f"AP@k / {by}", "averagePrecisionAtK", value, relevance, k, total, by)
    yield of("MAP@R", "mapAtR", lists.map_at_r(relevance, total), relevance, total)
    yield of("nDCG@k", "ndcgAtK", lists.ndcg_at_k(relevance, k, total), relevance, k, {"total": total})
    yield of("nDCG@k, graded", "ndcgAtK", lists.ndcg_at_k(graded, k, gain=gain), graded, k, {"gain": gain})


def batch_metric_cases(rng: np.random.Generator, number: int) -> Iterator[Case]:
    """All metrics of a batch; every third has ties: directions along the axes, whose cosines are exact."""
    x, y = batch(rng, number)
    if number % 3 == 0:
        x = torch.eye(3, dtype=torch.float64)[torch.tensor(rng.integers(0, 3, len(y)))]
    whole = evaluate(x, y, (1, 3, 50), progress=False)
    expected = {name: value for name, value in whole.items() if name not in ("intra", "inter", "CSC")}
    yield Case("evaluate", call("metrics", "evaluate", x.tolist(), y.tolist(), [1, 3, 50]), expected)
    value = recall_at_1(unit_rows(x.detach().numpy()), y.numpy())
    yield Case("R@1", call("metrics", "recallAt1", x.tolist(), y.tolist()), {"value": value})


def surrogate_cases(rng: np.random.Generator, number: int) -> Iterator[Case]:
    """The learned distances of words and of boxes, with random weights; every fifth pair is equal."""
    torch.manual_seed(int(rng.integers(2**31)))
    slots, symbols = int(rng.integers(1, 6)), int(rng.integers(2, 6))
    words = Surrogate(SequenceEmbedding(slots, symbols, width=4, layers=1 + number % 3, dim=5)).double()
    boxes = Surrogate(VectorEmbedding(BOX_FEATURES, width=6, layers=2, dim=4, features=box_features)).double()
    drawn = torch.randn(2, slots, symbols, dtype=torch.float64).softmax(-1), torch.randn(2, 5, dtype=torch.float64)
    for name, surrogate, (z, y) in (("wordSurrogate", words, drawn[0]), ("boxSurrogate", boxes, drawn[1])):
        z = (y if number % 5 == 0 else z)[None].clone().requires_grad_()
        value = surrogate(z, y[None]).sum()
        (gradient,) = torch.autograd.grad(value, z)
        layers = [head | {name: part.tolist() for name, part in parts.items()} for head, parts in layers_of(surrogate)]
        expected = {"value": value.item(), "gradient": gradient.flatten().tolist()}
        yield Case(name, call("surrogate", name, layers, z[0].tolist(), y.tolist()), expected)


def box_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Rotated IoU with its gradient, near and far; the edit distance of strings of a few letters."""
    for apart in (0.2, 0.8, 3.0):
        first, second = (np.r_[rng.normal(size=2) * apart, rng.uniform(0.2, 2, 2), rng.normal() * 3] for _ in range(2))
        z = torch.tensor(first, requires_grad=True)
        value = rotated_iou(z, torch.tensor(second))
        (gradient,) = torch.autograd.grad(value, z)
        expected = {"value": value.item(), "gradient": gradient.tolist()}
        yield Case("rotated IoU", call("boxes", "rotatedIou", first.tolist(), second.tolist()), expected)
        a, b = ("".join(rng.choice(list("abc"), int(rng.integers(0, 8)))) for _ in range(2))
        yield Case("edit distance", call("strings", "editDistance", a, b), {"value": edit_distance(a, b)})


def agreement(page: Any, made: list[Case]) -> dict[str, tuple[int, int, float]]:
    """Of each row the cases, the numbers compared, and the worst deviation, relative to max(1, |number|)."""
    serve_modules(page)
    found = json.loads(page.evaluate(RUN, [MODULES, json.dumps([case.call for case in made])]))
    table: dict[str, tuple[int, int, float]] = {}
    for case, got in zip(made, found, strict=True):
        for name, wanted in case.expected.items():
            right = np.atleast_1d(np.asarray(wanted, np.float64))
            there = np.atleast_1d(np.asarray(got[name], np.float64))
            if there.shape != right.shape:
                raise AssertionError(f"{case.row}: {name} has {there.size} numbers, not {right.size}")
            off = np.abs(there - right) / np.maximum(1, np.abs(right))
            count, numbers, worst = table.get(case.row, (0, 0, 0.0))
            table[case.row] = (count, numbers + right.size, max(worst, float(np.nan_to_num(off, nan=np.inf).max())))
        count, numbers, worst = table[case.row]
        table[case.row] = (count + 1, numbers, worst)
    return table


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    with browser() as running:
        table = agreement(running.new_page(), cases())
    print("| function | cases | numbers compared | worst deviation |\n|---|---|---|---|")
    for row, (count, numbers, worst) in sorted(table.items(), key=lambda item: item[0].lower()):
        print(f"| {row} | {count} | {numbers} | {worst:.1e} |")
    every = list(table.values())
    print(
        f"| all | {sum(c for c, _, _ in every)} | {sum(n for _, n, _ in every)} | {max(w for _, _, w in every):.1e} |"
    )


if __name__ == "__main__":
    main()
