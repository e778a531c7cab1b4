"""Lesson 4, RS@k beside recall@k: a moved positive, a gallery with its gradient, the pull by rank, the loss floor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from labkit.figures import style
from labkit.figures.lessons.metrics_that_disagree import recall_over_k

if TYPE_CHECKING:
    import plotly.graph_objects as go

KS = (1, 2, 4, 8, 16)
# A gallery like the slides' Fig. 1: name -> (similarity to the query, whether it is a positive)
GALLERY = {
    "N1": (0.88, False),
    "P1": (0.82, True),
    "N2": (0.71, False),
    "N3": (0.63, False),
    "P2": (0.55, True),
    "N4": (0.46, False),
    "P3": (0.34, True),
    "N5": (0.25, False),
}
GALLERY_KS = (1, 2, 4, 8)
ROW = {"positives": 5.0, "negatives": 4.0} | {f"k = {k}": 3.0 - row for row, k in enumerate(GALLERY_KS)}
LONGEST = 0.25  # of an arrow, in similarity
PER_UNIT = 0.2  # length of an arrow for a gradient of 1
SHOWN_FROM = 0.005  # smaller gradients have no arrow


def counts_before(similarity: Tensor, tau_sim: float | None) -> Tensor:
    """(…, n) -> (…, n): how many other items stand before each; hard, ties against the item, if tau_sim is None."""
    difference = similarity[..., None, :] - similarity[..., :, None]
    before = (difference >= 0).double() if tau_sim is None else torch.sigmoid(difference / tau_sim)
    return (before * ~torch.eye(similarity.shape[-1], dtype=torch.bool)).sum(-1)


def recalls(similarity: Tensor, positive: Tensor, ks: Sequence[int]) -> Tensor:
    """Fractional recall@k of one query or many, (…, n) -> (…, K): rank exactly k counts."""
    rank = 1 + counts_before(similarity, None)[..., positive]
    return torch.stack([(rank <= k).double().mean(-1) for k in ks], -1)


def surrogates(similarity: Tensor, positive: Tensor, ks: Sequence[int], tau_rank: float, tau_sim: float) -> Tensor:
    """The same, both steps made sigmoids: rs@k, (…, n) -> (…, K)."""
    before = counts_before(similarity, tau_sim)[..., positive]
    return torch.stack([torch.sigmoid((k - 1 - before) / tau_rank).mean(-1) for k in ks], -1)


def moved_positive(negatives: Sequence[float], k: int, tau_rank: float = 1.0, tau_sim: float = 0.01) -> go.Figure:
    """Recall@k and rs@k of a query with one positive, which moves from similarity 0 to 1."""
    import plotly.graph_objects as go

    x = torch.linspace(0, 1, 601, dtype=torch.float64)
    rows = torch.cat([x[:, None], torch.tensor(negatives, dtype=torch.float64).expand(len(x), -1)], 1)
    positive = torch.arange(rows.shape[1]) < 1
    hard = recalls(rows, positive, (k,))[:, 0]
    soft = surrogates(rows, positive, (k,), tau_rank, tau_sim)[:, 0]
    return style.figure(
        go.Scatter(x=x.numpy(), y=hard.numpy(), name=f"recall@{k}", line=style.line(1, shape="hv")),
        go.Scatter(x=x.numpy(), y=soft.numpy(), name=f"rs@{k}", line=style.line(0)),
        x="similarity of the positive",
        y="value",
        title=f"τ₁ = {tau_rank:g}, τ₂ = {tau_sim:g}",
    )


def gallery(similarity: Mapping[str, float], tau_rank: float = 1.0, tau_sim: float = 0.01) -> go.Figure:
    """Items of GALLERY at their similarities with the pull of −∂L/∂s on each; beneath, recall@k and rs@k for each k."""
    import plotly.graph_objects as go

    s = torch.tensor([similarity[name] for name in GALLERY], dtype=torch.float64, requires_grad=True)
    positive = torch.tensor([is_positive for _, is_positive in GALLERY.values()])
    soft = surrogates(s, positive, GALLERY_KS, tau_rank, tau_sim)
    loss = 1 - soft.mean()
    (gradient,) = torch.autograd.grad(loss, s)
    hard = recalls(s.detach(), positive, GALLERY_KS)
    pull = dict(zip(GALLERY, (-gradient).tolist()))
    values = [ROW[f"k = {k}"] for k in GALLERY_KS]
    traces = [
        *items_and_pulls(similarity, pull),
        go.Scatter(x=hard.tolist(), y=values, mode="markers", name="recall@k", marker=style.marker(1, size=15)),
        go.Scatter(
            x=soft.tolist(),
            y=values,
            mode="markers",
            name="rs@k",
            marker=style.marker(0, size=8),
            hovertemplate="%{x:.3f}<extra>rs@k</extra>",
        ),
    ]
    title = f"loss {float(loss.detach()):.3f}, with hard recall {1 - float(hard.mean()):.3f}"
    fig = style.figure(*traces, x="similarity (items), value (recall@k, rs@k)", title=title, height=430)
    fig.update_layout(margin={"l": 95})
    fig.update_xaxes(range=[-0.08, 1.16], tickvals=[0, 0.25, 0.5, 0.75, 1], ticktext=["0", "0.25", "0.5", "0.75", "1"])
    fig.update_yaxes(range=[-0.6, 5.7], tickvals=list(ROW.values()), ticktext=list(ROW), zeroline=False)
    return fig


def items_and_pulls(similarity: Mapping[str, float], pull: Mapping[str, float]) -> list[go.Scatter]:
    """Points of both kinds, and arrows above them: their length is the gradient, cut at LONGEST."""
    import plotly.graph_objects as go

    traces = []
    for number, (row, kind) in enumerate((("positives", True), ("negatives", False))):
        names = [name for name, (_, is_positive) in GALLERY.items() if is_positive == kind]
        traces.append(
            go.Scatter(
                x=[similarity[name] for name in names],
                y=[ROW[row]] * len(names),
                mode="markers",
                name=row[:-1],
                marker=style.marker(2 + number, size=11),
                hovertext=[f"{name}: s = {similarity[name]:.2f}, −∂L/∂s = {pull[name]:+.4f}" for name in names],
                hoverinfo="text",
            )
        )
        traces.append(
            go.Scatter(
                x=[similarity[name] for name in names],
                y=[ROW[row] - 0.38] * len(names),
                mode="text",
                text=names,
                showlegend=False,
                hoverinfo="skip",
                textfont={"size": 11},
            )
        )
    shafts: dict[str, list[float | None]] = {"x": [], "y": []}
    heads: dict[str, list[tuple[float, float]]] = {"triangle-right": [], "triangle-left": []}
    for name, (_, is_positive) in GALLERY.items():
        if abs(pull[name]) < SHOWN_FROM:
            continue
        start, height = similarity[name], ROW["positives" if is_positive else "negatives"] + 0.3
        length = max(-LONGEST, min(LONGEST, PER_UNIT * pull[name]))
        shafts["x"] += [start, start + length, None]
        shafts["y"] += [height, height, None]
        heads["triangle-right" if length > 0 else "triangle-left"].append((start + length, height))
    grey = style.COLORS[6]
    traces.append(
        go.Scatter(x=shafts["x"], y=shafts["y"], mode="lines", name="pull −∂L/∂s", line={"color": grey, "width": 3})
    )
    for symbol, ends in heads.items():
        traces.append(
            go.Scatter(
                x=[x for x, _ in ends],
                y=[y for _, y in ends],
                mode="markers",
                showlegend=False,
                hoverinfo="skip",
                marker={"symbol": symbol, "size": 10, "color": grey},
            )
        )
    return traces


def moved_gallery(item: str, similarity: float, tau_rank: float, tau_sim: float = 0.01) -> go.Figure:
    """The gallery with one item moved."""
    present = {name: s for name, (s, _) in GALLERY.items()}
    return gallery(present | {item: similarity}, tau_rank, tau_sim)


def rank_pull(tau_rank: float, sets: Sequence[Sequence[int]] = ((1,), (4, 8, 16), KS)) -> go.Figure:
    """How hard the loss pulls a positive with R items before it, |∂L/∂R|, for several sets of k."""
    import plotly.graph_objects as go

    R = torch.linspace(0, 24, 241, dtype=torch.float64)
    traces = []
    for number, ks in enumerate(sets):
        counted = torch.stack([torch.sigmoid((k - 1 - R) / tau_rank) for k in ks])
        pull = (counted * (1 - counted) / tau_rank).mean(0)
        name = f"K = {{{', '.join(map(str, ks))}}}"
        traces.append(go.Scatter(x=R.numpy(), y=pull.numpy(), name=name, line=style.line(number)))
    return style.figure(*traces, x="R: items before the positive", y="|∂L/∂R|", title=f"τ₁ = {tau_rank:g}")


def loss_floor(num_positives: int, ks: Sequence[int], tau_rank: float) -> float:
    """RS@k of a perfect ranking, the positives at ranks 1 … |P| and far apart (E-SL-3)."""
    rank = torch.arange(1, num_positives + 1, dtype=torch.float64)
    hits = [torch.sigmoid((k - rank) / tau_rank).mean() for k in ks]
    return 1 - float(torch.stack(hits).mean())


def floors(tau_rank: float, ks: Sequence[int] = KS, largest: int = 20) -> go.Figure:
    """The loss of a perfect ranking against |P|: what rs@k leaves, and what fractional recall itself leaves."""
    import plotly.graph_objects as go

    counts = list(range(1, largest + 1))
    hard = [1 - sum(min(k, n) / n for k in ks) / len(ks) for n in counts]
    soft = [loss_floor(n, ks, tau_rank) for n in counts]
    fig = style.figure(
        go.Scatter(x=counts, y=soft, mode="lines+markers", name="1 − rs@k", line=style.line(0)),
        go.Scatter(x=counts, y=hard, mode="lines+markers", name="1 − recall@k, hard", line=style.line(1)),
        x="positives |P| of the query",
        y="loss of a perfect ranking",
        title=f"τ₁ = {tau_rank:g}",
    )
    fig.update_yaxes(range=[0, 0.8])
    return fig


def three_recalls(found: Mapping[str, float], ks: Sequence[int] = KS) -> go.Figure:
    """Recall@k of the same embeddings by its three definitions, as `evaluate` has found them."""
    names = {"any hit (reported)": "R@", "hits / |P| (slides' formula)": "recall-fraction@"}
    names |= {"hits / min(k, |P|) (released code)": "recall-capped@"}
    return recall_over_k(found, ks, names)
