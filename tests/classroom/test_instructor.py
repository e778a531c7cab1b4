"""What an instructor needs around grading: late days, tables for platforms, a summary, hand-ins put right."""

import csv
import io
import json
import os
import zipfile
from datetime import UTC, datetime

import nbformat
import pytest

from labkit.__main__ import main
from labkit.assignments import load
from labkit.classroom import folder
from labkit.classroom.collect import collect
from labkit.classroom.deadlines import Deadlines, days_late, doubts, factors, read_deadlines
from labkit.classroom.folder import MASTERS, write
from labkit.classroom.summary import reason, summarise
from labkit.classroom.variants import TEXT
from labkit.grading.grade import ENDED, advice
from labkit.grading.grade import mark as grade_mark
from labkit.grading.submission import private_function, read

NAME = "1_metrics"
MARKS = [(q.name, q.points) for q in load(NAME).questions]


def mark(place, score, hint="", mistake=""):
    name, points = MARKS[place]
    return {"question": name, "points": points, "score": score, "hint": hint, "mistake": mistake}


def graded(student, *scores, handed_in="", hint="Sort it.", mistake="not sorted"):
    marks = [
        mark(n, s, *(("", "") if s == MARKS[n][1] else (hint, mistake if n == 0 else ""))) for n, s in enumerate(scores)
    ]
    return {"student": student, "score": sum(scores), "marks": marks, "handed_in": handed_in}


@pytest.fixture
def course(tmp_path):
    """A course with marks of four students."""
    rows = [
        graded("ada", *(points for _, points in MARKS), handed_in="2026-11-20T10:00:00+00:00"),
        graded("bob@uni.edu", 0, 6, 6, 7, handed_in="2026-11-25T10:00:00+00:00"),
        graded("=eve", 0, 0, 0, 0, handed_in="2026-11-22T00:00:01+00:00"),
        graded("max", 3, 6, 0, 0, hint="Not written yet.", mistake=""),
    ]
    results = tmp_path / "grades" / NAME / "grades.json"
    results.parent.mkdir(parents=True)
    results.write_text(json.dumps({"assignment": NAME, "students": rows}))
    (tmp_path / "nbgrader_config.py").write_text("# labkit course init\n")
    text = f"late_days = 2\nkept_per_day = 0.5\n[deadline]\n{NAME} = 2026-11-21T23:59:59Z\n"
    (tmp_path / "deadlines.toml").write_text(text)
    return tmp_path


def table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_free_days_go_in_the_order_of_the_deadlines():
    due = {"a": datetime(2026, 1, 10, tzinfo=UTC), "b": datetime(2026, 1, 20, tzinfo=UTC)}
    rules = Deadlines(late_days=3, kept_per_day=0.9, deadline=due, more_days={"eve": 1})
    times = {"b": "2026-01-22T12:00:00+00:00", "a": "2026-01-11T00:00:01+00:00", "c": "2030-01-01T00:00:00+00:00"}
    assert factors(rules, "ada", times) == {"a": (2, 1.0), "b": (3, pytest.approx(0.81)), "c": (0, 1.0)}
    assert factors(rules, "eve", times) == {"a": (1, 1.0), "b": (2, 1.0), "c": (0, 1.0)}
    assert days_late(rules, "a", "ada", "2026-01-10T00:00:00+00:00") == 0
    assert days_late(rules, "a", "ada", "") == 0
    said = Deadlines(deadline=due, handed_in={"a": {"ada": due["a"]}})  # better known than by the file's date
    assert days_late(said, "a", "ada", times["a"]) == 0


def test_the_small_file_is_checked_and_the_one_given_is_valid(tmp_path):
    path = tmp_path / "deadlines.toml"
    assert read_deadlines(path) == Deadlines()
    path.write_text((folder.TEMPLATES / "deadlines.toml").read_text(encoding="utf-8"))
    assert read_deadlines(path).late_days == 3
    lines = path.read_text().replace("# 1_metrics", "1_metrics").replace("# ada", "ada").replace("# [", "[")
    path.write_text(lines)
    found = read_deadlines(path)
    assert found.deadline[NAME] > found.handed_in[NAME]["ada"]
    assert found.more_days == {"ada": 2}
    for text, message in (
        ("late = 3", "no setting late"),
        ("late_days = -1", "whole numbers"),
        ("kept_per_day = 2", "between 0 and 1"),
        ('[deadline]\na = "soon"', "looks like 2026"),
        ("[deadline]\na = 2026-11-23", "looks like 2026-11-23T23:59:00.*got 2026-11-23$"),
        ("late_days =", "Invalid value.*1_metrics = 2026"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            read_deadlines(path)


def test_plain_csv_holds_everything(course):
    assert main(["course", "export", "csv", str(course)]) == 0
    rows = {row["student"]: row for row in table(course / "marks-csv.csv")}
    assert rows["ada"]["points"] == rows["ada"]["code"] == "24"
    assert rows["bob@uni.edu"] | {"written": ""} == {
        **{"student": "bob@uni.edu", "assignment": NAME, "points": "4.75", "of": "30"},
        **{"code": "19", "written": "", "days_late": "4", "kept": "0.25"},
    }
    assert "'=eve" in rows  # no formula


def test_points_stay_empty_while_texts_wait(course, capsys, monkeypatch):
    from nbgrader.api import Gradebook

    monkeypatch.setenv("PATH", folder.lab_environment()["PATH"])  # nbgrader asks alembic for a new gradebook
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        book.add_assignment(NAME)
        book.add_notebook(NAME, NAME)
        book.add_grade_cell("text", NAME, NAME, max_score=6, cell_type="markdown")
        book.add_grade_cell("code", NAME, NAME, max_score=6, cell_type="code")  # these wait for nobody
        for student in ("ada", "max"):
            book.add_student(student)
            book.add_submission(NAME, student)
        grade = book.find_grade("text", NAME, NAME, "ada")
        grade.manual_score, grade.needs_manual_grade = 5, False
        book.db.commit()
    assert main(["course", "export", "csv", str(course)]) == 0
    rows = {row["student"]: (row["points"], row["code"], row["written"]) for row in table(course / "marks-csv.csv")}
    assert rows["ada"] == ("29", "24", "5")
    assert rows["max"] == ("", "9", "")
    said = capsys.readouterr().err
    assert "not marked yet: 1, in 1 hand-ins" in said
    assert "texts of 2 hand-ins are not in the gradebook" in said


def test_names_that_nobody_has_and_dates_of_copies_are_told():
    due = datetime(2026, 1, 10, tzinfo=UTC)
    rules = Deadlines(deadline={NAME: due, "1_metric": due}, more_days={"eva": 1}, handed_in={NAME: {"bob": due}})
    dates = {
        who: {NAME: f"2026-01-12T09:00:{second}+00:00"} for who, second in (("ada", "01"), ("bob", 30), ("max", 59))
    }
    assignments, students, copies = doubts(rules, dates)
    assert "no assignment 1_metric;" in assignments
    assert "no hand-in of eva;" in students
    assert "all 2 notebooks" in copies
    dates["max"][NAME] = "2026-01-12T10:00:00+00:00"
    assert len(doubts(rules, dates)) == 2
    assert doubts(Deadlines(deadline={NAME: due}, more_days={"ada": 1}), dates) == []


def test_canvas_gets_its_own_gradebook_back(course, capsys):
    """The columns of Canvas's guide, "How do I import grades in the Gradebook?"."""
    roster = course / "canvas.csv"
    roster.write_text(
        "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Other (7),1_metrics (4711),Final Score\n"
        "    Points Possible,,,,,10,30,(read only)\n"
        '"Lovelace, Ada",1001,s1,ada,Group 1,-5,,\n"Max, M",1002,s2,max,Group 1,,,\n"None, N",1003,s3,none,G 2,,,\n',
        encoding="utf-8",
    )
    out = course / "out.csv"
    assert main(["course", "export", "canvas", str(course), "--roster", str(roster), "-o", str(out)]) == 0
    assert out.read_text(encoding="utf-8").splitlines()[0] == roster.read_text(encoding="utf-8-sig").splitlines()[0]
    points, ada, absent, none = table(out)
    assert (points["Student"], points["1_metrics (4711)"]) == ("    Points Possible", "30")
    assert [ada[key] for key in ("Student", "ID", "Other (7)")] == ["Lovelace, Ada", "1001", "-5"]
    assert ada["1_metrics (4711)"] == "24"
    assert absent["1_metrics (4711)"] == "9"
    assert none["1_metrics (4711)"] == ""
    assert "bob@uni.edu" in capsys.readouterr().err
    assert main(["course", "export", "canvas", str(course)]) == 0  # without a roster: the required columns
    first, *rows = table(course / "marks-canvas.csv")
    assert list(first) == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", NAME]
    assert {row["SIS Login ID"]: row[NAME] for row in rows} == {
        "ada": "24",
        "max": "9",
        "bob@uni.edu": "4.75",
        "'=eve": "0",
    }
    roster.write_text("Name,Points\nada,3\n")
    assert main(["course", "export", "canvas", str(course), "--roster", str(roster)]) == 2
    assert "not a gradebook of Canvas" in capsys.readouterr().err


def test_moodle_gets_its_worksheet_or_its_gradebook_back(course):
    """The columns of Moodle's offline grading worksheet, and of its CSV grade import."""
    columns = ["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Grade can be changed"]
    columns += ["Last modified (submission)", "Last modified (grade)", "Feedback comments"]
    line = ["Participant 17", "Bob", "bob@uni.edu", "Submitted", "", "30.00", "Yes", "-", "-", ""]
    text = io.StringIO()
    csv.writer(text).writerows([columns, line])
    roster = course / "moodle.csv"
    roster.write_text(text.getvalue(), encoding="utf-8")
    command = ["course", "export", "moodle", str(course), "--roster", str(roster), "--assignment", "1"]
    assert main(command) == 0
    (bob,) = table(course / "marks-moodle.csv")
    assert list(bob) == columns
    assert (bob["Identifier"], bob["Grade"], bob["Maximum Grade"]) == ("Participant 17", "4.75", "30.00")
    assert "ranked_relevance: Sort it." in bob["Feedback comments"]
    assert main(["course", "export", "moodle", str(course)]) == 0
    rows = {row["Username"]: row for row in table(course / "marks-moodle.csv")}
    assert rows["bob@uni.edu"]["Email address"] == "bob@uni.edu"
    assert rows["ada"][NAME] == "24"


def test_the_summary_tells_distribution_hardest_questions_and_mistakes(course, capsys):
    path = course / "grades" / NAME / "grades.json"
    assert main(["course", "summary", str(path)]) == 0
    text = capsys.readouterr().out
    assert "4 hand-ins" in text
    assert "mean 13.0" in text
    assert "| `ranked_relevance` | not sorted | 2 |" in text
    assert "not written" in text
    found = summarise(json.loads(path.read_text()))
    assert found.questions[0][0] == "ranked_relevance"  # a mean of (5 + 0 + 0 + 3) / 20
    assert found.questions[0][1:] == (pytest.approx(0.4), 1, 1, 2)
    assert path.with_name("summary.svg").read_text(encoding="utf-8").startswith("<?xml")
    path.write_text(json.dumps({"assignment": NAME, "students": []}))
    assert main(["course", "summary", str(path)]) == 2
    assert main(["course", "summary", str(course / "nothing.json")]) == 2
    assert "grade` writes it" in capsys.readouterr().err


def test_reasons_in_the_summary_are_those_of_the_hints():
    hints = [advice("SyntaxError: invalid"), advice("ValueError: no"), *ENDED.values(), "Your sum is twice too large."]
    found = [reason({"hint": hint}) for hint in hints]
    assert found[:2] == ["cannot be read by Python", "stops with an error"]
    assert len(set(found)) == len(found)
    exercise = load(NAME).questions[0]
    cases = len(exercise.cases(0))
    marked = grade_mark(exercise, {"cases": [{"error": "ValueError: no"}] * cases}, True, 0)
    assert (marked.mistake, reason({"hint": marked.hint})) == ("", "stops with an error")


def test_notes_of_a_private_course_name_the_text_that_it_drew(tmp_path):
    key = bytes(range(32))
    student = nbformat.read(write(MASTERS / f"{NAME}.py", "student", tmp_path / "s.ipynb", key), 4)
    notes = nbformat.read(write(MASTERS / f"{NAME}.py", "notes", tmp_path / "n.ipynb", key), 4)
    drawn = [cell.source.partition(TEXT)[2] for cell in student.cells if TEXT in cell.source]
    assert drawn
    for text in drawn:
        assert sum(f"**This course has drawn:** {text}\n" in cell.source for cell in notes.cells) == 1
    public = nbformat.read(write(MASTERS / f"{NAME}.py", "notes", tmp_path / "p.ipynb"), 4)
    assert not any("This course has drawn" in cell.source for cell in public.cells)


def test_a_course_without_marks_says_so(tmp_path, capsys):
    assert main(["course", "export", "csv", str(tmp_path)]) == 2
    assert "has no grades" in capsys.readouterr().err


@pytest.fixture
def handed_in(tmp_path):
    """Renamed files, a byte-order mark, an archive, lost ids, and one in order."""
    assignment = load(NAME)
    write(MASTERS / f"{NAME}.py", "student", tmp_path / "release" / NAME / f"{NAME}.ipynb")
    write(MASTERS / f"{NAME}.py", "solution", tmp_path / "solution.ipynb")
    solution = (tmp_path / "solution.ipynb").read_bytes()
    submitted = tmp_path / "submitted"
    (submitted / "right" / NAME).mkdir(parents=True)
    (submitted / "right" / NAME / f"{NAME}.ipynb").write_bytes(solution)
    (submitted / "bom" / NAME).mkdir(parents=True)
    (submitted / "bom" / NAME / f"{NAME}.ipynb").write_bytes(b"\xef\xbb\xbf" + solution)
    (submitted / "renamed" / NAME).mkdir(parents=True)
    (submitted / "renamed" / NAME / "1 metrics (final).ipynb").write_bytes(solution)
    (submitted / "single.ipynb").write_bytes(solution)
    os.utime(submitted / "single.ipynb", (1_700_000_000, 1_700_000_000))
    with zipfile.ZipFile(submitted / "zipped.zip", "w") as file:
        file.writestr("Users/me/metrics.ipynb", solution)
    lost = nbformat.reads(solution.decode(), 4)
    for cell in lost.cells:
        cell.metadata.pop("nbgrader", None)
    (submitted / "lost").mkdir()
    nbformat.write(lost, submitted / "lost" / "copy.ipynb")
    (submitted / "broken.ipynb").write_bytes(b"{")
    (submitted / "other" / "2_ranks").mkdir(parents=True)
    return tmp_path, assignment


def test_hand_ins_are_put_where_nbgrader_finds_them(handed_in):
    course, assignment = handed_in
    done = dict(collect(course, assignment))
    assert done["right"] == "in order"
    assert "JSON is broken" in done["broken"]
    assert "ids restored" in done["lost"]
    assert "other" not in done
    right = read("right", course / "submitted" / "right", assignment)
    assert len(right.answers) == len(assignment.questions) + len(assignment.written)
    for student in ("bom", "renamed", "single", "zipped", "lost"):
        path = course / "submitted" / student / NAME / f"{NAME}.ipynb"
        assert not path.read_bytes().startswith(b"\xef\xbb\xbf")
        nbformat.validate(nbformat.read(path, 4))
        assert read(student, path, assignment).answers == right.answers
        assert not read(student, course / "submitted" / student, assignment).remarks  # no rivals
    assert (course / "submitted" / "single" / NAME / f"{NAME}.ipynb").stat().st_mtime == 1_700_000_000
    assert all(text == "in order" for student, text in collect(course, assignment) if student != "broken")


def test_what_is_no_hand_in_is_told_and_not_counted(handed_in, capsys):
    course, _ = handed_in
    (course / "nbgrader_config.py").write_text("# labkit course init\n")
    (course / "submitted" / "notes.txt").write_text("call Ada")
    within = course / "submitted" / "within" / NAME / f"{NAME}.ipynb"
    within.mkdir(parents=True)
    (within / "mine.ipynb").write_bytes((course / "solution.ipynb").read_bytes())
    assert main(["course", "collect", NAME, str(course)]) == 0
    text, said = capsys.readouterr()
    assert f"within: could not be read: {NAME}/{NAME}.ipynb is a folder: move" in text
    assert "6 hand-ins, and 2 that could not be read" in text
    assert "no notebook, zip archive or folder: notes.txt" in said
    assert main(["grade", str(course / "nowhere"), "--assignment", NAME]) == 2
    assert "there is no folder" in capsys.readouterr().err
    assert main(["grade", str(course / "submitted"), "--assignment", NAME, "--key", str(course / "nokey.json")]) == 2
    assert "--key: there is no" in capsys.readouterr().err


@pytest.mark.usefixtures("sandboxed")
def test_students_check_their_own_notebook(tmp_path, capsys, monkeypatch):
    key = bytes(range(32))
    write(MASTERS / f"{NAME}.py", "solution", tmp_path / "mine.ipynb", key)
    assert main(["grade", str(tmp_path / "mine.ipynb")]) == 0
    text = capsys.readouterr().out
    assert text.count("the public cases pass") == len(MARKS)
    assert "grading uses more cases" in text
    made = nbformat.read(tmp_path / "mine.ipynb", 4)
    cell = next(cell for cell in made.cells if cell.id.startswith("mean_ap_"))
    cell.source = cell.source.replace("start=1", "start=2")
    nbformat.write(made, tmp_path / "mine.ipynb")
    assert main(["grade", str(tmp_path / "mine.ipynb")]) == 0
    text = capsys.readouterr().out
    assert text.count("the public cases pass") == len(MARKS) - 1
    assert "expected" in text
    assert main(["grade", str(tmp_path)]) == 2
    assert "--assignment is needed" in capsys.readouterr().err


@pytest.mark.usefixtures("sandboxed")
def test_a_private_course_is_graded_with_its_key(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(folder, "nbgrader", lambda *_: "")
    course = tmp_path / "course"
    assert main(["course", "init", str(course), "--assignment", NAME, "--private"]) == 0
    key = folder.course_key(course)
    assert len(key) == 32
    assert f"the course is in {course.resolve()}. Next" in capsys.readouterr().out
    assert (course / "private.json").stat().st_mode & 0o077 == 0
    assert main(["course", "init", str(course), "--assignment", NAME, "--update"]) == 0
    assert folder.course_key(course) == key
    own = (course / "solutions" / f"{NAME}.ipynb").read_bytes()
    (course / "submitted" / "own.ipynb").write_bytes(own)
    public = write(MASTERS / f"{NAME}.py", "solution", tmp_path / "public.ipynb").read_bytes()
    for twist in nbformat.reads(own.decode(), 4).metadata.labkit.twists.items():  # a copy, with the names put right
        public = public.replace(b'"grade_id": "%s"' % twist[0].encode(), b'"grade_id": "%s"' % twist[1][0].encode())
        public = public.replace(b"def %s(" % twist[0].encode(), b"def %s(" % twist[1][0].encode())
    (course / "submitted" / "copy.ipynb").write_bytes(public)
    assert main(["grade", str(course / "submitted"), "--assignment", "1", "-o", str(tmp_path / "out")]) == 0
    assert "variants of the private course" in capsys.readouterr().out
    scores = {row["student"]: row["score"] for row in table(tmp_path / "out" / "grades.csv")}
    assert scores == {"own": "24", "copy": "6"}  # only pairs of losses are no numbers
    again = ["grade", str(course / "submitted"), "--assignment", "1", "-o", str(tmp_path / "out")]
    assert main([*again, "--question", MARKS[0][0]]) == 0  # without the course's own ending
    solved = (course / "solutions" / f"{NAME}.ipynb").read_bytes()
    assert main(["course", "release", str(course)]) == 2
    assert "init" in capsys.readouterr().err
    assert (course / "solutions" / f"{NAME}.ipynb").read_bytes() == solved
    assert not (course / "student").exists()
    (course / "private.json").write_text("{}")
    assert main(["grade", str(course / "submitted"), "--assignment", "1"]) == 2
    assert "is not the key" in capsys.readouterr().err
    (course / "private.json").unlink()
    (course / "submitted" / "copy.ipynb").unlink()
    assert main(["grade", str(course / "submitted"), "--assignment", "1"]) == 2
    assert "private course (function " in capsys.readouterr().err
    students = {"own": course / "submitted" / "own.ipynb", "public": tmp_path / "public.ipynb"}
    assert not private_function(students, load(NAME))  # one of two: nobody stops the others
    (tmp_path / "open" / "source").mkdir(parents=True)
    (tmp_path / "open" / "nbgrader_config.py").write_text("# labkit course init\n")
    assert main(["course", "init", str(tmp_path / "open"), "--private"]) == 2
    assert "without --private" in capsys.readouterr().err


def test_the_last_cell_says_what_will_be_handed_in(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for kind, words in (("student", "not written yet"), ("solution", "code, ")):
        made = nbformat.read(write(MASTERS / f"{NAME}.py", kind, tmp_path / f"{NAME}.ipynb"), 4)
        exec(made.cells[-1].source, {})
        text = capsys.readouterr().out
        assert text.count(words) >= len(MARKS)
        assert "which_denominators_disagree" in text
    (tmp_path / f"{NAME}.ipynb").unlink()
    exec(made.cells[-1].source, {})
    assert "There is no 1_metrics.ipynb" in capsys.readouterr().out
