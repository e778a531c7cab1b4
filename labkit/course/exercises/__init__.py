"""The exercises of the lessons, one file a lesson."""

from labkit.course.exercise import Exercise
from labkit.course.exercises import metrics, smoothing

LESSONS = (metrics, smoothing)
EXERCISES: dict[str, Exercise] = {exercise.name: exercise for lesson in LESSONS for exercise in lesson.EXERCISES}
