"""Writes data/runs/WORDS.md from the runs of readers of words, boxes.csv and lists.csv; no number is typed by hand."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402

from labkit.base.files import write_bytes  # noqa: E402
from labkit.base.words import signed, with_mark  # noqa: E402
from labkit.runs import Run, Variant, find_runs  # noqa: E402
from labkit.runs.compare import t_interval  # noqa: E402
from labkit.runs.readings import approximation, arm_table, readings, word_difference  # noqa: E402
from labkit.runs.schema import RunError  # noqa: E402
from labkit.runs.verdicts import margin_of, verdict_of  # noqa: E402

INTRO = """# Learned surrogates: readers tuned on the edit distance, boxes on IoU, lists on nDCG

Written by `python data/runs/report_words.py` from the runs; nothing is typed by hand. What was fixed beforehand is in
PROTOCOL.md, all tuning trials are in word_trials.csv, and `python data/runs/record_words.py` makes what is missing.
Acc and NED in per cent, higher is better; TED, the total edit distance over all test words, lower is better. A
difference has the 95 % interval that is the wider of Student's over seeds and a paired bootstrap over words; the
verdict is about "fewer edits than", from one seed it is about the words alone. CPU s: of one run, mean over seeds,
training and measuring.
"""
PRESETS = {
    "words-tune": "Rendered words: arms from the converged base (2,000 test words in unseen fonts)",
    "scene-text": "Real words: PP-OCRv4's features (300 words of each of four sets, clean, and again degraded)",
}
STAGES = {"base-15": 15, "base-30": 30, "base-60": 60, "base": 100}


def main() -> int:
    """Write the page."""
    runs = find_runs(HERE)
    parts = [INTRO, base(runs)]
    parts += [arms([run for run in runs if run.topic == topic], preset) for topic, preset in places()]
    parts += [kinds(runs), stages(runs), options(runs), quality(runs), boxes(), lists()]
    write_bytes(HERE / "WORDS.md", "\n".join(part.rstrip() + "\n" for part in parts if part).encode())
    return 0


def places() -> list[tuple[str, str]]:
    """Topics with arms, and their presets."""
    return [("words", "words-tune"), ("scene-text", "scene-text")]


def base(runs: list[Run]) -> str:
    """The curve of the base, to show its plateau."""
    found = [run for run in runs if run.preset == "words" and run.status == "finished"]
    if not found:
        return ""
    rows = [row for row in found[0].curves() if row.get("split") == "validation"]
    shown = rows[2::3] if len(rows) > 10 else rows
    lines = ["## The base", "", "| step | validation Acc | NED | TED |", "|---|---|---|---|"]
    lines += [f"| {r['step']} | {100 * r['Acc']:.1f} | {100 * r['NED']:.1f} | {r['TED']:.0f} |" for r in shown]
    return "\n".join(lines) + "\n"


def compared(runs: list[Run], group: Variant, other: Variant) -> str:
    """A difference in TED with its interval and verdict; empty where runs are missing."""
    if group == other:
        return ""
    try:
        found = word_difference(runs, group, other, "TED")
    except RunError:
        return ""
    verdict = verdict_of(-found.high, -found.low, margin_of(group.preset, "TED"))
    return f"{signed(found.mean)} [{signed(found.low)}, {signed(found.high)}] {with_mark(verdict)}"


def arms(runs: list[Run], preset: str) -> str:
    """Every arm against the base as it is and against cross-entropy for the same steps."""
    frame = arm_table(runs, preset)
    if frame.empty:
        return ""
    head = "| arm | seeds | Acc | NED | TED | against the base | against cross-entropy | CPU s |"
    lines = [f"## {PRESETS[preset]}", "", head, "|---|---|---|---|---|---|---|---|"]
    as_it_is, ce = Variant(preset, "untrained"), Variant(preset, "cross-entropy")
    for variant, rows in by_variant(frame):
        cells = [variant.title, str(len(rows)), *means(rows)]
        cells += [compared(runs, variant, as_it_is), compared(runs, variant, ce), f"{rows['cpu_seconds'].mean():.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def by_variant(frame: pd.DataFrame) -> list[tuple[Variant, pd.DataFrame]]:
    """The rows of each arm, from the fewest edits up."""
    groups = [(rows["variant"].iloc[0], rows) for _, rows in frame.groupby("variant", sort=False)]
    return sorted(groups, key=lambda group: float(group[1]["TED"].mean()))


def means(rows: pd.DataFrame) -> list[str]:
    """Acc, NED and TED, means over seeds."""
    return [f"{100 * rows['Acc'].mean():.1f}", f"{100 * rows['NED'].mean():.2f}", f"{rows['TED'].mean():.0f}"]


def kinds(runs: list[Run]) -> str:
    """Accuracy on real words as they are, and on those that were made harder to read."""
    found: dict[tuple[Variant, str], list[float]] = {}
    for run in runs:
        if run.topic == "scene-text" and run.has("samples.parquet"):
            words = readings(run)
            right = (words["distance"] == 0).groupby(words["id"].str.rpartition("/")[2]).mean()
            for kind in right.index:
                found.setdefault((run.variant, str(kind)), []).append(float(right[kind]))
    if not found:
        return ""
    names = ("clean", "blur", "small", "jpeg")
    lines = ["## Real words, clean and degraded: Acc", "", f"| arm | {' | '.join(names)} |", "|---|---|---|---|---|"]
    for variant in dict.fromkeys(variant for variant, _ in found):
        cells = [f"{100 * float(np.mean(found[variant, name])):.1f}" for name in names]
        lines.append(f"| {variant.title} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def stages(runs: list[Run]) -> str:
    """What tuning gains from bases that are less and less converged."""
    lines = [
        "## Does the gain shrink as the base converges?",
        "",
        "| base, % of its training | TED of the base | cross-entropy − base | LS-ED − base | LS-ED − cross-entropy |",
        "|---|---|---|---|---|",
    ]
    for reader, share in STAGES.items():
        settings = {} if reader == "base" else {"data.reader": reader}
        plain, ce, ls = (Variant("words-tune", loss, settings) for loss in ("untrained", "cross-entropy", "ls-ed"))
        here = [run for run in runs if run.variant in (plain, ce, ls) and run.topic.startswith("words")]
        values = [run.value("TED", "test") for run in here if run.variant == plain]
        if not values:
            continue
        cells = [compared(here, ce, plain), compared(here, ls, plain), compared(here, ls, ce)]
        lines.append(f"| {share} | {values[0]:.0f} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n" if len(lines) > 4 else ""


def options(runs: list[Run]) -> str:
    """One part of the method at a time, with what the surrogate was like at its end."""
    chosen = [run for run in runs if run.topic == "words-options"]
    usual = {run.variant for run in chosen}
    losses = {run.loss for run in chosen}
    chosen += [
        run for run in runs if run.topic == "words" and run.variant in {Variant("words-tune", x) for x in losses}
    ]
    frame = arm_table(chosen, "words-tune")
    if not usual or frame.empty:
        return ""
    head = "| option | seeds | TED | mean error of ê | norm of ∂ê/∂z | learn kept | tune kept | CPU s |"
    lines = ["## One option at a time", "", head, "|---|---|---|---|---|---|---|---|"]
    named = {run.id: run for run in chosen}
    for variant, rows in by_variant(frame):
        cells = [variant.title, str(len(rows)), f"{rows['TED'].mean():.0f}"]
        for name in ("error", "gradient_norm", "learn_kept", "tune_kept"):
            values = [last(named[run_id], name) for run_id in rows["run_id"]]
            cells.append(f"{np.nanmean(values):.2f}")
        lines.append(f"| {' | '.join([*cells, f'''{rows['cpu_seconds'].mean():.1f}'''])} |")
    return "\n".join(lines) + "\n"


def last(run: Run, name: str) -> float:
    """The last logged value of a quantity."""
    values = [row[name] for row in run.curves() if isinstance(row.get(name), int | float)]
    return float(values[-1]) if values else float("nan")


def quality(runs: list[Run]) -> str:
    """ê against e of the surrogates of LS-ED at the end of tuning, where it compresses."""
    lines = [
        "## How good the learned surrogate is",
        "",
        "ê of unseen pairs by their true distance, mean over pairs and seeds, at the end of LS-ED; r: correlation.",
        "",
        "| preset, pairs | pairs | r | " + " | ".join(f"e = {e}" for e in range(7)) + " | norm of ∂ê/∂z |",
        "|---|---|---|" + "---|" * 8,
    ]
    for topic, preset in places():
        found = [run for run in runs if run.topic == topic and run.variant == Variant(preset, "ls-ed")]
        tables = [approximation(run) for run in found if run.has("approximation.parquet")]
        for kind, rows in pd.concat(tables).groupby("kind") if tables else ():
            by_distance = rows.groupby(rows["exact"].round())["estimate"].mean()
            cells = [f"{by_distance[e]:.2f}" if e in by_distance.index else "" for e in range(7)]
            r = np.corrcoef(rows["exact"], rows["estimate"])[0, 1]
            cells.append(f"{rows['gradient_norm'].mean():.2f}")
            lines.append(f"| {preset}, {kind} | {len(rows):,} | {r:.2f} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n" if len(lines) > 6 else ""


def boxes() -> str:
    """LS-IoU and what it is held against, from a trained base and from one whose boxes do not meet the targets."""
    if not (HERE / "boxes.csv").is_file():
        return ""
    frame = pd.read_csv(HERE / "boxes.csv")
    lines = [
        "## Rotated boxes: LS-IoU",
        "",
        "record_boxes.py: one box a picture, one answer, so recall = precision = F1, the share of boxes whose IoU is",
        "above 0.5 or 0.7, in per cent. Missed: test boxes that the base does not meet, and their mean IoU after",
        "tuning. Equal: within ±0.01 of mean IoU (t interval over seeds, against smooth-L1 for the same steps).",
        "",
        "| base | loss | seeds | rate | mean IoU | F1 .5 | F1 .7 | against smooth-L1 | missed: mean IoU | CPU s |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for (start, loss), rows in frame.groupby(["start", "loss"], sort=False):
        proxy = frame[(frame["start"] == start) & (frame["loss"] == "smooth-L1")]
        both = rows.merge(proxy, on="seed", suffixes=("", "_proxy"))
        cells = [start, loss, str(len(rows)), f"{rows['rate'].iloc[0]:g}", f"{rows['mean_iou'].mean():.3f}"]
        cells += [f"{100 * rows[name].mean():.1f}" for name in ("f1_50", "f1_70")]
        cells.append(against_proxy(loss, (both["mean_iou"] - both["mean_iou_proxy"]).to_numpy()))
        missed = int(rows["missed"].iloc[0])
        cells.append(f"{missed}: {rows['mean_iou_of_missed'].mean():.3f}" if missed else "none missed")
        cells.append(f"{rows['cpu_seconds'].mean():.1f}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def lists() -> str:
    """A third metric by the same machinery."""
    if not (HERE / "lists.csv").is_file():
        return ""
    frame = pd.read_csv(HERE / "lists.csv")
    lines = [
        "## A third metric: nDCG of lists",
        "",
        "record_lists.py: eight items a list, 2,000 test lists; equal within ±0.01 of nDCG (t interval over seeds).",
        "",
        "| loss | seeds | rate | nDCG | against squared error | CPU s |",
        "|---|---|---|---|---|---|",
    ]
    proxy = frame[frame["loss"] == "squared error"]
    for loss, rows in frame.groupby("loss", sort=False):
        both = rows.merge(proxy, on="seed", suffixes=("", "_proxy"))
        cells = [str(loss), str(len(rows)), f"{rows['rate'].iloc[0]:g}", f"{rows['ndcg'].mean():.4f}"]
        cells.append(against_proxy(str(loss), (both["ndcg"] - both["ndcg_proxy"]).to_numpy()))
        lines.append(f"| {' | '.join([*cells, format(rows['cpu_seconds'].mean(), '.1f')])} |")
    return "\n".join(lines) + "\n"


def against_proxy(loss: str, differences: np.ndarray) -> str:
    """A difference to the proxy that the base was trained by, with interval and verdict."""
    if loss in ("smooth-L1", "squared error", "as it is") or len(differences) < 2:
        return ""
    low, high = t_interval(differences)
    mean, *ends = (f"{value:+.3f}".replace("-", "−") for value in (differences.mean(), low, high))
    return f"{mean} [{', '.join(ends)}] {with_mark(verdict_of(low, high, 0.01))}"


if __name__ == "__main__":
    sys.exit(main())
