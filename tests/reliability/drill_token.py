"""A dashboard with a token on a machine with other users: whoever lacks it gets nothing, whoever has it gets in."""

import re
import subprocess
import sys
from contextlib import contextmanager
from http.client import HTTPConnection

from benchmarks.browser import wait_until_up
from tests.browser.conftest import free_port
from tests.reliability.pages import ROOT, menu
from tests.reliability.table import Row

WRONG = ("", "?token=", "?token=wrong", "?token=%00", "?token=" + "x" * 4000)


def run(full: bool) -> list[Row]:
    with dashboard() as (address, token):
        host = address.removeprefix("http://")
        paths = ["/", *(f"/{page}" for page in menu()), "/_stcore/host-config", "/static/js/x.js", "/media/x.png"]
        refused = [(f"{path}{query}", {}) for path in (paths if full else paths[:2]) for query in WRONG]
        refused += [("/", {"Origin": origin}) for origin in ("http://127.0.0.1:1", "http://evil.example", "null")]
        refused += [("/", {"Cookie": f"labkit-{host.rpartition(':')[2]}={value}"}) for value in ("", token, "x")]
        wrong = [f"{path[:60]} {headers}" for path, headers in refused if answer(host, path, headers)[0] != 403]
        sockets = [("no cookie", {"Origin": address}), ("another port", {"Origin": "http://127.0.0.1:1"})]
        wrong += [f"websocket, {name}" for name, headers in sockets if listens(host, headers)]
        code, headers = answer(host, f"/?token={token}", {})
        cookie = headers.get("set-cookie", "").partition(";")[0]
        known = {"Cookie": cookie, "Origin": address}
        wrong += ["the right token"] * (code != 303 or token in cookie)
        wrong += [f"{path} with the cookie" for path in paths[:1] if answer(host, path, known)[0] != 200]
        wrong += ["the right websocket"] * (not listens(host, known))
        wrong += ["a right cookie from another port"] * listens(host, known | {"Origin": "http://127.0.0.1:1"})
    tried = len(refused) + len(sockets) + 4
    return [
        Row("token", tried, tried - len(wrong), len(wrong), "; ".join(wrong[:3]) or "others refused, the owner let in")
    ]


@contextmanager
def dashboard():
    """As a user starts it; address and token are those that it prints."""
    port = free_port()
    command = [sys.executable, "-u", "-m", "labkit", "dashboard", "--headless", "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        said = process.stdout.readline()
        found = re.search(r"token=(\S+)", said)
        assert found, said
        wait_until_up(process, f"http://127.0.0.1:{port}")
        yield f"http://127.0.0.1:{port}", found[1]
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


def answer(host: str, path: str, headers: dict[str, str]) -> tuple[int, dict[str, str]]:
    """Code and headers of an answer, redirections not followed."""
    line = HTTPConnection(host, timeout=30)
    line.request("GET", path, headers=headers)
    found = line.getresponse()
    found.read()
    return found.status, {name.lower(): value for name, value in found.getheaders()}


def listens(host: str, headers: dict[str, str]) -> bool:
    """Whether the server opens a websocket to somebody with these headers."""
    from websockets.exceptions import WebSocketException
    from websockets.sync.client import connect

    rest = {name: value for name, value in headers.items() if name != "Origin"}
    try:
        with connect(
            f"ws://{host}/_stcore/stream", subprotocols=["streamlit"], origin=headers["Origin"], additional_headers=rest
        ):
            return True
    except (WebSocketException, OSError):
        return False
