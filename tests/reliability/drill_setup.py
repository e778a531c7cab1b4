"""Set-up killed at random moments, also while the environment is made: the same command goes on to the end."""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from labkit.base.paths import ROOT
from tests.reliability.table import Row

BACKEND = """
import zipfile
def build_editable(folder, settings=None, metadata=None):
    info = "labkit-0.1.dist-info"
    with zipfile.ZipFile(folder + "/labkit-0.1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("labkit.pth", __file__.rpartition("/")[0])
        wheel.writestr(info + "/METADATA", "Metadata-Version: 2.1\\nName: labkit\\nVersion: 0.1\\n")
        wheel.writestr(info + "/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(info + "/RECORD", "")
    return "labkit-0.1-py3-none-any.whl"
"""
PROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
PROJECT += '[project]\nname = "labkit"\nversion = "0.1"\n'
CHECK = (
    "import cats, labkit; from labkit.commands.setup import *; assert sum(cats.all()) == 400; print(STAMP.read_text())"
)


def run(full: bool) -> list[Row]:
    """A clone of the command line alone, and a lock of one package with 400 files."""
    with tempfile.TemporaryDirectory() as folder:
        clone = small_clone(Path(folder))
        wrong, whole = [], 10.0
        moments, tries = random.Random(0), 20 if full else 1
        if full:
            begun = time.monotonic()
            wrong += [problem for problem in [finish(clone)] if problem]
            whole = time.monotonic() - begun
        for number in range(tries):
            shutil.rmtree(clone / ".venv", ignore_errors=True)
            for _ in range(1 + number % 2):  # some are killed twice
                process = started(clone)
                time.sleep(moments.uniform(0, whole))
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            if problem := finish(clone):
                wrong.append(problem)
    detail = f"within {whole:.0f} s of the start" + (f"; {wrong[0]}" if wrong else "")
    return [Row("set-up killed", tries, tries - len(wrong), len(wrong), detail)]


def small_clone(folder: Path) -> Path:
    clone = folder / "clone"
    for name in ("base", "commands"):
        shutil.copytree(ROOT / "labkit" / name, clone / "labkit" / name)
    for name in ("__init__.py", "__main__.py"):
        shutil.copy(ROOT / "labkit" / name, clone / "labkit")
    (clone / "requirements.txt").write_text("cats==1.0\n")
    (clone / "pyproject.toml").write_text(PROJECT)
    (clone / "backend.py").write_text(BACKEND)
    with zipfile.ZipFile(clone / "cats-1.0-py3-none-any.whl", "w") as wheel:
        init = "from importlib import import_module\n\n\ndef all():\n"
        init += "    return [import_module(f'cats.m{n}').one for n in range(400)]\n"
        wheel.writestr("cats/__init__.py", init)
        for number in range(400):
            wheel.writestr(f"cats/m{number}.py", "one = 1\n" + "#" * 20_000)
        info = "cats-1.0.dist-info"
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: cats\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return clone


def started(clone: Path, more: dict[str, str] | None = None) -> subprocess.Popen[str]:
    settings = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(clone), "PIP_CONFIG_FILE": os.devnull}
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.Popen(
        [sys._base_executable, "-m", "labkit", "setup"],  # a venv of a venv is not what a newcomer makes
        cwd=clone,
        env=environment | settings | (more or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def finish(clone: Path) -> str:
    """Run to the end; nothing, or what was wrong with what it made."""
    process = started(clone)
    said, _ = process.communicate(timeout=300)
    if process.returncode:
        return f"code {process.returncode}: {said[-300:]!r}"
    checked = subprocess.run(
        [str(clone / ".venv/bin/python"), "-c", CHECK], cwd=clone.parent, capture_output=True, text=True
    )
    return "" if checked.returncode == 0 else checked.stderr[-300:]
