"""Questions of lesson 4."""

from labkit.lessons.question import Number, Question

QUESTIONS: dict[str, Question] = {
    "4.1": Number(
        "The positive is at rank 1, far ahead of everything else. Retrieval is perfect. What is the loss 1 − rs@1, "
        "with the slides' temperatures?",
        0.5,
        "No item is before the positive, so the outer sigmoid gets k − 1 − 0 = 0, and σ(0) = ½ at every temperature. "
        "Rank exactly k is only half a hit. The loss of a perfect ranking has a section of its own below.",
        low=0,
        high=1,
        close=0.02,
    ),
}
