"""labkit as a wheel: short, what it holds and that a copy apart from the clone runs; full, installed in fresh
environments (nothing but pip's, with the lock's versions), where every command does its work or names the extra."""

import os
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile
from pathlib import Path

from labkit.base.paths import ROOT
from tests.reliability.table import Row

FROM_A_COPY = """
from labkit.base.paths import HOME, PACKAGE, RECORDED, shipped
from labkit.data.papers import errata
from labkit.runs.read import find_runs
assert not PACKAGE.is_relative_to({root!r}) and HOME.parent == PACKAGE, PACKAGE
assert (shipped() / "icons").is_dir() and errata()
assert len(find_runs(RECORDED)) > 100
"""
# every loss and its gradient, and the metrics, on torch and numpy alone
CORE = """
import torch
from labkit import losses, metrics
x, y = torch.randn(12, 4, requires_grad=True), torch.arange(12) // 4
for card in losses.CATALOG.values():
    card.build(num_classes=3, dim=4)(x, y).backward()
print(metrics.evaluate(x.detach(), y, ks=(1, 2))["R@1"])
"""
PAGES = """
import sys
from labkit.base.paths import HOME
sys.path.insert(0, str(HOME))
import importlib, pkgutil, dashboard.pages
for page in pkgutil.iter_modules(dashboard.pages.__path__):
    importlib.import_module(f"dashboard.pages.{page.name}")
from streamlit.testing.v1 import AppTest
app = AppTest.from_file(str(HOME / "streamlit_app.py"), default_timeout=120).run()
assert not app.exception, app.exception
"""
TRAIN = "train toy --set train.steps=20"
# a command line and words that its output must hold; the exit code is 0 unless labkit says what to install
BASE = [
    ("--help", "list the losses"),
    ("losses", "fast-ap"),
    ("losses pnp-dq", "Rethinking"),
    (TRAIN, 'pip install "labkit[training]"'),
    ("sweep toy --losses pnp-dq", 'pip install "labkit[training]"'),
    ("runs list", 'pip install "labkit[training]"'),
    ("dashboard", 'pip install "labkit[dashboard]"'),
    ("lab", 'pip install "labkit[notebooks]"'),
    ("book", 'pip install "labkit['),
    ("course init course", 'pip install "labkit['),
    ("test", "needs a clone"),
]
TRAINING = [
    (TRAIN, "R@1"),
    ("runs list", "toy"),
    ("dashboard", 'pip install "labkit[dashboard]"'),
    ("lab", 'pip install "labkit[notebooks]"'),
    ("book", 'pip install "labkit[notebooks]"'),
    ("course init course", 'pip install "labkit[course]"'),
]
ALL = [
    (TRAIN, "R@1"),
    ("playground -o playground.html", "playground.html"),
    ("book 01 -o book", "the book is in"),
    ("course release course --assignment 1_metrics", ""),
]
DASHBOARD = [("lab", 'pip install "labkit[notebooks]"')]
ENVIRONMENTS = {"": BASE, "[training]": TRAINING, "[dashboard]": DASHBOARD, "[all]": ALL}
SERVERS = {"[dashboard]": ["dashboard --no-token"], "[all]": ["dashboard --no-token", "lab --ServerApp.token=x"]}


def run(full: bool) -> list[Row]:
    """Build the wheel and try it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = build(folder)
        wrong = contents(wheel) + copied(wheel, folder / "copy")
        rows = [row("the wheel's contents", 2, wrong)]
        for extra, commands in ENVIRONMENTS.items() if full else ():
            rows.append(installed(wheel, extra, commands, folder / f"with{extra}"))
        return rows


def row(name: str, tried: int, wrong: list[str]) -> Row:
    return Row(name, tried, tried - len(wrong), len(wrong), "; ".join(wrong))


def build(folder: Path) -> Path:
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


def contents(wheel: Path) -> list[str]:
    """What git does not ignore of the package, lessons, dashboard and data is there, and nothing else."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    home = ("data/", "notebooks/", "dashboard/", ".streamlit/", "streamlit_app.py", "streamlit_server.py")
    tracked = [name for name in listed.split("\0") if (ROOT / name).is_file()]
    wanted = {name for name in tracked if name.startswith("labkit/")}
    wanted |= {f"labkit/_home/{name}" for name in tracked if name.startswith(home)}
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    differ = sorted(wanted ^ held)
    return [f"{len(differ)} files missing or too many: {', '.join(differ[:3])}"] if differ else []


def copied(wheel: Path, folder: Path) -> list[str]:
    """The wheel's files in a folder of their own find their data, papers and recorded runs."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    environment = os.environ | {"PYTHONPATH": str(folder)}
    code = FROM_A_COPY.format(root=str(ROOT))
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True)
    return [done.stderr[-150:]] if done.returncode else []


def installed(wheel: Path, extra: str, commands: list[tuple[str, str]], folder: Path) -> Row:
    """A fresh environment with the wheel, tried from a folder of the user's own."""
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    python = str(folder / "venv" / "bin" / "python")
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-c", str(ROOT / "requirements.txt")]
    subprocess.run([*pip, f"{wheel}{extra}"], check=True, capture_output=True)
    user = folder / "user"
    user.mkdir()
    wrong = [problem for words in commands if (problem := tried([python, "-m", "labkit"], *words, user))]
    codes = [CORE, PAGES] if extra in SERVERS else [CORE]
    wrong += [problem for code in codes if (problem := tried([python, "-c", code], "", "", user))]
    servers = SERVERS.get(extra, [])
    wrong += [problem for port, words in enumerate(servers, 18731) if (problem := served(python, words, port, user))]
    return row(f"wheel installed as labkit{extra}", len(commands) + len(codes) + len(servers), wrong)


def environment() -> dict[str, str]:
    """Without what this process's own environment tells Python."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}


def tried(program: list[str], words: str, hold: str, user: Path) -> str:
    """What was wrong with a command: no traceback, the words that it must say, and 0 unless something is missing."""
    done = subprocess.run(
        [*program, *words.split()], cwd=user, env=environment(), capture_output=True, text=True, timeout=900
    )
    said = done.stdout + done.stderr
    refused = "pip install" in hold or "needs a clone" in hold
    fine = "Traceback" not in said and hold in said and (done.returncode == 0 or (refused and words != "--help"))
    return "" if fine else f"{words or program[-1][:20]}: {said.strip()[-300:]}"


def served(python: str, words: str, port: int, user: Path) -> str:
    """What was wrong with a server: it must answer on its port."""
    name, *options = words.split()
    command = [python, "-m", "labkit", name, "--headless", "--port", str(port), *options]
    address = f"http://127.0.0.1:{port}" + ("/_stcore/health" if name == "dashboard" else "/lab?token=x")
    with subprocess.Popen(command, cwd=user, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as it:
        try:
            for _ in range(120):
                time.sleep(0.5)
                try:
                    with urllib.request.urlopen(address, timeout=5) as answer:
                        return "" if answer.status == 200 else f"{name}: status {answer.status}"
                except OSError:
                    if it.poll() is not None:
                        break
            return f"{name} does not answer"
        finally:
            it.terminate()
