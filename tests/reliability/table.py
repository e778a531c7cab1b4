"""What a drill reports, and the table of all of them."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).parent
LONGEST = 160  # letters of a detail in the table


@dataclass(frozen=True)
class Row:
    """A line of the table: how often something was done to labkit, and how often labkit stood it."""

    name: str
    tried: int
    survived: int
    lost: int
    detail: str = ""


def drill_names() -> list[str]:
    """Every drill: a module drill_NAME.py beside this one, with `run(full: bool) -> list[Row]`."""
    return sorted(path.stem.removeprefix("drill_") for path in FOLDER.glob("drill_*.py"))


def run_drill(name: str, full: bool) -> list[Row]:
    """The rows of one drill; one that finds nothing to try has lost, for it proves nothing."""
    rows: list[Row] = import_module(f"tests.reliability.drill_{name}").run(full)
    return rows or [Row(name, 0, 0, 1, "the drill reported nothing")]


def as_text(rows: list[Row]) -> str:
    """The table, as Markdown."""
    cells = [("drill", "tried", "survived", "lost", "")]
    cells += [(row.name, f"{row.tried:,}", f"{row.survived:,}", f"{row.lost:,}", row.detail[:LONGEST]) for row in rows]
    widths = [max(len(line[column]) for line in cells) for column in range(5)]
    cells.insert(
        1, tuple("-" * width if not 1 <= i <= 3 else "-" * (width - 1) + ":" for i, width in enumerate(widths))
    )
    aligned = (
        [text.rjust(width) if 1 <= i <= 3 else text.ljust(width) for i, (text, width) in enumerate(zip(line, widths))]
        for line in cells
    )
    return "\n".join(f"| {' | '.join(line)} |" for line in aligned)
