"""Intersection over union of axis-aligned and of rotated boxes, exact and differentiable by autograd.

Rotated boxes are clipped without sorting corners or testing which lie inside: see `_overlap`.
Only elementwise operations are used, so neither autocast nor TF32 can lower the precision.
"""

import torch
from torch import Tensor
from torch.nn.functional import hardtanh

from labkit.base.tensors import HALF_DTYPES, has_values


def _check_boxes(name: str, boxes: Tensor, columns: str) -> None:
    """A finite floating-point tensor whose last dimension holds the named columns."""
    count = len(columns.split(", "))
    if not isinstance(boxes, Tensor):
        raise ValueError(f"{name} must be a torch.Tensor, got {type(boxes).__name__}")
    if not boxes.is_floating_point():
        raise ValueError(f"{name} must have a floating-point dtype, got {boxes.dtype}")
    if boxes.dim() == 0 or boxes.shape[-1] != count:
        raise ValueError(f"{name} must have {count} entries ({columns}) last, got shape {tuple(boxes.shape)}")
    if has_values(boxes) and not torch.isfinite(boxes).all():
        raise ValueError(f"{name} contains NaN or infinite values")


def _check_corners(name: str, boxes: Tensor) -> None:
    _check_boxes(name, boxes, "x1, y1, x2, y2")
    if has_values(boxes) and bool((boxes[..., 2:] < boxes[..., :2]).any()):
        raise ValueError(f"{name} must have x1 <= x2 and y1 <= y2 in every box")


def _check_rotated(name: str, boxes: Tensor) -> None:
    _check_boxes(name, boxes, "cx, cy, w, h, angle")
    if has_values(boxes) and bool((boxes[..., 2:4] < 0).any()):
        raise ValueError(f"{name} has a negative width or height")


def _common(boxes1: Tensor, boxes2: Tensor) -> tuple[Tensor, Tensor]:
    """Both at one shape and one dtype, at least float32."""
    dtype = torch.promote_types(boxes1.dtype, boxes2.dtype)
    dtype = torch.float32 if dtype in HALF_DTYPES else dtype
    try:
        first, second = torch.broadcast_tensors(boxes1.to(dtype), boxes2.to(dtype))
    except RuntimeError:
        raise ValueError(
            f"boxes1 and boxes2 do not broadcast: shapes {tuple(boxes1.shape)} and {tuple(boxes2.shape)}"
        ) from None
    return first, second


def _over_union(overlap: Tensor, area1: Tensor, area2: Tensor) -> Tensor:
    """overlap / union, 0 where a box has no area: the union is replaced first, so no gradient meets 0 / 0."""
    flat = (area1 <= 0) | (area2 <= 0)
    union = torch.where(flat, torch.ones_like(area1), area1 + area2 - overlap)
    return torch.where(flat, torch.zeros_like(overlap), overlap) / union


def iou(boxes1: Tensor, boxes2: Tensor) -> Tensor:
    """Divide the area that two axis-aligned boxes share by the area they cover together, pair by pair.

    IoU = I / (A1 + A2 - I),  I = (min x2 - max x1)+ (min y2 - max y1)+

    Slides, "Hand-Crafted Surrogate for Object Detection" (UnitBox, Yu et al. 2016, whose loss is -ln IoU). Boxes are
    (x1, y1, x2, y2) with shapes (..., 4) that broadcast; the result is (...), float32 for half inputs. A box without
    area scores 0. Disjoint boxes have gradient 0: this loss cannot pull them together.
    """
    _check_corners("boxes1", boxes1)
    _check_corners("boxes2", boxes2)
    first, second = _common(boxes1, boxes2)
    sides = torch.minimum(first[..., 2:], second[..., 2:]) - torch.maximum(first[..., :2], second[..., :2])
    sides = sides.clamp(min=0)
    size1, size2 = first[..., 2:] - first[..., :2], second[..., 2:] - second[..., :2]
    return _over_union(sides[..., 0] * sides[..., 1], size1[..., 0] * size1[..., 1], size2[..., 0] * size2[..., 1])


def _corners(cx: Tensor, cy: Tensor, w: Tensor, h: Tensor, angle: Tensor) -> tuple[Tensor, Tensor]:
    """x and y of the four corners, each (..., 4), counter-clockwise where y points up."""
    cos, sin = torch.cos(angle)[..., None], torch.sin(angle)[..., None]
    across = torch.stack((w, -w, -w, w), dim=-1) / 2
    along = torch.stack((h, h, -h, -h), dim=-1) / 2
    return cx[..., None] + across * cos - along * sin, cy[..., None] + across * sin + along * cos


def box_corners(boxes: Tensor) -> Tensor:
    """Give the four corners of rotated boxes, counter-clockwise where y points up.

    corner = (cx, cy) + R(angle) (±w/2, ±h/2), from (+, +) on

    Boxes are (cx, cy, w, h, angle in radians), shape (..., 5); the result is (..., 4, 2), float32 for half inputs.
    """
    _check_rotated("boxes", boxes)
    boxes = boxes.float() if boxes.dtype in HALF_DTYPES else boxes
    return torch.stack(_corners(*boxes.unbind(-1)), dim=-1)


def _crossings(start: Tensor, step: Tensor, bound: Tensor) -> tuple[Tensor, Tensor]:
    """Where along each edge, from 0 to 1, its coordinate start + t step passes -bound and +bound."""
    # Lengths are near 1 here. Steps of rounding size are kept: their crossings are exact and shape the gradient; far
    # smaller ones are taken as level, because the square of the step, in the gradient of the quotient, underflows.
    level = step.abs() <= torch.finfo(step.dtype).eps ** 2
    safe = torch.where(level, torch.ones_like(step), step)
    low, high = ((torch.where(level, torch.zeros_like(step), side - start) / safe) for side in (-bound, bound))
    # Like clamp(0, 1), but without gradient at 0 and 1: a crossing at a corner must not slide off its edge.
    return hardtanh(low, 0, 1), hardtanh(high, 0, 1)


def _overlap(w: Tensor, h: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Area that the box [-w/2, w/2] x [-h/2, h/2] shares with the polygon of corners x, y (each (..., 4)).

    Moving every point of the polygon's boundary to the nearest point of the box, by clamping x and y, changes no
    winding number inside the box, so the clamped curve encloses exactly the overlap (Green's theorem):
    I = closed integral of clamp(x) d clamp(y). The curve is straight between the corners and the points where an edge
    crosses x = ±w/2 or y = ±h/2, so the trapezoid rule over these is exact. It is continuous in all arguments:
    coincident edges, touching corners and contained boxes need no case of their own.
    """
    half_w, half_h = w[..., None] / 2, h[..., None] / 2
    step_x, step_y = x.roll(-1, dims=-1) - x, y.roll(-1, dims=-1) - y
    cuts = torch.stack((*_crossings(x, step_x, half_w), *_crossings(y, step_y, half_h)), dim=-1).sort(dim=-1).values
    zero = torch.zeros_like(x)[..., None]
    t = torch.cat((zero, cuts, zero + 1), dim=-1)  # (..., 4 edges, 6 points)
    bound_x, bound_y = half_w[..., None], half_h[..., None]
    curve_x = (x[..., None] + t * step_x[..., None]).clamp(min=-bound_x, max=bound_x)
    curve_y = (y[..., None] + t * step_y[..., None]).clamp(min=-bound_y, max=bound_y)
    # x is measured from each edge's first point, and that from the curve's first point: differences of neighbours are
    # exact, so a small box in a large one keeps its digits and near-coincident edges keep their gradient.
    first = curve_x[..., 0]
    beyond = curve_x - first[..., None]
    whole = (first - first[..., :1].detach()) * (curve_y[..., -1] - curve_y[..., 0])
    part = (beyond[..., 1:] + beyond[..., :-1]) * (curve_y[..., 1:] - curve_y[..., :-1]) / 2
    return whole.sum(-1) + part.sum((-2, -1))


def _apart(w: Tensor, h: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Whether all corners x, y lie on or beyond one side of the box [-w/2, w/2] x [-h/2, h/2]."""
    beyond_x = (x.amin(-1) >= w / 2) | (x.amax(-1) <= -w / 2)
    return beyond_x | (y.amin(-1) >= h / 2) | (y.amax(-1) <= -h / 2)


def _seen_from(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    """Corners of the second box in the frame of the first: its centre the origin, its sides along the axes."""
    cos, sin = torch.cos(first[..., 4]), torch.sin(first[..., 4])
    dx, dy = second[..., 0] - first[..., 0], second[..., 1] - first[..., 1]
    return _corners(
        dx * cos + dy * sin, dy * cos - dx * sin, second[..., 2], second[..., 3], second[..., 4] - first[..., 4]
    )


def rotated_iou(boxes1: Tensor, boxes2: Tensor) -> Tensor:
    """Divide the area that two rotated boxes share by the area they cover together, pair by pair, exactly.

    IoU = I / (w1 h1 + w2 h2 - I),  I = closed integral of clamp(x) d clamp(y) round box 2 in the frame of box 1

    The slides (LS-IoU) learn a surrogate of it; this is the metric itself. Boxes are (cx, cy, w, h, angle in radians)
    with shapes (..., 5) that broadcast; the result is (...), float32 for half inputs. A box without area scores 0;
    disjoint boxes score 0 with gradient 0. Gradients are exact where IoU is smooth; at its kinks (equal boxes,
    coincident edges) they are finite and no more than about twice the one-sided slopes.
    """
    _check_rotated("boxes1", boxes1)
    _check_rotated("boxes2", boxes2)
    first, second = _common(boxes1, boxes2)
    # IoU does not depend on the unit of length: with the longest side as the unit nothing over- or underflows.
    unit = torch.maximum(first[..., 2:4].amax(-1), second[..., 2:4].amax(-1)).detach()[..., None]
    unit = torch.where(unit > 0, unit, torch.ones_like(unit))
    first, second = (torch.cat((boxes[..., :4] / unit, boxes[..., 4:]), dim=-1) for boxes in (first, second))
    (w1, h1), (w2, h2) = first[..., 2:4].unbind(-1), second[..., 2:4].unbind(-1)
    x, y = _seen_from(first, second)
    overlap = torch.minimum(_overlap(w1, h1, x, y).clamp(min=0), torch.minimum(w1 * h1, w2 * h2))
    apart = _apart(w1, h1, x, y) | _apart(w2, h2, *_seen_from(second, first))
    return _over_union(torch.where(apart, torch.zeros_like(overlap), overlap), w1 * h1, w2 * h2)
