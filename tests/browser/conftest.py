"""A real browser on a real server. Skipped, with the reason, where Chromium is not installed."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

from benchmarks.browser import FLAGS, MODULES, serve_modules

ROOT = Path(__file__).parents[2]


def import_module(page, name, act, argument=None):
    """Import a module of labkit/explorers/web as it is, and call act(module, argument) in the page."""
    serve_modules(page)
    return page.evaluate(f"async (given) => ({act})(await import('{MODULES}{name}'), given)", argument)


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
        running = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield running
        running.close()


@pytest.fixture(scope="session")
def dashboard():
    """The address of a dashboard started the way a user starts it."""
    with served("-m", "labkit", "dashboard", "--headless", "--no-token", "--port") as address:
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
def served(*arguments: str, health: str = "/_stcore/health", environment: dict[str, str] | None = None):
    """A server of this Python on a free port, which comes as the last argument; ended with all it started."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryFile() as said:  # a pipe that nobody reads would fill up and stop the server
        server = subprocess.Popen(
            [sys.executable, *arguments, str(port)],
            cwd=ROOT,
            env=environment,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            if not is_up(server, address + health):
                said.seek(0)
                raise RuntimeError(f"the server does not answer; it said: {said.read().decode()}")
            yield address
        finally:
            with suppress(ProcessLookupError):
                os.killpg(server.pid, 15)
            with suppress(subprocess.TimeoutExpired):
                server.wait(10)
            with suppress(ProcessLookupError):
                os.killpg(server.pid, 9)  # Streamlit waits for open pages; nothing may be left behind
            server.wait(10)


def is_up(server: subprocess.Popen, address: str) -> bool:
    for _ in range(480):
        if server.poll() is not None:
            return False
        try:
            urllib.request.urlopen(address, timeout=1)
            return True
        except OSError:
            time.sleep(0.25)
    return False


@contextlib.contextmanager
def jupyterlab(*arguments: str, settings: Path):
    """JupyterLab, started by a command that takes --port; its settings are this test's, its token is "test"."""
    folders = {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_RUNTIME_DIR": "runtime", "JUPYTERLAB_WORKSPACES_DIR": "w"}
    environment = os.environ | {"JUPYTER_TOKEN": "test", "PYTHONPATH": str(ROOT)}
    environment |= {name: str(settings / folder) for name, folder in folders.items()}
    with served(*arguments, "--port", health="/api?token=test", environment=environment) as address:
        yield address


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
