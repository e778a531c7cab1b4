"""Pages of the book: links stay inside it, code that holds an answer is folded."""

import nbformat

from labkit.book import build_book
from labkit.book.build import card
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


def test_a_lesson_in_the_index_has_its_number_its_first_sentence_and_its_first_picture(tmp_path):
    outputs = [
        nbformat.v4.new_output("stream", text="no picture"),
        nbformat.v4.new_output("display_data", {"text/html": '<img alt="a" src="data:image/png;base64,AAAA">'}),
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1", outputs=outputs)])
    nbformat.write(notebook, tmp_path / "01_small.ipynb")
    body = markdown("# 1. Small & short\n\n**One claim. And more.**")
    made = card(tmp_path / "01_small.ipynb", "1. Small & short", body)
    assert 'href="01_small.html"' in made
    assert '<img alt="" src="data:image/png;base64,AAAA">' in made
    assert "<b>1. Small &amp; short</b><span>One claim.</span>" in made
    assert "<img" not in card(tmp_path / "02_none.ipynb", "2. None", body)


def test_the_glossary_is_a_page_of_the_book(tmp_path):
    (tmp_path / "GLOSSARY.md").write_text("# Glossary\n\n| a | b |\n|---|---|\n| proxy | stands for a class |\n")
    assert build_book(tmp_path, tmp_path / "book") == 0
    assert "stands for a class" in (tmp_path / "book" / "glossary.html").read_text(encoding="utf-8")
    assert 'href="glossary.html"' in (tmp_path / "book" / "index.html").read_text(encoding="utf-8")
    assert 'href="glossary.html"' in markdown("[glossary](GLOSSARY.md)")
