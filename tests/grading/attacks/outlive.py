"""To live on when the answer is done, or to leave something behind."""

from tests.grading.attacks.attack import Attack, body, calls, tries

NO_FORK = "seccomp: no new processes"

OUTLIVE = (
    Attack("fork bomb", body("import os\nwhile True:\n    os.fork()"), NO_FORK),
    Attack(
        "fork bomb, patient",
        body("import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass"),
        NO_FORK,
        "time",
        0.4,
    ),
    Attack(
        "process left behind",
        body("import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(1000)\nreturn 2 * x"),
        NO_FORK,
        "unavailable",
    ),
    Attack(
        "two forks and a session of its own",
        body(
            "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(1000)\n"
            "    os._exit(0)\nreturn 2 * x"
        ),
        NO_FORK,
        "unavailable",
    ),
    Attack("vfork", calls("libc.vfork()"), NO_FORK),
    Attack("clone3", calls("libc.syscall(435, (ctypes.c_uint64 * 8)(), 64)"), "seccomp: clone3 is not there"),
    Attack("clone with a new user", calls("libc.syscall(56, 0x10000011, 0, 0, 0, 0)"), NO_FORK),
    Attack("starts a shell", tries("subprocess", "subprocess.run(['/bin/sh', '-c', 'true'])"), NO_FORK),
    Attack("posix_spawn", tries("os, sys", "os.posix_spawn(sys.executable, ['python', '-c', '1'], {})"), NO_FORK),
    Attack(
        "multiprocessing",
        tries("multiprocessing", "multiprocessing.Process(target=print).start()"),
        NO_FORK,
    ),
    Attack(
        "torch's workers",
        tries("torch.utils.data as d", "list(d.DataLoader([1, 2], num_workers=2))"),
        NO_FORK,
    ),
    Attack(
        "system calls of 32-bit programs",  # machine code: fork by int 0x80
        body(
            'import ctypes, mmap\npage = mmap.mmap(-1, 4096, prot=7)\npage.write(bytes.fromhex("b802000000cd80c3"))\n'
            "address = ctypes.addressof(ctypes.c_char.from_buffer(page))\n"
            "return 2 * x if ctypes.CFUNCTYPE(ctypes.c_int)(address)() >= 0 else x"
        ),
        "seccomp: one kind of machine",
        "ended before",
    ),
    Attack(
        "system calls by their other numbers", calls("libc.syscall(0x40000000 + 57)"), "seccomp: kills", "ended before"
    ),
    Attack(
        "sleeping threads",
        body("import threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()\nreturn x"),
        "killed with its process",
    ),
    Attack(
        "a thread that computes on",
        body(
            "import threading\ndef on():\n    while True:\n        pass\n"
            "threading.Thread(target=on, daemon=True).start()\nreturn x"
        ),
        "killed with its process",
    ),
    Attack(
        "does something at its exit",
        body("import atexit, time\natexit.register(time.sleep, 1000)\nreturn x"),
        "ends without handlers",
    ),
    Attack(
        "an alarm for later",
        body("import signal\nsignal.signal(14, lambda *a: 1 / 0)\nsignal.setitimer(0, 1e-3, 1e-3)\nreturn x"),
        "killed with its process",
    ),
    Attack(
        "a word for the next one, in a file",
        body(
            "import os\nfor place in ('/tmp', '/dev/shm', '/dev', '/room', '/', '/var/tmp', '.'):\n    try:\n"
            "        open(place + '/word', 'w').write('x')\n        return 2 * x\n    except OSError:\n        pass\n"
            "return x"
        ),
        "nothing in the room can be written",
    ),
    Attack(
        "a word for the next one, in the machine's name",
        calls("libc.sethostname(b'word', 4)"),
        "no rights in the namespace",
    ),
    Attack(
        "late change",
        # what is compared is what was sent: changing it afterwards changes nothing
        body(
            "import threading, time\ny = x.clone()\ndef later():\n    time.sleep(0.05)\n    y.mul_(2)\n"
            "threading.Thread(target=later).start()\nreturn y"
        ),
        "values are copied when they are sent",
    ),
)
