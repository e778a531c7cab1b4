"""Embeddings: the points of a run in the plane, with pictures, neighbours, a lasso, a second run and their training."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st
from common import all_runs, as_text, devices, roots, warn_about_problems

from labkit.data.files import DataError
from labkit.explorers.columns import side_by_side
from labkit.explorers.embedding import ExplorerData, explorer_data
from labkit.explorers.embedding.choice import projections_of, same_samples, stamp
from labkit.explorers.embedding.data import MOST_COLORS, Grouping, nearest
from labkit.explorers.embedding.film import Film, read_film
from labkit.explorers.embedding.grid import picture_grid
from labkit.explorers.embedding.groups import (
    CORRECT,
    correctness,
    first_neighbours,
    groupings,
    matching,
    neighbour_table,
)
from labkit.explorers.embedding.streamlit import LEAST, embedding_explorer, film_player, selection_key
from labkit.runs import Run, RunError

KEY = "points"
ALONE = "none"
POINTS, TRAINING = "Points", "During training"
MOST_PICTURES = 60
FIRST = ("omniglot_pnp-dq", "emoji_pnp-dq")  # groups to begin with, where there are such runs
MOST_IN_URL = 20  # selected ids; more would make an address that cannot be sent
SELECTION = selection_key(KEY)


@st.cache_resource(max_entries=12, show_spinner="Reading the points …")
def read_points(_run: Run, files: tuple[str, ...], projection: str) -> tuple[ExplorerData, dict[str, Grouping | None]]:
    data = explorer_data(_run, projection)
    return data, groupings(_run, data)


@st.cache_resource(max_entries=24, show_spinner="Sorting the points …")
def colored_points(_run: Run, files: tuple[str, ...], projection: str, by: str) -> ExplorerData:
    data, found = read_points(_run, files, projection)
    return replace(data, grouping=correctness(data) if by == CORRECT else found.get(by))


@st.cache_resource(max_entries=8, show_spinner="Reading the frames …")
def cached_film(_run: Run, files: tuple[str, ...]) -> Film | None:
    return read_film(_run)


def first_colour(data: ExplorerData, found: dict[str, Grouping | None]) -> str:
    """The classes, or what has few enough values for a colour each: a grey plane says little."""
    few = [by for by, it in found.items() if by == CORRECT or len(it.names if it else data.classes) <= MOST_COLORS]
    return few[0] if few else next(iter(found))


def explain_absent(runs: list[Run]) -> None:
    """Runs that cannot be shown here, and what to do about them."""
    bare = [run.id for run in runs if run.has("embeddings.safetensors")]
    if not runs:
        return
    with st.expander(f"{len(runs):,} other runs have no points to show", icon=":material/info:"):
        if bare:
            st.markdown(f"{len(bare)} have embeddings but no projection. These commands make one:")
            st.code("\n".join(f"python -m labkit project {name}" for name in bare[:20]), language="bash")
            st.caption(f"Showing {min(20, len(bare))} of {len(bare)}.")
        st.markdown(f"{len(runs) - len(bare):,} have kept no embeddings, or are not so far yet.")


def set_typed_sample() -> None:
    st.session_state[SELECTION] = [st.session_state["sample"].strip()]


@st.fragment
def show_points(panels: list[ExplorerData], search: str) -> None:
    """The explorers and, beneath them, what is selected; a selection runs only this again."""
    chosen = st.session_state.setdefault(SELECTION, st.query_params.get_all("selected"))
    st.session_state[SELECTION] = [name for name in chosen if any(name in data.row for data in panels)]
    selected = embedding_explorer(*panels, key=KEY, height=520, search=search, below=True)
    short = selected if len(selected) <= MOST_IN_URL else []
    if short != st.query_params.get_all("selected"):
        st.query_params["selected"] = short
    if not selected:
        st.caption("Click a point to see its nearest neighbours here, or draw a lasso to see all that it holds.")
    for data, column in zip(panels, side_by_side("found", len(panels), LEAST) if selected else []):
        with column:
            if len(panels) > 1:
                st.markdown(f"**{as_text(data.title)}**")
            if len(selected) == 1:
                show_neighbours(data, selected[0])
            else:
                show_group(data, selected)
    show_table(panels[0], search)


def show_neighbours(data: ExplorerData, name: str) -> None:
    """The nearest of one sample in the embedding space, as pictures and as a table."""
    found = nearest(data, name)
    if not found:
        st.info("This sample is not among the points of this run's projection.")
        return
    query, rows = data.row[name], [data.row[other] for other in found["ids"]]
    same = [bool(data.labels[row] == data.labels[query]) for row in rows]
    cosines = [f"{value:.3f}" for value in found["similarities"]]
    st.markdown(
        f"Nearest neighbours of **{as_text(data.classes[data.labels[query]])}** ({as_text(name)}) in the embedding "
        f"space, by cosine similarity: {sum(same)} of {len(same)} are of its class."
    )
    names = [data.classes[data.labels[row]] for row in rows]
    table = {"rank": range(1, len(rows) + 1), "id": found["ids"], "class": names, "cosine similarity": cosines}
    st.dataframe(table | {"same class": ["✓" if s else "✗" for s in same]}, hide_index=True, height="content")


def show_group(data: ExplorerData, selected: list[str]) -> None:
    """Pictures of what a lasso holds, each marked by whether its nearest neighbour is of its class."""
    rows = [data.row[name] for name in selected if name in data.row]
    shown = np.array(rows[:MOST_PICTURES], dtype=np.int64)
    near, _ = first_neighbours(data, shown)
    same = [bool(right) for right in data.labels[near] == data.labels[shown]]
    st.markdown(
        f"Showing {len(shown)} of {len(rows):,} selected. ✓ and a solid frame: its nearest neighbour is of its class "
        f"({sum(same)} of {len(shown)}). ✗ and dashes: it is not."
    )
    meaning = ("nearest neighbour of the same class", "nearest neighbour of another class")
    st.html(picture_grid(data, shown.tolist(), same, [""] * len(shown), meaning))


@st.cache_resource(max_entries=8, show_spinner=False)
def cached_table(_data: ExplorerData, digest: str, search: str) -> tuple[pd.DataFrame, int]:
    table, count = neighbour_table(_data, search)
    return pd.DataFrame(table), count


def show_table(data: ExplorerData, search: str) -> None:
    """The points and a way to select one, for those who cannot use a plot."""
    with st.expander("The points as a table, and one by its id", icon=":material/table:"):
        typed = st.text_input(
            "Select a sample by its id", key="sample", on_change=set_typed_sample, placeholder=data.ids[0]
        ).strip()
        if typed and typed not in data.row:
            st.warning(f"No sample here has the id {as_text(typed, 80)}.")
        table, count = cached_table(data, data.digests[0], search)
        st.caption(
            f"{as_text(data.title)}: showing {len(table):,} of {count:,} points that match, {len(data):,} in all."
        )
        st.dataframe(
            table, hide_index=True, alt="Every point, its class, its nearest neighbour, and whether it is right."
        )


def in_url(name: str, low: int, high: int, otherwise: int | None) -> int | None:
    """A whole number of the address, if it is one."""
    text = st.query_params.get(name, "")
    return int(text) if re.fullmatch(r"-?\d{1,9}", text) and low <= int(text) <= high else otherwise


@st.fragment
def show_training(films: list[Film]) -> None:
    """The frames as a film; two runs go along the same steps and turn together. Step and angles are in the address."""
    begin = {"step": in_url("step", 0, 10**9, None), "turn": in_url("turn", -180, 180, 45),
             "tilt": in_url("tilt", -90, 90, 35)}  # fmt: skip
    view = film_player(*films, key="film", view=begin)
    turns = any(film.turns for film in films)
    for name, value in view.items():
        if value != begin[name] and (turns or name == "step"):
            st.query_params[name] = str(value)
    hint = " Drag to turn the sphere, or use the arrow keys." if turns else ""
    st.caption(f"Every point is a direction, as cosine similarity sees it. Colours and shapes stand for classes.{hint}")
    with st.expander("The frames as a table", icon=":material/table:"):
        for film in films:
            st.dataframe(film.table, hide_index=True, alt=f"R@1 at every recorded step of {film.title}.")


st.title("Embeddings")
everything = all_runs()
warn_about_problems(everything)
readable = sorted((run for run in everything if not run.problems), key=lambda run: run.id)
offered = {run.id: run for run in readable if projections_of(run)}
absent = [run for run in readable if run.id not in offered]
if not offered:
    st.info(
        f"There is no run with embeddings and a projection in {', '.join(f'`{path}`' for path in roots())}. "
        "`python -m labkit train toy` trains one, `python -m labkit project ID` projects it.",
        icon=":material/info:",
    )
    explain_absent(absent)
    st.stop()
left, right = side_by_side("runs", 2, 340)
names = list(offered)
begin = next((names.index(run.id) for group in FIRST for run in offered.values() if run.group == group), 0)
run = offered[left.selectbox(f"Run ({len(names)} with a projection)", names, begin, key="run", bind="query-params")]
comparable = {ALONE: None} | {name: o for name, o in offered.items() if o is not run and same_samples(run, o)}
beside = comparable[right.selectbox(
    "Beside it, a run of the same data", list(comparable), key="beside", bind="query-params",
    help="Both select the same samples. Runs of other data are not offered.",
)]  # fmt: skip
first, second, third = st.columns([2, 5, 4])
projection = first.selectbox(
    "Projection", projections_of(run), key="projection", bind="query-params", format_func=str.upper
)
try:
    data, found = read_points(run, stamp(run), projection)
    start = first_colour(data, found)
    by = second.selectbox(
        "Colours stand for", list(found), index=list(found).index(start), key="colour", bind="query-params"
    )
    panels = [colored_points(run, stamp(run), projection, by)]
except (RunError, DataError, OSError) as error:
    st.error(as_text(str(error)))
    st.stop()
if beside is not None:
    try:
        panels.append(colored_points(beside, stamp(beside), projection, by))
    except (RunError, DataError, OSError) as error:
        st.warning(f"The second run is left out. {as_text(str(error))}")
        beside = None
search = third.text_input(
    "Find classes by name", key="find", bind="query-params", placeholder=panels[0].classes[0][:40],
    help="A part of the name is enough; commas separate several. All other points become a faint background.",
)  # fmt: skip
kept = matching(panels[0], search)
data = panels[0]
count = len(data) if kept is None else int(np.isin(data.labels, kept).sum())
st.caption(
    f"Showing {count:,} of {len(data):,} points, {len(data.classes) if kept is None else len(kept)} of "
    f"{len(data.classes)} classes. Made on: {as_text(devices([run]))}. Points that lie together in the plane need not "
    "be neighbours: neighbours are looked for in the embedding space."
)
if kept == []:
    st.warning("No class has this in its name. Clear the search box to see all.")
points_tab, training_tab = st.tabs([POINTS, TRAINING], key="view", on_change="rerun", bind="query-params")
if points_tab.open:
    with points_tab:
        show_points(panels, search)
if training_tab.open:
    with training_tab:
        try:
            films = [cached_film(one, stamp(one)) for one in (run, beside) if one is not None]
        except (RunError, OSError) as error:
            st.error(as_text(str(error)))
            st.stop()
        drawn = [film for film in films if film is not None]
        if drawn:
            show_training(drawn)
        else:
            st.info(
                "Embeddings of more than three dimensions cannot be drawn as they are. Train with `--set model.dim=3 "
                "record.frames=40` to watch them move; the recorded runs of `toy` and `fashion-mnist-3d` were."
            )
explain_absent(absent)
