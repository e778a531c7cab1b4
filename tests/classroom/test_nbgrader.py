"""A course from nothing to a table of marks, with nbgrader's own commands and three made-up students."""

import csv
import json
import os
import re
import subprocess
import zipfile
from subprocess import CompletedProcess

import nbformat
import pytest

from labkit.__main__ import main
from labkit.assignments import load, questions
from labkit.base.paths import ROOT
from labkit.classroom import folder
from labkit.classroom.autograde import require
from labkit.classroom.folder import nbgrader

NAME = "1_metrics"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course with one assignment."""
    path = tmp_path_factory.mktemp("instructor") / "course"
    assert main(["course", "init", str(path), "--assignment", NAME]) == 0
    return path


def notebook(path):
    return nbformat.read(path, as_version=4)


def hand_in(course, student, changes):
    """What a student hands in: the student's version with some answers."""
    made = notebook(course / "release" / NAME / f"{NAME}.ipynb")
    for cell in made.cells:
        cell.source = changes.get(cell.id, cell.source)
    archive = course / "downloaded" / NAME / "archive"
    archive.mkdir(parents=True, exist_ok=True)
    nbformat.write(made, archive / f"{student}__{NAME}.ipynb")


def mistaken(name):
    """An answer of the zoo."""
    return f"from labkit.assignments.questions import find\n{name} = find({name!r}).exercise.mistakes[0].answer"


def test_init_leaves_a_course_that_says_what_to_do(course, capsys):
    readme = (course / "README.md").read_text(encoding="utf-8")
    for command in (
        "zip_collect",
        "autograde",
        "generate_feedback",
        "export",
        "labkit grade",
        "course open",
        "course collect",
    ):
        assert command in readme
    assert "$" not in readme.replace("$$", "")
    assert (course / "submitted").is_dir()
    assert (course / "solutions" / f"{NAME}.ipynb").exists()
    assert (course / "notes" / f"{NAME}.ipynb").exists()
    # again: nothing changes, and the instructor's own edits stay
    source = course / "source" / NAME / f"{NAME}.ipynb"
    before = source.stat().st_mtime_ns
    assert main(["course", "init", str(course), "--assignment", "1"]) == 0
    assert "kept as it is" in capsys.readouterr().out
    assert source.stat().st_mtime_ns == before


def test_update_writes_sources_anew_and_keeps_the_rest(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(folder, "nbgrader", lambda where, *arguments: asked.append(arguments))
    path = tmp_path / "a course, 'quoted'"
    command = ["course", "init", str(path), "--assignment", NAME, "--course-id", 'the "best"']
    assert main(command) == 0
    source, config = path / "source" / NAME / f"{NAME}.ipynb", path / "nbgrader_config.py"
    compile(config.read_text(encoding="utf-8"), str(config), "exec")
    written = source.read_text(encoding="utf-8")
    source.write_text("changed")
    config.write_text(config.read_text(encoding="utf-8") + "# mine\n")
    assert main(command) == 0  # nbgrader did not run to its end before: it is asked again
    assert source.read_text() == "changed"
    assert main([*command, "--update"]) == 0
    assert source.read_text(encoding="utf-8") == written
    assert config.read_text(encoding="utf-8").endswith("# mine\n")
    assert asked == [("generate_assignment", NAME, "--force")] * 3


def test_nbgrader_releases_what_labkit_releases(course, tmp_path):
    assert main(["course", "release", str(tmp_path), "--assignment", NAME]) == 0
    ours = notebook(tmp_path / "student" / f"{NAME}.ipynb").cells
    theirs = notebook(course / "release" / NAME / f"{NAME}.ipynb").cells
    assert [cell.id for cell in ours] == [cell.id for cell in theirs]
    for mine, made in zip(ours, theirs):
        assert mine.source == made.source.rstrip()
        added = {"checksum", "cell_type"}
        known = {key: value for key, value in made.metadata.get("nbgrader", {}).items() if key not in added}
        assert mine.metadata.get("nbgrader", {}) == known
        assert mine.metadata.get("editable", True) == made.metadata.get("editable", True)


def follow_the_readme(course):
    """Run its steps as they are printed, in one shell; all but the one that opens a server."""
    blocks = re.findall(r"```\n(.*?)```", (course / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    steps = [line.strip() for block in blocks for line in block.splitlines()]
    assert sum(step.startswith("nbgrader ") for step in steps) == 4
    assert sum(step.startswith("python -m labkit ") for step in steps) == 6
    steps = [step for step in steps if "course open" not in step]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}  # this clone, whatever the environment has installed
    done = subprocess.run(
        ["bash", "-e"], input="\n".join(steps), cwd="/", env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.usefixtures("sandboxed")
def test_three_students_get_the_marks_they_deserve(course):
    assignment = load(NAME)
    first, second, *_ = assignment.questions
    solution = {cell.id: cell.source for cell in notebook(course / "solutions" / f"{NAME}.ipynb").cells}
    hand_in(course, "perfect", solution)
    hand_in(course, "empty", {})
    # a right answer that warns must not lose points; an unbalanced formula must not stop the feedback page
    warns = f"import warnings\nwarnings.warn('x')\n{solution[second.name]}"
    warns = warns.replace('"""\n', '"""\n    import warnings; warnings.warn("in the call")\n', 1)
    written = {part.name: "It holds that $\\frac{1$, I think." for part in assignment.written}
    hand_in(course, "wrong", {first.name: mistaken(first.name), second.name: warns, **written})
    archive = course / "downloaded" / NAME / "archive"
    with zipfile.ZipFile(archive / "perfect.zip", "w") as file:
        file.write(archive / f"perfect__{NAME}.ipynb", f"{NAME}.ipynb")
    (archive / f"perfect__{NAME}.ipynb").unlink()

    follow_the_readme(course)

    assert {path.name for path in (course / "grades" / NAME).iterdir()} >= {"grades.json", "summary.md", "summary.svg"}
    with (course / "marks-csv.csv").open() as file:
        assert {row["student"] for row in csv.DictReader(file)} == {"perfect", "empty", "wrong"}
    with (course / "grades.csv").open() as file:
        scores = {row["student_id"]: (float(row["score"]), float(row["max_score"])) for row in csv.DictReader(file)}
    code = sum(question.points for question in assignment.questions)
    assert scores == {"perfect": (code, 30.0), "empty": (0.0, 30.0), "wrong": (second.points, 30.0)}

    page = (course / "feedback" / "wrong" / NAME / f"{NAME}.html").read_text(encoding="utf-8")
    assert first.exercise.mistakes[0].hint[:30] in page
    assert "<math" in page
    assert "<script src" not in page
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as marks:
        waiting = {s.student.id: s.needs_manual_grade for s in marks.find_assignment(NAME).submissions}
    assert waiting == {"perfect": True, "empty": False, "wrong": True}  # written answers that were left are 0 already

    # the marks of `labkit grade` stand above nbgrader's own, also for a student whom nbgrader has not seen
    marks = [{"question": question.name, "score": 1.5, "hint": "so"} for question in assignment.questions]
    results = course / "grades.json"
    rows = [{"student": student, "marks": marks} for student in ("perfect", "new")]
    results.write_text(json.dumps({"assignment": NAME, "students": rows}))
    assert main(["course", "marks", str(results), str(course)]) == 0
    nbgrader(course, "export")
    with (course / "grades.csv").open() as file:
        scores = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    expected = 1.5 * len(marks)
    assert scores == {"perfect": expected, "new": expected, "empty": 0.0, "wrong": second.points}


def test_results_that_are_none_are_refused(course, tmp_path, capsys):
    (tmp_path / "grades.json").write_text("[]")
    assert main(["course", "marks", str(tmp_path / "grades.json"), str(course)]) == 2
    assert "is not the grades.json" in capsys.readouterr().err
    (tmp_path / "grades.json").write_text('{"assignment": "9_none", "students": []}')
    assert main(["course", "marks", str(tmp_path / "grades.json"), str(course)]) == 2
    assert "no assignment 9_none" in capsys.readouterr().err
    assert main(["course", "marks", str(tmp_path / "none.json"), str(course)]) == 2
    assert main(["course", "marks", str(tmp_path / "grades.json"), str(tmp_path)]) == 2
    assert "is no course" in capsys.readouterr().err


def test_other_folders_are_left_alone(tmp_path, capsys):
    (tmp_path / "thesis.tex").write_text("…")
    assert main(["course", "init", str(tmp_path)]) == 2
    assert "holds other things (thesis.tex)" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    assert main(["course", "init", str(tmp_path / "thesis.tex")]) == 2
    assert "is a file" in capsys.readouterr().err
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "nbgrader_config.py").write_text("c = get_config()\n")
    assert main(["course", "init", str(tmp_path / "theirs")]) == 2
    assert "nbgrader_config.py" in capsys.readouterr().err
    assert main(["course", "open", str(tmp_path)]) == 2
    assert "course init" in capsys.readouterr().err
    assert main(["course", "init", str(tmp_path / "new"), "--assignment", "9_none"]) == 2
    assert "there are 1_metrics" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_failing_command_of_nbgrader_is_told_with_its_last_lines(tmp_path, monkeypatch):
    log = "\n".join(f"line {number}" for number in range(50))
    monkeypatch.setattr(folder.subprocess, "run", lambda *_, **__: CompletedProcess([], 1, log))
    with pytest.raises(ValueError, match="`nbgrader autograde 2_none` failed") as failed:
        nbgrader(tmp_path, "autograde", "2_none")
    assert str(failed.value).endswith("line 49")
    assert "line 30" not in str(failed.value)


def test_without_nbgrader_the_message_says_what_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(folder, "find_spec", lambda name: None)
    assert main(["course", "init", str(tmp_path / "course")]) == 2
    assert "labkit[course]" in capsys.readouterr().err


def test_require_passes_the_reference_and_names_the_mistake(capsys):
    question = load(NAME).questions[0]
    assert require(question.name, question.exercise.reference) is None
    assert "right on all" in capsys.readouterr().out
    mistake = question.exercise.mistakes[0]
    with pytest.raises(AssertionError) as failed:
        require(question.name, mistake.answer)
    assert mistake.hint in str(failed.value)
    with pytest.raises(ValueError, match="no question 'nonsense'; there are"):
        require("nonsense", len)


def test_checks_know_the_questions_of_the_assignments_too():
    from labkit import check

    names = [question.name for question in questions.every()]
    assert set(names) <= set(dir(check))
    assert getattr(check, names[0]).__doc__ == questions.find(names[0]).exercise.task
    with pytest.raises(AttributeError, match="no exercise 'nonsense'"):
        check.nonsense
