"""The explorers of the proxy lesson answer every control, in place and fast."""

import time

import numpy as np

from labkit.explorers.sliders import Control, Explorer, thinned
from labkit.figures.lessons import proxies

LOSSES = tuple(proxies.LOSSES)
CONTROLS = [
    Control("angle", "angle", tuple(range(-60, 256, 15)), 210),
    Control("loss", "loss", LOSSES, "SoftTriple", menu=True),
    Control("centers", "K", (1, 2, 3), 2),
]


def test_every_control_of_the_arrows_redraws_in_place():
    live = Explorer(proxies.gradient_arrows, CONTROLS)
    for name, value in (("angle", -60), ("angle", 255), ("centers", 3), ("centers", 1), *(("loss", n) for n in LOSSES)):
        live.controls[name].value = value
        expected = proxies.gradient_arrows(**live.values())
        assert live.figure.layout.title.text == expected.layout.title.text
        for now, new in zip(live.figure.data, expected.data):
            assert len(now.x) == len(new.x)
            assert np.array_equal(np.array(now.x, dtype=float), np.array(new.x, dtype=float), equal_nan=True)


def test_the_relations_answer_their_menu():
    live = Explorer(proxies.relations, [Control("loss", "loss", LOSSES, "MPA-AP", menu=True)])
    for loss in LOSSES:
        live.controls["loss"].value = loss
        assert live.figure.layout.title.text == loss
        drawn = sum(len(trace.x) for trace in live.figure.data)
        assert drawn == int((proxies.second_derivatives(loss).abs() > 1e-9).sum())


def test_the_book_holds_the_arrows_in_at_most_200_frames():
    kept = thinned(CONTROLS)
    assert np.prod([len(control.values) for control in kept]) <= 200
    assert 210 in kept[0].values


def test_the_arrows_answer_at_once():
    proxies.gradient_arrows(0, "MPA", 3)  # imports
    times = []
    for angle in range(-60, 90, 15):
        began = time.process_time()
        proxies.gradient_arrows(angle, "MPA", 3)
        times.append(time.process_time() - began)
    assert np.median(times) < 0.1
