"""Embeddings: the points of a run in the plane, with pictures, neighbours, a lasso, a second run and their training."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from dashboard.pages import place
from dashboard.parts.access import may_change
from dashboard.parts.bring import offer_bringing, project_runs
from dashboard.parts.layout import show_tabs
from dashboard.parts.links import run_links
from dashboard.parts.menus import one_of, run_titles
from dashboard.parts.points import show_points
from dashboard.parts.runs import all_runs, devices, own_first, places, say_if_unknown, warn_about_problems
from dashboard.parts.text import as_text
from labkit.data.files import DataError
from labkit.explorers.columns import side_by_side
from labkit.explorers.embedding import ExplorerData, explorer_data
from labkit.explorers.embedding.choice import projections_of, same_samples
from labkit.explorers.embedding.data import MOST_COLORS, Grouping
from labkit.explorers.embedding.groups import CORRECT, correctness, groupings, matching
from labkit.explorers.film.streamlit import film_player
from labkit.runs import Run, RunError
from labkit.runs.film import Film, read_film
from labkit.runs.run import Stamp
from labkit.runs.schema import PROJECTIONS

ALONE = "none"
AT_ONCE = 10  # runs that one press of a button projects
FIRST = ("emoji_pnp-dq", "omniglot_pnp-dq")  # groups to begin with, where there are such runs


@st.cache_resource(max_entries=12, show_spinner="Reading the points …")
def read_points(_run: Run, files: Stamp, projection: str) -> tuple[ExplorerData, dict[str, Grouping | None]]:
    """Points and what their colours may stand for; files: the run's stamp, for the cache."""
    data = explorer_data(_run, projection)
    return data, groupings(_run, data)


@st.cache_resource(max_entries=24, show_spinner="Sorting the points …")
def colored_points(_run: Run, files: Stamp, projection: str, by: str) -> ExplorerData:
    """The points with the colours asked for."""
    data, found = read_points(_run, files, projection)
    return replace(data, grouping=correctness(data) if by == CORRECT else found.get(by))


@st.cache_resource(max_entries=8, show_spinner="Reading the frames …")
def cached_film(_run: Run, files: Stamp) -> Film | None:
    """The frames of a run, None if it has none that can be drawn."""
    return read_film(_run)


def page() -> None:
    """Choose runs, projection and colours; then the points, or how they moved in training."""
    st.title("Embeddings")
    everything = all_runs()
    warn_about_problems(everything)
    readable = own_first(run for run in everything if not run.problems)
    offered = {run.id: run for run in readable if projections_of(run)}
    absent = [run for run in readable if run.id not in offered]
    if offered:
        show_chosen(offered)
    else:
        st.info(
            f"There is no run with embeddings and a projection in {places()}. "
            "`python -m labkit train toy` trains one, `python -m labkit project ID` projects it.",
            icon=":material/info:",
        )
    if may_change():
        offer_bringing()
    explain_absent(absent)


def show_chosen(offered: dict[str, Run]) -> None:
    """The menus in one row, and what is chosen by them."""
    say_if_unknown("run", offered)
    columns = side_by_side("choose", [4, 4, 2, 4, 3], 130)
    run, beside = choose_runs(offered, columns[0], columns[1])
    methods = projections_of(run)
    projection = columns[2].selectbox(
        "Projection",
        methods,
        methods.index("umap") if "umap" in methods else 0,
        key="projection",
        bind="query-params",
        format_func=str.upper,
    )
    try:
        data, found = read_points(run, run.stamp(), projection)
        start = list(found).index(first_colour(data, found))
        by = columns[3].selectbox("Colours stand for", list(found), start, key="colour", bind="query-params")
        panels = [colored_points(run, run.stamp(), projection, by)]
    except (RunError, DataError, OSError) as error:
        st.error(as_text(str(error)))
        return
    if beside is not None:
        try:
            panels.append(colored_points(beside, beside.stamp(), projection, by))
        except (RunError, DataError, OSError) as error:
            st.warning(f"The second run is left out. {as_text(str(error))}")
            beside = None
    search = columns[4].text_input(
        "Find classes",
        key="find",
        bind="query-params",
        placeholder=panels[0].classes[0][:40],
        help="A part of the name is enough; commas separate several. Matches are coloured, all other points grey.",
    )
    if matching(panels[0], search) == []:
        st.warning("No class has this in its name. Clear the search box to see all.")
    shown = [one for one in (run, beside) if one is not None]
    views = {"Points": lambda: show_points(panels, search)}
    if any(one.has("frames.safetensors") for one in shown):
        show_tabs(views | {"During training": lambda: show_films(shown)})
    else:
        views["Points"]()
    say_what_is_shown(panels[0], search, run)
    run_links(run, place, "embeddings")
    lacking = may_change() and "umap" not in methods and data.embeddings.shape[1] > 3
    if lacking and st.button("Project it by UMAP, too", icon=":material/scatter_plot:"):
        project_runs([run], ("umap",))


def choose_runs(offered: dict[str, Run], left: Any, right: Any) -> tuple[Run, Run | None]:
    """A run and, if wished, another of the same data beside it."""
    titles = run_titles(offered.values())
    usual = [run.id for group in FIRST for run in offered.values() if run.group == group]
    with left:
        run = offered[one_of(f"Run ({len(titles)} with a projection)", titles, [*usual, *titles][0], "run")]
    others = {name: other for name, other in offered.items() if other is not run and same_samples(run, other)}
    with right:
        chosen = one_of(
            "Beside it",
            {ALONE: ALONE} | {name: titles[name] for name in others},
            ALONE,
            "beside",
            help="A run of the same data; both select the same samples. Runs of other data are not offered.",
        )
    return run, others.get(chosen)


def say_what_is_shown(data: ExplorerData, search: str, run: Run) -> None:
    """How many points and classes match the search, of how many; and that numbers of some points are not the run's."""
    kept = matching(data, search)
    count = len(data) if kept is None else int(np.isin(data.labels, kept).sum())
    classes = len(data.classes) if kept is None else len(kept)
    tested = None if run.record.config.record.train_points else run.record.data.test
    of = f" of {tested:,} test items" if tested else ""
    st.caption(
        f"Showing {count:,} of the {len(data):,} recorded points{of}, {classes} of {len(data.classes)} classes. "
        f"Made on: {as_text(devices([run]))}. Points that lie together in the plane need not be neighbours: "
        "neighbours are looked for in the embedding space."
    )
    if data.grouping is not None and data.grouping.by == CORRECT:
        share, result = float((data.grouping.numbers == 0).mean()), run.value("R@1")
        whole = "" if result is None else f" The run's test R@1, among all test items, is {100 * result:.1f} %."
        st.caption(f"Queries answered right, among the points shown: {100 * share:.1f} %.{whole}")


def show_films(runs: list[Run]) -> None:
    """The frames of one run or of two."""
    try:
        films = [cached_film(run, run.stamp()) for run in runs if run.has("frames.safetensors")]
    except (RunError, OSError) as error:
        st.error(as_text(str(error)))
        return
    show_training([film for film in films if film is not None])


def first_colour(data: ExplorerData, found: dict[str, Grouping | None]) -> str:
    """The classes, or what has few enough values for a colour each: a grey plane says little."""
    few = [by for by, it in found.items() if by == CORRECT or len(it.names if it else data.classes) <= MOST_COLORS]
    return few[0] if few else next(iter(found))


def explain_absent(runs: list[Run]) -> None:
    """Runs that cannot be shown here, and what to do about them."""
    bare = [run for run in runs if run.has("embeddings.safetensors")]
    if not runs:
        return
    with st.expander(f"{len(runs):,} other runs have no points to show", icon=":material/info:"):
        if bare:
            st.markdown(f"{len(bare)} have embeddings but no projection to the plane: {names_of(bare)}.")
            first = bare[:AT_ONCE]
            if may_change() and st.button(
                f"Project {len(first)} of them" if len(bare) > 1 else "Project it", icon=":material/scatter_plot:"
            ):
                project_runs(first, PROJECTIONS)
        st.markdown(f"{len(runs) - len(bare):,} have kept no embeddings, or have not come that far yet.")


def names_of(runs: list[Run]) -> str:
    """The first few, for a sentence."""
    return as_text("; ".join(run_titles(runs[:AT_ONCE]).values())) + (" and others" if len(runs) > AT_ONCE else "")


def in_url(name: str, low: int, high: int, otherwise: int | None) -> int | None:
    """A whole number of the address, if it is one."""
    text = st.query_params.get(name, "")
    return int(text) if re.fullmatch(r"-?\d{1,9}", text) and low <= int(text) <= high else otherwise


@st.fragment
def show_training(films: list[Film]) -> None:
    """The frames as a film; two runs go along the same steps and turn together. Step and angles are in the address."""
    begin = {
        "step": in_url("step", 0, 10**9, None),
        "turn": in_url("turn", -180, 180, 45),
        "tilt": in_url("tilt", -90, 90, 35),
    }
    view = film_player(*films, key="film", view=begin)
    turns = any(film.kind == "sphere" for film in films)
    for name, value in view.items():
        if value != begin[name] and (turns or name == "step"):
            st.query_params[name] = str(value)
    hint = " Drag to turn the sphere, or use the arrow keys." if turns else ""
    flat = " Of more than three dimensions the two main directions of the last frame are drawn, in all frames the same."
    plane = flat if any(film.kind == "plane" for film in films) else ""
    st.caption(
        f"Every point is a direction, as cosine similarity sees it.{plane} Colours and shapes stand for classes. R@1 "
        f"is among the points shown, which are fewer than those of the run's test.{hint}"
    )
    with st.expander("The frames as a table", icon=":material/table:"):
        for film in films:
            st.dataframe(film.table, hide_index=True, alt=f"R@1 at every recorded step of {film.title}.")
