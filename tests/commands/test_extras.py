"""An installed labkit: what is missing is named with the extra that brings it, and every package has one."""

import ast
import re
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest

from labkit import commands
from labkit.base.paths import home_of
from labkit.commands import errors
from labkit.commands.dashboard import configured

ROOT = Path(__file__).parents[2]
ALWAYS = {"torch", "numpy", "rapidfuzz", "tqdm"}
# faiss is used where somebody has it; packaging belongs to `labkit audit`, which reads the lock of a clone
OPTIONAL = {"faiss", "packaging"}


def imported():
    """Every package that a module of labkit or of the dashboard imports, at its top or within a function."""
    for path in [*(ROOT / "labkit").rglob("*.py"), *(ROOT / "dashboard").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                yield str(node.module).partition(".")[0]


def test_every_package_has_an_extra():
    own = {"labkit", "dashboard", "wire"}  # wire: a file of the grader, imported by its place
    others = set(imported()) - set(sys.stdlib_module_names) - own - ALWAYS - OPTIONAL
    assert {"safetensors", "streamlit", "PIL", "nbgrader"} <= others
    assert {name: errors.extra_of(name) for name in others if errors.extra_of(name) == "all"} == {}


def test_the_core_is_all_that_comes_without_an_extra():
    always = {re.split(r"[<>=]", line)[0] for line in requires("labkit") if ";" not in line}
    assert always == ALWAYS


@pytest.mark.parametrize(
    ("module", "extra"),
    [("safetensors", "training"), ("PIL.Image", "training"), ("streamlit", "dashboard"), ("jupyterlab", "notebooks")],
)
def test_a_missing_package_is_named_with_its_extra(module, extra, monkeypatch, capsys):
    monkeypatch.setattr(errors, "CLONE", False)
    assert errors.missing(ModuleNotFoundError("no", name=module)) == 1
    assert f'has no {module}; pip install "labkit[{extra}]"' in capsys.readouterr().err


def test_commands_whose_packages_are_missing_are_listed_and_refused(monkeypatch, capsys):
    monkeypatch.setattr(errors, "CLONE", False)

    def absent(name):
        raise ModuleNotFoundError("no safetensors", name="safetensors")

    monkeypatch.setattr(commands, "import_module", absent)
    with pytest.raises(SystemExit):
        commands.main(["--help"])
    assert "labkit[training]" in capsys.readouterr().out.replace("\n", " ")
    assert commands.main(["train", "toy"]) == 1
    assert capsys.readouterr().err == 'labkit: this Python has no safetensors; pip install "labkit[training]"\n'


def test_home_is_the_clone_or_what_the_wheel_brought(tmp_path):
    (tmp_path / "data").mkdir()  # another project's
    assert home_of(tmp_path / "labkit") == tmp_path / "labkit" / "_home"
    assert home_of(ROOT / "labkit") == ROOT


def test_the_dashboards_settings_go_along_as_options():
    options = configured()
    pairs = list(zip(options[::2], options[1::2]))
    assert ("--server.address", "127.0.0.1") in pairs
    assert ("--server.enableXsrfProtection", "true") in pairs
    assert ("--theme.dark.primaryColor", "#2f80d8") in pairs
    assert [value for name, value in pairs if name == "--server.allowedHosts"] == ["127.0.0.1", "localhost"]
