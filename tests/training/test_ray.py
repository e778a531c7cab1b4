"""Runs on a Ray cluster of two nodes on this machine: they are shared out, and one whose node dies is not lost."""

import threading
import time

import pytest

from labkit.base.errors import LabkitError
from labkit.runs.read import find_runs, read_run
from labkit.training import on_ray, queue
from labkit.training.job import Job
from labkit.training.local import arguments
from labkit.training.on_ray import Place, bring_in, train_here
from labkit.training.waiting import Entry, read_queue

ray = pytest.importorskip("ray")
SHORT = {"nmi": "false", "train_metrics": "false", "frames": "0", "steps": "20", "evaluate_every": "20"}
LONG = SHORT | {"steps": "100000", "evaluate_every": "100000", "checkpoint_every": "20"}


@pytest.fixture
def cluster():
    """A head that takes no run, and two nodes with a CPU each."""
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    nodes = [made.add_node(num_cpus=1) for _ in range(2)]
    yield made, nodes
    ray.shutdown()
    made.shutdown()


def until(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.1)


@pytest.mark.timeout(600)
def test_two_nodes_share_the_runs(cluster, tmp_path):
    made, _ = cluster
    jobs = [Job("toy", "triplet", (seed,), SHORT, "metrics") for seed in (0, 1)] + [
        Job("toy", "untrained", (0,), SHORT)
    ]
    assert queue.run_queue(jobs, tmp_path, ray=made.address) == []
    runs = find_runs(tmp_path)
    assert [run.status for run in runs] == ["finished"] * 3
    assert all((run.path / "log.txt").exists() for run in runs)
    assert not list(tmp_path.glob(".ray-*"))
    assert queue.run_queue(jobs, tmp_path, ray=made.address) == []  # nothing is left to do
    with pytest.raises(LabkitError, match="--threads 99: no machine of the cluster has more than 1 CPUs"):
        queue.run_queue([Job("toy", "triplet", (7,), SHORT)], tmp_path, ray=made.address, threads=99)
    assert read_queue(tmp_path).entries == []  # nothing waits for ever


@pytest.mark.timeout(600)
def test_a_run_whose_node_dies_is_resumed_on_another(cluster, tmp_path):
    made, nodes = cluster
    job = Job("toy", "triplet", (0,), LONG)
    folder = tmp_path / job.run_ids()[0]
    codes = []
    working = threading.Thread(target=lambda: codes.append(queue.run_queue([job], tmp_path, ray=made.address)))
    working.start()
    until((folder / "checkpoints" / "last.safetensors").exists)
    victim = read_run(folder).record.pid
    for node in nodes:  # the one that trains: its worker's process goes with it
        if any(str(node.raylet_socket_name) in word for word in command_of(victim)):
            made.remove_node(node, allow_graceful=False)
    until(lambda: read_run(folder).record.resumed)
    resumed = read_run(folder).record
    assert resumed.pid != victim
    assert resumed.resumed[0].step >= 20
    assert [entry.tries for entry in read_queue(tmp_path).entries] == [2]
    queue.stop_run(read_run(folder))
    working.join(120)
    assert codes == [[folder]]  # it was stopped by somebody, so it is not finished
    assert read_run(folder).status == "interrupted"


def command_of(pid):
    """The command line of a process and of those that started it."""
    import psutil

    process = psutil.Process(pid)
    return [word for each in (process, *process.parents()) for word in each.cmdline()]


@pytest.mark.timeout(600)
def test_a_local_cluster_is_started_where_no_address_is_given(tmp_path, capsys):
    from labkit.__main__ import main

    settings = [f"{name}={value}" for name, value in SHORT.items()]
    command = ["sweep", "toy", "--losses", "untrained", "--seeds", "0", "--runs", str(tmp_path), "--set", *settings]
    assert main([*command, "--ray"]) == 0
    assert [run.status for run in find_runs(tmp_path)] == ["finished"]
    assert not ray.is_initialized()


def far(job, tmp_path, source=b""):
    """The command of a job and a place that this machine does not see."""
    entry = Entry(1, job, job.run_ids())
    words = arguments(entry, tmp_path / "far", "cpu", 1)
    return words, Place(str(tmp_path / "far"), ".ray-none", entry.run, False, str(tmp_path), job.loss, source)


def test_a_machine_that_does_not_see_the_folder_sends_its_runs(tmp_path):
    job = Job("toy", "untrained", (0, 1), SHORT, "metrics")
    code, content = train_here(*far(job, tmp_path))
    assert code == 0
    assert not (tmp_path / "far").exists()
    (tmp_path / "runs").mkdir()
    bring_in(content, tmp_path / "runs")
    assert [(run.id, run.status) for run in find_runs(tmp_path / "runs")] == [(n, "finished") for n in job.run_ids()]


def test_a_loss_in_a_file_goes_with_its_run(tmp_path, monkeypatch):
    source = b"from labkit.losses import SmoothAP as Mine\n"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_bytes(source)
    job = queue.prepared(Job("toy", "mine.py:Mine", (0,), SHORT, "metrics"))
    (tmp_path / "mine.py").unlink()
    assert train_here(*far(job, tmp_path, source))[0] == 0
    with pytest.raises(ValueError, match="is not below the working folder"):
        train_here(*far(Job("toy", "/a/mine.py:Mine"), tmp_path, source))


def test_no_cluster_at_the_address_is_told(tmp_path):
    with pytest.raises(LabkitError, match="--ray: no cluster at .127.0.0.1:1.*give HOST:PORT"):
        on_ray.OnRay(tmp_path, "127.0.0.1:1", 1)
