"""Questions of lesson 9."""

from labkit.lessons.question import Choice, Question

QUESTIONS: dict[str, Question] = {
    "9.1": Choice(
        "Retrieval is perfect, and no ten vectors are better. Now 1,000 classes instead of 10, again in the best "
        "case. What happens to the loss of the unscaled softmax on cosines?",
        (
            "it stays about the same",
            "it becomes smaller",
            "it becomes much larger",
        ),
        "it becomes much larger",
        "The own cosine is at most 1 and the others are at least about 0, so the own class gets at most e/(e + C − "
        "1) of the probability, more or less. With 1,000 classes the loss of a perfect network is 5.91; a blind "
        "guess has log 1,000 = 6.91.",
    ),
    "9.2": Choice(
        "The released code smooths labels with ε = 0.4 on CUB and Cars196. Suppose one does so on SOP, with its "
        "11,318 training classes. When does SGSL join?",
        (
            "at once",
            "after about an epoch",
            "never",
        ),
        "never",
        "A smoothed cross-entropy has a floor of its own: with ε = 0.4 and 11,318 classes it is 4.41, above the gate "
        "of 3. The run would print a sensible loss and train a plain softmax to the end.",
    ),
}
