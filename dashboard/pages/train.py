"""Train: choose data, loss and settings, start, watch, stop, resume; runs queue and go on when the page is closed."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard.pages import place
from dashboard.parts.access import may_change
from dashboard.parts.menus import one_of
from dashboard.parts.runs import own_root
from dashboard.parts.text import as_text
from dashboard.parts.watch import watch
from labkit.base.paths import OWN
from labkit.base.titles import TITLES
from labkit.data.files import DataError
from labkit.losses import CATALOG
from labkit.losses.own import is_own
from labkit.runs.bounds import SEEDS, check_seeds, in_words
from labkit.runs.presets import EMBEDDING, WORDS, describe, kind_of, preset_names
from labkit.runs.read import read_run
from labkit.runs.variant import read_settings, settings_over
from labkit.surrogates.word_config import ARMS, WordConfig, load_any
from labkit.training.config import BASELINES, Config, catalogue_options
from labkit.training.devices import present_devices
from labkit.training.job import Job, sha256_of
from labkit.training.queue import enqueue
from labkit.training.ready import check_data, check_loss, repair

COMMON = {
    "optimizer.lr": ("Learning rate", "of the network; proxies and class vectors have optimizer.proxy_lr"),
    "train.evaluate_every": ("Evaluate every", "number of steps between evaluations on validation classes"),
    "train.checkpoint_every": ("Checkpoint every", "steps between checkpoints; a killed run goes on from the last"),
}
OWN_LOSS = "FILE.py:NAME"
CHOICES = {"convention": ("paper", "official")}
MOST_SEEDS = 20


def page() -> None:
    """Inputs, the command they stand for, Start, and the queue."""
    st.title("Train")
    if not may_change():
        st.info("This dashboard is to look at runs only. Train on a machine of your own.", icon=":material/lock:")
        return
    root = own_root()
    st.caption(
        f"Runs go to `{as_text(str(root))}` and train one after the other on this machine, in processes of their own: "
        "close this page whenever you like. Whoever can open this page can start any Python file of this machine as a "
        "loss; it is served to this machine only, and not at all with `--read-only`."
    )
    jobs = wanted(root)
    there = [str(read_run(root / job.run_ids()[0])) for job in jobs if (root / job.run_ids()[0] / "run.json").exists()]
    if there:
        st.caption(f"{as_text('; '.join(there))}: there already, and stays. The new run gets a number behind its name.")
    many = f"Start {len(jobs)} runs" if len(jobs) > 1 else "Start"
    if st.button(many, type="primary", icon=":material/play_arrow:", disabled=not jobs, key="start"):
        begin(root, jobs)
    watch(root, place)


def parse_seeds(text: str) -> tuple[int, ...]:
    """ "0 1 2" or "0, 1, 2"."""
    words = text.replace(",", " ").split()
    if not words or not all(word.removeprefix("-").isdecimal() and len(word) < 100 for word in words):
        raise ValueError(f"Seeds are whole numbers {in_words(*SEEDS)}, such as 0 1 2; got {text[:80]!r}")
    seeds = check_seeds("Seeds", map(int, words))
    if len(seeds) > MOST_SEEDS:
        raise ValueError(f"At most {MOST_SEEDS} seeds at a time; got {len(seeds)}")
    return seeds


def typed_input(label: str, default: Any, key: str, about: str) -> str | None:
    """An input of the default's type; its value as text if it was changed."""
    options: dict[str, Any] = {"key": key, "help": about, "bind": "query-params"}
    name = key.rpartition(".")[2]
    value: Any
    if isinstance(default, bool):
        value = st.toggle(label, default, **options)
    elif isinstance(default, int):
        value = st.number_input(label, value=default, step=1, **options)
    elif isinstance(default, float):
        value = st.number_input(label, value=default, step=abs(default) / 10 or 0.1, format="%g", **options)
        value = None if value is None else float(f"{value:.6g}")  # steps of a tenth add up to 0.30000000000000004
    elif name in CHOICES:
        value = st.selectbox(label, CHOICES[name], CHOICES[name].index(default), **options)
    else:
        value = st.text_input(label, str(default), **options)
        return None if value.strip() == str(default) else value.strip()
    return None if value is None or value == default else str(value)


def common_inputs(config: Config | WordConfig) -> dict[str, str]:
    """Length and rates; a preset that counts epochs is asked for epochs."""
    length = "train.epochs" if config.train.epochs else "train.steps"
    shown = {length: ("Epochs" if config.train.epochs else "Steps", "length of the training"), **COMMON}
    found = {}
    for column, (name, (label, about)) in zip(st.columns(len(shown), vertical_alignment="bottom"), shown.items()):
        section, _, entry = name.partition(".")
        with column:
            found[name] = typed_input(label, getattr(getattr(config, section), entry), f"{config.preset}.{name}", about)
    return {name.rpartition(".")[2]: value for name, value in found.items() if value is not None}


def options_inputs(config: Config | WordConfig) -> dict[str, str]:
    """The options of the loss, with what the preset has found to suit, else their defaults."""
    if config.loss in BASELINES:
        st.caption("This baseline is measured as it is: it has no options and takes no training step.")
        return {}
    options = usual_options(config)
    if not options:
        st.caption(f"{TITLES.get(config.loss, config.loss)} has no options.")
    found = {}
    for column, (name, (default, about)) in zip(st.columns(max(4, len(options))), options.items()):
        with column:
            found[name] = typed_input(name, default, f"{config.preset}.{config.loss}.{name}", about)
    return {name: value for name, value in found.items() if value is not None}


def usual_options(config: Config | WordConfig) -> dict[str, tuple[Any, str]]:
    """Every option of the loss: its value without a change, and words about it."""
    if isinstance(config, WordConfig):
        return {name: (value, "") for name, value in config.loss_options.items()}
    signature, sources = catalogue_options(config.loss), CATALOG[config.loss].defaults
    options = {}
    for name in [*sources, *(["convention"] if "convention" in signature else [])]:
        about = sources.get(name, ("", "the paper's formula, or that of the released code"))[1]
        if name in config.loss_options:
            about = f"set by the preset; {about}"
        options[name] = (config.loss_options.get(name, signature[name].default), about)
    return options


def choose() -> tuple[str, str, str, str]:
    """Preset, loss, the line of seeds, and the device."""
    left, middle, right, last = st.columns([3, 3, 2, 2], vertical_alignment="bottom")
    presets = preset_names(EMBEDDING, WORDS)  # a codec takes hours: `python -m labkit train codec`
    preset = left.selectbox(
        "Data set and setting (preset)", presets, presets.index("toy"), key="preset", bind="query-params"
    )
    losses = [*ARMS] if kind_of(preset) == WORDS else [*CATALOG, *BASELINES, OWN_LOSS]
    titles = {name: TITLES.get(name, name) for name in losses} | {OWN_LOSS: "my own, FILE.py:NAME"}
    with middle:
        loss = one_of("Loss", {name: titles[name] for name in losses}, load_any(preset).loss, "loss")
    seeds = right.text_input(
        "Seeds", "0", key="seeds", bind="query-params", help="one run for each; comparisons need at least three"
    )
    device = last.selectbox(
        "Device",
        present_devices(),
        key="device",
        bind="query-params",
        help="auto: CUDA, then MPS, then the CPU. This machine has what is offered here.",
    )
    st.caption(as_text(describe(preset)))
    return preset, loss, seeds, device


def own_loss() -> str:
    """FILE.py:NAME as typed. Not in the URL: whoever follows a link must not run a file by that."""
    return st.text_input(
        "Loss of your own",
        key="own",
        placeholder="mine.py:MyLoss",
        help="A class or function in a file that gives a Module, called with embeddings and labels; it gets "
        "num_classes and dim if it takes them. Its options go into the settings below. The file is read here and runs "
        "in the training only.",
    ).strip()


def wanted(root: Path) -> list[Job]:
    """The runs that the inputs describe; if they would not start, the page says why and there are none."""
    preset, loss, seeds, device = choose()
    own = own_loss() if loss == OWN_LOSS else ""
    usual = load_any(preset, None if loss == OWN_LOSS else loss)
    settings = common_inputs(usual) | ({} if loss == OWN_LOSS else options_inputs(usual))
    line = st.text_input(
        "Other settings (KEY=VALUE, with blanks between)",
        key="settings",
        bind="query-params",
        placeholder="batch.classes=16 model.dim=3",
        help="as after --set in a terminal; wins over the inputs above",
    )
    if loss == OWN_LOSS and not own:
        st.info("Type the file and the name of your loss, such as mine.py:MyLoss.", icon=":material/info:")
        return []
    try:
        settings = settings_over(settings, read_settings(shlex.split(line)))
        if own and not is_own(own):
            raise ValueError("A loss of your own is typed as FILE.py:NAME")
        config = load_any(preset, own or loss, settings)
        if isinstance(config, Config):
            check_loss(config)
        chosen = Job(preset, own or loss, (), settings, device=device, loss_sha256=sha256_of(own or loss))
        jobs = [replace(chosen, seeds=(seed,)) for seed in parse_seeds(seeds)]
    except ValueError as error:
        st.error(as_text(str(error), 1000), icon=":material/error:")
        return []
    if isinstance(config, Config) and not data_there(config):
        return []
    if own:
        say_what_runs(own, chosen.loss_sha256)
    where = "" if root == OWN.resolve() else f" --runs {shlex.quote(str(root))}"
    st.code("\n".join(job.command() + where for job in jobs), language="bash", wrap_lines=True)
    return jobs


def say_what_runs(own: str, sha256: str) -> None:
    """What Start will do with a file of the user's."""
    st.caption(
        f"Start runs {as_text(own.rpartition(':')[0])} with your rights, in the process that trains. Until then it is "
        f"only read. If it is no longer the file read now (SHA-256 {sha256[:12]}…) when the training begins, it is not "
        "run."
    )


def data_there(config: Config) -> bool:
    """Whether the data are there; if not, the page says how to get them."""
    try:
        check_data(config)
    except (DataError, ValueError) as error:
        st.warning(as_text(str(error), 1000), icon=":material/database:")
        st.code(repair(config), language="bash")
        return False
    return True


def begin(root: Path, jobs: list[Job]) -> None:
    """Put the runs into the queue; the same run is not put there twice."""
    try:
        new = enqueue(root, jobs)
    except (OSError, ValueError) as error:
        st.error(as_text(str(error)), icon=":material/error:")
        return
    if len(new) < len(jobs):
        st.info(f"{len(jobs) - len(new)} of these runs wait or run already; they are not started twice.")
