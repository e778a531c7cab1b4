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
# # Assignment 3. A loss by its derivative
#
# PNP sees of a positive only $R$, the number of negatives before it, and a loss is chosen by its derivative $g = dF/dR$.
# You follow $g$ down to the similarities, measure which positives it works on, turn points of $g$ into a loss, and free
# $R$ from the size of the batch.
#
# **30 points**: four functions (24) and two short texts (6). About 2 to 3 hours.
#
# **What you will show that you can do**
#
# 1. apply the chain rule to a loss of soft counts, without losing a factor;
# 2. say in a number which positives a derivative works on;
# 3. integrate a derivative exactly, with a gradient that is the derivative itself;
# 4. see what a quantity that depends on the batch size does to a loss, and mend it;
# 5. find an error in a published formula by differentiating it.
#
# **Working together.** Talk about the ideas with whomever you like. Write the code and the texts yourself, and name the
# people and the tools that helped you in the last cell.
#
# **Reading**
#
# - [Lesson 6](../06_design_a_loss.ipynb): PNP, its five variants, the notation used here.
# - Li et al., *Rethinking the Optimization of Average Precision: Only Penalizing Negative Instances before Positive Ones is
#   Enough*, AAAI 2022, Section "Variants of PNP": the design idea. Eq. 7 is not the integral of Eq. 6 (E-PNP-1), and the
#   printed derivatives leave out $1 / |S_P|$ (E-PNP-2).
# - Musgrave, Belongie, Lim, *A Metric Learning Reality Check*, ECCV 2020: what makes a comparison of losses
#   fair, for the last text.
#
# **Handing in, and how it is marked.** Hand in this notebook, with its name unchanged. Everything an answer needs must be
# in its cell or in another answer cell. Grading runs only the answer cells, and of other
# cells the functions and imports that answers use, with `import math`, `import numpy as np`,
# `import torch` and `from torch import Tensor` already done; labkit cannot be imported there. The check under each
# question shows the public cases only, grading uses more. Where a gradient counts, use torch operations throughout. Some
# cases ask for care (ties, no negatives, no pull); an answer that fails only there keeps a part of the points. Texts are
# marked by a person.
#
# **Notation.** $G(x; \tau) = 1 / (1 + e^{-x / \tau})$; $S_P$, $S_N$: the positives and negatives of a query; $s_i$ its
# similarity to item $i$; $R_i = R(i, S_N) = \sum_{j \in S_N} G(s_j - s_i; \tau)$.

# %%
import math  # noqa: F401

import numpy as np
import torch
from torch import Tensor

import labkit
from labkit import check

# %% [markdown]
# ## 1. Down to the similarities (6 points, about 35 minutes)
#
# The PNP loss of one query is $L = \frac{1}{|S_P|} \sum_{i \in S_P} F(R_i)$. Its derivative $g = dF/dR$ is, by `variant`:
#
# | `"O"` | `"Iu"` | `"Ib"` | `"Ds"` | `"Dq"` |
# |---|---|---|---|---|
# | $1$ | $\log(1 + R)$ | $\dfrac{R}{1 + bR}$ | $\dfrac{1}{1 + R}$ | $\dfrac{\alpha}{(1 + R)^{\alpha + 1}}$ |
#
# (For Iu this is Eq. 6, what the paper wants, not the derivative of its Eq. 7.) Return the gradient
# $\partial L / \partial s_m$ for **every** item $m$, positives and negatives, as a tensor (n,). `similarity` (n,) and
# `positive` (n,) of bool describe the ranking; the query is not among the items. Write down $\partial R_i / \partial s_m$
# first, for $m = i$ and for $m \in S_N$. All entries of the gradient add up to 0: why?
#
# *Example.* One positive at 0.5, negatives at 0.6 and 0.4, $\tau = 0.1$, Dq with $\alpha = 1$. $R = 0.731 + 0.269 = 1$ and
# $g = \frac14$. Both sigmoids have the slope $0.731 \cdot 0.269 / 0.1 = 1.966$. The gradient is −0.983 for the positive
# and 0.4915 for each negative.


# %% question="pnp_gradient" role="answer"
def pnp_gradient(similarity: Tensor, positive: Tensor, variant: str, alpha: float, b: float, tau: float) -> Tensor:
    """Gradient (n,) of the PNP loss of one query with respect to similarity (n,)."""
    ### BEGIN SOLUTION
    G = torch.sigmoid((similarity[~positive][None, :] - similarity[positive][:, None]) / tau)  # [i, j]
    R = G.sum(1)
    g = {
        "O": torch.ones_like(R),
        "Iu": torch.log1p(R),
        "Ib": R / (1 + b * R),
        "Ds": 1 / (1 + R),
        "Dq": alpha / (1 + R) ** (alpha + 1),
    }[variant]
    force = g[:, None] * G * (1 - G) / tau / positive.sum()  # of negative j on positive i
    gradient = torch.zeros_like(similarity)
    gradient[positive] = -force.sum(1)
    gradient[~positive] = force.sum(0)
    return gradient
    ### END SOLUTION


# %% question="pnp_gradient" role="test"
check.pnp_gradient(pnp_gradient)
### BEGIN HIDDEN TESTS
from labkit.classroom.autograde import require

require("pnp_gradient", pnp_gradient)
### END HIDDEN TESTS

# %% [markdown]
# **See what it is good for.** Two positives of one query: the first has one negative before it, the second has five. How
# does each variant share its gradient between them? A temperature of 0.03 lets the sigmoids reach their neighbours. A
# positive is pulled only as far as some negative is near: that is the other factor.

# %%
ranking = torch.tensor([0.9, 0.86, 0.7, 0.68, 0.66, 0.64, 0.61, 0.3], dtype=torch.float64)
wanted = torch.tensor([False, True, False, False, False, False, True, False])
for variant in ("Iu", "Ib", "O", "Ds", "Dq"):
    near, far = (-pnp_gradient(ranking, wanted, variant, 2.0, 4.0, 0.03))[wanted].tolist()
    print(f"{variant}: {near:7.3f} on the positive at rank 2, {far:7.3f} on the one at rank 7, ratio {far / near:6.2f}")

# %% [markdown] role="notes"
# **Notes for the instructor, question 1.** Exercise 6.1 is one of these derivatives; new is the chain down to the
# similarities, for all items.
# - Commonest mistake: only positives get a gradient. "All entries add up to 0" finds it: $L$ depends on differences only.
# - Second: $1 / |S_P|$, which the printed derivatives lack (E-PNP-2). Third: the $1 / \tau$ of the sigmoid.
# - Iu as the derivative of Eq. 7 (one too much): those students have differentiated the printed loss. Praise and explain.
# - Autograd is a legitimate answer, but Iu then needs the right integral, and the derivation is still worth asking for in
#   a talk. Very elegant: the gradient of the mean of $g \cdot R$ with $g$ held constant.

# %% [markdown]
# ## 2. Who is pulled? (4 points, about 20 minutes)
#
# `R` (n,) holds the counts of $n$ positives, `g` (n,) the derivative of the loss at each of them, `g` ≥ 0. Return the
# smallest count $r$ among `R` such that the positives with $R_i \le r$ together get **at least** `share` of the whole
# pull $\sum_i g_i$. With `share = 0.5` this is the count up to which half of the pull goes: small for a loss that works on
# positives that are nearly right, large for one that works on those far back. If all of `g` is 0, return 0.
#
# *Example.* `R = [4, 0, 1]`, `g = [0.1, 1.0, 0.5]`: the whole pull is 1.6. The positive with $R = 0$ gets 1.0 of it, at
# least half, so the result for `share = 0.5` is 0. For `share = 0.9` it is 1, since 1.5 ≥ 1.44.


# %% question="pull_quantile" role="answer"
def pull_quantile(R: Tensor, g: Tensor, share: float) -> float:
    """The smallest count such that positives with counts up to it get at least the share of all pull g (n,)."""
    ### BEGIN SOLUTION
    if not g.any():
        return 0.0
    order = R.argsort()
    reached = g[order].cumsum(0) >= share * g.sum()
    return R[order][reached][0].item()
    ### END SOLUTION


# %% question="pull_quantile" role="test"
check.pull_quantile(pull_quantile)
### BEGIN HIDDEN TESTS
from labkit.classroom.autograde import require

require("pull_quantile", pull_quantile)
### END HIDDEN TESTS

# %% [markdown]
# **See what it is good for.** Counts of real positives in batches of 128 Omniglot drawings, embedded by an untrained
# network and by one trained with PNP-D_q (lesson 6 draws the same as curves). The table shows up to which count half and
# nine tenths of the pull go, and the mean of $g$, which says how much pull there is at all.

# %%
from labkit.losses.pnp import pnp_derivative
from labkit.training.pairs import counts_of_run

DESIGNS = [("Iu-exact", 1.0), ("Ib", 1.0), ("O", 1.0), ("Ds", 1.0), ("Dq", 1.0), ("Dq", 4.0)]
for name in ("untrained", "pnp-dq"):
    counts = counts_of_run(f"omniglot_{name}_s0")[::6]
    print(f"embedded by {name}: half of the positives have at most {counts.median().item():.1f} negatives before them")
    for variant, alpha in DESIGNS:
        pull = pnp_derivative(counts, variant, alpha, 4.0)
        half, most = (float(pull_quantile(counts, pull, share)) for share in (0.5, 0.9))
        steep = f", α = {alpha:g}" if variant == "Dq" else ""
        print(f"  {variant + steep:>10}: half up to {half:6.2f}, 90 % up to {most:6.2f}; mean of g {pull.mean():.4f}")

# %% [markdown] role="notes"
# **Notes for the instructor, question 2.** Lesson 6 shows the shares as curves; this is one number of such a curve.
# - Commonest mistake: the median of $R$, not weighted. Second: the cumulated pull compared with `share` itself.
# - "At least" against "more than" shows only where the share is met exactly.
# - Sorting by $g$ instead of $R$ agrees for decreasing derivatives; ask for an increasing one.
# - `torch.searchsorted` and `np.interp` tempt; interpolation gives counts that no positive has.

# %% [markdown]
# ## 3. A loss from points of its derivative (7 points, about 40 minutes)
#
# You have drawn a derivative: `points` (m, 2) holds pairs $(r_k, g_k)$ with $0 \le r_1 < r_2 < \dots$ and $m \ge 2$. Between
# two points $g$ is a straight line; before the first it is $g_1$, behind the last it is $g_m$. Return
#
# $$F(R) = \int_0^R g(r)\, dr$$
#
# for every entry of `R` (n,), exactly, not by small steps. The gradient with respect to `R` counts, and it must be $g(R)$,
# also where $R$ is one of the $r_k$ or 0.
#
# *Example.* `points = [[0, 1], [2, 0.5]]`. $F(1) = 1 - \frac{0.25}{2} = 0.875$, with slope 0.75; $F(3) = 1.5 + 0.5 = 2$, with
# slope 0.5.


# %% question="loss_from_points" role="answer"
def loss_from_points(R: Tensor, points: Tensor) -> Tensor:
    """F(R) with F(0) = 0 and the derivative given by points (m, 2), linear between them and constant outside."""
    ### BEGIN SOLUTION
    r, g = points[:, 0], points[:, 1]
    if r[0] > 0:
        r, g = torch.cat([torch.zeros_like(r[:1]), r]), torch.cat([g[:1], g])
    area = torch.cat([torch.zeros_like(r[:1]), ((r[1:] - r[:-1]) * (g[1:] + g[:-1]) / 2).cumsum(0)])  # F at each point
    rise = torch.cat([(g[1:] - g[:-1]) / (r[1:] - r[:-1]), torch.zeros_like(g[:1])])
    k = (r[None, :] <= R.detach()[:, None]).sum(1) - 1  # the last point that is not behind R
    h = R - r[k]
    return area[k] + g[k] * h + rise[k] * h**2 / 2
    ### END SOLUTION


# %% question="loss_from_points" role="test"
check.loss_from_points(loss_from_points)
### BEGIN HIDDEN TESTS
from labkit.classroom.autograde import require

require("loss_from_points", loss_from_points)
### END HIDDEN TESTS

# %% [markdown]
# **See what it is good for.** Draw your own derivative: change `MINE` and run the cell again. The figure shows its loss
# and, as a check, the slope of your loss by autograd. Then the 2-D toy of lesson 7 is trained with it, 150 steps
# (`labkit.losses.from_derivative` does there what your function does, faster). One network proves nothing, so there are
# three seeds.

# %%
from matplotlib.figure import Figure

from labkit import losses
from labkit.figures.style import COLORS
from labkit.training.toy import train

MINE = [(0.0, 0.2), (1.0, 1.0), (4.0, 0.3), (12.0, 0.05)]

count = torch.linspace(0.01, 16, 160, dtype=torch.float64).requires_grad_()
value = loss_from_points(count, torch.tensor(MINE, dtype=torch.float64))
(slope,) = torch.autograd.grad(value.sum(), count)
fig = Figure(figsize=(6, 2.8), dpi=90, facecolor="white", layout="constrained")
axes = fig.add_subplot()
axes.plot(count.detach(), value.detach(), color=COLORS[0], label="loss F(R)")
axes.plot(count.detach(), slope, "--", color=COLORS[1], label="its slope by autograd")
axes.plot(*zip(*MINE), "s", color=COLORS[1], label="the points")
axes.set_xlabel("R: negatives before the positive")
axes.legend(frameon=False)
axes.grid(alpha=0.25)
labkit.show(fig, "A loss over R, the slope of it found by autograd, and the points that the slope was drawn through.")
for seed in range(3):
    before, after = train(losses.from_derivative(MINE), seed).recall
    print(f"toy, seed {seed}: R@1 of unseen classes {100 * before:.0f} % before training, {100 * after:.0f} % after")

# %% [markdown] role="notes"
# **Notes for the instructor, question 3.** Exercise 6.2 integrates one formula by hand; the library has this function, but
# grading cannot import it.
# - Commonest mistake: a loss that is right at the points and straight between them (`np.interp` of the cumulated
#   areas). Its value looks fine in a plot; its gradient is a staircase.
# - Second: `torch.trapezoid` on a fine grid: not exact and often without a gradient. Ask where the gradient of R goes in.
# - The parts before the first and behind the last point are in the public cases; read the text again.
# - For care: adding up `R.clamp(start, end)` over the stretches is elegant, but at a point itself `clamp` passes the
#   gradient on at both ends, so the slope is counted twice. Putting $g(R)$ in by hand (value + g · (R − R.detach())) is a
#   good answer.

# %% [markdown]
# ## A wrong integral (3 points, a few lines)
#
# An author wants the derivative $g(R) = R\, e^{-R}$ and prints the loss $F(R) = \frac12 R^2 e^{-R}$. Show that this is
# wrong, in a way that a reviewer could use at a glance. Give the right loss with $F(0) = 0$. Which positives does this
# derivative work on, and which does it leave alone?

# %% [markdown] question="a_wrong_integral" role="written"
# Differentiate it: the product rule gives $F'(R) = R\, e^{-R} - \frac12 R^2 e^{-R}$, which is not $g$. At a glance:
# $\frac12 R^2 e^{-R}$ goes back to 0 for large $R$, so it must fall somewhere (behind $R = 2$), although $g$ is positive
# everywhere and the loss may only grow. (The author has integrated the factor $R$ and left the other one as it was.)
#
# By parts: $\int_0^R r\, e^{-r}\, dr = \big[-r\, e^{-r}\big]_0^R + \int_0^R e^{-r}\, dr = 1 - (1 + R)\, e^{-R}$. Check: its
# derivative is $-e^{-R} + (1 + R)\, e^{-R} = R\, e^{-R}$.
#
# $g$ is 0 at $R = 0$, largest at $R = 1$ and nearly 0 beyond $R = 6$. It leaves those alone that are right already, and it
# gives up those that are far back; it works on positives with about one negative before them. With an untrained network,
# where typical counts are 20 and more, there is hardly any gradient.

# %% [markdown] role="notes"
# **Notes for the instructor, text 1.** The same kind of slip as the paper's Eq. 7 (E-PNP-1), in another formula. Accept a
# check at one value of $R$, e.g. $R = 2$, where $F' = 0$ and $g > 0$. For the third point "nearly right" is not enough:
# $R = 0$ gets nothing, unlike with D_q.

# %% [markdown]
# ## 4. PNP for a batch of any size (7 points, about 40 minutes)
#
# $R$ counts negatives *of the batch*: with twice as many negatives it is twice as large, and $F(R)$ means something else.
# Let $M$ be a number of negatives of your choice (`negatives`) and count as if every query had $M$ of them:
#
# $$\hat R_i = M \cdot \frac{R(i, S_N)}{|S_N|}, \qquad L_q = 1 - \frac{1}{|S_P|} \sum_{i \in S_P} \big(1 + \hat R_i\big)^{-\alpha}$$
#
# `similarity` (B, B) has a row for each query, `labels` (B,) are the classes. The positives of a query are the other items
# of its class, the negatives all items of other classes. Return the mean of $L_q$ over the queries that have a positive.
# Classes may have different sizes; a query without negatives has $\hat R_i = 0$. The gradient with respect to `similarity`
# counts.
#
# *Example.* A query has one positive and two negatives, one of them far before the positive, one far behind: $R = 1$. With
# $M = 10$ and $\alpha = 1$: $\hat R = 10 \cdot 1 / 2 = 5$ and $L_q = 1 - \frac16 = 0.833$.


# %% question="pnp_batch" role="answer"
def pnp_batch(similarity: Tensor, labels: Tensor, alpha: float, tau: float, negatives: float) -> Tensor:
    """PNP-D_q of a batch, R scaled to a given number of negatives; similarity (B, B), labels (B,)."""
    ### BEGIN SOLUTION
    losses_of_queries = []
    for q, s in enumerate(similarity):
        same = labels == labels[q]
        positive = same.clone()
        positive[q] = False
        if not positive.any():
            continue
        R = torch.sigmoid((s[~same][None, :] - s[positive][:, None]) / tau).sum(1)
        scaled = R * negatives / max(1, int((~same).sum()))
        losses_of_queries.append(1 - ((1 + scaled) ** -alpha).mean())
    return torch.stack(losses_of_queries).mean()
    ### END SOLUTION


# %% question="pnp_batch" role="test"
check.pnp_batch(pnp_batch)
### BEGIN HIDDEN TESTS
from labkit.classroom.autograde import require

require("pnp_batch", pnp_batch)
### END HIDDEN TESTS

# %% [markdown]
# **See what it is good for.** The same embeddings in batches of 16 to 128 (random characters of the test set, four
# drawings each), D_q with $\alpha = 1$: once with $R$ as it is counted, once scaled to $M = 124$ negatives. The network is
# the same in every row of a column; only the batch changes.

# %%
from labkit.base.paths import RECORDED
from labkit.runs import open_run, read_embeddings, read_samples

for name in ("untrained", "smooth-ap"):
    run = open_run(f"omniglot_{name}_s0", RECORDED)
    unit = torch.nn.functional.normalize(torch.as_tensor(read_embeddings(run)).double(), dim=1)
    classes = torch.as_tensor(read_samples(run)["label"].to_numpy().copy())
    generator = torch.Generator().manual_seed(0)
    for number, draws in ((4, 16), (8, 8), (16, 4), (32, 2)):
        plain, scaled = [], []
        for _ in range(draws):
            kinds = classes.unique()[torch.randperm(len(classes.unique()), generator=generator)[:number]]
            chosen = torch.cat([(classes == kind).nonzero().flatten()[:4] for kind in kinds])
            similarity = unit[chosen] @ unit[chosen].T
            plain.append(pnp_batch(similarity, classes[chosen], 1.0, 0.01, float(4 * (number - 1))).item())
            scaled.append(pnp_batch(similarity, classes[chosen], 1.0, 0.01, 124.0).item())
        print(f"{name:>9}, batch of {4 * number:3}: loss {np.mean(plain):.3f} as counted, {np.mean(scaled):.3f} scaled")

# %% [markdown]
# For the untrained network the scaled loss hardly depends on the batch. For the trained one it still does, though less:
# a few negatives estimate a small share badly, and $F$ is concave, so the mean of $F$ over noisy counts lies below $F$ of
# the mean count. Scaling changes the unit of $R$; it does not make a small batch a large one.

# %% [markdown] role="notes"
# **Notes for the instructor, question 4.** Lesson 6 has PNP for a batch from scratch, exercise 6.3 one query; new is the
# scale, with its care for unequal classes ($|S_N|$ differs from query to query).
# - Commonest mistake: dividing by $B - 1$ or $B$ instead of $|S_N|$. It agrees in order, not in value.
# - Second: scaling the loss instead of $R$. Ask what $F$ of a share would be without $M$.
# - Averaging over pairs instead of queries shows only with unequal classes.
# - The zoo holds the released code's three: the query as its own positive, the missing "1 −", and no labels beyond
#   position.
# - If $M = |S_N|$ for all queries, this is the published D_q: a test that good students write themselves.

# %% [markdown]
# ## Which derivative would you choose? (3 points, a few sentences)
#
# Use the table of question 2. (a) You train a network from scratch; all labels are right. (b) You fine-tune a good network
# on data in which one label in ten is wrong, so that some "positives" are items of another class. Which kind of derivative
# would you choose in each case, and why? How would you find out whether you are right?

# %% [markdown] question="choose_a_derivative" role="written"
# (a) At the start half of the positives have 25 or more negatives before them. D_q with $\alpha = 4$ sends half of its pull
# to positives with less than one negative before them, and there are few of those: its mean derivative is 0.002. So I would
# not take a large $\alpha$, but a derivative that still pulls at larger $R$: D_s or D_q with $\alpha = 1$, or O or I_b. Which
# of these is best the table cannot say: in lesson 6's runs from scratch D_q with $\alpha = 1$ beats O and I_b, although they
# pull far more.
#
# (b) A positive with a wrong label looks like another class, so many negatives are more similar to the query than it is:
# its $R$ is large. In a good network most right positives have $R$ near 0, so a large $R$ is a sign of a wrong label. An
# increasing derivative spends most of its pull on them (I_u: half of it beyond $R = 7$), a decreasing one gives them next
# to nothing. I would take D_s or D_q.
#
# To find out: train each with the same budget and the same number of tuning trials, choose settings on validation data,
# repeat with at least three seeds and compare paired differences with an interval. The table says where the pull goes, not
# what comes of it.

# %% [markdown] role="notes"
# **Notes for the instructor, text 2.** Other choices earn the points if they are argued from the table: for (a) that $R$ is
# large at the start, for (b) that wrong positives have large $R$. Do not accept "D_q because the paper found it best":
# that was from ImageNet weights. Our own runs on Omniglot from scratch also have D_q with $\alpha = 1$ in front of O and I_b;
# whoever looks that up in lesson 6 has understood the third part: a share of the pull is not yet a result.

# %% [markdown]
# ## Who and what helped?
#
# *Name people and tools here.*
