"""The exercises of the lessons; a file has the name of its lesson."""

from labkit.lessons.exercise import Exercise
from labkit.lessons.exercises import (
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

LESSONS = (  # in reading order
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
EXERCISES: dict[str, Exercise] = {exercise.name: exercise for lesson in LESSONS for exercise in lesson.EXERCISES}
