"""The queue of runs: it starts, stops, resumes, survives its worker's death, and signals nobody else's process."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from run_folders import info_of, make_run

from labkit.runs import launch
from labkit.runs.live import log_tail, progress_of, watched
from labkit.runs.process import is_alive, process_start
from labkit.runs.read import find_runs, read_run
from labkit.runs.schema import RunError
from labkit.runs.waiting import KEPT, MOST, Queue, changing, read_queue

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")

# training that only waits: quick to start, stops when asked, and writes the run.json that training writes
TRAIN = """
import json, os, signal, sys, time
from pathlib import Path
from labkit.runs.process import process_start
words = sys.argv[1:]
resumes = words[0] == "--resume"
folder = Path(words[1]) if resumes else Path(words[words.index("--runs") + 1]) / words[0]
if words[0] == "refused":
    sys.exit("labkit: no such thing \\x1b[31m<b>")
info = json.loads((folder / "run.json").read_text()) if resumes else json.loads(sys.argv[2])
def leave(status, code):
    (folder / "run.json").write_text(json.dumps(info | {"status": status}))
    os._exit(code)
signal.signal(signal.SIGTERM, lambda *_: "deaf" in words or leave("interrupted", 130))
info |= {"id": folder.name, "status": "running", "pid": os.getpid(), "pid_started": process_start(os.getpid())}
(folder / "run.json").write_text(json.dumps(info))
time.sleep(0.3 if resumes or "short" in words else 60)
(folder / "summary.json").write_text(json.dumps({"schema": 1}))
leave("finished", 0)
"""
WORKER = """
import sys
from pathlib import Path
from labkit.runs import launch
launch.TRAIN = (sys.executable, sys.argv[1])
launch.GRACE = 1.0
launch.Worker(Path(sys.argv[2])).work()
"""


@pytest.fixture
def runs(tmp_path):
    """A runs folder; whatever was started for it is ended."""
    yield tmp_path / "runs"
    queue = read_queue(tmp_path / "runs")
    for pid, started in [(queue.worker, queue.worker_started), *((e.pid, e.pid_started) for e in queue.entries)]:
        if pid and is_alive(pid, started):
            os.kill(pid, signal.SIGKILL)
    for process in launch.STARTED:
        process.wait(20)


@pytest.fixture
def root(runs, tmp_path, monkeypatch):
    """A runs folder whose training only waits."""
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "worker.py").write_text(WORKER)
    monkeypatch.setattr(launch, "WORKER", (sys.executable, str(tmp_path / "worker.py"), str(tmp_path / "train.py")))
    return runs


def job(name, *words):
    """A run that waits a minute, or what the words say."""
    return name, [name, json.dumps(info_of("x-s0")), *words]


def until(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def entries(root):
    return read_queue(root).entries


def status(root, name):
    return read_run(root / name).status if (root / name / "run.json").exists() else None


def test_two_runs_train_one_after_the_other_and_the_worker_leaves(root):
    launch.enqueue(root, [job("a", "short"), job("b", "short")])
    most = 0
    while any(entry.state != "ended" for entry in entries(root)) or read_queue(root).working:
        most = max(most, sum(entry.alive for entry in entries(root)))
        time.sleep(0.02)
    assert most == 1
    assert [(entry.run, entry.code) for entry in entries(root)] == [("a", 0), ("b", 0)]
    assert status(root, "a") == status(root, "b") == "finished"
    assert read_queue(root).worker == 0


def test_a_run_is_stopped_and_goes_on_in_the_queue(root):
    launch.enqueue(root, [job("a")])
    until(lambda: status(root, "a") == "running")
    assert launch.stop_run(read_run(root / "a"))
    until(lambda: not read_queue(root).working)
    assert status(root, "a") == "interrupted"
    assert entries(root)[0].code == 130
    launch.enqueue_resume(root, read_run(root / "a"))
    launch.enqueue_resume(root, read_run(root / "a"))  # pressed twice
    until(lambda: status(root, "a") == "finished")
    until(lambda: not read_queue(root).working)
    assert len(entries(root)) == 2
    (listed,) = watched(root, read_queue(root), find_runs(root))
    assert listed.status == "finished"


def test_stopping_all_ends_the_run_and_keeps_what_waits(root):
    launch.enqueue(root, [job("a"), job("b", "short")])
    until(lambda: status(root, "a") == "running")
    assert launch.stop_queue(root)
    until(lambda: not read_queue(root).working)
    first, second = entries(root)
    assert (first.state, second.state) == ("ended", "waiting")
    assert not is_alive(first.pid, first.pid_started)
    assert read_queue(root).stands_still
    launch.go_on(root)
    until(lambda: status(root, "b") == "finished")


def test_a_run_that_does_not_listen_is_ended_all_the_same(root):
    launch.enqueue(root, [job("a", "deaf")])
    until(lambda: status(root, "a") == "running")
    launch.stop_queue(root)
    until(lambda: not read_queue(root).working)
    assert status(root, "a") == "killed"
    launch.enqueue(root, [job("b", "deaf")])
    until(lambda: status(root, "b") == "running")
    launch.stop_run(read_run(root / "b"))
    time.sleep(0.3)
    assert status(root, "b") == "running"
    assert launch.stop_run(read_run(root / "b"), at_once=True)
    until(lambda: status(root, "b") == "killed")


def test_when_the_worker_dies_its_run_lives_and_the_next_worker_waits_for_it(root):
    launch.enqueue(root, [job("a"), job("b", "short")])
    until(lambda: status(root, "a") == "running")
    os.kill(read_queue(root).worker, signal.SIGKILL)
    until(lambda: not read_queue(root).working)
    assert entries(root)[0].alive
    assert read_queue(root).stands_still
    launch.go_on(root)
    until(lambda: read_queue(root).working)
    time.sleep(0.4)
    assert status(root, "b") is None
    launch.stop_run(read_run(root / "a"))
    until(lambda: status(root, "b") == "finished")
    assert entries(root)[0].state == "ended"


def test_of_two_workers_one_leaves(root):
    launch.enqueue(root, [job("a")])
    until(lambda: status(root, "a") == "running")
    second = subprocess.run([*launch.WORKER, str(root)], timeout=30)
    assert second.returncode == 0
    assert sum(entry.alive for entry in entries(root)) == 1
    assert read_queue(root).worker == launch.STARTED[-1].pid


def test_only_what_waits_can_be_removed(root):
    launch.enqueue(root, [job("a"), job("b")])
    until(lambda: status(root, "a") == "running")
    first, second = entries(root)
    assert not launch.remove(root, first.number)
    assert launch.remove(root, second.number)
    assert not launch.remove(root, second.number)
    launch.forget_ended(root)
    assert [entry.run for entry in entries(root)] == ["a"]
    launch.stop_run(read_run(root / "a"))
    until(lambda: not read_queue(root).working)
    launch.forget_ended(root)
    assert entries(root) == []
    assert (root / "a" / "run.json").exists()


def test_a_run_of_the_same_name_gets_a_folder_of_its_own(root):
    make_run(root, "a-s0")
    with changing(root) as queue:
        queue.add("a-s0", ["toy"])
        process = launch.start(queue.entries[0], root)
    process.kill()
    process.wait()
    assert entries(root)[0].run == "a-s0-2"


def test_a_run_that_does_not_start_leaves_its_reason(root):
    launch.enqueue(root, [job("refused")])
    until(lambda: entries(root)[0].state == "ended")
    (listed,) = watched(root, read_queue(root), [])
    assert listed.status == "did not start"
    assert listed.failed
    assert log_tail(listed.folder) == "labkit: no such thing [31m<b>"


@pytest.mark.parametrize("wrong", [{"pid_started": 1.0}, {"pid_started": None}, {"pid": -1}, {"pid": 0}, {"pid": "1"}])
def test_another_process_with_the_pid_of_a_run_is_never_signalled(tmp_path, wrong):
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        right = {"pid": other.pid, "pid_started": process_start(other.pid), "status": "running"}
        run = read_run(make_run(tmp_path, "a-s0", **right | wrong))
        assert not launch.stop_run(run)
        assert not launch.stop_run(run, at_once=True)
        assert other.poll() is None
        assert launch.stop_run(read_run(make_run(tmp_path, "b-s0", **right)))
        assert other.wait(20) == -signal.SIGTERM
        assert not launch.stop_run(read_run(tmp_path / "b-s0"))
    finally:
        other.kill()
        other.communicate()


def test_nobody_stops_himself(tmp_path):
    own = {"pid": os.getpid(), "pid_started": process_start(os.getpid()), "status": "running"}
    assert not launch.stop_run(read_run(make_run(tmp_path, "a-s0", **own)))


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{", '{"entries": 3}', '{"entries": [{"number": 1}]}', '{"entries": [], "worker": "1"}',
     '{"entries": [{"number": 1, "run": "../x", "arguments": []}]}',
     '{"entries": [{"number": 1, "run": "x", "arguments": [1]}]}'],
)  # fmt: skip
def test_a_queue_that_labkit_did_not_write_is_refused_and_kept(tmp_path, content):
    (tmp_path / "queue.json").write_text(content)
    with pytest.raises(RunError, match=r"queue\.json"):
        launch.enqueue(tmp_path, [("a", ["toy"])])
    assert (tmp_path / "queue.json").read_text() == content


def test_the_queue_has_an_end_and_forgets_what_is_long_over():
    queue = Queue()
    for number in range(KEPT + 5):
        queue.add(f"run{number}", []).state = "ended"
    for number in range(MOST):
        queue.add(f"waiting{number}", [])
    assert sum(entry.state == "ended" for entry in queue.entries) == KEPT
    assert len({entry.number for entry in queue.entries}) == len(queue.entries)
    with pytest.raises(ValueError, match="100 runs are in the queue"):
        queue.add("one more", [])


def test_unfinished_runs_are_listed_and_finished_ones_are_not(tmp_path):
    make_run(tmp_path, "a-s0")
    make_run(tmp_path, "b-s0", status="interrupted")
    make_run(tmp_path, "c-s0", status="running")  # of a process that is gone
    make_run(tmp_path, "d-s0", status="failed", seed="broken")
    found = {each.name: each.status for each in watched(tmp_path, Queue(), find_runs(tmp_path))}
    assert found == {"b-s0": "interrupted", "c-s0": "killed"}


def test_progress_counts_steps_and_time(tmp_path):
    folder = make_run(tmp_path, "a-s0", status="interrupted")
    rows = [{"step": 10, "seconds": 5.0}, {"step": 50, "seconds": 9.0}, {"step": 60, "split": "validation"}]
    far = progress_of(read_run(folder), rows)
    assert (far.step, far.steps, far.share) == (60, 200, 0.3)
    assert far.seconds_left == pytest.approx(14.0)
    info = json.loads((folder / "run.json").read_text())
    info["config"]["train"] = {"epochs": 3.0, "steps": 7}
    (folder / "run.json").write_text(json.dumps(info))
    assert progress_of(read_run(folder), []).steps is None
    (folder / "log.txt").write_text("x" * 9000 + "\na-s0: step 60/300, loss 1\n")
    assert progress_of(read_run(folder), []).steps == 300


def test_the_real_worker_makes_a_real_run(runs):
    from labkit.training.queue import Job

    job = Job("toy", "untrained", (0,), {"nmi": "false", "train_metrics": "false"})
    launch.enqueue(runs, [(job.run_ids()[0], job.arguments())])
    until(lambda: entries(runs)[0].state == "ended", 120)
    until(lambda: not read_queue(runs).working)
    (run,) = find_runs(runs)
    assert (run.id, run.status, run.problems) == (job.run_ids()[0], "finished", ())
    assert run.record.pid == entries(runs)[0].pid
    assert log_tail(run.path)
