"""Films reach the player as they are: every frame, class and split, under every choice, in all three hosts."""

import base64
import json
import re
import struct

import numpy as np
import pytest

from labkit.explorers.film.packed import FINE, packed, reel, words
from labkit.explorers.lessons import many_centres, sgsl
from labkit.explorers.lessons.many_centres import explore_training, toy_film
from labkit.explorers.lessons.sgsl import explore_sphere, sphere_film


def taken_apart(content):
    """Head and arrays, read the way bytes.js reads them."""
    (length,) = struct.unpack_from("<I", content)
    head, at, arrays = json.loads(content[4 : 4 + length]), 4 + length, {}
    for name, kind, count in head["arrays"]:
        arrays[name] = np.frombuffer(content, f"<{kind}", count, at)
        at += count * arrays[name].itemsize
    assert at == len(content)
    return head, arrays


@pytest.fixture
def shown(monkeypatch):
    """What would be shown."""
    found = []
    monkeypatch.setattr("IPython.display.display", lambda *things, **how: found.extend(things))
    return found


@pytest.mark.parametrize(("film", "d"), [(toy_film("pnp-dq", "ring"), 2), (sphere_film("softmax", "0.1"), 3)])
def test_every_sample_is_sent_with_its_way_class_and_split(film, d):
    head, arrays = taken_apart(packed(film))
    assert (head["n"], head["d"], head["kind"]) == (len(film.labels), d, film.kind)
    sent = arrays["frames"].reshape(film.frames.shape) * head["scale"]
    np.testing.assert_allclose(sent, film.unit, atol=1 / FINE)
    assert [head["classes"][k] for k in arrays["labels"]] == [film.classes[k] for k in film.labels]
    assert [head["splits"][k] for k in arrays["part"]] == list(film.parts)
    assert head["words"] == words(film)
    assert head["words"][3].startswith(f"step {film.steps[3]}, R@1 of")
    assert len(head["colors"]) == len(head["shapes"]) == len(head["classes"])


def test_training_class_0_looks_as_unseen_class_0_does():
    head, _ = taken_apart(packed(toy_film("pnp-dq", "ring")))
    look = dict(zip(head["classes"], zip(head["colors"], head["shapes"])))
    assert len(look) == 8
    assert len(set(look.values())) == 4


def test_a_thinned_film_says_what_the_whole_one_says():
    film = sphere_film("softmax", "0.0")
    head, arrays = taken_apart(packed(film, 18, 3))
    assert head["n"] == 54
    assert head["classes"] == list(film.classes[:3])
    assert set(arrays["labels"].tolist()) == {0, 1, 2}
    assert head["words"] == words(film)


def test_a_reel_holds_every_choice():
    first, second = packed(toy_film("pnp-ib", "ring"), 5), packed(toy_film("pnp-dq", "ring"), 6)
    menus = [{"label": "loss", "values": ["a", "b"], "start": "b"}]
    head, arrays = taken_apart(reel({("a",): first, ("b",): second}, menus))
    assert head["menus"] == menus
    assert [film["key"] for film in head["films"]] == [["a"], ["b"]]
    cut = head["films"][0]["size"]
    assert (arrays["bytes"][:cut].tobytes(), arrays["bytes"][cut:].tobytes()) == (first, second)


@pytest.mark.parametrize("build", ["live", "notebook", "book"])
@pytest.mark.parametrize(
    ("explore", "count"),
    [(explore_training, len(many_centres.LOSSES) * 2), (explore_sphere, len(sgsl.LOSSES) * 2)],
)
def test_it_shows_in_every_form(monkeypatch, shown, build, explore, count):
    monkeypatch.setenv("LABKIT_BUILD", build)
    live = explore()
    assert (live is not None) == (build == "live")
    if build == "book":
        spec = json.loads(re.search(r'json">(.*?)</script>', shown[0].data)[1])
        content = base64.b64decode(spec["bytes"][spec["models"][0]["bytes"]["films"]])
        assert len(shown[0].data) < 2_000_000
    else:
        assert "image/png;base64" in shown[-1].data
    if build == "live":
        assert shown[0] is live
        players = getattr(live, "children", [live])
        assert [player.start for player in players] in ([None], [["softmax", "0.0"], ["softmax + SGSL", "0.0"]])
        assert len({player.group for player in players}) == 1
        content = players[0].films
    if build != "notebook":
        head, _ = taken_apart(content)
        assert len(head["films"]) == count
        starts = [menu["start"] for menu in head["menus"]]
        assert starts in [film["key"] for film in head["films"]]
