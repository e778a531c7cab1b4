"""Home as a person meets it, and who may talk to the server."""

import http.client

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("link", "heading"),
    [("See what goes wrong", "Retrieval"), ("Design a loss", "Losses"), ("Every claim", "Papers")],
)
def test_what_there_is_to_try_opens(page, dashboard, link, heading):
    page.goto(dashboard)
    page.get_by_role("link", name=link).click()
    expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible(timeout=20_000)


def test_what_is_chosen_on_one_page_is_not_meant_for_others(page, dashboard):
    preset = page.get_by_role("combobox", name="preset")
    page.goto(f"{dashboard}/compare?preset=omniglot&view=Cost")
    expect(preset).to_have_value("omniglot", timeout=20_000)
    page.get_by_role("link", name="Train", exact=True).click()
    expect(preset).to_have_value("toy", timeout=20_000)
    page.get_by_role("link", name="Compare runs").click()
    expect(page.get_by_role("tab", name="Results")).to_have_attribute("aria-selected", "true", timeout=20_000)
    expect(preset).not_to_have_value("toy", timeout=20_000)
    assert "preset" not in page.url


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
