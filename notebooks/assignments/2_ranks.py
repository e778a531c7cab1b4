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
# # Assignment 2. Smooth ranks and what they pull
#
# A smooth rank is a sum of sigmoids. You make it for a whole batch, ask how small its temperature must be for the rank to
# be right, build RS@k for the three recalls of lesson 2, and take the gradient of Smooth-AP apart into a pull away from
# negatives and a pull among positives.
#
# **30 points**: four functions (24) and two short texts (6). About 2 to 3 hours.
#
# **What you will show that you can do**
#
# 1. compute the soft ranks of a batch, with the right items left out, and with a finite gradient at any temperature;
# 2. turn a bound on an error into a temperature, and say what the bound is worth;
# 3. write a surrogate for each of three metrics that are all called recall@k;
# 4. derive a gradient by the quotient and the chain rule, and split it into parts that mean something;
# 5. read a loss value that cannot become zero.
#
# **Working together.** Talk about the ideas with whomever you like. Write the code and the texts yourself, and name the
# people and the tools that helped you in the last cell.
#
# **Reading**
#
# - [Lesson 3](../03_smoothing_a_rank.ipynb): the smooth rank and Smooth-AP of one query; [lesson
#   4](../04_recall_at_k.ipynb): RS@k, its two temperatures and its floor.
# - Patel, Tolias, Matas, *Recall@k Surrogate Loss with Large Batches and Similarity Mixup*, CVPR 2022: the loss
#   of question 3. The slides' picture of the outer sigmoid is off by one (E-SL-1).
# - Brown, Xie, Kalogeiton, Zisserman, *Smooth-AP*, ECCV 2020: where the sigmoid comes from.
# - Li et al., PNP, AAAI 2022, Eqs 4 and 14: the derivative of question 4, printed without its factor $1 / |S_P|$
#   (E-PNP-2).
#
# **Handing in, and how it is marked.** Hand in this notebook, with its name unchanged. Everything an answer needs must be
# in its cell or in another answer cell. Grading runs only the answer cells, and of other
# cells the functions and imports that answers use, with `import math`, `import numpy as np`,
# `import torch` and `from torch import Tensor` already done; labkit cannot be imported there. The check under each
# question shows the public cases only, grading uses more. Where a gradient counts, use torch operations throughout. Some
# cases ask for care (ties, tiny temperatures, no negatives); an answer that fails only there keeps a part of the points.
# Texts are marked by a person.
#
# **Notation.** $G(x; \tau) = 1 / (1 + e^{-x / \tau})$; $s_{qi}$ is the similarity of query $q$ and item $i$.

# %%
import math

import numpy as np
import torch
from torch import Tensor

import labkit
from labkit import check

# %% [markdown]
# ## 1. The soft ranks of a batch (5 points, about 25 minutes)
#
# Every item of a batch of $B$ is a query, the others are its gallery. `similarity` (B, B) has a row for each query; it
# need not be symmetric, and its diagonal may hold anything. Return (B, B): at $[q, i]$ the soft rank of item $i$ in the
# list of query $q$,
#
# $$\tilde r(q, i) = 1 + \sum_{z \ne i,\ z \ne q} G(s_{qz} - s_{qi}; \tau)$$
#
# and 0 on the diagonal, since the query is not in its own list. The gradient with respect to `similarity` counts, and it
# must be finite at every temperature: $e^{710}$ is infinite in double precision.
#
# *Example.* Row 0 of `similarity` is `[1.0, 0.7, 0.6]` and $\tau = 0.1$. Item 1 has item 2 behind it, $G(-0.1) = 0.269$;
# item 2 has item 1 before it, $G(0.1) = 0.731$. Row 0 of the result is `[0, 1.269, 1.731]`.


# %% question="batch_ranks" role="answer"
def batch_ranks(similarity: Tensor, tau: float) -> Tensor:
    """Soft ranks (B, B): [q, i] is the rank of item i in the list of query q; 0 on the diagonal."""
    ### BEGIN SOLUTION
    itself = torch.eye(len(similarity), dtype=torch.bool)
    before = torch.sigmoid((similarity[:, None, :] - similarity[:, :, None]) / tau)  # [q, i, z]: z counts as before i
    left_out = itself[:, None, :] | itself[None, :, :]  # z = q, z = i
    return (1 + before.masked_fill(left_out, 0.0).sum(2)).masked_fill(itself, 0.0)
    ### END SOLUTION


# %% question="batch_ranks" role="test"
check.batch_ranks(batch_ranks)
### BEGIN HIDDEN TESTS
from labkit.classroom.autograde import require

require("batch_ranks", batch_ranks)
### END HIDDEN TESTS

# %% [markdown] role="notes"
# **Notes for the instructor, question 1.** Exercise 3.1 is one query, and the query is not among its items.
# - Commonest mistake: the query stays in the sum. It adds nearly 1 to every rank, so everything still looks sensible; it
#   is what the released code of RS@k and Smooth-AP does. Ask for the rank of the nearest item.
# - Second: the item itself counts one half. Ask what $G(0)$ is.
# - The edge case is `1 / (1 + torch.exp(-x / tau))` at a tiny temperature: the value is right, the gradient is NaN. Do not
#   say "use sigmoid"; ask what inf / inf is.
# - A (B, B, B) tensor is fine here; lesson 5 and the library say how to do without it.

# %% [markdown]
# ## 2. A temperature that is safe (5 points, about 25 minutes)
#
# How sharp must the sigmoid be for soft ranks to be right? Take one query with $n$ items, `similarity` (n,), and let
# $\delta$ be the smallest distance between the similarities of any two items. A comparison of two items is off by at most
# $G(-\delta; \tau)$, since the hard comparison is 0 or 1. A rank adds up $n - 1$ comparisons, so no soft rank is off by
# more than
#
# $$(n - 1)\, G(-\delta; \tau).$$
#
# Return the largest $\tau$ for which this bound is at most `error` ($> 0$). Solve it on paper first. Two cases need a
# look: where every temperature will do, return `math.inf`; where none will, because two items are tied and `error` is too
# small for that, return 0.
#
# *Example.* `similarity = [0.1, 0.5, 0.3]`, `error = 0.1`: $\delta = 0.2$, and $2\, G(-0.2; \tau) = 0.1$ for
# $\tau = 0.2 / \log 19 = 0.0679$.


# %% question="safe_temperature" role="answer"
def safe_temperature(similarity: Tensor, error: float) -> float:
    """The largest temperature at which the bound on the error of all soft ranks is at most `error`."""
    ### BEGIN SOLUTION
    n = len(similarity)
    if error >= (n - 1) / 2:  # even with every G at one half
        return math.inf
    gap = similarity.sort().values.diff().min().item()
    return gap / math.log((n - 1) / error - 1)
    ### END SOLUTION


# %% question="safe_temperature" role="test"
check.safe_temperature(safe_temperature)
### BEGIN HIDDEN TESTS
from labkit.classroom.autograde import require

require("safe_temperature", safe_temperature)
### END HIDDEN TESTS

# %% [markdown]
# **See what it is good for.** Two recorded networks on a batch of 128 Omniglot drawings, 32 characters of 4: untrained,
# and trained with Smooth-AP at the papers' $\tau = 0.01$. Which temperature would be safe, if ranks may be off by one half?
# And which share of the pairs has a slope of at least 1 % of the largest, that is $|s_j - s_i| < 5.3\, \tau$?

# %%
from labkit.base.paths import RECORDED
from labkit.runs import open_run, read_embeddings, read_samples

for name in ("untrained", "smooth-ap"):
    run = open_run(f"omniglot_{name}_s0", RECORDED)
    codes = torch.as_tensor(read_embeddings(run)).double()
    classes = torch.as_tensor(read_samples(run)["label"].to_numpy().copy())
    chosen = torch.cat([(classes == c).nonzero().flatten()[:4] for c in classes.unique()[:32]])
    unit = torch.nn.functional.normalize(codes[chosen], dim=1)
    rows = [torch.cat([row[:q], row[q + 1 :]]) for q, row in enumerate(unit @ unit.T)]
    safe = float(np.median([safe_temperature(row, 0.5) for row in rows]))
    for tau in (0.01, safe):
        gaps = [row[None, :] - row[:, None] for row in rows]  # [i, j]: s_j − s_i
        wrong = [(torch.sigmoid(gap / tau).sum(1) - 0.5 - (gap > 0).sum(1)).abs().mean().item() for gap in gaps]
        alive = [((gap.abs() < 5.3 * tau).sum() - len(gap)).item() / (gap.numel() - len(gap)) for gap in gaps]
        print(
            f"{name:>9}, τ = {tau:8.1g}: ranks are off by {np.mean(wrong):7.4f} on average, "
            f"{100 * np.mean(alive):6.3f} % of the pairs have a slope"
        )

# %% [markdown] role="notes"
# **Notes for the instructor, question 2.** Goes beyond exercise 3.3 (which share of differences has a slope): from an
# error to a temperature.
# - Commonest mistakes: gaps of neighbours in the given order (not sorted); $n$ for $n - 1$; the lost 1 in
#   $1 + e^{\delta / \tau}$.
# - Help: "Write $G(-\delta; \tau) \le \varepsilon / (n - 1)$, take the reciprocal of both sides."
# - The two limits are for care. With `error ≥ (n − 1)/2` the bound holds at every temperature, ties or not; otherwise a
#   tie means $\tau = 0$. The formula gives the second by itself, and a negative number or an error for the first.
# - Bisection is a good answer, too.

# %% [markdown]
# ## Why does it train at all? (3 points, a few sentences)
#
# The papers train with $\tau = 0.01$. By your bound this is thousands of times too large, and for the untrained network
# the ranks are in fact off by several places. Why is the bound so far from what is measured for the trained network? And
# why would training at the safe temperature be a bad idea?

# %% [markdown] question="why_it_trains" role="written"
# The bound is the worst case twice over. It takes the smallest of about 8000 gaps between any two items for every
# comparison, although most items are far apart and their comparison is exact. And it adds up all errors with the same
# sign, although an item just before $i$ counts too little and one just behind counts too much, so that errors cancel.
#
# A comparison passes on a gradient only where it is not exact: the slope of $G$ is $G (1 - G) / \tau$, which is nothing
# where $G$ is 0 or 1. At the safe temperature every comparison is exact and hardly a pair has a slope (the table: less
# than one in 10,000), so the loss is right and nothing trains. The temperature trades the error of the count for the
# reach of the gradient, and the error is the price of having a gradient.

# %% [markdown] role="notes"
# **Notes for the instructor, text 1.** One point each for: the worst case (one gap stands for all); why it is less in
# fact (few near pairs, or errors of both signs); no error, no slope. For the third the formula of the slope is not needed,
# the idea is. A good extra: what counts is the order of the ranks of positives, not all ranks.

# %% [markdown]
# ## 3. RS@k for three recalls (7 points, about 40 minutes)
#
# `similarity` (B, B) and `labels` (B,) are a batch as in question 1; the positives $P$ of a query are the *other* items of
# its class. With the soft ranks of question 1 at temperature `tau_sim`, a positive $x$ counts as among the first $k$ by
#
# $$h_x^k = \sigma\Big(\frac{k - \tilde r(q, x)}{\tau_k}\Big)$$
#
# where `ks` and `tau_rank` are lists of the same length: every $k$ has its own temperature $\tau_k$. Lesson 2 has three
# recalls. Smooth each of them; `mode` says which:
#
# | mode | hard recall@k | soft recall@k |
# |---|---|---|
# | `"fraction"` | hits / $\lvert P\rvert$ | $\frac{1}{\lvert P\rvert} \sum_{x \in P} h_x^k$ |
# | `"capped"` | hits / $\min(k, \lvert P\rvert)$ | $\frac{1}{\min(k, \lvert P\rvert)} \min\big(k, \sum_{x \in P} h_x^k\big)$ |
# | `"any"` | 1 if there is a hit | $1 - \prod_{x \in P} (1 - h_x^k)$ |
#
# The first is the slides' formula. The second is what the released code trains on, except that we leave the query out of
# its own ranking. The third is what results tables report (E-SL-4). Return the loss: 1 minus the mean over all $k$, then
# the mean over the queries that have a positive. Gradients with respect to `similarity` count.
#
# *Example.* A query has two positives at the soft ranks 1 and 3; $k = 2$, $\tau_k = 1$. Then $h = (0.731, 0.269)$: the
# soft recall is 0.5 by fraction, $1 / 2 = 0.5$ by capped, and $1 - 0.269 \cdot 0.731 = 0.803$ by any.


# %% question="rs_loss" role="answer"
def rs_loss(
    similarity: Tensor, labels: Tensor, ks: list[int], tau_rank: list[float], tau_sim: float, mode: str
) -> Tensor:
    """RS@k loss of a batch; similarity (B, B), labels (B,), one tau_rank for each k; mode: fraction, capped or any."""
    ### BEGIN SOLUTION
    rank = batch_ranks(similarity, tau_sim)
    losses = []
    for q in range(len(labels)):
        positive = labels == labels[q]
        positive[q] = False
        if not positive.any():
            continue
        recalls = []
        for k, tau in zip(ks, tau_rank):
            h = torch.sigmoid((k - rank[q, positive]) / tau)
            if mode == "fraction":
                recalls.append(h.mean())
            elif mode == "capped":
                recalls.append(h.sum().clamp(max=k) / min(k, len(h)))
            else:
                recalls.append(1 - (1 - h).prod())
        losses.append(1 - torch.stack(recalls).mean())
    return torch.stack(losses).mean()
    ### END SOLUTION


# %% question="rs_loss" role="test"
check.rs_loss(rs_loss)
### BEGIN HIDDEN TESTS
from labkit.classroom.autograde import require

require("rs_loss", rs_loss)
### END HIDDEN TESTS

# %% [markdown]
# **See what it is good for.** Retrieval that cannot be better: all positives first, everything far apart. What is the
# loss, in each mode, with the slides' $K = \{1, 2, 4, 8, 16\}$, and what if $\tau_k$ is nearly 0?

# %%
KS = [1, 2, 4, 8, 16]
MODES = ("fraction", "capped", "any")
print("loss of perfect retrieval    " + "".join(f"{mode:>10}" for mode in MODES))
for size in (2, 4, 10):
    classes = torch.arange(6).repeat_interleave(size)
    perfect = torch.where(classes[:, None] == classes[None, :], 0.9, -0.5).double()
    perfect = perfect - 0.01 * torch.arange(len(classes))  # no two items tied
    for tau in (1.0, 0.01):
        found = [rs_loss(perfect, classes, KS, [tau] * len(KS), 1e-4, mode).item() for mode in MODES]
        print(f"classes of {size:2}, τ_k = {tau:4g}:     " + "".join(f"{loss:10.4f}" for loss in found))

# %% [markdown] role="notes"
# **Notes for the instructor, question 3.** Exercise 4.2 is one query, one $k$, fraction. The lesson's from-scratch code is
# for a batch, but with one temperature and fraction only.
# - Commonest mistakes: the query in its own ranking, and the slides' label $k - 1 - \tilde r$ (E-SL-1).
# - Averaging over all (query, positive) pairs instead of query by query: large classes then count more. It agrees with the
#   right answer when all classes have the same size, so ask for an unequal batch.
# - Capped without the cut at $k$: shows only when $\tau_k$ is large and there are many positives; $\sigma$ at ranks 1 to 6
#   can add up to more than 1.
# - Any: the maximum of the $h$ is a fair idea, but another surrogate, with a gradient for one positive only. Good to
#   discuss: what would it pull?
# - A loop over queries is fine.

# %% [markdown]
# ## A loss that does not go to zero (3 points, a few sentences)
#
# A colleague trains with mode fraction, $K = \{1, 2, 4, 8, 16\}$, $\tau_k = 1$ and four images of each class in a batch. Her
# loss has been near 0.28 for a while, and she says that training has stalled far from the optimum. With mode capped, she
# adds, the loss is only 0.11, so she will switch to it. Explain the table above to her: where do these floors come from
# in each mode? What should she look at instead?

# %% [markdown] question="floors" role="written"
# Perfect retrieval with $|P| = 3$ has the loss 0.2705 in mode fraction and 0.1021 in mode capped: she is within 0.01 of
# both. There are two reasons for a floor. First, $\sigma(0) = \frac12$ at every temperature: a positive at rank exactly
# $k$ is only half a hit. This is so in all three modes, and it stays when $\tau_k \to 0$ (mode any: half a hit at $k = 1$
# costs $\frac12 / 5 = 0.1$). Besides, with $\tau_k = 1$ hits within $k$ are not quite 1 and those behind not quite 0.
# Second, only in mode fraction: with $k < |P|$ not all positives fit among the first $k$, so even hard recall@k is below 1,
# and the floor grows with the class size (0.50 for ten images). Capped and any are normalised so that hard recall can
# reach 1.
#
# She should look at the metric itself on validation data, or at the loss minus the floor of its mode. The values of two
# modes cannot be compared; a smaller number in mode capped says nothing about which one trains better.

# %% [markdown] role="notes"
# **Notes for the instructor, text 2.** Lesson 4 has the floor of mode fraction (E-SL-3); new are the other two modes. One
# point for $\sigma(0) = \frac12$ in all modes, one for $k < |P|$ in mode fraction only, one for what to watch. Careful
# students notice that at $\tau_k = 0.01$ some floors are higher than at 1: a soft hit from behind $k$ also counts a little.

# %% [markdown]
# ## 4. What Smooth-AP pulls (7 points, about 40 minutes)
#
# One query, which is not among its items: `similarity` (n,), `positive` (n,) of bool, `tau`. With
# $R(i, S) = \sum_{j \in S, j \ne i} G(s_j - s_i; \tau)$ the Smooth-AP loss is (PNP paper, Eq. 4)
#
# $$L = 1 - \frac{1}{|S_P|} \sum_{i \in S_P} \frac{1 + R(i, S_P)}{1 + R(i, S_P) + R(i, S_N)}$$
#
# It depends on a similarity $s_m$ in two ways: through the counts of negatives and through the counts of positives. Split
# the gradient accordingly and return (2, n):
#
# $$\text{row 0: } \sum_{i \in S_P} \frac{\partial L}{\partial R(i, S_N)} \frac{\partial R(i, S_N)}{\partial s_m}, \qquad
# \text{row 1: } \sum_{i \in S_P} \frac{\partial L}{\partial R(i, S_P)} \frac{\partial R(i, S_P)}{\partial s_m}$$
#
# Both rows together are the gradient. Derive the four derivatives on paper. $R(i, S)$ depends on $s_i$ as well as on every
# $s_j$; therefore each row adds up to 0, a good check.
#
# *Example.* One positive at 0.5, one negative at 0.6, $\tau = 0.1$. $R(i, S_N) = G(0.1) = 0.731$, its slope is
# $0.731 \cdot 0.269 / 0.1 = 1.966$, and $\partial L / \partial R(i, S_N) = 1 / 1.731^2 = 0.334$. Row 0 is −0.656 for the
# positive and 0.656 for the negative; row 1 is 0.


# %% question="smooth_ap_pulls" role="answer"
def smooth_ap_pulls(similarity: Tensor, positive: Tensor, tau: float) -> Tensor:
    """(2, n): the gradient of the Smooth-AP loss with respect to similarity, through R(i, S_N) and through R(i, S_P)."""
    ### BEGIN SOLUTION
    p = positive.double()
    G = torch.sigmoid((similarity[None, :] - similarity[:, None]) / tau)  # [i, j]: j counts as before i
    slope = G * (1 - G) / tau
    R_pos, R_neg = (G @ p) - 0.5 * p, G @ (1 - p)  # a positive has counted itself as one half
    below = (1 + R_pos + R_neg) ** 2 * p.sum()
    by_negatives = p * (1 + R_pos) / below  # ∂L/∂R(i, S_N), 0 for rows that are no positive
    by_positives = -p * R_neg / below
    rows = []
    for outer, members in ((by_negatives, 1 - p), (by_positives, p)):
        force = outer[:, None] * slope * members[None, :]
        rows.append(force.sum(0) - force.sum(1))  # on every s_j, and on s_i; j = i cancels
    return torch.stack(rows)
    ### END SOLUTION


# %% question="smooth_ap_pulls" role="test"
check.smooth_ap_pulls(smooth_ap_pulls)
### BEGIN HIDDEN TESTS
from labkit.classroom.autograde import require

require("smooth_ap_pulls", smooth_ap_pulls)
### END HIDDEN TESTS

# %% [markdown]
# **See what it is good for.** Six positives and three negatives of one query, at a temperature that reaches across. The
# bars show where descent moves each item (minus the gradient); the ranking goes from right to left. The second part moves
# positives only, and it adds up to 0, so some positive is moved *down*. Which one, and how large is that against what the
# first part does to it?

# %%
from matplotlib.figure import Figure

from labkit.figures.style import COLORS

shown = torch.tensor([0.92, 0.85, 0.78, 0.7, 0.62, 0.58, 0.47, 0.4, 0.36], dtype=torch.float64)
is_positive = torch.tensor([False, True, True, False, True, True, False, True, True])
pulls = -smooth_ap_pulls(shown, is_positive, 0.05).detach()
fig = Figure(figsize=(7, 3.6), dpi=90, facecolor="white", layout="constrained")
for number, (row, title) in enumerate(zip(pulls, ("through R(i, S_N)", "through R(i, S_P)"))):
    axes = fig.add_subplot(2, 1, number + 1)
    for kind, color, marker in ((is_positive, COLORS[0], "o"), (~is_positive, COLORS[1], "s")):
        name = "positives" if marker == "o" else "negatives"
        axes.bar(shown[kind], row[kind], width=0.02, color=color)
        axes.plot(shown[kind], row[kind], marker, color=color, label=name)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_title(title, fontsize=10)
    axes.set_ylabel("move")
    axes.grid(alpha=0.25)
axes.set_xlabel("similarity")
axes.legend(frameon=False, fontsize=9)
labkit.show(
    fig,
    "Minus the gradient of Smooth-AP for six positives and three negatives along the similarity, in two parts. Through "
    "the negatives, positives are moved up and negatives down. Through the positives only positives move, less than "
    "before: the first one down, the others up.",
)

# %% [markdown] role="notes"
# **Notes for the instructor, question 4.** Exercise 3.2 is the loss; lesson 6 shows both outer derivatives as numbers
# (E-PNP-9). New are the inner derivatives and the split.
# - The commonest mistake is the sign of the second row: more positives before $i$ make $L$ smaller, so the derivative is
#   negative. Ask for AP of `0 1 1` against `0 1 0 1`: what does the second positive gain from the first?
# - Second: only $s_i$ gets a gradient. The hint "rows add up to 0" finds it.
# - Third: the missing $1 / |S_P|$, because the paper's Eq. 14 lacks it (E-PNP-2).
# - Autograd with one count detached is a legitimate and elegant answer; ask such students to derive one entry by hand.
# - Discussion: the second row is why PNP's "counting positives is redundant" is true of the best ranking and not of the
#   gradient.

# %% [markdown]
# ## Who and what helped?
#
# *Name people and tools here.*
