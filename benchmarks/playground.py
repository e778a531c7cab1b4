"""Steps and frames a second of the playground in Chromium, at full speed: `python -m benchmarks.playground`.

The page is opened as a file, as a reader opens it. Frames are what the browser offers to draw in while networks train.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.browser import browser
from labkit.explorers.playground import playground_page

SECONDS = 4
LOSSES = ("Ib", "Dq", "smooth-ap", "drawn", "contrastive", "proxy-anchor")
MEASURE = """async (seconds) => {
  const play = window.labkitPlayground, wait = (ms) => new Promise((done) => setTimeout(done, ms));
  await play.play();
  await wait(1000);
  let frames = 0, drawing = true;
  const count = () => drawing && (frames++, requestAnimationFrame(count));
  const began = performance.now(), from = play.step;
  requestAnimationFrame(count);
  await wait(1000 * seconds);
  drawing = false;
  const took = (performance.now() - began) / 1000;
  return { steps: (play.step - from) / took, frames: frames / took, step: play.step };
}"""


def measure(page: Any, address: str, state: str) -> dict[str, float]:
    """One setting."""
    page.goto("about:blank")
    page.goto(f"{address}#{state}")
    page.wait_for_function("Number.isFinite(window.labkitPlayground?.testRecall)")
    found: dict[str, float] = page.evaluate(MEASURE, SECONDS)
    return found


def main() -> None:
    """Print a table."""
    with tempfile.TemporaryDirectory() as folder, browser() as running:
        file = Path(folder) / "playground.html"
        file.write_text(playground_page(), encoding="utf-8")
        page = running.new_page(viewport={"width": 1400, "height": 1000})
        print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n")
        print("| loss | networks | steps a second | frames a second |\n|---|---|---|---|")
        for loss, networks in [*((loss, 1) for loss in LOSSES), ("Ib", 4)]:
            found = measure(page, file.as_uri(), f"loss={loss}&steps=10000&networks={networks}")
            print(f"| {loss} | {networks} | {found['steps']:.0f} | {found['frames']:.0f} |", flush=True)


if __name__ == "__main__":
    main()
