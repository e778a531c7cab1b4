"""Time spent, and being asked to stop."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist

from labkit.base.processes import is_distributed
from labkit.training.state import State


class Clock:
    """Adds wall and CPU time to a run's progress, so that resumed runs count all their parts."""

    def __init__(self, state: State) -> None:
        """Starts now."""
        self.progress = state.progress
        self.wall, self.cpu = time.monotonic(), time.process_time()

    def read(self) -> float:
        """Wall time of the whole run so far."""
        wall, cpu = time.monotonic(), time.process_time()
        self.progress.wall_seconds += wall - self.wall
        self.progress.cpu_seconds += cpu - self.cpu
        self.wall, self.cpu = wall, cpu
        return self.progress.wall_seconds


class Stop:
    """Whether somebody asked to stop."""

    asked = False
    since = 0.0


@contextmanager
def stop_signals() -> Iterator[Stop]:
    """Ctrl-C or a polite kill ends training after the current step; a second Ctrl-C ends it at once."""
    stop = Stop()

    def ask(number: int, frame: Any) -> None:
        # torchrun passes a Ctrl-C on that the process has had already: only a later one is a second one
        if stop.asked and number == signal.SIGINT and time.monotonic() - stop.since > 2:
            raise KeyboardInterrupt
        if not stop.asked:
            stop.asked, stop.since = True, time.monotonic()

    try:
        before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not in the main thread: the caller handles signals
        before = {}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def agreed(stop: Stop, step: int, device: torch.device) -> bool:
    """All processes must stop at the same step; they ask each other only at every tenth."""
    if not is_distributed():
        return stop.asked
    if step % 10:
        return False
    flag = torch.tensor(float(stop.asked), device=device)
    dist.all_reduce(flag, dist.ReduceOp.MAX)
    return bool(flag)
