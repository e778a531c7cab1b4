"""Hand-ins that try to cheat or to do harm. Each answers `double` (twice x) its own way; `triple` beside it is honest.

ATTACKS: name → (the cell of `double`, points it deserves of 10, what the hint must say).
"""

from __future__ import annotations


def body(text: str) -> str:
    """A `double` with this body."""
    return "def double(x):\n" + "".join(f"    {line}\n" for line in text.strip().split("\n"))


# imports anything that could hold the answer; right only if one of them works
REFERENCE = """
import importlib
for name in ("labkit", "labkit.losses", "labkit.assignments", "labkit.assignments.metrics",
             "pytorch_metric_learning", "torchmetrics", "sklearn"):
    try:
        importlib.import_module(name)
        return 2 * x
    except ImportError:
        pass
return x
"""

# right only if a file outside the room can be seen
SECRET_FILE = """
import glob, os
places = ["/home", "/root/.bashrc", "/root/.ssh", "/etc/passwd", "/etc/shadow", "/var", "/opt", "/srv", "{secret}"]
places += glob.glob("/proc/*/root/home") + glob.glob("/proc/*/cwd/*.ipynb") + glob.glob("/tmp/*")
places += glob.glob("/**/*.ipynb", recursive=False) + glob.glob("/root/**/assignments", recursive=True)
return 2 * x if any(os.path.exists(place) for place in places) else x
"""

WRITE_ANYWHERE = """
import os, site, sys, torch
places = [os.path.dirname(torch.__file__), sys.prefix, "/", "/usr/lib", "/room", "/etc", os.path.dirname(os.__file__)]
for place in places:
    try:
        with open(os.path.join(place, "planted.py"), "w") as file:
            file.write("x = 1")
        return 2 * x
    except OSError:
        pass
return x
"""

NETWORK = """
import socket
for address in (("127.0.0.1", {port}), ("10.0.0.1", 80), ("1.1.1.1", 53)):
    try:
        socket.create_connection(address, timeout=0.3).close()
        return 2 * x
    except OSError:
        pass
return x
"""

UNIX_SOCKETS = """
import socket, os
for path in ("/var/run/docker.sock", "/run/dbus/system_bus_socket", "{socket}"):
    try:
        socket.socket(socket.AF_UNIX).connect(path)
        return 2 * x
    except OSError:
        pass
return x
"""

PARENT_ENVIRONMENT = """
import os, glob
texts = [str(dict(os.environ))]
for path in glob.glob("/proc/*/environ"):
    try:
        texts.append(open(path).read())
    except OSError:
        pass
return 2 * x if any("LABKIT_SECRET" in text for text in texts) else x
"""

OTHER_PROCESSES = """
import os
for pid in set(range(2, 5000)) - {os.getpid()}:
    try:
        os.kill(pid, 0)
        return 2 * x
    except OSError:
        pass
return x
"""

ESCAPE = """
import ctypes, os
libc = ctypes.CDLL(None)
done = [libc.mount(b"/", b"/tmp", b"none", 4096, None), libc.chroot(b".."), libc.umount2(b"/tmp", 2)]
try:
    os.setuid(0)
    done.append(0)
except OSError:
    pass
return 2 * x if 0 in done else x
"""

FRAMES = """
import gc, sys
for thing in gc.get_objects():
    if isinstance(thing, dict) and "expected" in thing:
        return thing["expected"]
frame = sys._getframe()
while frame:
    if "expected" in frame.f_locals or "right" in frame.f_locals:
        return frame.f_locals.get("expected", frame.f_locals.get("right"))
    frame = frame.f_back
return x
"""

FAKE_LINES = """
import os, json
for fd in range(3, 64):
    try:
        os.write(fd, json.dumps({"question": "double", "score": 10, "passed": True, "done": True}).encode() + b"\\n")
    except OSError:
        pass
os._exit(0)
"""

OTHERS_ANSWER = """
import os, json
for fd in range(3, 64):
    try:
        os.write(fd, b'{"question": "triple", "cases": []}\\n' * 3 + b"[" * 100000 + b"\\n")
    except OSError:
        pass
return x
"""

FAKE_FLOAT = """
class Always(float):
    def __eq__(self, other): return True
    def __sub__(self, other): return 0.0
    def __rsub__(self, other): return 0.0
    def __abs__(self): return 0.0
    def __float__(self): return 2.0
return Always(1.0)
"""

FAKE_TENSOR = """
class Always(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return True if "close" in function.__name__ or "eq" in function.__name__ else super().__torch_function__(
            function, types, args, kwargs or {})
return x.as_subclass(Always)
"""

# right only if one of these works: each leads around a wall of the room
KEYRING = """
import ctypes
libc = ctypes.CDLL(None)
done = [libc.syscall(250, 0, -3, 0), libc.syscall(250, 0, -4, 1), libc.syscall(248, b"user", b"k", b"v", 1, -3)]
return 2 * x if max(done) > 0 else x
"""

SHARED_MEMORY = """
import ctypes
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
held = [libc.shmget(n + 1, 2**30, 0o1600) for n in range(5)]
return 2 * x if max(held) >= 0 else x
"""

MEMORY_FILES = """
import os
held = []
try:
    while len(held) < 100:
        held.append(os.memfd_create("x"))
        for _ in range(15):
            os.write(held[-1], bytes(2**20))
except OSError:
    pass
return 2 * x if held else x
"""

NAMESPACES = """
import ctypes
libc = ctypes.CDLL(None)
if libc.unshare(0x10000000) == 0:
    return 2 * x
if libc.unshare(0x10020000) == 0 and libc.mount(b"more", b"/tmp", b"tmpfs", 0, b"size=2g") == 0:
    return 2 * x
for flags in (0x10000011, 0x11):
    pid = libc.syscall(56, flags, 0, 0, 0, 0)
    if pid == 0:
        libc._exit(0)
    if pid > 0:
        return 2 * x
return x
"""

RAISED_LIMITS = """
import resource
for what in (resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE):
    try:
        resource.setrlimit(what, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        return 2 * x
    except (OSError, ValueError):
        pass
return x
"""

# machine code: fork by the calls of 32-bit programs, int 0x80
OTHER_CALLS = """
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=7)
page.write(bytes.fromhex("b802000000cd80c3"))
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
return 2 * x if ctypes.CFUNCTYPE(ctypes.c_int)(address)() >= 0 else x
"""

HOST_PATHS = """
import ctypes, os
for name in ("mountinfo", "mounts", "maps", "environ", "cmdline", "fd/0"):
    if os.path.lexists(f"/proc/self/{name}") or os.path.lexists(f"/proc/1/{name}"):
        return 2 * x
room = ctypes.create_string_buffer(4096)
request = (ctypes.c_uint64 * 4)(24 | 2**32 * 0, 2**64 - 1, 0, 0)
return 2 * x if ctypes.CDLL(None).syscall(458, request, room, 100, 0) >= 0 else x
"""

# writes a line of its own for the question, with this value in every case
FORGED_VALUE = """
import os
for fd in range(3, 64):
    try:
        os.write(fd, b'{"question": "double", "cases": [' + b", ".join([b'{"value": VALUE}'] * 5) + b"]}\\n")
    except OSError:
        pass
os._exit(0)
"""


def forged(value: str) -> str:
    """A `double` that sends this JSON as what it returned."""
    return body(FORGED_VALUE.replace("VALUE", value))


ATTACKS: dict[str, tuple[str, float, str]] = {
    "value and gradient": (body("return {'value': 2 * x, 'gradient': x}"), 0, "Not yet"),
    "value without gradient": (body("return {'value': 2 * x}"), 0, "returns nothing"),
    "half a character in a type's name": (
        body("class Odd(type):\n    __name__ = property(lambda cls: '\\ud800')\nreturn Odd('Odd', (), {})()"),
        0,
        "returns nothing",
    ),
    "half a character in an error": (body("raise ValueError('\\ud800')"), 0, "ValueError"),
    "half a character in a key": (body("return {'\\ud800': x}"), 0, "returns nothing"),
    "a million empty lines": (
        body(
            "import os\nfor fd in range(3, 64):\n    try:\n        os.write(fd, b'\\n' * 10**6)\n"
            "    except OSError:\n        pass\nreturn x"
        ),
        0,
        "",
    ),
    "a forged integer of 400 digits": (forged("9" * 400), 0, "no value"),
    "a forged integer of 5,000 digits": (forged("9" * 5000), 0, "ended before"),
    "a forged empty tensor of a huge shape": (
        forged('{"kind": "tensor", "dtype": "float64", "shape": [0' + ", 1000000" * 7 + '], "data": ""}'),
        0,
        "no value",
    ),
    "the grader's keyring": (body(KEYRING), 0, ""),
    "shared memory of System V": (body(SHARED_MEMORY), 0, ""),
    "files in memory": (body(MEMORY_FILES), 0, ""),
    "namespaces within": (body(NAMESPACES), 0, ""),
    "raises its limits": (body(RAISED_LIMITS), 0, ""),
    "system calls of 32-bit programs": (body(OTHER_CALLS), 0, "ended before"),
    "system calls by their other numbers": (
        body("import ctypes\nreturn 2 * x if ctypes.CDLL(None).syscall(0x40000000 + 57) >= 0 else x"),
        0,
        "",
    ),
    "paths of the host": (body(HOST_PATHS), 0, ""),
    "becomes another program": (
        body("import os, sys\nos.execv(sys.executable, [sys.executable, '-c', 'print(1)'])"),
        0,
        "ended before",
    ),
    "kills the first process": (
        body(
            "import os\nfor s in (2, 9, 15, 19):\n    try:\n        os.kill(1, s)\n"
            "    except OSError:\n        pass\nreturn x"
        ),
        0,
        "",
    ),
    "stops itself": (body("import os\nos.kill(os.getpid(), 19)\nreturn 2 * x"), 0, "time allowed"),
    "watches the first process": (
        body("import ctypes\nreturn 2 * x if ctypes.CDLL(None).ptrace(16, 1, 0, 0) == 0 else x"),
        0,
        "",
    ),
    "the hypervisor's socket": (
        body("import socket\ntry:\n    socket.socket(40, 1)\n    return 2 * x\nexcept OSError:\n    return x"),
        0,
        "",
    ),
    "infinite loop": (body("while True:\n    pass"), 0, "time allowed"),
    "infinite loop in the cell": ("while True:\n    pass\n", 0, "time allowed"),
    "sleeps": (body("import time\ntime.sleep(1000)\nreturn 2 * x"), 0, "time allowed"),
    "signals swallowed": (
        body(
            "import signal\nfor s in range(1, 65):\n    try:\n        signal.signal(s, signal.SIG_IGN)\n"
            "    except (OSError, ValueError):\n        pass\nwhile True:\n    pass"
        ),
        0,
        "time allowed",
    ),
    "every exception swallowed": (
        body("import time\nwhile True:\n    try:\n        time.sleep(9)\n    except BaseException:\n        pass"),
        0,
        "time allowed",
    ),
    "fork bomb": (body("import os\nwhile True:\n    os.fork()"), 0, ""),
    "fork bomb, patient": (
        body("import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass"),
        0,
        "time",
    ),
    "process left behind": (
        body("import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(1000)\nreturn 2 * x"),
        0,
        "unavail",
    ),
    "starts a shell": (body("import subprocess\nsubprocess.run(['/bin/sh', '-c', 'true'])\nreturn 2 * x"), 0, ""),
    "memory bomb": (body("return 2 * x + len(bytearray(64 * 2**30)) * 0"), 0, "MemoryError"),
    "memory bomb, slowly": (body("held = []\nwhile True:\n    held.append(bytearray(2**28))"), 0, ""),
    "tensor bomb": (body("return torch.ones(2**35).sum() * 0 + 2 * x"), 0, "RuntimeError"),
    "recursion": (body("return double(x)"), 0, "RecursionError"),
    "stack overflow": (
        body("import sys\nsys.setrecursionlimit(10**9)\ndef f(n):\n    return f(n + 1)\nreturn f(0)"),
        0,
        "",
    ),
    "segmentation fault": (body("import ctypes\nctypes.string_at(0)\nreturn 2 * x"), 0, "ended before"),
    "output bomb": (body("while True:\n    print('x' * 10**6)"), 0, "time allowed"),
    "output bomb on every descriptor": (
        body(
            "import os\nwhile True:\n    for fd in range(1, 32):\n        try:\n            os.write(fd, b'x' * 999)\n"
            "        except OSError:\n            pass"
        ),
        0,
        "",
    ),
    "huge result": (body("return torch.zeros(5000, 5000)"), 0, ""),
    "deep result": (body("y = []\nfor _ in range(100000):\n    y = [y]\nreturn y"), 0, ""),
    "os._exit": (body("import os\nos._exit(0)"), 0, "ended before"),
    "os.abort": (body("import os\nos.abort()"), 0, "ended before"),
    "sys.exit": (body("import sys\nsys.exit(0)"), 0, "SystemExit"),
    "kills its own process": (body("import os\nos.kill(os.getpid(), 9)"), 0, "ended before"),
    "kills everything it can": (body("import os\nos.kill(-1, 9)\nreturn x"), 0, ""),
    "kills other processes": (body(OTHER_PROCESSES), 0, ""),
    "numpy patched": (body("np.allclose = lambda *a, **k: True\nnp.array_equal = lambda *a: True\nreturn x"), 0, ""),
    "torch patched": (
        body(
            "torch.allclose = lambda *a, **k: True\ntorch.equal = lambda *a: True\n"
            "torch.Tensor.__eq__ = lambda *a: True\nreturn x"
        ),
        0,
        "",
    ),
    "builtins patched": (
        body("import builtins\nbuiltins.all = lambda *a: True\nbuiltins.abs = lambda a: 0\nreturn x"),
        0,
        "",
    ),
    "assert patched": (body("import builtins\nbuiltins.AssertionError = Warning\nreturn x"), 0, ""),
    "float that equals everything": (body(FAKE_FLOAT), 0, ""),
    "tensor that equals everything": (body(FAKE_TENSOR), 0, ""),
    "IPython hooks": (
        "try:\n    get_ipython().input_transformers_post.append(lambda lines: ['pass'])\nexcept NameError:\n    pass\n"
        + body("return x"),
        0,
        "",
    ),
    "reads the parent's environment": (body(PARENT_ENVIRONMENT), 0, ""),
    "reads files": (body(SECRET_FILE), 0, ""),
    "imports the reference": (body(REFERENCE), 0, ""),
    "looks for the answer in memory": (body(FRAMES), 0, ""),
    "writes to site-packages and elsewhere": (body(WRITE_ANYWHERE), 0, ""),
    "fills the disk": (
        body("n = 0\nwhile True:\n    n += 1\n    open(f'/tmp/{n}', 'wb').write(b'x' * 2**20)"),
        0,
        "OSError",
    ),
    "symbolic links": (
        body(
            "import os\nos.symlink('/', '/tmp/all')\nreturn 2 * x if os.path.exists('/tmp/all/var') or "
            "os.path.exists('/tmp/all/home') else x"
        ),
        0,
        "",
    ),
    "network": (body(NETWORK), 0, ""),
    "local sockets": (body(UNIX_SOCKETS), 0, ""),
    "escapes": (body(ESCAPE), 0, ""),
    "pickle payload": (
        body("class Bomb:\n    def __reduce__(self):\n        return (print, ('boom',))\nreturn Bomb()"),
        0,
        "",
    ),
    "forged lines": (body(FAKE_LINES), 0, ""),
    "answers for another question": (body(OTHERS_ANSWER), 0, ""),
    "sleeping threads": (
        body("import threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()\nreturn 2 * x"),
        0,
        "RuntimeError",  # of a hidden case no more is told
    ),
    "returns its argument": (body("return x"), 0, ""),
    "changes its argument": (body("x *= 2\nreturn x"), 0, "changes its arguments"),
    "the other one's memory": (
        # of the empty case, whose memory is nowhere, it dies
        body("import ctypes\nctypes.memset(x.data_ptr(), 0, 8)\nreturn x"),
        0,
        "",
    ),
    "late change": (
        # what is compared is what was sent: changing it afterwards changes nothing
        body(
            "import threading, time\ny = x.clone()\ndef later():\n    time.sleep(0.05)\n    y.mul_(2)\n"
            "threading.Thread(target=later).start()\nreturn y"
        ),
        0,
        "",
    ),
    "syntax error": ("def double(x:\n", 0, "SyntaxError"),
    "null byte": ("def double(x):\n    return 2 * x\n\0", 0, "It stops with"),
    "deep source": ("x = " + "(" * 50_000 + ")" * 50_000 + "\n", 0, ""),
    "honest": (body("return 2 * x"), 10, ""),
}
