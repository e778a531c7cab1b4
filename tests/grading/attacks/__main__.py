"""python -m tests.grading.attacks [FILE]: tries every attack in every room of this machine, and writes the table."""

import sys
import tempfile
from pathlib import Path

import pytest

from tests.grading.attacks.table import AIMS
from tests.grading.rooms import USERS, WALLS, room_of
from tests.grading.test_attacks import LIMITS, attacked, honest


def main() -> None:
    """All attacks in one room after the other; how many rooms blocked each."""
    tried: dict[str, int] = {}
    blocked: dict[str, int] = {}
    rooms = []
    for wall in WALLS:
        for user in USERS:
            try:
                with room_of(wall, user, LIMITS) as room:
                    try_all(room, tried, blocked)
                rooms.append(f"{wall} ({user} user)" if user == "ordinary" else f"{wall} ({user})")
            except pytest.skip.Exception as reason:
                print(f"{wall}, {user}: {reason}", file=sys.stderr)
    text = table(rooms, tried, blocked)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text, encoding="utf-8")
    print(text)


def try_all(room, tried, blocked):
    """An attack is blocked if it gets no points, its hint is the one it should be, and an honest answer goes on."""
    assert honest(room)
    with tempfile.TemporaryDirectory() as folder:
        for attacks in AIMS.values():
            for attack in attacks:
                for left in Path(folder).iterdir():
                    left.unlink()
                double, right = attacked(room, attack, Path(folder))
                stands = double.score == 0 and attack.hint in double.hint and right
                tried[attack.name] = tried.get(attack.name, 0) + 1
                blocked[attack.name] = blocked.get(attack.name, 0) + stands
                print("." if stands else f"\n{attack.name}: {double}\n", end="", file=sys.stderr, flush=True)


def table(rooms, tried, blocked):
    """As Markdown, by aim."""
    lines = [
        "# Attacks on the grader",
        "",
        f"{len(tried)} hand-ins that try to cheat or to do harm, each tried in {len(rooms)} rooms: {', '.join(rooms)}. "
        "Blocked means: no points, and an honest answer in the same room is right after it. "
        f"{sum(blocked[name] == tried[name] for name in tried)} are blocked everywhere. "
        "`python -m tests.grading.attacks` makes this table.",
    ]
    for aim, attacks in AIMS.items():
        lines += ["", f"## To {aim}", "", "| attack | tried | blocked | by |", "|---|---|---|---|"]
        for attack in attacks:
            lines.append(f"| {attack.name} | {tried[attack.name]} | {blocked[attack.name]} | {attack.by} |")
    return "\n".join(lines) + "\n"


main()
