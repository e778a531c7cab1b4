"""The queue of runs: it starts, stops, resumes, survives its worker's death, and signals nobody else's process."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from run_folders import make_run

from labkit.runs.process import is_alive, process_start
from labkit.runs.read import find_runs, read_run
from labkit.runs.schema import RunError
from labkit.training import local, queue
from labkit.training.job import Job, left_of
from labkit.training.live import log_tail, progress_of, watched
from labkit.training.local import Local, arguments, slots
from labkit.training.waiting import KEPT, Entry, Queue, changing, read_queue

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")

# training that only waits: quick to start, stops when asked, and writes the run.json that training writes
TRAIN = """
import json, os, signal, sys, time
from pathlib import Path
sys.path.insert(0, {runs!r})
from run_folders import info_of
from labkit.runs.process import process_start
from labkit.runs.tracker import free_folder
from labkit.runs.variant import Variant
words = sys.argv[1:]
resumes = words[0] == "--resume"
if resumes:
    folder, mode = Path(words[1]), "short"
else:
    root, mode = Path(words[words.index("--runs") + 1]), words[words.index("--set") + 1].partition("=")[2]
    variant = Variant(words[0], words[2], {{"mode": mode}})
    folder = free_folder(root / variant.run_id(int(words[words.index("--seed") + 1])))
if mode == "refused":
    sys.exit("labkit: no such thing \\x1b[31m<b>")
info = json.loads((folder / "run.json").read_text()) if resumes else info_of("x-s0") | {{"words": words}}
def leave(status, code):
    (folder / "run.json").write_text(json.dumps(info | {{"status": status}}))
    os._exit(code)
signal.signal(signal.SIGTERM, lambda *_: mode == "deaf" or leave("interrupted", 130))
info |= {{"id": folder.name, "status": "running", "pid": os.getpid(), "pid_started": process_start(os.getpid())}}
if not resumes:
    info |= {{"preset": words[0], "loss": words[2], "overrides": {{"mode": mode}}}}
(folder / "run.json").write_text(json.dumps(info))
time.sleep(0.3 if mode == "short" else 60)
(folder / "summary.json").write_text(json.dumps({{"schema": 1}}))
leave("finished", 0)
"""
WORKER = """
import sys
from pathlib import Path
from labkit.training import local, worker
local.TRAIN = (sys.executable, sys.argv[1])
worker.GRACE = 1.0
root = Path(sys.argv[-1])
worker.Worker(root, local.Local(root, sys.argv[2].split(","))).work()
"""


@pytest.fixture
def runs(tmp_path):
    """A runs folder; whatever was started for it is ended."""
    yield tmp_path / "runs"
    there = read_queue(tmp_path / "runs")
    for pid, started in [(there.worker, there.worker_started), *((e.pid, e.pid_started) for e in there.entries)]:
        if pid and pid != os.getpid() and is_alive(pid, started):
            os.kill(pid, signal.SIGKILL)
    for process in queue.STARTED:
        process.kill()
        process.wait(20)


@pytest.fixture
def root(runs, tmp_path, monkeypatch):
    """A runs folder whose training only waits."""
    (tmp_path / "train.py").write_text(TRAIN.format(runs=os.path.dirname(os.path.abspath(info_file()))))
    (tmp_path / "worker.py").write_text(WORKER)
    worker = (sys.executable, str(tmp_path / "worker.py"), str(tmp_path / "train.py"))
    monkeypatch.setattr(queue, "WORKER", (*worker, "auto"))
    monkeypatch.setattr(local, "TRAIN", (sys.executable, str(tmp_path / "train.py")))
    return runs


def info_file():
    import run_folders

    return run_folders.__file__


def job(name, mode="long", seeds=(0,), **more):
    """A run that waits a minute, or what the mode says."""
    return Job("toy", name, seeds, {"mode": mode}, **more)


def name_of(job, number=0):
    return job.run_ids()[number]


def until(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def entries(root):
    return read_queue(root).entries


def status(root, name):
    return read_run(root / name).status if (root / name / "run.json").exists() else None


A, B = job("a"), job("b", "short")


def test_two_runs_train_one_after_the_other_and_the_worker_leaves(root):
    jobs = [job("a", "short"), B]
    queue.enqueue(root, jobs)
    most = 0
    while any(entry.state != "ended" for entry in entries(root)) or read_queue(root).working:
        most = max(most, sum(entry.alive for entry in entries(root)))
        time.sleep(0.02)
    assert most == 1
    assert [(entry.run, entry.code) for entry in entries(root)] == [(name_of(each), 0) for each in jobs]
    assert [status(root, name_of(each)) for each in jobs] == ["finished"] * 2
    assert read_queue(root).worker == 0


def test_a_run_is_stopped_and_goes_on_in_the_queue(root):
    queue.enqueue(root, [A])
    until(lambda: status(root, name_of(A)) == "running")
    assert queue.stop_run(read_run(root / name_of(A)))
    until(lambda: not read_queue(root).working)
    assert status(root, name_of(A)) == "interrupted"
    assert entries(root)[0].code == 130
    queue.enqueue_resume(root, read_run(root / name_of(A)))
    queue.enqueue_resume(root, read_run(root / name_of(A)))  # pressed twice
    until(lambda: status(root, name_of(A)) == "finished")
    until(lambda: not read_queue(root).working)
    assert len(entries(root)) == 2
    (listed,) = watched(root, read_queue(root), find_runs(root))
    assert listed.status == "finished"


def test_the_same_choice_is_not_put_there_twice_however_it_is_written(root, monkeypatch):
    monkeypatch.setattr(queue, "go_on", lambda root: None)
    first = queue.enqueue(root, [Job("toy", "a", (0,), {"mode": "long", "lr": "0.001"})])
    again = queue.enqueue(root, [Job("toy", "a", (0,), {"optimizer.lr": "1e-3", "mode": "long"})])
    other = queue.enqueue(root, [Job("toy", "a", (1,), {"mode": "long", "lr": "0.001"})])
    assert [len(first), len(again), len(other)] == [1, 0, 1]


def test_stopping_all_ends_the_run_and_keeps_what_waits(root):
    queue.enqueue(root, [A, B])
    until(lambda: status(root, name_of(A)) == "running")
    assert queue.stop_queue(root)
    until(lambda: not read_queue(root).working)
    first, second = entries(root)
    assert (first.state, second.state) == ("ended", "waiting")
    assert not is_alive(first.pid, first.pid_started)
    assert read_queue(root).stands_still
    queue.go_on(root)
    until(lambda: status(root, name_of(B)) == "finished")


def test_a_run_that_does_not_listen_is_ended_all_the_same(root):
    first, second = job("a", "deaf"), job("b", "deaf")
    queue.enqueue(root, [first])
    until(lambda: status(root, name_of(first)) == "running")
    queue.stop_queue(root)
    until(lambda: not read_queue(root).working)
    assert status(root, name_of(first)) == "killed"
    queue.enqueue(root, [second])
    until(lambda: status(root, name_of(second)) == "running")
    queue.stop_run(read_run(root / name_of(second)))
    time.sleep(0.3)
    assert status(root, name_of(second)) == "running"
    assert queue.stop_run(read_run(root / name_of(second)), at_once=True)
    until(lambda: status(root, name_of(second)) == "killed")
    until(lambda: not read_queue(root).working)
    assert entries(root)[-1].state == "ended"  # somebody wanted that: it is not begun again


def test_when_the_worker_dies_its_run_lives_and_the_next_worker_waits_for_it(root):
    queue.enqueue(root, [A, B])
    until(lambda: status(root, name_of(A)) == "running")
    os.kill(read_queue(root).worker, signal.SIGKILL)
    until(lambda: not read_queue(root).working)
    assert entries(root)[0].alive
    assert read_queue(root).stands_still
    queue.go_on(root)
    until(lambda: read_queue(root).working)
    time.sleep(0.4)
    assert status(root, name_of(B)) is None
    queue.stop_run(read_run(root / name_of(A)))
    until(lambda: status(root, name_of(B)) == "finished")
    assert entries(root)[0].state == "ended"


def test_what_died_with_the_worker_is_made_all_the_same(root):
    several = job("several", "long", (0, 1))
    queue.enqueue(root, [several, B])
    until(lambda: status(root, name_of(several)) == "running")
    dead = entries(root)[0]
    for pid in (read_queue(root).worker, dead.pid):  # as in a power cut
        os.kill(pid, signal.SIGKILL)
    until(lambda: not read_queue(root).working and not dead.alive)
    queue.go_on(root)
    second = name_of(several, 1)
    until(lambda: status(root, second) == "running")  # the seed that had not begun
    queue.stop_run(read_run(root / second))
    until(lambda: status(root, name_of(several)) == "finished")  # resumed
    until(lambda: status(root, name_of(B)) == "finished")
    assert {entry.tries for entry in entries(root) if entry.job.loss == "several"} == {2}


def test_a_run_that_is_lost_again_and_again_is_given_up(root):
    with changing(root) as there:
        entry = there.add(A)
        entry.state, entry.tries, entry.pid, entry.pid_started = "running", 5, 2**22, 1.0
    queue.go_on(root)
    until(lambda: entries(root)[0].state == "ended")


def test_of_two_workers_one_leaves(root):
    queue.enqueue(root, [A])
    until(lambda: status(root, name_of(A)) == "running")
    second = subprocess.run([*queue.WORKER, str(root)], timeout=60)
    assert second.returncode == 0
    assert sum(entry.alive for entry in entries(root)) == 1
    assert read_queue(root).worker == queue.STARTED[-1].pid


def test_only_what_waits_can_be_removed(root):
    queue.enqueue(root, [A, job("c")])
    until(lambda: status(root, name_of(A)) == "running")
    first, second = entries(root)
    assert not queue.remove(root, first.number)
    assert queue.remove(root, second.number)
    assert not queue.remove(root, second.number)
    queue.forget_ended(root)
    assert [entry.run for entry in entries(root)] == [name_of(A)]
    queue.stop_run(read_run(root / name_of(A)))
    until(lambda: not read_queue(root).working)
    queue.forget_ended(root)
    assert entries(root) == []
    assert (root / name_of(A) / "run.json").exists()


def test_a_run_of_the_same_name_gets_a_folder_of_its_own(root):
    make_run(root, "x-s0").rename(root / name_of(B))
    queue.enqueue(root, [B])
    until(lambda: entries(root)[0].state == "ended")
    assert entries(root)[0].run == f"{name_of(B)}-2"


def test_a_run_that_does_not_start_leaves_its_reason(root):
    queue.enqueue(root, [job("a", "refused")])
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
        assert not queue.stop_run(run)
        assert not queue.stop_run(run, at_once=True)
        assert other.poll() is None
        assert queue.stop_run(read_run(make_run(tmp_path, "b-s0", **right)))
        assert other.wait(20) == -signal.SIGTERM
        assert not queue.stop_run(read_run(tmp_path / "b-s0"))
    finally:
        other.kill()
        other.communicate()


def test_nobody_stops_himself(tmp_path):
    own = {"pid": os.getpid(), "pid_started": process_start(os.getpid()), "status": "running"}
    assert not queue.stop_run(read_run(make_run(tmp_path, "a-s0", **own)))


JOB = '{"preset": "toy", "loss": "a", "seeds": [0], "settings": {}}'


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{",
        '{"entries": 3}',
        '{"entries": [{"number": 1}]}',
        '{"entries": [], "worker": "1"}',
        f'{{"entries": [{{"number": 1, "job": {JOB}, "runs": ["../x"]}}]}}',
        f'{{"entries": [{{"number": 1, "job": {JOB}, "runs": []}}]}}',
        f'{{"entries": [{{"number": 1, "job": {JOB}, "runs": ["x"], "state": "lazy"}}]}}',
        '{"entries": [{"number": 1, "job": {"preset": "toy"}, "runs": ["x"]}]}',
        '{"entries": [], "more": 1}',
    ],
)
def test_a_queue_that_labkit_did_not_write_is_refused_and_kept(tmp_path, content):
    (tmp_path / "queue.json").write_text(content)
    with pytest.raises(RunError, match=r"queue\.json"):
        queue.enqueue(tmp_path, [A])
    assert (tmp_path / "queue.json").read_text() == content


def test_the_queue_forgets_what_is_long_over_and_a_page_may_not_fill_it(tmp_path, monkeypatch):
    monkeypatch.setattr(queue, "go_on", lambda root: None)
    there = Queue()
    for number in range(KEPT + 5):
        there.add(job(f"run{number}")).state = "ended"
    there.add(A)
    assert sum(entry.state == "ended" for entry in there.entries) == KEPT
    assert len({entry.number for entry in there.entries}) == len(there.entries)
    queue.enqueue(tmp_path, [job("a", seeds=(seed,)) for seed in range(queue.MOST)])
    with pytest.raises(ValueError, match="at most 100 runs may wait"):
        queue.enqueue(tmp_path, [job("b")])


@pytest.mark.parametrize(
    ("device", "jobs", "gpus", "expected"),
    [
        ("auto", None, 0, ["auto"]),
        ("auto", None, 1, ["auto"]),
        ("auto", 3, 0, ["auto"] * 3),
        ("auto", None, 3, ["cuda:0", "cuda:1", "cuda:2"]),
        ("auto", 4, 2, ["cuda:0", "cuda:1", "cuda:0", "cuda:1"]),
        ("cpu", None, 4, ["cpu"]),
        ("cuda:1", 2, 4, ["cuda:1", "cuda:1"]),
    ],
)
def test_each_gpu_gets_a_run_where_there_are_several(device, jobs, gpus, expected):
    assert slots(device, jobs, gpus) == expected


def test_runs_are_placed_on_free_gpus_and_one_that_names_a_gpu_waits_for_it(tmp_path):
    here = Local(tmp_path, ["cuda:0", "cuda:1"])
    first, second, named = (Entry(n, job("a", device=d), ["x"]) for n, d in ((1, "auto"), (2, "auto"), (3, "cuda:0")))
    assert here.place(first) == "cuda:0"
    here.places[1] = "cuda:0"
    assert here.place(second) == "cuda:1"
    assert here.place(named) is None
    here.places[2] = "cuda:1"
    assert here.place(second) is None
    del here.places[1]
    assert here.place(named) == "cuda:0"


def test_a_foreground_queue_places_runs_on_both_gpus(root, monkeypatch, capfd):
    monkeypatch.setattr(queue, "count_gpus", lambda: 2)
    jobs = [job(name, "short") for name in "abcd"]
    assert queue.run_queue(jobs, root) == []
    words = [json.loads((root / name_of(each) / "run.json").read_text())["words"] for each in jobs]
    assert sorted(each[each.index("--device") + 1] for each in words) == ["cuda:0"] * 2 + ["cuda:1"] * 2
    assert not (root / "queue.json").exists()
    assert queue.run_queue(jobs, root) == []
    assert "4 of 4 runs are finished already" in capfd.readouterr().out


def test_a_command_waits_for_another_worker_of_its_queue(root, capfd):
    first = job("a", "short")
    queue.enqueue(root, [first, B])
    until(lambda: read_queue(root).working)
    assert queue.run_queue([B], root) == []
    assert status(root, name_of(B)) == "finished"


def test_what_is_left_of_a_job():
    several = job("a", seeds=(0, 1, 2, 3))
    left = left_of(several, several.run_ids(), ["finished", None, "interrupted", None])
    assert [(part.seeds, run) for part, run in left] == [((1, 3), ""), ((2,), name_of(several, 2))]


def test_the_file_of_a_loss_is_noted_when_its_run_is_queued(tmp_path, monkeypatch):
    monkeypatch.setattr(queue, "go_on", lambda root: None)
    mine = tmp_path / "mine.py"
    mine.write_text("raise SystemExit")
    (entry,) = queue.enqueue(tmp_path / "runs", [Job("toy", f"{mine}:L", (0,))])
    assert len(entry.job.loss_sha256) == 64
    words = arguments(entry, tmp_path / "runs", "auto", None)
    assert words[words.index("--loss-sha256") + 1] == entry.job.loss_sha256


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
    real = Job("toy", "untrained", (0,), {"nmi": "false", "train_metrics": "false"})
    queue.enqueue(runs, [real])
    until(lambda: entries(runs)[0].state == "ended", 120)
    until(lambda: not read_queue(runs).working)
    (run,) = find_runs(runs)
    assert (run.id, run.status, run.problems) == (name_of(real), "finished", ())
    assert run.record.pid == entries(runs)[0].pid
    assert log_tail(run.path)
