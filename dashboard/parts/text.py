"""Names for people: texts of runs as Markdown shows them, and configurations in few words."""

from __future__ import annotations

from collections.abc import Collection

from dashboard.parts.access import for_visitors
from labkit.base.words import shortened
from labkit.runs.variant import Variant


def as_text(text: str, longest: int = 300) -> str:
    """Text that Markdown shows as it is: names of runs may hold anything."""
    special = r"\`*_{}[]<>()#+-.!|~$:&"
    return "".join(f"\\{mark}" if mark in special else mark for mark in shortened(for_visitors(text), longest))


def group_titles(variants: Collection[Variant]) -> dict[str, str]:
    """What variants are called for people where the preset has been said, by the names of their groups."""
    return distinct({variant.name: variant.title for variant in variants})


def figure_names(variants: Collection[Variant], longest: int = 36) -> dict[str, str]:
    """Names that leave room for the figure: of long ones only the settings in which those of one loss differ."""
    shown = {variant.name: variant.title for variant in variants}
    long: dict[str, dict[str, list[str]]] = {}
    for variant in variants:
        if len(variant.title) > longest:
            long.setdefault(variant.loss_title, {})[variant.name] = variant.phrases
    for loss, found in long.items():
        same = set.intersection(*map(set, found.values())) if len(found) > 1 else set()
        for group, phrases in found.items():
            own = ", ".join([loss, *(one for one in phrases if one not in same)])
            shown[group] = shortened(f"{own}, …" if same else own, longest)
    return distinct(shown)


def distinct(names: dict[str, str]) -> dict[str, str]:
    """A number behind a name that is there already: figures and menus would take equal names for one."""
    shown: dict[str, str] = {}
    taken: set[str] = set()
    numbers: dict[str, int] = {}
    for key, name in names.items():
        found = name
        while found in taken:
            numbers[name] = numbers.get(name, 1) + 1
            found = f"{name} ({numbers[name]})"
        taken.add(found)
        shown[key] = found
    return shown
