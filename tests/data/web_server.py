"""A web server on loopback that can break off, lie about lengths, stall, trickle or go on where it is asked to."""

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Answer:
    """What an address does. length None: none is announced. sent: bytes of the body after which it hangs up."""

    body: bytes = b""
    status: int = 200
    length: int | str | None = "true"
    sent: int | None = None
    ranges: bool = True
    other_range: bool = False
    stalls: bool = False
    trickles: bool = False


@dataclass
class Web:
    """Answers by path, the next of a list with each request; what was asked, as (path, range)."""

    base: str
    answers: dict = field(default_factory=dict)
    asked: list = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    def next_answer(self, path: str) -> Answer:
        found = self.answers.get(path, Answer(status=404))
        if isinstance(found, list):
            return found.pop(0) if len(found) > 1 else found[0]
        return found


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        web = self.server.web
        asked = self.headers.get("Range")
        web.asked.append((self.path, asked))
        answer = web.next_answer(self.path)
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and answer.ranges and answer.status == 200 else 0
        if start >= max(len(answer.body), 1):
            self.send_response(416)
            self.end_headers()
            return
        body = answer.body[start:]
        self.send_response(206 if start and answer.status == 200 else answer.status)
        if start:
            first = 0 if answer.other_range else start
            self.send_header("Content-Range", f"bytes {first}-{len(answer.body) - 1}/{len(answer.body)}")
        if answer.length is not None:
            self.send_header("Content-Length", str(len(body) if answer.length == "true" else answer.length))
        self.end_headers()
        for byte in body[:1000] if answer.trickles else b"":
            self.wfile.write(bytes([byte]))
            if web.closing.wait(0.02):
                return
        self.wfile.write(body if answer.sent is None else body[: answer.sent])
        if answer.stalls:
            self.wfile.flush()
            web.closing.wait(20)

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    def handle_error(self, *args):
        """Clients hang up on purpose."""


@contextmanager
def serving():
    """A Web on a free port."""
    running = Server(("127.0.0.1", 0), Handler)
    running.web = Web(f"http://127.0.0.1:{running.server_port}")
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield running.web
    finally:
        running.web.closing.set()
        running.shutdown()
        thread.join()
        running.server_close()
