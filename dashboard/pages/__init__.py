"""The pages in the order of the menu, by the name of their file, which is their address, too; `page()` draws one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Literal

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from dashboard.parts.access import may_change

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
    seen: Literal["visible", "hidden"] = "visible" if name != "train" or may_change() else "hidden"  # it says why
    return st.Page(drawing(name), title=title, icon=icon, url_path=name, default=name == "home", visibility=seen)


def drawing(name: str) -> Callable[[], None]:
    """Draws a page; its module is imported when it is visited, for some need torch and most visits do not."""

    def draw() -> None:
        if st.session_state.get("page", name) != name:
            for key in SHARED:
                st.session_state.pop(key, None)
        st.session_state["page"] = name
        module = f"dashboard.pages.{name}"
        if module not in sys.modules:
            with st.spinner("Loading the page …"):
                import_module(module)
        import_module(module).page()

    return draw
