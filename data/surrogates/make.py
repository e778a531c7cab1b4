"""Train the surrogates that come with labkit: python data/surrogates/make.py (about ten minutes of one core).

Writes words.safetensors, boxes.safetensors and learning.npz beside this file, and prints their checksums for
labkit/surrogates/pocket.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor

from labkit.data.files import checksum
from labkit.data.rendered_words import words_of
from labkit.data.word_images import LETTERS
from labkit.surrogates import Surrogate, Task, box_task, random_box_pairs, random_word_pairs, surrogate_loss, word_task
from labkit.surrogates.pocket import SLOTS, new_box_surrogate, new_word_surrogate

HERE = Path(__file__).parent
LAMS = (0.1, 0.0)  # the first is that of the surrogate that is shipped
STEPS, PAIRS, RATE = 5000, 128, 1e-3
BOX_STEPS, BOX_PAIRS, BOX_LAM = 6000, 256, 0.1
FRAMES = (0, 5, 10, 20, 35, 50, 75, 100, 150, 200, 300, 400, 600, 800, 1100, 1500, 2000, 2500, 3000, 4000, STEPS)
SHOWN = 210  # held-out pairs of the film, thirty with each number of edits


def trained(
    surrogate: Surrogate, task: Task, pairs: Callable[[int], tuple[Tensor, Tensor]], lam: float, steps: int
) -> Iterator[int]:
    """Equation 6 by Adam, its rate falling to 0 along a cosine; yields the number of steps done, 0 first."""
    optimizer = torch.optim.Adam(surrogate.parameters(), RATE)
    yield 0
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = RATE * (1 + math.cos(math.pi * step / steps)) / 2
        z, y = pairs(step)
        optimizer.zero_grad()
        surrogate_loss(surrogate, z, y, task.exact(z, y), lam=lam).loss.backward()
        optimizer.step()
        yield step + 1


def held_out(task: Task) -> tuple[Tensor, Tensor, Tensor]:
    """Pairs of test words, as many with each distance from 0 to 6."""
    z, y = random_word_pairs(words_of("test"), LETTERS, SLOTS, 4000, seed=1)(0)
    e = task.exact(z, y)
    rows = torch.cat([(e == k).nonzero()[: SHOWN // 7, 0] for k in range(7)])
    return z[rows], y[rows], e[rows]


def words() -> None:
    """The surrogate of the edit distance, and the film of its learning."""
    task = word_task(LETTERS)
    z, y, exact = held_out(task)
    estimates, norms = [], []
    for lam in LAMS:
        torch.manual_seed(0)
        surrogate = new_word_surrogate()
        for done in trained(surrogate, task, random_word_pairs(words_of("train"), LETTERS, SLOTS, PAIRS), lam, STEPS):
            if done in FRAMES:
                found = surrogate_loss(surrogate, z, y, exact, lam=0.0)
                estimates.append(found.estimate)
                norms.append(found.gradient_norm)
        if lam == LAMS[0]:
            save_file(surrogate.state_dict(), HERE / "words.safetensors")
        print(f"words, λ = {lam}: mean |ê − e| {(estimates[-1] - exact).abs().mean():.2f}", flush=True)
    shape = (len(LAMS), len(FRAMES), len(exact))
    np.savez_compressed(
        HERE / "learning.npz",
        exact=exact.numpy().astype(np.uint8),
        lams=np.array(LAMS, np.float32),
        steps=np.array(FRAMES, np.int32),
        estimates=torch.stack(estimates).numpy().astype(np.float16).reshape(shape),
        norms=torch.stack(norms).numpy().astype(np.float16).reshape(shape),
    )


def boxes() -> None:
    """The surrogate of 1 − IoU."""
    torch.manual_seed(0)
    surrogate, task = new_box_surrogate(), box_task()
    for _ in trained(surrogate, task, random_box_pairs(BOX_PAIRS), BOX_LAM, BOX_STEPS):
        pass
    save_file(surrogate.state_dict(), HERE / "boxes.safetensors")
    z, y = random_box_pairs(4000, seed=1)(0)
    exact = task.exact(z, y)
    z.requires_grad_()
    estimate = surrogate(z, y)
    (gradient,) = torch.autograd.grad(estimate.sum(), z)
    home = -(gradient[:, :2] * (y - z)[:, :2]).sum(1) > 0
    print(f"boxes: mean |ê − e| {(estimate - exact).abs().mean():.3f}; ", end="")
    print(f"{home[exact == 1].double().mean():.0%} of {int((exact == 1).sum())} disjoint pairs are pulled together")


def main() -> None:
    """Train all, and print the checksums."""
    torch.set_num_threads(1)
    words()
    boxes()
    for name in ("words.safetensors", "boxes.safetensors", "learning.npz"):
        print(name, (HERE / name).stat().st_size, checksum(HERE / name))


if __name__ == "__main__":
    main()
