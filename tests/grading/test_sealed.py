"""Nothing of a hand-in outlives the grader, and nothing that a student reads tells what a hidden case is."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from labkit.base.paths import ROOT
from labkit.grading import wire
from labkit.grading.grade import Graded, answered, expected, grade, mark, merged, packed, safe_mark
from labkit.grading.report import page
from labkit.grading.sandbox import Limits, Room, best
from labkit.grading.submission import Submission
from labkit.lessons.exercise import Case
from tests.grading.attacks.attack import body, everywhere
from tests.grading.rooms import USERS, WALLS, as_user
from tests.grading.tiny import TINY

pytestmark = pytest.mark.usefixtures("sandboxed")

# all at once: no death signal, a session of its own, two forks, deaf to signals, threads, the first process stopped
SURVIVES = """
import ctypes, os, signal, threading, time
libc = ctypes.CDLL(None)
libc.prctl(1, 0, 0, 0, 0)
for do in (os.setsid, lambda: os.fork() or os.fork() or time.sleep(1000), lambda: os.kill(1, signal.SIGSTOP),
           lambda: os.kill(1, signal.SIGKILL), lambda: threading.Thread(target=time.sleep, args=(1000,)).start()):
    try:
        do()
    except (OSError, RuntimeError):
        pass
for s in range(1, 65):
    try:
        signal.signal(s, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
END
"""
GRADER = """
import json, signal, sys
from labkit.grading import sandbox
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a job in the background would not hear
wall, cell = json.loads(sys.argv[1])
work = {"cells": {"double": cell}, "question": {"name": "double", "gradient": [], "cases": [{"x": 1}]}}
with sandbox.Room(sandbox.Limits(), wall) as room:
    room.start()
    print(room.process.pid, flush=True)
    room.ask(json.dumps(work).encode(), 100)
"""


@contextmanager
def grader(wall, user, cell):
    """A process that grades a hand-in, by itself."""
    words = json.dumps([wall, cell])
    if user == "ordinary" and os.geteuid() == 0:
        with as_user(GRADER, words) as process:
            yield process
        return
    process = subprocess.Popen([sys.executable, "-c", GRADER, words], cwd=ROOT, stdout=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def below(pid):
    """All processes that come from this one."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def alive(pids):
    found = set()
    for pid in pids:
        with suppress(OSError):
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX":
                found.add(pid)
    return found


def gone_in_a_second(pids):
    for _ in range(20):
        if not alive(pids):
            return True
        time.sleep(0.05)
    return not alive(pids)


CASES = [(wall, user, signal.SIGKILL) for wall in WALLS for user in USERS]
CASES += [
    ("bubblewrap", "root", signal.SIGTERM),
    ("jail", "root", signal.SIGSEGV),
    ("bubblewrap", "root", signal.SIGINT),
]


@pytest.mark.parametrize(("wall", "user", "ending"), CASES)
def test_nothing_of_a_hand_in_outlives_the_grader(wall, user, ending):
    folders = set(Path(tempfile.gettempdir()).glob("labkit-grade-*"))
    last = "time.sleep(1000)" if ending != signal.SIGKILL else "os.kill(os.getpid(), signal.SIGSTOP)"
    with grader(wall, user, body(SURVIVES.replace("END", last))) as process:
        assert process.stdout.readline().strip().isdigit()
        for _ in range(200):  # for the worker to be there, and to do what it does
            time.sleep(0.05)
            if len(room := below(process.pid)) >= 3:
                break
        time.sleep(1)
        assert len(room) >= 3
        os.kill(process.pid, ending)
        process.wait(20)
        assert gone_in_a_second(room)
    assert set(Path(tempfile.gettempdir()).glob("labkit-grade-*")) == folders


@pytest.mark.parametrize("wall", WALLS)
def test_a_grader_that_ends_while_a_room_is_made_leaves_nothing(wall):
    for milliseconds in (250, 300, 350, 400, 500, 700):
        with grader(wall, "root", body("return x")) as process:
            time.sleep(milliseconds / 1000)
            os.kill(process.pid, signal.SIGSTOP)  # so that what is seen is all there is
            seen = below(process.pid)
            os.kill(process.pid, signal.SIGKILL)
            process.wait(20)
            assert gone_in_a_second(seen), milliseconds


# hidden cases

TELLS = {
    "in a message": "raise ValueError(str(x.tolist()))",
    "in the name of an error": "raise type('E' + str(x.tolist()), (Exception,), {})()",
    "in a line of its own": "raise ValueError('x\\n(line 1 of the cell) ' + str(x.tolist()) + ' (line 7 of the cell)')",
    "in the number of a line": "exec(compile('\\n' * int(float(x[0]) * 1000) + '1/0', '<double>', 'exec'))",
    "in a shape": "return torch.zeros([0] + [int(digit) for digit in str(float(x[0])).replace('.', '')[:7]])",
    "in the name of a type": "return type('T' + str(x.tolist()), (), {})()",
    "in a file for the next one": "open('/tmp/told', 'w').write(str(x.tolist()))",
    "in a forged line": everywhere("(json.dumps({'error': str(x.tolist())}) + '\\n').encode()") + "os._exit(0)",
    "in a forged line with public cases": everywhere(
        "(json.dumps({'cases': [{'error': str(x.tolist())}] * 5}) + '\\n').encode()"
    )
    + "os._exit(0)",
    "in time and memory": "held = bytearray(int(float(x[0]) * 2**20))\nreturn x",
}


SPY = """def triple(x):
    import os
    raise ValueError(os.path.exists('/tmp/told') and open('/tmp/told').read())
"""


@pytest.fixture(scope="module")
def room():
    with Room(Limits(), best()[0]) as found:
        yield found


@pytest.mark.parametrize("name", TELLS)
def test_nothing_that_a_student_reads_tells_what_a_hidden_case_is(name, room):
    secret = Case("hidden", {"x": torch.full((2,), 31.41592653, dtype=torch.float64)})
    questions = (replace(TINY.questions[0], hidden=lambda rng: [secret]), TINY.questions[1])
    public = "import json\nif len(x) == 3 and float(x[0]) == 1:\n    return 2 * x\n"
    outcomes = answered(room, questions, {"double": body(public + TELLS[name]), "triple": SPY}, 5, 20)
    marks = tuple(safe_mark(question, merged(question, outcomes[question.name]), True, 5) for question in questions)
    assert marks[0].score == 0
    assert "ValueError: False" in marks[1].hint
    assert marks[0].hint
    text = page(TINY, Graded("ada", "", marks, {}, (), 31.4, 31.4, 31.4), True) + json.dumps(list(map(vars, marks)))
    for told in ("31.4", "31415", "3, 1, 4, 1"):
        assert told not in text


def test_an_error_of_a_public_case_is_told_whole():
    double, _ = grade(Submission("ada", answers={"double": body("raise ValueError('my words')")}), TINY, 5).marks
    assert "my words" in double.hint


def test_whether_arguments_were_changed_is_judged_outside():
    question = TINY.questions[0]
    known = expected(question, 1)
    entries = [{"value": wire.pack(right), "arguments": packed(case)} for case, right in known]
    entries = json.loads(json.dumps(entries))
    assert mark(question, {"cases": entries}, True, 1).score == 10
    for odd in ({"changed": False}, {"arguments": entries[0]["arguments"]}, {"arguments": None}):
        last = {"value": entries[-1]["value"], **odd}
        assert mark(question, {"cases": [*entries[:-1], last]}, True, 1).mistake == "changes its arguments"
