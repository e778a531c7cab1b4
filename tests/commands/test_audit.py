"""The lock against saved advisories: OSV's rule of ranges, loose versions, other ecosystems, withdrawn ones."""

import json
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from labkit.commands import audit, main


def advisory(name="cats", ecosystem="PyPI", **affected):
    entry = {"package": {"name": name, "ecosystem": ecosystem}, **affected}
    return {"id": "TEST-1", "modified": "2026-01-02T00:00:00Z", "summary": "scratches", "affected": [entry]}


def spans(*events, kind="ECOSYSTEM"):
    return {"ranges": [{"type": kind, "events": [{name: at} for name, at in events]}]}


@pytest.fixture
def lock(tmp_path):
    path = tmp_path / "requirements.txt"
    path.write_text('# a lock\nCats==1.5\n    # via dogs\ndogs[fast]==2.0 ; python_version > "3"\n')
    return path


@pytest.fixture
def run(tmp_path, lock, capsys):
    def call(content, name="saved.json"):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        code = main(["audit", str(path), "--lock", str(lock)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


HIT = spans(("introduced", "0"), ("fixed", "2.0"))


@pytest.mark.parametrize("shape", [lambda one: one, lambda one: [one], lambda one: {"vulns": [one]}])
def test_a_known_vulnerability_is_named_with_what_mends_it(run, shape):
    code, out, _ = run(shape(advisory("CATS", **HIT)))
    assert code == 1
    assert "2 packages in requirements.txt, 1 advisories, the newest of 2026-01-02" in out
    assert out.splitlines()[-1].split() == ["cats", "1.5", "TEST-1", "2.0", "scratches"]


@pytest.mark.parametrize(
    ("affected", "hit"),
    [
        (HIT, True),
        (spans(("introduced", "1.6")), False),
        (spans(("introduced", "1.5")), True),
        (spans(("introduced", "1"), ("fixed", "1.5")), False),
        (spans(("introduced", "1"), ("last_affected", "1.5")), True),
        (spans(("introduced", "1"), ("last_affected", "1.4")), False),
        (spans(("fixed", "1.2"), ("introduced", "0")), False),  # in any order
        (spans(("introduced", "0"), ("fixed", "1.2"), ("introduced", "1.4")), True),
        (spans(("introduced", "0"), ("fixed", "the next one")), True),  # unreadable: never in our favour
        (spans(("introduced", "some time"), ("fixed", "1.2")), False),
        (spans(("introduced", "0"), kind="GIT"), False),
        ({"versions": ["1.5.0"]}, True),
        ({"versions": ["1.4", "rubbish"]}, False),
    ],
)
def test_a_version_is_concerned_as_the_format_says(run, affected, hit):
    assert run(advisory(**affected))[0] == int(hit)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6, unique=True), st.integers(0, 10))
def test_alternating_events_are_intervals(places, at):
    cuts = sorted(places)
    events = [{"introduced" if i % 2 == 0 else "fixed": str(cut)} for i, cut in enumerate(cuts)]
    naive = sum(cut <= at for cut in cuts) % 2 == 1
    assert audit.within(events, Version(str(at))) == naive


def test_others_and_withdrawn_ones_do_not_count(run):
    withdrawn = advisory(**HIT) | {"withdrawn": "2026-01-01T00:00:00Z"}
    code, out, _ = run([withdrawn, advisory(ecosystem="npm", **HIT), advisory("mice", **HIT)])
    assert code == 0
    assert "none of the packages has a known vulnerability" in out


def test_the_zip_of_osv_is_read_as_it_is(tmp_path, lock, capsys):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("TEST-1.json", json.dumps(advisory(**HIT)))
        archive.writestr("TEST-2.json", json.dumps(advisory("dogs", **HIT)))
    assert main(["audit", str(tmp_path / "all.zip"), "--lock", str(lock)]) == 1
    assert "2 advisories" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "is not JSON"),
        ({"cats": 1}, "has no id"),
        ([], "holds no advisory"),
        (3, "has no id"),
        (advisory(versions=3), "not in the OSV format"),
    ],
)
def test_a_file_that_holds_something_else_is_one_line(run, content, why):
    code, _, err = run(content)
    assert code == 2
    assert why in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("line", ["cats>=1", "cats", "--index-url https://example.org"])
def test_a_lock_that_does_not_pin_is_refused(run, lock, line):
    lock.write_text(line + "\n")
    code, _, err = run(advisory(**HIT))
    assert code == 2
    assert repr(line) in err


def test_the_projects_own_lock_is_read_whole(run):
    own = audit.read_lock(audit.ROOT / "requirements.txt")
    pinned = [line for line in (audit.ROOT / "requirements.txt").read_text().splitlines() if "==" in line]
    assert len(own) == len(pinned) > 100
    assert own["torch"] == Version("2.13.0")
