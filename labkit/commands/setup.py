"""Create .venv and install the lock: needs nothing but Python's standard library, so that a fresh clone can run it.

It may be killed at any moment, or run out of disk: the same command repairs what was left half and goes on.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from labkit.base.paths import ROOT

VENV = ROOT / ".venv"
STAMP = VENV / "labkit-installed"
SUPPORTED = ((3, 11), (3, 12), (3, 13))


HELP = "create .venv and install the lock (done once; later calls return at once)"


def register(parser: argparse.ArgumentParser) -> None:
    """No options: the lock decides."""
    parser.set_defaults(run=lambda args: setup(), goes_on=True)


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
    if not usable(venv_python()) or not has_pip(venv_python()):  # else killed while it was made
        print("labkit: creating .venv", flush=True)
        made, said = heard([python, "-m", "venv", "--clear", str(VENV)])
        if made != 0:
            print(f"labkit: could not create .venv; {reason(python, said)}", file=sys.stderr)
            return made
    for name in remove_halves(site_packages()):
        print(f"labkit: {name} was left half installed and is installed anew", flush=True)
    print("labkit: installing requirements.txt (a few minutes the first time)", flush=True)
    pip = [str(venv_python()), "-m", "pip", "install", "--disable-pip-version-check"]
    # the project itself comes last and without dependencies: the lock is the only source of versions
    for what in (["-r", "requirements.txt"], ["--no-deps", "--no-build-isolation", "-e", "."]):
        failed, said = heard([*pip, *what])
        if failed:
            why = reason(python, said)
            print(f"labkit: installation failed, see above; {why} and run the same command again", file=sys.stderr)
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


def heard(command: list[str]) -> tuple[int, str]:
    """Run in the project's folder; its exit code, and its errors, which the user sees as they come."""
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, errors="replace") as process:
        said = []
        for line in process.stderr or ():
            sys.stderr.write(line)
            said.append(line)
    return process.returncode, "".join(said)


def reason(python: str, said: str) -> str:
    """What to do about a failure: a full disk, a missing python3-venv, or something else."""
    if "No space left" in said or "Errno 28" in said or "quota exceeded" in said or not room(ROOT):
        return f"the disk is full (pip also needs room in {tempfile.gettempdir()}): make room"
    if subprocess.run([python, "-c", "import ensurepip"], capture_output=True).returncode:
        return "this Python lacks ensurepip: on Debian and Ubuntu, apt install python3-venv"
    return "fix the error shown there (is the network up?)"


def room(folder: Path) -> bool:
    """Whether a few megabytes can be written; what a disk says of itself leaves out quotas."""
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"x" * 5_000_000)
            probe.flush()
            os.fsync(probe.fileno())
    except OSError:
        return False
    return True


def has_pip(python: Path) -> bool:
    """Whether pip runs: it comes last when an environment is made."""
    return subprocess.run([str(python), "-m", "pip", "--version"], capture_output=True).returncode == 0


def site_packages() -> Path:
    """Where packages are in .venv."""
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return Path(subprocess.run([str(venv_python()), "-c", code], capture_output=True, text=True).stdout.strip())


def remove_halves(folder: Path) -> list[str]:
    """Make pip forget packages of which not all was written, so that it installs them anew; their names."""
    halves = [info for info in sorted(folder.glob("*.dist-info")) if not is_whole(info)]
    for rest in (*halves, *folder.glob("~*")):  # pip renames to ~ what it is about to remove
        shutil.rmtree(rest, ignore_errors=True)
    return [info.name.removesuffix(".dist-info") for info in halves]


def is_whole(info: Path) -> bool:
    """Whether every file that a package's list names is there in its size; pip writes the list last."""
    try:
        with (info / "RECORD").open(encoding="utf-8", newline="") as record:
            rows = [row for row in csv.reader(record) if row]
        listed = {row[0]: row[2] for row in rows}
        sizes = {name: (info.parent / name).stat().st_size for name in listed if not name.endswith(".pyc")}
    except (OSError, ValueError, IndexError, csv.Error):
        return False
    named = f"{info.name}/RECORD" in listed
    # commands name the Python that they run with, and change when an environment is moved
    fixed = {name: size for name, size in sizes.items() if not name.startswith("..")}
    return named and all(listed[name] in ("", str(size)) for name, size in fixed.items())


def usable(python: Path) -> bool:
    """It runs, and its version is supported (a venv can outlive the Python it was made from)."""
    if not python.exists():
        return False
    version = "import sys; print(sys.version_info[0], sys.version_info[1])"
    answer = subprocess.run([str(python), "-c", version], capture_output=True, text=True)
    return answer.returncode == 0 and tuple(map(int, answer.stdout.split())) in SUPPORTED
