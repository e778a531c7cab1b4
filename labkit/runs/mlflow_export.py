"""Sending a run to a team's MLflow server; the run directory stays the source of truth.

Needs the client alone, mlflow-skinny (`pip install "labkit[mlflow]"`), which is imported when a run is sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime

from labkit.base.typed import finite
from labkit.runs.run import Run
from labkit.runs.schema import RunError

STATUS = {"finished": "FINISHED", "failed": "FAILED", "interrupted": "KILLED", "killed": "KILLED"}
METRICS_A_BATCH, PARAMS_A_BATCH, PARAM_LENGTH = 1000, 100, 6000  # limits of MLflow
TAGS = ("command", "commit", "device", "device_name", "error")
Point = tuple[str, float, int, int]  # name, value, milliseconds since 1970, step


def export_to_mlflow(run: Run, tracking_uri: str, experiment: str = "labkit") -> str:
    """Make a new MLflow run of a run that has ended, with its settings, curves and final metrics; returns its id."""
    try:
        from mlflow import MlflowClient  # type: ignore[import-not-found]
        from mlflow.entities import Metric, Param  # type: ignore[import-not-found]
        from mlflow.exceptions import MlflowException  # type: ignore[import-not-found]
    except ModuleNotFoundError:
        raise RunError('MLflow\'s client is not installed: pip install "labkit[mlflow]"') from None
    if run.status not in STATUS or run.problems:
        raise RunError(f"run {run.id} cannot be sent: {'; '.join(run.problems) or f'it is {run.status}'}")
    points, settings = list(metric_points(run)), list(parameters(run).items())
    try:
        client = MlflowClient(tracking_uri=tracking_uri)
        known = client.get_experiment_by_name(experiment)
        place = known.experiment_id if known is not None else client.create_experiment(experiment)
        made = client.create_run(place, start_time=milliseconds(run.record.started), tags=tags(run), run_name=run.id)
        sent: str = made.info.run_id
        for start in range(0, len(settings), PARAMS_A_BATCH):
            client.log_batch(sent, params=[Param(*pair) for pair in settings[start : start + PARAMS_A_BATCH]])
        for start in range(0, len(points), METRICS_A_BATCH):
            client.log_batch(sent, metrics=[Metric(*point) for point in points[start : start + METRICS_A_BATCH]])
        client.set_terminated(sent, status=STATUS[run.status], end_time=end_time(run))
    except MlflowException as error:
        message = f"the MLflow server at {tracking_uri} did not take run {run.id}: {error}"
        raise RunError(re.sub(r"//[^/\s]*@", "//", message)) from None  # an address may hold a password
    return sent


def parameters(run: Run) -> dict[str, str]:
    """Preset, loss, seed and the configuration as flat texts: "optimizer.lr" and so on."""
    flat = {"preset": run.preset, "loss": run.loss, "seed": run.seed, "data": run.data_name}
    for section, content in asdict(run.record.config).items():
        entries = content if isinstance(content, dict) else {}
        flat |= {f"{section}.{name}": value for name, value in entries.items()}
    return {mlflow_name(name): str(value)[:PARAM_LENGTH] for name, value in flat.items()}


def tags(run: Run) -> dict[str, str]:
    """Where the numbers come from."""
    known = {name: getattr(run.record, name) for name in TAGS}
    found = {f"labkit.{name}": str(value)[:PARAM_LENGTH] for name, value in known.items() if value is not None}
    found |= {f"labkit.version.{mlflow_name(name)}": value for name, value in run.record.versions.items()}
    return found | {"labkit.id": run.id, "labkit.group": run.group, "labkit.data": run.record.data.sha256}


def metric_points(run: Run) -> Iterator[Point]:
    """Curves as train/… and validation/…, the summary as test/…, each with the time it was measured at."""
    began, now, step = milliseconds(run.record.started), 0.0, 0
    for row in run.curves():
        now = finite(row.get("seconds")) or now
        step = row["step"]
        for name, value in row.items():
            number = finite(value)
            if number is not None and name not in ("step", "seconds"):
                yield mlflow_name(f"{row.get('split', 'train')}/{name}"), number, began + int(now * 1000), step
    for split in ("test", "test_last"):
        for name in getattr(run.summary, split, None) or {}:
            number = run.value(name, split)
            if number is not None:
                yield mlflow_name(f"{split}/{name}"), number, end_time(run), step


def mlflow_name(name: str) -> str:
    """MLflow knows letters, digits and _-. /: R@1 becomes R_at_1."""
    return re.sub(r"[^A-Za-z0-9_\-. /]", "_", name.replace("@", "_at_"))[:250]


def milliseconds(time: str) -> int:
    """An ISO time as MLflow counts it."""
    return int(datetime.fromisoformat(time).timestamp() * 1000)


def end_time(run: Run) -> int:
    """When the run ended; a killed one does not say, so its start stands in."""
    return milliseconds(run.record.ended or run.record.started)
