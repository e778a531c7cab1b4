"""Progress for people: a live bar on a terminal, a line at each evaluation elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

from tqdm import tqdm

from labkit.runs.record import Summary


class Report:
    """Loss, R@1 on held-out classes, and time left."""

    def __init__(self, name: str, steps: int, first: int, quiet: bool = False) -> None:
        """Quiet: nothing at all, for processes other than the first."""
        self.name, self.steps, self.quiet = name, steps, quiet
        self.live = sys.stderr.isatty() and not quiet
        self.bar = tqdm(total=steps, initial=first, desc=name, unit="step", disable=not self.live, dynamic_ncols=True)
        self.first, self.began = first, time.monotonic()
        self.score = ""

    def step(self, loss: float | None) -> None:
        """After every step; the loss where it was read from the device."""
        self.bar.update()
        if loss is not None and self.live:
            self.bar.set_postfix_str(f"loss {loss:.4g}{self.score}", refresh=False)

    def evaluated(self, step: int, loss: float | None, metric: str, value: float | None) -> None:
        """After every evaluation."""
        shown = "" if value is None else f"validation {metric} {100 * value:.1f} %"
        self.score = f", {shown}" if shown else ""
        if self.quiet or self.live:
            return
        done = step - self.first
        left = (time.monotonic() - self.began) / done * (self.steps - step) if done else 0.0
        parts = [f"{self.name}: step {step}/{self.steps}", "" if loss is None else f"loss {loss:.4g}", shown]
        print(", ".join(p for p in [*parts, f"{left:.0f} s left"] if p), file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        """For `with`."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the terminal tidy."""
        self.bar.close()


def headline(summary: Summary) -> str:
    """The result in a few words; without a test, the validation classes."""
    split, found = ("test", summary.test) if summary.test else ("validation", summary.validation or {})
    values = [(name, found.get(name)) for name in ("R@1", "MAP@R", "Acc", "NED")]
    scores = [f"{name} {100 * value:.2f} %" for name, value in values if value is not None]
    scores += [f"TED {total:.0f}"] if (total := found.get("TED")) is not None else []
    if (rate := found.get("bpp@50")) is not None:  # a codec, in the middle of its range
        scores.append(f"PSNR {found['PSNR@50']:.2f} dB at {rate:.3f} bits per pixel")
    return f"{split} {', '.join(scores)}, {summary.cpu_seconds or 0.0:.0f} CPU s"
