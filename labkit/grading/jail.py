"""A sealed room for one process on Linux. Runs as a file, with the standard library only: python -I -S jail.py PLAN.

PLAN is JSON: what the room shows, what it runs, and its limits. In the room there are the system's libraries, Python
and the packages named, all read-only, an empty /tmp in memory, no network, no other process, no /proc, no other file.
Linux namespaces do it: for root directly, and the program becomes a user without rights; for others in a user
namespace. Three processes: the one outside, the room's first one, and the program. The first two are ours, the program
cannot touch them; when the grader ends, the one outside is killed by the kernel, then the first one, and with it
whatever is in the room. Exit code 99 means that the room could not be made.
"""

from __future__ import annotations

import base64
import ctypes
import json
import os
import platform
import resource
import select
import signal
import sys
from typing import Any, NoReturn

NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = (0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
RDONLY, NOSUID, NODEV, NOEXEC, REMOUNT, BIND, REC, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
KEPT_FLAGS = NOSUID | NODEV | NOEXEC  # of the place that is shown: a user namespace may not drop them
DETACH, JOIN_SESSION_KEYRING = 2, 1
CALLS = {"x86_64": (155, 250), "aarch64": (41, 219)}  # pivot_root and keyctl, for which libc has no functions
SET_PDEATHSIG, SET_DUMPABLE, SET_SECCOMP, SET_NO_NEW_PRIVS = 1, 4, 22, 38
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")
NO_ROOM = 99
FIRST_UID = 200_000  # nobody's: above system and ordinary users

libc = ctypes.CDLL(None, use_errno=True)


def must(result: int, what: str) -> None:
    """Raise the system's error if a call failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source: str | None, target: str, kind: str | None = None, flags: int = 0, data: str | None = None) -> None:
    """mount(2), as libc has it."""
    words = [word.encode() if word else None for word in (source, target, kind, data)]
    must(libc.mount(words[0], words[1], words[2], flags, words[3]), f"mount {target}")


def pivot(new: str, old: str) -> None:
    """Make one mount the root and put the old root somewhere below it, or beneath it."""
    must(libc.syscall(CALLS[platform.machine()][0], new.encode(), old.encode()), "pivot_root")


def show(source: str, target: str) -> None:
    """Make a file or folder of the system visible in the room, read-only."""
    place, outside = f"/new{target}", f"/old{source}"
    if os.path.isdir(outside):
        os.makedirs(place, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        open(place, "a").close()
    mount(outside, place, flags=BIND)
    kept = os.statvfs(place).f_flag & KEPT_FLAGS
    mount(None, place, flags=REMOUNT | BIND | NOSUID | kept | (0 if source in DEVICES else RDONLY | NODEV))


def build(plan: dict[str, Any]) -> None:
    """Build the room in memory, over /tmp where nobody else sees it, and move into it; no folder is left behind."""
    mount(None, "/", flags=REC | PRIVATE)
    mount("base", "/tmp", "tmpfs", NOSUID | NODEV, "size=1m,mode=755")
    os.mkdir("/tmp/new")
    os.mkdir("/tmp/old")
    pivot("/tmp", "/tmp/old")
    os.chdir("/")
    mount("room", "/new", "tmpfs", NOSUID | NODEV, "size=1m,mode=755")
    for source, target in plan["shown"]:
        show(source, target)
    for hidden in plan["hidden"]:
        if os.path.isdir(f"/new{hidden}"):
            mount("nothing", f"/new{hidden}", "tmpfs", NOSUID | NODEV | RDONLY, "size=4k")
    for link, target in plan["links"]:
        if not os.path.lexists(f"/new{link}"):
            os.makedirs(os.path.dirname(f"/new{link}"), exist_ok=True)
            os.symlink(target, f"/new{link}")
    for device in DEVICES:
        show(device, device)
    os.mkdir("/new/tmp")
    mount("scratch", "/new/tmp", "tmpfs", NOSUID | NODEV, f"size={plan['scratch_mb']}m,nr_inodes=2000,mode=1777")
    os.chdir("/new")
    pivot(".", ".")
    must(libc.umount2(b".", DETACH), "umount")  # what was the root, with all that was in it
    mount(None, "/", flags=REMOUNT | RDONLY | NOSUID | NODEV)
    os.chdir("/tmp")


def die_with(parent_is_there: bool) -> None:
    """Be killed when the parent ends, by whatever signal; and now, if it has ended already."""
    must(libc.prctl(SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "pdeathsig")
    if not parent_is_there:
        os._exit(NO_ROOM)


def become_program(plan: dict[str, Any]) -> NoReturn:
    """Give up all rights, accept the limits and the filter of system calls, and become the program."""
    if plan["as_root"]:
        os.setgroups([])
        os.setresgid(plan["uid"], plan["uid"], plan["uid"])
        os.setresuid(plan["uid"], plan["uid"], plan["uid"])
    for name, value in plan["limits"].items():
        resource.setrlimit(getattr(resource, name), (value, value))
    os.closerange(3, 1024)
    must(libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    steps = base64.b64decode(plan["seccomp"])

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))

    filter_ = Program(len(steps) // 8, steps)
    must(libc.prctl(SET_SECCOMP, 2, ctypes.byref(filter_), 0, 0), "seccomp")
    os.execve(plan["command"][0], plan["command"], plan["environment"])


def first_process(plan: dict[str, Any], outside: int) -> NoReturn:
    """The room's first process: starts the program and ends with it; the kernel then ends all that is left."""
    die_with(parent_is_there=not select.select([outside], [], [], 0)[0])  # it hears nothing but the end of it
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # what a first process does not handle, the room cannot send it
    libc.prctl(SET_DUMPABLE, 0, 0, 0, 0)
    program = os.fork()
    if program == 0:
        try:
            become_program(plan)
        except BaseException as error:
            print(error, file=sys.stderr)
        os._exit(NO_ROOM)
    os.close(0)
    os.close(1)  # so that the end of the program is the end of its output
    while True:
        ended, status = os.wait()
        if ended == program:
            os._exit(os.waitstatus_to_exitcode(status) % 256)


def main() -> int:
    """Make the room, run the program in it, and pass on how it ended."""
    plan = json.loads(sys.argv[1])
    plan["as_root"] = os.geteuid() == 0
    plan["uid"] = FIRST_UID + os.getpid()  # one for each room, so that the limit on processes is its own
    user, group = os.geteuid(), os.getegid()
    os.umask(0o022)
    try:
        libc.syscall(CALLS[platform.machine()][1], JOIN_SESSION_KEYRING, None)  # away from the grader's keys
        flags = NEWNS | NEWPID | NEWNET | NEWIPC | NEWUTS | (0 if plan["as_root"] else NEWUSER)
        must(libc.unshare(flags), "unshare")
        if not plan["as_root"]:
            for name, text in (("setgroups", "deny"), ("uid_map", f"1000 {user} 1"), ("gid_map", f"1000 {group} 1")):
                with open(f"/proc/self/{name}", "w") as file:
                    file.write(text)
        die_with(parent_is_there=os.getppid() == plan["parent"])  # after what changes rights, which would forget it
        build(plan)
    except (OSError, KeyError) as error:
        print(error, file=sys.stderr)
        return NO_ROOM
    hears, alive = os.pipe()
    first = os.fork()
    if first == 0:
        os.close(alive)
        try:
            first_process(plan, hears)
        except BaseException as error:
            print(error, file=sys.stderr)
        os._exit(NO_ROOM)
    os.close(0)
    os.close(1)
    _, status = os.waitpid(first, 0)
    return os.waitstatus_to_exitcode(status) % 256


if __name__ == "__main__":
    sys.exit(main())
