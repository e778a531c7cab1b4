"""The embedding explorer in a Streamlit page."""

from __future__ import annotations

from labkit.explorers.columns import side_by_side
from labkit.explorers.embedding.data import ExplorerData, nearest
from labkit.explorers.embedding.groups import matching
from labkit.explorers.hosts import EMBEDDING, streamlit_blob, streamlit_component

LEAST = 370  # pixels of a panel beside another


def embedding_explorer(
    *panels: ExplorerData, key: str, height: int = 460, search: str = "", below: bool = False, pictures: bool = False
) -> list[str]:
    """Show one explorer, or several side by side that select the same samples, and return the selected ids.

    search: words in the names of classes; the points of all others become a faint background (see `matching`).
    below: the page shows what a lasso holds itself, so the explorer does not. pictures: some points are shown as theirs
    at first, where there are some.

    The selection is kept in `st.session_state[selection_key(key)]`; a page may set it before it calls this. The view
    stays through reruns, also where elements above come and go, which makes Streamlit mount the explorer anew.
    """
    import streamlit as st

    explorer, blob = streamlit_component(EMBEDDING), streamlit_blob()
    selected = [str(name) for name in st.session_state.setdefault(selection_key(key), [])]
    sheets: dict[str, bytes] = {}
    with st.container(gap=None):  # what keeps the bytes takes no room
        for number, (data, column) in enumerate(zip(panels, side_by_side(f"{key}-panels", len(panels), LEAST))):
            points, sheet = data.digests
            sheets[sheet] = data.sheet.data
            with column:
                explorer(
                    key=part(key, number),
                    data={
                        "points": points,
                        "sheet": sheet,
                        "selected": selected,
                        "near": nearest(data, selected[0]) if len(selected) == 1 else {},
                        "kept": matching(data, search),
                        "below": below,
                        "pictures": pictures,
                        "group": key if len(panels) > 1 else "",
                        "height": height,
                        "place": part(key, number),
                    },
                    on_selection_change=lambda number=number: take(key, number),
                )
        for number, data in enumerate(panels):
            blob(key=f"{part(key, number)}.points", data=data.digests[0].encode() + data.packed)
        for number, (name, content) in enumerate(sheets.items()):  # panels of one data set share their pictures
            blob(key=f"{part(key, number)}.sheet", data=name.encode() + content)
    return selected


def take(key: str, number: int) -> None:
    """What was selected in one panel is the selection of all."""
    import streamlit as st

    state = st.session_state[part(key, number)].get("selection") or {}
    st.session_state[selection_key(key)] = [str(name) for name in state.get("selected") or []]


def part(key: str, number: int) -> str:
    """The key of one panel."""
    return f"{key}.{number}"


def selection_key(key: str) -> str:
    """Where the selection is kept in `st.session_state`."""
    return f"{key}.selected"
