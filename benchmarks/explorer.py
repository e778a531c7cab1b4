"""The embedding explorer on many points: bytes, time to the first drawing, frames while it moves, and a lasso."""

import statistics
import time
from pathlib import Path
from typing import Any

from benchmarks.browser import Visitor, cpu_seconds, served

APP = Path(__file__).with_name("explorer_app.py")
SIZES = (100, 10_000, 60_000, 200_000)  # the first shows what the page costs without points
FRAMES = 40
REPEATS = 5
# our callbacks stand before and after the explorer's own in one frame: between them it draws
TIME_FRAMES = """async (stage, [kind, count]) => {
  const box = stage.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2, took = [];
  for (let k = 0; k < count; k++) {
    const place = { clientX: x + 3 * Math.sin(k), clientY: y + 3 * k, bubbles: true, pointerType: "mouse" };
    const event = kind === "pan" ? new PointerEvent("pointermove", place)
      : new WheelEvent("wheel", { ...place, deltaY: k % 2 ? 80 : -80, cancelable: true });
    let began;
    requestAnimationFrame(() => { began = performance.now(); });
    stage.dispatchEvent(event);
    await new Promise((done) => requestAnimationFrame(() => { took.push(performance.now() - began); done(); }));
  }
  return took;
}"""
# the explorer takes its waiting sign away when it has points, and draws them in the next frame
NOTE_DRAWING = """(() => {
  const find = (root) => root.querySelector(".labkit-embedding .wait[hidden]")
    ?? [...root.querySelectorAll("*")].map((e) => e.shadowRoot && find(e.shadowRoot)).find(Boolean);
  const look = () => find(document)
    ? requestAnimationFrame(() => requestAnimationFrame(() => { globalThis.drawnAt = performance.now(); }))
    : requestAnimationFrame(look);
  look();
})();"""


def measure_explorer(running: Any, quick: bool) -> list[dict]:
    """One row a number of points; milliseconds and seconds are of the clock where they are not said to be CPU time."""
    rows = []
    with served(APP) as (address, process):
        for size in (500,) if quick else SIZES:
            open_once(running, f"{address}?points={size}")  # so that the server has made the points
            repeats = 1 if quick else REPEATS
            drawn = [open_once(running, f"{address}?points={size}") for _ in range(repeats)]
            visitor = Visitor(running, height=900)
            visitor.open(f"{address}?points={size}", ".labkit-embedding .wait[hidden] >> xpath=..")
            kilobytes = visitor.bytes / 1000
            rows.append(
                {"points": size, "payload_kb": kilobytes, "drawn_ms": statistics.median(drawn)}
                | frames(visitor.page)
                | lassos(visitor, process, repeats)
            )
            visitor.close()
    return rows


def open_once(running: Any, address: str) -> float:
    """Milliseconds from opening the page to the first drawing."""
    visitor = Visitor(running, height=900)
    visitor.page.add_init_script(NOTE_DRAWING)
    visitor.page.goto(address)
    visitor.page.wait_for_function("globalThis.drawnAt", timeout=90_000)
    at = visitor.page.evaluate("globalThis.drawnAt")
    visitor.close()
    return float(at)


def frames(page: Any) -> dict[str, float]:
    """Median milliseconds of drawing in a frame while the view is moved, and while it is zoomed."""
    stage = page.locator(".stage")
    box = stage.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    found = {}
    for kind in ("pan", "zoom"):
        if kind == "pan":
            page.mouse.down()
        page.mouse.move(box["x"] + box["width"] / 2 + 9, box["y"] + box["height"] / 2)
        found[f"{kind}_ms"] = statistics.median(stage.evaluate(TIME_FRAMES, [kind, FRAMES]))
        if kind == "pan":
            page.mouse.up()
    page.get_by_role("button", name="Reset the view").click()
    return found


def lassos(visitor: Visitor, process: int, repeats: int) -> dict[str, float]:
    """Median time from letting go of a lasso to its selection in the plane and in Python, and the server's CPU time."""
    page = visitor.page
    box = page.locator(".stage").bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.move(*middle)
    taken: dict[str, list[float]] = {"lasso_ms": [], "python_s": [], "cpu_s": []}
    for number in range(repeats):
        far = 110 - 5 * number
        before, cpu, said = visitor.messages, cpu_seconds(process), page.get_by_test_id("stCode").inner_text()
        page.keyboard.down("Shift")
        page.mouse.move(middle[0] - far, middle[1] - far)
        page.mouse.down()
        for x, y in ((far, -far), (far, far), (-far, far)):
            page.mouse.move(middle[0] + x, middle[1] + y)
        page.locator(".stage").evaluate(
            "stage => stage.addEventListener('pointerup', () => { globalThis.took = performance.now(); },"
            " { capture: true, once: true })"
        )
        page.locator(".stage").evaluate(
            "stage => stage.addEventListener('pointerup', () => { globalThis.took = performance.now() - took; },"
            " { once: true })"
        )
        began = time.monotonic()
        page.mouse.up()
        page.wait_for_function("said => document.querySelector('[data-testid=stCode]').innerText !== said", arg=said)
        taken["python_s"].append(time.monotonic() - began)
        page.keyboard.up("Shift")
        visitor.settle(before)
        taken["lasso_ms"].append(page.evaluate("globalThis.took"))
        taken["cpu_s"].append(cpu_seconds(process) - cpu)
    return {name: statistics.median(values) for name, values in taken.items()}
