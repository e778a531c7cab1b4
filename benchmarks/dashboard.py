"""Every page of the dashboard on the recorded runs: CPU time of the server until it is there and to answer, bytes."""

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.browser import ROOT, Visitor, browser, chromium, cpu_seconds, served
from benchmarks.explorer import measure_explorer
from benchmarks.measure import machine
from labkit.base.paths import RECORDED
from labkit.runs import find_runs

APP = ROOT / "streamlit_app.py"
REPEATS = 5
LIMITS = {"cold_s": 2.0, "warm_s": 2.0, "answer_s": 0.5, "payload_kb": 1500.0, "sheet_kb": 3000.0}


@dataclass(frozen=True)
class Visit:
    """A page: its address, a sign of its last content, and what a reader does there, again and again."""

    name: str
    address: str
    sign: str
    acts: dict[str, Callable[[Any, int], None]] = field(default_factory=dict)


def choose(label: str) -> Callable[[Any, int], None]:
    """Take the next entry of a menu, by keyboard."""

    def act(page: Any, number: int) -> None:
        page.get_by_role("combobox", name=label).click()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")

    return act


def lasso(page: Any, number: int) -> None:
    box = page.locator(".stage").bounding_box()
    x, y, far = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, 90 + 12 * number
    page.keyboard.down("Shift")
    page.mouse.move(x - far, y - far)
    page.mouse.down()
    for right, down in ((far, -far), (far, far), (-far, far)):
        page.mouse.move(x + right, y + down)
    page.mouse.up()
    page.keyboard.up("Shift")


def click_point(page: Any, number: int) -> None:
    """The keyboard finds a point wherever the points are."""
    page.locator(".stage").focus()
    for key in ("ArrowRight", "ArrowUp")[: 1 + number % 2]:
        page.keyboard.press(key)
    page.keyboard.press("Enter")


def step(page: Any, number: int) -> None:
    page.locator("[data-testid=stSlider] [role=slider], [data-testid=stSlider] input[type=range]").first.focus()
    page.keyboard.press("ArrowRight")


def back(page: Any, number: int) -> None:
    page.locator(".film input[type=range]").focus()
    page.keyboard.press("ArrowLeft")


def search(page: Any, number: int) -> None:
    page.get_by_role("textbox", name="Find a method").fill("pnp" if number % 2 else "proxy")
    page.keyboard.press("Enter")


POINTS = ".labkit-embedding[data-pictures]"
SPHERE = "embeddings?run=fashion-mnist-3d_sgsl_label_smoothing=0.1_s0&view=During+training"
PAGES = (
    Visit("Embeddings", "embeddings", POINTS, {"lasso → pictures": lasso, "point → neighbours": click_point}),
    Visit("Embeddings, training", SPHERE, ".film[data-frames]", {"another step": back}),
    Visit("Home", "", "text=Every claim with its evidence"),
    Visit(
        "Retrieval",
        "retrieval",
        "text=All queries, in this order",
        {"next query": lambda page, _: page.get_by_role("button", name="Next").click()},
    ),
    Visit("Compare runs", "compare", ".js-plotly-plot", {"another metric": choose("Metric")}),
    Visit("Losses", "losses", "text=Sources", {"α of PNP": step}),
    Visit("Papers", "papers", "text=Held: the interval", {"search": search}),
    Visit("Train", "train", "text=Queue and runs", {"another loss": choose("Loss")}),
    Visit("One run", "run", ".js-plotly-plot", {"another run": choose("Run (")}),
)


def measure(quick: bool) -> dict | None:
    """All pages, then the explorer with many points; None without a browser."""
    if chromium() is None:
        print("dashboard: left out, Chromium is not installed", file=sys.stderr)
        return None
    files = sorted((RECORDED / "sprites").glob("*.webp"))
    sheets = [(sha256(path.read_bytes()).hexdigest(), path.stat().st_size) for path in files]
    with browser() as running:
        facts = provenance(running.version)
        with served(APP) as (address, process):  # compiles what is not compiled yet, and tells what a start costs
            facts["start_cpu_s"] = cpu_seconds(process)
            with closing(Visitor(running)) as visitor:
                visitor.open(address, "text=Every claim with its evidence")
        pages = [measure_page(running, visit, sheets, quick) for visit in (PAGES[:1] if quick else PAGES)]
        points = measure_explorer(running, quick)
    sprites = {path.name: path.stat().st_size / 1000 for path in files}
    return {"provenance": facts, "limits": LIMITS, "pages": pages, "sprites_kb": sprites, "explorer": points}


def provenance(chromium_version: str) -> dict:
    """On what, with what and how busy it was."""
    return {
        "machine": machine(),
        "chromium": chromium_version,
        "streamlit": version("streamlit"),
        "plotly": version("plotly"),
        "runs": len(find_runs(RECORDED)),
        "cores": os.cpu_count(),
        "load_before": round(os.getloadavg()[0], 1),
        "loop_s": loop(),
        "date": time.strftime("%Y-%m-%d"),
    }


def loop() -> float:
    """CPU seconds of an empty loop of ten million: neighbours on the machine make it, and all else here, slower."""
    before = time.process_time()
    for _ in range(10_000_000):
        pass
    return time.process_time() - before


def measure_page(running: Any, visit: Visit, sheets: list[tuple[str, int]], quick: bool) -> dict:
    """Medians over new servers (cold), new visitors of one server (warm), and repeated answers."""
    print(f"  {visit.name} …", file=sys.stderr, flush=True)
    repeats = 1 if quick else REPEATS
    cold, warm, answers = [], [], {}
    for number in range(repeats):
        with served(APP) as (address, process):
            for taken in [cold] + [warm] * (repeats if number == repeats - 1 else 0):
                with closing(Visitor(running, sheets=sheets)) as visitor:
                    before = cpu_seconds(process)
                    visitor.open(f"{address}/{visit.address}", visit.sign)
                    taken.append(cpu_seconds(process) - before)
                    kilobytes, pictures = visitor.bytes / 1000, visitor.pictures / 1000
                    for doing, act in visit.acts.items() if len(warm) == repeats else ():  # by the last visitor
                        answers[doing] = [answered(visitor, process, act, again) for again in range(repeats)]
    return {
        "page": visit.name,
        "cold_s": statistics.median(cold),
        "warm_s": statistics.median(warm),
        "answers": {doing: statistics.median(taken) for doing, taken in answers.items()},
        "payload_kb": kilobytes,
        "pictures_kb": pictures,
        "all": {"cold": cold, "warm": warm} | answers,
    }


def answered(visitor: Visitor, process: int, act: Callable[[Any, int], None], number: int) -> float:
    """CPU seconds of one thing that is done, until the page has settled again."""
    before, said = cpu_seconds(process), visitor.messages
    act(visitor.page, number)
    visitor.settle(said)
    return cpu_seconds(process) - before


def marked(value: float, limit: str, form: str = ".2f", unit: str = "s") -> str:
    """A number and whether it keeps its limit."""
    return f"{value:{form}} {unit} {'✓' if value <= LIMITS[limit] else '✗'}"


def table(found: dict) -> str:
    """Markdown: the pages, the sheets, the explorer, and what it was measured on."""
    facts = found["provenance"]
    lines = [
        "Medians; seconds are CPU time of the server.",
        "",
        "| page | first content, new server (≤ 2 s) | known server (≤ 2 s) | answer (≤ 0.5 s) "
        "| bytes besides pictures (≤ 1,500 kB) | pictures |",
        "|---|---|---|---|---|---|",
    ]
    for row in found["pages"]:
        answers = "; ".join(f"{doing}: {marked(taken, 'answer_s')}" for doing, taken in row["answers"].items())
        lines.append(
            f"| {row['page']} | {marked(row['cold_s'], 'cold_s')} | {marked(row['warm_s'], 'warm_s')} "
            f"| {answers or 'links only'} | {marked(row['payload_kb'], 'payload_kb', ',.0f', 'kB')} "
            f"| {row['pictures_kb']:,.0f} kB |"
        )
    lines += ["", "| sheet of pictures | size (≤ 3,000 kB) |", "|---|---|"]
    for name, size in found["sprites_kb"].items():
        lines.append(f"| {name} | {marked(size, 'sheet_kb', ',.0f', 'kB')} |")
    lines += [
        "",
        "The explorer on synthetic points; milliseconds and seconds of the clock, but for the last column.",
        "",
        "| points | bytes (≤ 1,500 kB) | page opened → points drawn | frame while moved | while zoomed "
        "| lasso in the page | lasso → Python's answer | server CPU |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in found["explorer"]:
        lines.append(
            f"| {row['points']:,} | {marked(row['payload_kb'], 'payload_kb', ',.0f', 'kB')} "
            f"| {row['drawn_ms']:,.0f} ms | {row['pan_ms']:.1f} ms | {row['zoom_ms']:.1f} ms "
            f"| {row['lasso_ms']:.1f} ms | {row['python_s']:.2f} s | {row['cpu_s']:.2f} s |"
        )
    lines += [
        "",
        f"Measured on: {facts['machine']}, {facts['cores']} cores, load {facts['load_before']} before "
        f"(an empty loop of ten million took {facts['loop_s']:.2f} CPU s); "
        f"Chromium {facts['chromium']} with software rendering, Streamlit {facts['streamlit']}, plotly "
        f"{facts['plotly']}; {facts['runs']} recorded runs; {facts['date']}.",
        "",
        f"First content: all of the page, in a server that is up (its start takes {facts['start_cpu_s']:.2f} CPU s) "
        "and has shown nothing yet, or has shown this page before. Bytes: messages and files of a first visit, without "
        "Streamlit's own scripts, which the browser keeps.",
    ]
    return "\n".join(lines)


def write(folder: Path, found: dict) -> None:
    """dashboard.md and dashboard.json."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "dashboard.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    (folder / "dashboard.md").write_text(table(found) + "\n")
