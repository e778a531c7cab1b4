"""The errors of labkit's own; a wrong argument of a function is a plain ValueError that names it."""


class LabkitError(Exception):
    """Something the user can put right: the message says what was wrong and what to do about it."""


class Failed(LabkitError):
    """What was asked for was right, and was tried, and failed."""
