"""Lesson 7."""

from __future__ import annotations

from labkit.course.exercise import Exercise

EXERCISES: tuple[Exercise, ...] = ()
