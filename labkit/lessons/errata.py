"""Cards for the ids of errata in a lesson's text: E-PNP-1 says what it is where the reader points at it."""

from __future__ import annotations

import json
import re

from labkit.data.papers import errata
from labkit.explorers.hosts import in_script
from labkit.explorers.modules import joined, styles

ID = re.compile(r"\bE-[A-Z]{2,4}-(?:\d+|[A-Z])\b")


def errata_cards(text: str | None = None) -> str:
    """Script and style that make cards of ids, with the errata that a text names, or all; nothing if it names none."""
    known = errata()
    kept = known if text is None else {name: known[name] for name in ID.findall(text) if name in known}
    if not kept:
        return ""
    content = in_script(json.dumps(kept, ensure_ascii=False))
    return (
        f"<style>{styles('errata/errata.css')}</style>"
        f'<script type="application/json" class="labkit-errata">{content}</script>'
        f'<script type="module">{in_script(joined("errata/page.js"))}</script>'
    )
