"""Every drill in its short form; `make drills` runs them in full."""

import pytest

from tests.reliability.table import Row, as_text, drill_names, run_drill


@pytest.mark.parametrize("name", drill_names())
def test_nothing_is_lost(name):
    rows = run_drill(name, full=False)
    assert all(row.tried > 0 and row.survived + row.lost == row.tried for row in rows), as_text(rows)
    assert not any(row.lost for row in rows), as_text(rows)


def test_the_table_is_aligned_and_counts_in_thousands():
    text = as_text([Row("files", 10_000, 9_999, 1, "one | hung"), Row("kills", 3, 3, 0)])
    lines = text.splitlines()
    assert len({len(line) for line in lines}) == 1
    assert "10,000" in lines[2]
    assert lines[3].startswith("| kills |")
