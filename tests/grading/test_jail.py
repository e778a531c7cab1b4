"""The sealed room as an ordinary user gets it, in a user namespace; root's way is what the other tests use."""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from labkit.grading import jail, seccomp

PYTHON = Path("/usr/bin/python3")  # one that an ordinary user may run
USER = 12_345

PROBE = """
import ctypes, os, socket
found = {"uid": os.getuid(), "root": sorted(os.listdir("/")), "tmp": os.listdir("/tmp")}
found["written"] = []
for place in ("/x", "/usr/lib/x", "/tmp/x"):
    try:
        open(place, "w").close()
        found["written"].append(place)
    except OSError:
        pass
found["mounted"] = ctypes.CDLL(None).mount(b"/usr", b"/tmp", b"none", 4096, None) == 0
try:
    socket.create_connection(("127.0.0.1", 9), 1)
    found["network"] = "open"
except OSError as error:
    found["network"] = error.strerror
found["forks"] = 0
try:
    while found["forks"] < 50:
        if os.fork() == 0:
            import time
            time.sleep(3)
            os._exit(0)
        found["forks"] += 1
except OSError:
    pass
import json
print(json.dumps(found))
"""


def plan_for(**changes):
    program = str(PYTHON.resolve())
    shown = [name for name in ("/usr/lib", "/usr/lib64", "/etc/ld.so.cache", program) if Path(name).exists()]
    links = [(name, os.readlink(name)) for name in ("/lib", "/lib64") if Path(name).is_symlink()]
    plan = {
        "parent": os.getpid(),
        "shown": [(name, name) for name in shown],
        "hidden": [],
        "links": links,
        "scratch_mb": 4,
        "limits": {"RLIMIT_NPROC": 4},
        "command": [program, "-I", "-S", "-c", PROBE],
        "environment": {},
        "seccomp": base64.b64encode(seccomp.program()).decode(),
    }
    return json.dumps(plan | changes)


def run_as_user(folder, **changes):
    """The jail, from a place that the user may read."""
    copy = folder / "jail.py"
    shutil.copy(jail.__file__, copy)
    return subprocess.run(
        [PYTHON, "-I", "-S", str(copy), plan_for(**changes)],
        capture_output=True,
        text=True,
        user=USER,
        group=USER,
        extra_groups=[],
        cwd="/",
        timeout=60,
    )


@pytest.fixture
def folder():
    """Every folder above it must let the user pass, which pytest's own do not."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0 or not PYTHON.exists(),
    reason="needs root, to become somebody else, and the system's own Python",
)


def test_an_ordinary_user_gets_a_sealed_room(folder):
    done = run_as_user(folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["uid"] == 1000
    assert set(found["root"]) <= {"dev", "etc", "lib", "lib64", "tmp", "usr"}
    assert found["tmp"] == []
    assert found["written"] == ["/tmp/x"]
    assert not found["mounted"]
    assert found["network"] == "Permission denied"
    assert found["forks"] == 0


def test_a_room_that_cannot_be_made_says_so(folder):
    done = run_as_user(folder, shown=[("/no/such/file", "/no/such/file")])
    assert done.returncode == jail.NO_ROOM
    assert "/no/such/file" in done.stderr
