"""What readers of words read, side by side; intervals that count seeds and words; verdicts."""

import json

import numpy as np
import pandas as pd
import pytest
from run_folders import make_run, summary_of

from labkit.metrics import evaluate_words
from labkit.runs.read import read_run
from labkit.runs.readings import METRICS, arm_table, changes, over_words, readings, scores, word_difference
from labkit.runs.schema import RunError
from labkit.runs.variant import Variant

TRUE = ["lion", "tiger", "ant", "bee"] * 5


def reader_run(root, loss, seed, read, ids=None):
    """A finished run that read these words."""
    config = {"preset": "words-tune", "loss": loss}
    folder = make_run(root, f"{loss}-s{seed}", preset="words-tune", config=config)
    (folder / "summary.json").write_text(json.dumps(summary_of(test=evaluate_words(read, TRUE))))
    rows = {"id": ids or [f"test/{n}" for n in range(len(TRUE))], "label": range(len(TRUE)), "class_name": TRUE}
    pd.DataFrame(rows | {"split": "test", "read": read}).to_parquet(folder / "samples.parquet")
    return read_run(folder)


@pytest.fixture
def runs(tmp_path):
    worse = [word.replace("e", "c") for word in TRUE]
    better = [word.replace("ee", "ea") for word in TRUE]
    return [reader_run(tmp_path, "cross-entropy", seed, worse) for seed in (0, 1)] + [
        reader_run(tmp_path, "ls-ed", seed, better if seed else TRUE) for seed in (0, 1)
    ]


def test_scores_of_words_add_up_to_the_metrics(runs):
    for run in runs:
        for metric in METRICS:
            assert scores(run, metric).mean() == pytest.approx(run.value(metric, "test"))


def test_arms_and_words_side_by_side(runs):
    table = arm_table(runs, "words-tune")
    assert list(table["arm"]) == ["Cross-entropy"] * 2 + ["LS-ED"] * 2
    assert list(table["seed"]) == [0, 1, 0, 1]
    assert len(arm_table(runs, "words")) == 0
    assert list(readings(runs[0])["distance"][:4]) == [0, 1, 0, 2]
    both = changes(runs[0], runs[3])
    assert both.drop(columns="id").iloc[3].tolist() == ["bee", "bcc", 2, "bea", 1]


def test_the_interval_holds_that_over_seeds_and_that_over_words(runs):
    found = word_difference(runs, "words-tune_ls-ed", Variant("words-tune", "cross-entropy"), "TED")
    assert found.mean == pytest.approx(-12.5)
    assert found.differences == (-15, -10)
    per_word = np.stack([scores(runs[2 + s], "TED") - scores(runs[s], "TED") for s in (0, 1)])
    low, high = over_words(per_word)
    assert found.low <= low < high <= found.high
    assert low < found.mean < high
    # words drawn anew: the standard error of the mean over 20 words, to the accuracy of 2,000 draws
    half = 1.96 * per_word.mean(0).std() / 20**0.5
    assert (high - low) / 2 == pytest.approx(half, rel=0.1)


def test_different_test_words_are_not_paired(tmp_path, runs):
    other = reader_run(tmp_path, "feds", 0, TRUE, [f"other/{n}" for n in range(len(TRUE))])
    with pytest.raises(RunError, match="different words"):
        word_difference([*runs, other], "words-tune_feds", "words-tune_ls-ed", "TED")
    with pytest.raises(RunError, match="different words"):
        changes(runs[0], other)
