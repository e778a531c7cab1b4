"""Runs as a zip file, out and in: what comes in is checked in full before anything of it is seen.

A zip from elsewhere may be damaged or made to harm. Only the files that labkit itself writes are let in, as ordinary
files, within limits of size; each is read once; and the runs take their places by renaming, all of them or none.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO

from tqdm import tqdm

from labkit.runs.contents import read_embeddings, read_projection, read_samples
from labkit.runs.read import find_runs, read_run
from labkit.runs.run import Run
from labkit.runs.schema import FILES, PROJECTIONS, RunError, is_run_id, run_file
from labkit.runs.workplace import take_places, workplace

MAX_MEMBERS = 50_000
MAX_RUNS = 5_000  # each is read in full before any is let in
MAX_ENTRY = 512  # bytes of an entry in the zip's directory: names are at most 160 letters long
END = 22 + 2**16  # bytes at the end of a zip that hold its last record
MAX_BYTES = 64 * 2**30
MAX_RATIO = 100  # tensors hardly shrink and logs shrink tenfold: more than this is a trap
SLACK = 2**20  # bytes; small files of repeated text may shrink as much as they like
FOLDERS = {"", *(f"{name.partition('/')[0]}/" for name in FILES if "/" in name)}
CHUNK = 2**20


def export_runs(runs: Iterable[Run], path_zip: Path | str) -> list[str]:
    """Write runs to a zip, the same bytes for the same runs; returns the names of files that were left out.

    Left out is what labkit did not write. A run that is still being written, or damaged, is refused.
    """
    from labkit.base.files import atomic

    chosen = list(runs)
    if not chosen:
        raise RunError("runs: none given to export")
    if len({run.id.lower() for run in chosen}) < len(chosen):
        raise RunError("runs: two of them have the same id; export them to two files")
    for run in chosen:
        check_contents(run.path)
    left_out = []
    with atomic(Path(path_zip)) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for run in tqdm(chosen, desc="export", unit="run", disable=len(chosen) < 20):
            names = [name for name in FILES if run.has(name)]
            for name in names:
                write_member(archive, run, name)
            found = sorted(p.relative_to(run.path).as_posix() for p in run.path.rglob("*") if not p.is_dir())
            left_out += [f"{run.id}/{name}" for name in found if name not in names]
    return left_out


def write_member(archive: zipfile.ZipFile, run: Run, name: str) -> None:
    """One file, with a fixed date and rights, so that the zip depends on the content alone."""
    member = zipfile.ZipInfo(f"{run.id}/{name}")  # dated 1980
    member.external_attr = (stat.S_IFREG | 0o644) << 16
    member.create_system = 3
    compressed = name.endswith((".json", ".jsonl"))
    member.compress_type = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with run.open(name) as file:
        member.file_size = file.seek(0, os.SEEK_END)  # tells zipfile whether it needs the form for more than 4 GB
        file.seek(0)
        with archive.open(member, "w") as out:
            shutil.copyfileobj(file, out, CHUNK)


def import_runs(path_zip: Path | str, root: Path | str, *, overwrite: bool = False) -> list[Run]:
    """Put the runs of a zip into a runs root; on any error the root is left as it was.

    A run whose id is there already is refused, or replaced where it lies if overwrite is given.
    """
    root = Path(root)
    check_archive(Path(path_zip))
    try:
        with zipfile.ZipFile(path_zip) as archive:
            members = check_members(archive, os.path.getsize(path_zip))
            places = find_places(sorted({run_id for run_id, _ in members}), root, overwrite)
            with workplace(root) as folder:
                extract(archive, members, folder)
                for run_id in places:
                    check_contents(folder / run_id)
                take_places(places, folder)
    except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise RunError(
            f"{path_zip} is not a whole zip file of runs, as `runs export` makes it, nor an .npz: {error}"
        ) from None
    except OSError as error:
        if error.errno != errno.EINVAL:  # a full disk, say
            raise
        raise RunError(f"{path_zip} is not a whole zip file: it refers to places beyond its end") from None
    return [read_run(place) for place in places.values()]


def check_archive(path: Path) -> None:
    """An ordinary file with a directory of bearable length: zipfile reads all of it before it can be asked anything."""
    if path.exists() and not path.is_file():
        raise RunError(f"{path} is not an ordinary file: put a copy of the zip there")
    with path.open("rb") as file:
        file.seek(max(0, os.path.getsize(path) - END))
        end = file.read()
    place = end.rfind(b"PK\5\6")  # the format: signature, 6 bytes, entries (2 bytes twice), bytes of the directory (4)
    entries, size = (
        int.from_bytes(end[place + at : place + at + length], "little") for at, length in ((10, 2), (12, 4))
    )
    if place >= 0 and (entries > MAX_MEMBERS or size > MAX_MEMBERS * MAX_ENTRY):
        raise RunError(f"{path}: the zip holds more than {MAX_MEMBERS:,} entries: split it")


def check_members(archive: zipfile.ZipFile, archive_bytes: int) -> dict[tuple[str, str], zipfile.ZipInfo]:
    """The files of a zip by run id and name; refuses whatever an export does not hold."""
    entries = archive.infolist()
    if len(entries) > MAX_MEMBERS:
        raise RunError(f"the zip holds {len(entries):,} entries, over the limit of {MAX_MEMBERS:,}: split it")
    total = sum(entry.file_size for entry in entries)
    if total > MAX_BYTES:
        raise RunError(
            f"the zip unpacks to {total / 2**30:.1f} GB, over the limit of {MAX_BYTES / 2**30:.0f}: split it"
        )
    # against the size of the whole file: entries of a trap may share the same few bytes
    if total > MAX_RATIO * archive_bytes + SLACK:
        raise RunError(f"the zip unpacks to more than {MAX_RATIO} times its size, which no export does")
    members: dict[tuple[str, str], zipfile.ZipInfo] = {}
    seen = set()
    for entry in entries:
        run_id, name = split_member(entry.filename)
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if kind not in ((0, stat.S_IFDIR) if name in FOLDERS else (0, stat.S_IFREG)):
            raise RunError(f"the zip's entry {entry.filename!r} is a link or device; only ordinary files are let in")
        if entry.flag_bits & 1 or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise RunError(f"the zip's entry {entry.filename!r} is encrypted or packed in a way labkit does not use")
        if entry.filename.lower() in seen:  # some systems do not tell a from A
            raise RunError(f"the zip holds {entry.filename!r} twice")
        seen.add(entry.filename.lower())
        if name not in FOLDERS:
            members[run_id, name] = entry
    ids = {run_id for run_id, _ in members}
    if len(ids) > MAX_RUNS:
        raise RunError(f"the zip holds {len(ids):,} runs, over the limit of {MAX_RUNS:,}: split it")
    for run_id in ids:
        if (run_id, "run.json") not in members:
            raise RunError(f"the zip holds no {run_id}/run.json, so {run_id} is not a run")
    if not members:
        raise RunError("the zip holds no run")
    return members


def split_member(filename: str) -> tuple[str, str]:
    """Run id and file name of an entry such as "ID/run.json" or "ID/projections/"; anything else is refused."""
    run_id, slash, name = filename.partition("/")
    if not slash or not is_run_id(run_id) or name not in (*FILES, *FOLDERS):
        raise RunError(
            f"the zip's entry {filename[:200]!r} is no file of a run; an export holds ID/run.json and the files "
            "beside it: `python -m labkit runs export ID -o FILE.zip` makes one"
        )
    return run_id, name


def find_places(ids: Iterable[str], root: Path, overwrite: bool) -> dict[str, Path]:
    """Where each run goes: beside the others, or where the run of that id is now."""
    present = {run.id: run for run in find_runs(root)}
    places = {}
    for run_id in ids:
        old, place = present.get(run_id), root.resolve() / run_id
        if old is not None and not overwrite:
            raise RunError(f"run {run_id} is there already ({old.path}): give --overwrite to replace it")
        if old is not None and old.status == "running":
            raise RunError(f"run {run_id} is running and cannot be replaced: stop it first")
        if old is None and os.path.lexists(place):
            raise RunError(f"{place} is in the way and not a run: move it elsewhere")
        places[run_id] = old.path if old is not None else place
    return places


def extract(archive: zipfile.ZipFile, members: dict[tuple[str, str], zipfile.ZipInfo], folder: Path) -> None:
    """Unpack into the folder; zipfile compares each file with its checksum."""
    total = sum(entry.file_size for entry in members.values())
    if total > shutil.disk_usage(folder).free:
        raise RunError(f"the zip unpacks to {total / 2**20:,.0f} MB and the disk has less left: make room first")
    with tqdm(total=total, desc="import", unit="B", unit_scale=True, disable=total < 2**28) as bar:
        for (run_id, name), entry in members.items():
            path = folder / run_id / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(entry) as source, path.open("xb") as target:
                copy_exactly(source, target, entry.file_size, bar.update)


def copy_exactly(source: IO[bytes], target: IO[bytes], size: int, report: Callable[[int], object]) -> None:
    """Copy a file that must have the size it says, and bring it to the disk."""
    left = size
    try:
        while chunk := source.read(min(CHUNK, left + 1)):
            left -= len(chunk)
            if left < 0:
                break
            target.write(chunk)
            report(len(chunk))
    except zlib.error as error:
        raise RunError(f"the zip is damaged: {error}") from None
    if left:
        raise RunError("the zip is damaged: a file does not have the size the zip says")
    target.flush()
    os.fsync(target.fileno())


def check_contents(folder: Path) -> None:
    """Read every file of a run that is there; refuse the run if one is damaged or they do not fit together."""
    run = read_run(folder)
    if run.status == "running":
        raise RunError(f"run {run.id} is still running: wait for its end, or stop it")
    if run.problems:
        raise RunError(f"run {run.id}: {'; '.join(run.problems)}")
    for name in FILES:
        if os.path.lexists(folder / name):
            run_file(folder, name)
            if name.endswith(".safetensors"):
                check_header(run, name)
    if wrong := run.log_problem():
        raise RunError(f"run {run.id}: {wrong}")
    rows = len(read_embeddings(run)) if run.has("embeddings.safetensors") else None
    samples = read_samples(run) if run.has("samples.parquet") else None
    if rows is not None and samples is not None and rows != len(samples):
        raise RunError(f"run {run.id}: {rows} embeddings but {len(samples)} samples")
    for name in PROJECTIONS:
        if run.has(f"projections/{name}.parquet"):
            ids = read_projection(run, name)["id"]
            if samples is not None and not ids.isin(samples["id"]).all():
                raise RunError(f"run {run.id}: the {name} projection has points that are not among the samples")


def check_header(run: Run, name: str) -> None:
    """A safetensors file whose header fits its size."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(run.file(name), framework="numpy") as file:
            file.keys()
    except (SafetensorError, OSError) as error:
        raise RunError(f"run {run.id}: {name} is damaged: {error}") from None
