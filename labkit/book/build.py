"""Writing the book: every lesson executed in book mode, an index, and the three files that all pages share."""

from __future__ import annotations

import html
import re
import shutil
import sys
from collections.abc import Collection
from pathlib import Path

from labkit.book.notebooks import execute, in_short, lesson_sources
from labkit.book.page import output, page, title_of
from labkit.book.reference import GUIDES, reference_pages
from labkit.explorers.playground import playground_page
from labkit.lessons.errata import errata_cards
from labkit.lessons.markdown import markdown

ASSETS = Path(__file__).parent


def build_book(lessons: Path, target: Path, names: list[str] | None = None) -> int:
    """Execute the lessons and write the book into a folder; returns the number of lessons that failed."""
    sources = lesson_sources(lessons, names or [])
    if sources is None:
        return 2
    target.mkdir(parents=True, exist_ok=True)
    pages: dict[str, tuple[str, str]] = {}
    failures = 0
    for number, source in enumerate(sources, 1):
        print(f"labkit: [{number}/{len(sources)}] {source.name}", flush=True)
        try:
            notebook = execute(source, "book")
        except Exception as error:
            failures += 1
            print(f"labkit: {source.name} failed: {in_short(error)}", file=sys.stderr)
            continue
        pages[source.stem] = (title_of(notebook), page(notebook))
    write_assets(target)
    stems = list(pages)
    for place, stem in enumerate(stems):
        before = stems[place - 1] if place else None
        after = stems[place + 1] if place + 1 < len(stems) else None
        title, body = pages[stem]
        way, body = navigation(before, after), without_dead_links(body, target, pages)
        (target / f"{stem}.html").write_text(document(title, f"{way}{body}{way}"), encoding="utf-8")
    cards = "".join(card(lessons / f"{stem}.ipynb", title, body) for stem, (title, body) in pages.items())
    (target / "playground.html").write_text(playground_page(back="index.html"), encoding="utf-8")
    more = '<p><a href="playground.html">The playground</a>: draw a loss and watch a network learn with it.</p>'
    if (lessons / "GLOSSARY.md").exists():
        words = markdown((lessons / "GLOSSARY.md").read_text(encoding="utf-8"))
        body = f'{navigation(None, None)}<section class="text">{words}</section>'
        (target / "glossary.html").write_text(document("Glossary", body), encoding="utf-8")
        more += '<p><a href="glossary.html">The glossary</a>: what each word and symbol means.</p>'
    if sources and not names:
        print("labkit: the reference, a page for each loss and metric", flush=True)
        write_reference(target)
        more += '<p><a href="reference.html">The reference</a>: every loss and metric, and guides.</p>'
    front = (
        f'<section class="text"><h1>labkit: train on what you measure</h1>{more}</section>'
        f'<div class="cards">{cards}</div>'
    )
    (target / "index.html").write_text(document("labkit", front), encoding="utf-8")
    print(f"labkit: the book is in {target}; open {target / 'index.html'}")
    return failures


def write_reference(target: Path) -> None:
    """The pages about losses and metrics, and the guides."""
    back = '<nav aria-label="Reference"><a href="index.html">Contents</a> <a href="reference.html">Reference</a></nav>'
    for name, (title, body) in reference_pages().items():
        (target / f"{name}.html").write_text(document(title, f"{back}{body}{back}"), encoding="utf-8")
    for picture in GUIDES.glob("*.svg"):
        shutil.copyfile(picture, target / picture.name)


def without_dead_links(body: str, target: Path, pages: Collection[str]) -> str:
    """Links to lessons that this book does not hold become plain text, as where only some lessons are built."""

    def kept(match: re.Match[str]) -> str:
        stem = match[1]
        return match[0] if stem in pages or (target / f"{stem}.html").exists() else match[2]

    return re.sub(r'<a href="(\d\d_\w+)\.html[^"]*"[^>]*>(.*?)</a>', kept, body, flags=re.DOTALL)


def card(notebook: Path, title: str, body: str) -> str:
    """A lesson in the index: its title with its number, its first sentence, and the first still picture it has."""
    claim = re.search(r"<p>(.*?)</p>", body, re.DOTALL)
    line = re.split(r"(?<=[.!?]) ", re.sub(r"<[^>]+>", "", claim[1]).strip(), maxsplit=1)[0] if claim else ""
    image = still_picture(notebook)
    shown = f'<img alt="" src="{image}">' if image else ""
    return f'<a class="card" href="{notebook.stem}.html">{shown}<b>{html.escape(title)}</b><span>{line}</span></a>'


def still_picture(notebook: Path) -> str | None:
    """The first picture of an executed notebook, as a data: address; the book's pages draw theirs in the browser."""
    import nbformat

    if not notebook.exists():
        return None
    for cell in nbformat.read(notebook, as_version=4).cells:
        for found in cell.get("outputs", []):
            if image := re.search(r'<img [^>]*src="(data:image/png;base64,[\w+/=]+)"', output(found)):
                return image[1]
    return None


def navigation(before: str | None, after: str | None) -> str:
    """The way to the neighbours."""
    links = ['<a href="index.html">Contents</a>']
    if before:
        links.insert(0, f'<a href="{before}.html" rel="prev">← Before</a>')
    if after:
        links.append(f'<a href="{after}.html" rel="next">Next →</a>')
    return f'<nav aria-label="Lessons">{" ".join(links)}</nav>'


def document(title: str, body: str) -> str:
    """A whole page; scripts come last, so that the text is there first."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n"
        '<link rel="stylesheet" href="book.css">\n</head>\n'
        f"<body>\n<main>\n{body}\n</main>\n{errata_cards(body)}\n"
        '<script src="plotly.min.js"></script>\n<script src="book.js"></script>\n</body>\n</html>\n'
    )


def write_assets(target: Path) -> None:
    """Plotly from its package, so that no page asks the network for it; our own script and style."""
    from plotly.offline import get_plotlyjs
    from pygments.formatters import HtmlFormatter

    (target / "plotly.min.js").write_text(get_plotlyjs(), encoding="utf-8")
    shutil.copyfile(ASSETS / "book.js", target / "book.js")
    light = HtmlFormatter(style="default").get_style_defs(".code")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".code")
    style = (ASSETS / "book.css").read_text(encoding="utf-8")
    both = f"{style}\n{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n"
    (target / "book.css").write_text(both, encoding="utf-8")
