"""A loss of one's own, in a file, trains from the command line, and a changed file is noticed."""

import json

import pytest

from labkit.__main__ import main
from labkit.losses.own import card_of, is_own

MINE = '''"""My losses."""
from torch import nn
from labkit import losses

class Sharp(nn.Module):
    def __init__(self, power: float = 2.0):
        super().__init__()
        self.inner = losses.from_derivative(lambda R: 1 / (1 + R) ** power)

    def forward(self, embeddings, labels):
        return self.inner(embeddings, labels)

def with_proxies(num_classes, dim, scale=9.0):
    return losses.ProxyNCA(num_classes, dim, scale=scale)

number = 3
'''


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


@pytest.mark.parametrize(("name", "setting"), [("Sharp", "power=1.5"), ("with_proxies", "scale=4.0")])
def test_an_own_loss_trains_with_its_options(mine, name, setting, small_arguments, tmp_path, capsys):
    arguments = [
        "fashion-mnist",
        *small_arguments,
        "--loss",
        f"{mine}:{name}",
        "--set",
        setting,
        "--runs",
        str(tmp_path / "runs"),
    ]
    assert main(["train", *arguments]) == 0
    (info,) = (tmp_path / "runs").glob("*/run.json")
    run = json.loads(info.read_text())
    assert name in run["group"]
    assert len(run["loss_file"]["sha256"]) == 64
    option, value = setting.split("=")
    assert run["config"]["loss_options"][option] == float(value)


def test_a_run_whose_loss_has_changed_is_not_resumed(mine, small_arguments, tmp_path, capsys):
    arguments = ["fashion-mnist", *small_arguments, "--loss", f"{mine}:Sharp", "--runs", str(tmp_path / "runs")]
    assert main(["train", *arguments]) == 0
    (info,) = (tmp_path / "runs").glob("*/run.json")
    info.write_text(info.read_text().replace('"finished"', '"interrupted"'))
    mine.write_text(MINE + "# changed\n")
    assert main(["train", "--resume", str(info.parent)]) == 2
    assert "has changed since the run began" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing.py:Sharp", "no file"),
        ("{mine}:Blunt", "classes in it: Sharp"),
        ("{mine}:number", "can be called"),
    ],
)
def test_a_wrong_name_is_told(mine, name, message):
    with pytest.raises(ValueError, match=message):
        card_of(name.format(mine=mine))


def test_names_of_the_catalogue_are_no_files():
    assert not is_own("pnp-dq")
    assert is_own("folder/mine.py:Sharp")
    assert card_of("pnp-dq").name == "pnp-dq"
