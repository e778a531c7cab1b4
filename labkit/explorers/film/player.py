"""The film player in lessons: alive in JupyterLab and in the book, a picture of some frames in a built notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from labkit.base.mode import mode
from labkit.base.paths import RECORDED
from labkit.explorers.film.packed import Choice, Menu, packed, reel
from labkit.explorers.hosts import FILM, book_html
from labkit.figures.display import caption, display_html, picture
from labkit.figures.film import film_figure
from labkit.figures.static import small_multiples
from labkit.runs.film import Film, read_film
from labkit.runs.read import open_run

IN_BOOK = 18  # samples of a class; a page holds all films
HEIGHT = 520  # pixels


def show_films(
    films: Mapping[Choice, Film],
    menus: Sequence[Menu],
    twin: Sequence[tuple[Film, int]],
    titles: Sequence[str],
    alt: str,
    beneath: str,
    columns: int | None = None,
    step: int | None = None,
    starts: Sequence[Choice] = (),
) -> Any:
    """The player, and beneath it a still picture of some frames; in the book the player alone.

    alt: what films show; beneath: what the still picture adds. step: where it begins, None for the end. starts: one
    player for each choice, side by side; they go and turn together. Returns the live widget, None where there is none.
    """
    from IPython.display import display

    if mode() == "book":
        content = reel({key: packed(film, IN_BOOK) for key, film in films.items()}, menus)
        players = [{"height": HEIGHT, "step": step} | each for each in linked(starts, menus)]
        display_html(book_html(FILM, players, [{"films": content}] * len(players)) + caption(alt))
        return None
    live = None
    if mode() == "live":
        content = reel({key: packed(film) for key, film in films.items()}, menus)
        live = beside([widget_class()(films=content, step=step, **each) for each in linked(starts, menus)])
        display(live)
    figures = [film_figure(film, frame) for film, frame in twin]
    display(picture(small_multiples(figures, titles, columns=columns), f"{alt} {beneath}", few_colors=True))
    return live


def linked(starts: Sequence[Choice], menus: Sequence[Menu]) -> list[dict[str, Any]]:
    """What the players of one group begin with."""
    if not starts:
        return [{}]
    group = "-".join(menu["label"] for menu in menus)
    return [{"group": group, "start": list(start)} for start in starts]


def beside(players: Sequence[Any]) -> Any:
    """One player, or several in a row that wraps."""
    import ipywidgets as widgets

    if len(players) == 1:
        return players[0]
    for player in players:
        player.layout = widgets.Layout(flex="1 1 22rem", min_width="0")
    return widgets.HBox(list(players), layout=widgets.Layout(flex_flow="row wrap", grid_gap="12px"))


@cache
def widget_class() -> Any:
    """The anywidget, made when first asked for: building notebooks needs no widgets."""
    import anywidget
    import traitlets

    class FilmWidget(anywidget.AnyWidget):  # type: ignore[misc]
        """One player; step, turn and tilt are where the reader has come to."""

        _esm = FILM.module("jupyter")
        _css = FILM.css
        films = traitlets.Bytes().tag(sync=True)
        height = traitlets.Int(HEIGHT).tag(sync=True)
        group = traitlets.Unicode().tag(sync=True)
        start: Any = traitlets.List(default_value=None, allow_none=True).tag(sync=True)
        step = traitlets.Int(None, allow_none=True).tag(sync=True)
        turn = traitlets.Int(45).tag(sync=True)
        tilt = traitlets.Int(35).tag(sync=True)

    return FilmWidget


@cache
def recorded_film(run_id: str, title: str) -> Film:
    """The film of a recorded run, under a name for people."""
    film = read_film(open_run(run_id, RECORDED), title)
    assert film is not None  # it has frames
    return film
