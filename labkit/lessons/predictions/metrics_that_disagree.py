"""Questions of lesson 2."""

from labkit.lessons.question import Number, Question

QUESTIONS: dict[str, Question] = {
    "2.1": Number(
        "The ranking gets better: one more relevant item appears, at rank 10. What does torchmetrics' MAP@10, the "
        "one that said 100, say now?",
        60.0,
        "The sum grows from 1 to 1 + 2/10 = 1.2, but it is now divided by two hits. A metric that divides by what "
        "was found can punish you for finding more.",
        low=0,
        high=200,
        close=3,
    ),
}
