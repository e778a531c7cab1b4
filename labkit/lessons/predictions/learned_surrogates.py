"""Questions of lesson 10."""

from labkit.lessons.question import Choice, Number, Question

LONGER = "ê comes closer to e, and its gradient grows longer"
FURTHER = "ê comes less close to e, and its gradient grows longer"
SHORTER = "ê comes closer to e, and its gradient shrinks to nothing"


def without_penalty(
    error_with: float, error_without: float, norm_with: float, norm_without: float, **other: float
) -> str:
    """Which of the choices the recorded film shows."""
    if norm_without < norm_with:
        return SHORTER
    return LONGER if error_without < error_with else FURTHER


QUESTIONS: dict[str, Question] = {
    "10.1": Number(
        "The truth is “house”, and a reader says “hause”. Its second slot goes over from a to o, smoothly: 100 % a, "
        "99 % a and 1 % o, and so on. At which share of o does the edit distance change?",
        50.0,
        "Nothing happens until o has more than half: then the decoded letter changes, and the distance falls from 1 to "
        "0 at once. Everywhere else its derivative is 0, so no network can follow it.",
        low=0.0,
        high=100.0,
        close=2.0,
        unit="%",
    ),
    "10.2": Choice(
        "The surrogate is learned twice, once with λ = 0.1 and once with λ = 0, from the same pairs. What does leaving "
        "the penalty out change?",
        (LONGER, FURTHER, SHORTER),
        without_penalty,
        "On held-out pairs the mean of |ê − e| is {error_with:.2f} with λ = 0.1 and {error_without:.2f} without; the "
        "mean length of the gradient is {norm_with:.2f} and {norm_without:.2f}. The two terms pull against each other: "
        "the surrogate that is smooth enough to follow is not the one that is nearest to the metric.",
    ),
    "10.3": Choice(
        "Two boxes do not touch. Where does the gradient of their IoU move the one to bring it to the other?",
        ("towards the other", "away from it", "nowhere"),
        "nowhere",
        "The area that they share is 0, and stays 0 when one of them moves a little. So IoU is 0 all round, and its "
        "gradient is exactly 0: training on IoU itself cannot begin.",
    ),
}
