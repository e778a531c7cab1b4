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
# # 2. Metrics that disagree
#
# **One name, several formulas: before you train on a metric, or compare two papers by it, read how it divides.**
#
# About 45 minutes of reading and trying; the cells run in under a minute on a laptop CPU. You need: what a query, a
# gallery and a positive are ([lesson 1](01_start_here.ipynb)), and a little Python.
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
# | say which of three recalls a paper means, and compute the usual one | 2.1 |
# | compute average precision at k, and name the four ways to divide it | 2.2 |
# | compute nDCG@k with the right ideal list | 2.3 |
#
# ## First, the real thing
#
# A query has four relevant items (positives) in its gallery of 20. The first ten items of its ranking are
# `1000000000`: one positive at the top, then nothing. We ask two well-known libraries for MAP@10 of this list, and
# compute it as the MPA paper does. Three answers.

# %%
import textwrap

import torch
from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator
from torchmetrics.functional.retrieval import retrieval_average_precision, retrieval_normalized_dcg

from labkit import metrics

R = 4  # relevant items in the gallery


def gallery(ten):
    """A whole ranking of 20 items: the given ten, then what is left, the relevant ones last."""
    relevance = [int(mark) for mark in ten]
    missing = R - sum(relevance)
    return torch.tensor(relevance + [0] * (10 - missing) + [1] * missing)


def by_pml(relevance):
    """MAP@10 by pytorch-metric-learning: a query, and items further and further away from it on a circle."""
    angle = torch.linspace(0.1, 2.0, len(relevance))
    items, query = torch.stack([angle.cos(), angle.sin()], 1), torch.tensor([[1.0, 0.0]])
    calculator = AccuracyCalculator(include=("mean_average_precision",), k=10, device=torch.device("cpu"))
    return calculator.get_accuracy(query, torch.tensor([1]), items, relevance)["mean_average_precision"]


def by_torchmetrics(relevance):
    """MAP@10 by torchmetrics: falling scores."""
    return retrieval_average_precision(torch.linspace(1, 0, len(relevance)), relevance, top_k=10).item()


whole = gallery("1000000000")
print(f"MPA paper                {100 * metrics.average_precision_at_k(whole[:10], 10, R, 'k').item():5.1f}")
print(f"pytorch-metric-learning  {100 * by_pml(whole):5.1f}")
print(f"torchmetrics             {100 * by_torchmetrics(whole):5.1f}")

# %% [markdown]
# None of them has a bug. They divide the same sum by different numbers: by k = 10, by R = 4, by the hits found, 1.

# %% jupyter={"source_hidden": true}
labkit.predict("2.1")

# %% [markdown]
# ## The metrics of a list
#
# Let $\mathrm{rel}_i$ be 1 if the item at rank $i$ is relevant and 0 otherwise, $R$ the number of relevant items in the
# gallery, and $\mathrm{hits}(k) = \sum_{i \le k} \mathrm{rel}_i$.
#
# **Recall@k** has three modes:
#
# $$\text{any: } \mathbb{1}\{\mathrm{hits}(k) > 0\}, \qquad \text{fraction: } \frac{\mathrm{hits}(k)}{R}, \qquad
# \text{capped: } \frac{\mathrm{hits}(k)}{\min(k, R)}$$
#
# Retrieval papers report *any*. Textbooks mean *fraction*. The RS@k loss of [lesson 4](04_recall_at_k.ipynb) smooths
# the *fraction*, and its released code the *capped* one (E-SL-4).
#
# **Average precision at k** adds up the precision at each hit:
#
# $$\mathrm{AP@}k = \frac{1}{d} \sum_{i \le k} \mathrm{rel}_i\, \frac{\mathrm{hits}(i)}{i}, \qquad
# d \in \{k,\ R,\ \min(k, R),\ \mathrm{hits}(k)\}$$
#
# MAP@k is its mean over queries. **MAP@R** sets $k = d = R$, for each query its own; nothing is left to choose.
#
# **nDCG@k** (MPA paper, Eqs. 19, 20) gives every hit a gain that falls with the rank, and divides by the best that was
# possible:
#
# $$\mathrm{DCG@}k = \sum_{i \le k} \frac{2^{\mathrm{rel}_i} - 1}{\log_2(i + 1)}, \qquad
# \mathrm{nDCG@}k = \frac{\mathrm{DCG@}k}{\mathrm{DCG@}k \text{ of the best list}}$$
#
# ## A ranking to rearrange
#
# Ten drawings; the pandas are relevant, four of them are in the gallery. Drag one to another rank, or begin with another
# of the paper's five lists. Move the cut-off, too, and see which metrics notice.

# %% jupyter={"source_hidden": true}
from labkit.explorers.lessons.metrics_that_disagree import explore_ranking

explore_ranking()

# %% [markdown]
# Try this: drag rank 1 to rank 2. Then rank 10 to rank 9. Which metrics see the first but not the second? Which of the
# three recalls can tell `1010000000` from `1000000001`?
#
# ## The paper's number and ours
#
# The MPA paper (Table 3) uses these five lists to argue for nDCG@10. Theirs first, then ours, then what the other
# denominators say.

# %%
import pandas as pd

from labkit import papers
from labkit.explorers.lessons.metrics_that_disagree import LISTS

printed = papers.pivot("mpa", "3").droplevel("dataset", axis=1)
lists = {"".join(map(str, relevance)): relevance for relevance in LISTS.values()}
ours = pd.DataFrame(
    {
        "R@10": [metrics.recall_at_k(relevance, 10, R).item() for relevance in lists.values()],
        "P@10": [metrics.precision_at_k(relevance, 10).item() for relevance in lists.values()],
        "MAP@R": [metrics.map_at_r(relevance, R).item() for relevance in lists.values()],
        "MAP@10": [metrics.average_precision_at_k(relevance, 10, R, "k").item() for relevance in lists.values()],
        "nDCG@10": [metrics.ndcg_at_k(relevance, 10, R).item() for relevance in lists.values()],
    },
    index=list(lists),
)
difference = ((100 * ours).loc[printed.index] - printed).abs().to_numpy().max()
assert difference <= 0.05  # all 25 numbers, to the digit that is printed
print("MPA paper, Table 3")
display(printed)
print(f"computed here; largest difference {difference:.3f}, by rounding")
display((100 * ours).round(3))

# %% [markdown]
# All 25 numbers are right, under two conventions that the paper does not state: Recall@10 is any-hit, MAP@10 is divided
# by k (E-MPA-11; the caption's "last column" is the last row). The paper concludes that "Recall@10, Precision@10, MAP@R,
# and MAP@10 cannot evaluate the search results sufficiently, while nDCG@10 can". That holds for the first three: each
# gives some of the lists the same value. For MAP@10 it rests on dividing by k (E-MPA-12):

# %%
ways = {
    "MPA paper: / k": "k",
    "pytorch-metric-learning: / R": "relevant",
    "/ min(k, R)": "min",
    "torchmetrics, OML: / hits": "hits",
}
table = pd.DataFrame(
    {
        name: [100 * metrics.average_precision_at_k(relevance, 10, R, way).item() for relevance in lists.values()]
        for name, way in ways.items()
    },
    index=list(lists),
)
table["nDCG@10"] = 100 * ours["nDCG@10"]
for ten in lists:  # the two libraries themselves, not our idea of them
    assert abs(100 * by_pml(gallery(ten)) - table.loc[ten, "pytorch-metric-learning: / R"]) < 1e-3
    assert abs(100 * by_torchmetrics(gallery(ten)) - table.loc[ten, "torchmetrics, OML: / hits"]) < 1e-3
    scores = torch.linspace(1, 0, 20)
    assert abs(100 * retrieval_normalized_dcg(scores, gallery(ten), top_k=10).item() - table.loc[ten, "nDCG@10"]) < 1e-3
table.round(1)

# %% [markdown]
# Divided by min(k, R), MAP@10 orders the five lists as nDCG@10 does and gives the perfect list 100. Divided by the hits,
# the first list is as good as the perfect one. (Here k > R, so R and min(k, R) agree; they differ where k < R.)
#
# ## Three recalls of one network
#
# A real run: PNP-D_q on Omniglot, 20 drawings of a character, so R = 19. Its "recall@10" is
# 96 % (any hit) or 33 % (fraction).

# %%
from labkit.base.paths import RECORDED
from labkit.explorers.lessons.metrics_that_disagree import SHAPES, draw_arrangement
from labkit.figures.lessons import metrics_that_disagree as figures
from labkit.runs import open_run, read_embeddings, read_samples, spread

run = open_run("omniglot_pnp-dq_s0", RECORDED)
measured = run.summary.test
assert f"{100 * measured['R@10']:.0f} {100 * measured['recall-fraction@10']:.0f}" == "96 33"
labkit.show(
    figures.recall_over_k(measured),
    "Recall over the cut-off k, in three modes, of one network on unseen Omniglot characters. Any-hit and fraction rise "
    "with k; the capped one falls until k reaches R = 19, because later places are harder to fill.",
)

# %% [markdown]
# ## Separability from scratch
#
# Not every measure looks at ranks. NMI asks if k-means finds the classes again. The SGSL paper's class separability
# criterion (Eq. 9) compares how far apart the class means are with how wide the classes are:
#
# $$\mathrm{CSC} = \frac{\mathrm{tr}(S_b)}{\mathrm{tr}(S_w)}, \qquad
# \mathrm{tr}(S_b) = \sum_c p_c \lVert \mu_c - \mu_0 \rVert^2, \qquad
# \mathrm{tr}(S_w) = \sum_c p_c\, \mathbb{E}_{x \in c} \lVert x - \mu_c \rVert^2$$
#
# with $p_c$ the share of class $c$. It has a gradient, unlike all the metrics above:


# %%
def csc(embeddings, labels):
    """SGSL Eq. 9, on unit vectors."""
    x = torch.nn.functional.normalize(embeddings, dim=1)
    mu_0 = x.mean(0)
    between = within = 0.0
    for c in labels.unique():
        x_c = x[labels == c]
        p_c, mu_c = len(x_c) / len(x), x_c.mean(0)
        between = between + p_c * (mu_c - mu_0).square().sum()
        within = within + p_c * (x_c - mu_c).square().sum(1).mean()
    return between / within


embeddings = torch.randn(12, 5, dtype=torch.float64, requires_grad=True)
labels = torch.tensor([0, 1, 2, 0, 1, 2, 0, 1, 0, 3, 3, 4])  # shuffled, unequal classes, one singleton
assert torch.autograd.gradcheck(lambda e: csc(e, labels), (embeddings,))
assert abs(csc(embeddings, labels).item() - metrics.csc(embeddings, labels)) < 1e-9
print(f"CSC {csc(embeddings, labels).item():.6f}, library {metrics.csc(embeddings, labels):.6f}, gradient checked")

nudged = embeddings.detach() + 1e-6 * torch.randn(12, 5, dtype=torch.float64)
before, after = (metrics.evaluate(e, labels, ks=(1, 5), progress=False) for e in (embeddings.detach(), nudged))
same = [name for name in before if before[name] == after[name]]
unchanged = ", ".join(name for name in same if name not in ("queries", "skipped"))
print(textwrap.fill(f"unchanged by a nudge of 0.000001: {unchanged}", 110))
print("changed:", ", ".join(name for name in before if name not in same))

# %% [markdown]
# A gradient does not make it the right thing to train on. Six classes on a circle:

# %% jupyter={"source_hidden": true}
from labkit.explorers.sliders import Control

labkit.explore(
    draw_arrangement,
    [
        Control("shape", "arrangement", SHAPES, SHAPES[1], menu=True),
        Control("spread", "spread (degrees)", (1.0, 2.0, 3.0, 5.0, 8.0, 15.0), 3.0),
    ],
    [{"shape": shape} for shape in SHAPES],
    "Six classes as points on a circle (drawn on rings of different radius to keep them apart). Each class in its own "
    "place: CSC, R@1 and NMI are all high. Two classes on each place: CSC is as high, R@1 is about that of tossing a coin. Each class "
    "in four places: CSC is nearly 0 and NMI low, although nearly every nearest neighbour is of the right class.",
)

# %% [markdown]
# CSC counts classes as separate when their means are far from the *common* mean, not from each other. And a class may
# live in several places and still be found; [lesson 7](07_many_centres.ipynb) makes use of that.
#
# ## An experiment: do the metrics rank the losses alike?
#
# Twenty losses on Omniglot: same network, same 2000 steps, same tuning trials for each, tested on characters of unseen
# alphabets, three seeds. We order the losses by each metric and compare the orders by Spearman's rank correlation: 1 is
# the same order, 0 none in common. `RETRAIN = True` trains everything again here (about 90 CPU
# minutes; it needs Omniglot: `python -m labkit data get omniglot`).

# %%
RETRAIN = False
LOSSES = ["smooth-ap", "pnp-o", "pnp-iu", "pnp-ib", "pnp-ds", "pnp-dq", "recall-at-k", "recall-at-k-simix"]
LOSSES += ["proxy-nca", "proxy-anchor", "soft-triple", "mpa", "mpa-dw", "mpa-ap", "softmax", "norm-softmax", "sgsl"]
LOSSES += ["contrastive", "triplet", "multi-similarity"]
runs = labkit.experiment("omniglot", LOSSES, retrain=RETRAIN)
means = spread.means(runs, ["R@1", "R@10", "MAP@R", "nDCG@10", "NMI", "CSC"])
labkit.show(
    figures.correlation_heatmap(means),
    "Rank correlation between metrics over the losses. The ranking metrics and NMI agree closely; CSC agrees with them "
    "far less.",
)
for metric in means:
    correlation, count = spread.seeds_agreement(runs, metric)
    print(f"yardstick: {metric} of seed 0 against {metric} of seed 1, {count} losses: {correlation:.2f}")

# %% [markdown]
# The yardstick: two seeds of one and the same metric do not order the losses quite alike either. A correlation of that
# size between two metrics is no disagreement. Which losses does CSC rank differently?

# %%
MENU = tuple(means.columns)
labkit.explore(
    lambda first, second: figures.two_metrics(means, first, second),
    [
        Control("first", "across", MENU, "R@1", menu=True),
        Control("second", "up", MENU, "CSC", menu=True),
    ],
    [{"second": "nDCG@10"}, {"second": "MAP@R"}, {"second": "CSC"}],
    "Every loss as a point: R@1 against nDCG@10 and MAP@R is nearly a line; R@1 against CSC is a cloud.",
)
for metric in ("R@1", "CSC"):
    best = means[metric].idxmax()
    places = means.rank(ascending=False).loc[best].astype(int)
    print(f"best by {metric}: {best}, place {places['R@1']} by R@1 and {places['CSC']} by CSC, of {len(means)}")

# %% [markdown]
# So CSC does not tell here which loss retrieves best. The SGSL paper's Table 5 shows that its loss raises CSC, and its
# other tables that it raises R@1: both rise together, but these are two networks on each data set, not twenty.
# [Lesson 9](09_sgsl.ipynb) comes back to it.
#
# The papers' own tables disagree, too. In the MPA paper's Table 4 the best loss by R@1 and by nDCG is not the best by
# MAP@R (E-MPA-14; true on CUB and Cars196, on SOP SoftTriple leads by both).
# The rows for CUB:

# %%
papers.pivot("mpa", "4").droplevel("dataset", axis=1)[["R@1", "nDCG@8", "MAP@R"]].dropna()

# %% [markdown]
# Those five rows lie within two points, without intervals (the caption promises them, E-MPA-15). Whether they differ at
# all is a question for [lesson 12](12_reading_a_results_table.ipynb).
#
# ## What the released code does differently
#
# <details><summary>Differences, with our switches and what they do; errata</summary>
#
# | | says | does | our switch | effect |
# |---|---|---|---|---|
# | PNP, `metrics/mAP_c.py` | MAP@R | R counts the query itself | `map_at_r` with R = positives | perfect retrieval scores (n−1)/n: 75 for classes of 4 |
# | PNP, `metrics/dists.py` | largest intra-class distance | a mask turned into numbers picks entries 0 and 1 | `"intra"` is a mean over pairs | not the maximum |
# | SGSL, evaluation | self removed | drops the first column of the sorted list | self removed by index | wrong where duplicates exist, below |
# | torchmetrics 1.9, recall | recall | fraction, not any-hit | `mode=` | 25 instead of 100 on `1000000000` |
# | pytorch-metric-learning 2.9 | mean average precision | silently cut at its k; no Recall@k, no nDCG | `ks=` | its users ask why (its issue 290) |
# | OML, precision | precision@k | divides by min(k, n) | `precision_at_k`, `"recall-capped@k"` | a perfect list gets 1 |
# | queries without a positive | | PML leaves them out; OML counts 1 if nothing is expected and nothing found | left out and counted as `"skipped"` | changes the mean |
#
# </details>

# %%
print(f"R counts the query, perfect retrieval, class of 4: {100 * metrics.map_at_r([1, 1, 1, 0], 4).item():.0f}")

codes, labels = read_embeddings(run), torch.as_tensor(read_samples(run)["label"].to_numpy().copy())
twice, both = torch.cat([codes, codes]), torch.cat([labels, labels + labels.max() + 1])  # copies with another label
unit = torch.nn.functional.normalize(twice.double(), dim=1)
order = (unit @ unit.T).round(decimals=9).sort(dim=1, descending=True, stable=True).indices
dropped = (both[order[:, 1]] == both).double().mean()
print(f"every item twice, the copy under another label: R@1 {100 * dropped:.1f} with the first column dropped,")
print(f"{100 * metrics.evaluate(twice, both, ks=(1,), progress=False)['R@1']:.1f} with the query itself left out")

# %% [markdown]
# ## Exercises
#
# All three get a list `relevance` of 0 and 1, best-ranked item first, and `num_relevant`, the number of relevant items
# in the gallery.
#
# **2.1 Recall@k** (easy, 3 minutes), as retrieval papers mean it.
#
# <details><summary>Hint</summary>One hit among the first k is enough.</details>


# %%
def recall_at_k(relevance: list[int], k: int, num_relevant: int) -> float:
    raise NotImplementedError


labkit.check.recall_at_k(recall_at_k)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def recall_at_k(relevance, k, num_relevant):
#     return float(any(relevance[:k]))
# ```
# </details>
#
# **2.2 Average precision at k** (medium, 8 minutes), divided by min(k, R).
#
# <details><summary>Hint 1</summary>Go through the first k ranks and count hits as you go.</details>
# <details><summary>Hint 2</summary>At each hit add hits so far / rank. The first rank is 1.</details>


# %%
def average_precision_at_k(relevance: list[int], k: int, num_relevant: int) -> float:
    raise NotImplementedError


labkit.check.average_precision_at_k(average_precision_at_k)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def average_precision_at_k(relevance, k, num_relevant):
#     hits, total = 0, 0.0
#     for rank, relevant in enumerate(relevance[:k], start=1):
#         hits += relevant
#         total += relevant * hits / rank
#     return total / min(k, num_relevant)
# ```
# </details>
#
# **2.3 nDCG@k** (medium, 8 minutes).
#
# <details><summary>Hint 1</summary>With relevance 0 and 1 the gain 2^rel − 1 is rel itself.</details>
# <details><summary>Hint 2</summary>The best list starts with min(k, R) ones.</details>


# %%
def ndcg_at_k(relevance: list[int], k: int, num_relevant: int) -> float:
    raise NotImplementedError


labkit.check.ndcg_at_k(ndcg_at_k)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# import math
#
# def ndcg_at_k(relevance, k, num_relevant):
#     def dcg(gains):
#         return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
#
#     return dcg(relevance[:k]) / dcg([1] * min(k, num_relevant))
# ```
# </details>
#
# ## Break it
#
# **Ties.** Keep only the signs of the first few numbers of each embedding, as binary codes do. Now many similarities
# are equal, and the order among equals decides. `ties="stable"` takes the lower index first, `"pessimistic"` puts
# negatives first, `"expected"` is the mean over random orders. A library that does not say which one it takes can be
# off by many points, and code that sorts positives first on a tie makes a collapsed network look perfect.
#
# **Gallery size.** The same embeddings, 1200 items instead of all 13,180: R@1 rises by many points and nothing was
# learned. Never compare R@1 over galleries of different size.

# %%
codings = {f"{bits} bits": codes[:, :bits].sign() for bits in (4, 16, 64)}
codings["all equal (collapsed)"] = torch.ones(len(labels), 4)
rows = {
    name: {
        ties: 100 * metrics.evaluate(coding, labels, ks=(1,), ties=ties, progress=False)["R@1"]
        for ties in ("pessimistic", "stable", "expected")
    }
    for name, coding in codings.items()
}
display(pd.DataFrame(rows).T.round(1))
small = metrics.evaluate(codes, labels, ks=(1,), progress=False)["R@1"]
print(f"R@1 among {len(codes)} items {100 * small:.1f}, among all {measured['queries']} {100 * measured['R@1']:.1f}")

# %% [markdown]
# ## Can you answer these?
#
# 1. Which recall@10 do retrieval papers report, and what are the other two?
# 2. Why is MAP@10 of `1000000000` 10, 25 or 100?
# 3. Which denominator can fall when one more relevant item is found?
# 4. When do AP@k / R and AP@k / min(k, R) differ?
# 5. Why is there no denominator to choose in MAP@R?
# 6. How can CSC be high while R@1 is that of tossing a coin?
# 7. What is the yardstick for the rank correlation of two metrics?
# 8. What happens to R@1 when "drop the first column" meets a duplicate?
#
# ## Summary
#
# The sum in average precision is agreed on; what it is divided by is not. Recall@k in papers is any-hit. Among our
# recorded losses the ranking metrics and NMI tell nearly the same story, and CSC another one. All of the ranking metrics
# are flat almost everywhere: they cannot be trained on as they are. The next lesson changes that.
#
# ## Reading
#
# - Musgrave, Belongie, Lim, *A Metric Learning Reality Check*, ECCV 2020: where MAP@R comes from, and why.
# - Saeki, Kawahara, Aman, the MPA paper, 2023: Section 3 and its Table 3 argue for nDCG.
# - McSherry, Najork, *Computing Information Retrieval Performance Measures Efficiently in the Presence of Tied Scores*,
#   ECIR 2008: the expectation under ties, in closed form.
#
# In the dashboard (`make dashboard`): [these losses by any metric](http://127.0.0.1:8501/compare?preset=omniglot&metric=CSC).
#
# Next: [3. Smoothing a rank](03_smoothing_a_rank.ipynb).
