"""Draws which room imports which: `make imports` writes labkit/book/guides/imports.svg, the picture in CONTRIBUTING.

The rooms stand in the order of the contract "floors" in pyproject.toml, so everything lies right of the diagonal. What
the contract forbids would lie left of it, in a frame.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import grimp

from labkit.base.files import write_bytes
from labkit.base.paths import ROOT

PICTURE = Path(__file__).parents[1] / "labkit" / "book" / "guides" / "imports.svg"
SIDE = 30  # of a square, in pixels
SURFACES = ("benchmarks", "dashboard")
INK, BLUE, WRONG = "#1b1b1b", "#0072b2", "#d55e00"

Edges = dict[tuple[str, str], int]


def rooms(project: Path = ROOT / "pyproject.toml") -> list[str]:
    """The rooms from the top down, as the contract lists them."""
    contracts = tomllib.loads(project.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    (floors,) = (contract for contract in contracts if contract["id"] == "floors")
    return [room.strip(" ()") for line in floors["layers"] for room in line.split("|")]


def edges() -> Edges:
    """How many imports lead from one room to another."""
    graph = grimp.build_graph("labkit", *SURFACES, exclude_type_checking_imports=False)
    found: Edges = {}
    for importer in graph.modules:
        for imported in graph.find_modules_directly_imported_by(importer):
            pair = room_of(importer), room_of(imported)
            if pair[0] != pair[1] and "labkit" not in pair:  # the package itself is not a room
                found[pair] = found.get(pair, 0) + 1
    return found


def room_of(module: str) -> str:
    """The room a module belongs to: a package in labkit, or another package."""
    package, _, rest = module.partition(".")
    return (rest.partition(".")[0] or package) if package == "labkit" else package


def picture(order: list[str], found: Edges) -> str:
    """A square for each pair of rooms with how often the row imports the column, darker where it is more often."""
    used = [room for room in order if any(room in pair for pair in found)]
    corner = 30 + 9 * max(map(len, used))
    at = {room: corner + SIDE * number for number, room in enumerate(used)}
    size = f'width="{corner + SIDE * len(used) + 30}" height="{corner + SIDE * len(used) + 10}"'
    style = f"text {{ font: 13px sans-serif; fill: {INK} }} line {{ stroke: #ddd }}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img"><title>Which room imports which</title>',
        f'<style>{style}</style><rect {size} fill="white"/>',
    ]
    for room, place in at.items():
        middle, end = place + SIDE / 2, corner + SIDE * len(used)
        parts.append(f'<line x1="{corner}" x2="{end}" y1="{place}" y2="{place}"/>')
        parts.append(f'<text x="{corner - 8}" y="{middle + 4}" text-anchor="end">{room}</text>')
        parts.append(f'<text transform="translate({middle + 4} {corner - 8}) rotate(-50)">{room}</text>')
        parts.append(f'<rect x="{place}" y="{place}" width="{SIDE}" height="{SIDE}" fill="#eee"/>')
    parts += [square(at[a], at[b], count, f"{a} imports {b}") for (a, b), count in sorted(found.items())]
    return "\n".join([*parts, "</svg>"]) + "\n"


def square(row: float, column: float, count: int, words: str) -> str:
    """One pair; what the contract forbids, left of the diagonal, has a frame."""
    shade = min(0.6, 0.1 + count / 60)
    frame = f' stroke="{WRONG}" stroke-width="3"' if column < row else ""
    where = f'x="{column}" y="{row}" width="{SIDE}" height="{SIDE}"'
    box = f'<rect {where} fill="{BLUE}" fill-opacity="{shade:.2f}"{frame}/>'
    number = f'<text x="{column + SIDE / 2}" y="{row + SIDE / 2 + 4}" text-anchor="middle">{count}</text>'
    return f"<g><title>{words} ({count})</title>{box}{number}</g>"


def main() -> int:
    """Write the picture."""
    write_bytes(PICTURE, picture([*SURFACES, *rooms()], edges()).encode())
    print(f"labkit: {PICTURE}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
