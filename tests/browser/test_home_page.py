"""Home as a person meets it."""

import http.client

import pytest

from labkit.losses import CATALOG

pytestmark = pytest.mark.browser


def test_search_lives_in_the_address_and_cards_open(page, dashboard):
    page.goto(f"{dashboard}/?find=mpa-ap")
    page.get_by_text("Showing 1 of").wait_for()
    page.locator("summary").first.click()
    page.locator(".katex").first.wait_for()  # the equation is typeset
    page.get_by_text("Released code:").wait_for()


def test_a_search_changes_the_address(page, dashboard):
    page.goto(dashboard)
    page.get_by_text("Showing").wait_for()
    page.get_by_label("Find a loss").fill("smooth")
    page.get_by_label("Find a loss").press("Enter")
    page.wait_for_url("**find=smooth**")
    page.get_by_text("Smooth-AP").first.wait_for()


def test_no_equation_fails_to_typeset(page, dashboard):
    page.goto(dashboard)
    page.locator("summary").nth(len(CATALOG) - 1).wait_for()
    for summary in page.locator("summary").all():
        summary.click()
    page.locator(".katex").nth(len(CATALOG) - 1).wait_for()
    assert page.locator(".katex-error").count() == 0


@pytest.mark.parametrize(("host", "status"), [("127.0.0.1", 101), ("evil.example", 403)])
def test_the_server_answers_to_its_own_names_only(dashboard, host, status):
    # DNS rebinding: a foreign page that resolves its own name to 127.0.0.1 must not get a session
    connection = http.client.HTTPConnection(dashboard.removeprefix("http://"), timeout=10)
    headers = {
        "Host": host,
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "bGFia2l0LWxhYmtpdC0xMg==",
        "Sec-WebSocket-Version": "13",
    }
    connection.request("GET", "/_stcore/stream", headers=headers)
    assert connection.getresponse().status == status
    connection.close()
