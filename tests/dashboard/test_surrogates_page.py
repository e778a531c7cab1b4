"""Surrogates: words before and after, arms, approximation, hardest words; the address chooses; texts are escaped."""

import pandas as pd
import pytest

from labkit.data.rendered_words import rendered_words
from tests.reliability.pages import forget, open_page
from tests.runs.reader_folders import tuned_run


def test_the_page_opens_and_says_what_to_do(page, situation):
    opened = page("surrogates")
    assert not opened.exception
    if situation != "many":
        assert "words-tune" in opened.info[0].value or "labkit train" in opened.info[0].value


@pytest.fixture
def words(tmp_path, monkeypatch):
    """A base that leaves out every word's last letter, and an arm that mends all words but one."""
    drawn = rendered_words("test", 6)
    true, ids = list(drawn.words), list(drawn.ids)
    short = [word[:-1] for word in true]
    common = {"words": true, "ids": ids}
    tuned_run(tmp_path, "untrained", 0, short, **common)
    for seed in (0, 1):
        run = tuned_run(tmp_path, "ls-ed", seed, [*true[:-1], "<img src=x>"], **common)
        pairs = {"id": list("abcd"), "kind": ["reader"] * 4, "exact": [0.0, 1, 1, 2], "estimate": [0.1, 1.0, 1.5, 1.8]}
        pd.DataFrame(pairs | {"gradient_norm": 1.0}).to_parquet(run.path / "approximation.parquet")
    tuned_run(tmp_path, "cross-entropy", 0, short, **common)
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path))
    forget()
    return drawn


def cards(opened):
    return "".join(element.proto.body for element in opened.get("html"))


def test_words_before_and_after_with_their_pictures(words):
    opened = open_page("surrogates", view="Words")
    assert not opened.exception
    assert "2 arms, 3 runs" in " ".join(caption.value for caption in opened.caption)
    shown = cards(opened)
    assert shown.count('role="listitem"') == shown.count("data:image/png;base64,") == 5
    assert "5 mended, 1 spoilt" in " ".join(caption.value for caption in opened.caption)
    opened.selectbox(key="kind").select("spoilt").run()
    assert cards(opened).count('role="listitem"') == 1
    assert "<img src=x>" not in cards(opened)


def test_the_address_chooses_run_kind_and_word(words):
    name = words.words[2]
    opened = open_page("surrogates", view="Words", run="ls-ed-base-s1", kind="all words", find=name)
    assert not opened.exception
    assert opened.selectbox(key="run").value == "ls-ed-base-s1"
    assert f'data-id="{words.ids[2]}"' in cards(opened)
    opened = open_page("surrogates", run="nobody")
    assert "There is no run nobody" in opened.warning[0].value


def test_other_tabs_open(words):
    arms = open_page("surrogates", view="Arms", metric="NED")
    near = open_page("surrogates", view="Approximation")
    hard = open_page("surrogates", view="Hardest words")
    for opened in (arms, near, hard):
        assert not opened.exception
    table = arms.dataframe[0].value
    assert list(table["arm"]) == ["LS-ED", "Cross-entropy"]
    assert table["gain (points)"].iloc[1] == 0
    assert "mean |ê − e| 0.20" in " ".join(caption.value for caption in near.caption)
    assert hard.dataframe[0].value["word"].iloc[0] == words.words[-1]


def test_a_run_whose_words_are_damaged_is_said_to_be_so(words, tmp_path):
    path = tmp_path / "ls-ed-base-s0" / "samples.parquet"
    path.write_bytes(path.read_bytes()[:200])
    for view in ("Words", "Arms", "Hardest words"):
        opened = open_page("surrogates", view=view, run="ls-ed-base-s0")
        assert not opened.exception
