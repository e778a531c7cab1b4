"""Pairs of hand-ins that look alike: a hint to read both, never a proof.

Answers are cut into tokens with all names made equal, so renaming changes nothing; runs of tokens that the task gives
(stubs) or that are public (the solutions and references of this repository) are left out; what remains is fingerprinted
by winnowing (Schleimer, Wilkerson and Aiken, 2003). How many students share a run does not matter, so that a ring of
copies does not hide itself. Who is close to a public solution is listed apart.
"""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from zlib import crc32

from labkit.assignments.assignment import Assignment
from labkit.base.paths import HOME

RUN = 12  # tokens in one fingerprint
WINDOW = 4  # of this many neighbouring fingerprints, the smallest is kept
TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|[^\s\w]")
# strings first, so that a # inside one is no comment; docstrings and comments say nothing about who wrote the code. A
# string that is never closed ends with its line or the text, and nothing is tried twice: some texts would take minutes
SILENT = re.compile(
    r'"""(?:[^"\\]|\\.|\\\Z|"(?!""))*+(?:""")?|\'\'\'(?:[^\'\\]|\\.|\\\Z|\'(?!\'\'))*+(?:\'\'\')?'
    r'|"(?:[^"\\\n]|\\.|\\\Z)*+"?|\'(?:[^\'\\\n]|\\.|\\\Z)*+\'?|#[^\n]*',
    re.DOTALL,
)
MOST_CHARACTERS = 50_000  # of one student's answers


@dataclass(frozen=True)
class Pair:
    """Two students, and the share of the shorter one's fingerprints that the other has too."""

    first: str
    second: str
    share: float
    common: int


def similar_pairs(
    answers: Mapping[str, Mapping[str, str]], public: Iterable[str] = (), least: float = 0.5, fewest: int = 8
) -> list[Pair]:
    """Pairs with at least this share and number of common fingerprints, most alike first; answers by student."""
    usual = prints_of(public)
    own = {student: prints_of(parts.values()) - usual for student, parts in answers.items()}
    pairs = []
    for first, second in combinations(sorted(own), 2):
        common = len(own[first] & own[second])
        shorter = min(len(own[first]), len(own[second]))
        if common >= fewest and common / shorter >= least:
            pairs.append(Pair(first, second, common / shorter, common))
    return sorted(pairs, key=lambda pair: (-pair.share, -pair.common, pair.first, pair.second))


def near_public(
    answers: Mapping[str, Mapping[str, str]], public: Iterable[str], least: float = 0.5, fewest: int = 8
) -> list[Pair]:
    """Students who share at least so much with the public solutions, most first."""
    known = prints_of(public)
    found = []
    for student, parts in answers.items():
        own = prints_of(parts.values())
        common = len(own & known)
        if common >= fewest and common / len(own) >= least:
            found.append(Pair(student, "the public solutions", common / len(own), common))
    return sorted(found, key=lambda pair: (-pair.share, -pair.common, pair.first))


def rings(pairs: Iterable[Pair], least: float = 0.9) -> list[list[str]]:
    """Groups of three and more in which each is nearly a copy of another, largest first."""
    groups: list[set[str]] = []
    for pair in pairs:
        if pair.share < least:
            continue
        joined = {pair.first, pair.second}
        apart = [group for group in groups if not group & joined]
        groups = [joined.union(*(group for group in groups if group & joined)), *apart]
    return sorted((sorted(group) for group in groups if len(group) > 2), key=lambda group: (-len(group), group))


def public_code(assignment: Assignment) -> list[str]:
    """What anybody can copy: the references, and the master with its stubs and solutions where there is a clone."""
    texts = []
    for question in assignment.questions:
        with suppress(OSError, TypeError):
            texts.append(inspect.getsource(question.exercise.reference))
    master = HOME / "notebooks" / "assignments" / f"{assignment.name}.py"
    if master.is_file():
        cells = master.read_text(encoding="utf-8").split("\n# %%")
        texts += [cell.partition("\n")[2] for cell in cells if 'role="answer"' in cell.partition("\n")[0]]
    return texts


def prints_of(codes: Iterable[str]) -> set[int]:
    """The fingerprints of several texts."""
    return {mark for code in codes for mark in fingerprints(code)}


def fingerprints(code: str) -> set[int]:
    """Hashes of token runs, thinned out so that every long enough copy keeps at least one."""
    tokens = [simple(token) for token in TOKEN.findall(SILENT.sub(" ", code[:MOST_CHARACTERS]))]
    runs = [crc32(" ".join(tokens[i : i + RUN]).encode("utf-8", "replace")) for i in range(len(tokens) - RUN + 1)]
    return {min(runs[i : i + WINDOW]) for i in range(max(1, len(runs) - WINDOW + 1)) if runs}


def simple(token: str) -> str:
    """Keywords, digits and signs as they are; every other name is just a name."""
    return "name" if (token[0].isalpha() or token[0] == "_") and not keyword.iskeyword(token) else token
