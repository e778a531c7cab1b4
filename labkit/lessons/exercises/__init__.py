"""The exercises of the lessons, one file a lesson."""

from labkit.lessons.exercise import Exercise
from labkit.lessons.exercises import (
    large_batches,
    many_centres,
    metrics,
    pnp,
    proxies,
    reading_results,
    recall_at_k,
    sgsl,
    smoothing,
    start_here,
)

# in reading order
LESSONS = (
    start_here, metrics, smoothing, recall_at_k, large_batches, pnp, many_centres, proxies, sgsl, reading_results,
)  # fmt: skip
EXERCISES: dict[str, Exercise] = {exercise.name: exercise for lesson in LESSONS for exercise in lesson.EXERCISES}
