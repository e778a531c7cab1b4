"""Claims as a forest plot: every difference with its interval, beside the margin within which two results are equal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from labkit.base.words import is_share, shortened, signed, with_mark
from labkit.figures import style
from labkit.runs.claims import Finding, judged
from labkit.runs.compare import PairedDifference
from labkit.runs.verdicts import CONTRADICTED, EQUAL, HELD, UNRESOLVED, margin_of

if TYPE_CHECKING:
    import plotly.graph_objects as go

# a colour and a shape for each verdict
LOOKS = {
    HELD: {"color": style.COLORS[0], "symbol": "circle"},
    CONTRADICTED: {"color": style.COLORS[1], "symbol": "x"},
    EQUAL: {"color": style.COLORS[2], "symbol": "square"},
    UNRESOLVED: {"color": style.COLORS[6], "symbol": "diamond"},
}
REACH = 15.0  # points
ROW = 26  # pixels
LONGEST = 62  # letters of a line's name


def forest(findings: Iterable[Finding], reach: float = REACH) -> go.Figure:
    """One line a difference that is a share (R@1, nDCG@10 …), in points, the first claim on top; band: the margin.

    What lies beyond reach is drawn at the edge with its number, so that the rest is not squeezed. Claims about
    distances and CSC have other units and are left to the table, as are those with fewer than two seeds.
    """
    import plotly.graph_objects as go

    lines = [
        (finding, difference)
        for finding in findings
        for difference in finding.differences
        if is_share(difference.metric) and len(difference.seeds) > 1
    ]
    traces = [margins([difference for _, difference in lines])]
    for verdict, look in LOOKS.items():
        chosen = [(place, f, d) for place, (f, d) in enumerate(lines) if judged(d) == verdict]
        inside = [clip(100 * d.mean, reach) for _, _, d in chosen]
        right = [clip(100 * d.high, reach) - x for x, (_, _, d) in zip(inside, chosen)]
        left = [x - clip(100 * d.low, reach) for x, (_, _, d) in zip(inside, chosen)]
        bars = {"type": "data", "symmetric": False, "array": right, "arrayminus": left, "thickness": 2, "width": 4}
        traces.append(
            go.Scatter(
                x=inside,
                y=[-place for place, _, _ in chosen],
                mode="markers",
                name=with_mark(verdict),
                marker=look | {"size": 9},
                error_x=bars | {"color": look["color"]},
                customdata=[[source(f), f.claim.statement, in_words(d)] for _, f, d in chosen],
                hovertemplate="%{customdata[0]}<br>%{customdata[1]}<br>%{customdata[2]}<extra></extra>",
            )
        )
    fig = style.figure(*traces, x="difference, in points, with 95 % interval", height=120 + ROW * len(lines))
    names = [name_of(finding, difference) for finding, difference in lines]
    places = [-place for place in range(len(lines))]
    fig.update_yaxes(tickmode="array", tickvals=places, ticktext=names, range=[0.4 - len(lines), 0.6])
    fig.update_xaxes(zeroline=True, zerolinecolor=style.TEXT, zerolinewidth=1.5, range=[-1.15 * reach, 1.15 * reach])
    fig.update_layout(
        margin={"l": 30 + 7.6 * max(map(len, names), default=10)},
        legend={"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom"},
    )
    for place, (_, difference) in enumerate(lines):
        if abs(100 * difference.mean) > reach:
            beyond = {"x": clip(100 * difference.mean, reach), "y": 0.5 - place, "showarrow": False}
            fig.add_annotation(text=signed(100 * difference.mean), font={"size": 12}, **beyond)
    return fig


def margins(differences: Sequence[PairedDifference]) -> go.Scatter:
    """A broad line across every row, from one end of its margin to the other."""
    import plotly.graph_objects as go

    halves = [100 * margin_of(difference.group.preset, difference.metric) for difference in differences]
    x = [end for half in halves for end in (-half, half, None)]
    y = [where for place in range(len(halves)) for where in (-place, -place, None)]
    broad = {"color": LOOKS[EQUAL]["color"], "width": 14}
    return go.Scatter(x=x, y=y, mode="lines", line=broad, opacity=0.25, name="counts as equal", hoverinfo="skip")


def clip(value: float, reach: float) -> float:
    """The value, or the edge that it lies beyond."""
    return max(-reach, min(reach, value))


def name_of(finding: Finding, difference: PairedDifference) -> str:
    """A line's name: the claim, and against what where it makes several comparisons."""
    if len(finding.differences) == 1:
        return shortened(finding.claim.statement, LONGEST)
    against = ", ".join(difference.baseline.phrases) or difference.baseline.loss_title
    return f"{shortened(finding.claim.statement, LONGEST - 24)}: against {shortened(against, 16)}"


def source(finding: Finding) -> str:
    """Where the claim stands."""
    return f"{finding.claim.paper}, {finding.claim.where}"


def in_words(difference: PairedDifference) -> str:
    """What is compared, with the numbers."""
    numbers = f"{100 * difference.mean:+.2f} [{100 * difference.low:+.2f}, {100 * difference.high:+.2f}]"
    sides = f"{difference.group.title} − {difference.baseline.title}"
    return f"{difference.metric}, {sides}: {numbers}, {len(difference.seeds)} seeds".replace("-", "−")
