"""python -m labkit dashboard: Streamlit on this machine only."""

from __future__ import annotations

import argparse
import os
import secrets
import socket
import sys

from labkit.base.errors import LabkitError
from labkit.commands.processes import add_server_options, become, needs_checkout
from labkit.commands.terminal import say

HELP = "open the dashboard in a browser, on this machine only"


def register(parser: argparse.ArgumentParser) -> None:
    """Port, browser and token."""
    add_server_options(parser, 8501)
    parser.add_argument("--no-token", action="store_true", help="let every user of this machine in")
    parser.set_defaults(run=run_dashboard)


def run_dashboard(args: argparse.Namespace) -> int:
    """Streamlit on loopback; its settings are in .streamlit/config.toml."""
    needs_checkout("dashboard")
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
    say(f"the dashboard is at http://127.0.0.1:{args.port}{key} (stop it with Ctrl-C)")
    # by the environment, which other users cannot read; streamlit_server.py opens the browser, for it knows the token
    environment = os.environ | {
        "LABKIT_DASHBOARD_TOKEN": token,
        "LABKIT_DASHBOARD_OPEN": "" if quiet else str(args.port),
    }
    command = [sys.executable, "-m", "streamlit", "run", "streamlit_server.py", "--server.address", "127.0.0.1"]
    return become([*command, "--server.port", str(args.port), "--server.headless", "true"], environment)
