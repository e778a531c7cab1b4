import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.surrogates import END, decode_words, encode_words


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("abc", max_size=4), min_size=1, max_size=5))
def test_words_come_back(words):
    slots = encode_words(words, "abc", 4)
    assert slots.shape == (len(words), 4, 4)
    assert bool((slots.sum(-1) == 1).all())
    assert decode_words(slots, "abc") == words


def test_the_end_is_symbol_0_and_what_follows_it_is_not_read():
    assert encode_words(["b"], "ab", 2).tolist() == [[[0, 0, 1], [1, 0, 0]]]
    after = encode_words(["ab"], "ab", 2)[:, [0, 1, 1]]
    after[0, 1] = torch.nn.functional.one_hot(torch.tensor(END), 3)
    assert decode_words(after, "ab") == ["a"]
    assert decode_words(encode_words([""], "ab", 3), "ab") == [""]


def test_a_word_that_does_not_fit_is_named():
    with pytest.raises(ValueError, match="'abc' has 3 letters, but there are 2 slots"):
        encode_words(["a", "abc"], "abc", 2)
    with pytest.raises(ValueError, match="'Ab!' has '!A', which is not in the alphabet"):
        encode_words(["Ab!"], "abc", 3)
    with pytest.raises(ValueError, match="words must be a sequence of strings"):
        encode_words("abc", "abc", 3)
    with pytest.raises(ValueError, match="alphabet"):
        encode_words(["a"], "aa", 3)
    with pytest.raises(ValueError, match="slots"):
        encode_words(["a"], "ab", 0)


def test_what_cannot_be_read_is_refused():
    with pytest.raises(ValueError, match="distributions must have 3 symbols"):
        decode_words(torch.zeros(1, 2, 4), "ab")
    with pytest.raises(ValueError, match="distributions contains NaN"):
        decode_words(torch.full((1, 2, 3), torch.nan), "ab")
    with pytest.raises(ValueError, match="distributions must be"):
        decode_words(torch.zeros(2, 3), "ab")
