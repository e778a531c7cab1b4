"""The command line and the set-up, as a newcomer uses them."""

import ast
import shutil
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from dashboard.gate import TOKEN
from labkit import commands
from labkit.base.errors import LabkitError
from labkit.book import notebooks
from labkit.commands import dashboard, main, setup
from labkit.commands import test as testing
from labkit.losses import CATALOG

ROOT = Path(__file__).parents[2]


def test_losses_lists_every_card_and_shows_one(capsys):
    assert main(["losses"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in CATALOG)
    assert main(["losses", "pnp-iu"]) == 0
    assert "E-PNP-1" in capsys.readouterr().out


def test_an_unknown_loss_says_what_to_do(capsys):
    assert main(["losses", "nope"]) == 2
    assert "python -m labkit losses" in capsys.readouterr().err


def test_a_port_that_is_taken_or_none_is_said_before_anything_starts(capsys, monkeypatch):
    monkeypatch.setattr(dashboard, "become", lambda *_: pytest.fail("nothing should be started"))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        assert main(["dashboard", "--port", str(port)]) == 2
    said = capsys.readouterr()
    assert f"port {port} is taken" in said.err
    assert not said.out
    for wrong in ("99999", "80", "x"):
        with pytest.raises(SystemExit):
            main(["dashboard", "--port", wrong])
        assert "from 1024 to 65535" in capsys.readouterr().err


def test_the_dashboard_starts_with_no_folder_that_streamlit_takes_for_pages(monkeypatch):
    started, tokens = [], []
    monkeypatch.setattr(
        dashboard,
        "become",
        lambda command, environment: started.append(command) or tokens.append(environment[TOKEN]) or 0,
    )
    assert main(["dashboard", "--headless"]) == 0
    assert main(["dashboard", "--headless", "--no-token"]) == 0
    assert len(tokens[0]) >= 32
    assert tokens[0] not in " ".join(started[0])  # which every user can read
    assert tokens[1] == ""
    script = ROOT / started[0][started[0].index("run") + 1]
    assert script.is_file()
    assert not (script.parent / "pages").exists()  # a link to a page would run its file instead of the app


@pytest.mark.skipif(sys.platform == "win32", reason="there a server is a process of its own")
def test_a_server_takes_the_place_of_the_command():
    code = "import labkit.commands.processes as c, os; print(os.getpid(), flush=True); "
    code += "c.become(['/bin/sh', '-c', 'echo $$'], {'PATH': '/bin'})"
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    first, second = shown.split()
    assert first == second


def bare(code):
    """What a newcomer's own Python does: -S -I, no site-packages."""
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code}"
    return subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True)


def test_a_python_without_the_packages_is_told_what_to_do():
    done = bare("import runpy; sys.argv = ['labkit', 'losses']; runpy.run_module('labkit', run_name='__main__')")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "python -m labkit setup" in done.stderr


def test_a_python_without_the_packages_lists_the_commands():
    done = bare("import runpy; sys.argv = ['labkit', '-h']; runpy.run_module('labkit', run_name='__main__')")
    assert done.returncode == 0, done.stderr
    assert all(f"\n    {name}" in done.stdout for name in commands.NAMES)


def test_options_after_test_go_to_pytest(monkeypatch):
    seen = []
    monkeypatch.setattr(testing, "run", lambda command: seen.append(command[2:]) or 0)
    assert main(["test", "-k", "pnp", "-x"]) == 0
    assert main(["test"]) == 0
    assert [step[0] for step in seen] == ["ruff", "ruff", "mypy", "pytest"] * 2
    assert seen[3] == ["pytest", "-k", "pnp", "-x"]
    assert "--durations=10" in seen[7]
    assert main(["test", "--quick"]) == 0
    files = [option for option in seen[11] if option.startswith("tests/")]
    assert len(files) > 10
    assert all((ROOT / name).exists() for name in files)


def test_unknown_options_of_other_commands_are_refused(capsys):
    with pytest.raises(SystemExit):
        main(["losses", "--nope"])
    assert "--nope" in capsys.readouterr().err


def test_what_an_old_python_reads_is_written_as_of_old():
    done = bare("import labkit.__main__; print(*(m for m in sys.modules if m.startswith('labkit')))")
    assert "labkit.base.interrupts" in done.stdout.split(), done.stderr
    for name in done.stdout.split():
        text = Path(find_spec(name).origin).read_text(encoding="utf-8")
        assert text.isascii(), name  # Python 2.7 wants a coding line otherwise
        for node in ast.walk(ast.parse(text, feature_version=(3, 4))):
            assert not isinstance(node, (ast.JoinedStr, ast.NamedExpr, ast.Starred, ast.AnnAssign, ast.Nonlocal)), name
            assert not isinstance(node, ast.FunctionDef) or node.returns is None, name
            assert not isinstance(node, ast.arg) or node.annotation is None, name


OLD = [path for minor in range(6, 11) if (path := shutil.which(f"python3.{minor}"))]
OLD += [str(path) for path in Path.home().glob(".pyenv/versions/*/bin/python")] + [shutil.which("python2.7") or ""]


@pytest.mark.parametrize("command", ["setup", "train"])
def test_an_old_python_gets_one_sentence(command):
    asked = "import sys; sys.exit(sys.version_info >= (3, 11))"
    old = [path for path in OLD if path and subprocess.run([path, "-c", asked], capture_output=True).returncode == 0]
    if not old:
        pytest.skip("no old Python is installed")
    for python in old:
        done = subprocess.run([python, "-B", "-m", "labkit", command], cwd=ROOT, env={"PATH": ""}, capture_output=True)
        assert done.returncode == 1
        assert done.stderr.decode().startswith("labkit: this Python is "), python
        assert "3.11, 3.12 or 3.13" in done.stderr.decode()
        assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (LabkitError("no such thing"), 2, "labkit: no such thing\n"),
        (ValueError("tau must be above 0"), 2, "labkit: tau must be above 0\n"),
        (FileNotFoundError(2, "No such file", "a.npz"), 2, "labkit: a.npz: No such file\n"),
        (RuntimeError("no such device\x1b[31m"), 2, "labkit: no such device�[31m\n"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: 8 bytes"), 1, "labkit: out of memory; close other "),
        (MemoryError(), 1, "labkit: out of memory; "),
        (OSError(12, "Cannot allocate memory"), 1, "labkit: out of memory; "),
        (ImportError("libtorch.so: failed to map segment from shared object"), 1, "labkit: out of memory; "),
        (OSError("could not load libllvm.so: failed to map segment"), 1, "labkit: out of memory; "),
        (KeyboardInterrupt(), 130, "labkit: interrupted\n"),
        (ModuleNotFoundError("no umap", name="umap"), 1, "labkit: this Python has no umap; "),
    ],
)
def test_an_error_becomes_one_line_and_an_exit_code(error, code, said, monkeypatch, capsys):
    def fail(args):
        raise error

    monkeypatch.delenv("LABKIT_DEBUG", raising=False)
    monkeypatch.setattr("labkit.commands.losses.show_losses", fail)
    assert main(["losses"]) == code
    assert capsys.readouterr().err.startswith(said)
    if code == 2:
        monkeypatch.setenv("LABKIT_DEBUG", "1")
        with pytest.raises(type(error)):
            main(["losses"])


def test_a_mistake_of_ours_is_shown_with_its_traceback(monkeypatch):
    monkeypatch.setattr("labkit.commands.losses.show_losses", lambda args: {}["missing"])
    with pytest.raises(KeyError):
        main(["losses"])


@pytest.mark.parametrize("name", commands.NAMES)
def test_every_command_is_a_file_that_says_what_it_does(name, capsys):
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    assert f"python -m labkit {name}" in capsys.readouterr().out


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
    monkeypatch.setattr(setup, "heard", lambda command: (run(command).returncode, ""))
    monkeypatch.setattr(setup, "site_packages", lambda: tmp_path)
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
