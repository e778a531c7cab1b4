"""A loss of one's own, in a file, trains from the command line, and a changed file is noticed."""

import json
import os

import pytest

from labkit.__main__ import main
from labkit.losses.own import is_own, own_options
from labkit.runs.read import find_runs, read_run
from labkit.training.config import from_dict, load_config
from labkit.training.moving import read_moving
from labkit.training.ready import check_loss

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
        *small_arguments(),
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
    arguments = ["fashion-mnist", *small_arguments(), "--loss", f"{mine}:Sharp", "--runs", str(tmp_path / "runs")]
    assert main(["train", *arguments]) == 0
    (info,) = (tmp_path / "runs").glob("*/run.json")
    info.write_text(info.read_text().replace('"finished"', '"interrupted"'))
    mine.write_text(MINE + "# changed\n")
    assert main(["train", "--resume", str(info.parent)]) == 2
    assert "has changed since" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing.py:Sharp", "no file"),
        ("{mine}:Blunt", "classes in it: Sharp"),
        ("{mine}:number", "cannot be called"),
        ("{broken}:Sharp", "is not a Python file"),
    ],
)
def test_a_wrong_name_is_told(mine, name, message, tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("class Sharp(:")
    with pytest.raises(ValueError, match=message):
        load_config("toy", name.format(mine=mine, broken=broken))


def test_names_of_the_catalogue_are_no_files():
    assert not is_own("pnp-dq")
    assert is_own("folder/mine.py:Sharp")


OPTIONS = """
import torch
from torch import nn
from elsewhere import Foreign
from functools import partial

class Plain(nn.Module):
    def forward(self, embeddings, labels): ...

class Base(torch.nn.Module):
    def __init__(self, tau, *, scale=1.0): ...

class Derived(Base):
    def forward(self, embeddings, labels): ...

class Unknown(Foreign): ...

class Anything(nn.Module):
    def __init__(self, **options): ...

if torch.cuda.is_available():
    def inside(margin): ...

made = partial(Base, 1)
"""


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("Plain", []),
        ("Base", ["tau", "scale"]),
        ("Derived", ["tau", "scale"]),
        ("inside", ["margin"]),
        ("Unknown", None),
        ("Anything", None),
        ("Foreign", None),
        ("made", None),
    ],
)
def test_options_are_read_from_the_text(tmp_path, name, options):
    path = tmp_path / "mine.py"
    path.write_text(OPTIONS)
    found = own_options(f"{path}:{name}")
    assert (None if found is None else list(found)) == options
    if options is None:  # whatever the text does not tell is left to the training
        assert load_config("toy", f"{path}:{name}", {"sharpness": "2"}).loss_options == {"sharpness": 2}
    else:
        with pytest.raises(ValueError, match="no setting 'sharpness'"):
            load_config("toy", f"{path}:{name}", {"sharpness": "2"})
    assert load_config("toy", f"{path}:{name}", {"lr": "1"}).optimizer.lr == 1.0


MARKING = """
import os
from labkit import losses
with open(os.environ["MARK"], "a") as file:
    file.write(f"{os.getpid()}\\n")

def mine(scale=9.0):
    return losses.SmoothAP(tau=scale)
"""


def test_a_file_runs_once_where_it_trains_and_nowhere_else(small_arguments, tmp_path, monkeypatch, capsys):
    mark, file, runs = tmp_path / "mark", tmp_path / "mine.py", tmp_path / "runs"
    monkeypatch.setenv("MARK", str(mark))
    file.write_text(MARKING)
    config = load_config("toy", f"{file}:mine", {"scale": "2.0"})
    check_loss(from_dict(config.as_dict()))
    assert not mark.exists()
    command = ["train", "fashion-mnist", *small_arguments(), "--loss", f"{file}:mine", "--seed", "0", "1"]
    assert main([*command, "--runs", str(runs)]) == 0
    assert mark.read_text() == f"{os.getpid()}\n"  # once for both seeds
    first, second = sorted(run.id for run in find_runs(runs))
    here = ["--runs", str(runs)]
    for looking in (
        ["runs", *here],
        ["runs", "show", first, *here],
        ["runs", "compare", *here],
        ["runs", "list", "--where", "scale=9.0", *here],
        ["evaluate", second, *here],
        ["runs", "export", first, *here, "-o", str(tmp_path / "run.zip")],
        ["runs", "delete", first, "--yes", *here],
        ["runs", "import", str(tmp_path / "run.zip"), *here],
        ["project", first, "--methods", "pca", *here],
    ):
        assert main(looking) == 0, capsys.readouterr().err
    read_moving(read_run(runs / first))
    assert mark.read_text().count("\n") == 1
    file.write_text(MARKING + "# changed")
    info = runs / first / "run.json"
    info.write_text(info.read_text().replace('"finished"', '"interrupted"'))
    assert main(["train", "--resume", str(runs / first)]) == 2
    assert "its file was not run" in capsys.readouterr().err
    assert mark.read_text().count("\n") == 1
