"""What an icon's name says: the thing it depicts, and how it is drawn.

Words about the drawing ("outline", "24", "02") are taken off, by rules for each set; words about the thing ("off",
"left", "circle") never. The words themselves are in names.toml.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

WORDS = tomllib.loads(Path(__file__).with_name("names.toml").read_text("utf-8"))
# last word -> (style or "" where it stays open, cost of the variant), for every set and for some
STYLES: dict[str, tuple[str, float]] = {word: tuple(said) for word, said in WORDS["styles"].items()}
OWN_STYLES = {prefix: rule["words"] for rule in WORDS["own_styles"] for prefix in rule["sets"].split()}
PLAIN = {prefix: style for style, sets in WORDS["plain"].items() for prefix in sets.split()}
COUNTING, VARIANT, NUMBER_WORDS = (set(WORDS["numbers"][key].split()) for key in ("count", "variant", "in_words"))
SIZED, SIZES = (set(WORDS["sizes"][key].split()) for key in ("sets", "sizes"))
FILL_KEPT, FILL_IS_STYLE = (set(WORDS["fill"][key].split()) for key in ("kept_after", "always_style"))
MEANING = WORDS["meaning"]
SHAPES, LAST, STAYS_BEFORE, CHARTS, BOXED, NO_USER = (
    set(MEANING[key].split()) for key in ("shapes", "last", "stays_before", "charts", "boxed", "no_user")
)
PHRASES = [tuple(side.split("-") for side in pair.split("=")) for pair in MEANING["phrases"].split()]
JOINED = {"".join(old): new for old, new in PHRASES if len(old) > 1}  # for sets that write names in one word


@dataclass
class Reading:
    """A name while it is read: the words left, the style they told, the cost of the variant, the design."""

    prefix: str
    words: list[str]
    style: str = ""
    cost: float = 0.0
    design: str = ""

    def drop_last(self, cost: float) -> None:
        """Take the last word off; of several variants of one drawing the cheapest is used."""
        self.words.pop()
        self.cost += cost


def parse(prefix: str, name: str) -> Reading | None:
    """Words, design, style and cost of an icon of a set; None for copies in mirror image and names without meaning."""
    reading = opened(prefix, name)
    if reading is None:
        return None
    take_styles(reading)
    if prefix == "solar":
        reading.words = [word for word in reading.words if word not in ("minimalistic", "rounded")] or reading.words
    reading.design = "-".join(reading.words)
    take_numbers(reading)
    take_own_words(reading)
    reading.words = [word for word in reading.words if word]
    reading.style = reading.style or PLAIN.get(prefix, "")
    return reading


def opened(prefix: str, name: str) -> Reading | None:
    """A name as words, after what some sets put before or into it; None where it should be left out."""
    reading = Reading(prefix, [])
    if prefix == "ic":
        first, _, name = name.partition("-")
        reading.style, reading.cost = WORDS["first"][first]
    for category in WORDS["categories"].get(prefix, "").split():
        if name.startswith(category + "-"):
            name = name.removeprefix(category + "-")
            break
    words = name.replace("two-tone", "twotone").split("-")
    if prefix in ("ooui", "fluent", "fluent-mdl2"):
        if "rtl" in words or "mirrored" in words:
            return None
        words = [word for word in words if word != "ltr"]
    if prefix == "subway" and words[-1].isdigit():
        return None
    if prefix == "medical-icon" and words[0] == "i":
        words = words[1:]
    if prefix == "gg" and len(words) > 1 and words[-1] in ("o", "r"):
        words[-1] = "circle" if words[-1] == "o" else "square"
    for word in WORDS["anywhere"].get(prefix, "").split():
        if word in words[1:]:
            words = [words[0]] + [other for other in words[1:] if other != word]
            reading.style = "solid" if word in ("solid", "fill") else "outline"
    reading.words = words
    return reading


def take_styles(reading: Reading) -> None:
    """Take sizes and words of style off the end."""
    prefix, words = reading.prefix, reading.words
    styles = {**STYLES, **OWN_STYLES.get(prefix, {})}
    while len(words) > 1:
        last = words[-1]
        if prefix in SIZED and last in SIZES:
            reading.drop_last(abs(int(last) - 24) / 100)
        elif last == "24px":
            reading.drop_last(0.1)
        elif last == "fill" and words[-2] in FILL_KEPT and prefix not in FILL_IS_STYLE:
            break
        elif last in styles:
            style, cost = styles[last]
            # the outermost word tells the style, but "duotone" beats the weight it is joined with, and fill an outline
            filled = last in ("fill", "filled", "solid") and style == "solid" and reading.style == "outline"
            if style == "duotone" or filled or not reading.style:
                reading.style = style or reading.style
            reading.drop_last(cost)
        else:
            break


def take_numbers(reading: Reading) -> None:
    """Take off what numbers the designs of one thing: "alt", "02", IconPark's "two"."""
    prefix, words = reading.prefix, reading.words
    for _ in range(2):
        if len(words) > 1 and words[-1] in VARIANT:
            reading.drop_last(0.01)
        counts = COUNTING & set(words[:-1])
        if len(words) > 1 and re.fullmatch(r"v?\d{1,2}", words[-1]) and not counts:
            reading.drop_last(int(words[-1].lstrip("v")) / 100)
        counts = COUNTING & set(words[:-1])
        if len(words) > 1 and prefix.startswith("icon-park") and words[-1] in NUMBER_WORDS and not counts:
            reading.drop_last(0.01)
    numbered = re.fullmatch(r"([a-z]{3,})(\d)", words[-1])
    if prefix == "reicon" and numbered and numbered[1] not in COUNTING:
        words[-1] = numbered[1]
        reading.cost += int(numbered[2]) / 100


def take_own_words(reading: Reading) -> None:
    """Take off words that number or size a design in one set only."""
    prefix, words = reading.prefix, reading.words
    if len(words) > 1 and words[-1] in WORDS["design_last"].get(prefix, "").split():
        reading.drop_last(0.5)
    if len(words) > 1 and words[0] in WORDS["design_first"].get(prefix, "").split():
        words.pop(0)
        reading.cost += 0.5
    if prefix == "mdi" and len(words) > 1 and words[-1] == "box" and words[0] in BOXED:
        words[-1] = "square"
    if prefix == "mage" and len(words) > 1 and words[-1] in ("a", "b", "c"):
        words.pop()
    if prefix == "iconamoon" and words[0] != "number":
        reading.words = [word for word in words if not word.isdigit()] or words


def meaning(words: list[str]) -> list[str]:
    """The same words for the same drawing, in one order."""
    words = list(JOINED.get(words[0], words)) if len(words) == 1 else list(words)
    for old, new in PHRASES:
        if old[0] in words:
            words = replaced(words, old, new)
    shapes = [word for word in words if word in SHAPES]
    if len(shapes) == 1 and len(words) > 1:
        words = shape_last([word for word in words if word not in SHAPES], shapes[0])
    elif words == ["close"]:
        words = ["x"]
    if len(words) > 1 and words[0] in LAST and words[1] not in SHAPES | STAYS_BEFORE:
        words = words[1:] + words[:1]
    if len(words) > 1 and words[-1] == "slash":
        words[-1] = "off"
    if len(words) == 2 and words[0] in ("chart", "graph") and words[1] in CHARTS:
        words = [words[1], "chart"]
    return words


def replaced(words: list[str], old: list[str], new: list[str]) -> list[str]:
    """Words with each run `old` replaced by `new`; not where the word has another sense."""
    if (old == ["account"] and NO_USER & set(words)) or (old == ["avatar"] and len(words) > 1):
        return words
    place, done = 0, []
    while place < len(words):
        if words[place : place + len(old)] == old:
            done += new
            place += len(old)
        else:
            done.append(words[place])
            place += 1
    return done


def shape_last(rest: list[str], shape: str) -> list[str]:
    """ "circle-check", "check-in-circle" and "check-circle" are one thing."""
    if len(rest) == 1:
        rest = [MEANING["in_shape"].get(rest[0], rest[0])]
    if rest[0] == "in":
        rest = rest[1:] or rest
    if rest[-1] == "in" and len(rest) > 1:
        rest = rest[:-1]
    return [*rest, shape]
