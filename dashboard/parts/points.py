"""The explorers of the Embeddings page and, beneath them, what is selected: neighbours, pictures, a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.parts.address import for_address, from_address
from dashboard.parts.text import as_text
from labkit.explorers.columns import side_by_side
from labkit.explorers.embedding import ExplorerData
from labkit.explorers.embedding.data import nearest
from labkit.explorers.embedding.grid import picture_grid
from labkit.explorers.embedding.groups import first_neighbours, neighbour_table
from labkit.explorers.embedding.streamlit import LEAST, embedding_explorer, selection_key

KEY = "points"
SELECTION = selection_key(KEY)
HEIGHT = 500  # pixels of the plane
A_PAGE = 60  # pictures of a lasso


@st.fragment
def show_points(panels: list[ExplorerData], search: str) -> None:
    """The explorers and, beneath them, what is selected; a selection runs only this again."""
    if SELECTION not in st.session_state:
        st.session_state[SELECTION] = from_address(st.query_params.get_all("selected"), panels[0].ids)
    chosen = st.session_state[SELECTION]
    st.session_state[SELECTION] = [name for name in chosen if any(name in data.row for data in panels)]
    selected = embedding_explorer(*panels, key=KEY, height=HEIGHT, search=search, below=True, pictures=True)
    address = for_address(selected, panels[0].ids)
    if address != st.query_params.get_all("selected"):
        st.query_params["selected"] = address
    if selected and not address:
        st.caption("So many do not fit into the address of this page: save them as CSV to hand them on.")
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
    """Pictures of what a lasso holds, page by page, each marked by whether its nearest neighbour is of its class."""
    rows = [data.row[name] for name in selected if name in data.row]
    pages = max(1, -(-len(rows) // A_PAGE))
    words, turn, save = st.columns([5, 2, 2], vertical_alignment="bottom")
    number = 1
    if pages > 1:
        number = int(turn.number_input(f"Page of {pages:,}", 1, pages, key=f"page of {data.digests[0][:8]}"))
    shown = np.array(rows[(number - 1) * A_PAGE : number * A_PAGE], dtype=np.int64)
    near, _ = first_neighbours(data, shown)
    same = [bool(right) for right in data.labels[near] == data.labels[shown]]
    first = (number - 1) * A_PAGE + 1
    words.markdown(
        f"{first:,} to {first + len(shown) - 1:,} of {len(rows):,} selected. ✓ and a solid frame: its nearest "
        f"neighbour is of its class ({sum(same)} of {len(shown)}). ✗ and dashes: it is not."
    )
    save.download_button(
        "Save all as CSV",
        lambda: as_csv(data, rows),
        "selection.csv",
        "text/csv",
        icon=":material/download:",
        on_click="ignore",
        key=f"csv of {data.digests[0][:8]}",
    )
    meaning = ("nearest neighbour of the same class", "nearest neighbour of another class")
    st.html(picture_grid(data, shown.tolist(), same, meaning))


def as_csv(data: ExplorerData, rows: list[int]) -> str:
    """The selected samples: id, class, group, place in the plane, nearest neighbour."""
    near, cosines = first_neighbours(data, np.array(rows, dtype=np.int64))
    columns: dict[str, list[Any]] = {
        "id": [data.ids[row] for row in rows],
        "class": [data.classes[data.labels[row]] for row in rows],
        "x": data.xy[rows, 0].tolist(),
        "y": data.xy[rows, 1].tolist(),
        "nearest_neighbour": [data.ids[row] for row in near],
        "its_class": [data.classes[data.labels[row]] for row in near],
        "cosine": cosines.tolist(),
    }
    if data.grouping is not None:
        columns[data.grouping.by] = [data.grouping.names[data.grouping.numbers[row]] for row in rows]
    return pd.DataFrame(columns).to_csv(index=False)


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


@st.cache_resource(max_entries=8, show_spinner=False)
def cached_table(_data: ExplorerData, digest: str, search: str) -> tuple[pd.DataFrame, int]:
    """The rows that match a search, and how many there are; digest: of the data, for the cache."""
    table, count = neighbour_table(_data, search)
    return pd.DataFrame(table), count


def set_typed_sample() -> None:
    """Before the page is drawn anew: select the sample whose id was typed."""
    st.session_state[SELECTION] = [st.session_state["sample"].strip()]
