"""nbgrader's formgrader in a real JupyterLab, opened the way an instructor opens it: marking a written answer."""

import shutil

import pytest
from conftest import jupyterlab

from labkit.__main__ import main
from labkit.assignments import load
from labkit.classroom.folder import nbgrader

NAME = "1_metrics"


@pytest.fixture
def course(tmp_path):
    """A course with one assignment and one submission, the solution; nothing is executed, to save time."""
    path = tmp_path / "course"
    assert main(["course", "init", str(path), "--assignment", NAME]) == 0
    (path / "submitted" / "perfect" / NAME).mkdir(parents=True)
    shutil.copy(path / "solutions" / f"{NAME}.ipynb", path / "submitted" / "perfect" / NAME)
    nbgrader(path, "autograde", NAME, "--no-execute")
    return path


@pytest.fixture
def lab(course, tmp_path):
    """The address of JupyterLab on the course."""
    with jupyterlab("-m", "labkit", "course", "open", str(course), "--headless", settings=tmp_path) as address:
        yield f"{address}/lab?token=test&reset"


@pytest.mark.browser
@pytest.mark.timeout(240)
def test_a_written_answer_is_marked_in_the_formgrader(course, lab, page):
    page.goto(lab)
    page.get_by_role("menuitem", name="Nbgrader").click(timeout=90_000)
    page.get_by_text("Formgrader", exact=True).click()
    form = page.frame_locator("iframe[src*='formgrader']")
    form.get_by_role("link", name=NAME).wait_for(timeout=60_000)  # in the list of assignments
    form.get_by_role("link", name="Manual Grading").click()
    form.get_by_role("link", name=NAME).click()
    form.get_by_role("link", name=NAME).last.click()
    form.get_by_role("link", name="Submission #1").click()
    written = load(NAME).written[0]
    score = form.locator(f"input.score#{written.name}.needs_manual_grade")  # said when the marks are loaded
    score.fill("1", timeout=60_000)
    with page.expect_response(lambda answer: "/api/grade/" in answer.url and answer.request.method == "PUT") as saved:
        score.press("Tab")
    assert saved.value.ok
    assert form.locator("math").count() > 5  # formulas, without a network

    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as marks:
        submission = marks.find_submission_notebook(NAME, NAME, "perfect")
        assert {grade.name: grade.manual_score for grade in submission.grades}[written.name] == 1
