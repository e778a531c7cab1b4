"""The experiment of a lesson: recorded runs by default, trained again when asked."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path

from labkit.base.paths import RECORDED
from labkit.base.words import RULE, first_few, with_mark
from labkit.figures.display import caption, display_html
from labkit.runs.claims import evidence, findings
from labkit.runs.read import find_runs
from labkit.runs.run import Run

AGAIN = Path("runs") / "lessons"  # beside the notebook, never among the recorded ones
LONG = "text-align: left"
SHORT = f"{LONG}; white-space: nowrap"


def experiment(
    preset: str,
    losses: Sequence[str],
    seeds: Sequence[int] = (0, 1, 2),
    retrain: bool = False,
    quiet: bool = False,
    **settings: str,
) -> list[Run]:
    """Runs of several losses and seeds; settings as after `--set`, e.g. `**{"data.layout": "ring"}`.

    Recorded runs that are missing are named and left out. With retrain=True all are trained here, finished ones kept.
    quiet: say only what is missing.
    """
    from labkit.training.queue import Job, run_queue

    jobs = [Job(preset, loss, tuple(seeds), dict(settings), keep="embeddings") for loss in losses]
    wanted = [(job.variant, seed) for job in jobs for seed in job.seeds]
    if retrain:
        run_queue(jobs, AGAIN)
    there = find_runs(AGAIN if retrain else RECORDED)
    runs = {(run.variant, run.seed): run for run in there if run.status == "finished"}
    found = [runs[choice] for choice in wanted if choice in runs]
    missing = [f"{variant.title}, seed {seed}" for variant, seed in wanted if (variant, seed) not in runs]
    origin = "trained here" if retrain else "recorded (data/runs)"
    devices = ", ".join(sorted({run.device for run in found}))
    if not quiet:
        print(f"{len(found)} of {len(wanted)} runs, {origin}{f', {devices}' if devices else ''}")
    if missing:
        print(f"{len(missing)} of {preset} are not there yet ({first_few(missing, 3, '; ')}): `make runs` makes them")
    return found


def claims(paper: str, *where: str, runs: Sequence[Run] | None = None) -> None:
    """What a paper claims (in these of its tables and figures, or in all) beside what the recorded runs show."""
    rows = ""
    for finding in findings(find_runs(RECORDED) if runs is None else runs):
        claim = finding.claim
        if claim.paper != paper or (where and claim.where not in where):
            continue
        shown = "<br>".join(html.escape(evidence(difference)) for difference in finding.differences)
        rows += (
            f"<tr><td style='{SHORT}'>{html.escape(claim.where)}</td>"
            f"<td style='{LONG}'>{html.escape(claim.statement)}</td>"
            f"<td style='{SHORT}'><b>{with_mark(finding.verdict)}</b></td>"
            f"<td style='{LONG}'>{shown or html.escape(claim.why_not)}</td></tr>"
        )
    if not rows:
        raise ValueError(f"paper, where: no claim of {paper!r} in {where}; see labkit.runs.paper_claims.CLAIMS")
    titles = ("where", "claim", "here", "difference, 95 % interval over seeds")
    head = "".join(f"<th style='{LONG}'>{title}</th>" for title in titles)
    display_html(f"<table><tr>{head}</tr>{rows}</table>{caption(RULE)}")
