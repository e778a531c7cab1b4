"""Runs in the sealed room, as its first process: imports torch once, then starts a worker for every piece of work.

The first process is ours: it neither runs nor reads anything of a student, so a worker finds nothing of another one in
its memory, and signals that come from within the room do not reach it. The worker reads its work from standard input,
gives up what it does not need, defines the student's functions, calls them on the cases, and sends what they return on
standard output, one line. Nothing of it is trusted: only values leave, and the parent compares them. Then it is killed,
and the first process says on standard error how it ended. When the grader is gone, the first process ends, and the
kernel ends all that is in the room.
"""

from __future__ import annotations

import ast
import base64
import builtins
import ctypes
import gc
import json
import os
import select
import signal
import struct
import sys
import time
import traceback
from typing import Any, NoReturn

sys.path[:0] = json.loads(os.environ.pop("LABKIT_PATH"))  # the parent's choice of packages, and this folder
RULES = json.loads(os.environ.pop("LABKIT_RULES"))  # limits, and the filter of system calls

import math  # noqa: E402

import numpy as np  # noqa: E402
import torch  # noqa: E402
import wire  # type: ignore[import-not-found]  # noqa: E402
from torch import Tensor  # noqa: E402

FORKS = sys.platform == "linux"  # elsewhere libraries do not survive a fork: one piece of work, then a new process
SET_DUMPABLE, SET_SECCOMP, SET_NO_NEW_PRIVS = 4, 22, 38


def main() -> None:
    """Do one piece of work after another, until the grader is gone."""
    torch.set_num_threads(1)
    torch.compile = uncompiled  # type: ignore[assignment]
    status = os.dup(2)
    nowhere = os.open("/dev/null", os.O_RDWR)
    os.dup2(nowhere, 2)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # what a first process does not handle, the room cannot send it
    if FORKS:
        ctypes.CDLL(None).prctl(SET_DUMPABLE, 0, 0, 0, 0)
    gc.collect()
    gc.freeze()  # what is there stays: workers share its memory
    os.write(status, wire.line({"ready": True}))
    while len(head := read(16)) == 16:
        length, milliseconds = struct.unpack("<QQ", head)
        if not FORKS:
            work(length, nowhere, set())
        ended = watched(length, milliseconds / 1000, status, nowhere)
        if select.select([0], [], [], 0)[0]:
            break  # the worker left some of its work unread, or the grader is gone
        os.write(status, wire.line(ended))
    os._exit(0)


def read(length: int) -> bytes:
    """So many bytes of standard input, fewer only at its end."""
    found = bytearray()
    while len(found) < length and (block := os.read(0, length - len(found))):
        found += block
    return bytes(found)


def watched(length: int, seconds: float, status: int, nowhere: int) -> dict[str, Any]:
    """A worker from its start to its end, at most for the time given: how it ended and what it used."""
    deadline = time.monotonic() + seconds
    life, held = os.pipe()  # the end of the worker is the end of this pipe
    worker = os.fork()
    if worker == 0:
        try:
            os.close(status)
            os.close(life)
            work(length, nowhere, {held})
        finally:
            os._exit(1)
    os.close(held)
    watch = select.poll()
    watch.register(life, select.POLLIN)
    watch.register(0, 0)  # heard of only when the grader is gone
    seen = dict(watch.poll(max(0, (deadline - time.monotonic()) * 1000)))
    if 0 in seen:
        os._exit(0)
    os.kill(worker, signal.SIGKILL)
    used = os.wait4(worker, 0)[2]
    os.close(life)
    if os.getpid() == 1:
        sweep()
    return {
        "ended": "closed" if seen else "time",
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "memory_mb": used.ru_maxrss / 1024,
    }


def sweep() -> None:
    """End whatever else is in the room: nothing, unless a worker found a way to leave something behind."""
    try:
        os.kill(-1, signal.SIGKILL)
        while True:
            os.waitpid(-1, 0)
    except OSError:
        return


def work(length: int, nowhere: int, kept: set[int]) -> NoReturn:
    """Read the work, give up everything else, and answer."""
    job = json.loads(read(length))
    results = os.dup(1)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)  # what a student prints goes nowhere
    for descriptor in set(range(3, 128)) - kept - {results}:
        try:
            os.close(descriptor)
        except OSError:
            continue
    confine()
    answered = wire.line(answer(job["question"], job["cells"]))
    while answered:
        answered = answered[os.write(results, answered) :]
    os._exit(0)  # threads that a student left behind do not hold it up


def confine() -> None:
    """Accept the limits and the filter of system calls."""
    import resource

    for name, value in RULES["limits"].items():
        resource.setrlimit(getattr(resource, name), (value, value))
    if not RULES["seccomp"]:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    steps = base64.b64decode(RULES["seccomp"])

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))

    filter_ = Program(len(steps) // 8, steps)
    if libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(SET_SECCOMP, 2, ctypes.byref(filter_), 0, 0):
        os._exit(1)  # without the filter nothing of a student runs


def uncompiled(model: Any = None, **_: Any) -> Any:
    """In place of torch.compile: there is no compiler in the room, and eager code computes the same."""
    return (lambda function: function) if model is None else model


def answer(question: dict[str, Any], cells: dict[str, str]) -> dict[str, Any]:
    """What the question's function returns for every case, or why there is none."""
    name = question["name"]
    space: dict[str, Any] = {
        "__name__": "__main__",
        "__builtins__": builtins,
        "math": math,
        "np": np,
        "numpy": np,
        "torch": torch,
        "Tensor": Tensor,
    }
    for cell in needed(name, cells):
        try:
            exec(compile(cells[cell], f"<{cell}>", "exec"), space)  # noqa: S102 (what the sealed room is for)
        except BaseException as error:
            if cell == name:
                return {"error": explain(error)}
    function = space.get(name)
    if not callable(function):
        return {"error": f"there is no function {name}: was its name changed?"}
    found: list[Any] = []
    for packed in question["cases"]:
        arguments = {key: wire.unpack(value) for key, value in packed.items()}
        try:
            value, after = outcome(function, arguments, question["gradient"])
            found.append({"value": wire.pack(value), "arguments": after})
        except NotImplementedError:
            return {"error": "not written yet", "empty": True}
        except BaseException as error:
            found.append({"error": explain(error)})
    return {"cases": found}


def needed(name: str, cells: dict[str, str]) -> list[str]:
    """The answer cells that a question rests on, in the notebook's order: its own, and those whose names it uses."""
    used: dict[str, set[str]] = {}
    defined: dict[str, str] = {}
    for cell, source in cells.items():
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            used[cell] = set()
            continue
        used[cell] = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        for node in tree.body:
            for found in top_level_names(node):
                defined.setdefault(found, cell)
    chosen, waiting = {name} & cells.keys(), [name] if name in cells else []
    while waiting:
        for other in used[waiting.pop()] & defined.keys():
            if defined[other] not in chosen:
                chosen.add(defined[other])
                waiting.append(defined[other])
    return [cell for cell in cells if cell in chosen]


def top_level_names(node: ast.stmt) -> set[str]:
    """What a statement defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return {found.id for found in ast.walk(node) if isinstance(found, ast.Name) and isinstance(found.ctx, ast.Store)}


def outcome(function: Any, arguments: dict[str, Any], gradient: list[str]) -> tuple[Any, dict[str, Any]]:
    """What a call returns, with the gradient of a weighted sum of it if that counts; and the arguments after it."""
    leaves = {name: arguments[name].detach().clone().requires_grad_() for name in gradient}
    given = arguments | leaves
    value = function(**given)
    after = {key: wire.pack(item) for key, item in given.items()}
    if not gradient or not isinstance(value, Tensor):
        return value, after
    found: Any = [None] * len(leaves)
    if value.requires_grad:
        found = torch.autograd.grad(weighted_sum(value), list(leaves.values()), allow_unused=True)
    slopes = [torch.zeros_like(leaf) if slope is None else slope for leaf, slope in zip(leaves.values(), found)]
    flat = slopes[0] if len(slopes) == 1 else torch.cat([slope.reshape(-1) for slope in slopes])
    return {"value": value.detach(), "gradient": flat}, after


def weighted_sum(value: Tensor) -> Tensor:
    """As in labkit/lessons/exercise.py, which cannot be imported here."""
    weights = torch.rand(value.numel(), generator=torch.Generator().manual_seed(value.numel()), dtype=torch.float64)
    return (value.reshape(-1) * weights).sum() if value.numel() > 1 else value.sum()


def explain(error: BaseException) -> str:
    """Kind, message and line of an error."""
    places = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith("<")]
    where = f" (line {places[-1]} of the cell)" if places else ""
    return f"{type(error).__name__}: {error}"[:300] + where


if __name__ == "__main__":
    main()
