"""The seven assignments, one file each: their questions, answers, cases and the mistakes that students make."""

from functools import cache
from importlib import import_module

from labkit.assignments.assignment import Assignment

NAMES = {
    "1_metrics": "metrics",
    "2_ranks": "ranks",
    "3_derivatives": "derivatives",
    "4_proxies": "proxies",
    "5_softmax": "softmax",
    "6_study": "study",
    "7_surrogates": "surrogates",
}


@cache
def load(name: str) -> Assignment:
    """An assignment by its name, its number or its topic: 1_metrics, 1, metrics."""
    for full, topic in NAMES.items():
        if name in (full, topic, full.split("_")[0]):
            found: Assignment = import_module(f"labkit.assignments.{topic}").ASSIGNMENT
            return found
    raise ValueError(f"assignment: no {name!r}; there are {', '.join(NAMES)}")
