"""What grading leaves behind: a table for the gradebook, everything as JSON, and one page for each student."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from labkit.assignments.assignment import Assignment
from labkit.base.files import write_bytes
from labkit.grading.grade import Graded, Mark
from labkit.grading.similar import Pair, rings


def file_name(student: str) -> str:
    """A name that is safe in any file system and different for different students.

    A name keeps its form only if it is small letters, so that Ada and ada differ where case does not count, and if it
    does not look like one of the names made here.
    """
    if re.fullmatch(r"[a-z0-9](?:[a-z0-9._-]{0,58}[a-z0-9_-])?", student) and not re.search(r"-[0-9a-f]{16}$", student):
        return student
    safe = re.sub(r"[^A-Za-z0-9._-]+", "_", student).strip("._")[:40]
    return f"{safe or 'student'}-{sha256(student.encode()).hexdigest()[:16]}"


def write_table(path: Path, assignment: Assignment, graded: Sequence[Graded]) -> None:
    """grades.csv: one row a student, one column a question; columns of written questions wait for a person."""
    names = [question.name for question in assignment.questions]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    written = [f"{part.name} (of {part.points}, written)" for part in assignment.written]
    writer.writerow(["student", "score", "of", *names, *written, "seconds", "memory_mb", "remarks"])
    coding = sum(question.points for question in assignment.questions)
    for row in graded:
        scores = [f"{mark.score:g}" for mark in row.marks]
        used = [f"{row.seconds:.1f}", f"{row.memory_mb:.0f}"]
        cells = [row.student, f"{row.score:g}", coding, *scores, *("" for _ in written), *used, "; ".join(row.remarks)]
        writer.writerow([harmless(str(cell)) for cell in cells])
    write_bytes(path, text.getvalue().encode("utf-8", "replace"))


FORMULA = tuple(" =+-@\t\0＝＋－＠")  # the wide ones where Chinese and Japanese are written


def harmless(cell: str) -> str:
    """Spreadsheets execute cells that begin with these signs, and some end a row at any line's end, quoted or not."""
    cell = re.sub(r"[\r\n\v\f\x85\u2028\u2029]+", " ", cell)
    return f"'{cell}" if cell[:1] in FORMULA else cell


def as_json(row: Graded) -> dict[str, Any]:
    """A row as JSON holds it: its fields, and the score that follows from them."""
    return asdict(row) | {"score": row.score}


STYLE = """
:root { color-scheme: light dark; }
body { font: 17px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: .7rem 0 1.2rem; font-size: 16px; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #8886; vertical-align: top; }
pre { overflow-x: auto; padding: .7rem; background: #8881; border-radius: 6px; font-size: 15px; }
pre.words { white-space: pre-wrap; font-family: inherit; }
h2 { margin-top: 2rem; font-size: 1.25rem; }
.hint { border-left: 4px solid #D55E00; padding-left: .8rem; overflow-wrap: anywhere; }
.small { font-size: 15px; opacity: .8; }
"""


def page(assignment: Assignment, row: Graded, sealed: bool) -> str:
    """The student's page: scores, hints, the cases, and the code that was run."""
    coding = sum(question.points for question in assignment.questions)
    tasks = {question.name: question.exercise.task for question in assignment.questions}
    parts = [
        f"<h1>{html.escape(assignment.title)}</h1>",
        f"<p><b>{html.escape(row.student)}</b>: <b>{row.score:g} of {coding} points</b> for code.</p>",
    ]
    parts += [f'<p class="small">Note: {html.escape(remark)}</p>' for remark in row.remarks]
    rows = "".join(
        f"<tr><td>{html.escape(mark.question)}</td><td>{word(mark)}</td><td>{mark.score:g} of {mark.points}</td></tr>"
        for mark in row.marks
    )
    rows += "".join(
        f"<tr><td>{html.escape(part.name)}</td><td>read by a person</td><td>… of {part.points}</td></tr>"
        for part in assignment.written
    )
    parts.append(f"<table><tr><th>question</th><th>result</th><th>points</th></tr>{rows}</table>")
    parts += [section(mark, tasks[mark.question], row.answers.get(mark.question, "")) for mark in row.marks]
    for name, text in row.written.items():
        answer = html.escape(text or "(no answer)")
        parts.append(f'<h2>{html.escape(name)}</h2><pre class="words">{answer}</pre>')
    how = "in a sealed process" if sealed else "without a sandbox"
    parts.append(
        f'<p class="small">Your answers ran {how}. '  # time and memory could tell what a hidden case is
        "Cases that are not shown with numbers belong to grading.</p>"
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{html.escape(assignment.title)}: {html.escape(row.student)}</title><style>{STYLE}</style>"
        f"{''.join(parts)}</html>\n"
    )


def word(mark: Mark) -> str:
    """The result in a word and a sign."""
    if mark.score == mark.points:
        return "✓ right"
    return "◐ right in the main" if mark.score else "✗ not right"


def section(mark: Mark, task: str, code: str) -> str:
    """One question: hint, cases, code."""
    cells = "".join(
        f"<tr><td>{'✓' if right else '✗'}</td><td>{html.escape(label)}</td><td>{html.escape(expected)}</td>"
        f"<td>{html.escape(found)}</td></tr>"
        for label, right, expected, found in mark.rows
    )
    table = f"<table><tr><th></th><th>case</th><th>expected</th><th>yours</th></tr>{cells}</table>" if cells else ""
    hint = f'<p class="hint"><b>Hint.</b> {html.escape(mark.hint)}</p>' if mark.hint else ""
    source = f"<details><summary>your code</summary><pre>{html.escape(code)}</pre></details>" if code else ""
    return (
        f"<h2>{html.escape(mark.question)}: {word(mark)}, {mark.score:g} of {mark.points}</h2>"
        f"<p>{html.escape(task)}</p>{hint}{table}{source}"
    )


def similarity_text(pairs: Sequence[Pair], near: Sequence[Pair] = ()) -> str:
    """The pairs as a page of plain text, with what they do not mean."""
    lines = [
        "# Hand-ins that look alike",
        "",
        "This is a hint to read both, not a proof of anything: short tasks have few natural solutions, and students",
        "who learn together write alike. The share is that of the shorter hand-in's token runs which the other has",
        "too, names made equal; what the task gives or the public solutions have is left out.",
        "",
    ]
    lines += [f"- {len(ring)} nearly the same: {', '.join(cell(name) for name in ring)}" for ring in rings(pairs)]
    head = ["", "| first | second | share | runs in common |", "|---|---|---|---|"]
    lines += [*head, *map(table_row, pairs)] if pairs else ["No pair is above the threshold."]
    if near:
        lines += ["", "## Close to the public solutions", *head, *map(table_row, near)]
    return "\n".join([*lines, ""])


def table_row(pair: Pair) -> str:
    """A pair in a Markdown table."""
    return f"| {cell(pair.first)} | {cell(pair.second)} | {pair.share:.0%} | {pair.common} |"


def cell(text: str) -> str:
    """A name in a Markdown table, whatever it holds."""
    printable = "".join(mark if mark.isprintable() else " " for mark in text)
    return re.sub(r"([\\`*_\[\](){}!~#$])", r"\\\1", html.escape(printable.replace("|", "¦")))
