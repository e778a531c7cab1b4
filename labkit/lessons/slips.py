"""Slips of the pen: a lesson's solution with one thing changed. A wrong answer that computes what a slip computes is
told which one, although nobody has written it into the zoo."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

SWAPS = {  # of names and methods
    "sum": ("mean", "prod"),
    "mean": ("sum", "median"),
    "any": ("all",),
    "all": ("any",),
    "min": ("max",),
    "max": ("min",),
    "argmax": ("argmin",),
    "log2": ("log", "log10"),
    "log": ("log2",),
    "sigmoid": ("tanh", "relu"),
    "softplus": ("relu",),
    "std": ("var",),
}
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.GtE: (ast.Gt, ast.LtE),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
}
OPERATIONS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.FloorDiv: (ast.Mod, ast.Div, ast.Mult),
    ast.BitAnd: (ast.BitOr,),
}
SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "−",
    ast.Mult: "·",
    ast.Div: "/",
    ast.Pow: "**",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.GtE: "≥",
    ast.LtE: "≤",
    ast.Gt: ">",
    ast.Lt: "<",
    ast.Eq: "=",
    ast.NotEq: "≠",
}

Slip = tuple[ast.AST, str]  # what stands there instead, and the words for it


def slips_of(module: ast.Module) -> Iterator[tuple[ast.Module, str]]:
    """Every module that differs in one place, with words for the difference."""
    names = sorted({node.arg for node in ast.walk(module) if isinstance(node, ast.arg)})
    for place, node in enumerate(ast.walk(module)):
        for changed, words in changes(node, names):
            yield replaced(module, place, changed), words


def replaced(module: ast.Module, place: int, changed: ast.AST) -> ast.Module:
    """A copy with another node at a place of the walk."""
    twin = copy.deepcopy(module)
    target = list(ast.walk(twin))[place]
    for parent in ast.walk(twin):
        for name, value in ast.iter_fields(parent):
            if value is target:
                setattr(parent, name, changed)
            elif isinstance(value, list):
                setattr(parent, name, [changed if entry is target else entry for entry in value])
    return twin


def changes(node: ast.AST, names: list[str]) -> Iterator[Slip]:
    """What can stand in place of a node."""
    match node:
        case ast.Compare(ops=[operation]):
            for kind in COMPARISONS.get(type(operation), ()):
                changed = ast.Compare(node.left, [kind()], node.comparators)
                yield changed, f"a comparison with {SIGNS[kind]} where {SIGNS[type(operation)]} belongs"
        case ast.BinOp():
            yield from of_operation(node)
        case ast.UnaryOp(operand=operand):
            sign = {ast.USub: "a minus", ast.Invert: "a “not” (~)"}.get(type(node.op), "a sign")
            yield operand, f"{sign} missing before {ast.unparse(operand)}"
        case ast.Call():
            yield from of_call(node)
        case ast.Attribute(attr=attr):
            for other in SWAPS.get(attr, ()):
                yield ast.Attribute(node.value, other, node.ctx), f"{other} where {attr} belongs"
        case ast.Name(id=name, ctx=ast.Load()):
            for other in SWAPS.get(name, ()):
                yield ast.Name(other, ast.Load()), f"{other} where {name} belongs"
            if name in names:
                for other in names:
                    if other != name:
                        yield ast.Name(other, ast.Load()), f"{other} where {name} belongs"
        case ast.Subscript(value=value):
            yield value, f"all of {ast.unparse(value)} where a part of it belongs: [{ast.unparse(node.slice)}]"
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            others: list[float] = [0, 1, 2, 0.5] if isinstance(number, int) else [0.0, 1.0, 0.95, 0.99, 0.995]
            for constant in [*others, number + 1]:
                if constant != number:
                    yield ast.Constant(constant), f"{constant} where {number} belongs"


def of_operation(node: ast.BinOp) -> Iterator[Slip]:
    """Another operation, its sides exchanged, or one side alone."""
    left, right, sign = ast.unparse(node.left), ast.unparse(node.right), SIGNS.get(type(node.op), "@")
    yield node.left, f"“{sign} {right}” missing"
    yield node.right, f"“{left} {sign}” missing"
    for other in OPERATIONS.get(type(node.op), ()):
        words = f"{SIGNS[other]} where {sign} belongs, between {left} and {right}"
        yield ast.BinOp(node.left, other(), node.right), words
    if isinstance(node.op, ast.Sub | ast.Div | ast.Pow):
        yield ast.BinOp(node.right, node.op, node.left), f"the sides of {sign} exchanged: it is {left} {sign} {right}"
    yield ast.BinOp(node, ast.Mult(), node), f"{left} {sign} {right} squared"


def of_call(node: ast.Call) -> Iterator[Slip]:
    """The call left out: what it is called on, or with, alone."""
    name = ast.unparse(node.func).rsplit(".", 1)[-1]
    match node.func:
        case ast.Attribute(value=ast.Name(id="torch" | "math" | "np" | "t")):
            pass  # a module, no value
        case ast.Attribute(value=value):
            yield value, f"{name} missing"
    for argument in node.args:
        yield argument, f"{name}(…) missing round {ast.unparse(argument)}"
