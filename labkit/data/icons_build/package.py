"""The npm package with the icon sets: fetch it, prove that it is the right one, read its files."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from labkit.base.files import atomic
from labkit.data.download import download
from labkit.data.files import DataError, File, checksum

VERSION = "2.2.535"
PACKAGE = File(
    f"iconify-json-{VERSION}.tgz",
    "icons",
    "1a545f86fa224d6531d8fb101dcbe83aac2b28689a21cbed6fc68318a5af4d91",
    (f"https://registry.npmjs.org/@iconify/json/-/json-{VERSION}.tgz",),
    size=104_043_282,
)
MINUTES = 20  # for 104 MB

Pack = dict[str, Any]  # a set as the package has it: "icons" by name, their common width and height, "aliases"


def fetch_package(folder: Path) -> Path:
    """The package's verified archive in a folder, fetched where it is not there: by npm, or from npm's registry."""
    path = folder / PACKAGE.name
    if path.is_file() and checksum(path) == PACKAGE.checksum:
        return path
    npm = shutil.which("npm")  # which knows the mirror and the proxy of this machine
    if npm and by_npm(npm, path):
        return path
    return download(PACKAGE, folder)


def by_npm(npm: str, path: Path) -> bool:
    """Whether npm gave the very file."""
    print(f"npm fetches @iconify/json {VERSION}, 104 MB ...", flush=True)
    command = [npm, "pack", "--silent", f"@iconify/json@{VERSION}"]
    try:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(command, cwd=folder, capture_output=True, timeout=60 * MINUTES, check=True)
            packed = Path(folder) / PACKAGE.name
            if checksum(packed) != PACKAGE.checksum:
                return False
            with atomic(path) as temporary:
                shutil.copyfile(packed, temporary)
    except (OSError, subprocess.SubprocessError):  # no network, no such version, a full disk: the download says what
        return False
    return True


def read_collections(tarball: Path) -> dict[str, Any]:
    """What the package tells about its sets: prefix -> name, author, licence, whether they have colours."""
    for _, content in members(tarball, {"package/collections.json"}):
        collections: dict[str, Any] = content
        return collections
    raise DataError(f"{tarball} has no package/collections.json: it is not the npm package @iconify/json")


def read_sets(tarball: Path, prefixes: Collection[str]) -> Iterator[tuple[str, Pack]]:
    """Some sets of the package one after another, as (prefix, set): together they are too large to keep."""
    for name, pack in members(tarball, {f"package/json/{prefix}.json" for prefix in prefixes}):
        yield name.removeprefix("package/json/").removesuffix(".json"), pack


def members(tarball: Path, names: Collection[str]) -> Iterator[tuple[str, Any]]:
    """Some JSON files of an archive in its order."""
    try:
        with tarfile.open(tarball, "r|gz") as archive:
            for member in archive:
                if member.name in names and (opened := archive.extractfile(member)):
                    yield member.name, json.load(opened)
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        raise DataError(f"{tarball} cannot be read: {error}. Remove it and {PACKAGE.repair}.") from error
