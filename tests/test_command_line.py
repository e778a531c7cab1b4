"""The command line and the set-up, as a newcomer uses them."""

import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import labkit.__main__ as command_line
from labkit import setup
from labkit.book import notebooks
from labkit.losses import CATALOG

ROOT = Path(__file__).parents[1]


def test_losses_lists_every_card_and_shows_one(capsys):
    assert command_line.main(["losses"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in CATALOG)
    assert command_line.main(["losses", "pnp-iu"]) == 0
    assert "E-PNP-1" in capsys.readouterr().out


def test_an_unknown_loss_says_what_to_do(capsys):
    assert command_line.main(["losses", "nope"]) == 2
    assert "python -m labkit losses" in capsys.readouterr().err


def test_a_port_that_is_taken_or_none_is_said_before_anything_starts(capsys, monkeypatch):
    monkeypatch.setattr(command_line, "become", lambda *_: pytest.fail("nothing should be started"))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        assert command_line.main(["dashboard", "--port", str(port)]) == 2
    said = capsys.readouterr()
    assert f"port {port} is taken" in said.err
    assert not said.out
    for wrong in ("99999", "80", "x"):
        with pytest.raises(SystemExit):
            command_line.main(["dashboard", "--port", wrong])
        assert "from 1024 to 65535" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="there a server is a process of its own")
def test_a_server_takes_the_place_of_the_command():
    code = "import labkit.__main__ as c, os; print(os.getpid(), flush=True); "
    code += "c.become(['/bin/sh', '-c', 'echo $$'], {'PATH': '/bin'})"
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    first, second = shown.split()
    assert first == second


def test_a_python_without_the_packages_is_told_what_to_do():
    # -S -I: no site-packages, as a newcomer's own Python
    code = f"import sys, runpy; sys.path.insert(0, {str(ROOT)!r}); sys.argv = ['labkit', 'losses']; "
    code += "runpy.run_module('labkit', run_name='__main__')"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "python -m labkit setup" in done.stderr


def test_options_after_test_go_to_pytest(monkeypatch):
    seen = []
    monkeypatch.setitem(command_line.RUN, "test", lambda pytest_options: seen.append(pytest_options) or 0)
    assert command_line.main(["test", "-k", "pnp", "-x"]) == 0
    assert command_line.main(["test"]) == 0
    assert seen == [["-k", "pnp", "-x"], []]


def test_unknown_options_of_other_commands_are_refused(capsys):
    with pytest.raises(SystemExit):
        command_line.main(["losses", "--nope"])
    assert "--nope" in capsys.readouterr().err


def test_set_up_files_import_on_an_old_python():
    # no annotation may be evaluated: an old Python must get as far as the message that names a newer one
    for name in ("setup.py", "__main__.py"):
        assert "from __future__ import annotations" in (ROOT / "labkit" / name).read_text(encoding="utf-8")


def test_setup_needs_only_the_standard_library():
    # -S -I: no site-packages, as on a fresh clone
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import labkit.setup, labkit.__main__"
    subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True)


def test_setup_returns_at_once_when_the_stamp_fits(tmp_path, monkeypatch):
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.touch()
    monkeypatch.setattr(setup, "VENV", tmp_path)
    monkeypatch.setattr(setup, "STAMP", tmp_path / "stamp")
    monkeypatch.setattr(setup, "venv_python", lambda: python)
    monkeypatch.setattr(setup.subprocess, "run", lambda *a, **k: pytest.fail("nothing should be run"))
    setup.STAMP.write_text(setup.fingerprint())
    assert setup.setup() == 0


@pytest.mark.parametrize("fails_at", ["venv", "-r", "-e"])
def test_an_interrupted_setup_does_not_look_finished(tmp_path, monkeypatch, fails_at, capfd):
    calls = []

    def run(command, **_):
        calls.append(command)
        return subprocess.CompletedProcess(command, int(fails_at in command))

    monkeypatch.setattr(setup, "VENV", tmp_path)
    monkeypatch.setattr(setup, "STAMP", tmp_path / "stamp")
    monkeypatch.setattr(setup, "usable", lambda python: False)
    monkeypatch.setattr(setup.subprocess, "run", run)
    setup.STAMP.write_text("an older lock")
    assert setup.setup() == 1
    assert not setup.STAMP.exists()
    assert "labkit:" in capfd.readouterr().err


def test_an_old_python_is_named_with_the_way_out(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(setup, "STAMP", tmp_path / "stamp")
    monkeypatch.setattr(setup, "supported_python", lambda: None)
    assert setup.setup() == 1
    assert "3.11, 3.12 or 3.13" in capsys.readouterr().err


def test_requirements_are_a_full_lock():
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith((" ", "#"))]
    assert all("==" in pin and "+" not in pin and "@" not in pin for pin in pins)
    assert "torch==2.13.0" in pins
    assert not any(pin.startswith(("torchvision", "nvidia")) for pin in pins)
    assert not any("://" in line for line in lines)


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_help_names_every_target():
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for target in ("dashboard", "test", "lab", "bench", "notebooks", "setup", "lock"):
        assert f"make {target}" in shown


LESSON = """# %% [markdown]
# # A lesson
# %%
1 + {}
"""


def test_notebooks_are_built_and_failures_keep_the_old_one(tmp_path, capsys):
    assert notebooks.build_all(tmp_path, []) == 0
    assert "no lesson yet" in capsys.readouterr().out
    (tmp_path / "01_good.py").write_text(LESSON.format("1"))
    (tmp_path / "02_bad.py").write_text(LESSON.format("missing"))
    (tmp_path / "02_bad.ipynb").write_text("old")
    assert notebooks.build_all(tmp_path, []) == 1
    built = (tmp_path / "01_good.ipynb").read_text()
    assert '"2"' in built
    assert '"execution_count": 1' in built
    assert (tmp_path / "02_bad.ipynb").read_text() == "old"
    assert "02_bad.py failed" in capsys.readouterr().err
    assert notebooks.build_all(tmp_path, ["nope"]) == 2
