"""`python -m tests.reliability.fuzz COUNT SEED`: read damaged runs in every way there is; figures as JSON.

In a process of its own, since memory is one of the figures.
"""

import contextlib
import io
import json
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / room) for room in ("data", "runs")]

from tests.reliability.memory import peak_mb  # noqa: E402
from tests.reliability.mutations import damage, sound_run  # noqa: E402

DRAWN = 5  # of so many files one is drawn, too: figures take long and read nothing themselves
LONGEST = 5.0  # seconds that a reader may take
COMMANDS = (["runs"], ["runs", "show", "a-s0"], ["runs", "compare", "--preset", "toy"])


class Hangs(BaseException):
    """A reader took too long."""


def readers(root, file, drawn):
    """Every way to read a run of which this file is damaged; by pages, commands, lessons; drawn: figures, too."""
    from labkit.commands import main
    from labkit.explorers.embedding import explorer_data
    from labkit.explorers.embedding.groups import neighbour_table
    from labkit.figures.comparison import cost_against_quality, profiles
    from labkit.figures.results import results, training_curves
    from labkit.runs import compare, contents, read
    from labkit.runs.film import read_film
    from labkit.runs.retrieval import per_query, read_points, same_data
    from labkit.runs.transfer import check_contents
    from labkit.training.live import progress_of
    from labkit.training.moving import read_moving

    run = read.read_run(root / "a-s0")
    yield "properties", lambda: (run.title, run.group, run.status, run.advice, run.broken, run.seconds, run.stamp())
    yield "contents", lambda: check_contents(run.path)
    yield "commands", lambda: [main([*command, "--runs", str(root)]) for command in COMMANDS]
    if file.endswith((".json", ".jsonl")):
        yield "curves", lambda: (compare.curves([run]), compare.curves([run], "loss"), progress_of(run, run.curves()))
        yield "tables", lambda: [write(compare.table([run])) for write in (compare.to_csv, compare.to_latex)]
        yield "same data", lambda: same_data([run])
        if drawn:
            yield "figures", lambda: [training_curves([run], metric) for metric in ("loss", "R@1")]
        if drawn and run.value("R@1") is not None and not run.problems:
            yield "results", lambda: (results([run], "R@1"), profiles([run], {}))
            yield "cost", lambda: cost_against_quality([run], "R@1", {})
    else:
        yield "film", lambda: (film := read_film(run)) and (film.table, film.places)
        yield "points", lambda: per_query(read_points(run))
        yield "explorer", lambda: (data := explorer_data(run)) and (data.packed, neighbour_table(data, "s"))
        yield "embeddings", lambda: contents.read_embeddings(run)
        yield "classes", lambda: contents.classes_of(contents.read_samples(run))
        yield "frames", lambda: contents.read_frames(run)
        yield "moving", lambda: read_moving(run)


def fuzz(count: int, seed: int) -> dict:
    """Damage `count` files, one after the other, and read each in every way."""
    from labkit.runs import RunError

    draw, lost, longest, reads = random.Random(seed), [], (0.0, ""), 0
    begun, told, spent = time.monotonic(), 0, {}
    with tempfile.TemporaryDirectory() as folder:
        sound = sound_run(Path(folder) / "sound")
        root = Path(folder) / "runs"
        for number in range(count):
            shutil.rmtree(root, ignore_errors=True)
            shutil.copytree(sound, root / "a-s0")
            how = damage(root / "a-s0", draw)
            try:
                ways = list(readers(root, how.partition(":")[0], number % DRAWN == 0))
            except BaseException as error:
                ways = [("opening", lambda error=error: raise_it(error))]
            for name, read in ways:
                reads += 1
                start = time.perf_counter()
                try:
                    with quiet(), within(LONGEST):
                        read()
                except RunError:
                    told += 1
                except (Exception, Hangs, SystemExit) as error:
                    where = traceback.extract_tb(error.__traceback__)[-1]
                    at = f"{Path(where.filename).name}:{where.lineno}"
                    lost.append(f"file {number}: {how}: {name}: {type(error).__name__}: {str(error)[:120]} ({at})")
                took = time.perf_counter() - start
                spent[name] = spent.get(name, 0.0) + took
                longest = max(longest, (took, f"{name} of {how}"))
    return {
        "files": count,
        "reads": reads,
        "told": told,
        "lost": lost,
        "longest": longest,
        "memory_mb": peak_mb(),
        "spent": {name: round(seconds, 1) for name, seconds in spent.items()},
        "seconds": time.monotonic() - begun,
    }


def raise_it(error):
    raise error


@contextlib.contextmanager
def quiet():
    """What commands print is looked at elsewhere; that it can be printed as UTF-8 is part of the drill."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield
    (out.getvalue() + err.getvalue()).encode()


@contextlib.contextmanager
def within(seconds: float):
    """Hangs, if it takes longer."""

    def ring(*_):
        raise Hangs(f"over {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


if __name__ == "__main__":
    print(json.dumps(fuzz(int(sys.argv[1]), int(sys.argv[2]))))
