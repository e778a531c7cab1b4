"""JupyterLab on this machine only, on a folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

SETTINGS = Path(__file__).parent / "jupyter"  # folders of Jupyter's own settings files


def lab_command(folder: Path, port: int, headless: bool) -> list[str]:
    """What to run, in any directory."""
    command = [sys.executable, "-m", "jupyterlab", "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}"]
    # nothing asks the network for news or updates
    command += ["--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    if getattr(os, "geteuid", lambda: 1)() == 0:
        command.append("--allow-root")  # as in a container; the server listens on loopback only
    return [*command, f"--ServerApp.root_dir={folder}", *(["--no-browser"] if headless else [])]


def lab_environment(*settings: str) -> dict[str, str]:
    """Environment variables for JupyterLab and nbgrader; settings: which folders of settings count, the first most."""
    here = [str(Path(sys.executable).parent)]  # nbgrader calls a program of this environment, alembic, by its name
    first = {"PATH": here, "JUPYTER_CONFIG_PATH": [str(SETTINGS / name) for name in settings]}
    return os.environ | {
        name: os.pathsep.join([*folders, *filter(None, [os.environ.get(name)])]) for name, folders in first.items()
    }
