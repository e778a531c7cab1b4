"""What commands that start another program share."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from importlib.util import find_spec

from labkit.base.errors import LabkitError
from labkit.base.paths import CLONE, ROOT, WORK


def needs_checkout(folder: str) -> None:
    """Some commands work on the project's folders, which an installed package does not have."""
    if not CLONE or not (ROOT / folder).is_dir():
        raise LabkitError(f"no {folder}/ folder beside the package; this command needs a clone of the project")


def needs_package(name: str) -> None:
    """A program that is started needs its package here; said before it starts, as of a package that is imported."""
    if find_spec(name) is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def add_server_options(parser: argparse.ArgumentParser, port: int) -> None:
    """Where a server listens, and whether a browser opens."""
    parser.add_argument("--port", type=port_number, default=port, help=f"port on 127.0.0.1 (default {port})")
    parser.add_argument("--headless", action="store_true", help="do not open a browser")


def port_number(text: str) -> int:
    """A port that ordinary users may take."""
    if not text.isdecimal() or not 1024 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1024 to 65535; got {text}")
    return int(text)


def run(command: list[str], environment: dict[str, str] | None = None) -> int:
    """Run in the project's folder."""
    return subprocess.run(command, cwd=ROOT, env=environment).returncode


def become(command: list[str], environment: dict[str, str] | None = None, folder: os.PathLike[str] = WORK) -> int:
    """Run a server in a folder in place of this process, so that whoever ends this process ends the server."""
    if sys.platform == "win32":  # there the new process would be another one
        return subprocess.run(command, cwd=folder, env=environment).returncode
    os.chdir(folder)
    os.execve(command[0], command, os.environ if environment is None else environment)
