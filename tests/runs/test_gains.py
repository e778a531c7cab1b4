"""What arms gain over their base: the right base, the right sign, one base for all seeds."""

import pytest
from reader_folders import TRUE, tuned_run

from labkit.runs.gains import base_of, gains

WORSE = [word.replace("e", "c") for word in TRUE]  # 15 edits: 1 in tiger, 2 in bee
BETTER = [word.replace("ee", "ea") for word in TRUE]  # 5 edits


@pytest.fixture
def runs(tmp_path):
    return [
        tuned_run(tmp_path, "untrained", 0, WORSE),
        tuned_run(tmp_path, "untrained", 0, ["x"] * len(TRUE), reader="base-15"),
        *(tuned_run(tmp_path, "ls-ed", seed, TRUE if seed else BETTER) for seed in (0, 1)),
        tuned_run(tmp_path, "cross-entropy", 0, WORSE[:-1] + ["zzz"], overrides={"train.steps": "400"}),
        tuned_run(tmp_path, "ls-ed", 0, WORSE, reader="base-15"),
        tuned_run(tmp_path, "feds", 0, TRUE, reader="base-60"),  # its base is not there
    ]


def test_fewer_edits_are_a_gain_and_one_run_of_the_base_does_for_all_seeds(runs):
    found = {(gain.reader, gain.title): gain for gain in gains(runs)}
    assert list(found) == [("base", "LS-ED"), ("base", "Cross-entropy, 400 steps"), ("base-15", "LS-ED")]
    learned = found["base", "LS-ED"]
    assert learned.mean == pytest.approx((10 + 15) / 2)
    assert learned.difference.seeds == (0, 1)
    low, high = learned.interval
    assert low < learned.mean < high
    assert (learned.base, learned.is_control) == (15, False)
    assert found["base", "Cross-entropy, 400 steps"].mean == -1
    assert found["base", "Cross-entropy, 400 steps"].is_control


def test_scores_that_are_better_when_higher_keep_their_sign(runs):
    by_title = {gain.title: gain.mean for gain in gains(runs, metric="Acc") if gain.reader == "base"}
    assert by_title["LS-ED"] == pytest.approx((0.25 + 0.5) / 2)
    assert by_title["Cross-entropy, 400 steps"] == 0


def test_the_base_is_that_of_the_reader_and_of_the_words(runs):
    base, other, *_, early, lost = runs
    assert base_of(runs[3], runs).path == base.path
    assert base_of(early, runs).path == other.path
    assert base_of(lost, runs) is None
    assert gains([]) == []
