"""Two trainings of the same name at the same moment: both run, one under the next free name."""

import multiprocessing
import tempfile
from pathlib import Path

from tests.reliability.table import Row


def run(full: bool) -> list[Row]:
    context = multiprocessing.get_context("spawn")
    rounds, at_once, lost = (20, 8, 0) if full else (2, 4, 0)
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder, context.Pool(at_once) as pool:
            names = pool.map(begin, [(folder, number) for number in range(at_once)], chunksize=1)
            there = sorted(path.parent.name for path in Path(folder).glob("*/run.json"))
            lost += at_once - len(set(names)) + (sorted(names) != there)
    return [Row("same name at once", rounds * at_once, rounds * at_once - lost, lost, f"{at_once} at a time")]


def begin(given: tuple[str, int]) -> str:
    """What `labkit train` does to get a folder: all processes wait for each other between looking and taking."""
    import time

    from labkit.runs.record import RunRecord
    from labkit.runs.tracker import FileTracker, TakenError, free_folder

    folder = Path(given[0])
    while True:
        free = free_folder(folder / "toy_pnp-dq_s0")
        time.sleep(0.2)  # loading the data takes a while
        try:
            tracker = FileTracker.create(free, RunRecord(schema=1, id=free.name, seed=given[1]))
        except TakenError:
            continue
        assert tracker.record.seed == given[1]
        return free.name
