"""`python -m labkit COMMAND`; the commands are in labkit/commands.

Every Python since 2.7 must be able to read this file: an old one is told in one sentence which one is needed.
"""

import os
import sys

from labkit.base import interrupts

TYPE_CHECKING = False  # typing is not there on every Python
if TYPE_CHECKING:
    from collections.abc import Sequence

SUPPORTED = ((3, 11), (3, 12), (3, 13))


def main(arguments=None):  # type: (Sequence[str] | None) -> int
    """Run one command; returns the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if sys.version_info < SUPPORTED[0]:
        return on_an_old_python(given)
    from labkit.commands import main as run

    return run(given)


def start():  # type: () -> None
    """The whole life of a process: Ctrl-C ends it with one line at any moment."""
    sys.exit(interrupts.guarded(main))


def on_an_old_python(given):  # type: (Sequence[str]) -> int
    """Set-up goes on with a newer Python if there is one; everything else is told what to do."""
    import subprocess

    found = newer_python() if given[:1] == ["setup"] else None
    if found:
        return subprocess.call([found, "-m", "labkit"] + list(given))  # noqa: RUF005 (not in Python 2.7)
    sys.stderr.write(
        "labkit: this Python is " + sys.version.split()[0] + ", but labkit needs 3.11, 3.12 or 3.13: "
        "install one and set up with `/path/to/python3.12 -m labkit setup` (Windows: py -3.12 -m labkit setup), then "
        "use the Python in .venv.\n"
    )
    return 1


def newer_python():  # type: () -> str | None
    """The newest supported Python on the PATH that really runs; a name alone may be an empty shim."""
    import subprocess

    for major, minor in reversed(SUPPORTED):
        for folder in os.environ.get("PATH", "").split(os.pathsep):
            path = os.path.join(folder, "python" + str(major) + "." + str(minor))
            if not os.access(path, os.X_OK):
                continue
            with open(os.devnull, "w") as nowhere:
                version = "import sys; sys.exit(sys.version_info[:2] != (" + str(major) + ", " + str(minor) + "))"
                if subprocess.call([path, "-c", version], stdout=nowhere, stderr=nowhere) == 0:
                    return path
    return None


if __name__ == "__main__":
    start()
