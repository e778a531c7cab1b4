"""Many runs in one file: what run.json, summary.json and metrics.jsonl of each held, byte for byte, a row a run.

A pack is TOPIC/runs.parquet. Its runs are read as if TOPIC/ID were a folder with these three files; what keeps more
than them (embeddings, frames, projections) stays a folder beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from labkit.base.files import atomic
from labkit.runs.run import Run, Stamp, stamp_of
from labkit.runs.schema import PACK, RunError, is_run_id, run_file

PACKED = ("run.json", "summary.json", "metrics.jsonl")
MAX_BYTES = 256 * 2**20  # of a pack, unpacked; a hundred runs have one megabyte
MAX_RUNS = 5_000

Texts = Mapping[str, bytes]  # by the names of files


def read_pack(topic: Path) -> dict[str, Texts]:
    """The texts of every run in a topic's pack, by id; none if there is no pack."""
    stamp = stamp_of(topic, (PACK,))
    return dict(read_texts(topic, stamp)) if len(stamp) > 1 else {}


@lru_cache(maxsize=64)
def read_texts(topic: Path, stamp: Stamp) -> Mapping[str, Texts]:
    """The same; stamp: of the pack, for the cache."""
    return texts_in(run_file(topic, PACK))


def texts_in(path: Path) -> Mapping[str, Texts]:
    """What a pack holds; one that is damaged, or unpacks to more than a pack may hold, is refused."""
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    rows: list[dict[str, Any]] = []
    size = 0
    try:
        with pq.ParquetFile(path) as file:
            # few rows at a time: what a file says of its own size need not be true
            for batch in file.iter_batches(batch_size=16, columns=["id", *PACKED]):
                size += batch.nbytes
                if size > MAX_BYTES or len(rows) + len(batch) > MAX_RUNS:
                    raise RunError(f"{PACK} holds more than {MAX_BYTES // 2**20} MB or {MAX_RUNS:,} runs: split it")
                table = pa.table(batch).cast(schema())
                table.validate(full=True)
                rows += table.to_pylist()
    except RunError:
        raise
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        raise RunError(f"{PACK} is damaged, or is not a pack of runs: {str(error)[:200]}") from None
    if wrong := [row["id"] for row in rows if row["id"] is None or not is_run_id(row["id"])]:
        raise RunError(f"{PACK}: {str(wrong[0])[:120]!r} is not a run's name")
    if len({row["id"] for row in rows}) < len(rows):
        raise RunError(f"{PACK} holds a run twice")
    return {row["id"]: MappingProxyType({n: row[n] for n in PACKED if row[n] is not None}) for row in rows}


def schema() -> Any:
    """An id and three texts, as bytes: what a file held need not be UTF-8."""
    import pyarrow as pa  # type: ignore[import-untyped]

    return pa.schema([("id", pa.string()), *((name, pa.binary()) for name in PACKED)])


def pack_runs(topic: Path, runs: list[Run]) -> list[Run]:
    """Put the finished runs among these that keep no other files into the topic's pack; returns those it took in.

    Their folders go when the pack is written: a process that is killed in between leaves them in both places, where
    the folder counts.
    """
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    from labkit.runs.delete import delete_run

    chosen = [run for run in runs if run.path.parent == topic and fits(run)]
    new = {run.id: {name: run.content(name) for name in PACKED if run.has(name)} for run in chosen}
    held = read_pack(topic) | new
    rows = [{"id": run_id, **{name: texts.get(name) for name in PACKED}} for run_id, texts in sorted(held.items())]
    if chosen:
        with atomic(topic / PACK) as temporary:
            pq.write_table(pa.Table.from_pylist(rows, schema()), temporary, compression="zstd", compression_level=19)
            if texts_in(temporary) != held:  # refuses what nobody could read again, before any folder goes
                raise RunError(f"{topic / PACK} does not hold what was put into it: is the disk sound?")
        read_texts.cache_clear()  # the same stamp could belong to another file on a coarse clock
    for run in chosen:
        delete_run(run)
    return chosen


def fits(run: Run) -> bool:
    """Finished, whole, in a folder of its own, and without other files."""
    if run.texts is not None or run.status != "finished" or run.problems:
        return False
    return {path.relative_to(run.path).as_posix() for path in run.path.rglob("*")} <= set(PACKED)
