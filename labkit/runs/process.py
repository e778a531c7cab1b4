"""Is the process that writes a run still there? A pid alone does not tell: the system uses pids again."""

from __future__ import annotations

import os
import platform
import signal

CLOCK = 2.0  # seconds by which the clock may have been set since


def is_alive(pid: int, started: float | None, node: str = "") -> bool | None:
    """Whether process `pid`, begun at `started` (seconds since 1970, None: not known), lives; None: it cannot be told.

    node: the machine of the process; of another one nothing can be told.
    """
    import psutil

    if node not in ("", this_node()):
        return None
    if pid < 1 or pid >= 2**31:
        return False
    try:
        process = psutil.Process(pid)
        if process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):  # ended, and only its entry is left
            return False
        return started is None or abs(process.create_time() - started) <= CLOCK
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return None


def process_start(pid: int) -> float | None:
    """When a process began, in seconds since 1970; None for a process that is not there."""
    import psutil

    try:
        return float(psutil.Process(pid).create_time())
    except psutil.Error:
        return None


def this_node() -> str:
    """The machine, so that a pid on a shared disk is not looked for on another one."""
    return platform.node()


def stop(pid: int, started: float | None, at_once: bool = False) -> bool:
    """Send a signal to the process that began at `started`; False, and no signal, if it is another one or gone."""
    # a file that leaves the start out may mean any process
    if started is None or pid in (os.getpid(), os.getppid()) or is_alive(pid, started) is not True:
        return False
    number = signal.SIGTERM if not at_once or os.name == "nt" else signal.SIGKILL
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
