"""The toy's training as a film: play, pause, or go through the steps by hand; losses and layouts to choose from."""

from __future__ import annotations

from typing import Any

from labkit.base.mode import mode
from labkit.explorers.explorer import Control, book_html
from labkit.explorers.live import LiveFigure, Shell
from labkit.figures.display import caption, display_html, picture
from labkit.figures.static import small_multiples
from labkit.figures.toy_frames import NAMES, frame_figure, frames_of

LAYOUTS = ("ring", "random")
IN_BOOK = ("pnp-o", "pnp-ib", "pnp-ds", "pnp-dq", "smooth-ap")  # 5 losses × 2 layouts × 20 steps
START = "pnp-dq"
TWIN = [(loss, frame) for loss in ("pnp-ib", "pnp-dq") for frame in (0, 6, 15, -1)]
ALT = (
    "The ring during training, seed 0, at four steps: training classes on the inner circle, unseen classes on the "
    "outer one. Upper row, PNP-I_b: the clusters of a class move together, and unseen classes fall onto each other. "
    "Lower row, PNP-D_q: clusters stay apart, and so do unseen classes."
)


def explore_training() -> Player | None:
    """Recorded frames of the toy while it learns. Beneath, two losses at four steps."""
    from IPython.display import display

    live = Player() if mode() == "live" else None
    if live is not None:
        live.show()
    if mode() == "book":
        display_html(book_html(frame_of_book, book_controls()) + caption(ALT))
    else:
        steps = frames_of(START, "ring").steps
        figures = [frame_figure(loss, "ring", steps[frame]) for loss, frame in TWIN]
        recall = [frames_of(loss, "ring").recall(frame) for loss, frame in TWIN]
        titles = [f"{NAMES[loss]}, step {steps[frame]}: {100 * r:.0f} %" for (loss, frame), r in zip(TWIN, recall)]
        display(picture(small_multiples(figures, titles, columns=4), ALT, few_colors=True))
    return live


def book_controls() -> list[Control]:
    """Every second frame of some losses: 200 figures."""
    steps = frames_of(START, "ring").steps
    kept = (*steps[:-1:2][:19], steps[-1])
    return [
        Control("loss", "loss", tuple(NAMES[loss] for loss in IN_BOOK), NAMES[START], menu=True),
        Control("layout", "layout", LAYOUTS, "ring", menu=True),
        Control("step", "training step", kept, steps[0], play=True),
    ]


def frame_of_book(loss: str, layout: str, step: int) -> Any:
    """A frame by the name that the reader sees."""
    return frame_figure(next(key for key, name in NAMES.items() if name == loss), layout, step)


class Player(Shell):
    """The live form. Keyboard: Tab reaches the play button and the slider, space plays and pauses, arrows step."""

    def __init__(self) -> None:
        """Build the widgets and draw once."""
        import ipywidgets as widgets

        last = len(frames_of(START, "ring").steps) - 1
        self.loss = widgets.Dropdown(
            options=[(name, key) for key, name in NAMES.items()], value=START, description="loss"
        )
        self.layout = widgets.Dropdown(options=list(LAYOUTS), value="ring", description="layout")
        self.play = widgets.Play(min=0, max=last, value=0, interval=250, description="play the training")
        self.frame = widgets.IntSlider(0, 0, last, description="frame", layout=widgets.Layout(width="420px"))
        widgets.link((self.play, "value"), (self.frame, "value"))
        self.live = LiveFigure(self.drawn())
        for widget in (self.loss, self.layout, self.frame):
            widget.observe(self.changed, "value")
        menus = widgets.HBox([self.loss, self.layout], layout=widgets.Layout(flex_flow="row wrap"))
        self.box = widgets.VBox([menus, widgets.HBox([self.play, self.frame])])

    def drawn(self) -> Any:
        """The figure of the present frame."""
        step = frames_of(self.loss.value, self.layout.value).steps[self.frame.value]
        return frame_figure(self.loss.value, self.layout.value, step)

    def changed(self, change: Any) -> None:
        """Move the points, in place."""
        self.live.draw(self.drawn())
