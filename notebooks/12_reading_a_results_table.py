# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 12. Reading a results table
#
# **A row in a table is one draw. What it claims depends on the seeds, the budget and the tuning behind it.**
#
# About 50 minutes of reading and trying; the cells run in about a minute on a laptop CPU. You need: what the losses of
# lessons 3 to 9 do, at least by name, and what a mean and a standard deviation are.
#
# Words and symbols that you do not know are in the [glossary](GLOSSARY.md).

# %%
import labkit

labkit.start()

# %% [markdown]
# ## What you will be able to do
#
# | goal | exercise |
# |---|---|
# | check a percentage that a paper prints | 12.1 |
# | give a mean over seeds its interval | 12.2 |
# | compare two losses seed by seed | 12.3 |
#
# and, without an exercise: train a loss of your own and see it beside ours.
#
# ## First, the real thing
#
# Here are two losses with ten seeds each, from the recorded runs: Smooth-AP and PNP-D_s on the 2-D toy, clusters placed
# at random. Most papers print one seed, or the mean of three. We draw one seed of each, a thousand times, and count who
# wins.

# %%
import textwrap

import numpy as np
from IPython.display import Markdown

from labkit import papers
from labkit.base.paths import RECORDED
from labkit.explorers.sliders import Control
from labkit.figures.forest import forest
from labkit.figures.lessons import reading_a_results_table as figures
from labkit.figures.results import results
from labkit.runs import find_runs, paired_difference, spread, table
from labkit.runs.claims import findings, surviving

toy = labkit.experiment("toy", ["smooth-ap", "pnp-ds"], seeds=range(10), **{"data.layout": "random"})
labkit.show(
    results(toy, "R@1"),
    "Recall@1 on unseen classes of the toy with random clusters: ten seeds of Smooth-AP and of PNP-D_s, means and 95 % "
    "intervals. The seeds of each loss spread far wider than the means differ.",
)

# %% jupyter={"source_hidden": true}
values = {row.loss: np.array(row.values) for row in table(toy, "R@1").itertuples()}
rng = np.random.default_rng(0)
better, worse = sorted(values, key=lambda name: -values[name].mean())
draws = [(rng.choice(values[better]), rng.choice(values[worse])) for _ in range(1000)]
wrong = sum(b < w for b, w in draws) / 10
points = 100 * (values[better].mean() - values[worse].mean())
labkit.predict("12.1", better=better, worse=worse, points=points, wrong=wrong)

# %% [markdown]
# ## How wide is a mean?
#
# Let $x_1, \dots, x_n$ be the results of $n$ seeds, with mean $\bar x$ and standard deviation $s$ (divided by $n - 1$).
# If they are normally distributed, the true mean lies in Student's interval in 95 % of the tables:
#
# $$\bar x \pm t_{n-1}\,\frac{s}{\sqrt n}$$
#
# where $t_{n-1}$ is the 0.975 quantile of Student's distribution with $n - 1$ degrees of freedom: 12.7 for two seeds,
# 4.30 for three, 2.26 for ten. Two losses that ran with the same seeds saw the same first weights and the same batches.
# What the seed does to both cancels in the difference, so we take the interval of the differences
# $d_i = x_i - y_i$, seed by seed. (Many papers print $\pm s$, or do not say what their ± is.)


# %%
def t_interval(values):
    """Student's 95 % interval of the mean."""
    from scipy.stats import t

    values = np.asarray(values, dtype=float)
    error = values.std(ddof=1) / len(values) ** 0.5
    half = t.ppf(0.975, len(values) - 1) * error
    return values.mean() - half, values.mean() + half


def paired(ours, baseline):
    """The interval of the difference, seed by seed."""
    return t_interval(np.subtract(ours, baseline))


# %% [markdown]
# Is it right? Against scipy, and against the comparison that the whole project uses.

# %%
from scipy.stats import t, ttest_rel

mine = t_interval(values["smooth-ap"])
scipy_says = t.interval(0.95, 9, values["smooth-ap"].mean(), values["smooth-ap"].std(ddof=1) / 10**0.5)
assert np.allclose(mine, scipy_says)
found = paired_difference(toy, "toy_smooth-ap_layout=random", "toy_pnp-ds_layout=random")
assert np.allclose(paired(values["smooth-ap"], values["pnp-ds"]), (found.low, found.high))
assert np.allclose(
    tuple(ttest_rel(values["smooth-ap"], values["pnp-ds"]).confidence_interval()), (found.low, found.high)
)
print(f"Smooth-AP − PNP-D_s: {100 * found.mean:+.1f} points [{100 * found.low:+.1f}, {100 * found.high:+.1f}]")

# %% [markdown]
# ## How many seeds do you need?
#
# Two losses differ by a true difference; both scatter over seeds with a standard deviation. How often does the worse
# one have the higher mean? Move the sliders. With one seed and a spread as large as the difference, about one table in
# four is upside down.

# %% jupyter={"source_hidden": true}
labkit.explore(
    figures.wrong_winner,
    [
        Control("difference", "true difference (points)", (0.2, 0.5, 1.0, 2.0), 0.5),
        Control("sd", "spread over seeds (points)", (0.3, 0.6, 1.0, 2.0), 1.0),
        Control("seeds", "seeds", (1, 2, 3, 5, 10, 20), 3),
    ],
    [{"seeds": 1}, {"seeds": 3}, {"seeds": 20}],
    "Density of the observed difference of two losses whose true difference is 0.5 points, with a spread of 1 point over "
    "seeds. The part below zero, where the worse loss wins, is 36 % with one seed, 27 % with three, 6 % with twenty.",
)

# %% [markdown]
# And which ± can be trusted? We draw tables from a known truth and count how often three kinds of ± hold the true mean.

# %%
SEEDS = (2, 3, 5, 10, 20)
labkit.show(
    figures.coverage(spread.coverage(SEEDS, trials=400 if labkit.fast() else 4000), SEEDS),
    "Share of simulated tables whose interval contains the true mean, against the number of seeds. Student's interval "
    "contains it in 95 % for every number of seeds. The percentile bootstrap contains it in about half of the tables with two seeds "
    "and 72 % with three. Mean ± standard error never reaches 70 %.",
)

# %% [markdown]
# ## An experiment: all losses, one budget
#
# Every loss of the course on Omniglot: the same network, the same 2000 steps of 128 images, the same four tuning trials
# on validation alphabets, the same seeds. Test alphabets were looked at once, at the end.
# `RETRAIN = True` trains everything again (about two CPU hours; it needs Omniglot: `python -m labkit data get omniglot`).

# %%
RETRAIN = False
LOSSES = [
    "untrained", "smooth-ap", "pnp-o", "pnp-iu", "pnp-ib", "pnp-ds", "pnp-dq", "recall-at-k", "recall-at-k-simix",
    "proxy-nca", "proxy-anchor", "soft-triple", "mpa", "mpa-dw", "mpa-ap", "softmax", "norm-softmax", "sgsl",
    "contrastive", "triplet", "multi-similarity",
]  # fmt: skip
omniglot = labkit.experiment("omniglot", LOSSES, retrain=RETRAIN)
trained = [run for run in omniglot if run.loss != "untrained"]
labkit.show(
    results(trained, "R@1"),
    "Recall@1 on unseen Omniglot characters for every loss: seeds, mean, and 95 % interval of the mean. Many intervals "
    "overlap: the order of most neighbours in this table is not a result.",
)

# %% [markdown]
# The untrained network, left out of the figure to keep its scale, scores about 19 %. A table without that row hides how much of a number is the network's own.
# Training budgets can turn an order round, too: [lesson 8](08_proxies.ipynb) shows it.
#
# ### The best of many looks
#
# Some released code evaluates on the test set after every epoch and reports the best (dml_cross_entropy, the base of
# SGSL's code). How much does picking the best gain? Our runs look at *validation* alphabets ten times on the way. Take the best of
# these looks instead of the last:

# %%
gain = spread.gain_of_picking(trained)
display(gain.head(8).round(2).rename(columns={"mean": "gain (points)", "max": "largest of a seed", "count": "seeds"}))
print(f"mean over all losses: {gain['mean'].mean():+.2f} points, for nothing but looking ten times")

# %% [markdown]
# ## The papers' claims and ours
#
# A claim here is one or more paired differences. Its verdict follows from the 95 % interval and from a margin, within
# which two results count as equal; the margin was fixed before (1 point of R@1, on emoji 2). It *held* if the interval
# lies on the claimed side of zero, is *contradicted* if it lies on the other, *equal* if it lies within the margin, and
# *not resolved* if these seeds cannot tell. A claim that says several things is as good as the weakest of them. "Not
# resolved" is not "refuted": an earlier table of ours put both, and "equal", into one box called "did not hold". And none
# of it says what is so at the paper's scale: ImageNet weights, photographs, large batches.

# %%
found = list(findings(find_runs(RECORDED)))
told, tested = surviving(found)
labkit.show(
    forest(found),
    alt="Forest plot: every claimed difference in points with its 95 % interval over seeds. A few lie clearly right of "
    "zero (held), a few clearly left (contradicted), some within the green margin (equal), most cross its border (not "
    "resolved).",
)
print(f"{told} of {tested} differences are told from zero when it counts that they are many (Benjamini and Hochberg)")

# %%
for paper in ("pnp", "slides", "mpa", "sgsl"):
    display(Markdown(f"**{papers.PAPERS[paper].title}**"))
    labkit.claims(paper)

# %% [markdown]
# For one row, the paper's own numbers: what a reader of Table 1 of the PNP paper sees. One seed (the paper says seed 0),
# no interval.

# %%
display(papers.pivot("pnp", "1"))

# %% [markdown]
# ## What the released code does differently
#
# <details><summary>Differences, with our switches and what they do; errata</summary>
#
# The papers compare with numbers copied from other papers. The code behind those numbers often had another budget:
#
# | where | what | why it matters |
# |---|---|---|
# | SGSL, Table 3 (E-SG-5) | the baseline's 89.3 on Cars196 is copied; the authors' own rerun, in Table 4, gives 91.9 | the gain is 2.3 points, not 5.4 |
# | Proxy-Anchor's code | proxies learn 100 times faster than the backbone; in the ProxyNCA it compares with, proxies were not optimised at first | the baseline was not trained |
# | PNP's code | defaults differ from the paper in α, b, samples per class, seed, dimension and schedule | the printed numbers need the paper's settings |
# | slides, FEDS (E-SL-8) | 0.953 → 0.954 is printed as +0.62 % | rounding allows at most 0.21 % |
# | slides, ablation (E-SL-9) | two rows agree in all six columns | probably a copy error |
#
# Each is checked in this project; `labkit.papers.errata()` has them all.
#
# </details>

# %%
for name in ("E-SG-5", "E-SL-6", "E-SL-8", "E-SL-9"):
    print(textwrap.fill(f"{name}: {papers.errata()[name]}", 110), end="\n\n")

# %% [markdown]
# ## Your own loss, your own run
#
# A loss is a Module in any file. The command line trains it like one of ours, and notes the file's checksum in
# `run.json`:
#
# ```
# python -m labkit train toy --loss mine.py:MyLoss --seed 0 1 2 --set data.layout=ring
# python -m labkit runs compare --preset toy
# make dashboard
# ```
#
# Runs go to `runs/`; the dashboard and `labkit runs` show them beside the recorded ones. Here, the same from a cell, into
# a folder that is thrown away: a loss with the derivative $(1 + R)^{-1.5}$, between D_s and D_q.

# %%
import subprocess
import sys
import tempfile
from pathlib import Path

thrown_away = tempfile.TemporaryDirectory()  # with the kernel
folder = Path(thrown_away.name)
(folder / "mine.py").write_text("""
from labkit import losses

def MyLoss(power=1.5):
    return losses.from_derivative(lambda R: 1 / (1 + R) ** power)
""")
command = [sys.executable, "-m", "labkit", "train", "toy", "--loss", f"{folder / 'mine.py'}:MyLoss", "--seed", "0", "1"]
command += ["2", "--set", "data.layout=ring", *(["steps=20"] if labkit.fast() else []), "--runs", str(folder / "runs")]
command += ["--threads", "1"]  # a network this small only waits for a second thread
subprocess.run(command, check=True, capture_output=True)
own = find_runs(folder / "runs")
rivals = labkit.experiment("toy", ["pnp-ds", "pnp-dq", "pnp-ib", "untrained"], **{"data.layout": "ring"})
labkit.show(
    results([*own, *rivals], "R@1", {run.group: "MyLoss" for run in own}),
    "Recall@1 on unseen classes of the toy ring, three seeds: the loss from the cell above beside recorded ones.",
)

# %% [markdown]
# To add it for good, with a card, tests and a place in the catalogue: see *A loss* in
# [CONTRIBUTING](../CONTRIBUTING.md).
#
# ## Exercises
#
# **12.1 An error reduction** (easy, 3 minutes). The slides print that the total edit distance on ICDAR'03 fell from 151
# to 119, "26.89 %". Write the function and see what it should be (E-SL-6).
#
# <details><summary>Hint</summary>By how much of the old value did it fall?</details>


# %%
def error_reduction(old: float, new: float) -> float:
    raise NotImplementedError


labkit.check.error_reduction(error_reduction)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def error_reduction(old, new):
#     return 100 * (old - new) / old  # 21.19 for the slides' row
# ```
# </details>
#
# **12.2 The interval of a mean** (medium, 8 minutes). Without the function above: Student's 95 % interval of the mean, as
# `(low, high)`. `scipy.stats.t.ppf(p, degrees)` gives the quantile.
#
# <details><summary>Hint 1</summary>How many degrees of freedom are left after the mean is taken?</details>
# <details><summary>Hint 2</summary>2.5 % of the distribution stay out on each side.</details>


# %%
def my_interval(values: list[float]) -> tuple[float, float]:
    raise NotImplementedError


labkit.check.t_interval(my_interval)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def my_interval(values):
#     n = len(values)
#     half = t.ppf(0.975, n - 1) * np.std(values, ddof=1) / n**0.5
#     return np.mean(values) - half, np.mean(values) + half
# ```
# </details>
#
# **12.3 Two losses, the same seeds** (easy, 5 minutes). The interval of `ours − baseline`; entry i of both lists is seed
# i.
#
# <details><summary>Hint</summary>First one number a seed, then the interval of those numbers.</details>


# %%
def paired_interval(ours: list[float], baseline: list[float]) -> tuple[float, float]:
    raise NotImplementedError


labkit.check.paired_interval(paired_interval)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def paired_interval(ours, baseline):
#     return my_interval([a - b for a, b in zip(ours, baseline)])
# ```
# </details>
#
# ## Break it
#
# **Search until it shines.** Give twenty copies of the *same* loss one seed each and publish the best: here, random
# numbers with the spread of our Omniglot runs. The "gain" over the honest mean is pure luck. Now look at the row of a
# paper that tried five variants, and ask how many were not printed.

# %%
spread = 100 * table(trained, "R@1")["sd"].median()
rng = np.random.default_rng(1)
for tried in (1, 2, 5, 20):
    best = rng.normal(0, spread, (4000, tried)).max(1).mean()
    print(f"best of {tried:>2} equal losses, one seed each: {best:+.2f} points over their true mean")

# %% [markdown]
# ## Can you answer these?
#
# 1. What can ± mean in a table, and which meaning holds the true mean in 95 % of the tables with three seeds?
# 2. Why are two losses compared seed by seed?
# 3. Why does a results table need the untrained network as a row?
# 4. Two intervals overlap. May the paired difference still be clear? Why?
# 5. What does "the best test epoch" do to a number, and how do you avoid it?
# 6. Why is an equal number of steps not always an equal chance? (Think of tuning.)
# 7. What does "not resolved" say about a paper's claim, and what does "equal" say that it does not?
#
# ## Summary
#
# One seed is an anecdote. Three seeds give a wide interval, and an honest one. Compare seed by seed, on the same budget,
# with the same tuning, and show the baselines that need no training. Most neighbours in a table are not
# distinguishable, and that is a result, too.
#
# ## Reading
#
# - Musgrave, Belongie, Lim, *A Metric Learning Reality Check*, ECCV 2020: with equal settings most gains of four years
#   of papers disappear.
# - Bouthillier et al., *Accounting for Variance in Machine Learning Benchmarks*, MLSys 2021: where the spread over
#   seeds comes from.
# - Student, *The Probable Error of a Mean*, Biometrika 1908: the interval of this lesson.
#
# In the dashboard (`make dashboard`): [every table of the papers beside our findings](http://127.0.0.1:8501/papers).
#
# The numbers behind this page: [data/runs](../data/runs/README.md). Back to [1. Start here](01_start_here.ipynb).
