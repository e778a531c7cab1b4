"""Every lesson leads to a state of the dashboard that exists."""

import re
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
LINKS = {
    path.stem: re.findall(r"\(http://127\.0\.0\.1:8501/([^)]+)\)", path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "notebooks").glob("[0-9]*.py"))
}


@pytest.mark.parametrize("situation", ["many"], indirect=True)
@pytest.mark.parametrize("lesson", LINKS)
def test_a_lesson_leads_to_its_state_in_the_dashboard(page, lesson):
    (link,) = LINKS[lesson]
    parts = urlsplit(link)
    query = dict(parse_qsl(parts.query))
    opened = page(parts.path, **query)
    assert not opened.exception
    for key, value in query.items():
        if key != "view":  # the chosen tab, which this driver does not tell
            widget = opened.selectbox(key=key)
            assert value in (widget.value, widget.options[widget.index])
