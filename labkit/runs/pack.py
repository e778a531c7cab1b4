"""Many runs in one file: what run.json, summary.json and metrics.jsonl of each held, byte for byte, a row a run.

A pack is TOPIC/runs.parquet. Its runs are read as if TOPIC/ID were a folder with these three files; what keeps more
than them (embeddings, frames, projections) stays a folder beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from labkit.base.files import atomic
from labkit.runs.run import Run, Stamp, stamp_of
from labkit.runs.schema import PACK, RunError, is_run_id, run_file

PACKED = ("run.json", "summary.json", "metrics.jsonl")
MAX_BYTES = 256 * 2**20  # of a pack, unpacked; a hundred runs have one

Texts = Mapping[str, bytes]  # by the names of files


def read_pack(topic: Path) -> dict[str, Texts]:
    """The texts of every run in a topic's pack, by id; none if there is no pack."""
    stamp = stamp_of(topic, (PACK,))
    return read_texts(topic, stamp) if len(stamp) > 1 else {}


@lru_cache(maxsize=64)
def read_texts(topic: Path, stamp: Stamp) -> dict[str, Texts]:
    """The same; stamp: of the pack, for the cache."""
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    path = run_file(topic, PACK)
    try:
        with pq.ParquetFile(path) as file:
            if (size := unpacked_bytes(file.metadata)) > MAX_BYTES:
                raise RunError(f"{PACK} unpacks to {size / 2**20:,.0f} MB, over {MAX_BYTES // 2**20}")
            table = file.read(["id", *PACKED]).cast(schema())
        table.validate(full=True)
        rows = table.to_pylist()
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise RunError(f"{PACK} is damaged, or is not a pack of runs: {str(error)[:200]}") from None
    if wrong := [row["id"] for row in rows if row["id"] is None or not is_run_id(row["id"])]:
        raise RunError(f"{PACK}: {str(wrong[0])[:120]!r} is not a run's name")
    if len({row["id"] for row in rows}) < len(rows):
        raise RunError(f"{PACK} holds a run twice")
    return {row["id"]: {name: row[name] for name in PACKED if row[name] is not None} for row in rows}


def unpacked_bytes(metadata: Any) -> int:
    """What the columns take when unpacked, as the file itself says."""
    return sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))


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
    held = read_pack(topic) | {run.id: {name: run.content(name) for name in PACKED if run.has(name)} for run in chosen}
    rows = [{"id": run_id, **{name: texts.get(name) for name in PACKED}} for run_id, texts in sorted(held.items())]
    if chosen:
        with atomic(topic / PACK) as temporary:
            pq.write_table(pa.Table.from_pylist(rows, schema()), temporary, compression="zstd", compression_level=19)
        read_texts.cache_clear()  # the same stamp could belong to another file on a coarse clock
    for run in chosen:
        delete_run(run)
    return chosen


def fits(run: Run) -> bool:
    """Finished, whole, in a folder of its own, and without other files."""
    if run.texts is not None or run.status != "finished" or run.problems:
        return False
    return {path.relative_to(run.path).as_posix() for path in run.path.rglob("*")} <= set(PACKED)
