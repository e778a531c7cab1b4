"""Mathematics in the browser gives labkit's numbers: values and gradients of every function, on random cases."""

import pytest
import torch
from conftest import import_module

from benchmarks.browser_maths import agreement, cases
from labkit.explorers.formula import FormulaError, parse

pytestmark = pytest.mark.browser
GOOD = (
    "1",
    "R",
    " 2*R - -R ",
    "-R**2",
    "2**-R",
    "2**3**.5*R",
    "max(0, 1-R/5, .1)",
    "min(R,2)**2/4",
    "exp(-R)+1e-3",
    "+1.5E1",
)
BAD = (
    *("", "   ", "R R", "2R", "(R", "R)", "1/R", "log(R)", "x", "R^2", "R.real", "exp(1,2)", "max(1)"),
    *("R if R else 1", "__import__('os')", "constructor", "exp", "[1]", "1 +", "R**999", "'a'", "1" + "+1" * 120),
    *("tanh()", "R,1", "1_0"),
)


def test_values_and_gradients_are_those_of_python(page):
    made = cases()
    table = agreement(page, made)
    assert len(made) >= 500
    assert {row: worst for row, (_, _, worst) in table.items() if not worst < 1e-9} == {}
    losses = (
        "PNP-",
        "Smooth-AP",
        "RS@k",
        "contrastive",
        "triplet",
        "multi",
        "Proxy",
        "MPA",
        "SoftTriple",
        "SGSL",
        "soft",
    )
    assert all(numbers > 20 * count for row, (count, numbers, _) in table.items() if row.startswith(losses))


def test_a_batch_without_a_pair_is_refused(page):
    told = import_module(
        page,
        "maths/ranking.js",
        "({ pnp }) => { try { pnp([[1, 0], [0, 1]], [0, 1]); } catch (e) { return e.message; } }",
    )
    assert told.startswith("labels: no query has a positive")


def test_formulas_mean_what_they_mean_in_python_and_nothing_else_is_taken(page):
    at = torch.tensor([0.0, 0.3, 2.0, 47.5], dtype=torch.float64)
    act = """({ parseFormula }, [good, bad, at]) => ({
        values: good.map((text) => at.map(parseFormula(text))),
        refused: bad.map((text) => { try { parseFormula(text); return ""; } catch (e) { return e.message; } }),
    })"""
    found = import_module(page, "maths/formula.js", act, [GOOD, BAD, at.tolist()])
    for text, values in zip(GOOD, found["values"], strict=True):
        torch.testing.assert_close(torch.tensor(values, dtype=torch.float64), parse(text)(at), rtol=1e-12, atol=0)
    for text, message in zip(BAD, found["refused"], strict=True):
        assert message, f"{text!r} was taken for a formula"
        if text != "1_0":  # a number of Python's alone
            with pytest.raises(FormulaError):
                parse(text)
