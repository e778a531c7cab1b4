"""Runs with one file damaged, read in every way: a run error or an answer; no other error, no hang, little memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.reliability.table import Row

MEMORY = 600  # MB
LOG = os.environ.get("LABKIT_DRILL_LOG")  # a file for what was lost, since the table has room for one


def run(full: bool) -> list[Row]:
    count, seed = (10_000, 20) if full else (120, 7)
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.reliability.fuzz", str(count), str(seed)]
    shown = subprocess.run(
        command, cwd=Path(__file__).parents[2], env=environment, capture_output=True, text=True, timeout=4 * 3600
    )
    if shown.returncode:
        return [Row("damaged files", count, 0, count, shown.stderr[-300:])]
    found = json.loads(shown.stdout)
    if LOG:
        Path(LOG).write_text("\n".join(found["lost"]))
    files = {line.partition(":")[0] for line in found["lost"]}
    lost = len(files) + (found["memory_mb"] > MEMORY)
    detail = f"{found['reads']:,} reads, the longest {found['longest'][0]:.1f} s, {found['memory_mb']:.0f} MB"
    detail += f"; {found['lost'][0]}" if found["lost"] else ""
    return [Row("damaged files", count, count - lost, lost, detail)]
