"""LS-IoU against what a reader would ask for: `python data/runs/record_boxes.py` writes boxes.csv beside this file.

A small network places the rotated box that a picture shows, drawn on the fly, and is trained by smooth-L1. From it, and
from a copy that puts every box too far to the lower right, so that boxes do not meet, every loss tunes a copy for the
same number of steps, with a rate that the same trials chose on validation pictures. One picture shows one box and
gets one answer, so recall, precision and F1 at a threshold are one number: the share of boxes with an IoU above it.
Results of finished rows are kept, so it can be stopped and started at will.
"""

from __future__ import annotations

import copy
import csv
import math
import sys
import time
from functools import cache, partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

import torch  # noqa: E402
from torch import Tensor, nn  # noqa: E402

from labkit.data.samplers import generator  # noqa: E402
from labkit.metrics import rotated_iou  # noqa: E402
from labkit.runs import provenance  # noqa: E402
from labkit.surrogates import (  # noqa: E402
    BOX_FEATURES,
    Settings,
    Surrogate,
    VectorEmbedding,
    begin,
    box_features,
    box_task,
    objective_step,
    random_box_pairs,
    surrogate_loss,
    train_with_surrogate,
)
from labkit.surrogates.box_losses import BOX_LOSSES, smooth_l1  # noqa: E402
from labkit.surrogates.boxes import as_boxes  # noqa: E402
from labkit.surrogates.objectives import descend  # noqa: E402

TABLE = HERE / "boxes.csv"
STARTS = {"overlapping": 0.0, "apart": 0.7}  # how far the base puts every box off, in widths of the picture
SEEDS, BASE, TUNE, BATCH, TESTED = (0, 1, 2, 3, 4), 400, 100, 64, 1000
RATES, TRIAL_SEED = (3e-4, 1e-3, 3e-3), 100
ARMS = (*BOX_LOSSES, "LS-IoU")
TASK = box_task()
COLUMNS = ("start", "loss", "seed", "rate", "mean_iou", "f1_50", "f1_70", "missed", "mean_iou_of_missed", "cpu_seconds")


def drawn(count: int, seed: int, step: int) -> tuple[Tensor, Tensor]:
    """Pictures (count, 1, 24, 24) of one soft-edged box each, with noise, and the boxes (count, 5)."""
    rng = generator(seed, step, 31)
    u = torch.rand(count, 5, generator=rng)
    sides = torch.stack((0.3 + 0.3 * u[:, 2], 0.1 + 0.15 * u[:, 3]), dim=1)  # longer than high: no box has two names
    boxes = torch.cat((0.25 + 0.5 * u[:, :2], sides, math.pi * u[:, 4:]), dim=1)
    line = (torch.arange(24) + 0.5) / 24
    x, y = (line[None, None, :] - boxes[:, :1, None]), (line[None, :, None] - boxes[:, 1:2, None])
    cos, sin = boxes[:, 4, None, None].cos(), boxes[:, 4, None, None].sin()
    along, across = (x * cos + y * sin).abs(), (y * cos - x * sin).abs()
    inside = torch.minimum(boxes[:, 2, None, None] / 2 - along, boxes[:, 3, None, None] / 2 - across)
    return (inside * 48).sigmoid()[:, None] + 0.3 * torch.randn(count, 1, 24, 24, generator=rng), boxes


def network() -> nn.Sequential:
    """Five numbers from a picture; `as_boxes` makes a box of them."""
    layers: list[nn.Module] = []
    for before, after in ((1, 16), (16, 32), (32, 48)):
        layers += [nn.Conv2d(before, after, 3, stride=2, padding=1), nn.GroupNorm(4, after), nn.ReLU()]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(48 * 9, 64), nn.ReLU(), nn.Linear(64, 5))


@cache
def base(start: str) -> nn.Sequential:
    """A network after smooth-L1, its centres moved as the start says."""
    torch.manual_seed(0)
    model = network()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    for step in range(BASE):
        x, y = drawn(BATCH, 1000, step)
        objective_step(model, optimizer, lambda outputs, y: smooth_l1(as_boxes(outputs), y), x, y)
    with torch.no_grad():
        model[-1].bias[:2] += STARTS[start]
    return model


@cache
def surrogate() -> Surrogate:
    """Of 1 − IoU, after 1,500 steps on random pairs; the same for all."""
    torch.manual_seed(0)
    learner = Surrogate(VectorEmbedding(BOX_FEATURES, features=box_features))
    optimizer = torch.optim.Adam(learner.parameters(), 2e-3)
    pairs = random_box_pairs(128)
    for step in range(1500):
        optimizer.param_groups[0]["lr"] = 2e-3 * (1 - step / 1500)
        z, y = pairs(step)
        descend(optimizer, surrogate_loss(learner, z, y, TASK.exact(z, y), lam=0.01).loss, 5.0)
    return learner


def tuned(start: str, loss: str, rate: float, seed: int) -> tuple[nn.Module, float]:
    """A copy of a base after tuning, and the CPU seconds it took."""
    model = copy.deepcopy(base(start))
    learner = copy.deepcopy(surrogate()) if loss == "LS-IoU" else None
    began = time.process_time()
    data = partial(drawn, BATCH, seed)
    if learner is not None:
        settings = Settings(
            I_a=10, I_b=25, eta_a=1e-3, eta_b=rate, epochs=TUNE // 25, lam=0.01, optimizer="adam", clip=5.0, seed=seed
        )
        state = begin(model, learner, settings)
        list(train_with_surrogate(state, TASK, data, random_box_pairs(BATCH, seed=seed), settings))
    else:
        optimizer = torch.optim.Adam(model.parameters(), rate)
        judge = BOX_LOSSES[loss]
        for step in range(TUNE):
            x, y = data(step)
            objective_step(model, optimizer, lambda outputs, y: judge(as_boxes(outputs), y), x, y, clip=5.0)
    return model, time.process_time() - began


@torch.no_grad()
def overlaps(model: nn.Module, seed: int) -> Tensor:
    """IoU on pictures that nothing was trained on."""
    x, y = drawn(TESTED, seed, 0)
    return rotated_iou(as_boxes(model.eval()(x)), y)


def row_of(start: str, loss: str, seed: int, rate: float, model: nn.Module, seconds: float) -> dict[str, str]:
    """What is kept of a run; missed: boxes that the base did not meet, and what became of them."""
    before, found = overlaps(base(start), 2000), overlaps(model, 2000)
    missed = before == 0
    values = (found.mean(), (found > 0.5).float().mean(), (found > 0.7).float().mean(), missed.sum())
    of_missed = found[missed].mean() if bool(missed.any()) else torch.tensor(float("nan"))
    numbers = [f"{float(value):.4f}" for value in (*values, of_missed)]
    return dict(zip(COLUMNS, (start, loss, str(seed), f"{rate:g}", *numbers, f"{seconds:.1f}")))


def best_rate(start: str, loss: str) -> float:
    """Of the same trials for every loss, the one with the highest mean IoU on validation pictures."""
    scores = {rate: float(overlaps(tuned(start, loss, rate, TRIAL_SEED)[0], 3000).mean()) for rate in RATES}
    return max(scores, key=lambda rate: scores[rate])


def main() -> int:
    """Make the rows that are missing."""
    torch.set_num_threads(1)
    rows = list(csv.DictReader(TABLE.open(encoding="utf-8", newline=""))) if TABLE.exists() else []
    for start in STARTS:
        for loss in ("as it is", *ARMS):
            there = {row["seed"] for row in rows if (row["start"], row["loss"]) == (start, loss)}
            seeds = [seed for seed in (SEEDS if loss in ARMS else SEEDS[:1]) if str(seed) not in there]
            rate = best_rate(start, loss) if seeds and loss in ARMS else 0.0
            for seed in seeds:
                model, seconds = tuned(start, loss, rate, seed) if loss in ARMS else (base(start), 0.0)
                rows.append(row_of(start, loss, seed, rate, model, seconds))
                write(rows)
                print(rows[-1], flush=True)
    return 0


def write(rows: list[dict[str, str]]) -> None:
    """The table, and the commit that its rows are made at."""
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, (*COLUMNS, "commit"), lineterminator="\n")
        writer.writeheader()
        commit = str(provenance.code_version()["commit"])
        writer.writerows({"commit": commit} | row for row in rows)


if __name__ == "__main__":
    sys.exit(main())
