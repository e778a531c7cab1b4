"""What is said of a wrong answer from its numbers alone."""

import pytest
import torch

from labkit.lessons.exercise import Case, Row
from labkit.lessons.relations import relation

RIGHT = [torch.rand(8, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(n)) for n in (0, 1)]
CASES = [Case("small", {"x": torch.zeros(4)}), Case("large", {"x": torch.zeros(9)})]


def said(change):
    rows = [Row(case.label, right, change(right, case), False) for case, right in zip(CASES, RIGHT)]
    return relation(CASES, rows)[0]


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda x, case: -x, "sign"),
        (lambda x, case: 1 - x, "one minus"),
        (lambda x, case: 3 * x, "factor"),
        (lambda x, case: x + 0.25, "offset"),
        (lambda x, case: x * len(case.arguments["x"]), "sum for mean"),
        (lambda x, case: x.T, "order"),  # another shape with as many numbers
        (lambda x, case: x[:, :3], ""),
        (lambda x, case: torch.empty(0), ""),
        (lambda x, case: x * float("nan"), ""),
        (lambda x, case: "no number", ""),
        (lambda x, case: None, ""),
    ],
)
def test_a_relation_is_named_where_it_holds_and_nothing_breaks_where_there_is_none(change, name):
    assert said(change) == name
