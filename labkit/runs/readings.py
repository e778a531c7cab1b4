"""What readers of words read: arms side by side, word by word, and differences that count both seeds and words.

A difference between two ways of training varies with the seed and with the words that happen to be tested. The first
has Student's interval over seeds, the second a paired bootstrap: words are drawn anew, both readers on the same ones,
the mean over seeds in each word. The interval that is shown is the wider one on either side, so it is never narrower
than either source of chance alone allows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from labkit.base.checks import check_choice
from labkit.runs.compare import BOOTSTRAP_SEED, Interval, PairedDifference, by_seed, meant, paired_difference
from labkit.runs.contents import read_parquet, read_samples
from labkit.runs.run import Run
from labkit.runs.schema import RunError
from labkit.runs.variant import Variant

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

METRICS = ("Acc", "NED", "TED")
RESAMPLES = 2_000
COLUMNS = ("arm", "loss", "seed", "reader", "steps", *METRICS, "cpu_seconds", "run_id", "variant")


def arm_table(runs: Iterable[Run], preset: str) -> pd.DataFrame:
    """One row a finished run of a preset, by arm and seed; `COLUMNS`: cpu_seconds counts training and measuring."""
    import pandas as pd

    rows = []
    for run in runs:
        if run.preset != preset or run.status != "finished" or run.summary is None or run.problems:
            continue
        values = {metric: run.value(metric, "test") for metric in METRICS}
        reader = run.record.config.data.get("reader", "")
        facts = (run.variant.title, run.loss, run.seed, reader, run.summary.steps)
        rows.append((*facts, *values.values(), run.summary.cpu_seconds, run.id, run.variant))
    frame = pd.DataFrame(rows, columns=COLUMNS)
    return frame.sort_values(["arm", "seed"], ignore_index=True)


def readings(run: Run) -> pd.DataFrame:
    """One row a test word of a run: id, word, read, distance (edits from one to the other)."""
    import pandas as pd
    from rapidfuzz.distance import Levenshtein  # not metrics.edit_distances: pages must not load torch
    from rapidfuzz.process import cpdist

    samples = read_samples(run)
    if "read" not in samples:
        raise RunError(f"run {run.id} did not keep what it read: it trains no reader of words")
    read, words = samples["read"].astype(str).tolist(), samples["class_name"].astype(str).tolist()
    distance = cpdist(read, words, scorer=Levenshtein.distance, dtype=np.int64)
    return pd.DataFrame({"id": samples["id"].astype(str), "word": words, "read": read, "distance": distance})


def changes(before: Run, after: Run) -> pd.DataFrame:
    """The test words of two runs side by side: id, word, before, after, distance_before, distance_after."""
    first, second = readings(before), readings(after)
    check_same_words(before, first, after, second)
    second = second.rename(columns={"read": "after", "distance": "distance_after"}).drop(columns=["id", "word"])
    return first.rename(columns={"read": "before", "distance": "distance_before"}).join(second)


def check_same_words(one: Run, first: pd.DataFrame, other: Run, second: pd.DataFrame) -> None:
    """Both runs were tested on the same words, in the same order."""
    if first["id"].tolist() != second["id"].tolist():
        raise RunError(f"runs {one.id} and {other.id} were tested on different words: they cannot be paired")


def approximation(run: Run) -> pd.DataFrame:
    """How good a learned surrogate is on pairs it has not learned from: kind, exact (e), estimate (ê), gradient_norm.

    kind: "reader", what the tuned reader makes of test words, or "generator", random pairs of test words.
    """
    table = read_parquet(run, "approximation.parquet", ("id", "kind", "exact", "estimate", "gradient_norm"))
    frame: pd.DataFrame = table.replace_schema_metadata(None).to_pandas()
    return frame


def scores(run: Run, metric: str) -> NDArray[np.float64]:
    """What each test word adds to a metric, (words,): Acc and NED are their mean, TED is their sum."""
    check_choice("metric", metric, METRICS)
    found = readings(run)
    distance: NDArray[np.float64] = found["distance"].to_numpy(dtype=float)
    longer = np.array([max(len(word), len(read), 1) for word, read in zip(found["word"], found["read"])])
    by_metric: dict[str, NDArray[np.float64]] = {
        "Acc": np.equal(distance, 0).astype(float),
        "NED": 1 - distance / longer,
        "TED": distance * len(distance),  # so that the mean is the sum
    }
    return by_metric[metric]


def over_words(differences: NDArray[np.float64]) -> Interval:
    """The 95 % interval of the mean of (seeds, words) differences when words are drawn anew."""
    by_word = differences.mean(axis=0)
    rng = np.random.default_rng(BOOTSTRAP_SEED)
    means = [by_word[rng.integers(len(by_word), size=len(by_word))].mean() for _ in range(RESAMPLES)]
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def word_difference(
    runs: Iterable[Run], group: Variant | str, baseline: Variant | str, metric: str = "TED"
) -> PairedDifference:
    """A group minus a baseline, as `compare.paired_difference`, its interval widened by the bootstrap over words.

    Runs that did not keep what they read have the interval over seeds alone.
    """
    runs = list(runs)
    found = paired_difference(runs, group, baseline, metric)
    chosen, _ = by_seed(runs, metric, "test")
    sides = [chosen[meant(side, chosen, "group")] for side in (found.group, found.baseline)]
    pairs = [(sides[0][seed], sides[1][seed]) for seed in found.seeds]
    if not all(run.has("samples.parquet") for pair in pairs for run in pair):
        return found
    for ours, theirs in pairs:
        check_same_words(ours, readings(ours), theirs, readings(theirs))
    low, high = over_words(np.stack([scores(ours, metric) - scores(theirs, metric) for ours, theirs in pairs]))
    if len(pairs) < 2:
        return replace(found, low=low, high=high)
    return replace(found, low=min(low, found.low), high=max(high, found.high))
