"""python -m labkit audit: the lock against known vulnerabilities, from a saved file and without the network."""

from __future__ import annotations

import argparse
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labkit.base.paths import ROOT
from labkit.commands.terminal import print_table

if TYPE_CHECKING:
    from packaging.version import Version

HELP = "compare the lock with a saved file of known vulnerabilities"
ADDRESS = "https://osv-vulnerabilities.storage.googleapis.com/PyPI/all.zip"
DESCRIPTION = (
    f"Compare the lock with advisories in the OSV format: all of PyPI's are at {ADDRESS}; save that file, then name it "
    "here. Exit code 1 if a package of the lock has a known vulnerability."
)


def register(parser: argparse.ArgumentParser) -> None:
    """The saved advisories, and which lock."""
    parser.add_argument("advisories", type=Path, metavar="FILE", help="all.zip of OSV, or a .json with advisories")
    parser.add_argument("--lock", type=Path, default=ROOT / "requirements.txt", help="default requirements.txt")
    parser.set_defaults(run=run_audit)


def run_audit(args: argparse.Namespace) -> int:
    """Print what is known about the lock's packages."""
    lock = read_lock(args.lock)
    rows, seen, newest = [], 0, ""
    for advisory in read_advisories(args.advisories):
        seen += 1
        newest = max(newest, str(advisory.get("modified", "")))
        try:
            rows += [
                [name, str(version), str(advisory["id"]), fixed_in(entry) or "no version yet", summary(advisory)]
                for name, version, entry in affected(advisory, lock)
            ]
        except (AttributeError, TypeError, KeyError):
            raise ValueError(f"{args.advisories}: {advisory['id']!r} is not in the OSV format") from None
    if seen == 0:
        raise ValueError(f"{args.advisories} holds no advisory; get the file anew from {ADDRESS}")
    print(f"{len(lock)} packages in {args.lock.name}, {seen:,} advisories, the newest of {newest[:10] or 'no date'}")
    if not rows:
        print("none of the packages has a known vulnerability")
        return 0
    print_table(["package", "version", "advisory", "fixed in", "what"], sorted(rows), left=range(5))
    return 1


def read_lock(path: Path) -> dict[str, Version]:
    """Name and version of every package in a lock."""
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name
    from packaging.version import Version

    pins: dict[str, Version] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        text = line.partition("#")[0].strip()
        if not text:
            continue
        try:
            pinned = Requirement(text)
        except InvalidRequirement as error:
            raise ValueError(f"{path}: {text!r} is not a requirement ({error})") from None
        exact = [pin.version for pin in pinned.specifier if pin.operator == "=="]
        if len(exact) != 1:
            raise ValueError(f"{path}: {text!r} does not name one version; make lock writes a lock that does")
        pins[canonicalize_name(pinned.name)] = Version(exact[0])
    return pins


def read_advisories(path: Path) -> Iterator[dict[str, Any]]:
    """The advisories of a file, one after another: a zip of JSON files, one advisory, a list, or {"vulns": a list}."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.endswith(".json"):
                    yield from of_json(archive.read(name), f"{path}: {name}")
    else:
        yield from of_json(path.read_bytes(), str(path))


def of_json(text: bytes, where: str) -> list[dict[str, Any]]:
    """The advisories of one JSON text; nothing that is not one is passed over in silence."""
    try:
        content = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{where} is not JSON ({error})") from None
    found = content.get("vulns", [content]) if isinstance(content, dict) else content
    if not isinstance(found, list) or not all(isinstance(one, dict) and "id" in one for one in found):
        raise ValueError(f"{where} is not an advisory in the OSV format: it has no id")
    return found


def affected(advisory: dict[str, Any], lock: dict[str, Version]) -> list[tuple[str, Version, dict[str, Any]]]:
    """Packages of the lock that an advisory is about, in the version of the lock."""
    from packaging.utils import canonicalize_name

    if advisory.get("withdrawn"):
        return []
    hits = {}
    for entry in advisory.get("affected", []):
        package = entry.get("package", {})
        name = canonicalize_name(str(package.get("name", "")))
        if package.get("ecosystem") == "PyPI" and name in lock and concerns(entry, lock[name]):
            hits[name] = (name, lock[name], entry)
    return list(hits.values())


def concerns(entry: dict[str, Any], version: Version) -> bool:
    """Whether a version is listed, or lies in a range (the rule of the OSV format; ranges of commits say nothing)."""
    listed = {comparable(one) for one in entry.get("versions", [])}
    ranges = [one for one in entry.get("ranges", []) if one.get("type") in ("ECOSYSTEM", "SEMVER")]
    return version in listed or any(within(one.get("events", []), version) for one in ranges)


def within(events: list[dict[str, str]], version: Version) -> bool:
    """Whether a version lies in a range: the last event at or before it decides.

    What cannot be read as a version counts against us: such a start is before everything, such an end is not there.
    """
    from packaging.version import Version

    starts = [(comparable(event["introduced"]) or Version("0.dev0"), 0) for event in events if "introduced" in event]
    ends = [(comparable(event[kind]), 1) for event in events for kind in ("fixed", "last_affected") if kind in event]
    inclusive = {comparable(event["last_affected"]) for event in events if "last_affected" in event}
    inside = False
    for at, is_end in sorted([*starts, *((at, end) for at, end in ends if at is not None)]):
        if version > at or (version == at and not (is_end and at in inclusive)):
            inside = not is_end
    return inside


def comparable(text: object) -> Version | None:
    """A version, if it is one; "0" stands for the beginning."""
    from packaging.version import InvalidVersion, Version

    try:
        return Version("0.dev0" if text == "0" else str(text))
    except InvalidVersion:
        return None


def fixed_in(entry: dict[str, Any]) -> str:
    """The versions that mend it."""
    events = [event for one in entry.get("ranges", []) if one.get("type") != "GIT" for event in one.get("events", [])]
    return ", ".join(dict.fromkeys(str(event["fixed"]) for event in events if "fixed" in event))


def summary(advisory: dict[str, Any]) -> str:
    """One line of what it is about."""
    text = str(advisory.get("summary") or advisory.get("details") or "")
    return text.strip().partition("\n")[0][:90]
