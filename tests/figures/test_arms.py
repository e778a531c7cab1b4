"""Arms with their intervals, gains over bases, and words before and after."""

import numpy as np
import pandas as pd
import pytest

from labkit.figures.arms import approximation_figure, arms, over_bases
from labkit.figures.word_changes import MISSING, Reading, change_of, changes_html, marked
from labkit.runs.compare import PairedDifference
from labkit.runs.gains import Gain
from labkit.runs.variant import Variant


def gain(loss, mean, half, reader="base", metric="TED"):
    chosen = {} if reader == "base" else {"data.reader": reader}
    variants = Variant("words-tune", loss, chosen), Variant("words-tune", "untrained", chosen)
    turned = -mean if metric == "TED" else mean
    ends = turned - half, turned + half
    return Gain(PairedDifference(*variants, metric, (0, 1, 2), (turned,) * 3, turned, *ends, 3, 0), reader, 90.0, 12.0)


SOME = [gain("ls-ed", 12, 5), gain("cross-entropy", 10, 4), gain("ls-ed", 40, 9, "base-15")]


def test_arms_show_mean_and_both_ends_controls_apart():
    fig = arms(SOME[:2])
    learned, control = fig.data
    assert (list(learned.x), list(control.x)) == ([12], [10])
    assert (learned.error_x.array[0], learned.error_x.arrayminus[0]) == (5, 5)
    assert learned.marker.symbol != control.marker.symbol
    assert list(fig.layout.yaxis.ticktext) == ["Cross-entropy", "LS-ED"]
    assert "edits" in fig.layout.xaxis.title.text
    assert list(arms([gain("ls-ed", 0.01, np.nan, metric="NED")]).data[0].error_x.array) == [0]
    assert arms([]).data[0].x == ()


def test_gains_over_bases_go_from_the_least_trained_one_on():
    learned, plain = over_bases(SOME, ("ls-ed", "cross-entropy")).data
    assert (list(learned.x), list(learned.y)) == ([15, 100], [40, 12])
    assert list(plain.x) == [100]


def test_approximation_has_the_mean_of_every_distance():
    pairs = pd.DataFrame({"kind": ["reader"] * 3, "exact": [0.0, 2.0, 2.0], "estimate": [0.5, 1.0, 2.0]})
    dots, means, line = approximation_figure(pairs).data
    assert list(means.y) == [0.5, 1.5]
    assert list(line.x) == [0, 2]
    assert list(dots.y) == [0.5, 1.0, 2.0]


@pytest.mark.parametrize(
    ("read", "word", "signs"),
    [("horse", "house", ["underline"]), ("hous", "house", [MISSING]), ("hhouse", "house", ["line-through"])],
)
def test_every_kind_of_mistake_has_a_sign_of_its_own(read, word, signs):
    assert all(sign in marked(read, word) for sign in signs)
    assert marked(word, word) == word


def test_cards_say_what_changed_and_escape_all_texts():
    bad = Reading("<id>", "<b>", "<i>", "<b>", 1, 0, 'x" onerror="')
    text = changes_html([bad], "<label>")
    for raw in ("<id>", "<i>", "<b>", "<label>", '" onerror'):
        assert raw not in text
    assert "↓ 1 → 0 edits ✓" in text
    assert change_of(Reading("", "ab", "ab", "xy", 0, 2)) == "↑ 0 → 2 edits ✗"
    assert change_of(Reading("", "ab", "ab", "ab", 0, 0)) == "✓ right"
    assert change_of(Reading("", "ab", "xb", "ay", 1, 1)) == "= 1 edits, other letters"
    assert "nothing" in marked("", "")
