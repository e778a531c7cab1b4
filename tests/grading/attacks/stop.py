"""To stop the grading: of the class, or of the hand-in's other answers."""

from tests.grading.attacks.attack import Attack, body, calls, everywhere, forged

FIRST = "the first process is ours and hears no signal from within"
CLOCK = "the first process kills at the deadline"
OWN = "a process for every question"
WIRE = "values are checked when they are unpacked"

STOP = (
    Attack("infinite loop", body("while True:\n    pass"), CLOCK, "time allowed", 0.4),
    Attack("infinite loop in the cell", "while True:\n    pass\n", CLOCK, "time allowed", 0.4),
    Attack("sleeps", body("import time\ntime.sleep(1000)\nreturn 2 * x"), CLOCK, "time allowed", 0.4),
    Attack("waits for a signal that never comes", body("import signal\nsignal.pause()"), CLOCK, "time allowed", 0.4),
    Attack(
        "a regular expression without end", body("import re\nre.match('(a+)+$', 'a' * 64 + 'b')"), CLOCK, "time", 0.4
    ),
    Attack(
        "one C function that takes hours",
        body("import hashlib\nhashlib.pbkdf2_hmac('sha512', b'x', b'x', 10**9)"),
        CLOCK,
        "time allowed",
        0.4,
    ),
    Attack(
        "signals swallowed",
        body(
            "import signal\nfor s in range(1, 65):\n    try:\n        signal.signal(s, signal.SIG_IGN)\n"
            "    except (OSError, ValueError):\n        pass\nwhile True:\n    pass"
        ),
        CLOCK,
        "time allowed",
        0.4,
    ),
    Attack(
        "every exception swallowed",
        body("import time\nwhile True:\n    try:\n        time.sleep(9)\n    except BaseException:\n        pass"),
        CLOCK,
        "time allowed",
        0.4,
    ),
    Attack("stops itself", body("import os\nos.kill(os.getpid(), 19)\nreturn 2 * x"), CLOCK, "time allowed", 0.4),
    Attack("output bomb", body("while True:\n    print('x' * 10**6)"), "standard output goes nowhere", "time", 0.4),
    Attack(
        "kills the first process",
        body(
            "import os\nfor s in range(1, 65):\n    try:\n        os.kill(1, s)\n"
            "    except OSError:\n        pass\nreturn x"
        ),
        FIRST,
    ),
    Attack(
        "queues signals with a payload for the first process",
        body(
            "import ctypes\nlibc = ctypes.CDLL(None)\nfor s in range(1, 65):\n    for _ in range(20):\n"
            "        libc.sigqueue(1, s, 0)\nreturn x"
        ),
        FIRST,
    ),
    Attack("kills everything it can", body("import os\nos.kill(-1, 9)\nreturn x"), FIRST),
    Attack(
        "kills its group and session",
        body("import os\nos.killpg(0, 9)\nreturn x"),
        FIRST + ", in a group of its own",
        "ended",
    ),
    Attack(
        "takes the first process's memory and time by prlimit",
        calls("libc.syscall(302, 1, 9, (ctypes.c_uint64 * 2)(4096, 4096), 0)"),
        "seccomp: prlimit64 of oneself only",
    ),
    Attack(
        "makes the first process the last in line",
        body(
            "import os\nfound = x\nfor do in (lambda: os.setpriority(os.PRIO_PROCESS, 1, 19),\n"
            "           lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0)),\n"
            "           lambda: os.sched_setaffinity(1, {0})):\n"
            "    try:\n        do()\n        found = 2 * x\n    except OSError:\n        pass\nreturn found"
        ),
        "seccomp: no scheduling of others",
    ),
    Attack("watches the first process", calls("libc.ptrace(16, 1, 0, 0)"), "seccomp: no ptrace"),
    Attack(
        "writes into the first process",
        calls("libc.syscall(311, 1, (ctypes.c_uint64 * 2)(0, 0), 1, (ctypes.c_uint64 * 2)(0, 0), 1, 0)"),
        "seccomp: no process_vm_writev",
    ),
    Attack("os._exit", body("import os\nos._exit(0)"), OWN, "ended before"),
    Attack("os.abort", body("import os\nos.abort()"), OWN, "ended before"),
    Attack("sys.exit", body("import sys\nsys.exit(0)"), "every exception is caught", "SystemExit"),
    Attack("kills its own process", body("import os\nos.kill(os.getpid(), 9)"), OWN, "ended before"),
    Attack("segmentation fault", body("import ctypes\nctypes.string_at(0)\nreturn 2 * x"), OWN, "ended before"),
    Attack("recursion", body("return double(x)"), "Python's limit", "RecursionError"),
    Attack(
        "stack overflow",
        body("import sys\nsys.setrecursionlimit(10**9)\ndef f(n):\n    return f(n + 1)\nreturn f(0)"),
        CLOCK + ", unless memory ends it first",
        "",
        0.4,
    ),
    Attack(
        "becomes another program",
        body("import os, sys\nos.execv(sys.executable, [sys.executable, '-c', '1'])"),
        OWN,
        "ended before",
    ),
    Attack("closes every descriptor", body("import os\nos.closerange(0, 128)\nreturn 2 * x"), OWN, "ended before"),
    Attack(
        "breaks the child's own JSON",
        body("import json\njson.dumps = lambda *a, **k: '{'\nreturn 2 * x"),
        OWN,
        "ended before",
    ),
    Attack(
        "stops the clock", body("import time\ntime.monotonic = lambda: 0\nwhile True:\n    pass"), CLOCK, "time", 0.4
    ),
    Attack(
        "a million empty lines", body(everywhere("b'\\n' * 10**6") + "return x"), "only the first lines are looked at"
    ),
    Attack("a line without end", body(everywhere("b'[' * 10**6") + "return 2 * x"), "a depth of JSON", "ended before"),
    Attack("a forged integer of 400 digits", forged("9" * 400), WIRE, "no value"),
    Attack("a forged integer of 5,000 digits", forged("9" * 5000), "JSON without such integers", "ended before"),
    Attack(
        "a forged empty tensor of a huge shape",
        forged('{"kind": "tensor", "dtype": "float64", "shape": [0' + ", 1000000" * 7 + '], "data": ""}'),
        WIRE,
        "no value",
    ),
    Attack(
        "a forged tensor of a negative shape",
        forged('{"kind": "tensor", "dtype": "float64", "shape": [-1, -3], "data": "AAAAAAAAAAA="}'),
        WIRE,
        "no value",
    ),
    Attack("value and gradient where none is asked", body("return {'value': 2 * x, 'gradient': x}"), WIRE, "Not yet"),
    Attack("value without gradient", body("return {'value': 2 * x}"), WIRE, "returns nothing"),
    Attack(
        "half a character in a type's name",
        body("class Odd(type):\n    __name__ = property(lambda cls: '\\ud800')\nreturn Odd('Odd', (), {})()"),
        "halves of characters are replaced",
        "returns nothing",
    ),
    Attack("half a character in an error", body("raise ValueError('\\ud800')"), "halves are replaced", "ValueError"),
    Attack("half a character in a key", body("return {'\\ud800': x}"), "halves are replaced", "returns nothing"),
    Attack(
        "an error that cannot be told",
        body("class E(Exception):\n    def __str__(self):\n        raise self\nraise E()"),
        OWN,
        "ended before",
    ),
    Attack("deep result", body("y = []\nfor _ in range(100000):\n    y = [y]\nreturn y"), "a depth of 8"),
    Attack("a list that holds itself", body("y = []\ny.append(y)\nreturn y"), "a depth of 8"),
    Attack("huge result", body("return torch.zeros(5000, 5000)"), "a million numbers at most"),
    Attack("syntax error", "def double(x:\n", "every exception is caught", "SyntaxError"),
    Attack("null byte", "def double(x):\n    return 2 * x\n\0", "every exception is caught", "It stops with"),
    Attack("deep source", "x = " + "(" * 50_000 + ")" * 50_000 + "\n", "every exception is caught"),
    Attack(
        "the other one's memory",
        # of the empty case, whose memory is nowhere, it dies
        body("import ctypes\nctypes.memset(x.data_ptr(), 0, 8)\nreturn x"),
        OWN,
    ),
)
