"""nbgrader's pages without a network and without what students' texts would run or load in a reader's browser.

Formulas become MathML, where nbgrader would load MathJax from the web; HTML in texts and outputs is cleaned.
"""

from __future__ import annotations

import re
from pathlib import Path

from labkit.lessons.markdown import FORMULA

WORDS = {"a", "b", "br", "code", "del", "em", "i", "img", "s", "small", "span", "strong", "sub", "sup", "u"}
BLOCKS = {"blockquote", "dd", "details", "div", "dl", "dt", "figcaption", "figure", "hr", "li", "ol", "p", "pre", "ul"}
TABLES = {"summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr"}
TAGS = frozenset(WORDS | BLOCKS | TABLES | {f"h{level}" for level in range(1, 7)})
ATTRIBUTES = ("alt", "class", "colspan", "id", "rowspan", "style", "title")
SPECIAL = re.compile(r"([!-/:-@\[-`{-~])")  # ASCII's signs, to all of which Markdown can give a meaning


def template_folders() -> list[str]:
    """Ours before nbgrader's, whose index they leave as it is."""
    from nbgrader.server_extensions.formgrader import handlers

    return [str(Path(__file__).parent / "templates"), str(handlers.template_path)]


def markdown(text: str) -> str:
    """Markdown as clean HTML; a formula that is not valid LaTeX leaves all formulas of its cell as they are."""
    from nbconvert.filters.markdown_mistune import markdown2html_mistune

    from labkit.lessons.markdown import markdown as with_formulas

    try:
        return with_formulas(text, clean)
    except Exception:
        return clean(str(markdown2html_mistune(text)))


def clean(text: str | bytes) -> str:
    """HTML without scripts, handlers, frames and forms; pictures only if they are in the page itself."""
    import bleach
    from bleach.css_sanitizer import CSSSanitizer

    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
    return str(bleach.clean(text, TAGS, allowed, {"data", "http", "https", "mailto"}, True, True, CSSSanitizer()))


def allowed(tag: str, name: str, value: str) -> bool:
    """Whether an attribute may stay: links lead to the web or within the page, pictures are data."""
    if FORMULA in value:
        return False
    if name == "src":
        return tag == "img" and value.startswith("data:image/")
    if name == "href":
        return tag == "a" and value.startswith(("http://", "https://", "mailto:", "#"))
    return name in ATTRIBUTES


def as_text(text: str) -> str:
    """Markdown that shows this text as it is, in one paragraph: an error's message is a student's own words."""
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))
