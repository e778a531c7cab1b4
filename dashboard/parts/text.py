"""Names for people: texts of runs as Markdown shows them, and configurations in few words."""

from __future__ import annotations

import re

from labkit.runs import Run


def as_text(text: str, longest: int = 300) -> str:
    """Text that Markdown shows as it is: names of runs may hold anything."""
    short = text if len(text) <= longest else f"{text[:longest]}…"
    return "".join(f"\\{mark}" if mark in r"\`*_{}[]<>()#+-.!|~$:&" else mark for mark in short)


def short_names(runs: list[Run]) -> dict[str, str]:
    """Groups without their preset, which the page has said: "pnp-dq, alpha=4.0" for "omniglot_pnp-dq_alpha=4.0"."""
    found = {}
    for group, preset in {run.group: run.preset for run in runs}.items():
        loss, _, settings = group.removeprefix(f"{preset}_").partition("_")
        # a name of a setting may hold "_": only the one behind a value stands between two of them
        found[group] = ", ".join(filter(None, (loss, re.sub(r"(=[^_]*)_", r"\1, ", settings))))
    return found


def figure_names(names: dict[str, str], longest: int = 36) -> dict[str, str]:
    """Names that leave room for the figure: of long ones only the settings in which those of one loss differ."""
    long: dict[str, dict[str, list[str]]] = {}
    for group, name in names.items():
        if len(name) > longest:
            loss, *settings = name.split(", ")
            long.setdefault(loss, {})[group] = settings
    shown = dict(names)
    for loss, found in long.items():
        same = set.intersection(*map(set, found.values())) if len(found) > 1 else set()
        for group, settings in found.items():
            own = ", ".join([loss, *(one for one in settings if one not in same)])
            shown[group] = f"{own[:longest]}…"
    return distinct(shown)


def distinct(names: dict[str, str]) -> dict[str, str]:
    """A number behind a name that is there already: figures and menus would take equal names for one."""
    shown = dict(names)
    for name in names.values():
        others = [other for other in shown if shown[other] == name]
        for number, other in enumerate(others[1:], 2):
            shown[other] = f"{name} ({number})"
    return shown
