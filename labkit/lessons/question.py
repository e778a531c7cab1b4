"""Questions that are asked before something is shown: a choice, a number, or a curve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

COLUMNS = 41  # points of a drawn curve, as in web/predict/curve.js


@dataclass(frozen=True)
class Choice:
    """One of several; question and why may name values of the lesson in braces, answer may depend on them."""

    question: str
    choices: tuple[str, ...]
    answer: str | Callable[..., str]
    why: str

    def form(self) -> dict[str, Any]:
        """What the page needs to ask."""
        return {"kind": "choice", "choices": self.choices}

    def secret(self, **values: Any) -> dict[str, Any]:
        """What it needs afterwards."""
        answer = self.answer if isinstance(self.answer, str) else self.answer(**values)
        if answer not in self.choices:
            raise ValueError(f"answer must be one of the choices {self.choices}; got {answer!r}")
        return {"answer": answer}


@dataclass(frozen=True)
class Number:
    """A number between low and high; a guess is right within `close`."""

    question: str
    answer: float
    why: str
    low: float
    high: float
    close: float
    unit: str = ""

    def form(self) -> dict[str, Any]:
        """What the page needs to ask."""
        return {"kind": "number", "low": self.low, "high": self.high, "unit": self.unit}

    def secret(self, **values: Any) -> dict[str, Any]:
        """What it needs afterwards."""
        return {"answer": self.answer, "close": self.close}


@dataclass(frozen=True)
class Axis:
    """What is on an axis, and from where to where."""

    label: str
    low: float
    high: float


@dataclass(frozen=True)
class Curve:
    """A function to draw; a guess is right if it is within `close` of it on average."""

    question: str
    answer: Callable[[float], float]
    why: str
    x: Axis
    y: Axis
    close: float

    def form(self) -> dict[str, Any]:
        """What the page needs to ask."""
        return {"kind": "curve", "x": vars(self.x), "y": vars(self.y)}

    def secret(self, **values: Any) -> dict[str, Any]:
        """What it needs afterwards: the true curve."""
        places = [self.x.low + n / (COLUMNS - 1) * (self.x.high - self.x.low) for n in range(COLUMNS)]
        return {"answer": [float(self.answer(place)) for place in places], "close": self.close}


Question = Choice | Number | Curve
