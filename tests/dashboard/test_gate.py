"""The gate before the dashboard: nothing without the token, nothing from another origin or port."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from dashboard import gate

TOKEN = "right"
HOST = "http://127.0.0.1:8501"


async def shown(request):
    return PlainTextResponse("secret")


async def talk(websocket):
    await websocket.accept()
    await websocket.send_text("secret")
    await websocket.close()


def client(token=TOKEN):
    routes = [Route("/{path:path}", shown, methods=["GET", "POST"]), WebSocketRoute("/_stcore/stream", talk)]
    app = Starlette(routes=routes, middleware=[Middleware(gate.Gate, token=token)])
    return TestClient(app, base_url=HOST, follow_redirects=False)


def hears(browser, origin=HOST):
    try:
        with browser.websocket_connect("ws://127.0.0.1:8501/_stcore/stream", headers={"Origin": origin}) as socket:
            return socket.receive_text() == "secret"
    except WebSocketDisconnect:
        return False


@pytest.mark.parametrize("path", ["/", "/compare", "/media/picture.png", "/static/js/main.js", "/_stcore/host-config"])
@pytest.mark.parametrize("query", ["", "?token=wrong", "?token=", "?token=right%20", "?token=%C3%A9"])
def test_without_the_token_nothing_is_shown(path, query):
    answer = client().get(path + query)
    assert answer.status_code == 403
    assert "secret" not in answer.text
    assert "asks for its token" in answer.text


def test_only_whether_the_server_is_up_is_told_to_all():
    assert client().get("/_stcore/health").status_code == 200


@pytest.mark.parametrize(
    ("asked", "goes_to"),
    [
        ("/?token=right", "/"),
        ("/compare?preset=a%20b&token=right&x=", "/compare?preset=a+b&x="),
        ("//evil.example/?token=right", "/evil.example/"),
    ],
)
def test_the_token_becomes_a_cookie_and_leaves_the_address(asked, goes_to):
    browser = client()
    answer = browser.get(HOST + asked)
    assert (answer.status_code, answer.headers["location"]) == (303, goes_to)
    cookie = answer.headers["set-cookie"]
    assert "right" not in cookie
    assert "HttpOnly" in cookie
    assert cookie.startswith("labkit-8501=")
    assert browser.get("/compare").text == "secret"
    assert hears(browser)


def test_a_cookie_of_another_server_does_not_help():
    browser = client()
    browser.get("/?token=right")
    other = client()
    other.cookies = browser.cookies
    assert other.get("/").status_code == 403
    assert not hears(client())


@pytest.mark.parametrize("token", [TOKEN, ""])
@pytest.mark.parametrize("origin", ["http://127.0.0.1:8502", "http://evil.example", "null", "http://localhost:8501"])
def test_another_origin_or_port_is_refused_with_and_without_a_token(token, origin):
    browser = client(token)
    browser.get(f"/?token={token}")
    assert hears(browser)
    assert not hears(browser, origin)
    assert browser.post("/upload", headers={"Origin": origin}).status_code == 403
    assert browser.post("/upload", headers={"Origin": HOST}).status_code == 200


def test_without_a_token_pages_are_open():
    assert client("").get("/").text == "secret"


def test_the_key_of_the_browser_that_opens_is_good_once():
    first = client()
    assert first.get(f"/?token={gate.OPENER}").status_code == 303
    first.cookies.clear()
    assert first.get(f"/?token={gate.OPENER}").status_code == 403
    assert first.get("/?token=right").status_code == 303


def test_the_browser_that_opens_gets_the_key_not_the_token(monkeypatch):
    opened = []
    monkeypatch.setenv(gate.TOKEN, TOKEN)
    monkeypatch.setattr(gate.webbrowser, "open", opened.append)
    monkeypatch.setattr(gate.time, "sleep", lambda seconds: None)
    gate.open_browser(9)
    assert opened == [f"http://127.0.0.1:9/?token={gate.OPENER}"]
