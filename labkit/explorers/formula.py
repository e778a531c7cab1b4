"""A derivative as the reader types it: numbers, R, + − * / **, parentheses and a few functions; nothing else is run.

The text is parsed, never evaluated as Python: each node of the tree must be one of those listed here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import reduce

import torch
from torch import Tensor

from labkit.base.words import shortened

Derivative = Callable[[Tensor], Tensor]

LONGEST = 200  # characters
OPERATORS: dict[type[ast.operator], Callable[[Tensor, Tensor], Tensor]] = {
    ast.Add: torch.add,
    ast.Sub: torch.sub,
    ast.Mult: torch.mul,
    ast.Div: torch.div,
    ast.Pow: torch.pow,
}
OF_ONE: dict[str, Callable[[Tensor], Tensor]] = {
    "exp": torch.exp,
    "log": torch.log,
    "sqrt": torch.sqrt,
    "tanh": torch.tanh,
}
OF_SEVERAL: dict[str, Callable[[Tensor, Tensor], Tensor]] = {"min": torch.minimum, "max": torch.maximum}
ALLOWED = "numbers, R, + - * / **, parentheses, exp, log, sqrt, tanh, min, max"
LARGEST = 48.0  # R up to which a formula must be finite: a batch of the toy has 48 negatives


class FormulaError(ValueError):
    """A formula that cannot be used, and why."""


def parse(text: str) -> Derivative:
    """The function of R that the text says; FormulaError names what is not allowed."""
    if len(text) > LONGEST:
        raise FormulaError(f"The formula has {len(text)} characters; at most {LONGEST} are allowed.")
    if not text.strip():
        raise FormulaError("There is no formula yet. Try 1/(1+R).")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise FormulaError(
            f"“{text.strip()}” is not a formula. Is a bracket open, or a * missing, as in 2*R?"
        ) from None
    check(tree)

    def g(R: Tensor) -> Tensor:
        return torch.broadcast_to(value(tree, R), R.shape)

    probe = torch.linspace(0, LARGEST, 961)  # in float32, as in training
    wrong = ~torch.isfinite(g(probe))
    if wrong.any():
        raise FormulaError(f"The derivative is not a finite number at R = {probe[wrong][0].item():g}.")
    return g


def check(node: ast.expr) -> None:
    """Refuse every node that is not listed."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            raise not_allowed(repr(node.value))
    elif isinstance(node, ast.Name):
        if node.id != "R":
            raise not_allowed(node.id)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        check(node.operand)
    elif isinstance(node, ast.BinOp):
        if type(node.op) not in OPERATORS:
            caret = " Powers are written **." if isinstance(node.op, ast.BitXor) else ""
            raise FormulaError(str(not_allowed(symbol(node))) + caret)
        check(node.left)
        check(node.right)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        name, count = node.func.id, len(node.args)
        if name not in OF_ONE and name not in OF_SEVERAL:
            raise not_allowed(name)
        if node.keywords or (name in OF_ONE and count != 1) or (name in OF_SEVERAL and count < 2):
            raise FormulaError(f"{name} takes {'one value' if name in OF_ONE else 'two values or more'}.")
        for argument in node.args:
            check(argument)
    else:
        raise not_allowed(ast.unparse(node))


def symbol(node: ast.BinOp) -> str:
    """The operator as it is written."""
    left, right = ast.unparse(node.left), ast.unparse(node.right)
    return ast.unparse(node).removeprefix(left).removesuffix(right).strip()


def not_allowed(what: str) -> FormulaError:
    """The error for something that does not belong into a formula."""
    return FormulaError(f"“{shortened(what, 40)}” is not allowed here. Use {ALLOWED}.")


def value(node: ast.expr, R: Tensor) -> Tensor:
    """A checked node at the given R. Numbers are floats: a huge power overflows to infinity at once."""
    if isinstance(node, ast.Constant):
        assert isinstance(node.value, int | float)
        try:
            number = float(node.value)
        except OverflowError:
            number = float("inf")
        return torch.tensor(number, dtype=R.dtype, device=R.device)
    if isinstance(node, ast.Name):
        return R
    if isinstance(node, ast.UnaryOp):
        operand = value(node.operand, R)
        return -operand if isinstance(node.op, ast.USub) else operand
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](value(node.left, R), value(node.right, R))
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    arguments = [value(argument, R) for argument in node.args]
    name = node.func.id
    return OF_ONE[name](arguments[0]) if name in OF_ONE else reduce(OF_SEVERAL[name], arguments)
