"""A loss of the reader's own, in a file: `--loss mine.py:MyLoss` trains it beside those of the catalogue.

The file is read as text wherever a configuration is looked at. It runs in one place, `run_file`, which the process that
trains calls with the checksum that it expects.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

from labkit.losses.catalog import Card

CALLABLE = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
PLAIN_BASES = ("nn.Module", "Module", "torch.nn.Module", "object")  # of which a loss takes over no option


def is_own(name: str) -> bool:
    """Whether a name points into a file: FILE.py:NAME."""
    return name.rpartition(":")[0].endswith(".py")


def source_of(name: str) -> bytes:
    """What the file of FILE.py:NAME holds."""
    path = Path(name.rpartition(":")[0])
    if not path.is_file():
        raise ValueError(f"loss: there is no file {path}")
    return path.read_bytes()


def checksum(name: str) -> str:
    """SHA-256 of the file of FILE.py:NAME."""
    return hashlib.sha256(source_of(name)).hexdigest()


def own_options(name: str) -> dict[str, inspect.Parameter] | None:
    """The options that FILE.py:NAME takes, read from the text; None where the text does not tell."""
    file, _, attribute = name.rpartition(":")
    try:
        tree = ast.parse(source_of(name), file)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if not Path(file).is_file():
            raise
        raise ValueError(f"loss: {file} is not a Python file: {error}") from None
    found = dict(definitions(tree.body))
    if attribute in found:
        return options_in(found[attribute], found)
    if "*" in found:  # from elsewhere import *
        return None
    there = ", ".join(key for key, node in found.items() if isinstance(node, ast.ClassDef)) or "none"
    raise ValueError(f"loss: {file} has no {attribute!r} that can be called; classes in it: {there}")


def definitions(body: list[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """Every name that a module defines, with the statement that does so."""
    for node in body:
        if isinstance(node, CALLABLE):
            yield node.name, node
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name, node) for alias in node.names)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (
                (part.id, node) for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)
            )
        else:  # if, try, with
            for inner in ("body", "orelse", "finalbody"):
                yield from definitions(getattr(node, inner, []))


def options_in(node: ast.stmt, known: dict[str, ast.stmt]) -> dict[str, inspect.Parameter] | None:
    """The options of a class or function; None where they are another module's."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return parameters(node.args)
    if isinstance(node, ast.Assign | ast.AnnAssign):
        if isinstance(node.value, ast.Constant | ast.List | ast.Tuple | ast.Dict | ast.Set | ast.JoinedStr):
            raise ValueError("loss: what the name stands for cannot be called: it must be a class or a function")
        return None
    if not isinstance(node, ast.ClassDef) or node.decorator_list:
        return None
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            found = parameters(statement.args)
            return None if found is None else dict(list(found.items())[1:])  # without self
    bases = [ast.unparse(base) for base in node.bases]
    if all(base in PLAIN_BASES for base in bases):
        return {}
    first = known.get(bases[0])
    return options_in(first, known) if isinstance(first, ast.ClassDef) and first is not node else None


def parameters(arguments: ast.arguments) -> dict[str, inspect.Parameter] | None:
    """Names of arguments; None if any name will do."""
    if arguments.kwarg is not None:
        return None
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return {name: inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in names}


def run_file(name: str, sha256: str) -> Card:
    """Run the file of FILE.py:NAME, if it is the one expected, and make a card of NAME.

    NAME is a class or function that returns a Module, called as `module(embeddings, labels)`. If it takes
    num_classes and dim, it gets them.
    """
    source = source_of(name)
    if hashlib.sha256(source).hexdigest() != sha256:
        raise ValueError(f"loss: {name} has changed since the run was prepared or began; its file was not run")
    file, _, attribute = name.rpartition(":")
    factory = getattr(run_once(file, source), attribute, None)
    if not callable(factory):
        raise ValueError(f"loss: {file} has no {attribute!r} that can be called")
    return Card(attribute, attribute, "own", "", file, "", (), {}, factory)


@cache
def run_once(file: str, source: bytes) -> ModuleType:
    """The module that a text makes, run once in a process; what is run is what was checked, not what is there now."""
    module = ModuleType(Path(file).stem)
    module.__file__ = file
    sys.modules.setdefault(module.__name__, module)  # dataclasses look their module up
    exec(compile(source, file, "exec"), module.__dict__)  # noqa: S102 (asked for by name; its checksum was compared)
    return module
