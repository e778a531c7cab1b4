"""Questions of lesson 1."""

from labkit.lessons.question import Choice, Question

QUESTIONS: dict[str, Question] = {
    "1.1": Choice(
        "R@1 is the share of queries that find a positive first; a random guess would reach 0.6 %. The untrained "
        "network has random weights. What is its R@1?",
        (
            "about that of chance",
            "a few times chance",
            "tens of times chance",
        ),
        "tens of times chance",
        "It is {share:.1f} %. Random filters keep much of what an image looks like. So always show the untrained "
        "network beside a trained one: what counts is the difference.",
    ),
    "1.2": Choice(
        "The query turns from 38° to 42°, and the pair loss falls a little, from 0.048 to 0.046: better. What does "
        "R@1 do?",
        (
            "it rises from 0 to 1",
            "it stays",
            "it falls from 1 to 0",
        ),
        "it falls from 1 to 0",
        "At 41° a negative becomes the nearest item. The loss is a mean over all pairs: the far positive came "
        "nearer, and that counts for more than the one negative that now stands first.",
    ),
}
