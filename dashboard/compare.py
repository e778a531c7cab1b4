"""Compare runs: means, seeds, intervals, differences to a baseline, curves, cost, and the way to repeat it all."""

import io
from functools import partial

import streamlit as st
from common import as_text, choose_preset, devices, figure_names, finished_runs, legend_on_top, short_names, show_tabs

from labkit.explorers.columns import side_by_side
from labkit.figures.comparison import METRICS, cost_against_quality, differences, differences_to, profiles, shown
from labkit.figures.results import results, training_curves
from labkit.figures.static import small_multiples
from labkit.runs import table, to_csv, to_latex

BASELINES = ("untrained", "pixels")  # not trained: far below, and yet in every table
CURVES = 7  # lines that colours and dashes can tell apart


def first_baseline(order: list[str], plain: list[str]) -> int:
    """Smooth-AP where it is there: the ranking loss that the others were built on; else the best."""
    usual = [group for group in plain if group.endswith("_smooth-ap")]
    return order.index((usual or plain or order)[0])


st.title("Compare runs")
everything = finished_runs()
left, middle, right = st.columns([2, 1, 2])
with left:
    preset, runs = choose_preset(everything)
names = short_names(runs)
available = [metric for metric in METRICS if any(run.value(metric) is not None for run in runs)]
if not available:
    st.warning("These runs have no test results. Choose another preset, or train one with a test.")
    st.stop()
metric = middle.selectbox("Metric", available, key="metric", bind="query-params")
order = list(table(runs, metric)["group"])
plain = [group for group in order if ", " not in names.get(group, group)]  # with the preset's own settings
baseline = right.selectbox(
    "Baseline", order, first_baseline(order, plain), key="baseline", bind="query-params",
    format_func=lambda group: names.get(group, group),
)  # fmt: skip
chosen = st.multiselect(
    "Losses and settings (empty: every loss)", order, key="groups", bind="query-params",
    format_func=lambda group: names.get(group, group),
)  # fmt: skip
left, right = side_by_side("which", 2, 320)
varied = len(order) - len(plain) if plain and not chosen else 0
if varied and not left.toggle(f"Also the {varied} with settings of their own", key="varied", bind="query-params"):
    chosen = plain
runs = [run for run in runs if run.group in (chosen or order) or run.group == baseline]
frame = table(runs, metric)
few = sum(n < 3 for n in frame["n"])
weak = f"; {few} {'have' if few > 1 else 'has'} fewer than three seeds: no claim rests on {'them' if few > 1 else 'it'}"
st.caption(
    f"{len(frame)} of {len(order)} configurations, {len(runs)} runs. Made on: {as_text(devices(runs))}. "
    f"Intervals are Student's, 95 %{weak if few else ''}."
)
for note in frame.attrs["notes"]:
    st.warning(as_text(note))

untrained = any(run.loss in BASELINES for run in runs)
zoomed = untrained and (right if varied else left).toggle(
    "Only trained networks in the figures", value=True, key="zoom", bind="query-params",
    help="Untrained networks and plain pixels lie far below and would press all others together.",
)  # fmt: skip
near = [run for run in runs if not zoomed or run.loss not in BASELINES]
best = list(frame["group"])[:CURVES]
labels = figure_names(names)


def show_results() -> None:
    """Every seed, the mean and its interval, as a figure and as a table."""
    st.plotly_chart(
        legend_on_top(results(near, metric, labels)), theme=None, key="results",
        alt=f"{metric} of every configuration on test classes: seeds, mean and 95 % interval.",
    )  # fmt: skip
    st.dataframe(
        [
            {
                "configuration": names.get(group, group), "seeds": n, metric: shown(mean, metric),
                "95 % interval": "one seed: none" if n < 2 else f"{shown(low, metric)} … {shown(high, metric)}",
                "bootstrap": "" if n < 2 else f"{shown(blow, metric)} … {shown(bhigh, metric)}",
                "every seed": ", ".join(shown(value, metric) for value in values),
            }
            for group, n, mean, low, high, blow, bhigh, values in zip(
                *(frame[c] for c in ("group", "n", "mean", "low", "high", "bootstrap_low", "bootstrap_high", "values"))
            )
        ],
        hide_index=True,
    )  # fmt: skip
    st.caption("The percentile bootstrap is too narrow with few seeds (lesson 12); the t interval is the one to read.")


def show_differences() -> None:
    found = differences_to(runs, {run.group for run in near}, baseline, metric)
    if not found:
        st.info("Nothing shares a seed with the baseline. Choose another baseline, or train more seeds.")
        return
    st.plotly_chart(
        differences(found, labels), theme=None, key="differences",
        alt=f"Difference in {metric} to the baseline, paired by seed, with 95 % intervals.",
    )  # fmt: skip
    st.caption("Filled: the interval leaves out zero. Hollow: the seeds there are cannot tell.")


def show_training() -> None:
    drawn = [run for run in runs if run.group in best]
    st.plotly_chart(
        legend_on_top(training_curves(drawn, metric, labels)), theme=None, key="curves",
        alt=f"Validation {metric} during training of the {len(best)} best configurations.",
    )  # fmt: skip
    st.caption(f"Showing the {len(best)} best of {len(frame)}; choose configurations above to see others.")


def show_metrics() -> None:
    st.plotly_chart(
        legend_on_top(profiles([run for run in runs if run.group in best], labels)), theme=None, key="profiles",
        alt="Every metric of the best configurations, each from the lowest to the highest of them.",
    )  # fmt: skip
    st.caption("Lines that cross: the metrics disagree about the order. intra: smaller is tighter.")


def show_cost() -> None:
    st.caption("Named: nothing cheaper is better. The others tell their name under the cursor.")
    st.plotly_chart(
        cost_against_quality(near, metric, labels), theme=None, key="cost",
        alt=f"CPU time of a run against its {metric}.",
    )  # fmt: skip


def picture(kind: str) -> bytes:
    """The figure of the results as a file; drawn when it is asked for."""
    buffer = io.BytesIO()
    small_multiples([results(runs, metric, labels)], columns=1).savefig(buffer, format=kind)
    return buffer.getvalue()


def show_export() -> None:
    files = {"csv": to_csv(frame), "tex": to_latex(frame)}
    files |= {kind: partial(picture, kind) for kind in ("png", "svg")}
    for column, (kind, content) in zip(st.columns(4), files.items()):
        name = f"{preset}_{metric}.{kind}".replace("@", "")
        column.download_button(f"Save as .{kind}", content, name, on_click="ignore")
    st.markdown("Command lines that make these runs again")
    st.code("\n".join(sorted({run.text("command") for run in runs if run.text("command")})), language="bash")


show_tabs(
    {
        "Results": show_results, "Differences": show_differences, "During training": show_training,
        "All metrics": show_metrics, "Cost": show_cost, "Export": show_export,
    }
)  # fmt: skip
