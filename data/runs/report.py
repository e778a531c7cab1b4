"""Writes data/runs/README.md from the runs themselves: `python data/runs/report.py`. No number is typed by hand."""

from __future__ import annotations

import csv
import sys
from io import BytesIO
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from labkit.base.files import write_bytes  # noqa: E402
from labkit.base.titles import TITLES  # noqa: E402
from labkit.base.words import RULE, VERDICTS, scale_of, with_interval, with_mark  # noqa: E402
from labkit.figures.forest import forest  # noqa: E402
from labkit.figures.static import panel_for, small_multiples  # noqa: E402
from labkit.runs import Run, Variant, find_runs, table  # noqa: E402
from labkit.runs.claims import evidence, findings, surviving  # noqa: E402

TOPICS = {
    "omniglot": "Omniglot: unseen characters of unseen alphabets",
    "omniglot-merged": "Omniglot, every three training characters merged",
    "emoji": "Emoji: unseen emoji",
    "emoji-vendor": "Emoji: an unseen vendor's drawings",
    "toy-ring": "Toy, clusters on a ring",
    "toy-random": "Toy, clusters at random",
    "fashion-3d": "Fashion-MNIST in three dimensions",
    "pretrained": "Emoji with an ImageNet backbone",
    "budget": "Length of training, on merged labels",
    "ablations": "One option at a time",
}
METRICS = ("R@1", "MAP@R", "nDCG@10", "NMI", "intra", "inter", "CSC")
INTRO = """# Recorded runs

Real runs: settings, seed, commit, versions, device, data hash, time and metrics of each are in its `run.json`,
`metrics.jsonl` and `summary.json`. The first seed of most configurations keeps embeddings of some test points and has a
folder; the others are in their topic's pack, `runs.parquet` (a row a run, the three files byte for byte), which pages
and commands read like folders. `make runs` makes what is missing, `python data/runs/record.py --list` prints every
command line, and `python data/runs/report.py` writes this page from the runs. Nothing here is typed by hand.

All runs are CPU runs, one thread each. Within a topic every loss has the same network, batches, augmentation and number
of steps. On Omniglot, on emoji and with the ImageNet backbone every loss got the same four tuning trials on validation
classes (below); the merged labels and the unseen vendor share those of the plain split. The toy and the 3-D network
have one setting for all losses, untuned, but for the toy's α and b. The weights that are tested are those of the best
step on validation classes (toy and 3-D: the last); test classes are measured once. ± is half the 95 % t interval of the
mean over seeds (three seeds: 4.3 standard errors on either side). Ranking metrics and NMI are in per cent.
"""


def main() -> int:
    """Write the page."""
    write_bytes(HERE / "README.md", page().encode())
    write_bytes(HERE / "claims.svg", picture(find_runs(HERE)))
    return 0


def page() -> str:
    """The whole page."""
    runs = find_runs(HERE)
    parts = [INTRO, overview(runs), claims(runs), budget(runs)]
    for topic, title in TOPICS.items():
        here = [run for run in runs if run.topic == topic]
        if here:
            parts.append(f"## {title}\n\n{results(here)}")
    if (HERE / "tuning.csv").exists():
        parts.append(tuning())
    return "\n".join(part.rstrip() + "\n" for part in parts)


def overview(runs: list[Run]) -> str:
    """How much was computed, and on what."""
    finished = [run for run in runs if run.status == "finished"]
    hours = sum(run.summary.cpu_seconds or 0.0 for run in finished if run.summary) / 3600
    devices = sorted({run.record.device_name for run in finished})
    return f"{len(finished)} runs, {hours:.1f} CPU hours, on: {', '.join(devices)}, without a GPU.\n"


def picture(runs: list[Run]) -> bytes:
    """The claims as a forest plot."""
    from matplotlib import rc_context

    fig, out = forest(findings(runs)), BytesIO()
    with rc_context({"svg.hashsalt": "labkit", "svg.fonttype": "none"}):  # the same ids each time; text as text
        small_multiples([fig], panel=panel_for(fig)).savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


def claims(runs: list[Run]) -> str:
    """The claims table."""
    found = list(findings(runs))
    verdicts = [finding.verdict for finding in found]
    lines = [
        "## What the papers claim, and what we saw",
        "",
        ", ".join(f"{with_mark(verdict)}: {verdicts.count(verdict)}" for verdict in VERDICTS if verdict in verdicts),
        "",
        "![Every difference with its interval, beside the margin within which two results are equal](claims.svg)",
        "",
        "| paper | claim | verdict | evidence |",
        "|---|---|---|---|",
    ]
    for finding in found:
        claim = finding.claim
        shown = "<br>".join(evidence(d) for d in finding.differences) or claim.why_not
        if finding.missing and not claim.why_not:
            groups = "; ".join(sorted({f"{c.higher} against {c.lower.title}" for c in finding.missing}))
            shown += f"{'<br>' if shown else ''}no runs yet: {groups}"
        lines.append(f"| {claim.paper}, {claim.where} | {claim.statement} | {with_mark(finding.verdict)} | {shown} |")
    told, tested = surviving(found)
    note = (
        f"{RULE} What counts as equal, and how many seeds there are, was written down first: PROTOCOL.md. Of {tested} "
        f"differences {told} are told from zero when it counts that they are many (Benjamini and Hochberg, 5 %)."
    )
    return "\n".join(lines) + "\n\n" + note + "\n"


def budget(runs: list[Run]) -> str:
    """Four losses after four lengths of training, and whether their order is settled."""
    losses = ("pnp-dq", "softmax", "proxy-anchor", "mpa-ap")
    frame = table(runs)
    means = dict(zip(frame["variant"], frame["mean"]))
    lines = [
        "## Was the training long enough?",
        "",
        "Test R@1 on merged labels after other numbers of steps (the comparisons above train 2000), mean over seeds.",
        "",
        f"| steps | {' | '.join(TITLES[loss] for loss in losses)} | order |",
        "|---|---|---|---|---|---|",
    ]
    orders = []
    for steps in (500, 1000, 2000, 4000):
        length = {} if steps == 2000 else {"steps": steps}
        found = {loss: means.get(Variant("omniglot-merged", loss, length), float("nan")) for loss in losses}
        orders.append(sorted(losses, key=lambda loss: -found[loss]))
        cells = " | ".join(f"{100 * found[loss]:.1f}" for loss in losses)
        lines.append(f"| {steps} | {cells} | {', '.join(TITLES[loss] for loss in orders[-1])} |")
    lines.append("")
    if orders[-1] == orders[-2]:
        lines.append("From 2000 to 4000 steps the order does not change.")
    else:
        lines.append(
            "The order still changes from 2000 to 4000 steps: our budget is too short for a final ranking of these\n"
            "losses, and what is said above of losses with class vectors holds for 2000 steps only."
        )
    return "\n".join(lines) + "\n"


def results(runs: list[Run]) -> str:
    """Every group of a topic, best R@1 first."""
    tables = {metric: table(runs, metric).set_index("variant") for metric in METRICS}
    order = tables["R@1"].sort_values("mean", ascending=False).index
    lines = [f"| configuration | seeds | {' | '.join(METRICS)} | CPU s |", "|---|---|" + "---|" * (len(METRICS) + 1)]
    for variant in order:
        cells = [cell(tables[metric], variant, metric) for metric in METRICS]
        seconds = [run.summary.cpu_seconds or 0.0 for run in runs if run.variant == variant and run.summary]
        seeds = tables["R@1"].loc[variant, "n"]
        lines.append(f"| {variant.title} | {seeds} | {' | '.join(cells)} | {sum(seconds) / len(seconds):.0f} |")
    lines += worse_than_untrained(runs)
    return "\n".join(lines) + "\n"


def worse_than_untrained(runs: list[Run]) -> list[str]:
    """A sentence on what ended below where it began, if anything did."""
    frame = table(runs).sort_values("mean", ascending=False)
    untrained = frame.loc[frame["loss"] == "untrained", "mean"]
    trained = frame[~frame["loss"].isin(["untrained", "pixels"])]
    below = [] if untrained.empty else list(trained.loc[trained["mean"] < untrained.iloc[0], "variant"])
    steps = max((run.summary.steps or 0 for run in runs if run.variant in below and run.summary), default=0)
    names = "; ".join(variant.title for variant in below)
    return ["", f"Below the untrained network after {steps} steps: {names}."] if below else []


def cell(frame, group: Variant, metric: str) -> str:
    """Mean ± half the interval."""
    if group not in frame.index:
        return ""
    row, scale = frame.loc[group], scale_of(metric)
    return with_interval(row["mean"], row["low"], row["high"], scale, digits=1 if scale == 100 else 3)


def tuning() -> str:
    """The tuning trials."""
    with (HERE / "tuning.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    lines = [
        "## Tuning",
        "",
        "Four trials for every loss: two values of its main option × two learning rates, half the comparison's steps,",
        "a seed of its own, judged by R@1 (%) on validation classes; the test classes were not looked at. The best",
        "(bold) is used in all topics with these data (`labkit/training/presets/tuned`).",
    ]
    for data in dict.fromkeys(row["data"] for row in rows):
        here = [row for row in rows if row["data"] == data]
        rates = sorted({row["lr"] for row in here}, key=float)
        lines += ["", f"| {data}: loss | option | {' | '.join(f'lr {rate}' for rate in rates)} |", "|---|---|---|---|"]
        shown: dict[tuple[str, str], dict[str, str]] = {}
        for row in here:
            cell = f"{100 * float(row['validation_R@1']):.1f}"
            cells = shown.setdefault((row["loss"], f"{row['option']} = {row['value']}"), {})
            cells[row["lr"]] = f"**{cell}**" if row["chosen"] else cell
        lines += [f"| {' | '.join((*names, *(cells[rate] for rate in rates)))} |" for names, cells in shown.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
