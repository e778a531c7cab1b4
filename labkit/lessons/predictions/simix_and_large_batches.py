"""Questions of lesson 5."""

from labkit.lessons.question import Choice, Question

QUESTIONS: dict[str, Question] = {
    "5.1": Choice(
        "The model has dropout ½. Step 4 draws new random numbers instead of those of step 1. How far is the "
        "gradient from the right one?",
        (
            "not at all: dropout is noise anyway",
            "a few per cent: it averages out",
            "about as far as it is long, or more",
        ),
        "about as far as it is long, or more",
        "The gradient g belongs to the embeddings of step 1. With other units dropped, step 4 sends it through "
        "another network. The released code does just that; the next cell measures it.",
    ),
}
