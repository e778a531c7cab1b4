"""The derivative designer: say how hard a positive with R negatives before it is pulled, and train with that loss."""

from __future__ import annotations

import html
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import torch

from labkit import losses
from labkit.base.mode import mode
from labkit.explorers.formula import Derivative, FormulaError, parse
from labkit.explorers.live import LiveFigure, Shell
from labkit.explorers.sliders import Control, book_html
from labkit.figures import style
from labkit.figures.display import caption, display_html, picture
from labkit.figures.film import on_circles
from labkit.figures.static import small_multiples
from labkit.training.toy import Trained, train

if TYPE_CHECKING:
    import plotly.graph_objects as go

Corners = tuple[tuple[float, float], ...]  # (R, slope) of a drawn derivative

PRESETS = {
    "PNP-O": "1",
    "PNP-I_u, Eq. 6": "log(1+R)",
    "PNP-I_b, b = 2": "R/(1+2*R)",
    "PNP-D_s": "1/(1+R)",
    "PNP-D_q, α = 1": "1/(1+R)**2",
    "PNP-D_q, α = 4": "4/(1+R)**5",
    "a hump at R = 1": "R*exp(1-R)",
    "nothing beyond R = 5": "max(0, 1-R/5)",
    "D_q, sign turned round": "-1/(1+R)**2",
}
START = "PNP-D_q, α = 1"
AT = (0.0, 1.0, 2.0, 5.0, 10.0)  # where points can be set
LARGEST = 12.0  # R in the pictures
HIGHEST = 2.0  # of a slider
SEEDS = (0, 1, 2, 3, 4)
IN_BOOK = (0, 1, 2)  # seeds
TWIN = ("PNP-I_b, b = 2", "PNP-D_s", "PNP-D_q, α = 1")
ALT = (
    "Derivatives, their losses, and what they train: PNP-I_b rises, D_s and D_q (α = 1) fall. The circles show the "
    "unseen classes of the toy before training (inside) and after (outside), with Recall@1. One network each, seed 1."
)


def explore_derivatives() -> Designer | None:
    """Type or draw a derivative; the loss and a toy trained with it answer at once. Beneath, three derivatives."""
    from IPython.display import display

    live = Designer() if mode() == "live" else None
    if live is not None:
        live.show()
    if mode() == "book":
        controls = [
            Control("preset", "derivative", tuple(PRESETS), START, menu=True),
            Control("seed", "seed", IN_BOOK, 1),
        ]
        display_html(
            book_html(lambda preset, seed: side_by_side(three(PRESETS[preset], seed)), controls) + caption(ALT)
        )
    else:
        shown = [three(PRESETS[name], 1) for name in TWIN]
        figures = [both(slope, value) for slope, value, _ in shown] + [circles for _, _, circles in shown]
        titles = [f"{name}: {PRESETS[name]}" for name in TWIN] + [fig.layout.title.text for fig in figures[3:]]
        display(picture(small_multiples(figures, titles, columns=3), ALT, few_colors=True))
    return live


def three(g: str | Corners, seed: int) -> tuple[go.Figure, go.Figure, go.Figure]:
    """Derivative, loss and embedding."""
    loss = made(g)
    return curve(loss.derivative, "∂L/∂R", 0), curve(loss.value, "loss", 1), embedding(trained(g, seed))


def made(g: str | Corners) -> losses.FromDerivative:
    """The loss of a formula or of points."""
    return losses.from_derivative(parse(g) if isinstance(g, str) else g)


@lru_cache(maxsize=128)
def trained(g: str | Corners, seed: int) -> Trained:
    """A toy network trained with it."""
    found = train(made(g), seed)
    if not torch.isfinite(found.after).all():
        raise FormulaError("The training has left the finite numbers: the derivative is too large somewhere.")
    return found


def curve(function: Derivative, y: str, number: int) -> go.Figure:
    """A function of R; points are closer together near 0, where most bend."""
    import plotly.graph_objects as go

    even = LARGEST * torch.linspace(0, 1, 61, dtype=torch.float64) ** 2
    R = torch.cat([even, torch.tensor(AT, dtype=torch.float64)]).unique()  # sorted; points that are set are corners
    found = function(R)
    line = go.Scatter(
        x=[round(v, 4) for v in R.tolist()],
        y=[float(f"{v:.5g}") for v in found.tolist()],
        mode="lines",
        line=style.line(number),
        showlegend=False,
        name=y,
    )
    fig = style.figure(line, x="R: negatives before the positive", y=y)
    low, high = min(0.0, float(found.min())), max(0.0, float(found.max()))
    room = 0.08 * (high - low) or 1.0
    fig.update_yaxes(range=[low - (room if low < 0 else 0.25 * room), high + room])
    return fig


def embedding(found: Trained) -> go.Figure:
    """The unseen classes before (inside) and after training (outside)."""
    before, after = (100 * recall for recall in found.recall)
    title = f"unseen classes: R@1 {before:.0f} → {after:.0f} %"
    return on_circles(
        (found.before, found.labels), (found.after, found.labels), "inside: before<br>outside: after", title
    )


def both(slope: go.Figure, value: go.Figure) -> go.Figure:
    """Derivative and loss in one pair of axes, for the still picture."""
    import plotly.graph_objects as go

    lines = [go.Scatter(one.data[0]).update(showlegend=True) for one in (slope, value)]
    fig = style.figure(*lines, x=slope.layout.xaxis.title.text)
    fig.update_yaxes(range=[0, 4])
    return fig


def side_by_side(figures: tuple[go.Figure, ...]) -> go.Figure:
    """Derivative, loss and embedding in one figure, so that they change together."""
    fig = style.figure(height=400)
    small = {"size": style.FONT_SIZE - 2}
    for number, (one, domain) in enumerate(zip(figures, ((0.0, 0.26), (0.35, 0.61), (0.66, 1.0))), 1):
        mark = "" if number == 1 else str(number)
        for trace in one.data:
            fig.add_trace(trace.update(xaxis=f"x{mark}", yaxis=f"y{mark}"))
        x, y = one.layout.xaxis.to_plotly_json(), one.layout.yaxis.to_plotly_json()
        if "scaleanchor" in y:
            y["scaleanchor"] = f"x{mark}"
        x |= {"domain": domain, "anchor": f"y{mark}", "title": {"text": "R", "font": small}}
        fig.update_layout({f"xaxis{mark}": x, f"yaxis{mark}": y | {"anchor": f"x{mark}", "title": {"text": ""}}})
        for note in one.layout.annotations:
            fig.add_annotation(note.to_plotly_json() | {"xref": f"x{mark}", "yref": f"y{mark}"})
        words = (one.layout.title.text or ("derivative ∂L/∂R", "loss, its integral")[number - 1]).replace(": ", "<br>")
        fig.add_annotation(
            text=words,
            x=sum(domain) / 2,
            y=1.02,
            xref="paper",
            yref="paper",
            xanchor="center",
            yanchor="bottom",
            showarrow=False,
            font=small,
        )
    fig.update_layout(margin={"t": 60, "l": 45}, legend={"orientation": "h", "x": 0.66, "y": -0.02, "yanchor": "top"})
    return fig


class Designer(Shell):
    """The live form: a formula or five points, whichever was touched last; a mistake in a formula is named."""

    def __init__(self) -> None:
        """Build the widgets and draw once."""
        import ipywidgets as widgets

        wide = {"description_width": "initial"}
        self.preset = widgets.Dropdown(options=list(PRESETS), value=START, description="start from", style=wide)
        self.formula = widgets.Text(
            PRESETS[START],
            description="∂L/∂R =",
            continuous_update=False,
            style=wide,
            layout=widgets.Layout(width="340px"),
        )
        self.points = [
            widgets.FloatSlider(
                0.0,
                min=0.0,
                max=HIGHEST,
                step=0.05,
                description=f"R = {R:g}",
                orientation="vertical",
                continuous_update=False,
                layout=widgets.Layout(height="170px", width="70px"),
            )
            for R in AT
        ]
        self.source = widgets.ToggleButtons(options=["formula", "points"], description="use the", style=wide)
        self.seed = widgets.IntSlider(1, min(SEEDS), max(SEEDS), description="seed", continuous_update=False)
        self.message = widgets.HTML()
        self.quiet = False
        self.set_points()
        self.live = LiveFigure(side_by_side(three(self.derivative(), self.seed.value)))
        self.preset.observe(self.chosen, "value")
        self.formula.observe(self.typed, "value")
        self.source.observe(self.changed, "value")
        self.seed.observe(self.changed, "value")
        for point in self.points:
            point.observe(self.moved, "value")
        texts = widgets.VBox([self.preset, self.formula, self.source, self.seed])
        row = widgets.HBox([texts, widgets.HBox(self.points)], layout=widgets.Layout(flex_flow="row wrap"))
        self.box = widgets.VBox([row, self.message])

    def derivative(self) -> str | Corners:
        """What the reader wants: the formula's text, or the points."""
        if self.source.value == "formula":
            return str(self.formula.value)
        return tuple(zip(AT, (float(point.value) for point in self.points)))

    def set_points(self) -> None:
        """Move the points onto the formula, as far as they reach, so that drawing starts from it."""
        for point, height in zip(self.points, parse(self.formula.value)(torch.tensor(AT)).tolist()):
            point.value = min(max(height, 0.0), HIGHEST)

    def chosen(self, change: Any) -> None:
        """A preset fills the formula and the points."""
        self.quiet = True
        self.formula.value = PRESETS[self.preset.value]
        self.source.value = "formula"
        self.set_points()
        self.quiet = False
        self.draw()

    def typed(self, change: Any) -> None:
        """A new formula counts from now on."""
        self.use("formula")

    def moved(self, change: Any) -> None:
        """A moved point: points count from now on."""
        self.use("points")

    def use(self, source: str) -> None:
        """Draw from one of the two, once."""
        if not self.quiet:
            self.quiet = True
            self.source.value = source
            self.quiet = False
            self.draw()

    def changed(self, change: Any) -> None:
        """Draw anew."""
        if not self.quiet:
            self.draw()

    def draw(self) -> None:
        """Loss and toy of the present derivative; what is wrong with it goes into the message, the figure stays."""
        try:
            new = side_by_side(three(self.derivative(), self.seed.value))
        except ValueError as error:
            self.message.value = f"<b>✗</b> {html.escape(str(error))}"
            return
        self.message.value = ""
        self.live.draw(new)
