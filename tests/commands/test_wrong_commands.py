"""What a person can type wrong: each is refused before anything starts, with the argument's name and the way out."""

import json
import shlex

import numpy as np
import pytest
from run_folders import make_run

from labkit.commands import main

# a command line, and what its message must hold: the argument, and what to do instead
WRONG = [
    ("trian toy", ("trian", "did you mean train?")),
    ("Runs", ("no command 'Runs'", "did you mean runs?")),
    ("xyz", ("no command 'xyz'", "there are: train")),
    ("train toy --seed=x", ("--seed", "whole number from 0 to")),
    ("train toy --speed 3", ("--speed", "train --help")),
    ("train toy extra", ("extra", "train --help")),
    ("train tooy", ("tooy", "did you mean toy?")),
    ("train ''", ("no preset ''", "there are:")),
    ("train ../toy", ("no preset", "there are:")),
    ("train toy --seed -1", ("--seed", "from 0 to 4,294,967,295")),
    ("train toy --seed 4294967296", ("--seed", "from 0 to 4,294,967,295")),
    ("train toy --seed 1" + "0" * 5000, ("--seed", "from 0 to 4,294,967,295")),
    ("train toy --seed 1.5", ("--seed", "whole number")),
    ("train toy --seed", ("--seed", "at least one")),
    ("train toy --loss ''", ("loss ''", "there are: ")),
    ("train toy --loss pnp", ("loss 'pnp'", "did you mean pnp-")),
    ("train toy --loss mine.py", ("mine.py", "FILE.py:NAME")),
    ("train toy --loss mine.py:Nothing", ("Nothing", "classes in it: Mine")),
    ("train toy --loss mine.py:", ("mine.py", "classes in it: Mine")),
    ("train toy --loss missing.py:Mine", ("no file missing.py",)),
    ("train toy --loss broken.py:Mine", ("broken.py is not a Python file",)),
    ("train toy --set lr", ("--set", "KEY=VALUE")),
    ("train toy --set =1", ("--set", "KEY=VALUE")),
    ("train toy --set lr=-1", ("optimizer.lr", "0 or above")),
    ("train toy --set lr=fast", ("optimizer.lr", "must be a number")),
    ("train toy --set lr=1e999", ("optimizer.lr", "not finite")),
    ("train toy --set lr=0.1 lr=0.2", ("optimizer.lr twice", "give one")),
    ("train toy --set lr=0.1 --set optimizer.lr=0.2", ("optimizer.lr twice", "give one")),
    ("train toy --micro-batch 4 --set batch.micro=8", ("batch.micro twice", "give one")),
    ("train toy --set steps=0", ("train.steps", "from 1 to 10,000,000")),
    ("train toy --set steps=-5", ("train.steps", "from 1 to 10,000,000")),
    ("train toy --set steps=1000000000", ("train.steps", "from 1 to 10,000,000")),
    ("train toy --set epochs=-1", ("train.epochs", "from 0 to 100,000")),
    ("train toy --set steps=1e3", ("train.steps", "whole number")),
    ("train toy --set batch.classes=-3", ("batch.classes", "from 1 to 100,000")),
    ("train toy --set per_class=0", ("batch.per_class", "from 1 to 100,000")),
    ("train toy --set batch.size=0", ("batch.size", "from 1 to")),
    ("train toy --set clip=-1", ("optimizer.clip", "0 or above")),
    ("train toy --set schedule=step milestones='(0.5, 2)'", ("optimizer.milestones", "from 0 to 1")),
    ("train toy --set points=-1", ("record.points", "from 0 to")),
    ("train toy --set model.dim=0", ("model.dim", "from 1 to 65,536")),
    ("train toy --set model.dim=1000000000", ("model.dim", "from 1 to 65,536")),
    ("train toy --set model.dim=two", ("model.dim", "whole number")),
    ("train toy --set tua=0.1", ("tua", "did you mean tau?")),
    ("train toy --set optimzer.lr=1", ("optimzer", "there are: batch")),
    ("train toy --micro-batch 0", ("--micro-batch", "from 1 to")),
    ("train toy --micro-batch -4", ("--micro-batch", "from 1 to")),
    ("train toy --threads 0", ("--threads", "from 1 to 1,024")),
    ("train toy --threads -3", ("--threads", "from 1 to 1,024")),
    ("train toy --device warp", ("device", "must be")),
    ("train toy --keep some", ("--keep", "choose from")),
    ("train toy --runs mine.py", ("--runs", "is a file; name a folder")),
    ("train toy --runs mine.py/below", ("--runs", "is a file; name a folder")),
    ("train toy --runs ''", ("--runs", "name of a folder")),
    ("train --resume ''", ("--resume", "python -m labkit runs")),
    ("train --resume nothing", ("--resume", "nothing", "python -m labkit runs")),
    ("train --resume own/half-s0", ("half-s0", "run.json is not whole JSON")),
    ("train --resume own/whole-s0", ("whole-s0 is finished",)),
    ("train toy --resume own/whole-s0", ("--resume", "takes no preset")),
    ("train words --set lr=-1", ("optimizer.lr", "0 or above")),
    ("train words --set train.steps=0", ("train.steps", "from 1 to")),
    ("sweep", ("preset",)),
    ("sweep toy --jobs 0", ("--jobs", "from 1 to 1,000")),
    ("sweep toy --jobs -2", ("--jobs", "from 1 to 1,000")),
    ("sweep toy --seeds 0 -1", ("--seeds", "from 0 to")),
    ("sweep toy --losses smooth-ap nothing", ("loss 'nothing'", "there are: ")),
    ("sweep toy --losses ''", ("loss ''", "there are: ")),
    ("sweep toy --micro-batch 0", ("--micro-batch", "from 1 to")),
    ("sweep toy --set lr=-1", ("optimizer.lr", "0 or above")),
    ("sweep toy --runs spoilt", ("queue.json", "rename or delete it")),
    ("sweep toy --runs odd", ("queue.json", "entries", "rename or delete it")),
    ("sweep toy --ray ''", ("--ray", "HOST:PORT")),
    ("sweep toy --ray 127.0.0.1:1", ("--ray", "127.0.0.1:1", "give HOST:PORT")),
    ("sweep toy --ray 127.0.0.1:99999", ("--ray", "99999", "give HOST:PORT")),
    ("sweep toy --ray nonsense", ("--ray", "nonsense", "give HOST:PORT")),
    ("sweep toy --ray 127.0.0.1:1 --jobs -2", ("--jobs", "from 1 to")),
    ("sweep toy --ray 127.0.0.1:1 --threads 0", ("--threads", "from 1 to")),
    ("evaluate", ("target",)),
    ("evaluate nothing", ("no run 'nothing'",)),
    ("evaluate missing.npz", ("no file missing.npz",)),
    ("evaluate odd.npz", ("must hold embeddings and labels", "it holds x")),
    ("evaluate text.npz", ("text.npz", ".npz")),
    ("evaluate text.safetensors", ("text.safetensors", "safetensors")),
    ("evaluate good.npz --ks 0", ("--ks", "whole number from 1")),
    ("evaluate good.npz --device warp", ("device", "must be")),
    ("evaluate own/half-s0", ("half-s0", "run.json is not whole JSON")),
    ("runs --runs mine.py", ("--runs", "is a file; name a folder")),
    ("runs --runs nowhere", ("--runs nowhere", "name a folder")),
    ("runs --where lr", ("KEY=VALUE", "such as tau=0.02")),
    ("runs --status done", ("--status", "finished")),
    ("runs comparee", ("comparee", "compare")),
    ("runs compare --split tset", ("split", "'test'")),
    ("runs compare --baseline nothing --runs own", ("baseline", "nothing")),
    ("runs compare --metric nothing --runs own", ("nothing", "python -m labkit runs")),
    ("runs show nothing", ("no run 'nothing'",)),
    ("runs show", ("ID",)),
    ("runs import missing.zip", ("missing.zip",)),
    ("runs import mine.py", ("mine.py is not a whole zip file",)),
    ("runs import odd.npz", ("lacks the array embeddings", "it holds x")),
    ("runs import good.npz --runs mine.py", ("--runs", "name a folder")),
    ("runs export nothing -o out.zip", ("no run 'nothing'",)),
    ("runs delete nothing --yes", ("no run 'nothing'",)),
    ("project nothing", ("no run 'nothing'",)),
    ("project whole-s0 --max-points 0 --runs own", ("--max-points", "from 1 to")),
    ("project whole-s0 --seed -1 --runs own", ("--seed", "from 0 to")),
    ("project whole-s0 --methods tsne --runs own", ("--methods", "pca")),
    ("project whole-s0 --runs own", ("embeddings.safetensors is missing",)),
    ("data get nothing", ("nothing", "omniglot")),
    ("losses nothing", ("nothing", "python -m labkit losses")),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with files of every wrong kind; a training that starts is a mistake of the test's subject."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("class Mine:\n    pass\n")
    (tmp_path / "broken.py").write_text("class Mine(:\n")
    make_run(tmp_path / "own", "half-s0").joinpath("run.json").write_text("{")
    make_run(tmp_path / "own", "whole-s0")
    for name, content in (("spoilt", "{"), ("odd", json.dumps({"entries": 7}))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "queue.json").write_text(content)
    np.savez(tmp_path / "odd.npz", x=np.zeros(3))
    np.savez(tmp_path / "good.npz", embeddings=np.eye(4), labels=np.array([0, 0, 1, 1]))
    for kind in ("npz", "safetensors"):
        (tmp_path / f"text.{kind}").write_text("hello")
    for start in ("labkit.training.loop.start", "labkit.surrogates.word_run.start_words"):
        monkeypatch.setattr(start, lambda *_, **__: pytest.fail("a training was started"))
    monkeypatch.setattr("labkit.training.local.detached", lambda *_: pytest.fail("a process was started"))
    return tmp_path


@pytest.mark.parametrize(("line", "said"), WRONG, ids=[line[:60] for line, _ in WRONG])
def test_a_wrong_command_is_refused_with_a_way_out(line, said, folder, capfd):
    before = sorted(path for path in folder.rglob("*") if not path.name.startswith("."))
    try:
        code = main(shlex.split(line))
    except SystemExit as ended:  # argparse's own
        code = ended.code
    message = capfd.readouterr().err
    assert code == 2, message
    assert "Traceback" not in message
    for words in said:
        assert words in message, f"{words!r} is not in: {message}"
    left = sorted(path for path in folder.rglob("*") if not path.name.startswith("."))
    assert [path for path in left if path not in before and path.name != "runs"] == []


def test_there_are_many_of_them():
    assert len(WRONG) >= 60
    assert len({line for line, _ in WRONG}) == len(WRONG)
