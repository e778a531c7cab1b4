"""No hand-in gets points it does not deserve, hurts the honest answer beside it, or outlives its grading.

All attacks share a room, one for each wall and user: so none of them may change what the next one finds there. In
grading every hand-in has a room of its own.
"""

import json
import os
import socket
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from labkit.grading.grade import answered, merged, safe_mark
from labkit.grading.sandbox import Limits
from tests.grading.attacks.attack import body
from tests.grading.attacks.read import MARK
from tests.grading.attacks.table import ATTACKS
from tests.grading.rooms import USERS, WALLS, room_of, work_of
from tests.grading.tiny import TINY, TRIPLE

LIMITS = Limits(memory_mb=1024)  # torch takes 600 MB of addresses; less is filled sooner
SEED = 7
DOUBLE = TINY.questions[0]


@pytest.fixture(scope="module", params=[f"{wall}, {user}" for wall in WALLS for user in USERS])
def room(request):
    wall, user = request.param.split(", ")
    with room_of(wall, user, LIMITS) as found:
        assert honest(found)
        yield found


@contextmanager
def things_to_find(folder):
    """What a hand-in would like to find: a file, a port and a socket; the marks that stand for them in attacks."""
    secret, local = folder / "solutions.ipynb", folder / "socket"
    secret.write_text("the solutions")
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(local))
        unix.listen()
        yield {
            "{secret}": str(secret),
            "{port}": str(server.getsockname()[1]),
            "{socket}": str(local),
            "{machine}": os.uname().nodename,
        }


def marked(room, question, cell, seconds=20.0):
    """The mark that a cell gets for a question."""
    outcomes = answered(room, [question], {question.name: cell}, SEED, seconds)[question.name]
    return safe_mark(question, merged(question, outcomes), True, SEED)


def honest(room):
    """Whether an honest answer is right; its text has what no other one may find in memory."""
    found = room.ask(work_of(TRIPLE + f"# {MARK}\n", {"x": 2}, "triple"), 20)
    return found.ended == "done" and found.answer == {"cases": [{"value": 6, "arguments": {"x": 2}}]}


def attacked(room, attack, folder):
    """The mark of an attack, and whether an honest answer after it is right."""
    cell = attack.cell
    with things_to_find(folder) as found:
        for sign, value in found.items():
            cell = cell.replace(sign, value)
        return marked(room, DOUBLE, cell, attack.seconds), honest(room)


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name, room, tmp_path):
    attack = ATTACKS[name]
    before = left_in(room)
    double, right = attacked(room, attack, tmp_path)
    assert double.score == 0, double
    assert attack.hint in double.hint, double
    assert "could not be graded" not in double.hint
    assert right
    assert attack.breaks or left_in(room) == before  # the room's own processes, the same as before
    json.dumps([double.hint, double.rows], ensure_ascii=False).encode()


def test_an_honest_answer_gets_its_points(room):
    assert marked(room, DOUBLE, body("return 2 * x")).score == 10


def left_in(room):
    """The processes of a room, seen from outside."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    found = {room.process.pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def test_there_are_at_least_100():
    assert len(ATTACKS) >= 100
    assert all(attack.by for attack in ATTACKS.values())
