"""To read what it should not: files, other processes, keys, the network, the reference, other hand-ins."""

from tests.grading.attacks.attack import Attack, body, calls, tries

ROOM = "the room shows Python, torch and nothing else"
NO_PROC = "there is no /proc in the room"
NO_NET = "seccomp: no sockets, and a network of its own"

# looks through the memory around the heap; the hand-in before it holds many ZJ, and KV shows that the search works
BEFORE = """
import ctypes, re
libc = ctypes.CDLL(None)
libc.sbrk.restype = ctypes.c_void_p
kept, size = b"KV" * 400, 65536
found = set()
for middle in (id(kept), libc.sbrk(0)):
    for page in range((middle >> 16) - 200, (middle >> 16) + 200):
        if libc.mincore(ctypes.c_void_p(page << 16), size, ctypes.create_string_buffer(16)) == 0:
            found |= set(re.findall(rb"(KV|ZJ)(?:KV|ZJ){30}", ctypes.string_at(page << 16, size)))
raise ValueError("cannot look" if b"KV" not in found else "here it is" if b"ZJ" in found else "nothing of it")
"""
MARK = "ZJ" * 400

READ = (
    Attack(
        "imports the reference",
        body(
            "import importlib\n"
            "for name in ('labkit', 'labkit.losses', 'labkit.assignments', 'labkit.assignments.metrics',\n"
            "             'pytorch_metric_learning', 'torchmetrics', 'sklearn'):\n    try:\n"
            "        importlib.import_module(name)\n        return 2 * x\n"
            "    except ImportError:\n        pass\nreturn x"
        ),
        ROOM,
    ),
    Attack(
        "reads files",
        body(
            "import glob, os\n"
            "places = ['/home', '/root/.bashrc', '/root/.ssh', '/etc/passwd', '/etc/shadow', '/var', '/opt', '/srv',\n"
            "          '{secret}']\n"
            "places += glob.glob('/proc/*/root/home') + glob.glob('/proc/*/cwd/*.ipynb') + glob.glob('/tmp/*')\n"
            "places += glob.glob('/*.ipynb') + glob.glob('/root/**/assignments', recursive=True)\n"
            "return 2 * x if any(os.path.exists(place) for place in places) else x"
        ),
        ROOM,
    ),
    Attack(
        "writes to site-packages and elsewhere",
        body(
            "import os, sys\n"
            "for place in (os.path.dirname(torch.__file__), sys.prefix, '/', '/usr/lib', '/room', '/etc',\n"
            "              os.path.dirname(os.__file__)):\n    try:\n"
            "        open(os.path.join(place, 'planted.py'), 'w').write('x = 1')\n        return 2 * x\n"
            "    except OSError:\n        pass\nreturn x"
        ),
        "everything is read-only",
    ),
    Attack(
        "symbolic links",
        body(
            "import os\ntry:\n    os.symlink('/', '/tmp/all')\nexcept OSError:\n    pass\n"
            "return 2 * x if os.path.exists('/tmp/all/var') or os.path.exists('/tmp/all/home') else x"
        ),
        ROOM,
    ),
    Attack(
        "out of the room by ..",
        body("import os\nreturn 2 * x if os.path.exists('/..' * 50 + '/etc/passwd') else x"),
        ROOM,
    ),
    Attack(
        "out of the room by an old descriptor",
        body(
            "import os\nfor fd in range(0, 128):\n    try:\n"
            "        if os.path.exists(f'/dev/fd/{fd}/etc') or 'etc' in os.listdir(fd):\n            return 2 * x\n"
            "    except OSError:\n        pass\nreturn x"
        ),
        "no descriptor of outside is open",
    ),
    Attack("files by their handles", calls("libc.syscall(304, -100, bytes(40), 0)"), "seccomp: no file handles"),
    Attack(
        "escapes by chroot, mount and becoming root",
        body(
            "import ctypes, os\nlibc = ctypes.CDLL(None)\n"
            "done = [libc.mount(b'/', b'/tmp', b'none', 4096, None), libc.chroot(b'..'), libc.umount2(b'/tmp', 2)]\n"
            "try:\n    os.setuid(0)\n    done.append(0)\nexcept OSError:\n    pass\n"
            "return 2 * x if 0 in done else x"
        ),
        "seccomp and no rights",
    ),
    Attack(
        "namespaces within", calls("max(libc.unshare(0x10000000), libc.unshare(0x10020000))"), "seccomp: no unshare"
    ),
    Attack("another one's namespace", calls("max(libc.setns(fd, 0) for fd in range(64))"), "seccomp: no setns"),
    Attack(
        "the parent's environment",
        body(
            "import os, glob\ntexts = [str(dict(os.environ))]\nfor path in glob.glob('/proc/*/environ'):\n    try:\n"
            "        texts.append(open(path).read())\n    except OSError:\n        pass\n"
            "return 2 * x if any('LABKIT_' in text for text in texts) else x"
        ),
        "an environment of its own",
    ),
    Attack(
        "other processes",
        body(
            "import os\nfor pid in set(range(2, 5000)) - {os.getpid()}:\n    try:\n        os.kill(pid, 0)\n"
            "        return 2 * x\n    except OSError:\n        pass\nreturn x"
        ),
        "processes of its own (pid namespace)",
    ),
    Attack(
        "paths of the host",
        body(
            "import ctypes, os\nfor name in ('mountinfo', 'mounts', 'maps', 'environ', 'cmdline', 'fd/0'):\n"
            "    if os.path.lexists(f'/proc/self/{name}') or os.path.lexists(f'/proc/1/{name}'):\n"
            "        return 2 * x\nroom = ctypes.create_string_buffer(4096)\n"
            "request = (ctypes.c_uint64 * 4)(24, 2**64 - 1, 0, 0)\n"
            "return 2 * x if ctypes.CDLL(None).syscall(458, request, room, 100, 0) >= 0 else x"
        ),
        NO_PROC + "; seccomp: no listmount",
    ),
    Attack("mounts /proc", calls("libc.mount(b'proc', b'/tmp', b'proc', 0, None)"), "seccomp: no mounts"),
    Attack(
        "the machine's name",
        body("import os\nreturn 2 * x if os.uname().nodename == '{machine}' else x"),
        "a name of its own (UTS namespace)",
    ),
    Attack(
        "who grades",
        body(
            "import os, pwd\ntry:\n    return 2 * x if pwd.getpwuid(os.getuid()).pw_name else x\n"
            "except KeyError:\n    return x"
        ),
        ROOM,
    ),
    Attack(
        "the grader's keyring",
        calls(
            "max(*(libc.syscall(250, 0, ring, 1) for ring in (-3, -4)), libc.syscall(248, b'user', b'k', b'v', 1, -3))"
        ),
        "seccomp: no keyrings, and one of its own",
    ),
    Attack("a key by its name", calls("libc.syscall(249, b'user', b'labkit', 0, -3)"), "seccomp: no keyrings"),
    Attack("the kernel's log", calls("libc.klogctl(3, ctypes.create_string_buffer(4096), 4096)"), "seccomp: no syslog"),
    Attack("io_uring", calls("libc.syscall(425, 8, ctypes.create_string_buffer(256))"), "seccomp: no io_uring"),
    Attack("userfaultfd", calls("libc.syscall(323, 1)"), "seccomp: no userfaultfd"),
    Attack("bpf", calls("libc.syscall(321, 0, ctypes.create_string_buffer(128), 128)"), "seccomp: no bpf"),
    Attack(
        "counts the machine's events",
        calls("libc.syscall(298, ctypes.create_string_buffer(128), 0, -1, -1, 0)"),
        "seccomp: no perf",
    ),
    Attack(
        "reads the first process",
        calls("libc.syscall(310, 1, (ctypes.c_uint64 * 2)(0, 0), 1, (ctypes.c_uint64 * 2)(0, 0), 1, 0)"),
        "seccomp: no process_vm_readv",
    ),
    Attack(
        "descriptors of the first process",
        calls("libc.syscall(438, libc.syscall(434, 1, 0), 0, 0)"),
        "seccomp: no pidfd_getfd",
    ),
    Attack(
        "network",
        body(
            "import socket\nfor address in (('127.0.0.1', {port}), ('10.0.0.1', 80), ('1.1.1.1', 53)):\n    try:\n"
            "        socket.create_connection(address, timeout=0.3).close()\n        return 2 * x\n"
            "    except OSError:\n        pass\nreturn x"
        ),
        NO_NET,
    ),
    Attack(
        "local sockets",
        body(
            "import socket\nfor path in ('/var/run/docker.sock', '/run/dbus/system_bus_socket', '{socket}', '\\0x'):\n"
            "    try:\n        socket.socket(socket.AF_UNIX).connect(path)\n        return 2 * x\n"
            "    except OSError:\n        pass\nreturn x"
        ),
        NO_NET,
    ),
    Attack("the hypervisor's socket", tries("socket", "socket.socket(40, 1)", kind="OSError"), NO_NET),
    Attack("the kernel's sockets", tries("socket", "socket.socket(16, 3, 0)", kind="OSError"), NO_NET),
    Attack("names on the network", tries("socket", "socket.getaddrinfo('example.org', 80)", kind="OSError"), NO_NET),
    Attack("the work of the one before", body(BEFORE), "the first process reads nothing of a hand-in", "nothing of it"),
    Attack(
        "looks for the answer in memory",
        body(
            "import gc, sys\nfor thing in gc.get_objects():\n"
            "    if isinstance(thing, dict) and 'expected' in thing:\n        return thing['expected']\n"
            "frame = sys._getframe()\nwhile frame:\n"
            "    if 'expected' in frame.f_locals or 'right' in frame.f_locals:\n"
            "        return frame.f_locals.get('expected', frame.f_locals.get('right'))\n    frame = frame.f_back\n"
            "return x"
        ),
        "expected values stay outside",
    ),
    Attack(
        "the work that is still to come",
        body(
            "import os\nfor fd in range(0, 128):\n    try:\n        os.set_blocking(fd, False)\n"
            "        if os.read(fd, 10):\n            return 2 * x\n    except OSError:\n        pass\nreturn x"
        ),
        "standard input is closed, and work comes one by one",
    ),
)
