"""Every string of a hand-in is text wherever it goes: pages, CSV, Markdown, JSON, the terminal."""

import csv
import json
import re
from html.parser import HTMLParser

import pytest

from labkit.commands.grade import print_marks
from labkit.grading.grade import Graded, Mark, advice
from labkit.grading.report import as_json, page, similarity_text, write_table
from labkit.grading.similar import Pair
from tests.grading.tiny import TINY

STRINGS = {
    "a script": "<script>alert(1)</script>",
    "an image that fails": '"><img src=x onerror=alert(1)>',
    "the end of an attribute": "' onmouseover='alert(1)",
    "the end of the page": "</pre></details></html><script>alert(1)</script>",
    "the end of the title": "</title><svg onload=alert(1)>",
    "a comment": "<!--><script>alert(1)</script>-->",
    "an entity": "&lt;script&gt;&#60;script&#62;",
    "a formula": '=HYPERLINK("http://x","y")',
    "a formula with a program": "=cmd|' /C calc'!A0",
    "a plus": "+1+1",
    "a minus": "-1+1",
    "an at": "@SUM(1)",
    "a tab and a formula": "\t=1+1",
    "a return and a formula": "\r=1+1",
    "a line and a formula": "\n=1+1",
    "a wide formula": "＝1+1",
    "a quote and a new row": 'x"\nmallory,30,30\n',
    "a separator": "a;b,c\td",
    "clears the screen": "\x1b[2J\x1b[1;1H",
    "renames the window": "\x1b]0;mine\x07",
    "eight-bit control": "\x9b31mred",
    "right to left": "\u202egpj.exe",
    "backspaces": "ten\x08\x08\x08\x08\x0830",
    "carriage return": "honest\rmallory 30",
    "a cell of a table": "x | y | 100 % |",
    "a link": "[x](javascript:alert(1))",
    "an image from elsewhere": "![x](http://x/y.png)",
    "a heading": "\n# You have all points\n",
    "code": "`` `x` ``",
    "mathematics": "$\\href{javascript:alert(1)}{x}$",
    "half a character": "\ud800",
    "a null": "\0",
}


class Tags(HTMLParser):
    """Names of tags and attributes as a browser would see them."""

    def __init__(self):
        super().__init__()
        self.seen = set()

    def handle_starttag(self, tag, attrs):
        self.seen |= {tag, *(name for name, _ in attrs)}


OURS = {
    *("html", "meta", "title", "style", "h1", "h2", "p", "b", "table", "tr", "th", "td", "details", "summary", "pre"),
    *("lang", "charset", "name", "content", "class"),
}


@pytest.fixture(params=STRINGS)
def text(request):
    return STRINGS[request.param]


def row_of(text):
    marks = (Mark("double", 10, 0.0, advice(text), text, ((text, False, text, text),)), Mark("triple", 10, 10.0))
    return Graded(text, text, marks, {"why": text}, (text,), answers={"double": text})


def test_in_a_page(text):
    seen = Tags()
    seen.feed(page(TINY, row_of(text), True).encode("utf-8", "replace").decode())
    assert seen.seen <= OURS


def test_in_a_table(text, tmp_path):
    write_table(tmp_path / "grades.csv", TINY, [row_of(text), row_of("honest")])
    with (tmp_path / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert len(rows) == 3
    assert len({len(row) for row in rows}) == 1
    assert not any(re.match(r"[=+\-@\t\r\n＝＋－＠]", cell) for row in rows for cell in row)


def test_in_markdown(text):
    written = similarity_text([Pair(text, "honest", 0.9, 30)])
    line = written.rstrip("\n").split("\n")[-1]
    assert "honest" in line
    assert line.count("|") == 5
    assert not re.search(r"<|(?<!\\)[\[\]`!]", line)
    assert all(mark.isprintable() for mark in line)


def test_in_json(text):
    assert json.loads(json.dumps(as_json(row_of(text))))["student"] == text


def test_in_the_terminal(text, capsys):
    print_marks([row_of(text)])
    printed = capsys.readouterr().out
    assert all(mark.isprintable() for mark in printed.replace("\n", ""))
    assert printed.count("\n") == 2
