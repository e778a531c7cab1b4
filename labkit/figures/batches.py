"""How often a random batch holds a positive at all: what pair losses need and proxy losses do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.figures import style

if TYPE_CHECKING:
    import plotly.graph_objects as go

# training images, training classes, batch size of the MPA paper (Omniglot: that of the preset)
TRAINING_SETS = {
    "CUB": (5864, 100, 180),
    "Cars196": (8054, 98, 64),
    "SOP": (59551, 11318, 32),
    "Omniglot": (16540, 827, 128),
}


def share_with_positive(images: int, classes: int, batch: int) -> float:
    """Chance that an item of a random batch has another of its class in it; classes of equal size."""
    size, none = images / classes, 1.0
    for drawn in range(batch - 1):
        none *= max(0.0, images - size - drawn) / (images - 1 - drawn)
    return 1 - none


def partners() -> go.Figure:
    """Share of the items of a random batch that have a positive in it, against the batch size."""
    import plotly.graph_objects as go

    sizes = [2, 4, 8, 16, 32, 64, 128, 256, 512]
    between = sorted({round(2 ** (n / 4)) for n in range(4, 37)})
    traces = []
    for number, (name, (images, classes, batch)) in enumerate(TRAINING_SETS.items()):
        share = [100 * share_with_positive(images, classes, size) for size in between]
        traces.append(
            go.Scatter(x=between, y=share, mode="lines", name=f"{name}, {classes:,} classes", line=style.line(number))
        )
        here = 100 * share_with_positive(images, classes, batch)
        traces.append(
            go.Scatter(x=[batch], y=[here], mode="markers", showlegend=False, marker=style.marker(number, size=11))
        )
    fig = style.figure(*traces, x="batch size (random sampling)", y="items with a positive in the batch (%)")
    fig.update_xaxes(type="log", tickvals=sizes, ticktext=[str(size) for size in sizes], range=[0.2, 2.8])
    return fig
