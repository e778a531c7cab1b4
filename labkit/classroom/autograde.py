"""What nbgrader's hidden tests call: `require("name", function)`.

nbgrader runs this beside the student's code, so a determined student can forge it; `python -m labkit grade` cannot be
fooled that way and counts.
"""

from __future__ import annotations

from labkit.assignments import questions
from labkit.assignments.private import Twist, twisted_exercise, with_factor
from labkit.lessons.diagnosis import judge
from labkit.lessons.exercise import Answer

SEED = 0  # of the hidden cases; `python -m labkit grade` draws its own


def require(name: str, answer: Answer, seed: int = SEED, factor: str = "") -> None:
    """Judge an answer on public and hidden cases; AssertionError with the hint if it is wrong.

    Returns nothing: nbgrader would read a number at the end of a test cell as partial credit.
    """
    __tracebackhide__ = True  # the feedback page shows the hint, not this function
    question = questions.find(name)
    if question is None:
        raise ValueError(
            f"name: no question {name!r}; there are {', '.join(question.name for question in questions.every())}"
        )
    exercise = twisted_exercise(question.exercise, Twist(name, factor))
    cases = with_factor(question.cases(seed), factor)
    result = judge(exercise, answer, cases)
    if not result.passed:
        raise AssertionError(f"{name}: {result.hint}")
    print(f"✓ {name}: right on all {len(cases)} cases.")
