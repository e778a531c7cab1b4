"""What is taken along of a comparison: pictures for print, few commands, one page; words of runs are escaped."""

import io
import json
import shlex

import pytest
from PIL import Image

from dashboard.parts.comparison import Chosen, figures_of, results_table, whole
from dashboard.parts.export import as_table, picture, sweep_lines
from labkit.base.paths import RECORDED
from labkit.commands import parser_of
from labkit.runs import find_runs, read_run, table


@pytest.fixture(scope="module")
def chosen():
    runs = [run for run in find_runs(RECORDED) if run.preset == "emoji"]
    frame = table(runs, "R@1")
    variants = {variant.name: variant for variant in frame["variant"]}
    near = [run for run in runs if run.loss in ("smooth-ap", "pnp-dq", "mpa")]
    return Chosen(
        "emoji", "R@1", next(v.name for v in variants.values() if v.loss == "smooth-ap"), runs, near, frame, variants
    )


def test_pictures_are_for_print_and_show_what_the_toggles_leave(chosen):
    drawn = figures_of(chosen)
    fig = drawn["Results"]()
    assert set(fig.data[1].y) == {"Smooth-AP", "PNP-D_q", "MPA"}
    image = Image.open(io.BytesIO(picture(fig, "png")))
    assert image.info["dpi"][0] == pytest.approx(300, abs=1)
    assert image.width >= 2000
    assert picture(fig, "pdf").startswith(b"%PDF")
    assert b"<svg" in picture(fig, "svg")
    for name in drawn:
        assert len(picture(drawn[name](), "svg")) > 2000


def test_one_sweep_stands_for_all_runs_of_a_preset(chosen):
    plain = [run for run in chosen.near if not run.variant.settings]
    lines = sweep_lines(plain)
    assert len(lines) == 1
    words = shlex.split(lines[0])[3:]
    args = parser_of(["sweep"]).parse_args(words)
    assert set(args.losses) == {run.loss for run in plain}
    assert set(args.seeds) == {run.seed for run in plain}


def test_settings_are_in_the_sweep_and_other_seeds_get_their_own():
    runs = [run for run in find_runs(RECORDED / "toy-ring") if run.loss in ("pnp-dq", "mpa")]
    fewer = [run for run in runs if run.loss == "mpa" or run.seed == 0]
    lines = sweep_lines(fewer)
    assert len(lines) == 2
    assert all("layout=ring" in line for line in lines)
    assert any("--losses pnp-dq --seeds 0 --set" in line for line in lines)


def test_the_whole_is_one_page_that_needs_nothing(chosen):
    page = whole(chosen)
    assert page.count("<h2>") == 7
    assert "Plotly.newPlot" in page
    assert "<script src=" not in page
    assert "<link" not in page
    for row in results_table(chosen):
        assert row["every seed"] in page


def test_intervals_of_two_seeds_are_too_few(chosen):
    for row in results_table(chosen):
        assert (row["95 % interval"] == "too few") == (row["seeds"] < 3)


def test_words_of_runs_are_escaped(tmp_path):
    assert "<b>" not in as_table([{"<b>": "<b>x</b>"}])
    source = RECORDED / "toy-ring" / "toy_pnp-dq_layout=ring_s0"
    info = json.loads((source / "run.json").read_text()) | {"loss": "x; rm -rf <b>"}
    (tmp_path / source.name).mkdir()
    (tmp_path / source.name / "run.json").write_text(json.dumps(info))
    (line,) = sweep_lines([read_run(tmp_path / source.name)])
    assert "x; rm -rf <b>" in shlex.split(line)
