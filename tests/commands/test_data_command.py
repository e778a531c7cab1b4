"""python -m labkit data list, get, check."""

import hashlib
import subprocess
import sys

import pytest
from web_server import Answer, serving

from labkit.base.paths import ROOT
from labkit.commands import main
from labkit.data import NAMES, fashion_mnist, files, omniglot
from labkit.data.files import File


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """Nothing but what comes with labkit."""
    monkeypatch.setenv("LABKIT_DATA", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("labkit.base.paths.SYSTEM", tmp_path / "system")
    return tmp_path


@pytest.fixture
def run(capsys):
    def call(*arguments):
        code = main(["data", *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


@pytest.fixture
def web(monkeypatch):
    """Downloads come from a server of this test."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving() as running:
        yield running


def small_fashion(monkeypatch, web):
    """One official file instead of four, and its content on the web."""
    content = b"clothes"
    file = File("clothes.gz", "fashion-mnist", hashlib.sha256(content).hexdigest(), (f"{web.base}/clothes.gz",))
    monkeypatch.setattr(fashion_mnist, "FILES", {"train-images": file})
    web.answers["/clothes.gz"] = Answer(content)
    return file


@pytest.mark.parametrize("arguments", [(), ("list",)])
def test_list_shows_every_data_set_with_place_size_and_licence(run, empty, arguments):
    code, out, _ = run(*arguments)
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert code == 0
    assert list(lines) == ["name", *NAMES]
    assert "computed when loaded" in lines["toy"]
    assert "9.6 MB  Apache-2.0, CC-BY-4.0 or MIT, by vendor" in lines["emoji"]
    assert "2 files missing: python -m labkit data get omniglot" in lines["omniglot"]
    assert "4 files missing" in lines["fashion-mnist"]
    assert "MIT" in lines["fashion-mnist"]
    assert "python -m labkit data get cub says where" in lines["cub"]


def test_list_finds_a_benchmarks_folder(run, empty):
    (empty / "own" / "CUB_200_2011").mkdir(parents=True)
    _, out, _ = run()
    assert f"{empty / 'own' / 'CUB_200_2011'}" in out


def test_get_downloads_to_the_cache_once(run, empty, web, monkeypatch):
    file = small_fashion(monkeypatch, web)
    code, out, _ = run("get", "fashion-mnist")
    path = empty / "cache/labkit/fashion-mnist/clothes.gz"
    assert code == 0
    assert f"clothes.gz: {path}" in out
    assert files.locate(file) == path
    web.answers.clear()
    assert run("get", "fashion-mnist")[0] == 0


def test_get_replaces_a_damaged_download(run, empty, web, monkeypatch):
    small_fashion(monkeypatch, web)
    path = empty / "cache/labkit/fashion-mnist/clothes.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"half")
    assert run("get", "fashion-mnist")[0] == 0
    assert path.read_bytes() == b"clothes"


def test_get_does_not_touch_a_damaged_file_of_the_users_own_folder_but_names_it(run, empty, web, monkeypatch):
    small_fashion(monkeypatch, web)
    (empty / "own").mkdir()
    own = empty / "own" / "clothes.gz"
    own.write_bytes(b"half")
    code, _, err = run("get", "fashion-mnist")
    assert code == 2
    assert str(own) in err
    assert "Remove it" in err
    assert own.read_bytes() == b"half"


def test_get_reports_what_the_address_did(run, empty, web, monkeypatch):
    small_fashion(monkeypatch, web)
    web.answers["/clothes.gz"] = Answer(b"an error page")
    code, _, err = run("get", "fashion-mnist")
    assert code == 2
    assert err.startswith("labkit: clothes.gz (checksum ")
    assert f"{web.base}/clothes.gz: sent another file" in err


def test_omniglot_is_fetched_as_the_official_zips(empty):
    assert [(file.name, file.urls) for file in omniglot.files()] == [
        (
            f"images_{half}.zip",
            (f"https://raw.githubusercontent.com/brendenlake/omniglot/master/python/images_{half}.zip",),
        )
        for half in ("background", "evaluation")
    ]


def test_get_of_a_benchmark_says_where_to_obtain_it(run):
    from labkit.data.benchmarks import WHERE

    assert run("get", "sop")[:2] == (0, WHERE["sop"] + "\n")


@pytest.mark.parametrize("name", ["toy", "emoji"])
def test_get_of_what_is_here_is_ready(run, name):
    code, out, _ = run("get", name)
    assert code == 0
    assert f'Ready: labkit.data.load("{name}")' in out


@pytest.mark.parametrize("arguments", [("get", "mnist"), ("check", "mnist"), ("check", "cub")])
def test_an_unknown_name_is_one_line_and_exit_code_2(run, arguments):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("labkit: NAME must be one of 'toy'")
    assert err.count("\n") == 1


def test_check_verifies_what_is_here_and_forgives_what_is_not(run, empty):
    code, out, _ = run("check")
    assert code == 0
    assert "ok       " in out
    assert "emoji48.npz" in out
    assert "missing  images_background.zip: run `python -m labkit data get omniglot`" in out


def test_check_of_one_set_fails_if_a_file_is_missing(run, empty):
    assert run("check", "omniglot")[0] == 1
    assert run("check", "emoji")[0] == 0


def test_check_tells_damaged_files_with_both_checksums(run, empty):
    (empty / "own").mkdir()
    (empty / "own" / "images_background.zip").write_bytes(b"half")
    code, out, _ = run("check")
    assert code == 1
    for part in (
        "damaged  ",
        "ad41ab679c8b5d90b271ef46be6987cc81211774a695c29dcc5367b2b26ee640",
        hashlib.sha256(b"half").hexdigest(),
        "data get omniglot",
    ):
        assert part in out


def test_registering_imports_nothing_heavy():
    code = (
        "import argparse, sys; from labkit.commands import data; "
        "data.register(argparse.ArgumentParser()); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "False", done.stderr
