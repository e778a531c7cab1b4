"""Questions of lesson 7."""

from labkit.lessons.question import Choice, Question

QUESTIONS: dict[str, Question] = {
    "7.1": Choice(
        "Take the network with random initial weights, before any training, on the ring. How many of the unseen "
        "points have a nearest neighbour of their own class (R@1; pure chance is 25 %)?",
        (
            "about 25 %",
            "about 50 %",
            "about 90 %",
        ),
        "about 90 %",
        "A random network is a fairly smooth map: what is close in the plane stays close on the circle. So the "
        "question is not what training brings, but what it leaves. Any figure without this baseline hides that.",
    ),
}
