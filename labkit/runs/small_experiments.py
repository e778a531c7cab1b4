"""Experiments of seconds a run, kept as one table of results: tuning on the IoU of boxes and on the nDCG of lists."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from labkit.base.checks import check_choice
from labkit.base.paths import RECORDED
from labkit.runs.compare import t_interval

if TYPE_CHECKING:
    import pandas as pd

MEASURED = {"boxes": "mean_iou", "lists": "ndcg"}  # the table's name, and its column


def outcomes(name: str, folder: Path = RECORDED) -> pd.DataFrame:
    """One row for each start and loss, in the order of the table: start, loss, n, mean, low, high, values.

    low and high: Student's 95 % interval over seeds, NaN for a single one. start is "" where there is only one.
    """
    import pandas as pd

    check_choice("name", name, tuple(MEASURED))
    rows = pd.read_csv(folder / f"{name}.csv")
    if "start" not in rows:
        rows["start"] = ""
    found = []
    for (start, loss), here in rows.groupby(["start", "loss"], sort=False):
        values = here[MEASURED[name]].to_numpy(float)
        low, high = t_interval(values)
        found.append(
            {"start": start, "loss": loss, "n": len(values), "mean": values.mean(), "low": low, "high": high}
            | {"values": tuple(values)}
        )
    return pd.DataFrame(found)
