"""The playground: a derivative to draw, data to drag, a network that learns in the page; see `web/playground/`.

It needs no Python once it is on a page: networks train in a worker of the browser, whose text goes with the page.
"""

from __future__ import annotations

import html
from functools import cache
from typing import Any

from labkit.explorers.hosts import PLAYGROUND, book_html, streamlit_component
from labkit.explorers.modules import joined

TITLE = "labkit playground: draw a derivative, train a network"
STYLE = """
:root { color-scheme: light dark; --back: #fff; --ink: #1c1d1f; }
@media (prefers-color-scheme: dark) { :root { --back: #15171a; --ink: #e8e8e8; } }
body { margin: 0; padding: 14px clamp(8px, 2vw, 28px) 28px; background: var(--back); color: var(--ink); }
nav { font: 15px system-ui, sans-serif; max-width: 1480px; margin: 0 auto 6px; padding: 0 5px; }
a { color: light-dark(#0059b3, #6cb4ff); }
"""


def values(state: str = "", *, title: bool = False, address: bool = False) -> dict[str, Any]:
    """What its model holds. state: as its address has it; title: with a heading; address: the page is its own."""
    return {"worker": joined("playground/worker.js"), "state": state, "title": title, "address": address}


def playground_page(back: str = "") -> str:
    """One HTML file with all that the playground needs; back: address of a page to return to."""
    way = f'<nav><a href="{html.escape(back)}">Contents</a></nav>' if back else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
        f"<title>{TITLE}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{way}<main>\n"
        f"{book_html(PLAYGROUND, [values(title=True, address=True)], [{}])}\n</main>\n</body>\n</html>\n"
    )


def show_in_streamlit(state: str, key: str) -> str:
    """The playground in a Streamlit page; returns its state, which begins with the given one."""
    import streamlit as st

    kept = f"{key}.state"
    now: str = st.session_state.setdefault(kept, state)
    streamlit_component(PLAYGROUND)(key=f"{key}.view", data=values(now), on_view_change=lambda: take_state(key))
    return now


def take_state(key: str) -> None:
    """What the reader has set."""
    import streamlit as st

    found = (st.session_state[f"{key}.view"].get("view") or {}).get("state")
    if isinstance(found, str):
        st.session_state[f"{key}.state"] = found


@cache
def widget_class() -> Any:
    """The anywidget, made when first asked for: building notebooks needs no widgets."""
    import anywidget
    import traitlets

    class PlaygroundWidget(anywidget.AnyWidget):  # type: ignore[misc]
        """One playground; state is what the reader has set, as the address of its own page would hold it."""

        _esm = PLAYGROUND.module("jupyter")
        _css = PLAYGROUND.css
        worker = traitlets.Unicode(joined("playground/worker.js")).tag(sync=True)
        state = traitlets.Unicode().tag(sync=True)
        title = traitlets.Bool(False).tag(sync=True)
        address = traitlets.Bool(False).tag(sync=True)

    return PlaygroundWidget
