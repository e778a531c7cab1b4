"""A lesson's text as HTML; formulas become MathML, which browsers draw by themselves."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

MATH = re.compile(r"\$\$(.+?)\$\$|(?<![\\$\w])\$([^$\n]+?)\$(?![\w$])", re.DOTALL)
LESSON = re.compile(r"\]\((\d\d_\w+)\.ipynb(#[^)]*)?\)")  # a link to another lesson
GLOSSARY = "](GLOSSARY.md)"
OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./[^)]*\)")  # a link to a file of the repository, which the book does not hold
FORMULA = "\ue002"  # begins the mark of a formula; private characters, which HTML leaves alone
PRIVATE = re.compile("[\ue002-\ue005]")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def markdown(text: str, clean: Callable[[str], str] = str) -> str:
    """Markdown as HTML. Formulas are set aside first, so that their underscores are not taken for emphasis.

    clean: what to do with the HTML of a text that is not ours. Formulas are put in afterwards, where FORMULA stands:
    it must let that stand in text only, never in an attribute.
    """
    from nbconvert.filters.markdown_mistune import markdown2html_mistune

    kept: list[str] = []

    def aside(made: str) -> str:
        kept.append(made)
        return f"{FORMULA}{len(kept) - 1}\ue003"

    spans: list[str] = []

    def protect(match: re.Match[str]) -> str:
        spans.append(match[0])
        return f"\ue004{len(spans) - 1}\ue005"

    text = CODE.sub(protect, PRIVATE.sub("", text))
    text = LESSON.sub(r"](\1.html\2)", text)
    text = text.replace(GLOSSARY, "](glossary.html)")
    text = OUTSIDE.sub(r"\1", text)
    text = MATH.sub(lambda m: aside(formula(m[1] or m[2], display=bool(m[1]))), text)
    text = re.sub("\ue004(\\d+)\ue005", lambda m: spans[int(m[1])], text)
    made = clean(str(markdown2html_mistune(text)))
    return re.sub(f"{FORMULA}(\\d+)\ue003", lambda m: kept[int(m[1])], made)


def formula(latex: str, display: bool) -> str:
    """LaTeX as MathML, with the source for those who copy it."""
    from xml.etree.ElementTree import tostring

    from latex2mathml.converter import convert_to_element

    made = convert_to_element(latex.strip(), display="block" if display else "inline")
    made.set("aria-label", latex.strip())
    for part in made.iter():  # the library writes signs as entities and unescapes all text: also tags within \text
        part.text = html.unescape(part.text) if part.text else part.text
    return tostring(made, encoding="unicode")
