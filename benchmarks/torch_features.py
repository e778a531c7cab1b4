"""Torch's own tools on every loss: what works, compared with plain autograd, and what refuses, in its own words.

python -m benchmarks.torch_features writes results/torch_features.md.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

from labkit.losses import CATALOG

RESULTS = Path(__file__).parent / "results" / "torch_features.md"
CLASSES, DIM = 4, 6
LABELS = torch.arange(12) // 3
Check = Callable[[nn.Module, Tensor], None]


def batch(seed: int = 0) -> Tensor:
    return torch.randn(len(LABELS), DIM, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def built(name: str) -> nn.Module:
    torch.manual_seed(0)
    # evaluation mode: the gate of SGSL stays as it is
    return CATALOG[name].build(num_classes=CLASSES, dim=DIM).double().eval()


def value_of(loss: nn.Module, x: Tensor) -> Tensor:
    """SiMix draws weights: the same ones each time."""
    if getattr(loss, "options", {}).get("simix"):
        return loss(x, LABELS, generator=torch.Generator().manual_seed(1))
    return loss(x, LABELS)


def plain_gradient(loss: nn.Module, x: Tensor) -> tuple[Tensor, Tensor]:
    x = x.clone().requires_grad_()
    value = value_of(loss, x)
    return value.detach(), torch.autograd.grad(value, x)[0]


def func_grad(loss: nn.Module, x: Tensor) -> None:
    found = torch.func.grad(lambda rows: value_of(loss, rows))(x)
    torch.testing.assert_close(found, plain_gradient(loss, x)[1], rtol=1e-8, atol=1e-10)


def vmap(loss: nn.Module, x: Tensor) -> None:
    """Two batches with labels of their own at once."""
    several = torch.stack([x, batch(1)])
    labels = torch.stack([LABELS, LABELS.flip(0)])
    found = torch.func.vmap(loss)(several, labels)
    each = torch.stack([loss(rows, y) for rows, y in zip(several, labels)])
    torch.testing.assert_close(found, each, rtol=1e-8, atol=1e-10)


def compiled(loss: nn.Module, x: Tensor) -> None:
    """One graph: traced as for any backend, run as it is."""
    torch._dynamo.reset()
    quick = torch.compile(loss, fullgraph=True, backend="aot_eager")
    rows = x.clone().requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # such as those of broken graphs
        value = value_of(quick, rows)
    value.backward()
    wanted, gradient = plain_gradient(loss, x)
    torch.testing.assert_close(value.detach(), wanted, rtol=1e-8, atol=1e-10)
    torch.testing.assert_close(rows.grad, gradient, rtol=1e-8, atol=1e-10)


def double_backward(loss: nn.Module, x: Tensor) -> None:
    """The Hessian times a direction, against a difference of gradients."""
    direction, step = batch(2), 1e-6
    rows = x.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(value_of(loss, rows), rows, create_graph=True)
    (found,) = torch.autograd.grad((gradient * direction).sum(), rows)
    ahead, behind = (plain_gradient(loss, x + way * step * direction)[1] for way in (1, -1))
    torch.testing.assert_close(found, (ahead - behind) / (2 * step), rtol=1e-4, atol=1e-5)


def meta(loss: nn.Module, x: Tensor) -> None:
    """Shapes without values, labels on the CPU: nothing hard-codes a device."""
    rows = x.to("meta").requires_grad_()
    value = loss.to("meta")(rows, LABELS)
    assert value.shape == ()
    assert torch.autograd.grad(value, rows)[0].shape == rows.shape


FEATURES: dict[str, Check] = {
    "torch.func.grad": func_grad,
    "vmap": vmap,
    "torch.compile(fullgraph=True)": compiled,
    "double backward": double_backward,
    "meta device": meta,
}


def tried(name: str, feature: str) -> str:
    """Empty if it works and gives the same numbers, else the sentence that refuses; anything else is an error."""
    try:
        FEATURES[feature](built(name), batch())
    except (RuntimeError, ValueError) as error:
        said = re.search(r"raised exception \w+\(['\"](.*)['\"]\)", str(error))  # torch.compile wraps it in its own
        return said[1] if said else str(error).strip().partition("\n")[0]
    return ""


def table() -> str:
    head = ["loss", *FEATURES]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    notes: dict[str, int] = {}
    for name in CATALOG:
        cells = []
        for feature in FEATURES:
            said = tried(name, feature)
            cells.append("✓" if not said else f"refused ({notes.setdefault(said, len(notes) + 1)})")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    intro = (
        "✓: works, and value or gradient equal those of plain autograd (float64, 1e-8; the second derivative equals a "
        f"difference of gradients to 1e-4). torch {torch.__version__.partition('+')[0]}, CPU."
    )
    said = [f"{number}. {text}" for text, number in notes.items()]
    return "\n".join(["# Torch's own tools on every loss", "", intro, "", *lines, "", *said, ""])


if __name__ == "__main__":
    RESULTS.write_text(table(), encoding="utf-8")
