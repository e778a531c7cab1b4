"""What a model that places rotated boxes can be tuned on besides a surrogate: one loss a box, (B,).

boxes and targets: (B, 5), columns cx, cy, w, h, angle in radians.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import smooth_l1_loss

from labkit.metrics import box_corners, iou, rotated_iou
from labkit.surrogates.boxes import box_features


def smooth_l1(boxes: Tensor, targets: Tensor) -> Tensor:
    """The proxy: how far centre, sides and twice the angle are off, each for itself."""
    return smooth_l1_loss(box_features(boxes), box_features(targets), reduction="none", beta=0.1).sum(-1)


def upright_bounds(boxes: Tensor) -> Tensor:
    """The smallest upright box round each, as x1, y1, x2, y2."""
    corners = box_corners(boxes)
    return torch.cat((corners.amin(-2), corners.amax(-2)), dim=-1)


def upright_iou_loss(boxes: Tensor, targets: Tensor) -> Tensor:
    """1 − IoU of the upright boxes round both: a hand-made surrogate that does not see how a box is turned."""
    return 1 - iou(upright_bounds(boxes), upright_bounds(targets))


def exact_iou_loss(boxes: Tensor, targets: Tensor) -> Tensor:
    """1 − IoU itself: exact and differentiable, without gradient where boxes do not meet."""
    return 1 - rotated_iou(boxes, targets)


def giou_like_loss(boxes: Tensor, targets: Tensor) -> Tensor:
    """1 − IoU + the share of the upright box round both that neither covers (Rezatofighi et al. 2019, with our hull).

    Boxes that do not meet are drawn together, since the hull shrinks. The published loss takes the convex hull; the
    upright one is ours. So it is not 0 for equal boxes that are turned, but constant there.
    """
    overlap = rotated_iou(boxes, targets)
    areas = [side[..., 2] * side[..., 3] for side in (boxes, targets)]
    union = (areas[0] + areas[1]) / (1 + overlap)
    both = torch.stack((upright_bounds(boxes), upright_bounds(targets)))
    size = both[..., 2:].amax(0) - both[..., :2].amin(0)
    hull = size[..., 0] * size[..., 1]
    return 1 - overlap + (hull - union) / hull.clamp(min=1e-9)


BOX_LOSSES = {
    "smooth-L1": smooth_l1,
    "upright IoU": upright_iou_loss,
    "exact IoU": exact_iou_loss,
    "GIoU-like": giou_like_loss,
}
