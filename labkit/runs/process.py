"""Is the process that writes a run still there? A pid alone does not tell: the system uses pids again."""

from __future__ import annotations

import os
from pathlib import Path

PROC = Path("/proc")


def is_alive(pid: int, started: float | None) -> bool | None:
    """Whether process `pid`, begun at `started`, still lives; None where the system does not tell.

    started: clock ticks since boot as Linux counts them, None on systems that do not.
    """
    if pid < 1 or pid >= 2**31:
        return False
    if not (PROC / "stat").is_file():
        return exists(pid)
    state, ticks = state_and_start(pid)
    # Z and X: it has ended, and only its entry waits for the process that started it
    return ticks is not None and state not in "ZX" and (started is None or ticks == started)


def process_start(pid: int) -> float | None:
    """When a process began, in clock ticks since boot; None where the system does not tell."""
    return state_and_start(pid)[1]


def state_and_start(pid: int) -> tuple[str, float | None]:
    """A process's state, as a letter, and when it began; None for a process that is not there."""
    try:
        # the name of the program, in brackets, may itself hold blanks and brackets
        fields = (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
        return fields[0], float(fields[19])
    except (OSError, IndexError, ValueError):
        return "X", None


def exists(pid: int) -> bool | None:
    """Whether some process has this pid, on systems without /proc."""
    try:
        import psutil  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        if os.name == "nt":  # asking with a signal, as below, would end it there
            return None
    else:
        return bool(psutil.pid_exists(pid))
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's
        return True
    return True
