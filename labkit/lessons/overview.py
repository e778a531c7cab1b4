"""The table of lessons in notebooks/README.md, counted from the lessons themselves."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from labkit.base.paths import RECORDED
from labkit.lessons.exercises import EXERCISES
from labkit.runs.claims import findings
from labkit.runs.read import find_runs

BEGIN, END = "<!-- table of lessons: made by `make notebooks` -->", "<!-- end of the table -->"
# figures of the papers that a lesson draws anew; tables are found in its code
FIGURES = {
    4: "slides' Fig. 1",
    5: "",
    6: "PNP Figs 1, 3, 5",
    7: "PNP Fig. 6",
    8: "MPA Fig. 1",
    9: "SGSL Fig. 3",
    10: "slides' quality of approximation",
}
HEAD = (
    "| lesson | minutes | kB | explorers | exercises | wrong answers named | paper's figures, tables | claims, here |\n"
    "|---|---|---|---|---|---|---|---|"
)


def table_of_lessons(folder: Path) -> str:
    """One row a lesson."""
    verdicts = [(f.claim.paper, f.claim.where, f.verdict) for f in findings(find_runs(RECORDED))]
    return "\n".join([HEAD, *(row(path, verdicts) for path in sorted(folder.glob("[0-9][0-9]_*.py")))])


def row(path: Path, verdicts: list[tuple[str, str, str]]) -> str:
    """What one lesson holds."""
    text = path.read_text(encoding="utf-8")
    title = re.search(r"^# # (.+)$", text, re.MULTILINE)
    minutes = re.search(r"About (\d+) minutes", text)
    explorers = len(re.findall(r"\b(?:explore(?:_\w+)?|who_is_pulled)\(", text))
    names = set(re.findall(r"labkit\.check\.(\w+)\(", text))
    wrong = sum(len(EXERCISES[name].mistakes) for name in names)
    tables = dict.fromkeys(re.findall(r'papers\.(?:pivot|table)\("(\w+)", "([\w-]+)"', text))
    shown = [FIGURES.get(int(path.stem[:2]), "")]
    shown += [f"{paper.upper() if paper != 'slides' else paper} Table {table}" for paper, table in tables]
    cells = [
        f"[{title[1] if title else path.stem}]({path.stem}.ipynb)",
        minutes[1] if minutes else "",
        f"{path.with_suffix('.ipynb').stat().st_size / 1000:.0f}",
        str(explorers),
        str(len(names)),
        str(wrong),
        "; ".join(filter(None, shown)),
        verdict_counts(text, verdicts),
    ]
    return f"| {' | '.join(cells)} |"


def verdict_counts(text: str, verdicts: list[tuple[str, str, str]]) -> str:
    """How the claims that a lesson shows came out."""
    counts: Counter[str] = Counter()
    for arguments in re.findall(r'labkit\.claims\(((?:"[^"]*"|[^)"])*)\)', text):
        paper, *where = re.findall(r'"([^"]+)"', arguments) or [""]
        papers = [paper] if paper else sorted({p for p, _, _ in verdicts})
        counts.update(v for p, w, v in verdicts if p in papers and (not where or w in where))
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())


def write_table(folder: Path) -> None:
    """Replace the table in the folder's README."""
    readme = folder / "README.md"
    text = readme.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    readme.write_text(f"{before}{BEGIN}\n{table_of_lessons(folder)}\n{END}{after}", encoding="utf-8")
