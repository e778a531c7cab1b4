"""The room itself, by both walls and for both users: what is in it, and that one that cannot be made says why."""

import errno
import os
import platform
import subprocess
import sys

import pytest

from labkit.base.errors import LabkitError
from labkit.grading import cgroup, sandbox, seccomp, walls, wire
from labkit.grading.sandbox import Limits, Room
from tests.grading.attacks.attack import body
from tests.grading.rooms import USERS, WALLS, as_user, readable_place, room_of, work_of

ROOMS = [f"{wall}, {user}" for wall in WALLS for user in USERS]


@pytest.fixture(scope="module", params=ROOMS)
def room(request):
    with room_of(*request.param.split(", "), Limits()) as found:
        yield found


def returned(room, text, x):
    """What a `double` returns in the room."""
    found = room.ask(work_of(body(text), {"x": wire.pack(x)}), 20).answer
    return wire.unpack(found["cases"][0]["value"])


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


def test_system_calls_that_lead_around_the_walls_are_refused(room):
    column = seccomp.MACHINES[platform.machine()][1]
    numbers = {name: both[column] for name, both in seccomp.REFUSED.items() if both[column] is not None}
    assert returned(room, REFUSED, numbers) == dict.fromkeys(numbers, errno.EPERM)
    assert len(numbers) > 50
    others = {"clone3": seccomp.CLONE3[column], "clone": seccomp.CLONE[column], "new": seccomp.NEWEST}
    assert returned(room, REFUSED, others) == {"clone3": errno.ENOSYS, "clone": errno.EAGAIN, "new": errno.ENOSYS}


SEEN = """
import os
found = []
for here, folders, files in os.walk("/"):
    if here.startswith(("/usr/lib", "/room/packages", "/room/python/lib")):
        folders.clear()
        continue
    found += [os.path.join(here, name) for name in files]
try:
    socket = __import__("socket").socket(1)
except OSError as error:
    socket = error.errno
return [sorted(found), sorted(os.listdir("/")), os.uname().nodename, os.getuid() * os.geteuid(), socket]
"""


def test_a_room_holds_nothing_but_python_and_torch(room):
    files, root, name, user, socket = returned(room, SEEN, 0)
    assert set(root) <= {"dev", "etc", "lib", "lib64", "room", "tmp", "usr"}  # no /proc, and no path of the host
    known = {"/dev/null", "/dev/urandom", "/dev/zero", "/etc/ld.so.cache", "/room/child.py", "/room/wire.py"}
    assert [file for file in files if file not in known and "/bin/python" not in file] == []
    assert name == "room"
    assert user
    assert socket == errno.EPERM


def test_the_filter_is_only_for_machines_that_it_knows():
    assert len(seccomp.program("aarch64")) % 8 == 0
    with pytest.raises(ValueError, match="riscv64"):
        seccomp.program("riscv64")


@pytest.mark.usefixtures("sandboxed")
@pytest.mark.parametrize("wall", WALLS)
def test_a_room_that_cannot_be_made_says_so(wall, monkeypatch):
    program, shown, hidden, links = walls.room()
    monkeypatch.setattr(walls, "room", lambda: (program, [*shown, ("/no/such/file", "/x")], hidden, links))
    with Room(Limits(), wall) as room, pytest.raises(LabkitError, match=r"no room could be made: .*/no/such/file"):
        room.ask(b"", 1)


def test_bubblewrap_comes_first_and_our_own_jail_where_it_is_not(monkeypatch):
    for there, works, best in (
        ("/usr/bin/bwrap", {"bubblewrap", "jail"}, ("bubblewrap", "")),
        ("/usr/bin/bwrap", {"jail"}, ("jail", "")),
        (None, {"bubblewrap", "jail"}, ("jail", "")),
        (None, set(), ("none", "jail has trouble")),
    ):
        monkeypatch.setattr(
            sandbox, "trouble", lambda wall, works=works: "" if wall in works else f"{wall} has trouble"
        )
        monkeypatch.setattr(sandbox.shutil, "which", lambda name, there=there: there)
        monkeypatch.setattr(sandbox.walls, "unreadable", str)
        monkeypatch.setattr(sandbox.sys, "platform", "linux")
        assert sandbox.best.__wrapped__() == best
    monkeypatch.setattr(sandbox.sys, "platform", "darwin")
    assert "darwin" in sandbox.best.__wrapped__()[1]


ASKS = "from labkit.grading.sandbox import best\nprint(best())"


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="needs root, to become somebody else")
def test_where_python_cannot_be_read_the_message_says_what_to_do():
    """As root: the room's user cannot read what only its owner can."""
    with readable_place() as place:
        (place / "packages/torch").chmod(0o700)
        words = {"PYTHONPATH": f"{place}:{place / 'packages'}", "PATH": os.defpath}
        asked = [place / "bin/python", "-S", "-c", ASKS]
        done = subprocess.run(asked, capture_output=True, text=True, env=words, cwd="/", timeout=200)
    assert f"cannot read {place / 'packages/torch'}" in done.stdout, done
    assert "chmod -R o+rX" in done.stdout


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="needs root, to become somebody else")
def test_an_ordinary_user_has_the_best_wall():
    with as_user(ASKS) as process:
        assert process.stdout.read().decode().strip() == repr(sandbox.best())


# memory in sum


HOLDS = """
import os, fcntl
held, pipes = [], []
try:
    while True:
        r, w = os.pipe()
        pipes.append((r, w))
        os.set_blocking(w, False)
        fcntl.fcntl(w, 1031, 2**20)
        os.write(w, bytes(2**20))
except OSError:
    pass
size = 2**28
while size > 2**16:
    try:
        held.append(bytearray(size))
        held[-1][::4096] = bytes(len(held[-1][::4096]))
    except MemoryError:
        size //= 2
return sum(map(len, held))
"""


def test_the_memory_of_a_room_is_bounded_in_sum():
    limits = Limits(memory_mb=2048)
    with room_of(sandbox.best()[0], "root" if os.geteuid() == 0 else "ordinary", limits) as room:
        found = room.ask(work_of(body(HOLDS), {"x": 1}), 60)
    assert found.ended in ("done", "died")
    assert 300 < found.memory_mb < limits.memory_mb


def test_a_group_counts_the_memory_of_a_room_where_the_system_lets_us():
    group = cgroup.open_group(100)
    if group is None:
        pytest.skip("no control group can be made here")
    try:
        join = f"open({str(group / 'cgroup.procs')!r}, 'w').write(str(__import__('os').getpid()))\n"
        eats = "x = [bytearray(2**20) for _ in range(400)]\nprint('ate')"
        done = subprocess.run([sys.executable, "-S", "-c", join + eats], capture_output=True, timeout=60)
        assert done.returncode == -9
        assert b"ate" not in done.stdout
    finally:
        cgroup.remove(group)
    assert not group.exists()


@pytest.mark.parametrize(
    ("membership", "version", "file"),
    [
        ("4:memory:/jobs/one\n0::/\n", 1, "memory/jobs/one"),
        ("9:cpu,memory:/\n", 1, "memory"),
        ("0::/user.slice/app.scope\n", 2, "user.slice"),
    ],
)
def test_groups_of_both_versions(membership, version, file, tmp_path, monkeypatch):
    own = tmp_path / "own"
    own.write_text(membership)
    places = cgroup.places(membership, tmp_path)
    assert (version, tmp_path / file) in places
    for _, place in places:
        place.mkdir(parents=True, exist_ok=True)
    stale = tmp_path / file / "labkit-999999999-0"
    stale.mkdir()

    def mkdir(path):  # as the kernel does, but only where a controller is on
        original(path)
        if path.parent == tmp_path / file:
            for name, _, _ in cgroup.VERSIONS[version]:
                (path / name).write_text("max")

    original = type(tmp_path).mkdir
    monkeypatch.setattr(type(tmp_path), "mkdir", mkdir)
    group = cgroup.open_group(7, tmp_path, own)
    assert group.parent == tmp_path / file
    assert (group / cgroup.VERSIONS[version][0][0]).read_text().startswith(str(7 * 2**20))
    assert not stale.exists()  # of a grader that was killed
    own.write_text("0::/nowhere/at/all\n")
    assert cgroup.open_group(7, tmp_path, own) is None
