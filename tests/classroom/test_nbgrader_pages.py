"""What a student writes is text in a reader's browser: nothing runs and nothing is loaded from elsewhere."""

from html.parser import HTMLParser

import nbformat
import pytest

from labkit.classroom.nbgrader_pages import as_text, clean, markdown
from labkit.lessons.markdown import PRIVATE

HARMLESS = {"a", "code", "em", "li", "p", "strong", "ul", "img", "h1", "pre", "span", "div", "table", "tr", "td"}
MATHML = {"math", "mrow", "mi", "mo", "mn", "mtext", "msub", "msup", "mfrac", "mspace"}
ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<img src='https://a.org/seen.png'>",
    "![seen](https://a.org/seen.png)",
    "<svg onload=alert(1)><script>alert(1)</script></svg>",
    "<iframe src='https://a.org'></iframe>",
    "<form action='https://a.org'><input name=x></form>",
    "<style>@import 'https://a.org/a.css'</style>",
    "<div style='background: url(https://a.org/x)'>x</div>",
    "<a href='javascript:alert(1)'>x</a>",
    "[x](javascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "<math><mtext><img src=x onerror=alert(1)></mtext></math>",
    r"$\text{<img src=x onerror=alert(1)>}$",
    r"$\text{<script>alert(1)</script>}$",
    "[x](http://$x onmouseover=alert(1) y$)",
    "<a href='http://$x onmouseover=alert(1) y$'>x</a>",
    "<p title='$x onmouseover=alert(1) y$'>x</p>",
    "$x onmouseover=alert(1) y$ <p title='\ue0020\ue003'>x</p>",
    "<p title='`<img src=x onerror=alert(1)>`'>x</p>",
    "`` <script>alert(1)</script> ``",
    "<!--><script>alert(1)</script>-->",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
]


class Reader(HTMLParser):
    """Tags and attributes as a browser would find them."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.words = set(), [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.words += data


def read(text):
    found = Reader()
    found.feed(text)
    found.close()
    return found


def check(made):
    found = read(made)
    assert found.tags <= HARMLESS | MATHML, made
    for name, value in found.attributes:
        assert not name.startswith("on"), made
        if name in ("src", "href"):
            assert (value or "").startswith(("data:image/", "https://", "http://", "#")), made
        if name == "src":
            assert value.startswith("data:image/"), made
        assert "url(" not in (value or ""), made


@pytest.mark.parametrize("text", ATTACKS)
def test_a_text_runs_and_loads_nothing(text):
    check(markdown(text))
    check(markdown(as_text(text)))
    check(clean(text))


@pytest.mark.parametrize("text", [*ATTACKS, "a_b_c and *stars* # and `code`, $x$, 1. one", "& &lt; \\ \\<", "x" * 300])
def test_a_hint_is_shown_as_it_is(text):
    found = read(markdown(as_text(text)))
    assert found.tags <= {"p"}
    assert found.words.strip() == PRIVATE.sub("", " ".join(text.split()))


def test_what_is_harmless_stays():
    made = markdown("**bold**, $x_1 < 2$, [us](https://a.org), ![p](data:image/png;base64,aaaa)\n\n| a |\n|---|\n| 1 |")
    for part in ("<strong>", "<math", "&lt;", 'href="https://a.org"', 'src="data:image/png', "<table>"):
        assert part in made
    assert clean(b"<table><tr><td style='color: red'>1</td></tr></table>").count("color") == 1


def test_outputs_of_a_notebook_are_cleaned_by_these_settings():
    from nbconvert import HTMLExporter
    from traitlets.config import Config

    settings = Config()
    settings.HTMLExporter.sanitize_html = True
    settings.HTMLExporter.filters = {"markdown2html": markdown, "clean_html": clean}
    output = nbformat.v4.new_output("display_data", {"text/html": "<b>kept</b><img src=x onerror=evil()>"})
    cells = [
        nbformat.v4.new_code_cell("1", outputs=[output]),
        nbformat.v4.new_markdown_cell("<img src=x onerror=evil()>"),
    ]
    made, _ = HTMLExporter(config=settings, template_name="classic").from_notebook_node(
        nbformat.v4.new_notebook(cells=cells)
    )
    assert "<b>kept</b>" in made
    assert "evil" not in made
