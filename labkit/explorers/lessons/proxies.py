"""Lesson 8: samples and proxies on the circle, dragged."""

from __future__ import annotations

from labkit.explorers.drag import show_drag
from labkit.figures.circle import ARROW, CLASSES, PROXIES, SAMPLES
from labkit.figures.lessons.proxies import LOSSES, SCALE, SPREAD, gradient_arrows

START = 210  # x of class A, in the middle of class B


def scene(loss: str = "SoftTriple", centers: int = 2) -> dict[str, object]:
    """What the page begins with: `gradient_arrows(START, loss, centers)`, to be dragged."""
    samples = [[START, SAMPLES[0][1]], *([degrees, label] for degrees, label in SAMPLES[1:])]
    return {
        "kind": "proxies",
        "names": CLASSES,
        "samples": samples,
        "middles": PROXIES,
        "spread": {str(many): offsets for many, offsets in SPREAD.items()},
        "scale": SCALE,
        "arrow": ARROW,
        "loss": loss,
        "centers": centers,
    }


def explore_proxies() -> None:
    """Drag x, the other samples and the proxies. The still picture: all six losses with x where it begins."""
    alt = (
        "Three classes on a circle, two samples each (discs) and their proxies (triangles, drawn a little inside the "
        "circle). Drag any of them, or use the arrow keys. Arrows are one step of gradient descent; bars are "
        "∂L/∂S(x, c): to the left a pull, to the right a push. x is a sample of class A at 210 degrees, in the middle "
        "of class B."
    )
    beneath = (
        "The still picture has all six losses (here proxies are stars). SoftTriple pulls x to A as strongly as it "
        "pushes it from B. MPA-AP pushes it from B only; in the middle of the proxies of B a push has no direction, so "
        "x has no arrow. In ProxyAnchor and MPA the second sample of A has no arrow, because x takes the whole push of "
        "class B."
    )
    show_drag(scene(), lambda: [gradient_arrows(START, loss, 2) for loss in LOSSES], list(LOSSES), alt, beneath)
