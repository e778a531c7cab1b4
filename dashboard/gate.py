"""The gate before the dashboard, for machines with other users: a token as JupyterLab asks for, and no other origin.

It stands before everything that the server gives: pages, their websocket, pictures and scripts; only the question
whether the server is up (/_stcore/health) is answered to all. A right token becomes a cookie, and links within pages
need none. The token comes by the environment, since others can read the arguments of a process.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
import time
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

TOKEN = "LABKIT_DASHBOARD_TOKEN"  # noqa: S105 (the name of a variable)
OPEN = "LABKIT_DASHBOARD_OPEN"  # the port, if a browser is to open
OPENER = secrets.token_urlsafe(24)  # good once, for the browser that opens: its arguments can be read, too
ASK = """<!doctype html><html lang="en"><meta charset="utf-8"><title>labkit: token</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<body style="font: 17px system-ui, sans-serif; max-width: 34em; margin: 3em auto; padding: 0 1em">
<h1>This dashboard asks for its token</h1>
<p>Open the address that <code>labkit dashboard</code> printed where it was started, or enter the token from it.</p>
<form><label>Token <input name="token" type="password" autocomplete="off" size="36" autofocus></label>
<button>Open</button></form></body></html>"""


class Gate:
    """Lets requests through that come from the dashboard's own pages and carry the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        """Stand before an app; without a token only other origins are refused."""
        self.app, self.token = app, token
        self.session = secrets.token_urlsafe(24)  # what the cookie holds: it ends with this server
        self.openers = {OPENER} if token else set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, refuse or pass on one request."""
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if not same_origin(headers):
            return await self.refuse("another origin", scope, receive, send)
        if not self.token or scope["path"] == "/_stcore/health" or self.is_known(headers):
            return await self.app(scope, receive, send)
        if scope["type"] == "http" and (answer := self.welcome(scope, headers)):
            return await answer(scope, receive, send)
        return await self.refuse(ASK, scope, receive, send)

    def is_known(self, headers: dict[str, str]) -> bool:
        """Whether a request carries the cookie."""
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(cookie_name(headers))
        except CookieError:
            return False
        return found is not None and secrets.compare_digest(found.value.encode(), self.session.encode())

    def welcome(self, scope: Scope, headers: dict[str, str]) -> Response | None:
        """The same address without its token, and the cookie; None if the token is not right."""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = dict(query).get("token", "").encode()
        once = [opener for opener in self.openers if secrets.compare_digest(given, opener.encode())]
        if not once and not secrets.compare_digest(given, self.token.encode()):
            return None
        self.openers.difference_update(once)
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        path = "/" + scope["path"].lstrip("/")  # two slashes would name another host
        answer = RedirectResponse(f"{path}?{rest}" if rest else path, status_code=303)
        answer.set_cookie(cookie_name(headers), self.session, httponly=True, samesite="lax")
        answer.headers["Cache-Control"] = "no-store"
        return answer

    async def refuse(self, why: str, scope: Scope, receive: Receive, send: Send) -> None:
        """403, with nothing of the dashboard in it."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await HTMLResponse(why, status_code=403)(scope, receive, send)


def same_origin(headers: dict[str, str]) -> bool:
    """Whether a request comes from a page of this very host and port, or from no page at all."""
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc == headers.get("host")


def cookie_name(headers: dict[str, str]) -> str:
    """Two dashboards on one host have a cookie each: browsers do not tell ports apart."""
    return f"labkit-{headers.get('host', '').rpartition(':')[2]}"


@asynccontextmanager
async def opens_browser(app: Any) -> AsyncIterator[None]:
    """Once the server listens, a browser opens, if it is to."""
    if port := os.environ.get(OPEN):
        threading.Thread(target=open_browser, args=(int(port),), daemon=True).start()
    yield


def open_browser(port: int) -> None:
    """Wait for the server, then show it."""
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            break
        except OSError:
            time.sleep(0.1)
    key = f"?token={OPENER}" if os.environ.get(TOKEN) else ""
    webbrowser.open(f"http://127.0.0.1:{port}/{key}")
