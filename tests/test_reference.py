"""The reference of the book says what the code says, and its examples run."""

import re

import pytest

from labkit import metrics
from labkit.book.reference import GUIDES, example_of, reference_pages
from labkit.losses import CATALOG

PAGES = reference_pages(angles=(0, 60))


@pytest.mark.parametrize("name", CATALOG)
def test_a_loss_has_its_equation_defaults_errata_and_a_live_picture(name):
    card, (_, body) = CATALOG[name], PAGES[f"loss-{name}"]
    assert "<math" in body
    assert "labkit-explorer" in body
    assert all(f"<code>{option}</code>" in body for option in card.defaults)
    assert all(erratum in body for erratum in card.errata)


@pytest.mark.parametrize("name", CATALOG)
def test_the_example_of_a_loss_runs(name):
    found = {}
    exec(example_of(CATALOG[name]), found)
    assert found["embeddings"].grad.isfinite().all()


def test_recorded_results_stand_on_the_page_of_the_loss():
    assert re.search(r"<td[^>]*>omniglot</td>\s*<td[^>]*>\d+</td>\s*<td[^>]*>\d\d\.\d ±", PAGES["loss-pnp-dq"][1])
    assert "Recorded results" not in PAGES["loss-from-derivative"][1]


def test_every_metric_has_a_page_with_its_arguments():
    for name in metrics.__all__:
        assert f"metric-{name}" in PAGES
    assert "num_relevant" in PAGES["metric-recall_at_k"][1]


@pytest.mark.parametrize("path", sorted(GUIDES.glob("*.md")), ids=lambda path: path.stem)
def test_the_code_of_a_guide_runs(path):
    names = {}
    blocks = re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(block, names)


def test_links_lead_to_pages_that_exist():
    targets = {link for _, body in PAGES.values() for link in re.findall(r'href="([\w-]+)\.html"', body)}
    assert targets <= PAGES.keys() | {"index"}
    pictures = {link for _, body in PAGES.values() for link in re.findall(r'src="([\w.-]+\.svg)"', body)}
    assert all((GUIDES / name).is_file() for name in pictures)
