import numpy as np
import pytest
import torch

from labkit.metrics import rotated_iou
from labkit.surrogates import Task, box_task, encode_words, random_box_pairs, random_word_pairs, word_task

LETTERS = "abcde"


def slots(*words):
    return encode_words(words, LETTERS, 5)


def test_exact_is_the_metric_of_what_is_decoded():
    task = word_task(LETTERS)
    found = task.exact(slots("abc", "", "ab", "abcde"), slots("abd", "", "", "bcdea"))
    assert found.tolist() == [1, 0, 2, 2]
    blurred = 0.6 * slots("abc") + 0.4 / 6
    assert task.exact(blurred, slots("abd")).tolist() == [1]


def test_an_own_metric_takes_a_few_lines():
    def vowels_missed(read, true):
        """How many vowels more or fewer were read than there are."""
        return [
            abs(sum(letter in "ae" for letter in a) - sum(letter in "ae" for letter in b)) for a, b in zip(read, true)
        ]

    task = word_task(LETTERS, vowels_missed)
    assert task.exact(slots("ab", "eae"), slots("bc", "cea")).tolist() == [1, 1]
    task.check(slots("ab", "eae"))


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
def test_a_metric_that_no_distance_can_equal_is_refused_with_the_pair(value):
    task = word_task(LETTERS, lambda read, true: [0.0, value])
    with pytest.raises(ValueError, match=r"metric must give finite .* prediction 'ab' and the target 'cd'"):
        task.exact(slots("a", "ab"), slots("c", "cd"))


def test_a_metric_with_another_number_of_answers_is_refused():
    task = word_task(LETTERS, lambda read, true: 0.5)
    with pytest.raises(ValueError, match=r"metric must give 2 numbers, one a pair; got shape \(\)"):
        task.exact(slots("a", "b"), slots("a", "b"))


def test_a_score_in_place_of_a_distance_is_refused():
    score = Task(lambda boxes, targets: rotated_iou(boxes, targets))
    with pytest.raises(ValueError, match="metric must be 0 for a target against itself, and gave 1"):
        score.check(torch.rand(3, 5))


def test_pairs_that_do_not_fit_are_refused():
    task = word_task(LETTERS)
    for z, y in (
        (slots("a"), slots("a", "b")),
        (slots(), slots()),
        (slots("a").long(), slots("a")),
        (None, slots("a")),
    ):
        with pytest.raises(ValueError, match=r"^z "):
            task.exact(z, y)


def test_random_words_are_as_far_as_they_were_edited_and_depend_on_the_step_alone():
    pairs = random_word_pairs(["abc", "de", "abcdeabc"], LETTERS, 5, 64, edits=3, seed=1)
    z, y = pairs(4)
    assert z.shape == y.shape == (64, 5, 6)
    torch.testing.assert_close(z.sum(-1), torch.ones(64, 5))
    exact = word_task(LETTERS).exact(z, y)
    assert set(exact.tolist()) == {0, 1, 2, 3}
    assert bool((z.amax(-1) >= 0.5).all())
    torch.testing.assert_close(pairs(4), (z, y), rtol=0, atol=0)
    assert not torch.equal(pairs(5)[0], z)


def test_random_words_need_words_and_their_letters():
    with pytest.raises(ValueError, match="words has none of 2 letters or fewer"):
        random_word_pairs(["abc"], LETTERS, 2, 4)
    with pytest.raises(ValueError, match="'ax' has 'x'"):
        random_word_pairs(["ax"], LETTERS, 2, 4)
    z, y = random_word_pairs([""], LETTERS, 3, 8, edits=2)(0)  # the empty word can only grow
    assert word_task(LETTERS).decode(y) == [""] * 8
    assert len(set(word_task(LETTERS).decode(z))) > 1


def test_random_boxes_overlap_a_lot_a_little_and_not_at_all():
    task, pairs = box_task(), random_box_pairs(400)
    z, y = pairs(0)
    exact = task.exact(z, y)
    task.check(y)
    assert bool(((exact >= 0) & (exact <= 1)).all())
    assert 20 < int((exact == 1).sum()) < 200
    assert int((exact < 0.3).sum()) > 40
    torch.testing.assert_close(pairs(0)[0], z, rtol=0, atol=0)


def test_boxes_apart_and_without_area_have_distance_1_and_bad_ones_are_refused():
    task = box_task()
    target = torch.tensor([[0.0, 0.0, 1.0, 1.0, 0.3]])
    assert task.exact(torch.tensor([[9.0, 9.0, 1.0, 1.0, 0.0]]), target).tolist() == [1]
    assert task.exact(torch.tensor([[0.0, 0.0, 0.0, 1.0, 0.0]]), target).tolist() == [1]
    with pytest.raises(ValueError, match="negative width"):
        task.exact(torch.tensor([[0.0, 0.0, -1.0, 1.0, 0.0]]), target)
    with pytest.raises(ValueError, match="NaN"):
        task.exact(target * torch.nan, target)
    outputs = torch.tensor([[0.0, 0.0, -30.0, 5.0, 0.0]])
    assert bool((task.predict(outputs)[:, 2:4] >= 0).all())
