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
# # Assignment 1. Metrics you can trust
#
# A number such as "MAP@10 = 62" depends on how the query was taken out of its own list, on what the sum was divided by,
# and on what happened to ties. You write an evaluation in which all three are said, and use it to find the losses that
# two metrics really disagree about.
#
# **30 points**: four functions (24) and two short texts (6). About 2 to 3 hours.
#
# **What you will show that you can do**
#
# 1. make the ranked list of every query of a batch, with the query taken out and ties decided on purpose;
# 2. compute mean average precision under the five rules that papers and libraries use, and say which rule is which;
# 3. tell a disagreement between two metrics from the noise of the seeds;
# 4. compute a metric under ties as an expectation, without trying all orders;
# 5. find an error in an evaluation by a data set that makes it visible.
#
# **Working together.** Talk about the ideas with whomever you like. Write the code and the texts yourself, and name the
# people and the tools that helped you in the last cell.
#
# **Reading**
#
# - [Lesson 2](../02_metrics_that_disagree.ipynb): all metrics of this assignment, for one list.
# - Musgrave, Belongie, Lim, *A Metric Learning Reality Check*, ECCV 2020: why MAP@R, and what R@1 hides.
# - McSherry, Najork, *Computing Information Retrieval Performance Measures Efficiently in the Presence of Tied Scores*,
#   ECIR 2008: the idea of question 4.
# - Saeki, Kawahara, Aman, the MPA paper, 2023, Eqs 19 and 20: nDCG with graded relevance. Its Table 3 has two
#   conventions that it does not state (E-MPA-11).
#
# **Handing in, and how it is marked.** Hand in this notebook, with its name unchanged. Everything an answer needs must be
# in its cell or in another answer cell. Grading runs only the answer cells, and of other
# cells the functions and imports that answers use, with `import math`, `import numpy as np`,
# `import torch` and `from torch import Tensor` already done; labkit cannot be imported there. The check under each
# question shows the public cases only, grading uses more. Some cases ask for care (ties, copies, short lists); an answer
# that fails only there keeps a part of the points. Texts are marked by a person.

# %%
import math

import numpy as np
import torch
from torch import Tensor

import labkit
from labkit import check

# %% [markdown]
# ## 1. The list behind every metric (5 points, about 25 minutes)
#
# `similarity` (n, n) holds a similarity for every two items, `labels` (n,) their classes. Every item is a query, the
# other $n - 1$ items are its gallery. Return a tensor (n, n − 1): row $q$ is the ranked list of query $q$, most similar
# item first, with 1 where the item has the query's label and 0 elsewhere. `similarity` need not be symmetric.
#
# - The query is not in its own list. Do not rely on its place: the similarity may be a dot product of vectors of
#   different length, or minus a distance, and another item may be an exact copy of the query.
# - **A tie counts against the query**: of items with exactly the same similarity, those of another class come first. So a
#   collapsed network, for which all similarities are equal, gets the worst list there is.
#
# *Example.* `labels = [0, 1, 0, 1]` and row 0 of `similarity` is `[1.0, 0.6, 0.6, 0.1]`. Items 1 and 2 are tied, item 1
# is of another class, so it comes first: row 0 of the result is `[0, 1, 0]`.


# %% question="ranked_relevance" role="answer"
def ranked_relevance(similarity: Tensor, labels: Tensor) -> Tensor:
    """Relevance (n, n − 1) of the ranked list of every query, from similarity (n, n) and labels (n,)."""
    ### BEGIN SOLUTION
    n = len(labels)
    others = ~torch.eye(n, dtype=torch.bool)
    relevant = (labels[:, None] == labels[None, :])[others].view(n, n - 1).long()
    s = similarity[others].view(n, n - 1)
    # irrelevant ones first, then a stable sort by similarity: among equals that order stays
    order = relevant.sort(dim=1, stable=True).indices
    s, relevant = s.gather(1, order), relevant.gather(1, order)
    order = s.sort(dim=1, descending=True, stable=True).indices
    return relevant.gather(1, order).double()
    ### END SOLUTION


# %% question="ranked_relevance" role="test"
check.ranked_relevance(ranked_relevance)
### BEGIN HIDDEN TESTS
from labkit.classroom.autograde import require

require("ranked_relevance", ranked_relevance)
### END HIDDEN TESTS

# %% [markdown] role="notes"
# **Notes for the instructor, question 1.** Lessons 1 and 2 leave the query out for R@1 and show what a dropped first
# column does; here it must be done for the whole list.
# - Commonest mistake: sort, then drop the first column. It passes on cosines without copies. Ask for the row of a query
#   whose vector is short, when similarities are dot products.
# - Second: −1 or 0 in the diagonal instead of −∞. Ask what the smallest possible similarity is if it is minus a distance.
# - Ties: many set the diagonal right and sort once; they lose only the cases that ask for care. Ways to help: "sort
#   twice" or "sort by a pair". Adding a small number to break ties is risky and should be talked about, though it can
#   pass here.
# - A double loop with `sorted(key=…)` is a good answer.

# %% [markdown]
# ## 2. Mean average precision, by its name (6 points, about 30 minutes)
#
# `relevance` (Q, n) holds whole ranked lists, as your first function returns them: all $R$ relevant items of a query are
# somewhere in its row. Let $\mathrm{hits}(i)$ be the number of relevant items among the first $i$. Average precision adds
# up the precision at each hit,
#
# $$\mathrm{AP} = \frac{1}{d} \sum_{i \le c} \mathrm{rel}_i\, \frac{\mathrm{hits}(i)}{i}$$
#
# and the `rule` says where to cut and what to divide by:
#
# | rule | cut $c$ | divisor $d$ | who uses it |
# |---|---|---|---|
# | `"k"` | $k$ | $k$ | the MPA paper |
# | `"relevant"` | $k$ | $R$ | pytorch-metric-learning |
# | `"min"` | $k$ | $\min(k, R)$ | |
# | `"hits"` | $k$ | $\mathrm{hits}(k)$ | torchmetrics, OML |
# | `"R"` | $R$ | $R$ | MAP@R; `k` is not used |
#
# Return the mean over the queries that have a relevant item. A query with relevant items but no hit among the first $k$
# scores 0 under every rule; a query without any relevant item has no score and is left out. `k` may be larger than $n$.
#
# *Example.* The list `01101` has $R = 3$. With $k = 2$ the sum is $\frac12$: 0.25 by rule k, 0.167 by relevant, 0.25 by
# min, 0.5 by hits. By rule R the cut is 3 and AP is $(\frac12 + \frac23) / 3 = 0.389$.


# %% question="mean_ap" role="answer"
def mean_ap(relevance: Tensor, k: int, rule: str) -> float:
    """Mean average precision of ranked lists (Q, n); rule: "k", "relevant", "min", "hits" or "R"."""
    ### BEGIN SOLUTION
    scores = []
    for row in relevance.tolist():
        R = int(sum(row))
        if R == 0:
            continue
        cut = R if rule == "R" else k
        hits, total = 0, 0.0
        for rank, relevant in enumerate(row[:cut], start=1):
            if relevant:
                hits += 1
                total += hits / rank
        divisor = {"k": k, "relevant": R, "min": min(k, R), "hits": max(1, hits), "R": R}[rule]
        scores.append(total / divisor)
    return float(np.mean(scores))
    ### END SOLUTION


# %% question="mean_ap" role="test"
check.mean_ap(mean_ap)
### BEGIN HIDDEN TESTS
from labkit.classroom.autograde import require

require("mean_ap", mean_ap)
### END HIDDEN TESTS

# %% [markdown]
# **See what it is good for.** Your two functions on a recorded network, PNP-D_q on Omniglot: ten characters with 20
# drawings each, so $R = 19$ for every query. One network, one gallery, k = 10.

# %%
from labkit.base.paths import RECORDED
from labkit.runs import open_run, read_embeddings, read_samples

run = open_run("omniglot_pnp-dq_s0", RECORDED)
codes = torch.as_tensor(read_embeddings(run)).double()
classes = torch.as_tensor(read_samples(run)["label"].to_numpy().copy())
some = torch.isin(classes, classes.unique()[:10])
codes, classes = codes[some], classes[some]
unit = torch.nn.functional.normalize(codes, dim=1)
lists = ranked_relevance(unit @ unit.T, classes)
for rule in ("k", "relevant", "min", "hits", "R"):
    print(f"MAP, k = 10, rule {rule:>8}: {100 * float(mean_ap(lists, 10, rule)):5.1f}")

# %% [markdown] role="notes"
# **Notes for the instructor, question 2.** Exercise 2.2 of the lesson is one list and the rule min.
# - Commonest mistake: pooling, that is, dividing the sum of all sums by the sum of all divisors. Ask: which query then
#   counts most?
# - Second: counting queries without a positive as 0, as many scripts do. It lowers every number by the share of singletons.
# - Third: leaving out queries without a hit by rule hits, because 0/0 is NaN and `nanmean` is at hand. Ask whether such a
#   query has anything to find.
# - Rule R with a list that is cut at k first: cutting at k = 4 hides hits between 4 and R.
# - The released PNP metric counts the query in R, so perfect retrieval scores (n − 1)/n; that mistake is in the zoo.

# %% [markdown]
# ## Which rules can disagree? (3 points, a few sentences)
#
# Take two rankings A and B of the *same* query, with the same $k$. Which of the rules k, relevant, min and hits can
# disagree about which of the two is better, and why? Give an example for those that can. Then take two *systems* on
# several queries: which rules can now disagree?

# %% [markdown] question="which_denominators_disagree" role="written"
# For one query $k$, $R$ and $\min(k, R)$ are the same for both rankings. The three rules divide one and the same sum by a
# constant, so they put A and B in the same order, always. The hits belong to the list: by rule hits the divisor of A is
# not that of B. Example with $k = 10$, $R = 4$: `1000000000` has the sum 1 and one hit, so 1/1 = 1; `1000000001` has the
# sum 1.2 and two hits, so 0.6. Hits prefers the first, the other three the second.
#
# Over several queries the mean is taken after dividing. $R$ differs from query to query, so k, relevant and min weigh the
# queries differently, and any two of them can disagree. Example with $k = 10$, one query with $R = 1$ and one with
# $R = 10$: system A has the sums 1 and 0, system B the sums 0 and 5. By rule k A has 0.05 and B 0.25; by rule relevant A
# has 0.5 and B 0.25. (Relevant and min differ where $R > k$.)

# %% [markdown] role="notes"
# **Notes for the instructor, text 1.** Look for the word "constant" or its meaning in the first part. Some will say
# that hits "rewards precision"; ask what it divides by. For the second part an argument about weights is enough for the
# point, an example is not needed. If all queries have the same $R$, as in the Omniglot cell above, the three rules differ
# by a constant even over many queries: a good remark.

# %% [markdown]
# ## 3. Disputed pairs (6 points, about 25 minutes)
#
# `first` and `second` (m, seeds) hold two metrics of $m$ losses, each trained with the same seeds; larger is better. Two
# metrics nearly always disagree about *some* pair of losses, if only by chance. So we ask for more: metric one
# **prefers** loss $i$ to loss $j$ if $i$ is better than $j$ in **every** seed, seed by seed (a seed fixes the data's
# order and the network's start, so losses are compared at equal seeds). An equal value is no preference.
#
# Return all pairs $(i, j)$ for which `first` prefers $i$ to $j$ and `second` prefers $j$ to $i$, as a tensor (p, 2) of
# indices, sorted by $i$, then by $j$. With no such pair its shape is (0, 2).
#
# *Example.* `first = [[3, 5], [2, 4]]`, `second = [[1, 1], [2, 2]]`: the first metric prefers loss 0 in both seeds, the
# second prefers loss 1 in both. The result is `[[0, 1]]`.


# %% question="disputed_pairs" role="answer"
def disputed_pairs(first: Tensor, second: Tensor) -> Tensor:
    """Pairs (p, 2) of losses that two metrics (m, seeds) order in opposite ways, in every seed."""
    ### BEGIN SOLUTION
    better = (first[:, None, :] > first[None, :, :]).all(2)  # [i, j]: the first metric prefers i
    worse = (second[:, None, :] < second[None, :, :]).all(2)  # [i, j]: the second prefers j
    return (better & worse).nonzero()
    ### END SOLUTION


# %% question="disputed_pairs" role="test"
check.disputed_pairs(disputed_pairs)
### BEGIN HIDDEN TESTS
from labkit.classroom.autograde import require

require("disputed_pairs", disputed_pairs)
### END HIDDEN TESTS

# %% [markdown]
# **See what it is good for.** Twenty losses on Omniglot, three seeds each, from the recorded runs: R@1 against five other
# metrics. How many of the 190 pairs are disputed, and how many would be if we compared means?
#
# A yardstick: if two losses were equal and two metrics independent, three seeds would put them in opposite order in one
# case of 32 ($2 \cdot \frac18 \cdot \frac18$), about 6 pairs of 190.

# %%
LOSSES = ["smooth-ap", "pnp-o", "pnp-iu", "pnp-ib", "pnp-ds", "pnp-dq", "recall-at-k", "recall-at-k-simix"]
LOSSES += ["proxy-nca", "proxy-anchor", "soft-triple", "mpa", "mpa-dw", "mpa-ap", "softmax", "norm-softmax", "sgsl"]
LOSSES += ["contrastive", "triplet", "multi-similarity"]
runs = {(r.loss, r.seed): r.summary.test for r in labkit.experiment("omniglot", LOSSES)}
LOSSES = [loss for loss in LOSSES if all((loss, seed) in runs for seed in range(3))]


def measured(metric: str) -> Tensor:
    """(losses, seeds)"""
    return torch.tensor([[runs[loss, seed][metric] for seed in range(3)] for loss in LOSSES], dtype=torch.float64)


for metric in ("R@10", "nDCG@10", "MAP@R", "NMI", "CSC"):
    disputed = disputed_pairs(measured("R@1"), measured(metric))
    by_mean = disputed_pairs(measured("R@1").mean(1, keepdim=True), measured(metric).mean(1, keepdim=True))
    some = ", ".join(f"{LOSSES[i]} / {LOSSES[j]}" for i, j in disputed[:2])
    print(f"R@1 against {metric:>7}: {len(disputed):2} disputed, by means {len(by_mean):2}; e.g. {some}")

# %% [markdown] role="notes"
# **Notes for the instructor, question 3.** Lesson 2 compares orders by a rank correlation and has the yardstick of two
# seeds; this is the same question pair by pair.
# - Commonest mistake: means. It is most of what papers do, and the cell above shows how many more "disagreements" that
#   gives. Second: only $i < j$, or both orders.
# - "Worst seed of i above the best seed of j" is a fine criterion, but another one: it does not pair the seeds, and a good
#   seed is good for both.
# - Worth a talk: "in every seed" is a weak test with three seeds. With CSC far more pairs are disputed than chance gives;
#   with MAP@R the number is of the size of chance. Lesson 12 does this properly.

# %% [markdown]
# ## 4. nDCG with ties, as an expectation (7 points, about 40 minutes)
#
# One query: `similarity` (n,) of the items, `grade` (n,) how relevant each is, 0, 1, 2 or 3 (at least one is above 0), and
# the cut-off `k`. With the gain $2^{\mathrm{grade}} - 1$ (MPA paper, Eqs 19 and 20)
#
# $$\mathrm{DCG@}k = \sum_{i \le k} \frac{2^{\mathrm{grade}_i} - 1}{\log_2(i + 1)}, \qquad
# \mathrm{nDCG@}k = \frac{\mathrm{DCG@}k}{\mathrm{DCG@}k \text{ of the best list}}$$
#
# where the best list holds all $n$ items by falling grade, cut at $k$ as well. Items with exactly the same similarity are
# in no order. Return the **mean of nDCG@k over all orders of tied items**, each order equally likely. There are $t!$
# orders of $t$ tied items: you cannot try them all. The metric is a sum over ranks. What stands at one rank on average?
#
# Note that ties may reach across the cut-off, and `k` may be larger than $n$.
#
# *Example.* `similarity = [0.9, 0.5, 0.5]`, `grade = [0, 2, 1]`, `k = 2`. Rank 1 has the gain 0. Rank 2 has the gain 3 in
# one order and 1 in the other. The mean of DCG@2 is $2 / \log_2 3 = 1.262$, the best list has
# $3 + 1 / \log_2 3 = 3.631$, and the result is 0.3475.


# %% question="expected_ndcg" role="answer"
def expected_ndcg(similarity: Tensor, grade: Tensor, k: int) -> float:
    """Mean of nDCG@k over all orders of tied items; similarity and grade (n,)."""
    ### BEGIN SOLUTION
    gain = 2**grade - 1
    order = similarity.argsort(descending=True)
    s, expected = similarity[order], gain[order].clone()
    for value in s.unique():
        tied = s == value
        expected[tied] = expected[tied].mean()  # every item of the group is equally likely at each of its ranks
    ranks = range(1, len(s) + 1)
    discount = torch.tensor([1 / math.log2(rank + 1) if rank <= k else 0.0 for rank in ranks], dtype=torch.float64)
    best = gain.sort(descending=True).values
    return float((expected * discount).sum() / (best * discount).sum())
    ### END SOLUTION


# %% question="expected_ndcg" role="test"
check.expected_ndcg(expected_ndcg)
### BEGIN HIDDEN TESTS
from labkit.classroom.autograde import require

require("expected_ndcg", expected_ndcg)
### END HIDDEN TESTS

# %% [markdown]
# **See what it is good for.** The same network, with only the signs of the first numbers of each embedding kept, as
# binary codes do: the shorter the code, the more ties. A number far smaller than any difference, added to the relevant
# items or taken from them, breaks all ties for or against the query. Your function then gives the two extremes; an
# evaluation that does not say what it does with ties may report anything between.

# %%
from matplotlib.figure import Figure

from labkit.figures.style import COLORS

BITS = (2, 4, 8, 16, 32, 64)
ORDERS = {"relevant ones first": 1e-9, "expected": 0.0, "relevant ones last": -1e-9}
curves: dict[str, list[float]] = {name: [] for name in ORDERS}
for bits in BITS:
    signs = codes[:, :bits].sign()
    agreement = signs @ signs.T / bits
    for name, nudge in ORDERS.items():
        scores = []
        for q in range(0, len(codes), 10):
            gallery = torch.arange(len(codes)) != q
            relevant = (classes[gallery] == classes[q]).double()
            scores.append(float(expected_ndcg(agreement[q, gallery] + nudge * relevant, relevant, 10)))
        curves[name].append(float(np.mean(scores)))
fig = Figure(figsize=(6, 3), dpi=90, facecolor="white", layout="constrained")
axes = fig.add_subplot()
for number, (name, values) in enumerate(curves.items()):
    axes.plot(BITS, values, marker="osv"[number], color=COLORS[number], label=name)
axes.set_xscale("log", base=2)
axes.set_xticks(BITS, [str(bits) for bits in BITS])
axes.set_xlabel("bits of the code")
axes.set_ylabel("nDCG@10")
axes.legend(frameon=False)
axes.grid(alpha=0.25)
labkit.show(
    fig,
    "nDCG@10 of binary codes of 2 to 64 bits, with ties broken for the query, at random, and against it. With few bits "
    "the three are far apart; with 64 bits they nearly agree.",
)

# %% [markdown] role="notes"
# **Notes for the instructor, question 4.** Exercise 2.3 of the lesson has a given list, grades 0 and 1, no ties.
# - The idea: expectation is linear, so only the mean gain at each rank is needed. Help with: "write DCG as a sum over
#   ranks and put the mean inside".
# - Commonest mistakes: the mean of the best and the worst order (right for two tied items only); the mean grade put into
#   $2^g - 1$ (Jensen); every tied item at the group's middle rank (the discount of a mean rank is not the mean discount).
# - The group across the cut-off shows who thinks in items and who in ranks. From the items' side: an item has each rank of
#   its group with the same chance, and ranks beyond $k$ have weight 0. Both ways are among the right answers.
# - The ideal list must use grades of all items, not what was found, and is cut at $k$.

# %% [markdown]
# ## "The first column is the query itself" (3 points, a few sentences)
#
# An evaluation computes all cosines of a test set, sorts each row in descending order and drops the first column, since
# "that is the query itself". When is this harmless? When is R@1 wrong, and is it then too high or too low? Describe a
# small test that would have shown the error.

# %% [markdown] question="first_column" role="written"
# Harmless: if in every row the query is strictly the most similar item, which holds for cosines as long as no other item
# has the same direction. It is harmless, too, if the copy has the query's label: whichever of the two is dropped, the
# other one stays and counts as a hit.
#
# Wrong: if an item of another class is an exact copy (or rounding puts a near copy in front). The sort may put the copy
# first; then the copy, a miss, is dropped, and the query itself stays at rank 1 as a hit. R@1 is too high. (With vectors
# that are not normalised, dot products may even put a longer vector before the query.)
#
# Test: give every item a copy under another label. With the query properly left out the nearest item of every query is
# its copy, a miss, so R@1 is near 0; an evaluation that drops the first column reports far more.

# %% [markdown] role="notes"
# **Notes for the instructor, text 2.** Lesson 2 shows the test with copies in its section on released code; the point is
# to explain the direction of the error. "Too low" is a common wrong answer: ask which item is dropped and which one stays.
# Accept any test that fails loudly, e.g. one tie in a table of four items with the expected list written by hand.

# %% [markdown]
# ## Who and what helped?
#
# *Name people and tools here.*
