"""Questions of lesson 8."""

from labkit.lessons.question import Choice, Question

QUESTIONS: dict[str, Question] = {
    "8.1": Choice(
        "You move the sample x of class A and nothing else. There is a second sample in class A. With which losses "
        "does the arrow of that second sample change?",
        (
            "with all of them",
            "with ProxyAnchor and MPA",
            "with SoftTriple, MPA-DW and MPA-AP",
            "with none",
        ),
        "with ProxyAnchor and MPA",
        "They sum over samples inside one logarithm, so the samples share its gradient: the one that is worst off "
        "takes nearly all of it. The other losses have a logarithm for each sample. The paper calls that stability: "
        "a gradient that does not depend on who else is in the batch.",
    ),
    "8.2": Choice(
        "A negative class comes closer to x; S(x, own class) stays. How does the pull of MPA-AP towards the own "
        "class change?",
        (
            "it becomes stronger",
            "it stays",
            "it becomes weaker",
        ),
        "it becomes weaker",
        "The negative's term grows inside the same logarithm, so the positive's share of the gradient shrinks. "
        "SoftTriple does the opposite: there the positive and the negative enter as a difference.",
    ),
}
