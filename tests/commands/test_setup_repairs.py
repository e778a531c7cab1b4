"""What an interrupted set-up leaves is found; a full disk is told from a missing python3-venv."""

import shutil
import subprocess
import sys

import pytest

from labkit.commands import setup


@pytest.fixture
def package(tmp_path):
    """A package as pip leaves it: files, and the list of them written last."""
    info = tmp_path / "cats-1.0.dist-info"
    info.mkdir()
    (tmp_path / "cats").mkdir()
    (tmp_path / "cats" / "__init__.py").write_text("purr = 1\n")
    (info / "METADATA").write_text("Name: cats\n")
    rows = ["cats/__init__.py,sha256=x,9", "cats-1.0.dist-info/METADATA,sha256=x,11", "cats-1.0.dist-info/RECORD,,"]
    (info / "RECORD").write_text("\n".join([*rows, "cats/__pycache__/gone.pyc,,"]) + "\n")
    return tmp_path


def test_a_whole_package_stays(package):
    assert setup.remove_halves(package) == []
    assert (package / "cats-1.0.dist-info").is_dir()


DAMAGE = {
    "no list": lambda folder: (folder / "cats-1.0.dist-info/RECORD").unlink(),
    "an empty list": lambda folder: (folder / "cats-1.0.dist-info/RECORD").write_text(""),
    "half a list": lambda folder: (folder / "cats-1.0.dist-info/RECORD").write_text(
        "cats/__init__.py,sha256=x,9\ncats-1"
    ),
    "a missing file": lambda folder: (folder / "cats/__init__.py").unlink(),
    "half a file": lambda folder: (folder / "cats/__init__.py").write_text("purr"),
    "bytes in the list": lambda folder: (folder / "cats-1.0.dist-info/RECORD").write_bytes(b"\xff\xfe\x00"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_package_that_is_half_there_is_forgotten(package, damage):
    DAMAGE[damage](package)
    (package / "~ats").mkdir()
    assert setup.remove_halves(package) == ["cats-1.0"]
    assert not (package / "cats-1.0.dist-info").exists()
    assert not (package / "~ats").exists()


def test_an_environment_without_pip_is_made_anew(tmp_path, monkeypatch):
    commands = []
    monkeypatch.setattr(setup, "STAMP", tmp_path / "stamp")
    monkeypatch.setattr(setup, "usable", lambda python: True)
    monkeypatch.setattr(setup, "has_pip", lambda python: False)
    monkeypatch.setattr(setup, "site_packages", lambda: tmp_path)
    monkeypatch.setattr(setup, "heard", lambda command: commands.append(command) or (0, ""))
    assert setup.setup() == 0
    assert commands[0][1:4] == ["-m", "venv", "--clear"]
    assert setup.STAMP.read_text() == setup.fingerprint()


def test_a_full_disk_is_told_from_a_missing_package(monkeypatch):
    assert "the disk is full" in setup.reason(sys.executable, "OSError: [Errno 28] No space left on device")
    monkeypatch.setattr(setup, "room", lambda folder: False)
    assert "the disk is full" in setup.reason(sys.executable, "ensurepip returned non-zero exit status 1")
    monkeypatch.setattr(setup, "room", lambda folder: True)
    lacking = shutil.which("false")
    assert "apt install python3-venv" in setup.reason(lacking, "")
    assert "network" in setup.reason(sys.executable, "")


def test_a_disk_that_is_really_full_is_seen(tmp_path):
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tiny", str(tmp_path)], capture_output=True).returncode:
        pytest.skip("only root may make a small disk")
    try:
        assert not setup.room(tmp_path)
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
    assert setup.room(tmp_path)


def test_errors_are_shown_and_kept(capfd):
    code, said = setup.heard([sys.executable, "-c", "import sys; sys.stderr.write('no\\n'); sys.exit(3)"])
    assert (code, said) == (3, "no\n")
    assert capfd.readouterr().err == "no\n"
