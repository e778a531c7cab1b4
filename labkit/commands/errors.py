"""The one place where an error becomes a message and an exit code: 0 done, 1 failed, 2 wrong input, 130 interrupted."""

from __future__ import annotations

import argparse
import errno
import os
import re
import sys
from importlib.metadata import requires
from zipfile import BadZipFile

from labkit.base import interrupts
from labkit.base.errors import Failed, LabkitError
from labkit.base.interrupts import INTERRUPTED
from labkit.base.paths import CLONE
from labkit.commands.terminal import tell

# what a user can put right; torch says RuntimeError when memory or a device is not there
EXPECTED = (LabkitError, ValueError, OSError, RuntimeError, FloatingPointError, BadZipFile)
FAILED, WRONG = 1, 2
LEAST_ADDRESSES = 600 * 2**20  # bytes; with 300 MB OpenBLAS tries for ever, with 500 another library aborts
# how libraries say that memory was short: torch, the loader of shared libraries, C++, CUDA
NO_MEMORY = ("allocate memory", "failed to map segment", "bad_alloc", "out of memory")
# packages that are imported by another name, and the extras that bring packages, the smaller ones first
PACKAGES = {"PIL": "pillow", "sklearn": "scikit-learn", "umap": "umap-learn", "mlflow": "mlflow-skinny"}
EXTRAS = ("training", "icons", "codecs", "ocr", "pretrained", "ray", "mlflow", "dashboard", "notebooks", "course")


def guarded(args: argparse.Namespace) -> int:
    """The exit code of a command; an error that the user can put right is told in one line."""
    try:
        if getattr(args, "command", "") != "setup":  # which does with the standard library
            check_address_space()
        code: int = args.run(args)
        return code
    except KeyboardInterrupt:
        return interrupted(args)
    except BrokenPipeError:  # the reader, such as head, has seen enough; nothing is left to flush at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ImportError, MemoryError, *EXPECTED) as error:
        if interrupts.asked():  # a library has made another error of it
            return interrupted(args)
        if memory_was_short(error):
            return told(error)
        if isinstance(error, ModuleNotFoundError):
            return missing(error)
        if isinstance(error, EXPECTED):
            return told(error)
        raise


def check_address_space() -> None:
    """Refuse a limit (ulimit -v) below which numerical libraries hang or abort while they are loaded."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < LEAST_ADDRESSES:
        raise MemoryError(f"this shell allows {limit // 2**20} MB, ulimit -v; {LEAST_ADDRESSES // 2**20} are needed")


def interrupted(args: argparse.Namespace) -> int:
    """One line after Ctrl-C."""
    tell("interrupted" + ("; the same command goes on where it stopped" if "goes_on" in args else ""))
    return INTERRUPTED


def memory_was_short(error: BaseException) -> bool:
    """Whether an error, or one that it came from, says that there was no memory left."""
    known: BaseException | None = error
    while known is not None:
        if isinstance(known, MemoryError) or (isinstance(known, OSError) and known.errno == errno.ENOMEM):
            return True
        if isinstance(known, (RuntimeError, ImportError, OSError)) and any(words in str(known) for words in NO_MEMORY):
            return True
        known = known.__cause__ or known.__context__
    return False


def told(error: Exception) -> int:
    """Say in one line what was wrong; with LABKIT_DEBUG=1 show the whole story."""
    if os.environ.get("LABKIT_DEBUG") == "1":
        raise error
    text = str(error) or type(error).__name__
    if isinstance(error, OSError) and error.filename is not None and error.strerror is not None:
        text = f"{error.filename}: {error.strerror}"
    if memory_was_short(error):
        tell(f"out of memory; close other programs, or take less at a time ({text})")
        return FAILED
    tell(text)
    return FAILED if isinstance(error, Failed) else WRONG


def missing(error: ModuleNotFoundError) -> int:
    """Say how to get a package that is not there."""
    if not error.name or error.name.partition(".")[0] == "labkit":
        raise error
    tell(f"this Python has no {error.name}; {how_to_get(error.name)}")
    return FAILED


def how_to_get(module: str) -> str:
    """The command that brings a module: set-up in a clone, else pip with the extra that names its package."""
    if CLONE:
        python = r".venv\Scripts\python" if sys.platform == "win32" else ".venv/bin/python"
        return f"make the environment with `python -m labkit setup`, then call {python} -m labkit …"
    return f'pip install "labkit[{extra_of(module)}]"'


def extra_of(module: str) -> str:
    """The extra of the installed labkit that brings a module, the smallest if there are several."""
    top = module.partition(".")[0]
    package = PACKAGES.get(top, top.lower().replace("_", "-"))
    listed = [line.partition(";")[::2] for line in requires("labkit") or ()]
    for extra in EXTRAS:
        names = [re.split(r"[^\w.-]", name.strip(), maxsplit=1)[0] for name, marker in listed if f"'{extra}'" in marker]
        if package in names:
            return extra
    return "all"


def ended(code: int) -> int:
    """The exit code; one of several processes ends here and now.

    Everything is written by then. Tidying up at exit, gloo's threads have been seen to abort a process whose training
    was finished, and torchrun takes that for a failure of the whole run.
    """
    if int(os.environ.get("WORLD_SIZE", 1)) > 1:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code
