"""Figures of the proxy lesson: arrows go downhill, Table 1 comes out, and every end of a slider can be drawn."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from labkit.base.paths import RECORDED
from labkit.figures import settings
from labkit.figures.lessons import proxies
from labkit.figures.static import small_multiples
from labkit.losses import functional
from labkit.runs.read import find_runs
from labkit.runs.record import RunRecord, RunSettings, TrainConfig
from labkit.runs.run import Run

ANGLES = (-60, 0, 90, 210, 255)
all_losses = pytest.mark.parametrize("loss", proxies.LOSSES)


@all_losses
@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("centers", [1, 2, 3])
def test_arrows_are_tangent_and_go_downhill(loss, angle, centers):
    x, labels, w = proxies.scene(angle, 1 if loss in proxies.ONE_PROXY else centers)
    value, push_x, push_w, slope = proxies.gradients(loss, x, labels, w)
    assert slope.shape == (6, 3)
    assert (push_x * x).sum(1).abs().max() < 1e-9
    assert (push_w * w).sum(-1).abs().max() < 1e-9
    if push_x.norm() + push_w.norm() > 1e-3:
        assert proxies.LOSSES[loss](x + 1e-4 * push_x, labels, w + 1e-4 * push_w) < value


@all_losses
@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("centers", [1, 3])
def test_arrows_can_be_drawn_and_are_small_enough_for_the_book(loss, angle, centers):
    fig = proxies.gradient_arrows(angle, loss, centers)
    if angle == 210:
        small_multiples([fig])  # the twin's setting; drawing takes long
    assert len(fig.data) == len(proxies.gradient_arrows(90, "MPA", 2).data)
    assert len(json.dumps(json.loads(fig.to_json()))) < 20_000
    edge = (fig.layout.xaxis.range[1], fig.layout.yaxis.range[1])
    for trace in fig.data:
        for values, limit in zip((trace.x, trace.y), edge):
            assert all(v is None or abs(v) <= limit for v in values), trace.name


@pytest.mark.parametrize("loss", ["ProxyAnchor", "MPA"])
def test_class_wise_losses_let_one_sample_take_anothers_gradient(loss):
    pushes = [proxies.gradients(loss, *proxies.scene(angle, 1))[1][1].norm() for angle in (90, 210)]
    assert pushes[1] < 0.02 * pushes[0]


@pytest.mark.parametrize("loss", ["ProxyNCA", "SoftTriple", "MPA-DW", "MPA-AP"])
def test_data_wise_losses_do_not(loss):
    pushes = [proxies.gradients(loss, *proxies.scene(angle, 1))[1][1:] for angle in (90, 210)]
    torch.testing.assert_close(*pushes)


# MPA Table 1: P-P, N-N, P-N, "stability" (no other samples), "similarity"
TABLE_1 = {
    "ProxyNCA": "N-N stability",
    "ProxyAnchor": "P-P N-N similarity",
    "SoftTriple": "N-N P-N stability",
    "MPA": "P-P N-N similarity",
    "MPA-DW": "N-N stability similarity",
    "MPA-AP": "N-N P-N stability similarity",
}


@all_losses
def test_second_derivatives_say_what_table_1_says(loss):
    found = proxies.relation_strengths(loss)
    ticks = {name for name in ("P-P", "N-N", "P-N") if abs(found[name]) > 1e-9}
    ticks |= {"stability"} if abs(found["other samples"]) < 1e-9 else set()
    ticks |= {"similarity"} if abs(found["a shift"]) > 1e-9 else set()
    assert ticks == set(TABLE_1[loss].split())
    fig = proxies.relations(loss)
    small_multiples([fig])
    drawn = {trace.name for trace in fig.data if len(trace.x)}
    assert drawn == {"itself", *(set(TABLE_1[loss].split()) & {"P-P", "N-N", "P-N"})}


def test_positive_and_negative_are_a_difference_in_soft_triple_and_a_sum_in_mpa_ap():  # E-MPA-6
    assert proxies.relation_strengths("SoftTriple")["P-N"] < 0
    assert proxies.relation_strengths("MPA-AP")["P-N"] > 0
    for s_p, s_n in ((0.5, 0.3), (0.6, 0.2), (-0.1, 0.4)):
        x, w = proxies.with_similarities(torch.tensor([[s_p, s_n]], dtype=torch.float64))
        _, parts = proxies.LOSSES["MPA-AP"](x, torch.tensor([0]), w, return_parts=True)
        pull, push = parts.dL_dS[0].tolist()
        assert pull / push == pytest.approx(-math.exp(-proxies.SCALE * (s_p + s_n)))


def test_similarities_are_the_ones_asked_for():
    S = torch.tensor(proxies.SIMILARITIES, dtype=torch.float64)
    x, w = proxies.with_similarities(S)
    _, parts = functional.mpa(x, torch.tensor(proxies.LABELS), w, return_parts=True)
    torch.testing.assert_close(parts.similarity, S)


@pytest.mark.parametrize(("images", "classes", "batch"), [(60, 12, 10), (40, 4, 5)])
def test_share_with_a_positive_is_what_drawing_batches_gives(images, classes, batch):
    labels, generator = np.arange(images) % classes, np.random.default_rng(0)
    drawn = [labels[generator.permutation(images)[:batch]] for _ in range(4000)]
    share = np.mean([(row == row[0]).sum() > 1 for row in drawn])
    assert proxies.share_with_positive(images, classes, batch) == pytest.approx(share, abs=0.025)
    assert proxies.share_with_positive(images, classes, images) == 1
    small_multiples([proxies.partners()])


def test_a_metric_against_a_setting_has_a_place_for_values_without_runs():
    runs = [run for run in find_runs(RECORDED) if run.group in ("omniglot_mpa", "omniglot_mpa-ap")]
    assert runs
    fig = settings.against_setting(runs, settings.centers_of, (1, 10, 20), "K")
    assert {trace.name for trace in fig.data} == {"mpa", "mpa-ap"}
    assert all(abs(at - 1) < 0.1 for trace in fig.data for at in trace.x)
    assert list(fig.layout.xaxis.ticktext) == ["1", "10", "20"]
    small_multiples([fig, settings.against_setting([], settings.steps_of, (500, 2000), "steps")])


def test_settings_of_a_run_are_read_from_its_configuration():
    config = RunSettings(loss_options={"centers": 4}, train=TrainConfig(steps=500))
    run = Run(Path("run"), RunRecord(config=config))
    assert settings.centers_of(run) == 4
    assert settings.steps_of(run) == 500
