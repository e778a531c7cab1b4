"""A sealed room for one process on Linux. Runs as a file, with the standard library only: python -I -S jail.py PLAN.

PLAN is JSON: what the room shows, what it runs, and its limits. In the room there are the system's libraries, Python
and the packages named, all read-only, an empty /tmp in memory, no network, no other process, no other file. Linux
namespaces do it: for root directly, and the process becomes a user without rights; for others in a user namespace.
Exit code 99 means that the room could not be made.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import platform
import resource
import sys
from typing import Any

NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = (
    0x00020000,
    0x04000000,
    0x08000000,
    0x10000000,
    0x20000000,
    0x40000000,
)
RDONLY, NOSUID, NODEV, NOEXEC, REMOUNT, BIND, REC, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
KEPT_FLAGS = NOSUID | NODEV | NOEXEC  # of the place that is shown: a user namespace may not drop them
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}  # libc has no function for it
DETACH, PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 2, 1, 38
NO_ROOM = 99
FIRST_UID = 200_000  # nobody's: above system and ordinary users

libc = ctypes.CDLL(None, use_errno=True)


def must(result: int, what: str) -> None:
    """Raise the system's error if a call failed."""
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source: str | None, target: str, kind: str | None = None, flags: int = 0, data: str | None = None) -> None:
    """mount(2)."""
    words = [word.encode() if word else None for word in (source, target, kind, data)]
    must(libc.mount(words[0], words[1], words[2], flags, words[3]), f"mount {target}")


def show(source: str, root: str, target: str | None = None) -> None:
    """Make a file or folder visible in the room, read-only."""
    place = root + (target or source)
    if os.path.isdir(source):
        os.makedirs(place, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        open(place, "a").close()
    mount(source, place, flags=BIND)
    kept = os.statvfs(place).f_flag & KEPT_FLAGS
    writable = source in ("/dev/null", "/dev/zero", "/dev/urandom")
    mount(None, place, flags=REMOUNT | BIND | NOSUID | kept | (0 if writable else RDONLY | NODEV))


def build(plan: dict[str, Any]) -> None:
    """Mount everything below a root in memory and move into it."""
    root = plan["root"]
    mount(None, "/", flags=REC | PRIVATE)
    mount("room", root, "tmpfs", NOSUID | NODEV, "size=1m,mode=755")
    for source, target in plan["shown"]:
        show(source, root, target)
    for hidden in plan["hidden"]:
        if os.path.isdir(root + hidden):
            mount("nothing", root + hidden, "tmpfs", NOSUID | NODEV | RDONLY, "size=4k")
    for link, target in plan["links"]:
        if not os.path.lexists(root + link):
            os.makedirs(os.path.dirname(root + link), exist_ok=True)
            os.symlink(target, root + link)
    for device in ("/dev/null", "/dev/zero", "/dev/urandom"):
        show(device, root)
    for folder in ("/tmp", "/proc", "/old"):
        os.makedirs(root + folder, exist_ok=True)
    mount("scratch", root + "/tmp", "tmpfs", NOSUID | NODEV, f"size={plan['scratch_mb']}m,nr_inodes=2000,mode=1777")
    os.chdir(root)
    must(libc.syscall(PIVOT_ROOT[platform.machine()], b".", b"old"), "pivot_root")
    must(libc.umount2(b"/old", DETACH), "umount")
    os.rmdir("/old")
    mount(None, "/", flags=REMOUNT | RDONLY | NOSUID | NODEV)
    os.chdir("/tmp")


def limit(plan: dict[str, Any]) -> None:
    """No more memory, time, files and processes than planned."""
    for name, value in plan["limits"].items():
        resource.setrlimit(getattr(resource, name), (value, value))


def enter(plan: dict[str, Any]) -> None:
    """The first process of the room: mount what only it may see, give up all rights, and become the program."""
    with contextlib.suppress(OSError):  # where /proc is masked, as in some containers, the room has none
        mount("proc", "/proc", "proc", NOSUID | NODEV | NOEXEC)
    if plan["as_root"]:
        os.setgroups([])
        os.setresgid(plan["uid"], plan["uid"], plan["uid"])
        os.setresuid(plan["uid"], plan["uid"], plan["uid"])
    limit(plan)
    must(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    must(libc.prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0), "pdeathsig")  # if the one outside is killed, all end
    os.execve(plan["command"][0], plan["command"], plan["environment"])


def main() -> int:
    """Make the room, run the program in it, and pass on how it ended."""
    plan = json.loads(sys.argv[1])
    plan["as_root"] = os.geteuid() == 0
    plan["uid"] = FIRST_UID + os.getpid()  # one for each room, so that the limit on processes is its own
    user, group = os.geteuid(), os.getegid()
    os.umask(0o022)
    try:
        flags = NEWNS | NEWPID | NEWNET | NEWIPC | NEWUTS | (0 if plan["as_root"] else NEWUSER)
        must(libc.unshare(flags), "unshare")
        if not plan["as_root"]:
            for name, text in (("setgroups", "deny"), ("uid_map", f"1000 {user} 1"), ("gid_map", f"1000 {group} 1")):
                with open(f"/proc/self/{name}", "w") as file:
                    file.write(text)
        build(plan)
    except (OSError, KeyError) as error:
        print(error, file=sys.stderr)
        return NO_ROOM
    child = os.fork()
    if child == 0:
        try:
            enter(plan)
        except BaseException as error:
            print(error, file=sys.stderr)
        os._exit(NO_ROOM)
    os.close(0)
    os.close(1)  # so that the end of the program is the end of its output
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) % 256


if __name__ == "__main__":
    sys.exit(main())
