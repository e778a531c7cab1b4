import json
import sys
import types
from collections import namedtuple

import pytest
from run_folders import make_run, own_process

from labkit.runs import RunError
from labkit.runs.mlflow_export import export_to_mlflow, mlflow_name
from labkit.runs.read import read_run


class MlflowException(Exception):
    pass


@pytest.fixture
def sent(monkeypatch):
    """A stand-in for mlflow with the calls that are used; returns what it was told."""
    told = {"experiments": [], "batches": [], "fail": False}

    class MlflowClient:
        def __init__(self, tracking_uri):
            told["uri"] = tracking_uri

        def get_experiment_by_name(self, name):
            if told["fail"]:
                raise MlflowException("no answer from http://me:secret@host/api")
            return types.SimpleNamespace(experiment_id="7") if name in told["experiments"] else None

        def create_experiment(self, name):
            told["experiments"].append(name)
            return "7"

        def create_run(self, experiment_id, start_time, tags, run_name):
            told["run"] = {"experiment": experiment_id, "start": start_time, "tags": tags, "name": run_name}
            return types.SimpleNamespace(info=types.SimpleNamespace(run_id="f00"))

        def log_batch(self, run_id, metrics=(), params=(), tags=()):
            assert run_id == "f00"
            assert len(metrics) <= 1000
            assert len(params) <= 100
            told["batches"].append((list(metrics), list(params)))

        def set_terminated(self, run_id, status, end_time):
            told["end"] = (run_id, status, end_time)

    entities = types.ModuleType("mlflow.entities")
    entities.Metric = namedtuple("Metric", ["key", "value", "timestamp", "step"])
    entities.Param = namedtuple("Param", ["key", "value"])
    exceptions = types.ModuleType("mlflow.exceptions")
    exceptions.MlflowException = MlflowException
    mlflow = types.ModuleType("mlflow")
    mlflow.MlflowClient = MlflowClient
    for module in (mlflow, entities, exceptions):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return told


def test_settings_curves_and_results_are_sent(tmp_path, sent):
    run = read_run(make_run(tmp_path, "toy-pnp-s2", value=0.5))
    assert export_to_mlflow(run, "http://host", "team") == "f00"
    assert (sent["uri"], sent["experiments"]) == ("http://host", ["team"])
    assert sent["run"]["name"] == "toy-pnp-s2"
    assert sent["run"]["start"] == 1735689600000
    assert sent["run"]["tags"]["labkit.group"] == "toy_toy-pnp"
    assert sent["run"]["tags"]["labkit.commit"] == "a" * 40
    assert "labkit.error" not in sent["run"]["tags"]
    params = dict(pair for _, pairs in sent["batches"] for pair in pairs)
    assert (params["seed"], params["loss"], params["optimizer.lr"]) == ("2", "toy-pnp", "0.003")
    points = [point for batch, _ in sent["batches"] for point in batch]
    assert ("validation/R_at_1", 0.5, 1735689600000 + 18000, 200) in points
    assert ("train/loss", 1 / 21, 1735689600000 + 2000, 20) in points
    assert ("test/R_at_1", 0.5, 1735689660000, 200) in points
    assert ("test_last/R_at_1", 0.4, 1735689660000, 200) in points
    assert sent["end"] == ("f00", "FINISHED", 1735689660000)


def test_an_experiment_that_is_there_is_used_again(tmp_path, sent):
    sent["experiments"].append("labkit")
    export_to_mlflow(read_run(make_run(tmp_path)), "http://host")
    assert sent["experiments"] == ["labkit"]


def test_long_curves_go_in_batches_and_null_is_left_out(tmp_path, sent):
    folder = make_run(tmp_path)
    rows = [{"step": step, "loss": None if step == 7 else 1.0} for step in range(2500)]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    export_to_mlflow(read_run(folder), "http://host")
    steps = [point.step for batch, _ in sent["batches"] for point in batch if point.key == "train/loss"]
    assert steps == [step for step in range(2500) if step != 7]


@pytest.mark.parametrize(("status", "there"), [("failed", "FAILED"), ("interrupted", "KILLED")])
def test_other_ends_keep_their_meaning(tmp_path, sent, status, there):
    export_to_mlflow(read_run(make_run(tmp_path, status=status)), "http://host")
    assert sent["end"][1] == there


def test_a_killed_run_without_an_end_is_sent(tmp_path, sent):
    folder = make_run(tmp_path, status="running", ended=None, pid=2**22 + 1, pid_started=1.0)
    export_to_mlflow(read_run(folder), "http://host")
    assert sent["end"] == ("f00", "KILLED", 1735689600000)


def test_a_running_or_damaged_run_is_not_sent(tmp_path, sent):
    running = make_run(tmp_path, "a-s0", status="running", ended=None, **own_process())
    with pytest.raises(RunError, match="it is running"):
        export_to_mlflow(read_run(running), "http://host")
    damaged = make_run(tmp_path, "b-s0", config=None)
    with pytest.raises(RunError, match="config must be an object"):
        export_to_mlflow(read_run(damaged), "http://host")
    assert sent["batches"] == []


def test_a_failing_server_is_named_without_its_password(tmp_path, sent):
    sent["fail"] = True
    with pytest.raises(RunError, match="server at http://host did not take run toy-pnp-s0: no answer") as error:
        export_to_mlflow(read_run(make_run(tmp_path)), "http://me:secret@host")
    assert "secret" not in str(error.value)


def test_without_mlflow_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(RunError, match=r'pip install "labkit\[mlflow\]"'):
        export_to_mlflow(read_run(make_run(tmp_path)), "http://host")


def test_names_hold_only_what_mlflow_takes():
    assert mlflow_name("validation/R@1") == "validation/R_at_1"
    assert mlflow_name("a:b=c,d") == "a_b_c_d"
    assert len(mlflow_name("x" * 999)) == 250
