"""An executed notebook as a page of HTML; formulas become MathML, which browsers draw by themselves."""

from __future__ import annotations

import html
import re
from typing import Any

MATH = re.compile(r"\$\$(.+?)\$\$|(?<![\\$\w])\$([^$\n]+?)\$(?![\w$])", re.DOTALL)
LESSON = re.compile(r"\]\((\d\d_\w+)\.ipynb(#[^)]*)?\)")  # a link to another lesson
OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./[^)]*\)")  # a link to a file of the repository, which the book does not hold
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


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


def markdown(text: str) -> str:
    """Markdown as HTML. Formulas are set aside first, so that their underscores are not taken for emphasis."""
    from nbconvert.filters.markdown_mistune import markdown2html_mistune

    kept: list[str] = []

    def aside(made: str) -> str:
        kept.append(made)
        return f"\x02{len(kept) - 1}\x03"

    spans: list[str] = []

    def protect(match: re.Match[str]) -> str:
        spans.append(match[0])
        return f"\x04{len(spans) - 1}\x05"

    text = CODE.sub(protect, text)
    text = LESSON.sub(r"](\1.html\2)", text)
    text = OUTSIDE.sub(r"\1", text)
    text = MATH.sub(lambda m: aside(formula(m[1] or m[2], display=bool(m[1]))), text)
    text = re.sub("\x04(\\d+)\x05", lambda m: spans[int(m[1])], text)
    made = markdown2html_mistune(text)
    return re.sub("\x02(\\d+)\x03", lambda m: kept[int(m[1])], str(made))


def formula(latex: str, display: bool) -> str:
    """LaTeX as MathML, with the source for those who copy it."""
    from latex2mathml.converter import convert

    made = convert(latex.strip(), display="block" if display else "inline")
    return made.replace("<math ", f'<math aria-label="{html.escape(latex.strip(), quote=True)}" ', 1)


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
