"""The command line: python -m labkit COMMAND. Heavy imports wait until a command needs them."""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from labkit.base.paths import ROOT
from labkit.setup import setup

# larger commands, each a module that registers itself
COMMANDS = ("train", "evaluate", "runs", "data", "grade", "course")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m labkit", description="labkit: train on what you measure")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("setup", help="create .venv and install the lock (done once; later calls return at once)")
    dashboard = commands.add_parser("dashboard", help="open the dashboard in a browser, on this machine only")
    dashboard.add_argument("--port", type=port_number, default=8501, help="port on 127.0.0.1 (default 8501)")
    dashboard.add_argument("--headless", action="store_true", help="do not open a browser")
    lab = commands.add_parser("lab", help="open JupyterLab on the notebooks, with its options if any follow")
    lab.add_argument("--port", type=port_number, default=8888, help="port on 127.0.0.1 (default 8888)")
    lab.add_argument("--headless", action="store_true", help="do not open a browser")
    commands.add_parser("test", help="check format, lint and types, then run pytest, with its options if any follow")
    bench = commands.add_parser("bench", help="measure speed and memory side by side with peers")
    bench.add_argument("names", nargs="*", help="only these benchmarks (default: all)")
    bench.add_argument("--quick", action="store_true", help="small sizes: checks that the benchmarks run")
    notebooks = commands.add_parser("notebooks", help="execute the lessons and write them with their outputs")
    notebooks.add_argument("names", nargs="*", help="only these sources (default: all)")
    book = commands.add_parser("book", help="write the lessons as HTML pages that need neither network nor Python")
    book.add_argument("names", nargs="*", help="only these lessons (default: all)")
    book.add_argument("-o", "--output", default="book", help="folder (default book/)")
    losses = commands.add_parser("losses", help="list the losses, or show the card of one")
    losses.add_argument("name", nargs="?", help="a loss of the catalogue")
    given = sys.argv[1:] if arguments is None else list(arguments)
    for module in COMMANDS if given[:1] != ["setup"] else ():  # set-up runs on whatever Python there is
        import_module(f"labkit.commands.{module}").register(commands)
    chosen, rest = parser.parse_known_args(arguments)
    if "run" in chosen and not rest:
        code: int = chosen.run(chosen)
        return code
    options = {name: value for name, value in vars(chosen).items() if name != "command"}
    passed_on = {"test": "pytest_options", "lab": "jupyter_options"}
    if chosen.command in passed_on:
        options[passed_on[chosen.command]] = rest
    elif rest:
        parser.error(f"unknown arguments: {' '.join(rest)}")
    return RUN[chosen.command](**options)


def port_number(text: str) -> int:
    """A port that ordinary users may take."""
    if not text.isdecimal() or not 1024 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1024 to 65535; got {text}")
    return int(text)


def needs_checkout(folder: str) -> None:
    """Some commands work on the project's folders, which an installed package does not have."""
    if not (ROOT / folder).is_dir():
        raise SystemExit(f"labkit: no {folder}/ folder beside the package; this command needs a clone of the project")


def run_dashboard(port: int, headless: bool) -> int:
    """Streamlit on loopback; settings are in .streamlit/config.toml."""
    needs_checkout("dashboard")
    with socket.socket() as listener:
        if sys.platform != "win32":  # there it would allow a port that somebody else listens on
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError:
            print(f"labkit: port {port} is taken; choose another, e.g. --port {port % 65535 + 1}", file=sys.stderr)
            return 2
    quiet = headless or (sys.platform.startswith("linux") and not os.environ.get("DISPLAY"))
    print(f"labkit: the dashboard is at http://127.0.0.1:{port} (stop it with Ctrl-C)", flush=True)
    command = [sys.executable, "-m", "streamlit", "run", "dashboard/app.py", "--server.address", "127.0.0.1"]
    return become([*command, "--server.port", str(port), "--server.headless", str(quiet).lower()])


def run_lab(port: int, headless: bool, jupyter_options: list[str]) -> int:
    """JupyterLab on loopback, opened in the notebooks folder."""
    needs_checkout("notebooks")
    from labkit.classroom.lab import lab_command, lab_environment

    command = [*lab_command(ROOT / "notebooks", port, headless), *jupyter_options]
    return become(command, lab_environment("lessons", "every"))


def run_test(pytest_options: list[str]) -> int:
    """Everything that must hold before a change lands."""
    needs_checkout("tests")
    python = sys.executable
    steps = (
        [python, "-m", "ruff", "format", "--check", "."],
        [python, "-m", "ruff", "check", "."],
        [python, "-m", "mypy"],
        [python, "-m", "pytest", *(pytest_options or ["-n", "auto", "-q"])],
    )
    for step in steps:
        print("labkit:", " ".join(step[2:]), flush=True)
        if failed := run(step):
            return failed
    return 0


def run_bench(names: list[str], quick: bool) -> int:
    """In a process of its own: it measures memory."""
    needs_checkout("benchmarks")
    return run([sys.executable, "-m", "benchmarks", *names, *(["--quick"] if quick else [])])


def run_notebooks(names: list[str]) -> int:
    """Build the lessons from their paired sources."""
    needs_checkout("notebooks")
    from labkit.book.notebooks import build_all
    from labkit.lessons.overview import write_table

    failures = build_all(ROOT / "notebooks", names)
    write_table(ROOT / "notebooks")
    return failures


def run_book(names: list[str], output: str) -> int:
    """Build the book from the lessons."""
    needs_checkout("notebooks")
    from labkit.book import build_book

    return build_book(ROOT / "notebooks", ROOT / output, names)


def show_losses(name: str | None) -> int:
    """The catalogue, as text."""
    from labkit.data.papers import errata
    from labkit.losses import CATALOG

    if name is None:
        for card in CATALOG.values():
            authors = card.paper.partition(",")[0]
            print(f"{card.name:20}  {card.title:24}  {card.family:8}  {authors:24}  {card.equation}")
        return 0
    if name not in CATALOG:
        print(f"labkit: no loss {name!r}; `python -m labkit losses` lists them", file=sys.stderr)
        return 2
    card = CATALOG[name]
    print(f"{card.title}\n\n  {card.latex}\n\n{card.paper}, {card.equation}")
    known = errata()
    for erratum in card.errata:
        print(f"erratum {erratum}: {known[erratum]}")
    for option, (value, source) in card.defaults.items():
        print(f"  {option} = {value}  ({source})")
    if card.released:
        print(f"released code: {card.released}")
    return 0


def run(command: list[str], environment: dict[str, str] | None = None) -> int:
    """Run in the project's folder; Ctrl-C ends the child, not with a traceback."""
    try:
        return subprocess.run(command, cwd=ROOT, env=environment).returncode
    except KeyboardInterrupt:
        return 130


def become(command: list[str], environment: dict[str, str] | None = None) -> int:
    """Run a server in place of this process, so that whoever ends this process ends the server."""
    if sys.platform == "win32":  # there the new process would be another one
        return run(command, environment)
    os.chdir(ROOT)
    os.execve(command[0], command, os.environ if environment is None else environment)


RUN: dict[str, Callable[..., int]] = {
    "setup": setup,
    "dashboard": run_dashboard,
    "lab": run_lab,
    "test": run_test,
    "bench": run_bench,
    "notebooks": run_notebooks,
    "book": run_book,
    "losses": show_losses,
}

if __name__ == "__main__":
    try:
        sys.exit(main())
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "numpy", "tqdm", "pandas"):
            raise
        environment = r".venv\Scripts\python" if sys.platform == "win32" else ".venv/bin/python"
        sys.exit(
            f"labkit: this Python has no {error.name}; make the environment with `python -m labkit setup`, "
            f"then call {environment} -m labkit …"
        )
