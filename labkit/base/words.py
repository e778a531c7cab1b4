"""Words for people: what a verdict is called and means, and how a number and its interval are written."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence

RIGHT, WRONG = "✓", "✗"
MARKS = {
    "held": RIGHT,
    "contradicted": WRONG,
    "equal": "=",
    "not resolved": "?",
    "not testable here": "–",
    "not measured yet": "…",
}
VERDICTS = tuple(MARKS)
RULE = (
    "From the 95 % interval of the difference over seeds and a margin fixed beforehand (1 point, on emoji 2; of "
    "words half a point of NED, two edits per hundred words). "
    "Held: the interval lies on the claimed side of zero. Contradicted: on the other side. Equal: within the margin, "
    "whatever the sign. Not resolved: these seeds cannot tell."
)
SHARES = ("R@", "P@", "AP", "MAP", "nDCG", "MRR", "R-precision", "NMI", "recall-", "Acc", "NED")


def with_mark(verdict: str) -> str:
    """A verdict behind its mark."""
    return f"{MARKS[verdict]} {verdict}"


def is_share(metric: str) -> bool:
    """Whether a metric lies in 0 … 1 and reads best in per cent."""
    return metric.startswith(SHARES)


def scale_of(metric: str) -> int:
    """What a metric is multiplied with before people see it: 100 for a share."""
    return 100 if is_share(metric) else 1


def axis_title(metric: str) -> str:
    """A metric with its unit."""
    return f"{metric} (%)" if is_share(metric) else metric


def shortened(text: str, longest: int) -> str:
    """A text that is at most so long; an ellipsis stands for the rest."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def first_few(names: Sequence[str], most: int, between: str = ", ") -> str:
    """So many of the names, and an ellipsis if there are more."""
    return between.join([*names[:most], "…"] if len(names) > most else names)


def with_interval(mean: float, low: float, high: float, scale: float, digits: int | None = None) -> str:
    """Mean ± half the interval's width, or the mean alone where there is no interval."""
    digits = (2 if scale == 100 else 4) if digits is None else digits
    shown = f"{mean * scale:.{digits}f}"
    return shown if math.isnan(low) else f"{shown} ± {(high - low) / 2 * scale:.{digits}f}"


def signed(value: float) -> str:
    """Two digits with a real minus, and no sign where they are zero."""
    return f"{value:+.2f}".replace("-", "−") if round(value, 2) else "0.00"


def duration(seconds: float | None) -> str:
    """A time; nothing where none is known."""
    if seconds is None:
        return ""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60:02} min"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message about a name that is not known: the closest one, or nothing."""
    close = difflib.get_close_matches(name, list(known), 1)
    return f"; did you mean {close[0]}?" if close else ""
