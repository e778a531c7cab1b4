"""python -m labkit dashboard: Streamlit on this machine only."""

from __future__ import annotations

import argparse
import os
import socket
import sys

from labkit.base.errors import LabkitError
from labkit.commands.processes import add_server_options, become, needs_checkout
from labkit.commands.terminal import say

HELP = "open the dashboard in a browser, on this machine only"


def register(parser: argparse.ArgumentParser) -> None:
    """Port and browser."""
    add_server_options(parser, 8501)
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
    say(f"the dashboard is at http://127.0.0.1:{args.port} (stop it with Ctrl-C)")
    command = [sys.executable, "-m", "streamlit", "run", "streamlit_app.py", "--server.address", "127.0.0.1"]
    return become([*command, "--server.port", str(args.port), "--server.headless", str(quiet).lower()])
