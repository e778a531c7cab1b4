"""Questions of lesson 12."""

from typing import Any

from labkit.lessons.question import Choice, Question


def how_often(wrong: float, **others: Any) -> str:
    """The choice that fits a share in per cent."""
    return "never" if wrong < 1 else "in about one of ten draws" if wrong < 25 else "in a third of the draws or more"


QUESTIONS: dict[str, Question] = {
    "12.1": Choice(
        "{better} has the higher mean over ten seeds, by {points:.1f} points. Draw one seed of each: how often is "
        "{worse} ahead?",
        (
            "never",
            "in about one of ten draws",
            "in a third of the draws or more",
        ),
        how_often,
        "It is ahead in {wrong:.0f} % of the draws (ties count for neither). A table with one seed would print the "
        "opposite order that often.",
    ),
}
