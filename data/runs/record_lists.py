"""A third metric, nDCG of lists, by the same machinery: `python data/runs/record_lists.py` writes lists.csv beside it.

A small network scores the eight items of a list; what is measured is 1 − nDCG of the order that the scores give. The
base is trained by squared error; every way of tuning starts from it, with a rate that the same trials chose.
"""

from __future__ import annotations

import copy
import csv
import sys
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

import torch  # noqa: E402
from torch import Tensor, nn  # noqa: E402

from labkit.data.samplers import generator  # noqa: E402
from labkit.runs import provenance  # noqa: E402
from labkit.surrogates import (  # noqa: E402
    Settings,
    Surrogate,
    Task,
    VectorEmbedding,
    begin,
    objective_step,
    surrogate_loss,
    train_with_surrogate,
)
from labkit.surrogates.objectives import descend  # noqa: E402

TABLE = HERE / "lists.csv"
ITEMS, KNOWN, BATCH, BASE, TUNE, TESTED = 8, 6, 64, 300, 200, 2000
SEEDS, RATES, TRIAL_SEED = (0, 1, 2, 3, 4), (3e-4, 1e-3, 3e-3), 100
DISCOUNT = 1 / torch.log2(torch.arange(ITEMS) + 2.0)
COLUMNS = ("loss", "seed", "rate", "ndcg", "cpu_seconds")


def lost(scores: Tensor, relevance: Tensor) -> Tensor:
    """1 − nDCG of lists (B, items), relevance in 0, 1/3, 2/3, 1 for grades 0 to 3; 0 where nothing is relevant."""
    gains = 2 ** (3 * relevance) - 1
    order = scores.argsort(dim=-1, descending=True, stable=True)
    best = (gains.sort(-1, descending=True).values * DISCOUNT).sum(-1)
    found = 1 - (gains.gather(-1, order) * DISCOUNT).sum(-1) / best.clamp(min=1e-9)
    return torch.where(best > 0, found.clamp(min=0), 0.0)


def soft_lost(scores: Tensor, relevance: Tensor) -> Tensor:
    """1 − nDCG with ranks counted by sigmoids: the hand-made surrogate."""
    above = ((scores[:, None, :] - scores[:, :, None]) / 0.1).sigmoid()
    ranks = above.sum(-1) + 0.5  # an item is half above itself
    gains = 2 ** (3 * relevance) - 1
    best = (gains.sort(-1, descending=True).values * DISCOUNT).sum(-1)
    return torch.where(best > 0, 1 - (gains / torch.log2(1 + ranks)).sum(-1) / best.clamp(min=1e-9), 0.0)


def squared(scores: Tensor, relevance: Tensor) -> Tensor:
    """The proxy."""
    return (scores - relevance).square().mean(-1)


def sampled(scores: Tensor, relevance: Tensor) -> Tensor:
    """REINFORCE: scores with normal noise, exact nDCG, the mean of the other samples as the baseline."""
    noise = 0.1 * torch.randn(8, *scores.shape)
    exact = lost((scores.detach() + noise).flatten(0, 1), relevance.repeat(8, 1)).reshape(8, -1)
    baseline = (exact.sum(0) - exact) / 7
    log_density = -((scores.detach() + noise - scores) ** 2).sum(-1) / (2 * 0.1**2)
    return ((exact - baseline) * log_density).mean(0)


LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "squared error": squared,
    "soft nDCG": soft_lost,
    "REINFORCE": sampled,
}
ARMS = (*LOSSES, "LS-nDCG", "LS-nDCG + squared error")
TASK = Task(lost)


def drawn(count: int, seed: int, step: int) -> tuple[Tensor, Tensor]:
    """Lists (count, items, known) and relevance (count, items): a curved function of what is known, noisy, graded."""
    rng = generator(seed, step, 41)
    x = torch.randn(count, ITEMS, KNOWN, generator=rng)
    useful = x[..., 0] * x[..., 1] + (2 * x[..., 2]).sin() + 0.5 * x[..., 3]
    noisy = useful + 0.3 * torch.randn(count, ITEMS, generator=rng)
    return x, torch.bucketize(noisy, torch.tensor([0.5, 1.2, 2.0])).float() / 3


def pairs(seed: int) -> Callable[[int], tuple[Tensor, Tensor]]:
    """The random generator: relevance as the lists have it, and scores that are it with more or less noise."""

    def of(step: int) -> tuple[Tensor, Tensor]:
        y = drawn(BATCH, 5000 + seed, step)[1]
        rng = generator(seed, step, 43)
        return y + torch.rand(BATCH, 1, generator=rng) * torch.randn(BATCH, ITEMS, generator=rng), y

    return of


@cache
def base() -> nn.Module:
    """A network after squared error."""
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(KNOWN, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1), nn.Flatten(1)
    )
    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    for step in range(BASE):
        objective_step(model, optimizer, squared, *drawn(BATCH, 1000, step))
    return model


@cache
def surrogate() -> Surrogate:
    """Of 1 − nDCG, after 1,000 steps on random pairs."""
    torch.manual_seed(0)
    learner = Surrogate(VectorEmbedding(ITEMS))
    optimizer = torch.optim.Adam(learner.parameters(), 2e-3)
    for step in range(1000):
        z, y = pairs(0)(step)
        descend(optimizer, surrogate_loss(learner, z, y, TASK.exact(z, y), lam=0.01).loss, 5.0)
    return learner


def tuned(loss: str, rate: float, seed: int) -> tuple[nn.Module, float]:
    """A copy of the base after tuning, and the CPU seconds it took."""
    torch.manual_seed(seed)
    model, learner, data = copy.deepcopy(base()), copy.deepcopy(surrogate()), partial(drawn, BATCH, seed)
    began = time.process_time()
    if loss in LOSSES:
        optimizer = torch.optim.Adam(model.parameters(), rate)
        for step in range(TUNE):
            objective_step(model, optimizer, LOSSES[loss], *data(step), clip=5.0)
    else:
        rates = {"eta_a": 1e-3, "eta_b": rate}
        settings = Settings(I_a=10, I_b=25, **rates, epochs=TUNE // 25, lam=0.01, optimizer="adam", clip=5.0, seed=seed)
        state = begin(model, learner, settings)
        add = squared if "squared" in loss else None
        list(train_with_surrogate(state, TASK, data, pairs(seed), settings, add=add))
    return model, time.process_time() - began


@torch.no_grad()
def score(model: nn.Module, seed: int) -> float:
    """Mean nDCG on lists that nothing was trained on."""
    x, y = drawn(TESTED, seed, 0)
    return float(1 - lost(model.eval()(x), y).mean())


def main() -> int:
    """Make the rows that are missing."""
    torch.set_num_threads(1)
    rows = list(csv.DictReader(TABLE.open(encoding="utf-8", newline=""))) if TABLE.exists() else []
    commit = str(provenance.code_version()["commit"])
    for loss in ("as it is", *ARMS):
        there = {row["seed"] for row in rows if row["loss"] == loss}
        seeds = [seed for seed in SEEDS if str(seed) not in there]
        tried = (
            {rate: score(tuned(loss, rate, TRIAL_SEED)[0], 3000) for rate in RATES} if loss in ARMS and seeds else {}
        )
        rate = max(tried, key=lambda rate: tried[rate]) if tried else 0.0
        for seed in seeds:
            model, seconds = tuned(loss, rate, seed) if loss in ARMS else (base(), 0.0)
            values = (loss, str(seed), f"{rate:g}", f"{score(model, 2000):.4f}", f"{seconds:.1f}", commit)
            rows.append(dict(zip((*COLUMNS, "commit"), values)))
        with TABLE.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, (*COLUMNS, "commit"), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
