"""python -m labkit dashboard: Streamlit on this machine only."""

from __future__ import annotations

import argparse
import os
import secrets
import socket
import sys
import tomllib
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import SplitResult, urlsplit

from labkit.base.errors import LabkitError
from labkit.base.paths import HOME
from labkit.commands.processes import add_server_options, become, needs_package
from labkit.commands.terminal import say

HELP = "open the dashboard in a browser, on this machine only"


def register(parser: argparse.ArgumentParser) -> None:
    """Port, browser and token."""
    add_server_options(parser, 8501)
    parser.add_argument("--no-token", action="store_true", help="let every user of this machine in")
    parser.add_argument("--read-only", action="store_true", help="only to look: no training, no deleting, no paths")
    parser.add_argument(
        "--behind",
        type=public_address,
        metavar="URL",
        help="the address of a reverse proxy in front, such as https://lab.example.org/labkit; needs --read-only",
    )
    parser.set_defaults(run=run_dashboard)


def run_dashboard(args: argparse.Namespace) -> int:
    """Streamlit on loopback; its settings are in .streamlit/config.toml."""
    needs_package("streamlit")
    if args.behind and not args.read_only:
        raise LabkitError("--behind lets others in, and whoever can train can start any program: add --read-only")
    with socket.socket() as listener:
        if sys.platform != "win32":  # there it would allow a port that somebody else listens on
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", args.port))
        except OSError:
            other = args.port % 65535 + 1
            raise LabkitError(f"port {args.port} is taken; choose another, e.g. --port {other}") from None
    quiet = args.headless or (sys.platform.startswith("linux") and not os.environ.get("DISPLAY"))
    token = "" if args.no_token else secrets.token_urlsafe(24)
    key = f"/?token={token}" if token else ""
    where = args.behind.geturl().rstrip("/") if args.behind else f"http://127.0.0.1:{args.port}"
    say(f"the dashboard is at {where}{key} (stop it with Ctrl-C)")
    # by the environment, which other users cannot read; streamlit_server.py opens the browser, for it knows the token
    environment = os.environ | {
        "LABKIT_DASHBOARD_TOKEN": token,
        "LABKIT_DASHBOARD_OPEN": "" if quiet or args.behind else str(args.port),
        "LABKIT_READ_ONLY": "1" if args.read_only else "0",
    }
    command = [sys.executable, "-m", "streamlit", "run", str(HOME / "streamlit_server.py"), *configured()]
    command += ["--server.port", str(args.port), "--server.headless", "true"]
    return become([*command, *(proxied(args.behind) if args.behind else ())], environment)


def configured() -> list[str]:
    """The settings that come with the dashboard, as options: Streamlit reads a file only where the user stands."""
    return flags(settings(tomllib.loads((HOME / ".streamlit" / "config.toml").read_text(encoding="utf-8"))))


def settings(table: dict[str, Any], before: str = "") -> Iterator[tuple[str, object]]:
    """Names with dots and values of a table of tables; a list gives its name once for each of its values."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from settings(value, f"{before}{name}.")
        else:
            yield from ((before + name, one) for one in (value if isinstance(value, list) else [value]))


def flags(options: Iterable[tuple[str, object]]) -> list[str]:
    """Options of Streamlit's command line."""
    words = ((f"--{name}", str(value).lower() if isinstance(value, bool) else str(value)) for name, value in options)
    return [word for pair in words for word in pair]


def public_address(text: str) -> SplitResult:
    """An address with a host and perhaps a path."""
    found = urlsplit(text)
    if found.scheme not in ("http", "https") or not found.hostname or found.query or found.fragment or found.username:
        raise argparse.ArgumentTypeError(f"must be an address such as https://lab.example.org/labkit; got {text}")
    return found


def proxied(address: SplitResult) -> list[str]:
    """Streamlit's options behind a proxy: the path it lies under, and the one more name it answers to."""
    return flags(
        [
            ("server.baseUrlPath", address.path.strip("/")),
            ("server.allowedHosts", address.hostname),
            ("browser.serverAddress", address.hostname),
            ("browser.serverPort", address.port or (443 if address.scheme == "https" else 80)),
        ]
    )
