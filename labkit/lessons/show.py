"""Figures with words: a caption everybody sees, and the same as alt text for those who see no figure."""

from __future__ import annotations

import json
from typing import Any

from labkit.base.mode import mode
from labkit.figures.display import caption, display_html, picture
from labkit.figures.static import panel_for, small_multiples


def show(fig: Any, alt: str) -> None:
    """Display a plotly or matplotlib figure with its description. Plotly figures stay alive in JupyterLab and the book;
    a built notebook holds their picture."""
    from IPython.display import display

    if not alt.strip():
        raise ValueError("alt must say what the figure shows")
    if not is_plotly(fig):
        display(picture(fig, alt))
    elif mode() == "notebook":
        display(picture(small_multiples([fig], columns=1, panel=panel_for(fig)), alt, few_colors=True))
    elif mode() == "book":
        display_html(plotly_html(fig) + caption(alt))
    else:
        display(fig)
        display_html(caption(alt))


def plotly_html(fig: Any) -> str:
    """A figure for the book, whose page has plotly.js already."""
    spec = json.dumps(json.loads(fig.to_json()), separators=(",", ":")).replace("</", "<\\/")
    return f'<div class="labkit-figure"><script type="application/json">{spec}</script></div>'


def is_plotly(fig: Any) -> bool:
    """Whether a figure is plotly's, without importing plotly."""
    return type(fig).__module__.startswith("plotly.")
