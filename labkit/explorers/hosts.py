"""One explorer in three hosts. Each takes the text of one module; the page's side is in `web/hosts/`."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from labkit.explorers.modules import joined, styles

GAP = "display: grid; gap: 1.5rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr))"


@dataclass(frozen=True)
class Component:
    """An explorer's folder of `web/`, with jupyter.js, streamlit.js and book.js, and its style sheets.

    box: the class of its boxes in the book, the same as in book.js.
    """

    folder: str
    sheets: tuple[str, ...]
    box: str

    @property
    def css(self) -> str:
        """The style sheets."""
        return styles(*self.sheets)

    def module(self, host: str) -> str:
        """The text of the module for a host: "jupyter", "streamlit" or "book"."""
        return joined(f"{self.folder}/{host}.js")


EMBEDDING = Component("embedding", ("shared/explorer.css", "embedding/embedding.css"), "labkit-embeddings")
DRAG = Component("drag", ("shared/explorer.css", "drag/drag.css"), "labkit-drags")
PREDICT = Component("predict", ("predict/predict.css",), "labkit-predictions")
FILM = Component("film", ("shared/explorer.css", "film/film.css"), "labkit-films")
PLAYGROUND = Component("playground", ("shared/explorer.css", "playground/playground.css"), "labkit-playgrounds")


def book_html(
    component: Component, values: Sequence[Mapping[str, Any]], data: Sequence[Mapping[str, bytes]], still: str = ""
) -> str:
    """Explorers side by side with their data, script and style inside, for a page that is opened from a file.

    values and data: of each explorer the values of its model, those that are bytes apart; equal bytes are there once.
    still: HTML that stands there until the script takes its place, and stays where scripts do not run.
    """
    instead = f'<div class="labkit-still">{still}</div>' if still else ""
    shared = list(dict.fromkeys(content for one in data for content in one.values()))
    models = [
        {"values": own, "bytes": {name: shared.index(content) for name, content in one.items()}}
        for own, one in zip(values, data, strict=True)
    ]
    texts = [base64.b64encode(content).decode() for content in shared]
    spec = json.dumps({"models": models, "bytes": texts}, separators=(",", ":"))
    return (
        f'<div class="{component.box}" style="{GAP}">{instead}<style>{component.css}</style>'
        f'<script type="application/json">{in_script(spec)}</script></div>'
        f'<script type="module">{in_script(component.module("book"))}</script>'
    )


def in_script(text: str) -> str:
    """Text that cannot end the script element it stands in."""
    return text.replace("</", "<\\/")


@cache
def streamlit_component(component: Component) -> Callable[..., Any]:
    """The component of a Streamlit page, registered once a process."""
    import streamlit as st

    found: Callable[..., Any] = st.components.v2.component(
        f"labkit_{component.folder}", css=component.css, js=component.module("streamlit")
    )
    return found


@cache
def streamlit_blob() -> Callable[..., Any]:
    """The component that keeps bytes for all explorers of a page."""
    import streamlit as st

    found: Callable[..., Any] = st.components.v2.component("labkit_blob", js=joined("hosts/streamlit_blob.js"))
    return found
