"""The results tables of the four papers, taken from the papers' text: one number a row.

Every column is text except `k` and `value`, which are float64. A text cell the paper does not state is "",
and a missing `k` is NaN. Needs pandas (`pip install labkit[papers]`), which is imported only when a table is read.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labkit.base.checks import check_choice
from labkit.base.paths import shipped

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("paper", "table", "dataset", "method", "backbone", "dim", "metric", "k", "value", "errata")


@dataclass(frozen=True)
class Paper:
    """Where a set of tables comes from. `url` is "" when the source has no address of its own."""

    key: str
    title: str
    authors: tuple[str, ...]
    venue: str
    year: int
    url: str

    @property
    def citation(self) -> str:
        """One line: authors, title, venue, year and address."""
        return f"{', '.join(self.authors)}. {self.title}. {self.venue}, {self.year}. {self.url}".rstrip()


PAPERS: dict[str, Paper] = {
    paper.key: paper
    for paper in (
        Paper(
            key="pnp",
            title=(
                "Rethinking the Optimization of Average Precision: "
                "Only Penalizing Negative Instances before Positive Ones is Enough"
            ),
            authors=(
                "Zhuo Li",
                "Weiqing Min",
                "Jiajun Song",
                "Yaohui Zhu",
                "Liping Kang",
                "Xiaoming Wei",
                "Xiaolin Wei",
                "Shuqiang Jiang",
            ),
            venue="AAAI Conference on Artificial Intelligence",
            year=2022,
            url="https://doi.org/10.1609/aaai.v36i2.20042",
        ),
        Paper(
            key="mpa",
            title="Multi Proxy Anchor Family Loss for Several Types of Gradients",
            authors=("Shozo Saeki", "Minoru Kawahara", "Hirohisa Aman"),
            venue="arXiv preprint",
            year=2023,
            url="https://arxiv.org/abs/2110.03997",
        ),
        Paper(
            key="sgsl",
            title="Stop-Gradient Softmax Loss for Deep Metric Learning",
            authors=("Lu Yang", "Peng Wang", "Yanning Zhang"),
            venue="AAAI Conference on Artificial Intelligence",
            year=2023,
            url="https://doi.org/10.1609/aaai.v37i3.25421",
        ),
        Paper(
            key="slides",
            title="Training Neural Networks on Non-Differentiable Losses",
            authors=("Yash Patel",),
            venue="Slides, Visual Recognition Group, Czech Technical University in Prague",
            # The slides carry no date; the newest work they present is of CVPR 2022.
            year=2022,
            url="",
        ),
    )
}


def tables(paper: str | None = None) -> pd.DataFrame:
    """All rows of one paper, or of all four in the order of `PAPERS`; rows are in printed order."""
    import pandas as pd

    if paper is not None:
        check_choice("paper", paper, PAPERS)
    dtypes = {column: "float64" if column in ("k", "value") else "str" for column in COLUMNS}
    frames = [
        # Only an empty `k` is missing: a method or dataset may well be called "NA", and "" means "not stated".
        pd.read_csv(shipped() / "papers" / f"{key}.csv", dtype=dtypes, keep_default_na=False, na_values={"k": [""]})
        for key in ([paper] if paper is not None else PAPERS)
    ]
    return pd.concat(frames, ignore_index=True)


def _rows(paper: str, table: str, printed: bool = False) -> pd.DataFrame:
    rows = tables(paper)
    if printed:
        with (shipped() / "papers" / f"{paper}.csv").open(encoding="utf-8", newline="") as file:
            rows["value"] = [row["value"] for row in csv.DictReader(file)]
    check_choice("table", table, rows["table"].unique())
    return rows[rows["table"] == table].reset_index(drop=True)


def table(paper: str, table: str, printed: bool = False) -> pd.DataFrame:
    """The rows of one table, e.g. `table("pnp", "3")` or `table("slides", "rsk-results")`.

    printed: values are texts with the decimals of the paper, "90.0".
    """
    return _rows(paper, table, printed)


def pivot(paper: str, table: str, printed: bool = False, column: str = "value") -> pd.DataFrame:
    """One table as printed: a row per method, a column per (dataset, metric@k); NaN where the paper prints '-'.

    Where a method appears with several backbones or dimensions, the row's name ends with them: "SGSL, 512-d".
    printed: values are texts with the decimals of the paper, "90.0".
    column: what stands in a cell, the value or the ids of its "errata".
    """
    import pandas as pd

    rows = _rows(paper, table, printed)
    names = rows["method"].tolist()
    if len(rows[["method", "backbone", "dim"]].drop_duplicates()) > len(set(names)):
        if rows["backbone"].nunique() > 1:
            names = [f"{name}, {backbone}" if backbone else name for name, backbone in zip(names, rows["backbone"])]
        if rows["dim"].nunique() > 1:
            names = [f"{name}, {dim}-d" if dim else name for name, dim in zip(names, rows["dim"])]
    measures = [metric if pd.isna(k) else f"{metric}@{k:g}" for metric, k in zip(rows["metric"], rows["k"])]
    columns = list(zip(rows["dataset"], measures))
    # A row with gaps does not show where its missing columns stand, so the fullest row sets the order.
    fullest = pd.Series(names).value_counts(sort=False).idxmax()
    order = dict.fromkeys(column for name, column in zip(names, columns) if name == fullest)
    order |= dict.fromkeys(columns)
    cells = pd.Series(
        rows[column].to_numpy(),
        index=pd.MultiIndex.from_tuples(
            [(name, *column) for name, column in zip(names, columns)], names=["method", "dataset", "metric"]
        ),
    )
    wide = cells.unstack(["dataset", "metric"])
    return wide.reindex(
        index=pd.Index(list(dict.fromkeys(names)), name="method"),
        columns=pd.MultiIndex.from_tuples(list(order), names=["dataset", "metric"]),
    )


def errata() -> dict[str, str]:
    """Errors found in the four sources: id (as in docstrings, cards and tables) -> what is wrong."""
    with (shipped() / "papers" / "errata.csv").open(encoding="utf-8", newline="") as file:
        return {row["id"]: row["text"] for row in csv.DictReader(file)}
