"""Menus whose entries have names for people, while the address holds ids, which stay the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import streamlit as st

from dashboard.parts.text import distinct
from labkit.runs import Run


def run_titles(runs: Iterable[Run]) -> dict[str, str]:
    """What runs are called for people, by their ids: "omniglot: PNP-D_q, α = 4, seed 0"."""
    return distinct({run.id: str(run) for run in runs})


def one_of(label: str, titles: Mapping[str, str], first: str, key: str, **look: Any) -> str:
    """A menu of one entry, by its id; first: the one that is chosen where the address says nothing."""
    show(key, recall(titles, [first], key)[0])
    chosen: str = st.selectbox(label, list(titles), key=key, format_func=titles.__getitem__, **look)
    write_address(key, [chosen], [first])
    return chosen


def some_of(label: str, titles: Mapping[str, str], first: list[str], key: str, **look: Any) -> list[str]:
    """A menu of several entries, by their ids; first: those that are chosen where the address says nothing."""
    show(key, recall(titles, first, key)[: look.get("max_selections")])
    chosen = st.multiselect(label, list(titles), key=key, format_func=titles.__getitem__, **look)
    write_address(key, chosen, first)
    return chosen


def recall(titles: Mapping[str, str], first: list[str], key: str) -> list[str]:
    """What a menu shows next: what was chosen, or what the address says if it is another than was written there."""
    address = st.query_params.get_all(key)
    moved = address != st.session_state.get(written(key), [])
    wanted = address if moved else st.session_state.get(key, first)
    known = dict.fromkeys(name for name in ([wanted] if isinstance(wanted, str) else wanted) if name in titles)
    emptied = wanted == [] and not moved
    return list(known) if known or emptied else first


def show(key: str, value: str | list[str]) -> None:
    """Choose something in a menu, unless it is chosen."""
    if st.session_state.get(key) != value:
        st.session_state[key] = value


def write_address(key: str, chosen: list[str], first: list[str]) -> None:
    """Into the address, unless it is what it would say without."""
    found = [] if chosen == first else chosen
    st.session_state[written(key)] = found
    if found != st.query_params.get_all(key):
        st.query_params[key] = found


def written(key: str) -> str:
    """Where it stands what a menu has written into the address."""
    return f"{key} in the address"
