"""Every page on folders of damaged runs: none breaks, and each that reads runs names the damaged ones."""

import os
import random
import shutil
import tempfile
from pathlib import Path

from tests.reliability.mutations import damage, sound_run
from tests.reliability.pages import forget, menu, open_page
from tests.reliability.table import Row

RUNS = 40  # damaged ones in a folder


def run(full: bool) -> list[Row]:
    draw, tried, lost = random.Random(11), 0, []
    before = os.environ.get("LABKIT_RUNS")
    try:
        for number in range(25 if full else 1):
            with tempfile.TemporaryDirectory() as folder:
                hows = store(Path(folder), draw)
                os.environ["LABKIT_RUNS"] = folder
                forget()
                for page in menu():
                    tried += 1
                    opened = open_page(page)
                    if opened.exception:
                        lost.append(f"{page} in folder {number}: {opened.exception[0].message[:200]}")
                runs = sorted(hows)
                for name in runs if full else runs[:: len(runs) // 5]:
                    for page, key in (("run", "run"), ("embeddings", "run")):
                        tried += 1
                        if (opened := open_page(page, **{key: name})).exception:
                            lost.append(f"{page} of {hows[name]}: {opened.exception[0].message[:200]}")
    finally:
        os.environ.pop("LABKIT_RUNS") if before is None else os.environ.update(LABKIT_RUNS=before)
        forget()
    return [Row("damaged runs on pages", tried, tried - len(lost), len(lost), "; ".join(lost[:3]))]


def store(root: Path, draw: random.Random) -> dict[str, str]:
    """A sound run and many damaged ones; what was done to each."""
    sound = sound_run(root)
    hows = {}
    for number in range(1, RUNS + 1):
        copy = Path(shutil.copytree(sound, root / f"a-s{number}"))
        text = (copy / "run.json").read_text()
        (copy / "run.json").write_text(
            text.replace('"a-s0"', f'"a-s{number}"').replace('"seed": 0', f'"seed": {number}')
        )
        hows[copy.name] = damage(copy, draw)
    return hows
