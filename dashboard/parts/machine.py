"""What a training takes of the machine, and what is left."""

from __future__ import annotations

import psutil
import streamlit as st

from labkit.runs import Run
from labkit.runs.process import is_alive

GB = 2**30


def show_machine(run: Run) -> None:
    """Processor and memory: the machine's since the last look, and those of the run's process if it is here."""
    memory = psutil.virtual_memory()
    words = [
        f"This machine: {psutil.cpu_percent():.0f} % of {psutil.cpu_count()} cores busy, "
        f"{memory.used / GB:.1f} of {memory.total / GB:.1f} GB of memory taken"
    ]
    if is_alive(run.record.pid, run.record.pid_started, run.record.node):
        try:
            process = psutil.Process(run.record.pid)
            taken, spent = process.memory_info().rss / GB, sum(process.cpu_times()[:2])
            words.append(f"the run: {taken:.2f} GB, {spent:,.0f} s of processor time, {process.num_threads()} threads")
        except psutil.Error:  # it has just ended
            pass
    st.caption("; ".join(words) + ".")
