"""Retrieval metrics of embeddings against sorted Python lists, over every way the ranks can be computed."""

import itertools
import math
import statistics
import sys

import numpy as np
import pytest
import torch
import torch.multiprocessing
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmarks.evaluation_memory import taken
from labkit import metrics
from labkit.base.tensors import unit_rows
from labkit.metrics import ranks as ranks_module
from labkit.metrics.ties import expected_metrics

KS = (1, 2, 5, 10, 100)
TIES = ("stable", "pessimistic", "expected")
ENGINES = ("numba", "torch")
# tile and memory_mb: the whole triangle at once, many tiles of it, several query rows at a time, one row at a time
PATHS = {"tile": (1024, 256), "tiles": (8, 256), "blocks": (3, 256), "rows": (1024, 1e-5)}

BATCHES = {
    "sorted": [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2],
    "shuffled": [2, 0, 1, 1, 0, 2, 2, 1, 0, 0, 1, 2, 2, 0, 1, 1, 1],
    "unequal": [5, 1, 1, 2, 2, 2, 2, 3, 3, 5, 5, 2, 1, 2, 3, 2, 2, 4, 4],
    "singletons": [9, 1, 1, 2, 3, 8, 3, 3, 4, 7, 3, 10, 1],
    "one class": [7] * 6,
    "one pair and a stranger": [4, 0, 4],
    "negative and huge ids": [-(2**63), 2**63 - 1, -1, -1, -(2**63), 0, 2**63 - 1, 2**40, 0, -1, 2**63 - 1],
}


@pytest.fixture(params=PATHS)
def path(request):
    tile, memory_mb = PATHS[request.param]
    return {"tile": tile, "memory_mb": memory_mb, "progress": False}


# The oracle: cosine similarities, sorted Python lists and the definitions, in loops.


def cosines(a, b):
    def unit(row):
        norm = math.sqrt(math.fsum(v * v for v in row))
        return [v / norm if norm else 0.0 for v in row]

    a, b = ([unit(row) for row in x.double().tolist()] for x in (a, b))
    return [[math.fsum(x * y for x, y in zip(p, q)) for q in b] for p in a]


def entries(embeddings, labels, gallery=None, gallery_labels=None):
    """For each query with a positive: [(similarity, relevant, gallery index)] over what it is ranked against."""
    same = gallery is None
    if same:
        gallery, gallery_labels = embeddings, labels
    y, other_y, S = labels.tolist(), gallery_labels.tolist(), cosines(embeddings, gallery)
    rows = {}
    for q in range(len(y)):
        row = [(S[q][j], y[q] == other_y[j], j) for j in range(len(other_y)) if not (same and j == q)]
        if any(relevant for _, relevant, _ in row):
            rows[q] = row
    return rows


ORDERS = {
    "stable": lambda item: (-item[0], item[2]),
    "pessimistic": lambda item: (-item[0], item[1]),
    "optimistic": lambda item: (-item[0], not item[1]),
}


def relevance_of(row, ties):
    return [relevant for _, relevant, _ in sorted(row, key=ORDERS[ties])]


def naive_ranks(row, ties):
    return [rank for rank, relevant in enumerate(relevance_of(row, ties), start=1) if relevant]


def naive_metrics(relevance, ks=KS):
    """Every metric of one list that holds the whole gallery."""
    total = sum(relevance)

    def hits(k):
        return sum(relevance[:k])

    def precisions(k):
        return math.fsum(hits(i) / i for i in range(1, min(k, len(relevance)) + 1) if relevance[i - 1])

    def dcg(gains, k):
        return math.fsum(g / math.log2(i + 1) for i, g in enumerate(gains[:k], start=1))

    out = {"MAP@R": precisions(total) / total, "R-precision": hits(total) / total}
    out["MRR"] = 1 / (relevance.index(True) + 1)
    for k in ks:
        out |= {
            f"R@{k}": float(hits(k) > 0),
            f"recall-fraction@{k}": hits(k) / total,
            f"recall-capped@{k}": hits(k) / min(k, total),
            f"P@{k}": hits(k) / k,
            f"MAP@{k}/k": precisions(k) / k,
            f"MAP@{k}/relevant": precisions(k) / total,
            f"MAP@{k}/min": precisions(k) / min(k, total),
            f"MAP@{k}/hits": precisions(k) / max(hits(k), 1),
            f"nDCG@{k}": dcg(relevance, k) / dcg(sorted(relevance, reverse=True), k),
        }
    return out


def all_orders(row):
    """Relevances in every order that random tie-breaking can produce, each equally likely."""
    row = sorted(row, key=lambda item: -item[0])
    groups = [[item[1] for item in group] for _, group in itertools.groupby(row, key=lambda item: item[0])]
    for choice in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield list(itertools.chain(*choice))


def naive_expected(row, ks=KS):
    scores = [naive_metrics(relevance, ks) for relevance in all_orders(row)]
    return {name: math.fsum(s[name] for s in scores) / len(scores) for name in scores[0] if "/hits" not in name}


def random_rows(n, dim=6, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, dim, generator=generator, dtype=torch.float64).to(dtype)


def exact_rows(n, kind, seed=0, dtype=torch.float64):
    """Rows whose cosines are exact in every dtype and take few values, so that ties are exact ones."""
    generator = torch.Generator().manual_seed(seed)
    if kind == "one-hot":
        return torch.eye(4, dtype=dtype)[torch.randint(4, (n,), generator=generator)]
    if kind == "signs":  # norm 2, cosines in steps of 1/2
        return (torch.randint(2, (n, 4), generator=generator) * 2 - 1).to(dtype) / 2
    if kind == "line":
        return (torch.randint(2, (n, 1), generator=generator) * 2 - 1).to(dtype) * 3
    if kind == "long signs":  # cosines in steps of 1/8
        return (torch.randint(2, (n, 16), generator=generator) * 2 - 1).to(dtype) * 8
    if kind == "collapse":
        return torch.ones(n, 4, dtype=dtype)
    rows = torch.cat([torch.eye(4), -torch.eye(4), torch.zeros(2, 4)]).to(dtype)  # with zero rows
    return rows[torch.randint(len(rows), (n,), generator=generator)]


EXACT = ("one-hot", "signs", "line", "long signs", "collapse", "zeros")


def smallest_gap(rows):
    """Smallest difference of two similarities that one query has to tell apart."""
    return min((b - a for row in rows.values() for a, b in itertools.pairwise(sorted(s for s, _, _ in row))), default=1)


def assert_as_naive(embeddings, labels, ties="stable", **options):
    data = {name: options[name] for name in ("gallery", "gallery_labels") if name in options}
    rows = entries(embeddings, labels, **data)
    query, columns = metrics.per_query_metrics(embeddings, labels, KS, ties=ties, **options)
    expected = [naive_metrics(relevance_of(row, ties)) for row in rows.values()]
    assert query.tolist() == list(rows)
    assert set(columns) == set(expected[0])
    for name, values in columns.items():
        assert values.dtype == torch.float64
        assert values.tolist() == pytest.approx([e[name] for e in expected], rel=1e-13, abs=1e-15), name
    result = metrics.evaluate(embeddings, labels, KS, ties=ties, **options)
    for name in columns:
        assert result[name] == pytest.approx(statistics.fmean(e[name] for e in expected), rel=1e-12, abs=1e-15), name
    assert result["queries"] == len(rows)
    assert result["skipped"] == len(labels) - len(rows)


# Against the oracle.


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("batch", BATCHES)
def test_equals_sorted_lists(batch, engine, path):
    labels = torch.tensor(BATCHES[batch])
    for ties in ("stable", "pessimistic"):
        assert_as_naive(random_rows(len(labels)), labels, ties, engine=engine, **path)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", EXACT)
@pytest.mark.parametrize("ties", ["stable", "pessimistic"])
def test_equals_sorted_lists_with_ties(kind, ties, engine, path):
    labels = torch.tensor(BATCHES["unequal"] + [90, 91])  # the last two are alone
    assert_as_naive(exact_rows(len(labels), kind), labels, ties, engine=engine, **path)


def ranks_of(
    embeddings, labels, pessimistic=False, engine="numba", memory=2**28, tile=1024, gallery=None, gallery_labels=None
):
    """{query: ranks}, straight from the ranking."""
    same = gallery is None
    queries = unit_rows(embeddings)
    others, other_labels = (queries, labels) if same else (unit_rows(gallery), gallery_labels)
    job = ranks_module.Retrieval(
        queries, labels, others, other_labels, same, pessimistic, engine, int(memory), False, False, tile
    )
    blocks = list(ranks_module.positive_ranks(job))
    return {q: r for block in blocks for q, r in zip(block.query.tolist(), block.ranks.tolist())}


@pytest.mark.parametrize(("kind", "dtype"), [*zip(EXACT, [torch.float32, torch.float64] * 3), ("signs", torch.float32)])
def test_every_path_gives_the_same_integers(kind, dtype):
    generator = torch.Generator().manual_seed(1)
    labels = torch.cat([torch.randint(0, 20, (75,), generator=generator), torch.arange(100, 105)])
    labels = labels[torch.randperm(80, generator=generator)]
    embeddings = exact_rows(80, kind, dtype=dtype)
    rows = entries(embeddings, labels)
    for pessimistic in (False, True):
        expected = {q: naive_ranks(row, "pessimistic" if pessimistic else "stable") for q, row in rows.items()}
        for tile, memory_mb in ((1024, 256), (32, 256), (11, 256), (3, 256), (1024, 1e-2), (1024, 1e-5)):
            for engine in ENGINES:
                found = ranks_of(embeddings, labels, pessimistic, engine, memory_mb * 2**20, tile)
                assert found == expected, (pessimistic, tile, memory_mb, engine)


def test_the_paths_of_these_tests_are_different_ones(monkeypatch):
    taken = []
    for name in ("triangle", "blocks"):
        original = getattr(ranks_module, name)
        monkeypatch.setattr(ranks_module, name, lambda *args, n=name, f=original: [taken.append(n), f(*args)][1])
    labels, embeddings = torch.tensor(BATCHES["unequal"]), random_rows(19)
    steps = []
    original_count = ranks_module.count_rows
    monkeypatch.setattr(ranks_module, "count_rows", lambda *args: [steps.append(1), original_count(*args)][1])
    seen = {}
    for name, (tile, memory_mb) in PATHS.items():
        taken.clear()
        steps.clear()
        metrics.per_query_metrics(embeddings, labels, tile=tile, memory_mb=memory_mb, progress=False)
        seen[name] = (taken[:], len(steps))
    assert seen["tile"] == (["triangle"], 1)
    assert seen["tiles"][0] == ["triangle"]
    assert seen["tiles"][1] > 6
    assert seen["blocks"][0] == seen["rows"][0] == ["blocks"]
    assert seen["rows"][1] == 19
    assert 6 < seen["blocks"][1] < 19


@pytest.mark.parametrize("ties", ["stable", "pessimistic"])
def test_four_thousand_items_in_eight_megabytes(ties):
    labels = torch.arange(4000) * 7919 % 4000 // 40  # 100 classes of 40, shuffled
    embeddings = exact_rows(4000, "long signs", dtype=torch.float32)
    small, large = ({"memory_mb": mb, "progress": False, "ks": (1, 10, 100)} for mb in (8, 512))
    query, columns = metrics.per_query_metrics(embeddings, labels, ties=ties, **small)
    _, others = metrics.per_query_metrics(embeddings, labels, ties=ties, **large)
    for name, values in columns.items():
        torch.testing.assert_close(values, others[name], rtol=1e-13, atol=1e-15)
    assert query.tolist() == list(range(4000))
    S = embeddings @ embeddings.T / 1024  # exact: whole numbers below 2^24 over a power of two
    for q in range(0, 4000, 397):
        row = [(s, label == labels[q].item(), j) for j, (s, label) in enumerate(zip(S[q].tolist(), labels.tolist()))]
        expected = naive_metrics(relevance_of(row[:q] + row[q + 1 :], ties), (1, 10, 100))
        assert {name: float(values[q]) for name, values in columns.items()} == pytest.approx(expected, abs=1e-14)


# Queries against a gallery.

GALLERY = [3, 0, 1, 1, 5, 0, 2, 8, 8, 1, 5, 1, 0]
SPLITS = {
    "unknown classes": ([0, 1, 9, 5, -4, 2, 1, 7, 0], GALLERY),
    "gallery larger": ([1, 0], GALLERY),
    "gallery of one": ([3, 1, 3, 3, 2], [3]),
    "same classes": ([0, 1, 2, 0, 1, 2], [2, 1, 0, 2, 1, 0, 0]),
    "negative and huge ids": ([2**63 - 1, -(2**63), 0, 5], [-(2**63), 2**63 - 1, 2**63 - 1, 0, -7]),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("memory_mb", [256, 1e-5])
def test_query_gallery_split(split, memory_mb, engine):
    labels, gallery_labels = (torch.tensor(x) for x in SPLITS[split])
    n = len(labels) + len(gallery_labels)
    for rows in (random_rows(n), *(exact_rows(n, kind) for kind in EXACT)):
        options = {"gallery": rows[len(labels) :], "gallery_labels": gallery_labels, "engine": engine}
        for ties in ("stable", "pessimistic"):
            assert_as_naive(rows[: len(labels)], labels, ties, memory_mb=memory_mb, progress=False, **options)


def test_a_gallery_equal_to_the_queries_still_holds_each_query():
    embeddings, labels = random_rows(12), torch.tensor(BATCHES["sorted"])
    result = metrics.evaluate(embeddings, labels, (1,), gallery=embeddings, gallery_labels=labels, progress=False)
    assert result["R@1"] == result["MRR"] == 1
    assert metrics.evaluate(embeddings, labels, (1,), progress=False)["R@1"] < 1


def test_order_of_the_gallery_decides_ties():
    query, gallery, labels = torch.ones(1, 2), torch.ones(3, 2), torch.tensor([1, 0, 0])
    for place in range(3):
        options = {"gallery": gallery, "gallery_labels": labels.roll(place), "progress": False}
        _, columns = metrics.per_query_metrics(query, torch.tensor([1]), **options)
        assert columns["MRR"].tolist() == [1 / (place + 1)]


@pytest.mark.parametrize("dtypes", list(itertools.product((torch.float16, torch.float32, torch.float64), repeat=2)))
def test_sides_of_different_dtypes(dtypes):
    labels, gallery_labels = (torch.tensor(x) for x in SPLITS["unknown classes"])
    rows = exact_rows(len(labels) + len(gallery_labels), "signs")
    queries, gallery = rows[: len(labels)].to(dtypes[0]), rows[len(labels) :].to(dtypes[1])
    assert_as_naive(queries, labels, gallery=gallery, gallery_labels=gallery_labels, progress=False)


def test_clusters_of_a_split_are_those_of_both_sides_together():
    labels, gallery_labels = torch.tensor([0, 1], dtype=torch.uint8), torch.tensor([0, 1, 256, 257])
    gallery = torch.eye(4) * 1e6  # neither its values nor its labels fit the queries' dtypes
    result = metrics.evaluate(torch.eye(4)[:2].half(), labels, gallery=gallery, gallery_labels=gallery_labels)
    assert result["inter"] == 1
    assert result["intra"] == pytest.approx(0, abs=1e-15)
    assert result["CSC"] == math.inf
    rows, y = random_rows(19), torch.tensor(BATCHES["unequal"])
    whole = metrics.evaluate(rows, y)
    split = metrics.evaluate(rows[:7], y[:7], gallery=rows[7:], gallery_labels=y[7:])
    for name in ("intra", "inter", "CSC"):
        assert split[name] == pytest.approx(whole[name], rel=1e-12)


# Ties in expectation.


@pytest.mark.parametrize("seed", range(12))
def test_expected_equals_all_orders(seed):
    generator = torch.Generator().manual_seed(seed)
    n, ks = int(torch.randint(2, 8, (1,), generator=generator)), (1, 2, 3, 4, 6, 9)
    similarity = torch.randint(0, 3, (4, n), generator=generator).double() / 2
    relevant = torch.rand(4, n, generator=generator) < 0.4
    relevant[:, seed % n] = True
    found = expected_metrics(similarity, relevant, ks)
    for q in range(4):
        expected = naive_expected(list(zip(similarity[q].tolist(), relevant[q].tolist(), range(n))), ks)
        assert {name: float(values[q]) for name, values in found.items()} == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("kind", EXACT)
@pytest.mark.parametrize("memory_mb", [256, 1e-5])
def test_expected_ties_of_embeddings(kind, memory_mb):
    for seed, labels in enumerate(([0, 1, 0, 1, 1, 0], [3, 3, 3, 2, 5, 2])):
        labels = torch.tensor(labels)
        embeddings = exact_rows(len(labels), kind, seed)
        rows = entries(embeddings, labels)
        query, columns = metrics.per_query_metrics(embeddings, labels, KS, ties="expected", memory_mb=memory_mb)
        assert query.tolist() == list(rows)
        for at, row in enumerate(rows.values()):
            found = {name: float(values[at]) for name, values in columns.items()}
            assert found == pytest.approx(naive_expected(row), abs=1e-13)
        result = metrics.evaluate(embeddings, labels, KS, ties="expected", memory_mb=memory_mb)
        assert result["skipped"] == len(labels) - len(rows)


def test_expected_ties_of_a_split():
    labels, gallery_labels = torch.tensor([0, 1, 6, 1]), torch.tensor([1, 0, 0, 1, 0, 2])
    embeddings = exact_rows(10, "signs")
    data = {"gallery": embeddings[4:], "gallery_labels": gallery_labels}
    rows = entries(embeddings[:4], labels, **data)
    query, columns = metrics.per_query_metrics(embeddings[:4], labels, KS, ties="expected", **data)
    assert query.tolist() == list(rows) == [0, 1, 3]
    for at, row in enumerate(rows.values()):
        assert {n: float(v[at]) for n, v in columns.items()} == pytest.approx(naive_expected(row), abs=1e-13)


@pytest.mark.parametrize("kind", EXACT)
def test_expected_lies_between_the_worst_and_the_best_order(kind):
    labels = torch.tensor(BATCHES["unequal"] * 3)
    embeddings = exact_rows(len(labels), kind)
    by_ties = {t: metrics.per_query_metrics(embeddings, labels, KS, ties=t, progress=False)[1] for t in TIES}
    rows = entries(embeddings, labels)
    best = [naive_metrics(relevance_of(row, "optimistic")) for row in rows.values()]
    for name, values in by_ties["expected"].items():
        upper = torch.tensor([b[name] for b in best], dtype=torch.float64)
        assert (by_ties["pessimistic"][name] <= values + 1e-12).all(), name
        assert (values <= upper + 1e-12).all(), name
        assert (by_ties["pessimistic"][name] <= by_ties["stable"][name] + 1e-12).all(), name


def test_without_ties_every_rule_agrees():
    embeddings, labels = random_rows(19), torch.tensor(BATCHES["unequal"])
    assert smallest_gap(entries(embeddings, labels)) > 1e-9
    results = [metrics.evaluate(embeddings, labels, KS, ties=ties) for ties in TIES]
    for name in results[2]:
        assert results[0][name] == results[1][name] == pytest.approx(results[2][name], rel=1e-13), name


def test_a_collapsed_network_is_not_praised():
    labels = torch.arange(100) // 10  # sorted by class: in input order the collapse looks like knowledge
    stable, pessimistic, expected = (
        metrics.evaluate(torch.ones(100, 4), labels, (1,), ties=ties, progress=False) for ties in TIES
    )
    assert pessimistic["R@1"] == 0
    assert stable["R@1"] == pytest.approx(0.1)
    assert expected["R@1"] == pytest.approx(9 / 99, rel=1e-12)
    assert expected["R-precision"] == pytest.approx(9 / 99, rel=1e-12)


# Types, precision, memory layout.


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("engine", ENGINES)
def test_dtypes(dtype, engine, path):
    labels = torch.tensor(BATCHES["unequal"])
    embeddings = random_rows(19, 8, seed=2, dtype=dtype)
    assert smallest_gap(entries(embeddings, labels)) > 2e-6  # far above the rounding of float32
    assert_as_naive(embeddings, labels, engine=engine, **path)
    assert_as_naive(exact_rows(19, "signs", dtype=dtype), labels, engine=engine, **path)


def test_layout_labels_and_graph():
    embeddings, labels = random_rows(19), torch.tensor(BATCHES["unequal"])
    expected = metrics.evaluate(embeddings, labels, KS)
    wide = torch.zeros(38, 12, dtype=torch.float64)
    wide[::2, ::2] = embeddings
    graph = embeddings.clone().requires_grad_() * 1.0
    assert metrics.evaluate(wide[::2, ::2], labels, KS) == expected
    assert metrics.evaluate(embeddings.T.contiguous().T, labels, KS) == expected
    assert metrics.evaluate(graph, labels, KS) == expected
    assert not any(values.requires_grad for values in metrics.per_query_metrics(graph, labels)[1].values())
    every_other = torch.stack([labels, labels * 0], 1)[:, 0]
    for same in (labels.int(), labels.short(), labels.to(torch.int8), labels.to(torch.uint8), every_other):
        assert metrics.evaluate(embeddings, same, KS) == expected
    assert metrics.evaluate(graph, labels, KS, gallery=graph, gallery_labels=labels.int())["queries"] == 19
    with torch.inference_mode():
        assert metrics.evaluate(embeddings + 0, labels + 0, KS) == expected


def test_inputs_are_left_alone():
    embeddings, labels = random_rows(19), torch.tensor(BATCHES["unequal"])
    before = embeddings.clone(), labels.clone()
    for ties in TIES:
        metrics.evaluate(embeddings, labels, ties=ties)
        metrics.evaluate(embeddings, labels, ties=ties, gallery=embeddings, gallery_labels=labels)
    assert torch.equal(embeddings, before[0])
    assert torch.equal(labels, before[1])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("ties", TIES)
def test_autocast_changes_nothing(ties, engine, path):
    labels, embeddings = torch.arange(60) % 15, random_rows(60, 16, dtype=torch.float32)
    options = {"ties": ties, "engine": engine, **path}
    expected = metrics.evaluate(embeddings, labels, KS, **options)
    with torch.autocast("cpu", torch.bfloat16):
        assert metrics.evaluate(embeddings, labels, KS, **options) == expected


def test_engines_and_auto_are_the_same():
    embeddings, labels = random_rows(60, dtype=torch.float32), torch.arange(60) % 15
    results = [metrics.evaluate(embeddings, labels, KS, engine=engine) for engine in (*ENGINES, "auto")]
    assert results[0] == results[1] == results[2]


def test_keys_and_order_of_ks():
    embeddings, labels = random_rows(12), torch.tensor(BATCHES["sorted"])
    result = metrics.evaluate(embeddings, labels)
    per_k = ("R@", "recall-fraction@", "recall-capped@", "P@", "nDCG@")
    names = {f"{name}{k}" for name in per_k for k in (1, 10, 100, 1000)}
    names |= {f"MAP@{k}/{d}" for k in (1, 10, 100, 1000) for d in ("k", "relevant", "min", "hits")}
    names |= {"MAP@R", "R-precision", "MRR", "intra", "inter", "CSC", "queries", "skipped"}
    assert set(result) == names
    assert all(isinstance(value, (float, int)) for value in result.values())
    unordered = metrics.evaluate(embeddings, labels, [1000, 10, 1, 100, 10])
    assert unordered == result
    assert metrics.evaluate(embeddings, labels, (1,), nmi=True).keys() - result.keys() == {"NMI"}


# Laws.

labels_lists = st.lists(st.integers(0, 4), min_size=3, max_size=16).filter(lambda x: len(set(x)) < len(x))
IN_UNIT_RANGE = ("R@", "recall", "P@", "MAP@", "nDCG", "MRR", "R-precision")


def rankings(result):
    return {name: value for name, value in result.items() if name.startswith(IN_UNIT_RANGE)}


@given(labels=labels_lists, seed=st.integers(0, 10**6), ties=st.sampled_from(TIES), kind=st.sampled_from(EXACT))
@settings(max_examples=30, deadline=None)
def test_between_zero_and_one_and_ordered(labels, seed, ties, kind):
    labels = torch.tensor(labels)
    _, columns = metrics.per_query_metrics(exact_rows(len(labels), kind, seed), labels, KS, ties=ties)
    for name, values in columns.items():
        assert ((values >= -1e-12) & (values <= 1 + 1e-12)).all(), name
    for k in KS:
        assert (columns[f"R@{k}"] >= columns[f"recall-capped@{k}"] - 1e-12).all()
        assert (columns[f"recall-capped@{k}"] >= columns[f"recall-fraction@{k}"] - 1e-12).all()
    for small, large in itertools.pairwise(KS):
        assert (columns[f"R@{large}"] >= columns[f"R@{small}"] - 1e-12).all()
        assert (columns[f"recall-fraction@{large}"] >= columns[f"recall-fraction@{small}"] - 1e-12).all()
        assert (columns[f"MAP@{large}/relevant"] >= columns[f"MAP@{small}/relevant"] - 1e-12).all()


@given(labels=labels_lists, seed=st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_what_does_not_matter(labels, seed):
    labels = torch.tensor(labels)
    embeddings = random_rows(len(labels), 4, seed)
    assume(smallest_gap(entries(embeddings, labels)) > 1e-9)
    query, columns = metrics.per_query_metrics(embeddings, labels, KS)
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(labels), generator=generator)
    names = torch.randint(-(2**62), 2**62, (5,), generator=generator)
    lengths = 10 ** (torch.rand(len(labels), 1, generator=generator, dtype=torch.float64) * 20 - 10)
    rotation = torch.linalg.qr(random_rows(4, 4, seed + 1)).Q
    changed = {
        "order": (embeddings[order], labels[order], order),
        "names": (embeddings, names[labels], None),
        "lengths": (embeddings * lengths, labels, None),
        "rotation": (embeddings @ rotation, labels, None),
        "more dimensions": (torch.cat([embeddings, torch.zeros(len(labels), 3)], 1), labels, None),
    }
    for change, (x, y, moved) in changed.items():
        again, values = metrics.per_query_metrics(x, y, KS)
        back = again if moved is None else moved[again]
        by_index = back.argsort()
        assert torch.equal(back[by_index], query), change
        for name in columns:
            torch.testing.assert_close(values[name][by_index], columns[name], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("size", [2, 4, 6])
@pytest.mark.parametrize("ties", TIES)
def test_perfect_retrieval_scores_one(size, ties, path):
    labels = torch.arange(5).repeat(size)
    result = metrics.evaluate(torch.eye(5)[labels], labels, KS, ties=ties, **path)
    for name in (
        "MAP@R",
        "R-precision",
        "MRR",
        *(f"{name}@{k}" for k in KS for name in ("R", "nDCG", "recall-capped")),
    ):
        assert result[name] == pytest.approx(1, abs=1e-13), name
    for k in KS:
        assert result[f"MAP@{k}/min"] == pytest.approx(1, abs=1e-13)
    # the released mAP_c counts the query among its class and so ends at (n − 1)/n: .5, .75, .833 for n = 2, 4, 6
    released = math.fsum(i / i for i in range(1, size)) / size
    assert released == pytest.approx({2: 0.5, 4: 0.75, 6: 0.833}[size], abs=5e-4)
    assert result["MAP@R"] - released == pytest.approx(1 / size, abs=1e-13)


def test_moving_a_positive_towards_the_query_never_lowers_its_score():
    labels = torch.tensor([0, *[1] * 10, 0, 0])
    angles = torch.linspace(0, 3, 13, dtype=torch.float64)
    last = None
    for angle in torch.linspace(2.9, 0.01, 40, dtype=torch.float64):
        angles[11] = angle
        rows = torch.stack([angles.cos(), angles.sin()], 1)
        _, columns = metrics.per_query_metrics(rows, labels, KS)
        first = {name: float(values[0]) for name, values in columns.items() if "/hits" not in name}
        assert last is None or all(first[name] >= last[name] - 1e-15 for name in first)
        last = first
    assert last["MRR"] == 1


# Several processes.

DISTRIBUTED = {
    "triangle": {"memory_mb": 256},
    "blocks": {"memory_mb": 0.01},
    "pessimistic triangle": {"memory_mb": 256, "ties": "pessimistic", "engine": "torch"},
    "pessimistic blocks": {"memory_mb": 0.01, "ties": "pessimistic", "engine": "torch"},
    "expected": {"ties": "expected"},
}


def distributed_cases(distributed):
    """Ranking of 90 items with ties and singletons, and of a split of them, in every way."""
    labels = torch.arange(90) * 37 % 90 // 4 + torch.arange(90) // 88 * 1000
    embeddings = exact_rows(90, "signs", dtype=torch.float32)
    split = {"gallery": embeddings[30:], "gallery_labels": labels[30:]}
    out = {}
    for name, options in DISTRIBUTED.items():
        options = {**options, "ks": KS, "tile": 8, "distributed": distributed, "progress": False}
        out[name] = metrics.evaluate(embeddings, labels, **options)
        out[f"{name}, split"] = metrics.evaluate(embeddings[:30], labels[:30], **split, **options)
    return out


def distributed_worker(rank, world, folder):
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=world)
    torch.save(distributed_cases(True), f"{folder}/{rank}.pt")
    torch.distributed.destroy_process_group()


def test_two_processes_get_what_one_gets(tmp_path):
    expected = distributed_cases(False)
    torch.multiprocessing.spawn(distributed_worker, (2, str(tmp_path)), nprocs=2)
    for rank in range(2):
        assert torch.load(tmp_path / f"{rank}.pt") == expected
    assert expected["triangle"]["MAP@R"] == pytest.approx(expected["blocks"]["MAP@R"], rel=1e-13)


def test_a_group_of_one_process(tmp_path):
    embeddings, labels = random_rows(19), torch.tensor(BATCHES["unequal"])
    expected = metrics.evaluate(embeddings, labels)
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/meet", rank=0, world_size=1)
    try:
        for memory_mb in (256, 1e-5):
            assert metrics.evaluate(embeddings, labels, distributed=True, memory_mb=memory_mb) == expected
    finally:
        torch.distributed.destroy_process_group()


def test_progress_false_prints_nothing(capfd, monkeypatch):
    # a delay of 0 lets the bar show at once, so that silence means something
    from tqdm import auto

    shown = auto.tqdm
    monkeypatch.setattr(auto, "tqdm", lambda *args, **options: shown(*args, **{**options, "delay": 0}))
    embeddings, labels = random_rows(19), torch.tensor(BATCHES["unequal"])
    for memory_mb in (256, 1e-5):
        metrics.evaluate(embeddings, labels, memory_mb=memory_mb, progress=False)
    assert capfd.readouterr() == ("", "")
    metrics.evaluate(embeddings, labels, memory_mb=1e-5, progress=True)
    assert "ranking" in capfd.readouterr().err


# Bad input.

GOOD, GOOD_LABELS = random_rows(4), torch.tensor([0, 0, 1, 1])
BAD_INPUT = [
    ("embeddings", {"embeddings": [[1.0, 2.0], [1.0], [2.0], [3.0]]}),
    ("embeddings", {"embeddings": [["a"], ["b"], ["c"], ["d"]]}),
    ("embeddings", {"embeddings": "abcd"}),
    ("embeddings", {"embeddings": None}),
    ("embeddings", {"embeddings": GOOD.long()}),
    ("embeddings", {"embeddings": GOOD[0]}),
    ("embeddings", {"embeddings": GOOD[None]}),
    ("embeddings", {"embeddings": torch.empty(0, 3), "labels": GOOD_LABELS[:0]}),
    ("embeddings", {"embeddings": torch.empty(4, 0)}),
    ("embeddings", {"embeddings": torch.full((4, 3), math.nan)}),
    ("embeddings", {"embeddings": torch.full((4, 3), math.inf)}),
    ("labels", {"labels": [0.5, 1.0, 1.0, 2.0]}),
    ("labels", {"labels": "aabb"}),
    ("labels", {"labels": [None, "a", "a", "b"]}),
    ("labels", {"labels": [["a"], ["a"], ["b"], ["b"]]}),
    ("gallery_labels", {"gallery": GOOD, "gallery_labels": ["a", "a", "b", "b"]}),
    ("labels", {"labels": None}),
    ("labels", {"labels": GOOD_LABELS.double()}),
    ("labels", {"labels": GOOD_LABELS[:3]}),
    ("labels", {"labels": GOOD_LABELS[None]}),
    ("labels: no query has a positive", {"labels": torch.arange(4)}),
    ("labels: no query has a positive", {"labels": torch.arange(4), "ties": "expected"}),
    ("labels: no query has a positive", {"gallery": GOOD, "gallery_labels": GOOD_LABELS + 7}),
    ("gallery_labels", {"gallery": GOOD}),
    ("gallery", {"gallery_labels": GOOD_LABELS}),
    ("gallery", {"gallery": GOOD * math.nan, "gallery_labels": GOOD_LABELS}),
    ("gallery", {"gallery": GOOD[0], "gallery_labels": GOOD_LABELS}),
    ("gallery", {"gallery": GOOD[:0], "gallery_labels": GOOD_LABELS[:0]}),
    ("gallery must have the embeddings' dimension", {"gallery": GOOD[:, 1:], "gallery_labels": GOOD_LABELS}),
    ("gallery_labels", {"gallery": GOOD, "gallery_labels": GOOD_LABELS[1:]}),
    ("gallery_labels", {"gallery": GOOD, "gallery_labels": GOOD_LABELS.double()}),
    *(("ks", {"ks": ks}) for ks in ((), (0,), (1, -1), (1.5,), (True,), 3, None, ("a",), (math.nan,), (1, None))),
    *(("ties", {"ties": ties}) for ties in ("random", None, 1)),
    *(("engine", {"engine": engine}) for engine in ("cuda", None)),
    *(("memory_mb", {"memory_mb": mb}) for mb in (0, -1, math.nan, math.inf, None, "8")),
    ("distributed", {"distributed": True}),
]


@pytest.mark.parametrize("function", [metrics.evaluate, metrics.per_query_metrics])
@pytest.mark.parametrize(("argument", "change"), BAD_INPUT)
def test_bad_input_is_named(function, argument, change):
    with pytest.raises(ValueError, match=argument):
        function(**{"embeddings": GOOD, "labels": GOOD_LABELS, **change})


def test_arrays_lists_names_and_truth_values():
    expected = metrics.evaluate(GOOD, GOOD_LABELS, ks=(1, 2))
    for rows in (GOOD.numpy(), GOOD.tolist(), GOOD.numpy()[:, ::1]):
        for labels in (GOOD_LABELS.tolist(), GOOD_LABELS.numpy().astype("uint32"), GOOD_LABELS.bool(), list("aabb")):
            assert metrics.evaluate(rows, labels, ks=(1, 2)) == expected
    names = ["cat", "cat", "dog", "no such animal"]
    gallery = metrics.evaluate(
        GOOD, names, ks=(1,), gallery=GOOD.numpy() + 1, gallery_labels=np.array(["dog", "cat", "cat", "cow"], object)
    )
    numbers = {"gallery": GOOD + 1, "gallery_labels": torch.tensor([1, 0, 0, 2])}
    assert gallery == metrics.evaluate(GOOD, torch.tensor([0, 0, 1, 3]), ks=(1,), **numbers)


# Another library.


@pytest.mark.peer
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("split", [False, True])
def test_equals_pytorch_metric_learning(seed, split):
    accuracy_calculator = pytest.importorskip("pytorch_metric_learning.utils.accuracy_calculator")
    from pytorch_metric_learning.distances import CosineSimilarity
    from pytorch_metric_learning.utils.inference import CustomKNN

    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 25, (120,), generator=generator)  # unequal classes
    embeddings = random_rows(120, 8, seed, torch.float32)
    embeddings += 1.5 * random_rows(25, 8, seed + 50, torch.float32)[labels]
    labels[:2] = torch.tensor([100, 101])  # and two singletons
    include = ("mean_average_precision_at_r", "r_precision", "precision_at_1", "mean_reciprocal_rank")

    def peer(k, names):
        knn = CustomKNN(CosineSimilarity())
        calculator = accuracy_calculator.AccuracyCalculator(
            include=names, k=k, knn_func=knn, device=torch.device("cpu")
        )
        data = (embeddings[:40], labels[:40], embeddings[40:], labels[40:]) if split else (embeddings, labels)
        return calculator.get_accuracy(*data)

    data = {"gallery": embeddings[40:], "gallery_labels": labels[40:]} if split else {}
    queries = slice(0, 40 if split else None)
    result = metrics.evaluate(embeddings[queries], labels[queries], (1, 7), **data)
    everything = peer(None, include)
    assert result["MAP@R"] == pytest.approx(everything["mean_average_precision_at_r"], abs=1e-12)
    assert result["R-precision"] == pytest.approx(everything["r_precision"], abs=1e-12)
    assert result["P@1"] == result["R@1"] == pytest.approx(everything["precision_at_1"], abs=1e-12)
    assert result["MRR"] == pytest.approx(everything["mean_reciprocal_rank"], abs=1e-6)  # float32 there
    cut = peer(7, ("mean_average_precision",))["mean_average_precision"]
    assert result["MAP@7/relevant"] == pytest.approx(cut, abs=1e-12)


def test_a_gallery_in_a_wider_dtype_keeps_its_range():
    queries, gallery, labels = torch.randn(20, 5), torch.randn(20, 5), torch.arange(20) % 4
    expected = metrics.evaluate(queries, labels, gallery=gallery, gallery_labels=labels)
    huge = metrics.evaluate(queries, labels, gallery=gallery.double() * 1e300, gallery_labels=labels)
    assert huge == pytest.approx(expected)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("case", "n", "memory_mb", "engine"),
    [("large", 1550, 32, "numba"), ("small", 6000, 8, "numba"), ("few", 1500, 16, "torch")],
)
def test_memory_stays_below_what_was_asked_for(case, n, memory_mb, engine):
    """The highest memory of a process; 4 MB for what Python and torch keep besides."""
    assert taken(case, n, memory_mb, engine) < memory_mb + 4


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("classes", [1, 2, 3])
def test_sorted_rows_have_the_ranks_that_are_counted(engine, classes, monkeypatch):
    """Many positives: sorting gives the same integers as counting, with ties, against oneself and a gallery."""
    generator = torch.Generator().manual_seed(classes)
    rows = torch.randint(-2, 3, (60, 3), generator=generator).float() + 0.5  # many equal similarities
    labels, memory = torch.arange(60) % classes, 2**20
    found = []
    for many in (0.0, 2.0):
        monkeypatch.setattr(ranks_module, "MANY", dict.fromkeys(ENGINES, many))
        own = ranks_of(rows, labels, False, engine, memory, tile=8)
        against = ranks_of(rows[:20], labels[:20], False, engine, memory, 8, rows[20:], labels[20:])
        found.append((own, against))
    assert found[0] == found[1]
