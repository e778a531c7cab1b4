"""Pages of the book: links stay inside it, code that holds an answer is folded."""

import nbformat

from labkit.book import build_book
from labkit.book.page import page
from labkit.lessons.markdown import markdown


def test_a_lesson_that_is_not_there_is_named_and_nothing_is_written(tmp_path, capsys):
    assert build_book(tmp_path, tmp_path / "book", ["01_nope"]) == 2
    assert "no such lesson: 01_nope" in capsys.readouterr().err
    assert not (tmp_path / "book").exists()


def test_links_to_lessons_lead_to_pages_and_links_out_of_the_book_become_text():
    made = markdown("See [lesson 2](02_metrics.ipynb#ties), [the runs](../data/runs/README.md), [us](https://a.org).")
    assert 'href="02_metrics.html#ties"' in made
    assert "the runs" in made
    assert "README" not in made
    assert 'href="https://a.org"' in made


def test_code_spans_and_formulas_are_left_alone():
    made = markdown("`[a](../b)` and $x_1 < x_2$ and `$HOME`")
    assert "[a](../b)" in made
    assert "<math" in made
    assert "$HOME" in made


def test_hidden_code_is_folded():
    cell = nbformat.v4.new_code_cell("answer = 1", metadata={"jupyter": {"source_hidden": True}})
    notebook = nbformat.v4.new_notebook(cells=[cell, nbformat.v4.new_code_cell("seen = 2")])
    made = page(notebook)
    assert made.count("<details>") == 1
    assert made.index("answer") < made.index("</details>") < made.index("seen")
