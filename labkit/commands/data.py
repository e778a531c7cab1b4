"""python -m labkit data: which data sets there are, fetch one, check what is there."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labkit.data.files import File

HELP = "list the data sets, fetch one, check the files"


def register(parser: argparse.ArgumentParser) -> None:
    """Actions; the data sets themselves are imported when one runs."""
    parser.set_defaults(run=list_data)
    actions = parser.add_subparsers(metavar="ACTION")
    listing = actions.add_parser("list", help="where each data set is (also without any action)")
    listing.set_defaults(run=list_data)
    get = actions.add_parser("get", help="fetch a data set, or say where to obtain it")
    get.add_argument("name", metavar="NAME", help="a data set of `python -m labkit data list`")
    get.add_argument("--all", action="store_true", help="also files that few need (icons: the wide form)")
    get.set_defaults(run=get_data)
    check = actions.add_parser("check", help="compare the files with their checksums")
    check.add_argument("name", metavar="NAME", nargs="?", help="only this data set (default: all)")
    check.set_defaults(run=check_data)


def reader(name: str) -> Any:
    """The module that reads a small data set: it has `files()` and `LICENCE`."""
    return import_module(f"labkit.data.{name.replace('-', '_')}")


def list_data(args: argparse.Namespace) -> int:
    """Print a table: name, size, licence, place."""
    from labkit.data import BENCHMARKS, SMALL
    from labkit.data.benchmarks import find as find_benchmark
    from labkit.data.files import DataError, find

    print(f"{'name':14} {'size':>9}  {'licence':40} where")
    for name in SMALL:
        paths = [find(file) for file in reader(name).files() if not file.optional or find(file)]
        found = [path for path in paths if path is not None]
        places = ", ".join(dict.fromkeys(str(path.parent) for path in found)) or "computed when loaded"
        gaps = f" ({len(paths) - len(found)} files missing: python -m labkit data get {name})"
        where = places if found == paths else f"{places if found else 'not here'}{gaps}"
        print(f"{name:14} {megabytes(found):>9}  {reader(name).LICENCE:40} {where}")
    for name in BENCHMARKS:
        try:
            where = str(find_benchmark(name, None))
        except DataError:
            where = f"not here (python -m labkit data get {name} says where to obtain it)"
        print(f"{name:14} {'':>9}  {'its own terms; not redistributed':40} {where}")
    return 0


def megabytes(paths: list[Path]) -> str:
    """The size of some files."""
    return f"{sum(path.stat().st_size for path in paths) / 1e6:.1f} MB" if paths else ""


def get_data(args: argparse.Namespace) -> int:
    """Download or build what is missing or damaged; for the papers' benchmarks, say where to obtain them."""
    from labkit.base.checks import check_choice
    from labkit.data import BENCHMARKS, NAMES

    check_choice("NAME", args.name, NAMES)
    if args.name in BENCHMARKS:
        from labkit.data.benchmarks import WHERE

        print(WHERE[args.name])
        return 0
    for file in reader(args.name).files():
        if args.all or not file.optional:
            print(f"{file.name}: {get_file(file)}")
    print(f'Ready: labkit.data.load("{args.name}")')
    return 0


def get_file(file: File) -> Path:
    """The verified path of a file, fetched or built in the user's cache where it was not there or damaged there."""
    from labkit.base.paths import cache
    from labkit.data.download import download
    from labkit.data.files import find, locate, right

    path, own = find(file), cache() / file.dataset / file.name
    if path is None or (path == own and not right(own, file)):
        if file.built:
            import_module(f"labkit.data.{file.dataset}_build").make(file, own.parent)
        elif file.urls:
            download(file, own.parent)
    return locate(file)


def check_data(args: argparse.Namespace) -> int:
    """Verify every file that is there; a file that is damaged, or missing from a set asked for, gives exit code 1."""
    from labkit.base.checks import check_choice
    from labkit.data import SMALL
    from labkit.data.files import DataError, find, verify

    if args.name is not None:
        check_choice("NAME", args.name, SMALL)
    wrong = 0
    for name in SMALL if args.name is None else (args.name,):
        for file in reader(name).files():
            path = find(file)
            try:
                if path is not None:
                    verify(path, file)
                    print(f"ok       {path}")
                    continue
                print(f"missing  {file.name}: {file.repair}")
                wrong += args.name is not None and not file.optional
            except DataError as error:
                print(f"damaged  {error}")
                wrong += 1
    return 1 if wrong else 0
