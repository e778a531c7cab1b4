"""Archives and devices that are none of labkit's: refused within 5 seconds and 200 MB, and nothing is left behind."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from run_folders import make_run

from tests.reliability.table import Row

ROOT = Path(__file__).parents[2]
SECONDS, MEMORY = 5.0, 200  # MB
# prints the most memory that the command took, after it
MEASURED = """
import sys
from labkit.commands import main
from tests.reliability.memory import peak_mb
try:
    code = main(sys.argv[1:])
except SystemExit as ended:
    code = ended.code
print("MEMORY", peak_mb())
sys.exit(code)
"""


def run(full: bool) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        return [refusals(Path(folder), full), killed_imports(Path(folder), 20 if full else 3)]


def labkit(*arguments, **options) -> subprocess.Popen:
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", MEASURED, *map(str, arguments)]
    return subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )


def refusals(folder: Path, full: bool) -> Row:
    """Each input is refused, with its reason, in time and memory; in the short form the quickest to make of them."""
    lost, longest, most = [], 0.0, 0
    inputs = hostile(folder, full)
    for name, arguments in inputs.items():
        root = folder / f"root-{len(name)}"
        begun, process = time.monotonic(), labkit(*arguments, "--runs", root, text=True)
        try:
            out, err = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
        took, memory = time.monotonic() - begun, int((out.rpartition("MEMORY ")[2] or "9999").strip() or 9999)
        longest, most = max(longest, took), max(most, memory)
        wrong = process.returncode != 2 or "Traceback" in err or "labkit:" not in err
        if wrong or memory > MEMORY or took > 4 * SECONDS or root.exists():  # the machine may be busy
            lost.append(f"{name}: code {process.returncode}, {took:.1f} s, {memory} MB, {err.strip()[-100:]}")
    detail = f"refused in at most {longest:.1f} s with start of Python, {most} MB" if not lost else "; ".join(lost)
    return Row("archives and devices", len(inputs), len(inputs) - len(lost), len(lost), detail)


def hostile(folder: Path, full: bool) -> dict[str, list]:
    """What a user may name by mistake, or be sent."""
    os.mkfifo(folder / "fifo.zip")
    found = {
        "a FIFO": ["runs", "import", folder / "fifo.zip"],
        "/dev/zero": ["runs", "import", "/dev/zero"],
        "49,000 runs": ["runs", "import", many(folder / "many.zip", 49_000)],
        "a huge integer": ["runs", "import", huge(folder / "huge.zip", 400)],
        "a larger integer": ["runs", "import", huge(folder / "larger.zip", 5_000_000)],
    }
    if full:
        device = folder / "zero.zip"
        device.symlink_to("/dev/zero")
        (folder / "fifo-s0").mkdir()
        os.mkfifo(folder / "fifo-s0" / "run.json")
        os.mkfifo(folder / "fifo.npz")
        found |= {
            "a link to /dev/zero": ["runs", "import", device],
            "65,000 entries": ["runs", "import", many(folder / "more.zip", 65_000)],
            "resuming a FIFO": ["train", "--resume", folder / "fifo-s0"],
            "evaluating a FIFO": ["evaluate", folder / "fifo.npz"],
        }
    return found


def many(path: Path, count: int) -> Path:
    """A zip of as many runs, each of them a small run.json."""
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(count):
            archive.writestr(f"a-s{number}/run.json", "{}")
    return path


def huge(path: Path, digits: int) -> Path:
    """A run with a number that no file of labkit holds."""
    run = make_run(path.with_suffix(""), "a-s0")
    text = (run / "summary.json").read_text().replace('"wall_seconds": 61.0', f'"wall_seconds": 1{"0" * digits}')
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(run / "run.json", "a-s0/run.json")
        archive.writestr("a-s0/summary.json", text)
    return path


def killed_imports(folder: Path, count: int) -> Row:
    """Imports of many runs are killed, early and late; the next import leaves nothing of them, no run is lost."""
    source, archive, lost = folder / "source", folder / "good.zip", []
    for number in range(60):
        make_run(source, f"a-s{number}")
    subprocess_ok(labkit("runs", "export", *(f"a-s{n}" for n in range(60)), "-o", archive, "--runs", source))
    for number in range(count):
        root = folder / f"killed-{number}"
        subprocess_ok(labkit("runs", "import", archive, "--runs", root))
        process = labkit("runs", "import", archive, "--runs", root, "--overwrite")
        while process.poll() is None and not list(root.glob(".import-*")):
            time.sleep(0.001)
        time.sleep(0.005 * number)
        process.send_signal(signal.SIGKILL)
        process.wait()
        for left in root.glob(".import-*"):
            os.utime(left, (0, 0))  # as if it had been a while ago
        subprocess_ok(labkit("runs", "import", archive, "--runs", root, "--overwrite"))
        left = [path.name for path in root.iterdir() if path.name.startswith(".")]
        runs = [path for path in root.iterdir() if (path / "summary.json").exists()]
        if left or len(runs) != 60:
            lost.append(f"kill {number}: {len(runs)} of 60 runs, left {left}")
    detail = "; ".join(lost) or "nothing left behind, no run lost"
    return Row("killed imports", count, count - len(lost), len(lost), detail)


def subprocess_ok(process: subprocess.Popen) -> None:
    _, err = process.communicate(timeout=120)
    if process.returncode:
        raise RuntimeError(err.decode(errors="replace")[-500:])
