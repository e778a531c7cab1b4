"""A lesson's text as HTML; formulas become MathML, which browsers draw by themselves."""

from __future__ import annotations

import html
import re

MATH = re.compile(r"\$\$(.+?)\$\$|(?<![\\$\w])\$([^$\n]+?)\$(?![\w$])", re.DOTALL)
LESSON = re.compile(r"\]\((\d\d_\w+)\.ipynb(#[^)]*)?\)")  # a link to another lesson
OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./[^)]*\)")  # a link to a file of the repository, which the book does not hold
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


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
