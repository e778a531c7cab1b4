"""A real browser on a real server. Skipped, with the reason, where Chromium is not installed."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def browser():
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("Chromium is not installed (Debian and Ubuntu: apt install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield running
        running.close()


@pytest.fixture(scope="session")
def dashboard():
    """The address of a dashboard started the way a user starts it."""
    with served("-m", "labkit", "dashboard", "--headless", "--port") as address:
        yield address


@pytest.fixture
def serve():
    """Runs a script as a Streamlit app and gives its address."""
    with contextlib.ExitStack() as running:
        options = ["--server.headless=true", "--server.fileWatcherType=none", "--client.showErrorDetails=full"]

        def start(script: Path) -> str:
            command = ("-m", "streamlit", "run", str(script), *options, "--server.port")
            return running.enter_context(served(*command))

        yield start


@contextlib.contextmanager
def served(*arguments: str):
    """A server of this Python on a free port, which comes as the last argument; ended with all it started."""
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, *arguments, str(port)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        wait_until_up(server, address)
        yield address
    finally:
        os.killpg(server.pid, 15)
        server.wait(20)
        with suppress(ProcessLookupError):
            os.killpg(server.pid, 9)  # Streamlit waits for open pages; nothing may be left behind


def wait_until_up(server: subprocess.Popen, address: str) -> None:
    for _ in range(240):
        if server.poll() is not None:
            raise RuntimeError(f"the server stopped: {server.stdout.read().decode()}")
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=1)
            return
        except OSError:
            time.sleep(0.25)
    raise RuntimeError("the server did not answer within a minute")


@pytest.fixture
def page(browser):
    """A page that fails the test on a script error or on a request that leaves this machine."""
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    errors, requests = [], []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("request", lambda request: requests.append(request.url))
    yield tab
    tab.close()
    assert not errors
    assert not [url for url in requests if not url.startswith(("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:"))]
