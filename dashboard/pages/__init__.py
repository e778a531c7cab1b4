"""The pages in the order of the menu, by the name of their file, which is their address, too; `page()` draws one."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import streamlit as st
from streamlit.navigation.page import StreamlitPage

PAGES = {
    "home": ("Home", ":material/home:"),
    "embeddings": ("Embeddings", ":material/bubble_chart:"),
    "retrieval": ("Retrieval", ":material/image_search:"),
    "runs": ("Runs", ":material/table_rows:"),
    "compare": ("Compare runs", ":material/bar_chart:"),
    "surrogates": ("Surrogates", ":material/text_fields:"),
    "playground": ("Playground", ":material/gesture:"),
    "losses": ("Losses", ":material/functions:"),
    "papers": ("Papers", ":material/article:"),
    "train": ("Train", ":material/play_circle:"),
    "run": ("One run", ":material/description:"),
}
SHARED = ("preset", "loss", "find", "view")  # inputs of several pages: what is chosen on one is not meant for others


def place(name: str) -> StreamlitPage:
    """One page, for the menu and for links to it."""
    title, icon = PAGES[name]
    return st.Page(drawing(name), title=title, icon=icon, url_path=name, default=name == "home")


def drawing(name: str) -> Callable[[], None]:
    """Draws a page; its module is imported when it is visited, for some need torch and most visits do not."""

    def draw() -> None:
        if st.session_state.get("page", name) != name:
            for key in SHARED:
                st.session_state.pop(key, None)
        st.session_state["page"] = name
        import_module(f"dashboard.pages.{name}").page()

    return draw
