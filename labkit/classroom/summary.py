"""What an instructor wants to know after grading: how the class did, what was hard, which mistakes were common."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from labkit.assignments import load
from labkit.base.files import write_bytes
from labkit.classroom.export import read_results
from labkit.classroom.instructor_notes import table

MOST = 10  # mistakes shown


@dataclass(frozen=True)
class MarksSummary:
    """The figures of one assignment."""

    title: str
    scores: list[float]
    most: float
    questions: list[tuple[str, float, int, int, int]]  # name, mean share of its points, all, part, none
    mistakes: list[tuple[str, str, int]]  # question, mistake, how many students


def summarise(results: dict[str, Any]) -> MarksSummary:
    """From grades.json."""
    assignment, rows = load(results["assignment"]), results["students"]
    marks = [mark for row in rows for mark in row["marks"]]
    questions = []
    for name in dict.fromkeys(mark["question"] for mark in marks):
        shares = np.array([mark["score"] / mark["points"] for mark in marks if mark["question"] == name])
        right, none = int((shares == 1).sum()), int((shares == 0).sum())
        questions.append((name, float(shares.mean()), right, len(shares) - right - none, none))
    common = Counter((mark["question"], mark.get("mistake") or reason(mark)) for mark in marks if mark.get("hint"))
    mistakes = [(question, what, count) for (question, what), count in common.most_common(MOST)]
    most = float(sum(question.points for question in assignment.questions))
    return MarksSummary(
        assignment.title, [row["score"] for row in rows], most, sorted(questions, key=lambda q: q[1]), mistakes
    )


def reason(mark: dict[str, Any]) -> str:
    """Why points are missing where no known mistake was made."""
    hint = str(mark["hint"])
    for begin, short in (
        ("Not written", "not written"),
        ("There is no answer", "no answer cell"),
        ("It stops with SyntaxError", "cannot be read by Python"),
        ("It stops with IndentationError", "cannot be read by Python"),
        ("It stops with", "stops with an error"),
        ("could not be graded", "could not be graded"),
        ("It did not finish", "too slow"),
        ("It sent more", "too much output"),
        ("The process ended", "the process ended: memory, or by itself"),
    ):
        if hint.startswith(begin):
            return short
    return "not recognised"


def write_summary(results: Path) -> tuple[Path, Path]:
    """summary.md and summary.svg beside grades.json."""
    found = summarise(read_results(results))
    if not found.scores:
        raise ValueError(f"{results} holds no hand-ins")
    text, plot = results.with_name("summary.md"), results.with_name("summary.svg")
    write_bytes(text, words(found).encode("utf-8", "replace"))
    figure(found).savefig(plot, format="svg")
    return text, plot


def words(found: MarksSummary) -> str:
    """The figures as Markdown."""
    scores = np.array(found.scores)
    low, middle, high = np.quantile(scores, [0.25, 0.5, 0.75])
    lines = [
        f"# {found.title}: {len(scores)} hand-ins",
        "",
        f"Code, of {found.most:g} points: mean {scores.mean():.1f}, median {middle:.1f}, middle half {low:.1f} to "
        f"{high:.1f}, lowest {scores.min():g}, highest {scores.max():g}.",
        "",
        "![distribution of points, and results by question](summary.svg)",
        "",
        "## Hardest first",
        "",
        table(
            ("question", "mean", "right", "in part", "none"),
            [(f"`{name}`", f"{share:.0%}", right, part, none) for name, share, right, part, none in found.questions],
        ),
        "",
        "## Commonest mistakes",
        "",
        table(("question", "mistake", "students"), [(f"`{q}`", what, n) for q, what, n in found.mistakes])
        if found.mistakes
        else "None.",
        "",
    ]
    return "\n".join(lines)


def figure(found: MarksSummary) -> Any:
    """Points of the class, and how each question went."""
    from matplotlib.figure import Figure

    from labkit.figures.style import COLORS

    height = 3.2 + 0.35 * len(found.questions)
    fig = Figure(figsize=(7.5, height), dpi=100, facecolor="white", layout="constrained")
    above, below = fig.subplots(2, 1, height_ratios=(2.4, 0.6 + 0.35 * len(found.questions)))
    edges = np.linspace(0, found.most, 13)
    above.hist(found.scores, bins=edges, color=COLORS[0], edgecolor="white")
    above.axvline(float(np.median(found.scores)), color="black", linestyle="--", label="median")
    above.set_xlabel(f"points for code, of {found.most:g}")
    above.set_ylabel("students")
    above.yaxis.get_major_locator().set_params(integer=True)
    above.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0)  # above the bars
    names = [name for name, *_ in reversed(found.questions)]
    left = np.zeros(len(names))
    kinds = (("right", "", COLORS[0]), ("in part", "//", COLORS[1]), ("none", "..", "#8a8a8a"))
    for place, (label, hatch, color) in enumerate(kinds):
        counts = np.array([row[2 + place] for row in reversed(found.questions)], dtype=float)
        below.barh(names, counts, left=left, color=color, hatch=hatch, edgecolor="white", label=label)
        left += counts
    below.set_xlabel("students")
    below.xaxis.get_major_locator().set_params(integer=True)
    fig.legend(*below.get_legend_handles_labels(), frameon=False, ncols=3, loc="outside lower center")
    return fig
