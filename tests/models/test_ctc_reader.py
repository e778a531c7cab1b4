"""The soft collapse of CTC posteriors, held to all paths written out; a reader begins as the network it is made of."""

from itertools import groupby, product

import pytest
import torch

from labkit.models.ctc_reader import CTCReader, soft_collapse


def written_out(frames, slots):
    """Every path through the frames, collapsed as CTC does, weighed by its chance."""
    length, symbols = frames.shape
    found = torch.zeros(slots, symbols, dtype=frames.dtype)
    for path in product(range(symbols), repeat=length):
        chance = torch.stack([frames[t, s] for t, s in enumerate(path)]).prod()
        word = [symbol for symbol, _ in groupby(path) if symbol]
        for slot in range(slots):
            found[slot, word[slot] if slot < len(word) else 0] += chance
    return found


@pytest.mark.parametrize(("length", "symbols", "slots"), [(1, 2, 1), (4, 3, 2), (5, 3, 4), (4, 4, 3), (2, 3, 5)])
def test_the_collapse_is_that_of_all_paths(length, symbols, slots):
    torch.manual_seed(length)
    frames = torch.randn(3, length, symbols, dtype=torch.float64).mul(2).softmax(-1)
    found = soft_collapse(frames, slots)
    for mine, each in zip(found, frames):
        torch.testing.assert_close(mine, written_out(each, slots))
    torch.testing.assert_close(found.sum(-1), torch.ones(3, slots, dtype=torch.float64))


def test_certain_frames_give_the_word_that_ctc_reads():
    path = torch.tensor([[0, 1, 1, 0, 1, 2, 2, 0]])  # a a . a b b -> a a b
    frames = torch.nn.functional.one_hot(path, 3).double()
    assert soft_collapse(frames, 4).argmax(-1).tolist() == [[1, 1, 2, 0]]
    blank = torch.nn.functional.one_hot(torch.zeros(1, 5, dtype=torch.long), 3).double()
    assert soft_collapse(blank, 2).argmax(-1).tolist() == [[0, 0]]


def test_its_gradient_is_right():
    frames = torch.randn(2, 4, 3, dtype=torch.float64).softmax(-1).requires_grad_()
    assert torch.autograd.gradcheck(lambda f: soft_collapse(f, 3), (frames,))


def test_bad_frames_are_refused():
    for frames in (torch.ones(2, 3), torch.ones(1, 2, 3, dtype=torch.long), torch.ones(1, 0, 3), torch.ones(1, 2, 1)):
        with pytest.raises(ValueError, match="frames must be floats"):
            soft_collapse(frames, 2)
    with pytest.raises(ValueError, match="slots"):
        soft_collapse(torch.ones(1, 2, 3) / 3, 0)


def test_a_reader_begins_as_the_network_whose_head_it_has():
    torch.manual_seed(0)
    weight, bias = torch.randn(5, 7), torch.randn(5)  # blank, a, b, A, B
    reader = CTCReader(3, 3, weight, bias, torch.tensor([0, 1, 2, 1, 2]), width=4)
    features, rest = torch.randn(2, 6, 7), torch.randn(2, 6, 1)
    chances = torch.cat((features @ weight.T + bias, rest), -1).softmax(-1)
    blank, a, b = (
        chances[..., 0] + chances[..., 5],
        chances[..., 1] + chances[..., 3],
        chances[..., 2] + chances[..., 4],
    )
    torch.testing.assert_close(reader.frames(torch.cat((features, rest), -1)), torch.stack((blank, a, b), -1))
    logits = reader(torch.cat((features, rest), -1))
    torch.testing.assert_close(logits.softmax(-1), soft_collapse(torch.stack((blank, a, b), -1), 3))
    logits.sum().backward()
    assert all(p.grad is not None for p in reader.parameters())
