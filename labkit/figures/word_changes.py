"""Words before and after, as HTML: which letters are wrong is said by colour and by a sign."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

from labkit.base.words import RIGHT, WRONG
from labkit.figures import style

MISSING = "□"  # stands where a letter was left out
STYLES = {
    "replace": f"color:{style.BAD};font-weight:700;text-decoration:underline wavy",
    "delete": f"color:{style.BAD};font-weight:700;text-decoration:line-through",
    "insert": f"color:{style.BAD};font-weight:700",
}
TOLD = {"replace": "wrong", "delete": "too many", "insert": "missing"}


@dataclass(frozen=True)
class Reading:
    """A word of which before and after are shown. picture: its address, "" if there is none."""

    id: str
    word: str
    before: str
    after: str
    distance_before: int
    distance_after: int
    picture: str = ""


def marked(read: str, word: str) -> str:
    """What was read, as HTML: a wrong letter underlined, one too many struck out, a missing one as an empty box."""
    from rapidfuzz.distance import Levenshtein

    parts = []
    for step in Levenshtein.opcodes(read, word):
        have, want = read[step.src_start : step.src_end], word[step.dest_start : step.dest_end]
        text = html.escape(have or MISSING * len(want))
        if step.tag == "equal":
            parts.append(text)
        else:
            told = html.escape(f"{TOLD[step.tag]}: {want or have}")
            parts.append(f'<span style="{STYLES[step.tag]}" title="{told}">{text}</span>')
    return "".join(parts) or '<span style="opacity:0.7">nothing</span>'


def change_of(reading: Reading) -> str:
    """What tuning did to a word, in a few words with a sign."""
    before, after = reading.distance_before, reading.distance_after
    if before == after:
        return (
            f"{RIGHT} right"
            if after == 0
            else f"= {after} edits, other letters"
            if reading.before != reading.after
            else f"= {after} edits"
        )
    sign = "↓" if after < before else "↑"
    end = f" {RIGHT}" if after == 0 else f" {WRONG}" if before == 0 else ""
    return f"{sign} {before} → {after} edits{end}"


def changes_html(readings: Sequence[Reading], label: str) -> str:
    """One card a word: its picture, the truth, before and after. All texts are escaped."""
    cards = "".join(map(card, readings))
    return (
        f'<div role="list" aria-label="{html.escape(label)}" style="display:grid;gap:0.8rem;'
        f'grid-template-columns:repeat(auto-fill,minmax(15.5rem,1fr))">{cards}</div>'
    )


def card(reading: Reading) -> str:
    """One word."""
    word, told = html.escape(reading.word), html.escape(f"{reading.word}, {reading.id}")
    picture = (
        f'<img src="{html.escape(reading.picture)}" alt="picture of the word {word}" '
        'style="width:200px;height:64px;display:block;border-radius:4px">'
        if reading.picture
        else ""
    )
    rows = "".join(
        f'<span style="opacity:0.75">{name}</span>'
        f'<span style="font-family:monospace;overflow-wrap:anywhere">{shown}</span>'
        for name, shown in (
            ("truth", word),
            ("before", marked(reading.before, reading.word)),
            ("after", marked(reading.after, reading.word)),
        )
    )
    return (
        f'<div role="listitem" title="{told}" data-id="{html.escape(reading.id)}" '
        'style="border:1px solid rgba(128,128,128,0.4);border-radius:6px;padding:0.6rem">'
        f'{picture}<div style="display:grid;grid-template-columns:3.6rem 1fr;gap:0.1rem 0.5rem;margin-top:0.3rem">'
        f"{rows}</div>"
        f'<div style="margin-top:0.25rem;font-size:0.85rem">{html.escape(change_of(reading))}</div></div>'
    )
