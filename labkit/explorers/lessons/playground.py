"""The playground in lessons 6 and 7: alive in JupyterLab and in the book, a picture of two runs in a built notebook."""

from __future__ import annotations

from typing import Any

from labkit.base.mode import mode
from labkit.explorers.hosts import PLAYGROUND, book_html
from labkit.explorers.lessons.many_centres import toy_film
from labkit.explorers.playground import values, widget_class
from labkit.figures.display import caption, display_html, picture
from labkit.figures.film import film_figure
from labkit.figures.static import small_multiples

ALT = (
    "The playground: draw a derivative, drag the data, and train networks. Here the toy's ring after training with "
    "PNP-I_b and with PNP-D_q (recorded runs, seed 0; training classes inside, unseen classes outside): I_b folds the "
    "ring and lays unseen classes on each other, D_q does not. Run the cell in JupyterLab to make it live."
)


def explore_playground(state: str = "") -> Any:
    """Draw a derivative, drag clusters, and train networks in the page; state: as its address holds it, "loss=Dq"."""
    from IPython.display import display

    if mode() == "live":
        live = widget_class()(state=state)
        display(live)
        return live
    if mode() == "book":
        display_html(book_html(PLAYGROUND, [values(state)], [{}]) + caption(ALT.partition(" Here")[0]))
        return None
    films = [toy_film(loss, "ring") for loss in ("pnp-ib", "pnp-dq")]
    titles = [f"{film.title}: R@1 of unseen classes {100 * film.recall(-1):.0f} %" for film in films]
    display(
        picture(small_multiples([film_figure(film, -1) for film in films], titles, columns=2), ALT, few_colors=True)
    )
    return None
