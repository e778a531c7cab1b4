import math

import pytest

from labkit.base.words import MARKS, RULE, VERDICTS, axis_title, duration, scale_of, signed, with_interval, with_mark


def test_every_verdict_has_a_mark_of_its_own():
    assert len(set(MARKS.values())) == len(VERDICTS)
    assert [with_mark(verdict) for verdict in ("held", "contradicted")] == ["✓ held", "✗ contradicted"]
    assert "Held" in RULE


def test_numbers_as_people_read_them():
    assert (scale_of("R@1"), axis_title("R@1")) == (100, "R@1 (%)")
    assert (scale_of("CSC"), axis_title("CSC")) == (1, "CSC")
    assert with_interval(0.5, 0.4, 0.6, 100, digits=1) == "50.0 ± 10.0"
    assert with_interval(0.5, math.nan, math.nan, 1, digits=3) == "0.500"
    assert [signed(value) for value in (1.234, -0.5, 0.001)] == ["+1.23", "−0.50", "0.00"]


@pytest.mark.parametrize(
    ("seconds", "shown"), [(None, ""), (12.3, "12 s"), (99.4, "99 s"), (130.0, "2 min"), (7500.0, "2 h 05 min")]
)
def test_durations(seconds, shown):
    assert duration(seconds) == shown
