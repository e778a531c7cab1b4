"""From the package to icons with a meaning: which sets are read, what is a brand, which drawings stand for a class."""

from __future__ import annotations

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from labkit.data.icons_build.names import meaning, parse
from labkit.data.icons_build.package import Pack, read_collections, read_sets

RULES = tomllib.loads(Path(__file__).with_name("sets.toml").read_text("utf-8"))
FAMILY: dict[str, str] = {prefix: family for family, sets in RULES["families"].items() for prefix in sets.split()}
RANK = {prefix: rank for sets in RULES["families"].values() for rank, prefix in enumerate(sets.split())}
MOST_DESIGNS = 3  # drawings that a family may give a class in one style
BRAND_SETS = 3  # a name that so many sets of logos have is a brand


@dataclass(frozen=True)
class Icon:
    """An icon and what its name says."""

    prefix: str
    name: str
    key: str  # the class: the words of the meaning without hyphens, so that "light-bulb" is "lightbulb"
    words: str
    design: str
    style: str
    cost: float
    drawn: str  # the style as given out: "outline" where no word says so but the drawing or its set does

    @property
    def family(self) -> str:
        """The sets of one designer count as one."""
        return FAMILY.get(self.prefix, self.prefix)

    @property
    def preference(self) -> tuple[int, str, str]:
        """Order among the icons of a family."""
        return RANK.get(self.prefix, 0), self.prefix, self.name


def sets_to_use(collections: dict[str, Any]) -> dict[str, Any]:
    """The sets that are read: of a permissive licence, and not left out for what they hold."""
    dropped = {prefix for sets in RULES["dropped"].values() for prefix in sets.split()}
    licences = RULES["licences"].split()
    return {
        prefix: told
        for prefix, told in collections.items()
        if told.get("license", {}).get("spdx") in licences and prefix not in dropped
    }


def brands(tarball: Path) -> tuple[set[str], set[str]]:
    """Names of brands without hyphens, and words that make every name with them one of a brand."""
    rules = {key: words.split() for key, words in RULES["brands"].items()}
    seen: Counter[str] = Counter()
    for _, pack in read_sets(tarball, rules["sets"]):
        names = {
            re.sub(r"-logo(-\d)?(-solid|-block)?$", "", name) for name in [*pack["icons"], *pack.get("aliases", {})]
        }
        seen.update({re.sub(r"-(icon|wordmark|light|dark|solid|block)$", "", name) for name in names})
    common = {name for name, count in seen.items() if count >= BRAND_SETS and name not in rules["ordinary"]}
    found = common | set(rules["also"])
    strong = {name for name in found if "-" not in name and len(name) > 4 and name not in rules["weak"]}
    return {name.replace("-", "") for name in found}, strong


def read_icons(tarball: Path) -> list[Icon]:
    """Every icon that has a name to go by, of the sets to use."""
    used = sets_to_use(read_collections(tarball))
    branded = brands(tarball)
    icons: list[Icon] = []
    for prefix, pack in read_sets(tarball, used):
        icons += icons_of(prefix, pack, bool(used[prefix].get("palette")), *branded)
    # plain names of a set that marks its solid icons are outlines
    solid = {icon.prefix for icon in icons if icon.style == "solid"}
    return [replace(i, drawn="outline") if i.drawn == "plain" and i.prefix in solid else i for i in icons]


def icons_of(prefix: str, pack: Pack, coloured: bool, brand: set[str], brand_words: set[str]) -> Iterator[Icon]:
    """The icons of a set without those that it withdrew, that move, that are brands or single characters."""
    for name, drawing in pack["icons"].items():
        body = drawing["body"]
        reading = None if drawing.get("hidden") or "<animate" in body else parse(prefix, name)
        if reading is None:
            continue
        words = meaning(reading.words)
        key = "".join(words)
        marked = {"logo", "logos", "brand"} & set(reading.words) or reading.words[0] in ("social", "sc")
        if marked or key in brand or brand_words & set(words) or (len(key) == 1 and key != "x"):
            continue
        style = "colour" if coloured else reading.style or "plain"
        stroked = style == "plain" and 'stroke="currentColor"' in body
        drawn = "outline" if stroked or style == "broken" else style
        yield Icon(prefix, name, key, "-".join(words), reading.design, style, reading.cost, drawn)


def choose(icons: list[Icon], fewest: tuple[int, int]) -> list[Icon]:
    """One icon for each family, class, design and style, few designs each; of classes that can become large enough."""
    best: dict[tuple[str, ...], Icon] = {}
    for icon in sorted(icons, key=lambda i: (i.cost, *i.preference)):
        best.setdefault((icon.family, icon.key, icon.design, icon.style), icon)
    designs: Counter[tuple[str, ...]] = Counter()
    chosen = []
    for icon in best.values():
        designs[icon.family, icon.key, icon.style] += 1
        if designs[icon.family, icon.key, icon.style] <= MOST_DESIGNS:
            chosen.append(icon)
    chosen = [icon for icon, enough in zip(chosen, large_enough(chosen, fewest)) if enough]
    return sorted(chosen, key=lambda i: (i.key, i.cost, i.family, *i.preference))


def large_enough(icons: list[Icon], fewest: tuple[int, int]) -> list[bool]:
    """Whether each icon's class has enough images of enough families (fewest: both numbers)."""
    images = Counter(icon.key for icon in icons)
    families = defaultdict(set)
    for icon in icons:
        families[icon.key].add(icon.family)
    return [images[icon.key] >= fewest[0] and len(families[icon.key]) >= fewest[1] for icon in icons]
