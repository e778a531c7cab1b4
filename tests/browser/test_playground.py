"""The playground, opened as a file: it trains as labkit does, is dragged and drawn on, and asks for nothing else."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import torch
from conftest import import_module

from labkit import losses
from labkit.commands import main
from labkit.data.samplers import BalancedBatches, batches_from
from labkit.explorers.playground import playground_page
from labkit.models import build
from labkit.training import toy

pytestmark = pytest.mark.browser
PLAY = "window.labkitPlayground"
STEPS = 50


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("playground") / "deep" / "play.html"
    assert main(["playground", "-o", str(path)]) == 0
    return path


@pytest.fixture
def tab(browser, request):
    """A page that fails the test on a script error or on any request but for its own file and its own worker."""
    context = browser.new_context(viewport={"width": 1300, "height": 1000}, **getattr(request, "param", {}))
    context.set_default_timeout(20_000)
    page, errors, asked = context.new_page(), [], []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.on("request", lambda request: asked.append(request.url))
    yield page
    context.close()
    assert not errors
    assert not [url for url in asked if not url.startswith(("file://", "blob:", "data:"))]


def opened(page, file, state=""):
    page.goto("about:blank")
    page.goto(f"{file.as_uri()}{state}")
    page.wait_for_function(f"Number.isFinite({PLAY}?.testRecall)")
    return page


def test_it_plays_and_the_ring_folds(tab, file):
    opened(tab, file, "#steps=600")
    tab.wait_for_function(f"{PLAY}.testRecall > 0.9")  # it is NaN until the worker has measured
    tab.evaluate(f"{PLAY}.play()")
    tab.wait_for_function(f"{PLAY}.step === 600 && !{PLAY}.playing")
    assert tab.evaluate(f"{PLAY}.testRecall") < 0.6
    assert tab.evaluate(f"{PLAY}.trainRecall") > 0.9
    assert tab.evaluate(f"{PLAY}.stepsPerSecond") > 0
    assert "untrained 100 %" in tab.locator(".status").text_content()
    tab.get_by_role("button", name="Leave it open").click()  # starts anew, from the same network
    # the network before has 600 steps, too: only its recall tells them apart until the new one has begun
    tab.wait_for_function(f"{PLAY}.step > 400 && {PLAY}.testRecall > 0.9")
    tab.evaluate(f"{PLAY}.pause()")
    tab.wait_for_function(f"!{PLAY}.playing")
    assert tab.evaluate(f"{PLAY}.testRecall") > 0.9
    assert tab.locator(".shadow").text_content() == "before: PNP-I_b"


def test_points_are_dragged_added_and_removed_and_the_address_keeps_them(tab, file):
    opened(tab, file)
    handles = tab.locator(".handle")
    assert handles.count() == 20
    box = tab.locator(".stage.plane").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    first = handles.nth(0).bounding_box()
    tab.mouse.move(first["x"] + 12, first["y"] + 12)
    tab.mouse.down()
    tab.mouse.move(*middle, steps=4)
    tab.mouse.up()
    assert tab.get_by_label("Layout").input_value() == "my own"
    tab.evaluate(f"{PLAY}.advance(3)")
    tab.keyboard.press("ArrowRight")
    tab.wait_for_function(f"{PLAY}.step === 0 && !{PLAY}.playing")  # it was not playing, so it does not begin to
    assert handles.nth(0).get_attribute("aria-label").startswith("Cluster of training class A at 0.1, 0;")
    tab.keyboard.press("Delete")
    assert handles.count() == 19
    tab.get_by_label("Class", exact=True).select_option("2")
    tab.mouse.dblclick(middle[0] + box["width"] / 4, middle[1])
    assert handles.count() == 20
    assert handles.nth(19).text_content() == "2"
    tab.wait_for_function("location.hash.includes('points')")
    kept = tab.evaluate(f"{PLAY}.state")
    tab.reload()
    tab.wait_for_function(f"Number.isFinite({PLAY}?.testRecall)")
    assert tab.evaluate(f"{PLAY}.state") == kept
    assert tab.locator(".handle").count() == 20


def test_a_derivative_is_drawn_typed_and_chosen(tab, file):
    opened(tab, file, "#loss=O&speed=5")
    assert tab.evaluate(f"[0, 3, 40].map({PLAY}.derivative)") == [1, 1, 1]
    box = tab.locator(".stage.derivative").bounding_box()
    left, right, low = box["x"] + 46, box["x"] + box["width"] - 12, box["y"] + box["height"] - 22
    tab.mouse.move(left, box["y"] + 30)
    tab.mouse.down()
    tab.mouse.move(right, low, steps=12)
    tab.mouse.up()
    drawn = tab.evaluate(f"[0, 3, 40].map({PLAY}.derivative)")
    assert drawn[0] > 0.9 > drawn[1] > drawn[2]
    tab.wait_for_function("location.hash.includes('drawn=')")
    tab.get_by_label("Loss", exact=True).select_option("typed")
    tab.get_by_label("∂L/∂R =").fill("R*exp(1-R")
    assert "bracket" in tab.locator(".message").text_content()
    tab.get_by_label("∂L/∂R =").fill("2*R*exp(1-R)")
    assert tab.evaluate(f"{PLAY}.derivative(1)") == 2
    assert tab.locator(".message").text_content() == ""
    tab.wait_for_function("location.hash.includes('typed=')")
    for loss in ("contrastive", "mpa-ap", "rs@k", "Dq"):  # with and without a derivative, with proxies
        tab.get_by_label("Loss", exact=True).select_option(loss)
        tab.evaluate(f"{PLAY}.advance(2)")
    assert tab.evaluate(f"{PLAY}.derivative(0)") == 4  # α


@pytest.mark.parametrize("tab", [{"reduced_motion": "reduce", "color_scheme": "dark"}], indirect=True)
def test_keys_and_several_networks_for_those_who_want_little_motion(tab, file):
    opened(tab, file, "#networks=4&speed=120&loss=Dq")
    tab.keyboard.press("s")
    tab.wait_for_function(f"{PLAY}.step === 1")
    assert tab.locator(".multiples figure").count() == 4
    tab.keyboard.press(" ")
    tab.wait_for_function(f"{PLAY}.playing && {PLAY}.step > 30")
    tab.keyboard.press(" ")
    tab.wait_for_function(f"!{PLAY}.playing")
    tab.keyboard.press("r")
    tab.wait_for_function(f"{PLAY}.step === 0")
    assert tab.locator(".playground").get_attribute("data-theme") == "dark"
    tab.set_viewport_size({"width": 420, "height": 900})
    assert tab.evaluate("document.documentElement.scrollWidth") <= 420
    opened(tab, file, "#loss=nonsense&points=Z9,9&seed=-4&typed=alert(1)&steps=7")  # taken as it starts
    assert tab.evaluate(f"{PLAY}.state") == ""


def test_it_trains_without_a_worker_where_the_host_allows_none(page):
    text = playground_page().replace("<head>", "<head><script>delete window.Worker;</script>")
    page.route(
        "http://127.0.0.1:1/play", lambda route: route.fulfill(body=text, content_type="text/html; charset=utf-8")
    )
    page.goto("http://127.0.0.1:1/play")
    page.wait_for_function(f"Number.isFinite({PLAY}?.testRecall)")
    page.evaluate(f"{PLAY}.play()")
    page.wait_for_function(f"{PLAY}.step > 20")


def test_the_page_of_the_dashboard_keeps_it_in_its_address(page, dashboard):
    page.goto(f"{dashboard}/playground?play=loss%3DDq%26seed%3D3")
    page.wait_for_function(f"Number.isFinite({PLAY}?.testRecall)")
    assert page.evaluate(f"{PLAY}.state") == "loss=Dq&seed=3"
    page.get_by_label("Loss", exact=True).select_option("Ds")
    page.wait_for_function("new URLSearchParams(location.search).get('play') === 'loss=Ds&seed=3'")
    page.evaluate(f"{PLAY}.play()")
    page.wait_for_function(f"{PLAY}.step > 20")
    assert page.evaluate(f"{PLAY}.state") == "loss=Ds&seed=3"


KNOTS = np.expm1(np.log(49) * np.arange(25) / 24).tolist()
DRAWN = np.interp(KNOTS, [0, 2, 48], [1, 0.5, 0]).tolist()
LOSSES = {
    "Ib": (losses.PNP("Ib", b=2.0), {"tau": 0.01, "b": 2.0}),
    "Dq": (losses.PNP("Dq", alpha=4.0), {"tau": 0.01, "alpha": 4.0}),
    "drawn": (losses.from_derivative(list(zip(KNOTS, DRAWN))), {"tau": 0.01}),
    "smooth-ap": (losses.SmoothAP(), {"tau": 0.01}),
    "rs@k": (losses.RecallAtK(), {"tau": 0.01, "tauRank": 1.0}),
    "contrastive": (losses.Contrastive(margin=1.0, form="linear"), {"margin": 1.0}),
    "triplet": (losses.Triplet(), {"margin": 0.2}),
}
TRAIN = """async ({ Trainer }, { train, test, runs, steps, rate }) => {
  const part = ({ x, labels }) => ({ n: labels.length, x: Float64Array.from(x), labels: Uint8Array.from(labels) });
  const data = { train: part(train), test: part(test) };
  const { embed } = await import("http://127.0.0.1:1/web/playground/network.js");
  return runs.map(({ choice, parameters, batches }) => {
    const given = { parameters: Float64Array.from(parameters), batches: batches.values() };
    const trainer = new Trainer({ data, choice, steps, seed: 0, rate, given });
    while (!trainer.finished) trainer.advance();
    return Array.from(embed(trainer.parameters, data.test.x, data.test.n));
  });
}"""


def test_training_is_that_of_labkit_over_fifty_steps(page, monkeypatch):
    splits = toy.toy("ring", 0)
    data = {name: getattr(splits, name) for name in ("train", "test")}
    doubled = {name: part.inputs.double() for name, part in data.items()}
    torch.manual_seed(0)
    start = torch.cat([p.flatten() for p in build("toy-mlp", 2).double().parameters()])
    batches = [i.tolist() for _, i in islice(batches_from(BalancedBatches(data["train"].labels, 4, 16, 0), 0), STEPS)]
    monkeypatch.setattr(toy, "build", lambda *how: build(*how).double())
    monkeypatch.setattr(toy, "toy", lambda *how: as_double(splits, doubled))
    runs = [
        {"choice": {"loss": name, "options": options, "drawn": DRAWN}, "parameters": start.tolist(), "batches": batches}
        for name, (_, options) in LOSSES.items()
    ]
    given = {
        name: {"x": doubled[name].flatten().tolist(), "labels": part.labels.tolist()} for name, part in data.items()
    }
    found = import_module(
        page, "playground/trainer.js", TRAIN, given | {"runs": runs, "steps": STEPS, "rate": toy.RATE}
    )
    for (name, (loss, _)), there in zip(LOSSES.items(), found, strict=True):
        trained = toy.train(loss, 0, "ring", STEPS)
        moved = (trained.after - trained.before).abs().max().item()
        assert moved > 0.05, f"{name} has not trained"
        off = np.abs(np.reshape(there, (-1, 2)) - trained.after.numpy()).max()
        assert off < 1e-6, f"{name} is off by {off}"


def as_double(splits, doubled):
    return replace(
        splits,
        train=replace(splits.train, inputs=doubled["train"]),
        test=replace(splits.test, inputs=doubled["test"]),
    )
