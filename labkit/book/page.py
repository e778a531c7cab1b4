"""An executed notebook as a page of HTML."""

from __future__ import annotations

import html
import re
from typing import Any

from labkit.lessons.markdown import markdown


def page(notebook: Any) -> str:
    """The body of a page."""
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(f'<section class="text">{markdown(cell.source)}</section>')
        elif cell.cell_type == "code" and cell.source.strip():
            shown = code(cell.source)
            hidden = cell.metadata.get("jupyter", {}).get("source_hidden")
            parts.append(f"<details><summary>Code</summary>{shown}</details>" if hidden else shown)
            parts.extend(output(found) for found in cell.outputs)
    return "\n".join(part for part in parts if part)


def title_of(notebook: Any) -> str:
    """The first heading."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (found := re.search(r"^# (.+)$", cell.source, re.MULTILINE)):
            return found[1].strip()
    return "Lesson"


def code(source: str) -> str:
    """Highlighted Python."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    return str(highlight(source, PythonLexer(), HtmlFormatter(cssclass="code")))


def output(found: Any) -> str:
    """What a cell printed or showed; widgets, which need Python, are left out."""
    if found.output_type == "stream":
        return f'<pre class="printed">{html.escape(found.text)}</pre>' if found.name == "stdout" else ""
    data = found.get("data", {})
    if "text/html" in data:
        return f'<div class="shown">{data["text/html"]}</div>'
    if "image/png" in data:
        return f'<div class="shown"><img alt="" src="data:image/png;base64,{data["image/png"].strip()}"></div>'
    if "text/plain" in data and "application/vnd.jupyter.widget-view+json" not in data:
        return f'<pre class="printed">{html.escape(data["text/plain"])}</pre>'
    return ""
