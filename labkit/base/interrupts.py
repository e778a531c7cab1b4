"""Ctrl-C at any moment, from the first import to the last breath: one line and code 130.

A Ctrl-C while libraries are imported is the hard part: they make other errors of it, such as "numpy cannot be
imported", or swallow it. Nothing is at stake then, so the process ends here and now. Every Python since 2.7 reads this.
"""

import os
import signal
import sys

TYPE_CHECKING = False  # typing is not there on every Python
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

INTERRUPTED = 130
state = {"asked": False}


def asked():  # type: () -> bool
    """Whether Ctrl-C was pressed: an error after it is most likely what a library made of it."""
    return state["asked"]


def end(code=INTERRUPTED):  # type: (int) -> None
    """End with the one line, without what is done at exit."""
    try:
        sys.stdout.flush()
    finally:
        os.write(2, b"labkit: interrupted\n")
        os._exit(code)


def on_interrupt(number, frame):  # type: (int, FrameType | None) -> None
    """During an import, or when pressed again, end at once; else as ever."""
    again, state["asked"] = state["asked"], True
    if again or importing(frame):
        end()
    raise KeyboardInterrupt


def importing(frame):  # type: (FrameType | None) -> bool
    """Whether a module is being imported in this frame or above it."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def guarded(main):  # type: (Callable[[], int]) -> int
    """The exit code of a program; a SIGINT handler set by others (as under nohup) is kept."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, on_interrupt)
    try:
        code = main()
    except BaseException as error:
        if asked() and not isinstance(error, SystemExit):
            end()
        raise
    if signal.getsignal(signal.SIGINT) is on_interrupt:
        # What was to be done is done; only this handler is kept by Python's own end.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return code
