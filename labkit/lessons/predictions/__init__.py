"""What the lessons ask before they show something; a file has the name of its lesson."""

from labkit.lessons.predictions import (
    design_a_loss,
    learned_surrogates,
    many_centres,
    metrics_that_disagree,
    proxies,
    reading_a_results_table,
    recall_at_k,
    sgsl,
    simix_and_large_batches,
    smoothing_a_rank,
    start_here,
)
from labkit.lessons.question import Question

LESSONS = (
    start_here,
    metrics_that_disagree,
    smoothing_a_rank,
    recall_at_k,
    simix_and_large_batches,
    design_a_loss,
    many_centres,
    proxies,
    sgsl,
    learned_surrogates,
    reading_a_results_table,
)
QUESTIONS: dict[str, Question] = {name: asked for lesson in LESSONS for name, asked in lesson.QUESTIONS.items()}
