"""A sealed room for one process on Linux. Runs as a file, with the standard library only: python -I -S jail.py PLAN.

PLAN is JSON: what the room shows and what it runs. In the room there are the system's libraries, Python and the
packages named, all read-only, nothing to write to, no network, no other process, no /proc, no other file. bubblewrap
makes it where the plan names it, else the functions below do, in the same way. For an ordinary user both use a user
namespace; root becomes a user that has nothing, one for each room. The room's first process is the program: the kernel
kills it when this one ends, and this one when the grader ends, by whatever signal; all that is in the room ends with
it. Exit code 99 means that the room could not be made.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import select
import signal
import sys
from typing import Any, NoReturn

NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = (0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
RDONLY, NOSUID, NODEV, NOEXEC, REMOUNT, BIND, REC, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
KEPT_FLAGS = NOSUID | NODEV | NOEXEC  # of the place that is shown: a user namespace may not drop them
DETACH, JOIN_SESSION_KEYRING = 2, 1
CALLS = {"x86_64": (155, 250), "aarch64": (41, 219)}  # pivot_root and keyctl, for which libc has no functions
SET_PDEATHSIG, SET_NO_NEW_PRIVS = 1, 38
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")
NO_ROOM = 99
FIRST_UID = 200_000  # nobody's: above system and ordinary users
NAME = b"room"  # of the machine, as seen inside

libc = ctypes.CDLL(None, use_errno=True)


def must(result: int, what: str) -> None:
    """Raise the system's error if a call failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source: str | None, target: str, kind: str | None = None, flags: int = 0, data: str | None = None) -> None:
    """mount(2), as libc has it."""
    words = [word.encode() if word else None for word in (source, target, kind, data)]
    must(libc.mount(words[0], words[1], words[2], flags, words[3]), f"mount {source or ''} at {target}")


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
    must(libc.sethostname(NAME, len(NAME)), "sethostname")
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


def give_up_rights(uid: int) -> None:
    """Root becomes a user that owns nothing and has no other process, so that limits are its own."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def own_room(plan: dict[str, Any], uid: int) -> int:
    """Make the room here, run the program in it as its first process, and pass on how it ended."""
    user, group = os.geteuid(), os.getegid()
    must(libc.unshare(NEWNS | NEWPID | NEWNET | NEWIPC | NEWUTS | (NEWUSER if user else 0)), "unshare")
    if user:
        for name, text in (("setgroups", "deny"), ("uid_map", f"1000 {user} 1"), ("gid_map", f"1000 {group} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    die_with(parent_is_there=os.getppid() == plan["parent"])  # after what changes rights, which would forget it
    build(plan)
    hears, alive = os.pipe()
    first = os.fork()
    if first == 0:
        os.close(alive)
        try:
            os.setsid()  # out of this process's group, which signals from within would reach
            if not user:
                give_up_rights(uid)
            die_with(parent_is_there=not select.select([hears], [], [], 0)[0])  # it hears nothing but the end of it
            become(plan["command"], plan["environment"])
        except BaseException as error:
            print(error, file=sys.stderr)
        os._exit(NO_ROOM)
    for stream in (0, 1, 2):
        os.close(stream)  # so that the end of the program is the end of its output
    _, status = os.waitpid(first, 0)
    return os.waitstatus_to_exitcode(status) % 256


def become(command: list[str], environment: dict[str, str]) -> NoReturn:
    """The program, with nothing of this one."""
    os.closerange(3, 1024)
    must(libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    os.execve(command[0], command, environment)


def bubblewrap(plan: dict[str, Any], uid: int) -> NoReturn:
    """Become bubblewrap, which makes the room and runs the program in it as its first process."""
    if os.geteuid() == 0:
        plan["shown"] = staged(plan["shown"])
        give_up_rights(uid)
    die_with(parent_is_there=os.getppid() == plan["parent"])
    words = [plan["bubblewrap"], "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent"]
    words += ["--new-session", "--as-pid-1", "--cap-drop", "ALL", "--uid", "1000", "--gid", "1000"]
    words += ["--hostname", NAME.decode()]
    for source, target in plan["shown"]:
        words += ["--ro-bind", source, target]
    for hidden in plan["hidden"]:
        words += ["--tmpfs", hidden, "--remount-ro", hidden]
    for link, target in plan["links"]:
        words += ["--symlink", target, link]
    for device in DEVICES:
        words += ["--dev-bind", device, device]
    words += ["--dir", "/tmp", "--chdir", "/tmp", "--remount-ro", "/", "--", *plan["command"]]
    become(words, plan["environment"])


def staged(shown: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The same files under paths that every user may pass, over /tmp where nobody else sees it: not so /root/…"""
    must(libc.unshare(NEWNS), "unshare")
    mount(None, "/", flags=REC | PRIVATE)
    opened = [(os.open(source, os.O_PATH), target) for source, target in shown]  # some may lie in /tmp
    mount("stage", "/tmp", "tmpfs", NOSUID | NODEV, "size=1m,mode=755")
    found = []
    for number, (descriptor, target) in enumerate(opened):
        place = f"/tmp/{number}"
        if os.path.isdir(f"/proc/self/fd/{descriptor}"):
            os.mkdir(place)
        else:
            open(place, "x").close()
        mount(f"/proc/self/fd/{descriptor}", place, flags=BIND)
        os.close(descriptor)
        found.append((place, target))
    return found


def join(cgroup: str) -> None:
    """The group that counts the room's memory; where the system refuses, limits on addresses stand alone."""
    try:
        with open(f"{cgroup}/cgroup.procs", "w") as file:
            file.write(str(os.getpid()))
    except OSError:
        return


def main() -> int:
    """Make the room and run the program in it."""
    plan = json.loads(sys.argv[1])
    os.umask(0o022)
    try:
        join(plan["cgroup"])
        libc.syscall(CALLS[platform.machine()][1], JOIN_SESSION_KEYRING, None)  # away from the grader's keys
        uid = FIRST_UID + os.getpid()
        return (bubblewrap if plan["bubblewrap"] else own_room)(plan, uid)
    except (OSError, KeyError) as error:
        print(error, file=sys.stderr)
        return NO_ROOM


if __name__ == "__main__":
    sys.exit(main())
