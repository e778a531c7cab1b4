"""Many runs and many visitors: every run is listed, every page of every visitor comes, with time and memory taken."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

from benchmarks.browser import served
from tests.reliability.mutations import sound_run
from tests.reliability.pages import ROOT, forget, menu, open_page
from tests.reliability.table import Row

VISITED = ("home", "runs", "compare", "embeddings")
POINTS = 200_000
PATIENCE = 300  # seconds for a page while all the others are asked for


def run(full: bool) -> list[Row]:
    count, before = (5000 if full else 200), os.environ.get("LABKIT_RUNS")
    try:
        with tempfile.TemporaryDirectory() as folder:
            store(Path(folder), count)
            os.environ["LABKIT_RUNS"] = folder
            rows = [listed(Path(folder), count), opened(menu() if full else ["home", "runs"], count)]
            return [*rows, *visited(Path(folder), count, full)]
    finally:
        os.environ.pop("LABKIT_RUNS") if before is None else os.environ.update(LABKIT_RUNS=before)
        forget()


def store(root: Path, count: int) -> None:
    """Runs that differ by id and seed; the files of all but run.json are those of the first."""
    sound = sound_run(root)
    text = (sound / "run.json").read_text()
    for seed in range(1, count):
        name = f"a-s{seed}"
        shutil.copytree(sound, root / name, copy_function=os.link)
        (root / name / "run.json").unlink()  # the link, not what all share
        (root / name / "run.json").write_text(json.dumps(json.loads(text) | {"id": name, "seed": seed}))


def listed(root: Path, count: int) -> Row:
    """All are found, and again where one has changed, one is cut short and one is gone since."""
    from labkit.runs.read import Known, find_runs

    known: Known = {}
    begun = time.process_time()
    sound = sum(not run.problems for run in find_runs(root, known=known))
    between = time.process_time()
    changed, cut, gone = (root / f"a-s{seed}" / "run.json" for seed in (1, 2, 3))
    changed.write_text(json.dumps(json.loads(changed.read_text()) | {"device": "another"}))
    kept = cut.read_text()
    cut.write_text(kept[:50])
    moved = gone.rename(root / "moved")
    after = time.process_time()
    again = {run.id: run for run in find_runs(root, known=known)}
    taken = time.process_time() - after
    lost = count - sound + (again["a-s1"].device != "another") + (not again["a-s2"].problems) + ("a-s3" in again)
    cut.write_text(kept)
    moved.rename(gone)
    detail = f"{between - begun:.2f} s of CPU to read {count:,} runs, {taken:.2f} s to look again"
    return Row("many runs listed", count + 3, count + 3 - lost, lost, detail)


def opened(pages: list[str], count: int) -> Row:
    """The first visit of each page in a server that knows no run yet, its modules loaded before; then the second."""
    first, second, broken = {}, {}, []
    for page in pages:
        open_page(page)
        forget()
        for taken in (first, second):
            begun = time.process_time()
            if (found := open_page(page)).exception:
                broken.append(f"{page}: {found.exception[0].message[:100]}")
            taken[page] = time.process_time() - begun
    slow, again = max(first, key=first.__getitem__), max(second, key=second.__getitem__)
    detail = (
        f"most CPU with {count:,} runs: first visit {first[slow]:.2f} s ({slow}), next {second[again]:.2f} s ({again})"
    )
    tried = 2 * len(pages)
    return Row("pages with many runs", tried, tried - len(broken), len(broken), "; ".join(broken[:3]) or detail)


def visited(root: Path, count: int, full: bool) -> list[Row]:
    """Sessions at once on two dashboards; in full beside two trainings, with 200,000 points to draw."""
    import psutil

    pages, sessions = (VISITED, 50) if full else (VISITED[:1], 2)
    query = f"run={brought(root, POINTS)}" if full else ""
    broken: list[str] = []
    waits: list[float] = []
    with ExitStack() as stack:
        dashboards = [stack.enter_context(served(ROOT / "streamlit_app.py")) for _ in range(2)]
        trainings = [stack.enter_context(training(root, seed)) for seed in range(2 if full else 0)]
        servers, megabytes = [psutil.Process(pid) for _, pid in dashboards], []
        begun = time.perf_counter()
        for page in (*pages, *pages[-2:] * 3):  # again and again shows whether memory still grows
            visits = [(address, page, query) for address, _ in dashboards for _ in range(sessions // 2)]
            with ThreadPoolExecutor(sessions) as pool:
                for wait, wrong in pool.map(visit, *zip(*visits)):
                    waits.append(wait)
                    broken += [wrong] * bool(wrong)
            megabytes.append(sum(server.memory_info().rss for server in servers) // 2**20 // 2)
        whole, cpu = time.perf_counter() - begun, sum(sum(server.cpu_times()[:2]) for server in servers)
        ended = sum(process.poll() is not None for process in trainings)
    detail = (
        f"{sessions} at once, {count:,} runs: {whole:.0f} s, {cpu:.0f} s of CPU, median {median(waits):.1f} s, slowest "
        f"{max(waits):.1f} s; MB of one after all pages, then again: {megabytes[len(pages) - 1 :: 2]}"
    )
    rows = [Row("visitors at once", len(waits), len(waits) - len(broken), len(broken), "; ".join(broken[:2]) or detail)]
    if trainings:
        rows.append(Row("trainings beside them", 2, 2 - ended, ended, "both still learn after the last visit"))
    return rows


def brought(root: Path, count: int) -> str:
    """The id of a run with so many points, from a file of embeddings."""
    import numpy as np

    draw = np.random.default_rng(0)
    labels = draw.integers(0, 100, count)
    points = draw.normal(size=(100, 8))[labels] + 0.5 * draw.normal(size=(count, 8))
    np.savez(root / "many.npz", embeddings=points.astype(np.float32), labels=labels)
    command = ["runs", "import", str(root / "many.npz"), "--runs", str(root), "--methods", "pca"]
    done = subprocess.run([sys.executable, "-m", "labkit", *command], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-300:])
    return Path(done.stdout.partition("imported: ")[2].strip()).name


@contextmanager
def training(root: Path, seed: int) -> Iterator[subprocess.Popen]:
    """A training that goes on until it is stopped."""
    command = ["train", "toy", "--seed", str(seed), "--set", "steps=1000000", "--runs", str(root), "--threads", "1"]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen([sys.executable, "-m", "labkit", *command], cwd=ROOT, stdout=quiet, stderr=quiet)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def visit(address: str, page: str, query: str) -> tuple[float, str]:
    """One session that asks for a page and reads until it is whole: seconds, and what went wrong."""
    from streamlit.proto.BackMsg_pb2 import BackMsg
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
    from websockets.sync.client import connect

    asked = BackMsg()
    asked.rerun_script.page_name = "" if page == "home" else page
    asked.rerun_script.query_string = query if page == "embeddings" else ""
    begun = time.perf_counter()
    try:
        stream = f"{address.replace('http', 'ws', 1)}/_stcore/stream"
        with connect(stream, subprotocols=["streamlit"], max_size=None, origin=address, open_timeout=PATIENCE) as line:
            line.send(asked.SerializeToString())
            while True:
                said = ForwardMsg.FromString(line.recv(timeout=PATIENCE))
                if said.delta.new_element.HasField("exception"):
                    return time.perf_counter() - begun, f"{page}: {said.delta.new_element.exception.message[:100]}"
                if said.WhichOneof("type") == "script_finished":
                    return time.perf_counter() - begun, ""
    except Exception as error:
        return time.perf_counter() - begun, f"{page}: {type(error).__name__}: {str(error)[:100]}"
