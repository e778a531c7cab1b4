"""A real browser on a server of ours: the server's CPU time, the bytes that it sends, and when a page has settled."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[1]
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
IDLE = "document.querySelector('[data-testid=stApp]')?.getAttribute('data-test-script-state') === 'notRunning'"
MODULES = "http://127.0.0.1:1/web/"  # no server: the browser gets the files themselves
QUIET = 0.6  # seconds without a message from the server: it has said all
PATIENCE = 90  # seconds


def chromium() -> str | None:
    """Where Chromium is, None if it is not installed."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def serve_modules(page: Any) -> None:
    """Let the page import the modules of labkit/explorers/web as they are, from addresses that begin with MODULES."""

    def answer(route: Any) -> None:
        path = ROOT / "labkit" / "explorers" / "web" / route.request.url.removeprefix(MODULES)
        route.fulfill(path=path, content_type="text/javascript", headers={"Access-Control-Allow-Origin": "*"})

    page.route(f"{MODULES}**", answer)


@contextmanager
def browser() -> Iterator[Any]:
    """Chromium, as the browser tests start it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        yield running
        running.close()


@contextmanager
def served(script: Path) -> Iterator[tuple[str, int]]:
    """A Streamlit server with the project's settings that has answered nothing yet: its address and process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.headless=true", "--server.port"]
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    settings |= {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen(
            [*command, str(port)], cwd=ROOT, env=settings, stdout=log, stderr=log, start_new_session=True
        )
        try:
            wait_until_up(server, f"http://127.0.0.1:{port}")
            yield f"http://127.0.0.1:{port}", server.pid
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:  # Streamlit waits for open pages
                server.kill()
                server.wait()


def wait_until_up(server: subprocess.Popen, address: str) -> None:
    for _ in range(10 * PATIENCE):
        if server.poll() is not None:
            raise RuntimeError(f"the server ended with code {server.returncode}")
        with suppress(OSError):
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=1)  # noqa: S310 (our own server)
            return
        time.sleep(0.1)
    raise RuntimeError(f"the server did not answer within {PATIENCE} s")


def cpu_seconds(process: int) -> float:
    """CPU time of a process with all its threads, also those that have ended, from the kernel's clock for it."""
    return time.clock_gettime((~process << 3) | 2)


class Visitor:
    """A page of the browser that counts what the server sends, and knows when it has said all."""

    def __init__(self, running: Any, width: int = 1280, height: int = 1500, sheets: Sequence[tuple[str, int]] = ()):
        self.context = running.new_context(viewport={"width": width, "height": height})
        self.page = self.context.new_page()
        self.sheets = sheets  # digest and size of pictures that are counted apart
        self.bytes = self.pictures = self.messages = 0
        self.heard = 0.0
        self.page.on("websocket", lambda socket: socket.on("framereceived", self.frame))
        self.page.on("requestfinished", self.response)

    def frame(self, content: bytes | str) -> None:
        data = content if isinstance(content, bytes) else content.encode()
        self.messages += 1
        self.heard = time.monotonic()
        pictures = sum(size for digest, size in self.sheets if len(data) > size and digest.encode() in data)
        self.pictures += pictures
        self.bytes += len(data) - pictures

    def response(self, request: Any) -> None:
        """What is fetched besides Streamlit's own scripts, which every page has and the browser keeps."""
        path = urlsplit(request.url).path
        if path.startswith(("/media/", "/component/", "/_stcore/bidi-components/", "/app/static/")):
            self.bytes += request.sizes()["responseBodySize"]

    def settle(self, after: int = 0) -> None:
        """Wait until the server has answered with more than so many messages, and then said nothing for a while."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            quiet = self.messages > after and time.monotonic() - self.heard > QUIET
            if quiet and self.page.evaluate(IDLE):
                return
            self.page.wait_for_timeout(50)
        raise RuntimeError(f"{self.page.url} did not settle within {PATIENCE} s")

    def open(self, address: str, sign: str) -> None:
        """Go to a page and wait until a sign of its last content is there."""
        self.page.goto(address)
        self.page.locator(sign).last.wait_for(timeout=1000 * PATIENCE)
        self.settle()

    def close(self) -> None:
        self.context.close()
