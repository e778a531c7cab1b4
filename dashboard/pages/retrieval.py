"""Retrieval: a query and its nearest points in up to three runs, where its positives are, and the hardest queries."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard.pages import place
from dashboard.parts.links import run_links
from dashboard.parts.menus import one_of, run_titles, some_of
from dashboard.parts.runs import finished_runs, say_if_unknown
from dashboard.parts.text import as_text
from labkit.base.words import RIGHT, WRONG
from labkit.data.files import DataError
from labkit.explorers.embedding.sheet import NO_SHEET, Sheet, sheet_of
from labkit.figures.retrieval_grid import Cell, positive_ranks, row_html
from labkit.figures.style import QUERY
from labkit.runs import Run, RunError
from labkit.runs.retrieval import Found, Points, find, per_query, read_points, same_data
from labkit.runs.run import Stamp

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ORDERS = {"hardest first": True, "easiest first": False, "as recorded": None}  # by AP: whether ascending
APART = "where the runs differ most"
SHOWN = ("R@1", "R@5", "R@10", "AP", "nDCG@10")
MOST_RUNS = 3
EVERY = "all classes"


@st.cache_resource(max_entries=24, show_spinner=False)
def points_of(_run: Run, files: Stamp) -> Points | str:
    """The recorded points of a run, or what is wrong with them; files: its stamp, for the cache."""
    try:
        return read_points(_run)
    except RunError as error:
        return str(error)


@st.cache_data(max_entries=24, show_spinner="Ranking every query")
def queries_of(_points: Points, files: Stamp) -> pd.DataFrame | str:
    """Metrics of every query of a run, or why there are none."""
    try:
        return per_query(_points)
    except RunError as error:
        return str(error)


@st.cache_resource(max_entries=6, show_spinner=False)
def pictures_of(_run: Run, where: str, ids: tuple[str, ...]) -> tuple[NDArray[np.int32], Sheet] | None:
    """Cells of these ids and their sheet, None if there is none or a damaged one; where: of the run, for the cache."""
    try:
        cells, sheet = sheet_of(_run, ids)
        if sheet is not NO_SHEET:
            sheet.open()
            return cells, sheet
    except (DataError, OSError):
        pass
    return None


def page() -> None:
    """Choose data and runs, then a query."""
    st.title("Retrieval")
    groups = same_data(finished_runs())
    if not groups:
        st.info("No finished run has kept embeddings. Train one that does: `python -m labkit train toy`.")
        return
    runs = choose_runs(groups)
    if not runs:
        st.info("Choose a run.")
        return
    read = {}
    for name, run in runs.items():
        points = points_of(run, run.stamp())
        if isinstance(points, str):
            st.warning(f"This run cannot be used: {as_text(points)}")
        else:
            read[name] = (run, points)
    if read:
        st.caption(
            f"Rankings are {next(iter(read.values()))[1].told}, by cosine similarity. "
            "There are fewer items to confuse, so the numbers differ from the run's test metrics."
        )
        if len({points.ids for _, points in read.values()}) > 1:
            st.warning("These runs have recorded different points: their ranks and metrics cannot be compared.")
        explore(read)


def choose_runs(groups: dict[str, list[Run]]) -> dict[str, Run]:
    """Data, and up to three runs of it, by their names for people."""
    find_data(groups)
    left, right = st.columns([1, 2])
    data = left.selectbox(
        "Data and setting",
        list(groups),
        key="data",
        bind="query-params",
        on_change=lambda: st.session_state.pop("runs", None),  # other data, other runs: begin with two of them again
    )
    runs = {run.id: run for run in groups[data]}
    label = f"Runs to compare (up to {MOST_RUNS} of {len(runs)})"
    titles = run_titles(runs.values())
    with right:
        chosen = some_of(label, titles, start_with(groups[data]), "runs", max_selections=MOST_RUNS)
    return {titles[name]: runs[name] for name in chosen}


def find_data(groups: dict[str, list[Run]]) -> None:
    """An address that names runs only: choose their data, and say which of them are not here."""
    asked = st.query_params.get_all("runs")
    if "data" not in st.session_state and "data" not in st.query_params:
        holding = [name for name, runs in groups.items() if any(run.id in asked for run in runs)]
        if holding:
            st.session_state["data"] = holding[0]
    say_if_unknown("runs", {run.id for runs in groups.values() for run in runs})


def start_with(runs: list[Run]) -> list[str]:
    """The run with the highest test R@1, and beside it the untrained network."""
    ordered = sorted(runs, key=lambda run: run.value("R@1") or 0.0, reverse=True)
    control = [run for run in ordered if run.loss == "untrained"]
    return list(dict.fromkeys(run.id for run in [*ordered[:1], *control[:1], *ordered[1:2]]))[:2]


def go_to(name: str | None) -> None:
    """Before the page is drawn anew: another query."""
    if name is not None:
        st.session_state["query"] = name


def choose_query(tables: dict[str, pd.DataFrame], name: str) -> tuple[str, pd.DataFrame]:
    """Menus of class, order and query; the chosen id, and the table of the first run, of this name, in that order."""
    table = tables[name]
    left, middle, right = st.columns([2, 1, 1])
    names = [EVERY, *sorted(table["class"].unique())]
    wanted = left.selectbox("Class (type to search)", names, key="class", bind="query-params")
    orders = [*ORDERS, *([APART] if len(tables) > 1 else [])]
    order = middle.selectbox("Order of queries", orders, key="order", bind="query-params")
    right.slider("Found items shown", 5, 30, 10, key="top", bind="query-params")
    some = table if wanted == EVERY else table[table["class"] == wanted]
    ascending = ORDERS.get(order)
    if order == APART:
        some = some.iloc[gap(some, tables).argsort(kind="stable").to_numpy()[::-1]]
    elif ascending is not None:
        some = some.sort_values("AP", ascending=ascending, kind="stable")
    ids = list(some["id"])
    left, back, forth, chance = st.columns([4, 1, 1, 1], vertical_alignment="bottom")
    called = {name: f"{kind}, {name}" for name, kind in zip(ids, some["class"])}
    with left:
        chosen = one_of(f"Query: {len(ids):,} of {len(table):,}", called, ids[0], "query")
    place = ids.index(chosen)
    before, after = (ids[place - 1] if place else None), (ids[place + 1] if place + 1 < len(ids) else None)
    back.button("Previous", on_click=go_to, args=(before,), disabled=before is None, width="stretch")
    forth.button("Next", on_click=go_to, args=(after,), disabled=after is None, width="stretch")
    drawn = random.choice(ids)  # noqa: S311 (a picture to look at)
    chance.button("Random", on_click=go_to, args=(drawn,), width="stretch")
    if order == APART:
        st.caption(f"Number {place + 1:,} of {len(ids):,} by the largest difference in average precision (AP).")
    elif ascending is not None:
        st.caption(f"Number {place + 1:,} of {len(ids):,} by average precision (AP) in the first run, {as_text(name)}.")
    return chosen, some


def gap(some: pd.DataFrame, tables: dict[str, pd.DataFrame]) -> pd.Series[float]:
    """Of every query the largest AP of the runs minus the smallest; 0 where only one run has it."""
    values = pd.DataFrame({name: some["id"].map(table.set_index("id")["AP"]) for name, table in tables.items()})
    return values.max(axis=1) - values.min(axis=1)


def cells_of(points: Points, query: int, found: Found, count: int, run: Run) -> list[Cell]:
    """The query and the first items found, with their pictures where the data set has some."""
    rows = [query, *found.order[:count].tolist()]
    sheet = pictures_of(run, str(run.path), points.ids)
    shown = sheet[1].pictures(sheet[0][rows].tolist()) if sheet else [""] * len(rows)
    names = [points.class_names[row] if sheet else f"{points.class_names[row]}: {points.ids[row]}" for row in rows]
    cells = [Cell(QUERY, names[0], points.ids[query], picture=shown[0])]
    for rank, row in enumerate(rows[1:]):
        detail, mark = f"similarity {found.similarity[rank]:.3f}", RIGHT if found.hit[rank] else WRONG
        cells.append(Cell(mark, names[rank + 1], points.ids[row], detail, str(rank + 1), shown[rank + 1]))
    return cells


def show_run(name: str, run: Run, points: Points, query: str) -> Found | None:
    """The row of one run; None, with the reason, if it has not recorded the query."""
    said, links = st.columns([2, 3], vertical_alignment="center")
    said.markdown(f"**{as_text(name)}**")
    with links:
        run_links(run, place, "retrieval")
    if query not in points.row:
        st.info("This run has not recorded this query. Choose a run that keeps the same points.")
        return None
    found = find(points, points.row[query])
    cells = cells_of(points, points.row[query], found, st.session_state["top"], run)
    st.html(row_html(cells, f"What {name} finds for the query"))
    return found


def show_numbers(found: dict[str, Found], others: int) -> None:
    """Metrics of this query in every run, and where all its positives are."""
    st.dataframe(
        [
            {"run": name}
            | {metric: f"{100 * one.metrics[metric]:.1f} %" for metric in SHOWN if metric in one.metrics}
            | {"ranks of its positives": ", ".join(map(str, one.ranks))}
            for name, one in found.items()
        ],
        hide_index=True,
    )
    st.plotly_chart(
        positive_ranks({name: one.ranks for name, one in found.items()}, others),
        theme=None,
        key="ranks",
        alt="Ranks of all positives of this query, one row per run: "
        + "; ".join(f"{name}: {', '.join(map(str, one.ranks[:20]))}" for name, one in found.items()),
    )


def show_all(some: pd.DataFrame, total: int, tables: dict[str, pd.DataFrame]) -> None:
    """Every query in the chosen order, with its AP in each run."""
    wide = some[["id", "class", "first positive"]].copy()
    for name, table in tables.items():
        wide[f"AP of {name} (%)"] = some["id"].map(table.set_index("id")["AP"]).mul(100).round(1)
    st.caption(f"Showing {len(some):,} of {total:,} queries. First positive: its rank in the first run.")
    st.dataframe(wide, hide_index=True, height=320)


@st.fragment
def explore(read: dict[str, tuple[Run, Points]]) -> None:
    """All that changes with the query."""
    tables: dict[str, pd.DataFrame] = {}
    for name, (run, points) in read.items():
        found = queries_of(points, run.stamp())
        if isinstance(found, str):
            st.warning(f"{as_text(name)}: {as_text(found)}")
        else:
            tables[name] = found
    if not tables:
        return
    first = next(iter(tables))
    table = tables[first]
    query, some = choose_query(tables, first)
    st.caption("✓ and a solid frame: the query's class. ✗ and a dashed frame: another class. Under the cursor: its id.")
    rows = {name: show_run(name, *read[name], query) for name in tables}
    show_numbers({name: row for name, row in rows.items() if row is not None}, read[first][1].others)
    with st.expander("All queries, in this order", icon=":material/list:"):
        show_all(some, len(table), tables)
