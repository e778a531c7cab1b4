"""A dashboard to look at only: nothing can be changed, no path is told, and a proxy may stand in front."""

import argparse

import pytest

from dashboard.parts.access import for_visitors
from dashboard.parts.text import as_text
from labkit.base.errors import LabkitError
from labkit.commands.dashboard import proxied, public_address, run_dashboard


@pytest.fixture
def only_to_look(monkeypatch):
    monkeypatch.setenv("LABKIT_READ_ONLY", "1")


@pytest.mark.parametrize("name", ["home", "embeddings", "retrieval", "compare", "runs", "train", "run"])
def test_no_page_tells_where_files_are(page, situation, only_to_look, tmp_path, name):
    opened = page("app" if name == "home" else name, **({"view": "Files and export"} if name == "run" else {}))
    assert not opened.exception
    said = [
        element.value
        for kind in ("markdown", "caption", "info", "warning", "error", "code")
        for element in opened.get(kind)
    ]
    said += [str(table.value) for table in (*opened.dataframe, *opened.table)]
    assert not [text for text in said if str(tmp_path) in text.replace("\\", "")]
    labels = [button.label for button in opened.button]
    assert not [label for label in labels if any(word in label for word in ("Start", "Delete", "Project", "Resume"))]
    if name == "train":
        assert "to look at runs only" in opened.info[0].value


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("in /home/me/runs/x_s0 now", "in … now"),
        ("C:\\Users\\me\\x.py", "…"),
        ("--set tau=0.02 and/or R@1 1/2", "--set tau=0.02 and/or R@1 1/2"),
        ("see https://example.org/a/b", "see https://example.org/a/b"),
        ("mine.py:Loss", "mine.py:Loss"),
    ],
)
def test_paths_are_taken_out_of_texts(only_to_look, text, shown):
    assert for_visitors(text) == shown


def test_elsewhere_texts_are_whole():
    assert for_visitors("/home/me/runs") == "/home/me/runs"
    assert "home" in as_text("/home/me")


def test_a_proxy_needs_read_only_and_gets_its_path():
    address = public_address("https://lab.example.org/teams/labkit/")
    with pytest.raises(LabkitError, match="--read-only"):
        run_dashboard(argparse.Namespace(behind=address, read_only=False))
    options = proxied(address)
    pairs = list(zip(options[::2], options[1::2]))
    assert ("--server.baseUrlPath", "teams/labkit") in pairs
    assert ("--server.allowedHosts", "lab.example.org") in pairs
    assert ("--browser.serverPort", "443") in pairs
    for text in ("lab.example.org", "ftp://x", "https://", "https://x?y=1"):
        with pytest.raises(argparse.ArgumentTypeError):
            public_address(text)
