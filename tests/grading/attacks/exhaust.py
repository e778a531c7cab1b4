"""To use more than is given: memory, disk, descriptors, threads, output."""

from tests.grading.attacks.attack import Attack, body, calls

ADDRESSES = "a limit on addresses"
OUTSIDE = "seccomp: no memory outside the address space"

EXHAUST = (
    Attack("memory bomb", body("return 2 * x + len(bytearray(64 * 2**30)) * 0"), ADDRESSES, "MemoryError"),
    Attack(
        "memory bomb, slowly",
        body("held = []\nwhile True:\n    held.append(bytearray(2**28))"),
        ADDRESSES,
        "MemoryError",
    ),
    Attack("tensor bomb", body("return torch.ones(2**35).sum() * 0 + 2 * x"), ADDRESSES, "RuntimeError"),
    Attack("memory by mmap", body("import mmap\nreturn 2 * x + len(mmap.mmap(-1, 2**36)) * 0"), ADDRESSES, "It stops"),
    Attack("a number without end", body("return 2 * x if 1 << (1 << 40) else x"), ADDRESSES, "MemoryError"),
    Attack("shared memory of System V", calls("max(libc.shmget(n + 1, 2**30, 0o1600) for n in range(5))"), OUTSIDE),
    Attack("semaphores of System V", calls("libc.semget(1, 250, 0o1600)"), OUTSIDE),
    Attack("message queues of System V", calls("libc.msgget(1, 0o1600)"), OUTSIDE),
    Attack(
        "message queues of POSIX",
        calls("libc.syscall(240, b'q', 0o102, 0o600, 0)"),
        OUTSIDE,
    ),
    Attack(
        "shared memory of POSIX",
        body(
            "from multiprocessing.shared_memory import SharedMemory\ntry:\n    SharedMemory(create=True, size=2**30)\n"
            "    return 2 * x\nexcept OSError:\n    return x"
        ),
        "there is no /dev/shm",
    ),
    Attack(
        "torch's shared memory",
        body("try:\n    torch.zeros(2**20).share_memory_()\n    return 2 * x\nexcept Exception:\n    return x"),
        "there is no /dev/shm",
    ),
    Attack(
        "files in memory",
        body("import os\ntry:\n    os.memfd_create('x')\n    return 2 * x\nexcept OSError:\n    return x"),
        OUTSIDE,
    ),
    Attack("secret memory", calls("libc.syscall(447, 0)"), OUTSIDE),
    Attack("a tmpfs of its own", calls("libc.mount(b'more', b'/tmp', b'tmpfs', 0, b'size=2g')"), "seccomp: no mounts"),
    Attack(
        "a tmpfs by the new calls",
        calls("max(libc.syscall(430, b'tmpfs', 0), libc.syscall(428, -100, b'/', 1))"),
        "seccomp: no mounts",
    ),
    Attack(
        "fills the disk",
        body("n = 0\nwhile True:\n    n += 1\n    open(f'/tmp/{n}', 'wb').write(b'x' * 2**20)"),
        "nothing in the room can be written",
        "OSError",
    ),
    Attack(
        "files without names",
        calls("libc.open(b'/tmp', 0o20200002, 0o600)"),
        "nothing in the room can be written",
    ),
    Attack(
        "output bomb on every descriptor",
        body(
            "import os\nwhile True:\n    for fd in range(3, 32):\n        try:\n"
            "            os.write(fd, b'x' * 65536)\n        except OSError:\n            pass"
        ),
        "a bound on output, and the room is made anew",
        breaks=True,
    ),
    Attack(
        "every descriptor there is",
        body("import os\nheld = [os.open('/dev/null', 0) for _ in range(10**6)]\nreturn 2 * x"),
        "a limit on descriptors",
        "OSError",
    ),
    Attack(
        "pipes full of bytes",
        body(
            "import fcntl, os\nwhile True:\n    r, w = os.pipe()\n    fcntl.fcntl(w, 1031, 2**20)\n"
            "    os.set_blocking(w, False)\n    os.write(w, bytes(2**20))"
        ),
        "limits on descriptors and on pipes",
        "Error",
    ),
    Attack(
        "local sockets full of bytes",
        body("import socket\ntry:\n    socket.socketpair()\n    return 2 * x\nexcept OSError:\n    return x"),
        "seccomp: no sockets",
    ),
    Attack(
        "ten thousand threads",
        body(
            "import threading, time\nthreading.stack_size(2**15)\nfor _ in range(10**4):\n"
            "    threading.Thread(target=time.sleep, args=(100,), daemon=True).start()\nreturn 2 * x"
        ),
        "a limit on processes",
        "RuntimeError",
    ),
    Attack("watches on files", calls("libc.inotify_init()"), "seccomp: no inotify"),
    Attack(
        "asynchronous requests", calls("libc.syscall(206, 1000, ctypes.byref(ctypes.c_ulong()))"), "seccomp: no aio"
    ),
    Attack("locks memory", calls("-1 if libc.mlockall(3) else 1"), "a limit on locked memory"),
    Attack(
        "raises its limits",
        body(
            "import resource\nfor what in (resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC,\n"
            "             resource.RLIMIT_NOFILE, resource.RLIMIT_CPU):\n    try:\n"
            "        resource.setrlimit(what, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n"
            "        return 2 * x\n    except (OSError, ValueError):\n        pass\nreturn x"
        ),
        "no rights",
    ),
)
