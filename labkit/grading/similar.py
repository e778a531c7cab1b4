"""Pairs of hand-ins that look alike: a hint to read both, never a proof.

Answers are cut into tokens with all names made equal, so renaming changes nothing; runs of tokens that most students
share (the task's own text, the one natural way to write a line) are left out; what remains is fingerprinted by
winnowing (Schleimer, Wilkerson and Aiken, 2003).
"""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from zlib import crc32

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


def similar_pairs(answers: Mapping[str, Mapping[str, str]], least: float = 0.5, fewest: int = 8) -> list[Pair]:
    """Pairs with at least this share and number of common fingerprints, most alike first; answers by student."""
    prints = {
        student: {mark for code in parts.values() for mark in fingerprints(code)} for student, parts in answers.items()
    }
    counts = Counter(mark for marks in prints.values() for mark in marks)
    # with few students nothing can be called usual
    usual = {mark for mark, count in counts.items() if count > max(3, 0.3 * len(prints))}
    own = {student: marks - usual for student, marks in prints.items()}
    pairs = []
    for first, second in combinations(sorted(own), 2):
        common = len(own[first] & own[second])
        shorter = min(len(own[first]), len(own[second]))
        if common >= fewest and common / shorter >= least:
            pairs.append(Pair(first, second, common / shorter, common))
    return sorted(pairs, key=lambda pair: (-pair.share, -pair.common, pair.first, pair.second))


def fingerprints(code: str) -> set[int]:
    """Hashes of token runs, thinned out so that every long enough copy keeps at least one."""
    tokens = [simple(token) for token in TOKEN.findall(SILENT.sub(" ", code[:MOST_CHARACTERS]))]
    runs = [crc32(" ".join(tokens[i : i + RUN]).encode("utf-8", "replace")) for i in range(len(tokens) - RUN + 1)]
    return {min(runs[i : i + WINDOW]) for i in range(max(1, len(runs) - WINDOW + 1)) if runs}


def simple(token: str) -> str:
    """Keywords, digits and signs as they are; every other name is just a name."""
    return "name" if (token[0].isalpha() or token[0] == "_") and not keyword.iskeyword(token) else token
