import random
import time
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.metrics.strings import (
    edit_distance,
    edit_distance_table,
    edit_distances,
    evaluate_words,
    normalized_edit_distance,
    total_edit_distance,
)

# As printed on the slide: rows s, i, t, t, i, n, g; columns k, i, t, t, e, n.
SLIDE_TABLE = [
    [0, 1, 2, 3, 4, 5, 6],
    [1, 1, 2, 3, 4, 5, 6],
    [2, 2, 1, 2, 3, 4, 5],
    [3, 3, 2, 1, 2, 3, 4],
    [4, 4, 3, 2, 1, 2, 3],
    [5, 5, 4, 3, 2, 2, 3],
    [6, 6, 5, 4, 3, 3, 2],
    [7, 7, 6, 5, 4, 4, 3],
]

# Ground truth, what M1 and M2 read, and the distances that the slide prints.
SLIDE_READINGS = [
    ("wwwshutterstockcom", "wonnishultersock", 9, "wnwishuttersockcom", 3),
    ("lilliput", "umlout", 5, "lilidut", 2),
    ("frikkie", "exikive", 4, "erikkie", 1),
    ("wwwvtrjtcom", "wwwitcom", 4, "wwwvtritcom", 1),
    ("guiucliinc", "guidglitus", 5, "guiuclituc", 2),
    ("napasorn", "napasozin", 3, "napasozn", 1),
]

words = st.text("abc", max_size=8)
sequences = st.lists(st.integers(0, 3), max_size=8)


def recursive_distance(a, b):
    """The definition, word for word."""

    @cache
    def distance(i, j):
        if i == 0 or j == 0:
            return i + j
        return min(
            distance(i - 1, j) + 1, distance(i, j - 1) + 1, distance(i - 1, j - 1) + (0 if a[i - 1] == b[j - 1] else 1)
        )

    return distance(len(a), len(b))


def test_table_is_the_one_on_the_slide():
    table = edit_distance_table("sitting", "kitten")
    np.testing.assert_array_equal(table, SLIDE_TABLE)
    assert np.issubdtype(table.dtype, np.integer)
    assert edit_distance("sitting", "kitten") == 3


def test_slide_readings_with_erratum_e_sl_7():
    truth = [row[0] for row in SLIDE_READINGS]
    m1, m2 = [row[1] for row in SLIDE_READINGS], [row[3] for row in SLIDE_READINGS]
    printed = [row[2] for row in SLIDE_READINGS]
    found = [edit_distance(reading, word) for reading, word in zip(m1, truth)]
    assert found[:-1] == printed[:-1]
    assert (found[-1], printed[-1]) == (2, 3)
    assert (total_edit_distance(m1, truth), sum(printed)) == (29, 30)
    assert [edit_distance(reading, word) for reading, word in zip(m2, truth)] == [row[4] for row in SLIDE_READINGS]
    assert total_edit_distance(m2, truth) == 10


@pytest.mark.parametrize(
    ("a", "b", "score"),
    [("", "", 1.0), ("a", "", 0.0), ("abc", "abc", 1.0), ("abc", "xyz", 0.0), ("abcd", "abc", 0.75)],
)
def test_normalized_is_a_score_where_higher_is_better(a, b, score):
    assert normalized_edit_distance(a, b) == score


def test_other_sequences():
    assert edit_distance([1, 2, 3], (1, 3)) == 1
    assert edit_distance(np.array([1, 2, 3]), [1, 2, 4]) == 1
    assert edit_distance("abc", ["a", "b", "c"]) == 0
    assert edit_distance([("the", 1), None], [("the", 1), 2.5]) == 1
    assert edit_distance_table("", "").tolist() == [[0]]
    assert edit_distance_table("ab", "").tolist() == [[0], [1], [2]]
    assert total_edit_distance([], []) == 0


@pytest.mark.peer
def test_agrees_with_rapidfuzz():
    from rapidfuzz.distance import Levenshtein

    generator = random.Random(0)
    pairs = [("", ""), ("naïve", "naive"), ("日本語", "日本"), ("👍🏽", "👍")]
    for alphabet in ("ab", "abcdefgh", "aäßλ漢😀"):
        for _ in range(300):
            first = "".join(generator.choices(alphabet, k=generator.randrange(30)))
            edited = [letter for letter in first if generator.random() > 0.1]
            second = "".join(edited) if generator.random() < 0.5 else "".join(generator.choices(alphabet, k=20))
            pairs.append((first, second))
    for a, b in pairs:
        assert edit_distance(a, b) == Levenshtein.distance(a, b), (a, b)
        assert normalized_edit_distance(a, b) == pytest.approx(Levenshtein.normalized_similarity(a, b), abs=1e-15)


@pytest.mark.peer
def test_long_strings_are_exact_and_fast():
    from rapidfuzz.distance import Levenshtein

    generator = random.Random(1)
    a, b = ("".join(generator.choices("abcdefghij", k=1000)) for _ in range(2))
    start = time.perf_counter()
    found = edit_distance(a, b)
    assert time.perf_counter() - start < 1.0
    assert found == Levenshtein.distance(a, b)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=12), st.text(max_size=12)), max_size=6))
def test_batches_are_exact(pairs):
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    found = edit_distances(first, second)
    assert found.dtype == np.int64
    assert found.tolist() == [edit_distance(a, b) for a, b in pairs]


def test_batches_take_what_behaves_like_lists_of_strings():
    assert edit_distances(("", "abc"), np.array(["", "abd"])).tolist() == [0, 1]
    assert edit_distances([], []).shape == (0,)
    assert edit_distances(["a" * 300], ["b" + "a" * 300]).tolist() == [1]  # longer than a machine word


def test_a_hundred_thousand_pairs_take_a_moment():
    generator = random.Random(2)
    first, second = (["".join(generator.choices("abcdefgh", k=6)) for _ in range(100_000)] for _ in range(2))
    start = time.process_time()  # of this process alone: the machine may be busy
    edit_distances(first, second)
    assert time.process_time() - start < 0.25  # 0.4 million pairs a second even on a slow machine


@pytest.mark.parametrize("bad", [None, 3, "ab", ["a", None], ["a", b"b"], [["a"], ["b"]]])
def test_bad_batches_name_the_argument(bad):
    for function, names in ((edit_distances, ("first", "second")), (evaluate_words, ("predictions", "targets"))):
        with pytest.raises(ValueError, match=f"^{names[0]} must"):
            function(bad, ["a", "b"])
        with pytest.raises(ValueError, match=f"^{names[1]} must"):
            function(["a", "b"], bad)
        with pytest.raises(ValueError, match=r"2 expected, got 1|1 expected, got 2"):
            function(["a", "b"], ["a"])
    with pytest.raises(ValueError, match="targets is empty"):
        evaluate_words([], [])


def test_words_of_the_slides_have_equal_accuracy_and_different_distances():
    truth = [row[0] for row in SLIDE_READINGS]
    m1, m2 = (evaluate_words([row[column] for row in SLIDE_READINGS], truth) for column in (1, 3))
    assert (m1["Acc"], m1["TED"]) == (0.0, 29.0)  # printed 30: erratum E-SL-7
    assert (m2["Acc"], m2["TED"]) == (0.0, 10.0)
    assert m2["NED"] == pytest.approx(np.mean([normalized_edit_distance(row[3], row[0]) for row in SLIDE_READINGS]))
    assert evaluate_words(["", "ab"], ["", "ac"]) == {"Acc": 0.5, "NED": 0.75, "TED": 1.0}


@settings(max_examples=200, deadline=None)
@given(words | sequences, words | sequences)
def test_matches_the_definition(a, b):
    assert edit_distance(a, b) == recursive_distance(a, b)
    table = edit_distance_table(a, b)
    assert table.shape == (len(a) + 1, len(b) + 1)
    assert all(table[i, j] == recursive_distance(a[:i], b[:j]) for i in range(len(a) + 1) for j in range(len(b) + 1))


@settings(max_examples=200, deadline=None)
@given(words, words, words)
def test_is_a_metric(a, b, c):
    distance = edit_distance(a, b)
    assert distance == edit_distance(b, a)
    assert (distance == 0) == (a == b)
    assert edit_distance(a, c) <= distance + edit_distance(b, c)
    assert abs(len(a) - len(b)) <= distance <= max(len(a), len(b))
    assert 0.0 <= normalized_edit_distance(a, b) <= 1.0
    assert (normalized_edit_distance(a, b) == 1.0) == (a == b)


@pytest.mark.parametrize("bad", [None, 3, [[1], [2]], torch.tensor([1, 2]), np.zeros((2, 2))])
def test_bad_sequence_names_the_argument(bad):
    for function in (edit_distance, edit_distance_table, normalized_edit_distance):
        with pytest.raises(ValueError, match=r"^a must be"):
            function(bad, "x")
        with pytest.raises(ValueError, match=r"^b must be"):
            function("x", bad)


def test_bad_totals_name_the_argument():
    with pytest.raises(ValueError, match=r"predictions .* 2 expected, got 1"):
        total_edit_distance(["a"], ["a", "b"])
    with pytest.raises(ValueError, match="predictions must be a sequence of strings"):
        total_edit_distance("ab", ["a", "b"])
    with pytest.raises(ValueError, match="targets must be a sequence of strings"):
        total_edit_distance(["a", "b"], "ab")
