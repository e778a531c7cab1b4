"""The walls of the room: which system calls are refused, and that nothing of a hand-in outlives the grader."""

import errno
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pytest

from labkit.base.paths import ROOT
from labkit.grading import seccomp, wire
from labkit.grading.grade import expected, grade, mark, packed
from labkit.grading.sandbox import Limits, run
from labkit.grading.submission import Submission
from tests.grading.attacks import body
from tests.grading.tiny import TINY, TRIPLE

pytestmark = pytest.mark.usefixtures("sandboxed")


def returned(cell, limits=None, **arguments):
    """What a `double` returns in the room."""
    cases = [{name: wire.pack(value) for name, value in arguments.items()}]
    job = {"cells": {"double": cell}, "questions": [{"name": "double", "gradient": [], "cases": cases}]}
    ended = run(wire.line(job), limits or Limits(seconds=20))
    found = next(line for line in ended.lines if "question" in line)
    return wire.unpack(found["cases"][0]["value"]) if "cases" in found else found


REFUSED = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
found = {}
for name, number in x.items():
    ctypes.set_errno(0)
    result = libc.syscall(number, 0, 0, 0, 0, 0, 0)
    found[name] = 0 if result >= 0 else ctypes.get_errno()
return found
"""


def test_system_calls_that_lead_around_the_walls_are_refused():
    column = seccomp.MACHINES[platform.machine()][1]
    numbers = {name: both[column] for name, both in seccomp.REFUSED.items() if both[column] is not None}
    assert returned(body(REFUSED), x=numbers) == dict.fromkeys(numbers, errno.EPERM)
    assert len(numbers) > 40
    assert returned(body(REFUSED), x={"clone3": seccomp.CLONE3[column]}) == {"clone3": errno.ENOSYS}
    assert returned(body(REFUSED), x={"clone": seccomp.CLONE[column]}) == {"clone": errno.EAGAIN}


FAMILIES = """
import socket
found = []
for family in range(50):
    try:
        socket.socket(family, socket.SOCK_DGRAM).close()
        found.append(family)
    except OSError:
        pass
return found
"""


def test_there_are_no_sockets_but_local_ones():
    assert returned(body(FAMILIES), x=0) == [int(seccomp.AF_UNIX)]


SEEN = """
import os
found = []
for here, folders, files in os.walk("/"):
    if here.count("/") > 3:
        folders.clear()
    found += [os.path.join(here, name) for name in files if not here.startswith(("/usr/lib", "/room/packages"))]
return [found, os.path.exists("/proc/self"), sorted(os.listdir("/"))]
"""


def test_the_room_holds_nothing_but_python_and_torch():
    files, proc, root = returned(body(SEEN), x=0)
    assert not proc  # no mountinfo, no environment of others, no process to see
    assert set(root) <= {"dev", "etc", "lib", "lib64", "room", "tmp", "usr", *Path(sys.base_prefix).parts[1:2]}
    assert [name for name in files if name.startswith("/etc")] == ["/etc/ld.so.cache"]


# how a hand-in may try to live on
SURVIVORS = {
    "sleeps": "import time\ntime.sleep(1000)",
    "a session of its own": "import os, time\ntry:\n    os.setsid()\nexcept OSError:\n    pass\ntime.sleep(1000)",
    "no death signal": "import ctypes, time\nctypes.CDLL(None).prctl(1, 0, 0, 0, 0)\ntime.sleep(1000)",
    "ignores signals": "import signal, time\nfor s in range(1, 65):\n    try:\n        signal.signal(s, 1)\n"
    "    except (OSError, ValueError):\n        pass\ntime.sleep(1000)",
    "stops itself": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    "stops the first process": "import os, signal, time\ntry:\n    os.kill(1, signal.SIGSTOP)\n"
    "except OSError:\n    pass\ntime.sleep(1000)",
    "threads": "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()\ntime.sleep(1000)",
}
GRADER = """
import sys
from labkit.grading import wire
from labkit.grading.sandbox import Limits, run
job = {"cells": {"double": sys.argv[1]}, "questions": [{"name": "double", "gradient": [], "cases": [{"x": 1}]}]}
print("starts", flush=True)
run(wire.line(job), Limits(seconds=100))
"""


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


@pytest.mark.parametrize("name", SURVIVORS)
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM], ids=lambda s: s.name)
def test_nothing_of_a_hand_in_outlives_the_grader(name, ending):
    folders = set(Path(tempfile.gettempdir()).glob("labkit-grade-*"))
    grader = subprocess.Popen(
        [sys.executable, "-c", GRADER, body(SURVIVORS[name])], cwd=ROOT, stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        assert grader.stdout.readline() == b"starts\n"
        room = wait_for_program(grader.pid)
        time.sleep(1)  # for the hand-in to do what it does
        os.kill(grader.pid, ending)
        grader.wait()
        for _ in range(20):
            time.sleep(0.05)
            if not alive(room):
                break
        assert not alive(room)
        assert set(Path(tempfile.gettempdir()).glob("labkit-grade-*")) == folders
    finally:
        grader.kill()
        grader.stdout.close()


def wait_for_program(grader):
    """The processes of the room, once the hand-in's own has imported torch and runs."""
    for _ in range(600):
        time.sleep(0.1)
        room = below(grader)
        if len(room) >= 3 and any(has_torch(pid) for pid in room):
            return room
    raise AssertionError("the hand-in has not started")


def has_torch(pid):
    with suppress(OSError):
        return "libtorch_cpu" in Path(f"/proc/{pid}/maps").read_text()
    return False


TELLS = {
    "in a message": "raise ValueError(str(x.tolist()))",
    "in the name of an error": "raise type('E' + str(x.tolist()), (Exception,), {})()",
    "in a line of its own": "raise ValueError('x\\n(line 1 of the cell) ' + str(x.tolist()) + ' (line 7 of the cell)')",
}


@pytest.mark.parametrize("name", TELLS)
def test_an_error_does_not_tell_what_a_hidden_case_is(name):
    cell = body(f"if len(x) == 3 and float(x[0]) == 1:\n    return 2 * x\n{TELLS[name]}")  # the public case is right
    question = TINY.questions[0]
    double, _ = grade(Submission("ada", answers={"double": cell, "triple": TRIPLE}), TINY, 5).marks
    hidden = next(case for case in question.cases(5) if case.label == "random 1")
    secret = str(hidden.arguments["x"].tolist()[0])
    assert double.score == 0
    assert "It stops with" in double.hint
    assert secret[:8] not in json.dumps(double.hint) + json.dumps(double.rows)


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


def test_the_filter_is_only_for_machines_that_it_knows():
    assert len(seccomp.program("aarch64")) % 8 == 0
    with pytest.raises(ValueError, match="riscv64"):
        seccomp.program("riscv64")
