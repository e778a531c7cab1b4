"""Figures with words: a caption everybody sees, and the same as alt text for those who see no figure."""

from __future__ import annotations

import base64
import html
import io
import json
from typing import Any

from labkit.course.mode import mode
from labkit.figures.static import small_multiples


def show(fig: Any, alt: str) -> None:
    """Display a plotly or matplotlib figure with its description. Plotly figures stay alive in JupyterLab and the book;
    a built notebook holds their picture."""
    from IPython.display import display

    if not alt.strip():
        raise ValueError("alt must say what the figure shows")
    if not is_plotly(fig):
        display(picture(fig, alt))
    elif mode() == "notebook":
        display(picture(small_multiples([fig], columns=1), alt, few_colors=True))
    elif mode() == "book":
        display_html(plotly_html(fig) + caption(alt))
    else:
        display(fig)
        display_html(caption(alt))


def picture(fig: Any, alt: str, *, few_colors: bool = False) -> Any:
    """A matplotlib figure as an image with alt text, and its caption beneath.

    few_colors: lines and marks only, no photographs; 256 colours do, and the image takes a third of the space.
    """
    from IPython.display import HTML

    buffer = io.BytesIO()
    fig.savefig(buffer, format="png")
    data = base64.b64encode(with_palette(buffer) if few_colors else buffer.getvalue()).decode()
    kind = ' class="labkit-lines"' if few_colors else ""
    image = f'<img alt="{html.escape(alt, quote=True)}"{kind} style="max-width: 100%; background: white" '
    return HTML(f'{image}src="data:image/png;base64,{data}">{caption(alt)}')


def with_palette(png: io.BytesIO) -> bytes:
    """The same image in 256 colours."""
    from PIL import Image

    smaller = io.BytesIO()
    Image.open(png).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(smaller, "png", optimize=True)
    return smaller.getvalue()


def caption(text: str) -> str:
    """The description as people see it."""
    return (
        f'<p style="margin-top: 0.8em; opacity: 0.8; font-size: 0.95em; max-width: 60em"><i>{html.escape(text)}</i></p>'
    )


def plotly_html(fig: Any) -> str:
    """A figure for the book, whose page has plotly.js already."""
    spec = json.dumps(json.loads(fig.to_json()), separators=(",", ":")).replace("</", "<\\/")
    return f'<div class="labkit-figure"><script type="application/json">{spec}</script></div>'


def display_html(text: str) -> None:
    """Show HTML."""
    from IPython.display import HTML, display

    display(HTML(text))


def is_plotly(fig: Any) -> bool:
    """Whether a figure is plotly's, without importing plotly."""
    return type(fig).__module__.startswith("plotly.")
