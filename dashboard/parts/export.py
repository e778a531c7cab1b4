"""A comparison to take along: figures for print, the commands that repeat it, and all of it as one page."""

from __future__ import annotations

import html
import io
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from labkit.figures.static import small_multiples
from labkit.runs import Run
from labkit.runs.variant import as_text

if TYPE_CHECKING:
    import plotly.graph_objects as go

PRINT = 300  # dots an inch
WIDTH = 7.0  # inches, a page's
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 1000px; margin: 2rem auto; padding: 0 1rem; color: #222;
  background: white; }
table { border-collapse: collapse; font-size: 14px; } th, td { padding: 4px 10px; border-bottom: 1px solid #ccc;
  text-align: left; } pre { background: #f4f4f4; padding: 1rem; overflow-x: auto; } .note { color: #595959; }
div.wide { overflow-x: auto; }
"""


def picture(fig: go.Figure, kind: str) -> bytes:
    """A figure as a file: png of 300 dots an inch, svg or pdf."""
    buffer = io.BytesIO()
    height = max(3.0, (fig.layout.height or 380) / 110)
    small_multiples([fig], columns=1, panel=(WIDTH, height)).savefig(buffer, format=kind, dpi=PRINT)
    return buffer.getvalue()


def sweep_lines(runs: Iterable[Run]) -> list[str]:
    """As few commands as make these runs again: one for all losses that share preset, settings and seeds.

    Baselines and runs that no command makes are given as they were recorded.
    """
    seeds: dict[tuple[str, tuple[str, ...]], dict[str, set[int]]] = {}
    others = []
    for run in runs:
        if run.seed is None or not run.record.command.startswith("python -m labkit train"):
            others.append(run.record.command)
            continue
        settings = tuple(f"{key}={as_text(value)}" for key, value in sorted(run.variant.settings.items()))
        seeds.setdefault((run.preset, settings), {}).setdefault(run.loss, set()).add(run.seed)
    lines = []
    for (preset, settings), losses in seeds.items():
        same: dict[tuple[int, ...], list[str]] = {}
        for loss, found in losses.items():
            same.setdefault(tuple(sorted(found)), []).append(loss)
        for numbers, names in same.items():
            words = ["python", "-m", "labkit", "sweep", preset, "--losses", *sorted(names)]
            words += ["--seeds", *map(str, numbers), *(["--set", *settings] if settings else [])]
            lines.append(shlex.join(words))
    return [*lines, *sorted(set(filter(None, others)))]


def report(
    title: str,
    facts: Sequence[str],
    figures: Mapping[str, go.Figure],
    rows: Sequence[Mapping[str, Any]],
    commands: Sequence[str],
) -> str:
    """One page that needs neither network nor Python: the figures can be pointed at and zoomed, words are escaped."""
    from plotly.io import to_html

    parts = [f"<h1>{html.escape(title)}</h1>", *(f'<p class="note">{html.escape(fact)}</p>' for fact in facts)]
    for number, (name, fig) in enumerate(figures.items()):
        config = {"displaylogo": False, "showSendToCloud": False}  # nothing leaves the machine
        drawn = to_html(fig, full_html=False, include_plotlyjs=number == 0, config=config)
        parts.append(f'<h2>{html.escape(name)}</h2><div class="wide">{drawn}</div>')
    parts.append(f'<h2>Every number</h2><div class="wide">{as_table(rows)}</div>')
    parts.append(f"<h2>The commands that make these runs again</h2><pre>{html.escape(chr(10).join(commands))}</pre>")
    head = f'<meta charset="utf-8"><title>{html.escape(title)}</title><style>{STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>'


def as_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as HTML."""
    if not rows:
        return ""
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in rows[0])
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(str(v))}</td>' for v in row.values())}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"
