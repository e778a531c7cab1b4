"""`python -m tests.reliability [--full] [NAME …]`: run the drills, print the table; `make drills` runs all in full."""

import argparse
import sys
import time
import traceback

from tests.reliability.table import FOLDER, Row, as_text, drill_names, run_drill


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.reliability", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these of: {', '.join(drill_names())}")
    parser.add_argument("--full", action="store_true", help="as long as it takes, not the short form of `make test`")
    args = parser.parse_args()
    if unknown := sorted(set(args.names) - set(drill_names())):
        parser.error(f"no drill {', '.join(unknown)}; there are {', '.join(drill_names())}")
    sys.path[:0] = [str(FOLDER.parent / room) for room in ("data", "runs")]  # as pytest has it (pyproject.toml)
    rows = []
    for name in args.names or drill_names():
        rows += timed(name, args.full)
    print("\n" + as_text(rows))
    return 1 if any(row.lost for row in rows) else 0


def timed(name: str, full: bool) -> list[Row]:
    """The rows of a drill, with its time on the way; one that breaks is lost, and the others go on."""
    begun = time.perf_counter()
    try:
        rows = run_drill(name, full)
    except Exception as error:
        traceback.print_exc()
        rows = [Row(name, 1, 0, 1, f"the drill broke: {type(error).__name__}: {str(error)[:100]}")]
    print(f"{name}: {time.perf_counter() - begun:.0f} s", flush=True)
    return rows


if __name__ == "__main__":
    sys.exit(main())
