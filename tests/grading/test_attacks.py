"""No hand-in gets points it does not deserve, hurts the honest answer beside it, or outlives its grading."""

import json
import socket
import time
from contextlib import suppress
from pathlib import Path

import pytest

from labkit.grading.grade import grade
from labkit.grading.sandbox import Limits
from labkit.grading.submission import Submission
from tests.grading.attacks import ATTACKS
from tests.grading.tiny import TINY, TRIPLE

pytestmark = pytest.mark.usefixtures("sandboxed")


SPOILS_ITS_OWN = {"answers for another question"}  # sends nonsense in the name of its own second answer
LIMITS = Limits(seconds=3)


@pytest.fixture(scope="module")
def listening():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name, tmp_path, monkeypatch, listening):
    cells, deserved, hint = ATTACKS[name]
    secret = tmp_path / "solutions.ipynb"
    secret.write_text("the solutions")
    local = tmp_path / "socket"
    unix = socket.socket(socket.AF_UNIX)
    unix.bind(str(local))
    unix.listen()
    monkeypatch.setenv("LABKIT_SECRET", "hidden")
    for mark, value in (("{secret}", str(secret)), ("{port}", str(listening)), ("{socket}", str(local))):
        cells = cells.replace(mark, value)
    started = time.monotonic()
    graded = grade(Submission("mallory", answers={"double": cells, "triple": TRIPLE}), TINY, 7, LIMITS)
    double, triple = graded.marks
    assert double.score == deserved, (double, graded)
    assert hint in double.hint
    assert triple.score == (0 if name in SPOILS_ITS_OWN else 10), (triple, graded)
    json.dumps(double.hint)
    assert time.monotonic() - started < 200
    unix.close()
    for _ in range(50):
        if not orphans():
            break
        time.sleep(0.1)
    assert not orphans()  # nothing is left running


def orphans():
    """Processes of the sandbox's users (200,000 + the number of the process that made the room) whose maker is gone."""
    found = set()
    for status in Path("/proc").glob("[0-9]*/status"):
        with suppress(OSError, IndexError):
            uid = int(status.read_text().split("Uid:")[1].split()[0])
            if uid >= 200_000 and not Path(f"/proc/{uid - 200_000}").exists():
                found.add(status.parent.name)
    return found


def test_there_are_at_least_25():
    assert len(ATTACKS) >= 25
