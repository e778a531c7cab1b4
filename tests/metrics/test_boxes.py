import math
from fractions import Fraction

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from labkit.metrics.boxes import box_corners, iou, rotated_iou

F64 = torch.float64
PI = math.pi


def random_boxes(count, seed, dtype=F64):
    generator = torch.Generator().manual_seed(seed)
    r = torch.rand(count, 5, generator=generator, dtype=F64)
    return torch.cat((r[:, :2] * 4, r[:, 2:4] * 3 + 0.1, (r[:, 4:] - 0.5) * 8), dim=1).to(dtype)


def along(boxes, fraction, *, w=1.0, h=1.0, angle=0.0):
    """The same boxes moved by a fraction of their width along it, resized and turned."""
    cx, cy, width, height, theta = boxes.unbind(-1)
    shift = fraction * width
    moved = (cx + shift * theta.cos(), cy + shift * theta.sin(), width * w, height * h, theta + angle)
    return torch.stack(moved, dim=-1)


def swapped(boxes, quarter_turns=1):
    """The same regions, described with width and height exchanged."""
    cx, cy, w, h, angle = boxes.unbind(-1)
    return torch.stack((cx, cy, h, w, angle + quarter_turns * PI / 2), dim=-1)


# Second boxes made from the first ones, with the IoU that follows by hand.
DEGENERATE = {
    "same": (lambda a: a.clone(), 1.0),
    "quarter turn": (swapped, 1.0),
    "three quarter turns back": (lambda a: swapped(a, -3), 1.0),
    "half turn": (lambda a: along(a, 0.0, angle=PI), 1.0),
    "full turn": (lambda a: along(a, 0.0, angle=2 * PI), 1.0),
    "half shared, edges on one line": (lambda a: along(a, 0.5), 1 / 3),
    "inside, three edges shared": (lambda a: along(a, 0.25, w=0.5), 0.5),
    "inside, one edge shared": (lambda a: along(a, 0.25, w=0.5, h=0.5), 0.25),
    "inside, same centre": (lambda a: along(a, 0.0, w=0.5, h=0.5), 0.25),
    "touching along an edge": (lambda a: along(a, 1.0), 0.0),
    "touching along part of an edge": (lambda a: along(a, 0.75, w=0.5, h=0.5), 0.0),
    "touching by rounding": (lambda a: along(a, 1.0 - 1e-15), 0.0),
    "disjoint": (lambda a: along(a, 50.0, angle=0.3), 0.0),
    "no width": (lambda a: along(a, 0.0, w=0.0), 0.0),
    "no size": (lambda a: along(a, 0.0, w=0.0, h=0.0), 0.0),
    "offset 1e-9": (lambda a: a + 1e-9, 1.0),
    "offset 1e-12": (lambda a: a - 1e-12, 1.0),
    "offset 1e-15": (lambda a: a + 1e-15, 1.0),
    "turned by 1e-9": (lambda a: along(a, 0.0, angle=1e-9), 1.0),
}


def shapely_iou(boxes1, boxes2):
    import shapely

    first, second = (shapely.polygons(box_corners(boxes).numpy()) for boxes in (boxes1, boxes2))
    shared = shapely.area(shapely.intersection(first, second))
    return torch.from_numpy(shared / (shapely.area(first) + shapely.area(second) - shared))


def exact_iou(box1, box2):
    """Sutherland-Hodgman in rational numbers: no rounding at all after the corners."""
    polygon, clip = ([(Fraction(x), Fraction(y)) for x, y in box_corners(box).tolist()] for box in (box1, box2))

    def area(points):
        return sum(p[0] * q[1] - q[0] * p[1] for p, q in zip(points, points[1:] + points[:1])) / 2

    shared = polygon
    for a, b in zip(clip, clip[1:] + clip[:1]):
        sides = [(b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) for p in shared]
        kept = []
        for i, (p, side) in enumerate(zip(shared, sides)):
            q, other = shared[i - 1], sides[i - 1]
            if side * other < 0:
                t = other / (other - side)
                kept.append((q[0] + t * (p[0] - q[0]), q[1] + t * (p[1] - q[1])))
            if side >= 0:
                kept.append(p)
        shared = kept
    overlap = area(shared) if shared else Fraction(0)
    return float(overlap / (area(polygon) + area(clip) - overlap))


@pytest.mark.peer
def test_agrees_with_shapely_on_random_pairs():
    boxes1, boxes2 = random_boxes(20_000, 0), random_boxes(20_000, 1)
    expected = shapely_iou(boxes1, boxes2)
    found = rotated_iou(boxes1, boxes2)
    assert 0.2 < (expected > 0).double().mean() < 0.8
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-13)
    assert torch.equal(found > 0, expected > 0)
    torch.testing.assert_close(rotated_iou(boxes1.float(), boxes2.float()).double(), expected, rtol=0, atol=2e-6)


@pytest.mark.peer
def test_gradient_is_the_slope_of_shapely():
    boxes1, boxes2 = random_boxes(300, 2).requires_grad_(), random_boxes(300, 3).requires_grad_()
    slopes = torch.autograd.grad(rotated_iou(boxes1, boxes2).sum(), (boxes1, boxes2))
    step = 1e-6
    for which in (0, 1):
        for column in range(5):
            ends = []
            for sign in (1, -1):
                pair = [boxes1.detach().clone(), boxes2.detach().clone()]
                pair[which][:, column] += sign * step
                ends.append(shapely_iou(*pair))
            torch.testing.assert_close(slopes[which][:, column], (ends[0] - ends[1]) / (2 * step), rtol=1e-4, atol=1e-7)


def test_agrees_with_rational_clipping():
    boxes1, boxes2 = random_boxes(60, 4), random_boxes(60, 5)
    boxes2[:, :2] = boxes1[:, :2] + 0.2 * boxes2[:, :2]
    cases = [(boxes1, boxes2)]
    cases += [(boxes1[:8], make(boxes1[:8])) for make, expected in DEGENERATE.values() if expected > 0]
    for first, second in cases:
        expected = [exact_iou(a, b) for a, b in zip(first, second)]
        torch.testing.assert_close(rotated_iou(first, second), torch.tensor(expected, dtype=F64), rtol=0, atol=2e-14)


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize(("dtype", "tolerance"), [(F64, 1e-12), (torch.float32, 2e-5)])
def test_degenerate_pairs(name, dtype, tolerance):
    make, expected = DEGENERATE[name]
    offset = float(name.split()[-1]) if "1e-" in name else 0.0
    tolerance = max(tolerance, 200 * offset)  # boxes that really differ, the thinner the more
    boxes1 = random_boxes(2000, 6)
    boxes2 = make(boxes1).to(dtype).requires_grad_()
    boxes1 = boxes1.to(dtype).requires_grad_()
    for first, second in ((boxes1, boxes2), (boxes2, boxes1)):
        found = rotated_iou(first, second)
        torch.testing.assert_close(found, torch.full_like(found, expected), rtol=0, atol=tolerance)
        assert found.min() >= 0
        assert found.max() <= 1
        for box, slope in zip((first, second), torch.autograd.grad(found.sum(), (first, second))):
            assert torch.isfinite(slope).all()
            sides = torch.minimum(boxes1[:, 2:4], torch.where(boxes2[:, 2:4] > 0, boxes2[:, 2:4], 9.0)).detach()
            # At a kink the gradient stays of the size of the one-sided slopes, 2 / side and aspect ratio / 2.
            assert (slope[:, :4].abs().amax(-1) * sides.amin(-1)).max() < 6
            assert (slope[:, 4].abs() * sides.amin(-1) / box[:, 2:4].detach().amax(-1).clamp(min=1)).max() < 3


def test_same_box_is_exactly_one_and_disjoint_exactly_zero():
    boxes = random_boxes(2000, 7).requires_grad_()
    assert (rotated_iou(boxes, boxes.detach()) == 1).all()
    apart = rotated_iou(boxes, random_boxes(2000, 16) + torch.tensor([9.0, 0, 0, 0, 0], dtype=F64))
    assert (apart == 0).all()
    assert (torch.autograd.grad(apart.sum(), boxes)[0] == 0).all()


def test_hand_computed_values():
    square = torch.tensor([0.0, 0, 2, 2, 0], dtype=F64)
    turned = torch.tensor([0.0, 0, 2, 2, PI / 4], dtype=F64)
    octagon = 8 * (math.sqrt(2) - 1)  # two unit-apothem squares at 45 degrees share a regular octagon
    assert rotated_iou(square, turned).item() == pytest.approx(octagon / (8 - octagon), abs=1e-15)
    torch.testing.assert_close(
        box_corners(torch.tensor([1.0, 2.0, 4.0, 2.0, PI / 2], dtype=F64)),
        torch.tensor([[0.0, 4.0], [0.0, 0.0], [2.0, 0.0], [2.0, 4.0]], dtype=F64),
    )
    assert iou(torch.tensor([0.0, 0, 2, 2]), torch.tensor([1.0, 1, 3, 3])).item() == pytest.approx(1 / 7)


def test_angle_zero_agrees_with_axis_aligned():
    boxes1, boxes2 = random_boxes(5000, 8), random_boxes(5000, 9)
    boxes1[:, 4] = boxes2[:, 4] = 0
    flat1, flat2 = (torch.cat((b[:, :2] - b[:, 2:4] / 2, b[:, :2] + b[:, 2:4] / 2), dim=1) for b in (boxes1, boxes2))
    torch.testing.assert_close(rotated_iou(boxes1, boxes2), iou(flat1, flat2), rtol=0, atol=1e-14)


def test_gradcheck():
    boxes1, boxes2 = random_boxes(30, 10).requires_grad_(), random_boxes(30, 11).requires_grad_()
    assert torch.autograd.gradcheck(rotated_iou, (boxes1, boxes2))
    corners = torch.tensor([[0.0, 0, 2, 3], [1, -1, 2.5, 2]], dtype=F64, requires_grad=True)
    assert torch.autograd.gradcheck(iou, (corners, corners.detach().roll(1, 0) + 0.1))


@pytest.mark.parametrize("case", [[0, 0, 1, 1], [1, 0, 2, 1], [5, 5, 6, 6], [0, 0, 0, 1], [0.2, 0.2, 0.5, 0.5]])
def test_axis_aligned_gradient_is_finite(case):
    boxes = torch.tensor([[0.0, 0, 1, 1], [0, 0, 0, 0]], requires_grad=True)
    other = torch.tensor(case, dtype=torch.float32).requires_grad_()
    found = iou(boxes, other)
    assert ((found >= 0) & (found <= 1)).all()
    assert found[1] == 0
    assert all(torch.isfinite(slope).all() for slope in torch.autograd.grad(found.sum(), (boxes, other)))


def test_shapes_dtypes_and_devices():
    boxes1, boxes2 = random_boxes(6, 12, torch.float32), random_boxes(4, 13, torch.float32)
    table = rotated_iou(boxes1[:, None], boxes2)
    assert table.shape == (6, 4)
    torch.testing.assert_close(table[2, 3], rotated_iou(boxes1[2], boxes2[3]))
    assert rotated_iou(boxes1[:0], boxes1[:0]).shape == (0,)
    assert rotated_iou(boxes1, boxes1.double()).dtype == F64
    for half in (torch.float16, torch.bfloat16):
        found = rotated_iou(boxes1[:4].to(half), boxes2.to(half))
        assert found.dtype == torch.float32
        assert torch.equal(found, rotated_iou(boxes1[:4].to(half).float(), boxes2.to(half).float()))
        assert (
            iou(torch.tensor([0, 0, 1, 1], dtype=half), torch.tensor([0, 0, 1, 1], dtype=half)).dtype == torch.float32
        )
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(rotated_iou(boxes1[:, None], boxes2), table)
    meta = boxes1.to("meta").requires_grad_()
    rotated_iou(meta, meta).sum().backward()
    assert meta.grad is not None
    assert iou(meta.detach()[:, :4], meta.detach()[:, :4]).shape == (6,)


def test_any_unit_of_length():
    boxes1, boxes2 = random_boxes(500, 14), random_boxes(500, 15)
    for unit in (1e-120, 1e120):
        scale = torch.tensor([unit, unit, unit, unit, 1.0], dtype=F64)
        torch.testing.assert_close(
            rotated_iou(boxes1 * scale, boxes2 * scale), rotated_iou(boxes1, boxes2), rtol=0, atol=1e-13
        )


def number(low, high, grid):
    """Any number of the interval, or one of a few that make edges and corners coincide."""
    return st.floats(low, high) | st.sampled_from(grid)


box = st.tuples(
    number(-3, 3, [-1.0, 0.0, 0.5, 1.0]),
    number(-3, 3, [-1.0, 0.0, 0.5, 1.0]),
    number(0.05, 4, [0.5, 1.0, 2.0]),
    number(0.05, 4, [0.5, 1.0, 2.0]),
    number(-4, 4, [k * PI / 4 for k in range(-4, 5)]),
).map(lambda values: torch.tensor(values, dtype=F64))


@settings(max_examples=200, deadline=None)
@given(box, box)
def test_symmetric_bounded_and_exact(a, b):
    found = rotated_iou(a, b).item()
    assert 0 <= found <= 1
    assert found == pytest.approx(rotated_iou(b, a).item(), abs=1e-12)
    assert found == pytest.approx(exact_iou(a, b), abs=1e-12)
    assert rotated_iou(a, a).item() == 1


@settings(max_examples=150, deadline=None)
@given(box, box, st.floats(-10, 10), st.floats(-10, 10), st.floats(-4, 4), st.floats(0.01, 100), st.integers(-3, 3))
def test_invariances(a, b, dx, dy, turn, scale, half_turns):
    def moved(values):
        cx, cy, w, h, angle = values.tolist()
        x, y = cx * math.cos(turn) - cy * math.sin(turn) + dx, cx * math.sin(turn) + cy * math.cos(turn) + dy
        return torch.tensor([x * scale, y * scale, w * scale, h * scale, angle + turn], dtype=F64)

    found = rotated_iou(a, b).item()
    assert rotated_iou(moved(a), moved(b)).item() == pytest.approx(found, abs=1e-11)
    period = torch.tensor([0, 0, 0, 0, half_turns * PI], dtype=F64)
    assert rotated_iou(a + period, b).item() == pytest.approx(found, abs=1e-11)
    assert rotated_iou(swapped(a), b).item() == pytest.approx(found, abs=1e-11)


@settings(max_examples=150, deadline=None)
@given(box, st.integers(0, 4), st.floats(1e-3, 1.5), st.sampled_from([-1, 1]))
def test_one_only_for_the_same_box(a, column, change, sign):
    b = a.clone()
    b[column] += sign * change
    assume(b[2:4].min() > 0)
    assert rotated_iou(a, b).item() < 1 - 1e-7


@settings(max_examples=150, deadline=None)
@given(box, box, st.tuples(*[st.sampled_from([0.0, 1.0, 1e-9, 1e-30])] * 4), st.sampled_from([F64, torch.float32]))
def test_gradient_is_finite_for_flat_and_thin_boxes(a, b, factors, dtype):
    scale = torch.tensor(factors, dtype=F64)
    boxes = torch.stack((a, b))
    boxes[:, 2:4] *= scale.view(2, 2)
    boxes = boxes.to(dtype).requires_grad_()
    found = rotated_iou(boxes[0], boxes[1])
    assert 0 <= found <= 1
    assert found == 0 or (boxes[:, 2:4] > 0).all()
    assert torch.isfinite(torch.autograd.grad(found, boxes)[0]).all()


GOOD, GOOD_FLAT = torch.tensor([[0.0, 0, 1, 1, 0]]), torch.tensor([[0.0, 0, 1, 1]])


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (torch.zeros(3, 6), r"must have \d entries"),
        (torch.tensor(1.0), r"must have \d entries"),
        (torch.zeros(2, 5, dtype=torch.int64), "must have a floating-point dtype"),
        ([[0.0, 0, 1, 1, 0]], "must be a torch.Tensor"),
    ],
)
def test_bad_boxes_name_the_argument(bad, message):
    for function, good in ((rotated_iou, GOOD), (iou, GOOD_FLAT)):
        with pytest.raises(ValueError, match=f"^boxes1 {message}"):
            function(bad, good)
        with pytest.raises(ValueError, match=f"^boxes2 {message}"):
            function(good, bad)
    with pytest.raises(ValueError, match=f"^boxes {message}"):
        box_corners(bad)


def test_bad_values_name_the_argument():
    with pytest.raises(ValueError, match="boxes1 contains NaN"):
        rotated_iou(GOOD * math.nan, GOOD)
    with pytest.raises(ValueError, match="boxes2 contains NaN"):
        iou(GOOD_FLAT, GOOD_FLAT + math.inf)
    for column in (2, 3):
        bad = GOOD.clone()
        bad[0, column] = -0.1
        with pytest.raises(ValueError, match="boxes2 has a negative width or height"):
            rotated_iou(GOOD, bad)
    with pytest.raises(ValueError, match="boxes1 must have x1 <= x2"):
        iou(-GOOD_FLAT, GOOD_FLAT)
    with pytest.raises(ValueError, match="boxes1 and boxes2 do not broadcast"):
        rotated_iou(GOOD.expand(2, 5), GOOD.expand(3, 5))
