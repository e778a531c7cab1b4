"""From a run's name to all that can be seen of it, with one click, the same on every page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlencode

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from labkit.explorers.embedding.choice import projections_of
from labkit.runs import Run

Query = Mapping[str, str | Sequence[str]]
ICONS = {"embeddings": "bubble_chart", "retrieval": "image_search", "compare": "bar_chart", "run": "description"}
LABELS = {"embeddings": "Points", "retrieval": "Retrieval", "compare": "Comparison", "run": "Record"}


def state_of(page: str, run: Run) -> Query | None:
    """The state in which a page shows a run; None if it cannot."""
    if page == "embeddings":
        return {"run": run.id} if projections_of(run) else None
    if page == "retrieval":
        kept = run.status == "finished" and run.has("embeddings.safetensors") and run.has("samples.parquet")
        return {"runs": [run.id]} if kept else None
    if page == "compare":
        return {"preset": run.preset, "groups": [run.group]} if run.value("R@1") is not None else None
    return {"run": run.id}


def address_of(page: str, run: Run) -> str:
    """The address of that state, "" for none; without a host or base path, so that it holds behind a proxy, too."""
    state = state_of(page, run)
    return "" if state is None else f"{page}?{urlencode(state, doseq=True)}"


def run_links(run: Run, place: Callable[[str], StreamlitPage], here: str = "") -> None:
    """Links to the pages that show a run, except the one they stand on; place: gives a page by its name."""
    with st.container(horizontal=True, gap="small"):
        for page, label in LABELS.items():
            state = state_of(page, run)
            if page != here and state is not None:
                pairs = [(key, value) for key, found in state.items() for value in as_list(found)]
                icon = f":material/{ICONS[page]}:"
                st.page_link(place(page), label=label, icon=icon, query_params=pairs, width="content")


def as_list(value: str | Sequence[str]) -> Sequence[str]:
    """A value of an address, which may stand there several times."""
    return [value] if isinstance(value, str) else value
