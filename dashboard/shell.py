"""The page that Streamlit's scripts are loaded into, with what it lacks: words for the first seconds, and its root.

Without the root Streamlit's script asks for it below the page's own address first, such as /runs/_stcore/health, which
is not there: errors in the console, and a round trip more.
"""

from __future__ import annotations

import json
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEAD, ROOT = b"<head>", b'<div id="root"></div>'
KEPT_BY_BROWSERS = ("content-length", "etag", "last-modified")  # of the file, not of what is sent
LOADING = """<div id="root"><style>
body { color-scheme: light dark; background: light-dark(white, rgb(14, 17, 23)); }
.first { font: 17px system-ui, sans-serif; color: light-dark(#595959, #c4c4c4); margin: 30vh auto; width: 18em; }
</style><p class="first" role="status">labkit: the dashboard is loading …</p></div>"""


class Shell:
    """Changes Streamlit's index.html on its way; everything else passes as it is."""

    def __init__(self, app: ASGIApp, base: str = "") -> None:
        """Stand before an app that lies below the path `base` of its host."""
        path = json.dumps(f"/{base.strip('/')}").replace("<", "\\u003c")
        script = f"<script>window.__streamlit = {{ BACKEND_BASE_URL: window.location.origin + {path} }}</script>"
        self.app, self.head = app, HEAD + script.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; a page that comes back is changed."""
        headers = dict(scope.get("headers", ()))
        if scope["type"] != "http" or scope["method"] != "GET" or b"text/html" not in headers.get(b"accept", b""):
            return await self.app(scope, receive, send)
        # a packed page could not be changed
        scope = {**scope, "headers": [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]}
        held: dict[str, Any] = {"start": None, "body": b""}

        async def changed(message: Message) -> None:
            if message["type"] == "http.response.start" and is_page(message):
                held["start"] = message
                return
            if message["type"] != "http.response.body" or held["start"] is None:
                return await send(message)
            held["body"] += message.get("body", b"")
            if not message.get("more_body"):
                await send(held["start"])
                body = held["body"].replace(HEAD, self.head, 1).replace(ROOT, LOADING.encode(), 1)
                await send({"type": "http.response.body", "body": body})

        await self.app(scope, receive, changed)


def is_page(message: Message) -> bool:
    """Whether an answer is a page; then what tells browsers to keep it is taken away, for it is not the file itself."""
    headers = MutableHeaders(raw=message["headers"])
    if message["status"] != 200 or not headers.get("content-type", "").startswith("text/html"):
        return False
    for name in KEPT_BY_BROWSERS:
        del headers[name]
    message["headers"] = headers.raw
    return True
