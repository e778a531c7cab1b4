"""The reference part of the book: pages for losses, metrics and guides, all made from what the code itself says."""

from __future__ import annotations

import html
import inspect
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labkit.base.paths import RECORDED
from labkit.base.titles import TITLES
from labkit.base.words import with_interval
from labkit.book.page import code
from labkit.data.papers import errata
from labkit.explorers.sliders import Control, book_html
from labkit.figures.circle import loss_arrows
from labkit.figures.display import caption
from labkit.figures.lessons.proxies import ONE_PROXY, gradient_arrows
from labkit.lessons.markdown import markdown
from labkit.losses import CATALOG, Card
from labkit.metrics import public
from labkit.runs import find_runs, table

if TYPE_CHECKING:
    import pandas as pd

GUIDES = Path(__file__).parent / "guides"
ANGLES = tuple(range(0, 360, 15))
# On a circle with six samples the usual temperatures leave nothing to see.
SOFTER = {"tau": 0.2, "tau_sim": 0.2, "scale": 4.0}
FAMILIES = {
    "ranking": "Losses that rank",
    "proxy": "Losses with proxies",
    "softmax": "Losses with a softmax",
    "pair": "Losses of pairs",
}


def reference_pages(angles: Sequence[int] = ANGLES) -> dict[str, tuple[str, str]]:
    """Every page of the reference, by its file's name without .html: title and body. angles: of the live pictures."""
    results = table(find_runs(RECORDED))
    pages = {f"loss-{name}": (TITLES[name], loss_page(card, results, angles)) for name, card in CATALOG.items()}
    pages |= {f"metric-{name}": (name, metric_page(name)) for name in public.__all__}
    for path in sorted(GUIDES.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        title = text.partition("\n")[0].removeprefix("# ")
        pages[f"guide-{path.stem}"] = (title, section(markdown(text).replace('class="highlight"', 'class="code"')))
    return {"reference": ("Reference", contents(pages))} | pages


def contents(pages: dict[str, tuple[str, str]]) -> str:
    """The index of the reference."""
    parts = ["<h1>Reference</h1>", "<h2>Guides</h2>", links(pages, [name for name in pages if "guide-" in name])]
    for family, title in FAMILIES.items():
        names = [f"loss-{name}" for name, card in CATALOG.items() if card.family == family]
        parts += [f"<h2>{title}</h2>", links(pages, names)]
    parts += ["<h2>Metrics</h2>", links(pages, [f"metric-{name}" for name in public.__all__])]
    return section("".join(parts))


def links(pages: dict[str, tuple[str, str]], names: Sequence[str]) -> str:
    """A list of links to pages."""
    return "<ul>" + "".join(f'<li><a href="{n}.html">{html.escape(pages[n][0])}</a></li>' for n in names) + "</ul>"


def section(body: str) -> str:
    """Text with the book's width."""
    return f'<section class="text">{body}</section>'


def loss_page(card: Card, results: pd.DataFrame, angles: Sequence[int]) -> str:
    """All about one loss: equation, picture, defaults, errata, what the released code does, example, results."""
    known = errata()
    words = [
        f"# {TITLES[card.name]}\n\n$${card.latex}$$\n\n{card.paper}, {card.equation}.",
        defaults(card),
        bullets("Errata", [f"**{name}**: {known[name]}" for name in card.errata]),
        f"## The released code\n\n{card.released}" if card.released else "",
        recorded(card, results),
    ]
    text, *more = (section(markdown(part)) for part in words if part)
    example = f"<h2>Example</h2>{code(example_of(card))}<h2>In the code</h2>{docstring(function_of(card))}"
    return f"{text}{live_picture(card, angles)}{section(example)}{''.join(more)}"


def defaults(card: Card) -> str:
    """The options with what they are set to and why, as a table."""
    rows = [f"| `{name}` | {value} | {source} |" for name, (value, source) in card.defaults.items()]
    return "\n".join(["## Defaults\n", "| option | default | from |", "|---|---|---|", *rows]) if rows else ""


def bullets(title: str, lines: Sequence[str]) -> str:
    """A heading with a list beneath, nothing for an empty list."""
    return f"## {title}\n\n" + "\n".join(f"- {line}" for line in lines) if lines else ""


def live_picture(card: Card, angles: Sequence[int]) -> str:
    """The loss's pull on samples on the circle, one of which is moved."""
    draw, said = drawing_of(card)
    control = Control("angle", "angle of x, a sample of class A (degrees)", tuple(angles), angles[len(angles) // 6])
    alt = (
        "Samples on the unit circle; an arrow shows −∂L/∂x, a step of gradient descent. "
        f"{f'Drawn with {said}, so that there is something to see.' if said else ''}"
    )
    return book_html(draw, [control]) + caption(alt.strip())


def drawing_of(card: Card) -> tuple[Callable[..., Any], str]:
    """The figure function of a loss's picture, and with what settings it draws."""
    if card.family == "proxy":
        return partial(gradient_arrows, loss=card.title, centers=1 if card.title in ONE_PROXY else 2), "a scale of 8"
    softer = {name: value for name, value in SOFTER.items() if name in card.options}
    return partial(loss_arrows, card.name, **softer), ", ".join(f"{name} = {value}" for name, value in softer.items())


def example_of(card: Card) -> str:
    """Code that builds the loss and takes a gradient."""
    factory = card.factory
    own = factory.keywords if isinstance(factory, partial) else {}
    name = factory.func.__name__ if isinstance(factory, partial) else factory.__name__
    given = ["num_classes=16", "dim=32"] if card.needs_classes else []
    given += [f"{option}={value!r}" for option, value in own.items()]
    return (
        "import torch\n\nfrom labkit import losses\n\n"
        f"loss = losses.{name}({', '.join(given)})\n"
        "embeddings = torch.randn(64, 32, requires_grad=True)\n"
        "labels = torch.arange(16).repeat_interleave(4)\n"
        "loss(embeddings, labels).backward()\n"
    )


def function_of(card: Card) -> Any:
    """The function behind the loss's Module."""
    module = card.factory.func if isinstance(card.factory, partial) else card.factory
    return module.function if hasattr(module, "function") else module


def recorded(card: Card, results: pd.DataFrame) -> str:
    """R@1 of the recorded runs with the loss's usual options, by preset."""
    own = [row for row in results.to_dict("records") if row["loss"] == card.name and not row["variant"].settings]
    rows = [
        f"| {row['preset']} | {row['n']} | {with_interval(row['mean'], row['low'], row['high'], 100, digits=1)} |"
        for row in own
    ]
    if not rows:
        return ""
    head = ["## Recorded results\n", "| data set | seeds | R@1 (%), unseen classes |", "|---|---|---|"]
    note = (
        "\nMean over seeds ± half its 95 % interval; runs on a CPU. How they were made: `data/runs` in the repository."
    )
    return "\n".join([*head, *rows, note])


def metric_page(name: str) -> str:
    """A metric as its code describes it."""
    return section(f"<h1>{html.escape(name)}</h1>{docstring(getattr(public, name))}")


def docstring(function: Any) -> str:
    """Call form and description of a function, the same as `help` shows."""
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    return code(f"{function.__name__}{short_signature(function)}") + "".join(map(paragraph, paragraphs))


def short_signature(function: Any) -> str:
    """Arguments and defaults without their types, which would fill the page."""
    found = inspect.signature(function)
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in found.parameters.values()]
    return str(found.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def paragraph(text: str) -> str:
    """A part of a docstring: an equation keeps its lines, all else is prose."""
    if re.match(r"[\w@()\[\], ]{1,40} = ", text) and not text.rstrip().endswith("."):
        return f'<pre class="printed">{html.escape(text)}</pre>'
    prose = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
    return f"<p>{prose}</p>"
