"""The designer: only formulas of R are accepted and mistakes are named; every control redraws; presets can be drawn."""

import contextlib
import json
import math
import re

import numpy as np
import pytest
import torch

from labkit.explorers.formula import FormulaError, parse
from labkit.explorers.lessons import design_a_loss as designer
from labkit.explorers.lessons.design_a_loss import (
    AT,
    PRESETS,
    Designer,
    curve,
    explore_derivatives,
    made,
    side_by_side,
    three,
)
from labkit.training import toy

R = torch.linspace(0, 40, 81, dtype=torch.float64)


@pytest.fixture
def short(monkeypatch):
    """Training in a few steps; what was trained before is forgotten."""
    designer.trained.cache_clear()
    monkeypatch.setattr(designer, "train", lambda loss, seed: toy.train(loss, seed, steps=3))
    yield
    designer.trained.cache_clear()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", torch.ones_like(R)),
        ("1/(1+R)**2", (1 + R) ** -2),
        ("-R + +2", 2 - R),
        ("log(1+R) * exp(-R/10)", torch.log1p(R) * torch.exp(-R / 10)),
        ("sqrt(R) - tanh(R)", R.sqrt() - R.tanh()),
        ("min(R, 3, 2.5)", R.clamp_max(2.5)),
        ("max(0, 1-R/5)", (1 - R / 5).clamp_min(0)),
        ("  R  ", R),
    ],
)
def test_a_formula_is_what_it_says(text, expected):
    found = parse(text)(R)
    assert found.shape == R.shape
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "no formula"),
        ("1/(1+R", "bracket"),
        ("2R", "2*R"),
        ("x + 1", "“x” is not allowed"),
        ("r", "“r” is not allowed"),
        ("R^2", "“^” is not allowed"),
        ("R^2", "written **"),
        ("R // 2", "“//” is not allowed"),
        ("abs(R)", "“abs” is not allowed"),
        ("__import__('os').system('true')", "is not allowed"),
        ("R.__class__", "is not allowed"),
        ("(lambda: 1)()", "is not allowed"),
        ("[1, 2]", "is not allowed"),
        ("R if R else 1", "is not allowed"),
        ("R < 3", "is not allowed"),
        ("'R'", "is not allowed"),
        ("True", "“True” is not allowed"),
        ("2j", "“2j” is not allowed"),
        ("exp(R, 2)", "exp takes one value"),
        ("max(R)", "max takes two values or more"),
        ("min(*R)", "takes two values or more"),
        ("max(*R, 1)", "is not allowed"),
        ("exp(x=R)", "exp takes one value"),
        ("log(R)", "at R = 0"),
        ("1/(10-R)", "at R = 10"),
        ("sqrt(3-R)", "not a finite number"),
        ("exp(10*R)", "not a finite number"),
        ("9**9**9**9", "not a finite number"),
        ("1" + "0" * 180, "not a finite number"),
        ("(" * 150 + "R" + ")" * 40, "bracket"),
        ("R+" * 120 + "R", "at most 200"),
    ],
)
def test_anything_else_is_refused_and_named(text, named):
    with pytest.raises(FormulaError, match=re.escape(named)):
        parse(text)


def test_deep_nesting_is_accepted_or_refused_but_never_crashes():
    for text in ("-" * 199 + "R", "(" * 99 + "R" + ")" * 99, "exp(" * 40 + "-R" + ")" * 40):
        with contextlib.suppress(FormulaError):
            parse(text)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_gives_a_derivative_and_its_integral(name):
    loss = made(PRESETS[name])
    assert loss.value(torch.zeros(1, dtype=torch.float64)).item() == 0
    x = torch.linspace(0.01, 12, 300, dtype=torch.float64)
    middle, step = (x[1:] + x[:-1]) / 2, x[1] - x[0]
    slope = (loss.value(x)[1:] - loss.value(x)[:-1]) / step
    # a kink costs the quadrature accuracy
    torch.testing.assert_close(slope, loss.derivative(middle), atol=0.02 if "max" in PRESETS[name] else 2e-3, rtol=0.02)
    for function in (loss.value, loss.derivative):
        fig = curve(function, "y", 0)
        low, high = fig.layout.yaxis.range
        assert low <= min(fig.data[0].y)
        assert high > max(fig.data[0].y)


def test_the_three_pictures_share_one_figure(short):
    parts = three("1/(1+R)", 0)
    fig = side_by_side(parts)
    assert len(fig.data) == sum(len(part.data) for part in parts)
    assert {trace.xaxis for trace in fig.data} == {"x", "x2", "x3"}
    assert fig.layout.yaxis3.scaleanchor == "x3"
    assert any("R@1" in note.text for note in fig.layout.annotations)
    assert len(fig.to_json()) < 20_000


def test_the_live_designer_draws_formulas_presets_and_points(short):
    live = Designer()
    live.formula.value = "R"
    np.testing.assert_allclose(live.figure.data[0].y, live.figure.data[0].x, rtol=1e-4, atol=1e-4)
    live.preset.value = "PNP-D_q, α = 4"
    assert live.formula.value == "4/(1+R)**5"
    assert live.figure.data[0].y[0] == 4
    assert [point.value for point in live.points][1:] == pytest.approx([4 / (1 + r) ** 5 for r in AT[1:]], abs=0.01)
    live.points[0].value = 1.5
    assert live.source.value == "points"
    assert live.figure.data[0].y[0] == 1.5
    live.source.value = "formula"
    assert live.figure.data[0].y[0] == 4
    before = live.figure.data[-1].x
    live.seed.value = 3
    assert live.figure.data[-1].x != before


def test_a_mistake_is_told_and_the_figure_stays(short):
    live = Designer()
    kept = live.figure.data[0].y
    live.formula.value = "<b>x</b>"
    assert "✗" in live.message.value
    assert "<b>x</b>" not in live.message.value
    assert live.figure.data[0].y == kept
    live.formula.value = "1"
    assert live.message.value == ""


def test_all_points_at_zero_train_nothing_and_break_nothing(short):
    live = Designer()
    for point in live.points:
        point.value = 0.0
    assert live.message.value == ""
    assert set(live.figure.data[1].y) == {0.0}


@pytest.mark.parametrize("build", ["live", "notebook", "book"])
def test_it_shows_in_every_form(short, monkeypatch, build):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda *things, **how: shown.extend(things))
    monkeypatch.setenv("LABKIT_BUILD", build)
    monkeypatch.setattr(designer, "IN_BOOK", (0, 1))
    live = explore_derivatives()
    if build == "book":
        spec = json.loads(re.search(r'json">(.*)</script>', shown[0].data)[1])
        assert len(spec["frames"]) == 2 * len(PRESETS)
    else:
        assert "image/png;base64" in shown[-1].data
        assert (live is not None) == (build == "live")


def test_training_is_quick_and_changes_the_embedding():
    found = toy.train(made("1/(1+R)"), seed=0, steps=20)
    assert found.before.shape == found.after.shape == (600, 2)
    assert not torch.equal(found.before, found.after)
    assert all(0 <= recall <= 1 and math.isfinite(recall) for recall in found.recall)
