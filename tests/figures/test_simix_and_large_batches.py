"""Virtual samples are where the formulas put them; larger batches are harder; two passes keep less."""

import numpy as np
import pytest
import torch
from torch import nn

from labkit import losses
from labkit.figures.lessons import simix_and_large_batches as figures
from labkit.figures.static import small_multiples
from labkit.training import large_batch_step
from labkit.training.memory import kept_megabytes
from labkit.training.pairs import recall_in_batches


@pytest.mark.parametrize("a", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("angle", [20, 150])
def test_the_virtual_sample_is_on_the_chord(a, angle):
    fig = figures.mixed_pair(a, angle)
    _, _, x, z, v = fig.data
    for axis in ("x", "y"):
        assert v[axis][1] == pytest.approx(a * x[axis][1] + (1 - a) * z[axis][1])
    small_multiples([fig])


@pytest.mark.parametrize("similarity", [-0.5, 0.0, 0.9])
def test_one_parent_is_always_nearer_than_the_virtual_sample_itself(similarity):
    fig = figures.parents(similarity)
    x, z, itself = (np.array(trace.y) for trace in fig.data)
    assert (np.maximum(x, z) >= itself - 1e-12).all()
    inner = np.r_[1:50, 51:100]  # but for the ends and the middle
    assert (np.maximum(x, z) > itself)[inner].all()
    small_multiples([fig])


def test_a_larger_batch_is_harder():
    labels = torch.arange(400) // 10
    embeddings = torch.eye(40)[labels] + 0.4 * torch.randn(400, 40, generator=torch.Generator().manual_seed(0))
    fig = figures.batch_difficulty({"some": recall_in_batches(embeddings, labels)})
    assert list(fig.data[0].x) == [8, 16, 32, 64, 128]
    assert list(fig.data[0].y) == sorted(fig.data[0].y, reverse=True)
    small_multiples([fig])


def test_two_passes_keep_less_and_are_drawn():
    torch.manual_seed(0)
    model, loss = nn.Sequential(nn.Linear(50, 200), nn.ReLU(), nn.Linear(200, 4)), losses.PNP(tau=0.1)
    measured = {"one pass": {}, "loss alone": {}, "8": {}}
    for B in (16, 64):
        batch = torch.randn(B, 50), torch.arange(B) // 4
        there = [batch[0], *model.parameters()]
        measured["one pass"][B] = kept_megabytes(lambda x, y: loss(model(x), y), *batch, ignore=there)
        measured["8"][B] = kept_megabytes(large_batch_step, model, batch, loss, 8, ignore=there)
        some = torch.randn(B, 4, requires_grad=True)
        measured["loss alone"][B] = kept_megabytes(loss, some, batch[1], ignore=[some])
        assert measured["8"][B] < measured["one pass"][B]
    fig = figures.memory(measured, 8)
    assert [trace.name for trace in fig.data] == ["one pass", "two passes, 8 at a time", "loss alone"]
    small_multiples([fig])


def test_memory_over_time_is_drawn_as_steps_for_each_way():
    fig = figures.memory_over_time({"one pass": [0, 1, 2, 0], "two passes": [0, 1, 0, 1, 0]})
    assert [list(trace.y) for trace in fig.data] == [[0, 1, 2, 0], [0, 1, 0, 1, 0]]
    assert {trace.line.shape for trace in fig.data} == {"hv"}
    assert "MB" in fig.layout.yaxis.title.text
