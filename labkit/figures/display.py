"""How a figure and its words reach a notebook's page: a picture with alt text, and a caption that everybody sees."""

from __future__ import annotations

import base64
import html
import io
from typing import Any


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


def display_html(text: str) -> None:
    """Show HTML."""
    from IPython.display import HTML, display

    display(HTML(text))
