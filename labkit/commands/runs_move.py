"""python -m labkit runs import, export, delete, mlflow."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from labkit.base.paths import OWN
from labkit.commands.runs import roots_of
from labkit.commands.terminal import plain, tell
from labkit.runs.delete import delete_run
from labkit.runs.read import find_runs, open_run
from labkit.runs.run import Run
from labkit.runs.schema import RunError


def import_file(args: argparse.Namespace) -> int:
    """Bring runs in, or embeddings that become one."""
    from labkit.runs.transfer import import_runs

    roots = args.runs or [OWN]
    if len(roots) > 1:
        raise RunError("--runs: give one folder to import into")
    if args.file.suffix == ".npz":
        return import_embeddings(args, roots[0])
    if args.images or args.data:
        raise RunError("--images and --data are for a .npz of embeddings")
    for run in import_runs(args.file, roots[0], overwrite=args.overwrite):
        print(f"imported: {run.path}")
    return 0


def import_embeddings(args: argparse.Namespace, root: Path) -> int:
    """A run of somebody's embeddings; it is there before UMAP begins, which takes a minute."""
    from labkit.runs.project import project
    from labkit.training.bring import bring

    run = bring(args.file, root, args.data, args.images)
    print(plain(f"imported: {run.path}"))
    if "umap" in args.methods:
        project(run, ["umap"])
    return 0


def export_zip(args: argparse.Namespace) -> int:
    """Take runs out."""
    from labkit.runs.transfer import export_runs

    runs = {run.path: run for run in (open_run(name, *roots_of(args)) for name in args.ids)}
    left_out = export_runs(runs.values(), args.output)
    print(f"written: {args.output} ({len(runs)} runs, {args.output.stat().st_size / 2**20:.1f} MB)")
    for name in left_out:
        tell(f"left out, not a file of labkit: {name}")
    return 0


def delete_runs(args: argparse.Namespace) -> int:
    """Delete runs after asking; all are looked at before the first one goes."""
    roots = args.runs or [OWN]  # recorded runs are deleted only where --runs names their folder
    runs = list({run.path: run for run in (deletable(name, roots) for name in args.ids)}.values())
    names = ", ".join(run.id for run in runs)
    if not args.yes:
        if not sys.stdin.isatty():
            raise RunError(f"nobody to ask whether to delete {names}: give --yes")
        if input(f"delete {plain(names)}? [y/N] ").strip().lower() not in ("y", "yes"):
            print("nothing deleted")
            return 1
    for run in runs:
        delete_run(run)
        print(plain(f"deleted: {run.path}"))
    return 0


def deletable(name: str, roots: list[Path]) -> Run:
    """A run below the roots, named in full, that nobody is writing."""
    found = [run for run in find_runs(*roots) if name == run.id or Path(name).resolve() == run.path]
    if not found:
        similar = [run.id for run in find_runs(*roots) if run.id.startswith(name)][:5]
        hint = f"; ids must be written in full: {', '.join(similar)}" if similar else ""
        raise RunError(f"no run {name!r} below {', '.join(map(str, roots))}{hint}")
    if len(found) > 1:
        raise RunError(f"run {name!r} is there twice, give one path: {', '.join(str(run.path) for run in found)}")
    if found[0].status == "running":
        raise RunError(f"run {name!r} is running (process {found[0].record.pid}): stop it first")
    return found[0]


def send_to_mlflow(args: argparse.Namespace) -> int:
    """Send one run to a server."""
    from labkit.runs.mlflow_export import export_to_mlflow

    sent = export_to_mlflow(open_run(args.ids[0], *roots_of(args)), args.uri, args.experiment)
    print(f"sent: MLflow run {sent} of experiment {args.experiment}")
    return 0
