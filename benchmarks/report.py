"""Tables and figures from measured rows."""

import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from benchmarks.measure import Row, machine

# Okabe–Ito with a marker each, and a line style by kind: colour is never the only cue
STYLES = [
    ("#000000", ""),
    ("#0072B2", "o"),
    ("#009E73", "s"),
    ("#56B4E9", "^"),
    ("#D55E00", "v"),
    ("#CC79A7", "D"),
    ("#E69F00", "X"),
]
AXES = {"losses": "batch size B", "evaluation": "items N"}


def number(value: float) -> str:
    return f"{value:.1e}" if 0 < abs(value) < 1e-3 else f"{value:.3g}"


def line(row: Row) -> str:
    """One row in words."""
    sign, verdict = (">=" if row.at_least else "<="), ("reached" if row.reached else "NOT reached")
    detail = f"; {row.detail}" if row.detail else ""
    return (
        f"{verdict}: {row.what}: {number(row.value)}{row.unit} (must be {sign} {number(row.target)}{row.unit}{detail})"
    )


def table(rows: list[Row]) -> str:
    """Markdown."""
    out = ["| what | measured | must reach | | |", "|---|---|---|---|---|"]
    for row in rows:
        sign = "≥" if row.at_least else "≤"
        verdict = "✓ reached" if row.reached else "✗ not reached"
        out.append(
            f"| {row.what} | {number(row.value)} {row.unit} | {sign} {number(row.target)} {row.unit} | {verdict} "
            f"| {row.detail} |"
        )
    return "\n".join(out)


def figure(kind: str, curve: dict, path: Path) -> None:
    """Time and memory side by side, both axes logarithmic."""
    plt.rcParams.update({"font.size": 12, "axes.grid": True, "grid.alpha": 0.3})
    fig, (left, right) = plt.subplots(1, 2, figsize=(12.5, 5.6))
    for (name, seconds), (color, marker) in zip(curve["seconds"].items(), STYLES):
        style = "--" if name.startswith("floor") else "-" if name.startswith("labkit") else ":"
        sizes = curve["sizes"][: len(seconds)]
        label = f"{name}  (∝ size^{curve['exponents'][name]:.1f})"
        left.plot(sizes, seconds, style, color=color, marker=marker, label=label)
        right.plot(sizes, curve["memory"][name], style, color=color, marker=marker)
    for axes, what in ((left, "CPU time [s]"), (right, "extra memory [MB]")):
        axes.set(xscale="log", yscale="log", xlabel=AXES[kind], ylabel=what)
        axes.set_xticks(curve["sizes"], [f"{s:,}" for s in curve["sizes"]], rotation=45)
        axes.minorticks_off()
    fig.legend(*left.get_legend_handles_labels(), loc="lower center", ncols=2, frameon=False)
    rows = -(-len(curve["seconds"]) // 2)
    fig.tight_layout(rect=(0, 0.055 * rows + 0.02, 1, 1))
    fig.savefig(path, dpi=110)
    plt.close(fig)


def write(folder: Path, rows: list[Row], curves: dict) -> None:
    """table.md, results.json and a figure for each set of curves; rows not measured now stay as recorded."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "results.json"
    before = json.loads(path.read_text()) if path.exists() else {"rows": [], "curves": {}}
    fields = set(Row.__dataclass_fields__)
    known = {old["name"]: Row(**{k: v for k, v in old.items() if k in fields}) for old in before["rows"]}
    known |= {row.name: row for row in rows}
    curves = before["curves"] | curves
    results = {"machine": machine(), "rows": [row.as_dict() for row in known.values()], "curves": curves}
    path.write_text(json.dumps(results, indent=1) + "\n")
    (folder / "table.md").write_text(f"{table(list(known.values()))}\n\nMeasured on: {machine()}.\n")
    for kind, curve in curves.items():
        figure(kind, curve, folder / f"{kind}.png")
