"""Create .venv and install the lock: needs nothing but Python's standard library, so that a fresh clone can run it."""

from __future__ import annotations  # so that an old Python gets as far as being told which one is needed

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from labkit.base.paths import ROOT

VENV = ROOT / ".venv"
STAMP = VENV / "labkit-installed"
SUPPORTED = ((3, 11), (3, 12), (3, 13))


HELP = "create .venv and install the lock (done once; later calls return at once)"


def register(parser: argparse.ArgumentParser) -> None:
    """No options: the lock decides."""
    parser.set_defaults(run=lambda args: setup())


def venv_python() -> Path:
    """The interpreter inside .venv."""
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def fingerprint() -> str:
    """Changes whenever the lock or the project file does."""
    text = (ROOT / "requirements.txt").read_bytes() + (ROOT / "pyproject.toml").read_bytes()
    return hashlib.sha256(text).hexdigest()


def setup() -> int:
    """Make .venv hold exactly the lock; returns at once where it does already. Safe to interrupt and to repeat."""
    if not (ROOT / "requirements.txt").is_file():
        print("labkit: set-up needs a clone of the project (no requirements.txt beside the package)", file=sys.stderr)
        return 1
    if venv_python().exists() and STAMP.exists() and STAMP.read_text() == fingerprint():
        return 0
    python = supported_python()
    if python is None:
        print(
            f"labkit needs Python 3.11, 3.12 or 3.13; this is {sys.version.split()[0]} and no other was found.\n"
            "Install one of them and name it: make PYTHON=/path/to/python3.12 … (Windows: py -3.12 -m labkit setup)",
            file=sys.stderr,
        )
        return 1
    STAMP.unlink(missing_ok=True)  # an interrupted installation must not look finished
    if not usable(venv_python()):
        print("labkit: creating .venv", flush=True)
        made = subprocess.run([python, "-m", "venv", "--clear", str(VENV)]).returncode
        if made != 0:
            print("labkit: could not create .venv; on Debian and Ubuntu: apt install python3-venv", file=sys.stderr)
            return made
    print("labkit: installing requirements.txt (a few minutes the first time)", flush=True)
    pip = [str(venv_python()), "-m", "pip", "install", "--disable-pip-version-check"]
    # the project itself comes last and without dependencies: the lock is the only source of versions
    for what in (["-r", "requirements.txt"], ["--no-deps", "--no-build-isolation", "-e", "."]):
        failed = subprocess.run([*pip, *what], cwd=ROOT).returncode
        if failed:
            print("labkit: installation failed, see above; run the same command again to go on", file=sys.stderr)
            return failed
    STAMP.write_text(fingerprint())
    return 0


def supported_python() -> str | None:
    """This interpreter if labkit supports it, else the newest supported one on the PATH."""
    if sys.version_info[:2] in SUPPORTED:
        return sys.executable
    names = [f"python{major}.{minor}" for major, minor in reversed(SUPPORTED)]
    found = [path for path in map(shutil.which, names) if path and usable(Path(path))]
    return found[0] if found else None


def usable(python: Path) -> bool:
    """It runs, and its version is supported (a venv can outlive the Python it was made from)."""
    if not python.exists():
        return False
    version = "import sys; print(sys.version_info[0], sys.version_info[1])"
    answer = subprocess.run([str(python), "-c", version], capture_output=True, text=True)
    return answer.returncode == 0 and tuple(map(int, answer.stdout.split())) in SUPPORTED
