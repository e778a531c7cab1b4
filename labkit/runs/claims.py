"""The papers' claims, tested on the recorded runs: each claim is one or more paired differences between groups.

Each difference has a verdict of its own (verdicts.py): held, contradicted, equal within a margin, or not resolved. A
claim that says several things at once is as good as the weakest of them. None of this says what holds at the papers'
scale.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from labkit.base.words import is_share, signed
from labkit.runs.compare import PairedDifference, first_seeds, paired_difference
from labkit.runs.paper_claims import CLAIMS, Claim, Comparison
from labkit.runs.readings import METRICS, word_difference
from labkit.runs.run import Run
from labkit.runs.schema import RunError
from labkit.runs.variant import Variant
from labkit.runs.verdicts import UNRESOLVED, margin_of, p_value, smallest_shown, survivors, verdict_of, weakest


@dataclass(frozen=True)
class Finding:
    """A claim with what the runs say: differences found, comparisons without runs, and the verdict."""

    claim: Claim
    differences: tuple[PairedDifference, ...]
    missing: tuple[Comparison, ...]
    verdict: str


def findings(runs: Iterable[Run]) -> Iterator[Finding]:
    """Every claim with what the runs say about it."""
    groups: dict[Variant, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.variant, []).append(run)
    for claim in CLAIMS:
        found, missing = [], []
        for comparison in claim.comparisons:
            try:
                both = groups.get(comparison.higher, []) + groups.get(comparison.lower, [])
                difference = word_difference if comparison.metric in METRICS else paired_difference
                found.append(difference(both, comparison.higher, comparison.lower, comparison.metric))
            except RunError:
                missing.append(comparison)
        yield Finding(claim, tuple(found), tuple(missing), verdict(claim, found))


def verdict(claim: Claim, differences: list[PairedDifference]) -> str:
    """One of base.words' VERDICTS; nothing is said before every comparison has at least three seeds."""
    if claim.why_not:
        return "not testable here"
    if len(differences) < len(claim.comparisons) or any(len(d.seeds) < 3 for d in differences):
        return "not measured yet"
    return weakest([judged(difference) for difference in differences])


def limited(finding: Finding, seeds: int) -> Finding:
    """The same finding from the first so many seeds of each difference; with two, a verdict is given all the same."""
    fewer = tuple(first_seeds(difference, seeds) for difference in finding.differences)
    if finding.missing or not fewer or any(len(difference.seeds) < 2 for difference in fewer):
        return replace(finding, differences=fewer)
    return replace(finding, differences=fewer, verdict=weakest([judged(difference) for difference in fewer]))


def judged(difference: PairedDifference) -> str:
    """The verdict of one difference."""
    return verdict_of(difference.low, difference.high, margin_of(difference.group.preset, difference.metric))


def surviving(found: Iterable[Finding]) -> tuple[int, int]:
    """How many of all differences differ from zero after correction for multiple tests, and how many there are.

    Benjamini and Hochberg: of those that survive, at most one in twenty is expected to be a chance find.
    """
    values = [p_value(difference.differences) for finding in found for difference in finding.differences]
    return sum(survivors(values)), len(values)


def evidence(difference: PairedDifference) -> str:
    """A difference in words: group − baseline, with its interval and how many seeds agree."""
    scale, unit = (100, " points") if is_share(difference.metric) else (1, "")
    numbers = f"{signed(difference.mean * scale)}{unit}"
    if len(difference.seeds) > 1:
        numbers += f" [{signed(difference.low * scale)}, {signed(difference.high * scale)}]"
    agree = f"{difference.wins} of {len(difference.seeds)} seeds"
    if len(difference.seeds) > 1 and judged(difference) == UNRESOLVED:
        agree += f" (a mean of ±{smallest_shown(difference.low, difference.high) * scale:.2f} would have been told)"
    sides = f"{difference.group.title} against {difference.baseline.title}"
    return f"{difference.metric} on {difference.group.preset}, {sides}: {numbers}, higher in {agree}"
