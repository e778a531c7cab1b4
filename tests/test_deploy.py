"""The recipe for a Hub and the container file make the environment that `python -m labkit setup` makes."""

import re
import runpy
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest

from labkit.base.paths import ROOT
from labkit.commands import NAMES, parser_of, setup

DEPLOY = ROOT / "deploy"
INSTRUCTIONS = {"FROM", "RUN", "WORKDIR", "COPY", "USER", "ENV", "EXPOSE", "CMD"}


def instructions():
    """The container file's lines, without comments."""
    lines = (DEPLOY / "Containerfile").read_text(encoding="utf-8").splitlines()
    return [tuple(line.split(" ", 1)) for line in lines if line and not line.startswith("#")]


def pip_calls(commands):
    """What is handed to pip install, in order, without options that only save space."""
    calls = []
    for command in commands:
        words = [word for word in shlex.split(command) if word != "--no-cache-dir"]
        if "pip" in words and "install" in words:
            calls.append(words[words.index("install") + 1 :])
    return calls


def installed_by_setup(monkeypatch, tmp_path):
    """What `labkit setup` hands to pip; nothing is run."""
    calls = []
    monkeypatch.setattr(setup, "STAMP", tmp_path / "stamp")
    for check in ("usable", "has_pip"):
        monkeypatch.setattr(setup, check, lambda python: True)
    monkeypatch.setattr(setup, "site_packages", lambda: tmp_path)
    monkeypatch.setattr(setup, "heard", lambda words: calls.append(words) or (0, ""))
    assert setup.setup() == 0
    return [[w for w in words[4:] if w != "--disable-pip-version-check"] for words in calls if "pip" in words]


def test_the_container_installs_what_setup_installs(monkeypatch, tmp_path):
    commands = [part for name, text in instructions() if name == "RUN" for part in text.split(" && ")]
    assert pip_calls(commands) == installed_by_setup(monkeypatch, tmp_path)
    version = next(text for name, text in instructions() if name == "FROM").partition("python:")[2]
    assert tuple(map(int, version.split("-")[0].split("."))) in setup.SUPPORTED


def test_every_line_of_the_container_file_is_known_and_copies_what_is_there():
    assert {name for name, _ in instructions()} == INSTRUCTIONS
    copied = [word for name, text in instructions() if name == "COPY" for word in text.split()[:-1]]
    assert all((ROOT / word).exists() for word in copied)
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    included = re.findall(r'^"(\w+)/', project.partition("force-include]")[2].partition("\n[")[0], re.MULTILINE)
    assert set(included) <= set(copied)  # the editable build reads these
    order = [name for name, _ in instructions()]
    assert order.index("USER") < order.index("CMD")  # not as root


def test_the_recipes_commands_name_what_is_there():
    blocks = re.findall(r"```\n(.*?)```", (DEPLOY / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    lines = [shlex.split(line) for block in blocks for line in block.splitlines()]
    used = {word for line in lines for word in line if word.startswith("deploy/")}
    assert used == {"deploy/requirements-hub.txt"}
    assert all((ROOT / word).is_file() for word in used)
    assert ["/opt/labkit/.venv/bin/jupyterhub", "-f", "/opt/labkit/deploy/jupyterhub_config.py"] in lines
    for line in lines:
        if "labkit" in line and "-m" in line:
            parser_of(NAMES).parse_args(line[line.index("labkit") + 1 :])


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """The Hub's settings, as the Hub would read them."""
    monkeypatch.setenv("LABKIT_RELEASE", str(tmp_path / "release"))
    config = SimpleNamespace(JupyterHub=SimpleNamespace(), Authenticator=SimpleNamespace(), Spawner=SimpleNamespace())
    return runpy.run_path(str(DEPLOY / "jupyterhub_config.py"), {"get_config": lambda: config}), config


def test_the_hub_gives_everybody_a_copy_and_never_writes_over_it(hub, tmp_path):
    space, config = hub
    for name in ("1_metrics", "2_ranks"):
        (tmp_path / "release" / name).mkdir(parents=True)
        (tmp_path / "release" / name / f"{name}.ipynb").write_text("released")
    copy = space["private_copy"]
    (tmp_path / "ada").mkdir()
    copy(tmp_path / "release", tmp_path / "ada")
    assert (tmp_path / "ada" / "course" / "2_ranks" / "2_ranks.ipynb").read_text() == "released"
    mine = tmp_path / "ada" / "course" / "1_metrics" / "1_metrics.ipynb"
    mine.write_text("begun")
    assert mine.stat().st_mode & 0o077 == 0
    copy(tmp_path / "release", tmp_path / "ada")
    assert mine.read_text() == "begun"
    assert config.JupyterHub.bind_url.startswith("http://127.0.0.1")
    assert config.Spawner.cmd == [str(Path("/opt/labkit/.venv/bin/jupyterhub-singleuser"))]
    assert config.Spawner.pre_spawn_hook is space["before_start"]
