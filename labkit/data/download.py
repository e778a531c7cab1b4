"""Fetch a published file: a name never stands for half a file, and what has come is not fetched again.

What arrives is kept beside the file's place, as `.NAME.part`. A connection that breaks goes on from there, at once or
with the next call, at the same address or another: all give the same bytes, and the checksum decides at the end.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tqdm import tqdm

from labkit.base.files import take_place
from labkit.data.files import DataError, File, checksum, right

TIMEOUT = 30.0  # seconds without a byte, or with fewer than SLOWEST a second
SLOWEST = 1000
CHUNK = 1 << 16
TRIES = 5  # at one address, as long as each brings something


class NetworkError(Exception):
    """An address did not give the whole file."""


def download(file: File, folder: Path) -> Path:
    """Fetch a file into a folder from the first address that gives it whole.

    An address that fails, stalls, stops early or sends something else is passed over; DataError says what each did.
    """
    from filelock import FileLock

    path = folder / file.name
    part = path.with_name(f".{file.name}.part")
    failures = []
    folder.mkdir(parents=True, exist_ok=True)
    lock = path.with_name(f".{file.name}.lock")  # two at once would write into one part
    with FileLock(lock):
        for url in file.urls:
            try:
                if not (path.is_file() and right(path, file)):  # or somebody else has fetched it meanwhile
                    bring(url, part, file)
                    keep(part, path)
                with suppress(OSError):  # Windows keeps what is in use
                    lock.unlink()  # whoever still waits for it finds the file
                return path
            except NetworkError as error:
                failures.append(f"{url}: {error}")
            except OSError as error:
                part.unlink(missing_ok=True)
                raise DataError(
                    f"{path} could not be written: {error}. Nothing was kept; make room and try again."
                ) from error
    kept = f" {size_of(part):,} bytes are kept, and the same command goes on from there." if size_of(part) else ""
    raise DataError(
        f"{file.name} (checksum {file.checksum}) could not be downloaded. "
        f"Try again later, or put it into {folder} by hand.{kept} " + "; ".join(failures)
    )


def size_of(part: Path) -> int:
    """Bytes that are there already."""
    return part.stat().st_size if part.exists() else 0


def keep(part: Path, path: Path) -> None:
    """What is whole and verified takes its place."""
    with part.open("r+b") as opened:  # Windows flushes only what it may write
        os.fsync(opened.fileno())
    take_place(part, path)


def bring(url: str, part: Path, file: File) -> None:
    """Let the part become the whole file, by one address; NetworkError says why it did not."""
    for attempt in range(1, TRIES + 1):
        had = size_of(part)
        try:
            append(url, part, file)
        except NetworkError:
            if size_of(part) <= had or attempt == TRIES:
                raise
            continue
        found = checksum(part)
        if found == file.checksum:
            return
        part.unlink()
        if had == 0:  # else what was there before may have been wrong: once more from the start
            raise NetworkError(f"sent another file, with checksum {found}")


def append(url: str, part: Path, file: File) -> None:
    """Add to the part what an address gives from there on, with a progress bar."""
    had = size_of(part)
    if file.size is not None and had >= file.size:
        return
    with opened(url, had) as answer:
        if answer is None:  # the address says that there is nothing more
            return
        goes_on = answer.status == 206 and (answer.headers.get("Content-Range") or "").startswith(f"bytes {had}-")
        if had and not goes_on:  # the whole again
            had = 0
            if answer.status == 206:
                part.unlink()
                raise NetworkError("sent another part than it was asked for")
        expected = announced(answer, had, file)
        if expected is not None and expected - had > (free := shutil.disk_usage(part.parent).free):
            raise OSError(f"needs {expected - had:,} bytes, but the disk has {free:,} left")
        progress = tqdm(desc=file.name, total=expected, initial=had, unit="B", unit_scale=True, leave=False, delay=2)
        with part.open("ab" if had else "wb") as target, progress as bar:
            for chunk in pieces(answer):
                target.write(chunk)
                bar.update(len(chunk))
                had += len(chunk)
                if file.size is not None and had > file.size:
                    target.truncate(0)  # nothing of it can be trusted
                    raise NetworkError(f"sends more than the file's {file.size:,} bytes")
    if expected is not None and had != expected:
        raise NetworkError(f"the connection ended after {had:,} of {expected:,} bytes")


def announced(answer: HTTPResponse, had: int, file: File) -> int | None:
    """How long the file will be with what this answer brings; None if nobody says."""
    length = answer.headers.get("Content-Length")
    if length is None:
        return file.size
    if not length.isdecimal():
        raise NetworkError(f"announces a length of {length!r}")
    whole = had + int(length)
    if file.size is not None and whole != file.size:
        raise NetworkError(f"announces {whole:,} bytes instead of {file.size:,}")
    return whole


@contextmanager
def opened(url: str, start: int) -> Iterator[HTTPResponse | None]:
    """An address's answer from a byte on; None where it has nothing from there. Network trouble is a NetworkError."""
    headers = {"User-Agent": "labkit"} | ({"Range": f"bytes={start}-"} if start else {})
    request = Request(url, headers=headers)  # noqa: S310 (addresses are written in labkit, and checksums decide)
    try:
        answer = urlopen(request, timeout=TIMEOUT)  # noqa: S310
    except HTTPError as error:
        if error.code != 416:
            raise NetworkError(str(error)) from error
        yield None
        return
    except (OSError, HTTPException, ValueError) as error:
        raise NetworkError(str(error) or type(error).__name__) from error
    with answer:
        yield answer


def pieces(answer: HTTPResponse) -> Iterator[bytes]:
    """The body as it comes; a server that trickles is given up as one that is silent."""
    start, came = time.monotonic(), 0
    while True:
        try:
            chunk = answer.read1(CHUNK)
        except (OSError, HTTPException, ValueError) as error:
            raise NetworkError(str(error) or type(error).__name__) from error
        if not chunk:
            return
        yield chunk
        came += len(chunk)
        if (passed := time.monotonic() - start) > TIMEOUT:
            if came < SLOWEST * passed:
                raise NetworkError(f"stalled: {came:,} bytes in {passed:.0f} seconds")
            start, came = time.monotonic(), 0
