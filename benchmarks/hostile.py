"""Hand-ins that do harm, for a class that is graded to the end all the same: 15 answers and 5 files."""

import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

ANSWERS = {  # what the first question's function does instead
    "loops": "while True:\n    pass",
    "sleeps": "import time\ntime.sleep(1000)",
    "ends itself": "import os\nos._exit(0)",
    "kills all": "import os\nos.kill(-1, 9)\nos.kill(1, 9)",
    "stops itself": "import os\nos.kill(os.getpid(), 19)",
    "forks": "import os\nwhile True:\n    os.fork()",
    "fills memory": "held = []\nwhile True:\n    held.append(bytearray(2**26))",
    "fills the output": "import os\nwhile True:\n    for fd in range(3, 64):\n        try:\n"
    "            os.write(fd, b'x' * 65536)\n        except OSError:\n            pass",
    "crashes": "import ctypes\nctypes.string_at(0)",
    "swallows signals": "import signal\nfor s in range(1, 65):\n    try:\n        signal.signal(s, 1)\n"
    "    except (OSError, ValueError):\n        pass\nwhile True:\n    pass",
    "returns a dictionary": "return {'value': 1, 'gradient': 2}",
    "returns a huge number": "return 10 ** 400",
    "returns half a character": "return '\\ud800'",
    "returns a list in itself": "y = []\ny.append(y)\nreturn y",
    "raises what cannot be told": "class E(Exception):\n    def __str__(self):\n        raise self\nraise E",
}


def archive(method: int, size: int = 40) -> bytes:
    """A zip of 0.8 MB that holds 40 × 19.5 MB of JSON."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as files:
        for number in range(size):
            files.writestr(f"{number}.ipynb", b"[" + b"[]," * 6_500_000 + b"[]]")
    return content.getvalue()


def damaged(method: int) -> bytes:
    """A zip with other bytes in its middle."""
    content = bytearray(archive(method, 1))
    middle = len(content) // 2
    content[middle : middle + 64] = os.urandom(64)
    return bytes(content)


FILES: dict[str, Callable[[Path], object]] = {
    "many lists.zip": lambda path: path.write_bytes(archive(zipfile.ZIP_DEFLATED)),
    "damaged deflate.zip": lambda path: path.write_bytes(damaged(zipfile.ZIP_DEFLATED)),
    "damaged lzma.zip": lambda path: path.write_bytes(damaged(zipfile.ZIP_LZMA)),
    "deep.ipynb": lambda path: path.write_bytes(b"[" * 10**7),
    "pipe.ipynb": lambda path: os.mkfifo(path),
}


def write_hostile(folder: Path, solution: Path, question: str) -> int:
    """The 20 hand-ins: copies of a solution with another first answer, and files; how many."""
    for name, text in ANSWERS.items():
        notebook = json.loads(solution.read_text(encoding="utf-8"))
        lines = "".join(f"    {line}\n" for line in text.split("\n"))
        for cell in notebook["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("grade_id") == question:
                cell["source"] = f"def {question}(*_, **__):\n{lines}"
        (folder / f"{name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    for name, write in FILES.items():
        write(folder / name)
    return len(ANSWERS) + len(FILES)
