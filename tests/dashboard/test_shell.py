"""Streamlit's page with words for the first seconds and its root; nothing else is changed."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from dashboard.shell import Shell

PAGE = '<!DOCTYPE html><html><head><title>x</title></head><body><div id="root"></div></body></html>'


async def page(request):
    packed = "gzip" in request.headers.get("accept-encoding", "")
    return HTMLResponse("packed" if packed else PAGE, headers={"etag": "1"})


async def data(request):
    return PlainTextResponse(PAGE)


def client(base=""):
    app = Starlette(
        routes=[Route("/data", data), Route("/{path:path}", page)], middleware=[Middleware(Shell, base=base)]
    )
    return TestClient(app)


@pytest.mark.parametrize(
    ("base", "root"), [("", '"/"'), ("labkit", '"/labkit"'), ("/a</script>/", '"/a\\u003c/script>"')]
)
def test_a_page_says_that_it_loads_and_where_its_root_is(base, root):
    answer = client(base).get("/runs", headers={"accept": "text/html", "accept-encoding": "gzip"})
    assert f"BACKEND_BASE_URL: window.location.origin + {root} }}" in answer.text
    assert "the dashboard is loading" in answer.text
    assert "etag" not in answer.headers
    assert int(answer.headers.get("content-length", len(answer.content))) == len(answer.content)


def test_what_is_no_page_passes_as_it_is():
    assert client().get("/data", headers={"accept": "text/html"}).text == PAGE
    assert client().get("/runs", headers={"accept": "*/*", "accept-encoding": "x"}).text == PAGE
