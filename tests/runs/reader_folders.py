"""Run directories of readers of words for tests: a base, and arms that were tuned from it."""

import json

import pandas as pd
from run_folders import make_run, summary_of

from labkit.metrics import evaluate_words
from labkit.runs.read import read_run

TRUE = ["lion", "tiger", "ant", "bee"] * 5


def tuned_run(root, loss, seed, read, *, words=TRUE, ids=None, reader="base", overrides=None):
    """A finished run of the preset words-tune that read these words."""
    chosen = dict(overrides or {}) | ({"data.reader": reader} if reader != "base" else {})
    config = {"preset": "words-tune", "loss": loss, "data": {"reader": reader, "test": len(words), "distortion": 1.0}}
    name = "-".join([loss, reader, *map(str, (overrides or {}).values())])
    folder = make_run(root, f"{name}-s{seed}", preset="words-tune", loss=loss, overrides=chosen, config=config)
    (folder / "summary.json").write_text(json.dumps(summary_of(test=evaluate_words(read, words))))
    rows = {"id": ids or [f"test/{n}" for n in range(len(words))], "label": range(len(words)), "class_name": words}
    pd.DataFrame(rows | {"split": "test", "read": read}).to_parquet(folder / "samples.parquet")
    return read_run(folder)
