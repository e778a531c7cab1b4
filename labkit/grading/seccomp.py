"""Which system calls a hand-in may make: a filter for Linux's seccomp, as the bytes that the kernel takes.

The room has no files, network or rights worth having; the filter closes what leads around its walls all the same: new
processes (so memory is bounded by one address space, and nothing can be left behind), shared memory and other memory
outside of it, limits and priority of the room's first process, the grader's keyring, mounts and new namespaces,
sockets, and parts of the kernel with a history of holes or that are newer than this list.
"""

from __future__ import annotations

import errno
import platform
import struct

# audit's number of the machine, then the numbers of system calls; None: the machine does not have it
MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
REFUSED: dict[str, tuple[int | None, int | None]] = {
    # processes (clone is looked at below)
    "fork": (57, None), "vfork": (58, None), "unshare": (272, 97), "setns": (308, 268),
    # another process's memory and files
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "process_mrelease": (448, 448),
    # another process's share of the machine (prlimit64 is looked at below)
    "setpriority": (141, 140), "sched_setparam": (142, 118), "sched_setscheduler": (144, 119),
    "sched_setaffinity": (203, 122), "sched_setattr": (314, 274), "ioprio_set": (251, 30),
    # keyrings
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    # memory that no limit on addresses counts, once it is unmapped
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190), "msgget": (68, 186),
    "mq_open": (240, 180), "memfd_create": (319, 279), "memfd_secret": (447, 447), "io_setup": (206, 0),
    "inotify_init": (253, None), "inotify_init1": (294, 26),
    # sockets, also local ones: they carry open files
    "socket": (41, 198), "socketpair": (53, 199),
    # mounts, and where they come from
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428),
    "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "quotactl": (179, 60),
    # parts of the kernel that a function of tensors does not need
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "userfaultfd": (323, 282), "bpf": (321, 280), "perf_event_open": (298, 241), "personality": (135, 92),
    "fanotify_init": (300, 262), "syslog": (103, 116), "acct": (163, 89), "kexec_load": (246, 104),
    "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
    "modify_ldt": (154, None), "iopl": (172, None), "ioperm": (173, None),
}  # fmt: skip
CLONE, CLONE3, PRLIMIT = (56, 220), (435, 435), (302, 261)
CLONE_THREAD, MYSELF = 0x00010000, 0
NEWEST = 450  # system calls from here on are younger than this list, the same numbers on all machines
NUMBER, MACHINE, FIRST_ARGUMENT = 0, 4, 16  # offsets in the kernel's seccomp_data
LOAD, EQUAL, ANY_BIT, AT_LEAST, RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
KILL, ALLOW, REFUSE = 0x80000000, 0x7FFF0000, 0x00050000
X32 = 0x40000000  # another way to number the same calls on x86_64


def program(machine: str = platform.machine()) -> bytes:
    """The filter for a machine; ValueError where it is not known."""
    if machine not in MACHINES:
        raise ValueError(f"machine: there is no filter of system calls for {machine!r}")
    audit, column = MACHINES[machine]
    steps = [step(LOAD, MACHINE), *unless(EQUAL, audit, KILL), step(LOAD, NUMBER), *when(AT_LEAST, X32, KILL)]
    for numbers in REFUSED.values():
        if (number := numbers[column]) is not None:
            steps += when(EQUAL, number, REFUSE | errno.EPERM)
    # the C library then takes clone, whose flags can be looked at
    steps += when(EQUAL, CLONE3[column], REFUSE | errno.ENOSYS)
    # threads only: EAGAIN is what a limit on processes says
    steps += argument(CLONE[column], unless(ANY_BIT, CLONE_THREAD, REFUSE | errno.EAGAIN))
    steps += argument(PRLIMIT[column], unless(EQUAL, MYSELF, REFUSE | errno.EPERM))
    steps += when(AT_LEAST, NEWEST, REFUSE | errno.ENOSYS)
    return b"".join([*steps, step(RETURN, ALLOW)])


def step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    """One instruction; yes, no: how many to skip."""
    return struct.pack("<HBBI", code, yes, no, value)


def when(test: int, value: int, verdict: int) -> list[bytes]:
    """Return the verdict if the test holds."""
    return [step(test, value, 0, 1), step(RETURN, verdict)]


def unless(test: int, value: int, verdict: int) -> list[bytes]:
    """Return the verdict if the test does not hold."""
    return [step(test, value, 1, 0), step(RETURN, verdict)]


def argument(number: int, tests: list[bytes]) -> list[bytes]:
    """Tests of a call's first argument; they allow what they do not refuse."""
    inside = [step(LOAD, FIRST_ARGUMENT), *tests, step(RETURN, ALLOW)]
    return [step(EQUAL, number, 0, len(inside)), *inside]
