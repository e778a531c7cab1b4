"""What an attack is: a cell that answers `double` (twice x) in its own way, and what stands against it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Attack:
    """One hand-in that tries to cheat or to do harm; it deserves no points."""

    name: str
    cell: str
    by: str  # what blocks it, in words
    hint: str = ""  # what the student's hint must say
    seconds: float = 20.0  # that it is given; less for those that would take all
    breaks: bool = False  # the grader itself ends the room, and makes a new one


def body(text: str) -> str:
    """A `double` with this body."""
    return "def double(x):\n" + "".join(f"    {line}\n" for line in text.strip().split("\n"))


def tries(imports: str, call: str, right: str = "2 * x", kind: str = "Exception") -> str:
    """A `double` that is right only if this call works."""
    return body(f"import {imports}\ntry:\n    {call}\n    return {right}\nexcept {kind}:\n    return x")


def calls(expression: str) -> str:
    """A `double` that is right only if a system call, or a function of libc, returns no error."""
    return body(f"import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nreturn 2 * x if {expression} >= 0 else x")


def everywhere(data: str) -> str:
    """Lines that write bytes to every descriptor there is."""
    return (
        f"import os\nfor fd in range(3, 128):\n    try:\n        os.write(fd, {data})\n"
        "    except OSError:\n        pass\n"
    )


def forged(value: str) -> str:
    """A `double` that sends this JSON as what it returned, for any number of cases, and ends."""
    line = f"""b'{{"cases": [' + b", ".join([b'{{"value": {value}}}'] * n) + b"]}}\\n\""""
    return body(f"for n in (1, 4):\n    pass\nn = 1 if float(x.sum()) == 3 else 4\n{everywhere(line)}os._exit(0)")
