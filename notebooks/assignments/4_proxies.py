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
# # Assignment 4. Proxies: from SoftTriple to MPA
#
# SoftTriple gives a class several proxies; ProxyAnchor lets a class look at all samples of a batch at once. MPA does
# both. You build its two halves, find out which similarity has a say in which gradient, and measure how many of a
# class's proxies really work.
#
# **30 points**: four functions (24) and two short texts (6). About 2 to 3 hours.
#
# **What you will show that you can do**
#
# 1. compute the similarity of a sample to a class whose number of proxies differs from class to class;
# 2. derive the gradient of a log-sum loss by hand, and compute it without overflow;
# 3. read from a formula which similarities share a gradient, and write it down as a matrix;
# 4. follow a gradient through a soft maximum to single proxies;
# 5. say what a bound on a gradient means for a batch.
#
# **Working together.** Talk about the ideas with whomever you like. Write the code and the texts yourself, and name the
# people and the tools that helped you in the last cell.
#
# **Reading**
#
# - [Lesson 8](../08_proxies.ipynb): all losses of this assignment, with the notation used here.
# - Saeki, Kawahara, Aman, *Multi Proxy Anchor Family Loss for Several Types of Gradients*, 2023: MPA. Eqs 8
#   and 9 are right; Eq. 5 and Eq. 14 have errors (E-MPA-1, E-MPA-5), so do not build on them.
# - Qian et al., *SoftTriple Loss*, ICCV 2019: why several centres.
# - Kim, Kim, Cho, Kwak, *Proxy Anchor Loss*, CVPR 2020: what the gradient of a log-sum does.
#
# **Handing in, and how it is marked.** Hand in this notebook, with its name unchanged. Everything an answer needs must be
# in its cell or in another answer cell. Grading runs only the answer cells, and of other
# cells the functions and imports that answers use, with `import math`, `import numpy as np`,
# `import torch` and `from torch import Tensor` already done; labkit cannot be imported there. The check under each
# question shows the public cases only, grading uses more. Some cases ask for care (large exponents, empty sums); an
# answer that fails only there keeps a part of the points. Texts are marked by a person.
#
# **Notation.** $x_i$ is an embedding of class $c_i$, $w_{ck}$ the $k$-th proxy of class $c$; $N$ samples, $C$ classes, at
# most $K$ proxies per class. $S(x, c)$ is the similarity of a sample to a class.

# %%
import math

import numpy as np
import torch
from torch import Tensor

import labkit
from labkit import check

# %% [markdown]
# ## 1. Classes with different numbers of proxies (5 points, about 25 minutes)
#
# MPA takes the same $K$ for all classes. But the number of centres is a property of the class. Let class $c$ have the
# proxies $k$ with `exists[c, k]`; the other rows of `proxies[c]` mean nothing and may hold any finite number. Embeddings
# and proxies are not normalised yet. With $s_{ck} = \cos(x, w_{ck})$, return
#
# $$S(x, c) = \sum_{k:\ \mathrm{exists}} p_{ck}\, s_{ck}, \qquad p_{ck} = \frac{e^{s_{ck} / \gamma}}{\sum_{l:\ \mathrm{exists}} e^{s_{cl} / \gamma}}$$
#
# for every sample and class, (N, C). Every class has at least one proxy. The gradients with respect to embeddings and
# proxies count, too: a row that is no proxy gets none.
#
# *Example.* One sample, one class, $s = (0.8, 0.2, 0.5)$, of which the third is no proxy, and $\gamma = 0.6$: the weights
# are $e^{1.333} : e^{0.333} = 0.731 : 0.269$, and $S = 0.731 \cdot 0.8 + 0.269 \cdot 0.2 = 0.639$.


# %% question="ragged_similarity" role="answer"
def ragged_similarity(embeddings: Tensor, proxies: Tensor, exists: Tensor, gamma: float) -> Tensor:
    """S (N, C) of embeddings (N, D) and proxies (C, K, D), of which those with exists (C, K) count."""
    ### BEGIN SOLUTION
    x = torch.nn.functional.normalize(embeddings, dim=1)
    w = torch.nn.functional.normalize(proxies, dim=2)  # a row of zeros stays zero, with a finite gradient
    s = torch.einsum("nd,ckd->nck", x, w)
    p = torch.softmax((s / gamma).masked_fill(~exists, -torch.inf), dim=2)
    return (p * s).sum(2)
    ### END SOLUTION


# %% question="ragged_similarity" role="test"
check.ragged_similarity(ragged_similarity)
### BEGIN HIDDEN TESTS
from labkit.classroom.autograde import require

require("ragged_similarity", ragged_similarity)
### END HIDDEN TESTS

# %% [markdown] role="notes"
# **Notes for the instructor, question 1.** One step beyond exercise 8.1 (one sample, all proxies exist).
# - Commonest mistake: setting the *similarity* of a missing proxy to 0 instead of its *weight*. Ask: what does a proxy at
#   a right angle weigh?
# - Second: multiplying the softmax by the mask and not dividing again. Ask what the weights must add up to.
# - `x / x.norm()` gives NaN in the gradient where a missing row is all zeros, even if the value is masked: NaN · 0 is NaN.
#   This is the edge case; do not name it, ask what the gradient of a norm is at zero.
# - A loop over classes with `v[exists]` is a good answer and avoids all of this.

# %% [markdown]
# ## 2. The weights of MPA (6 points, about 35 minutes)
#
# With $X_c^+$ the samples of class $c$ in the batch, $X_c^-$ all other samples, and $C^+$ the classes that are in the
# batch, MPA is (Eq. 6; for $C^-$, which the paper does not define, we take all $C$ classes, E-MPA-4)
#
# $$L = \frac{1}{|C^+|} \sum_{c \in C^+} \log\Big(1 + \sum_{x \in X_c^+} e^{-\alpha (S(x, c) - \delta)}\Big) + \frac{1}{C} \sum_{c} \log\Big(1 + \sum_{x \in X_c^-} e^{\alpha (S(x, c) + \delta)}\Big)$$
#
# Return the matrix of weights $\partial L / \partial S(x_i, c)$, (N, C): below zero is a pull to the class, above zero a
# push from it. Derive it on paper first, and write it without autograd if you can. Beware of $e^{\alpha}$: one of the
# cases has $\alpha = 2000$. A sum over no samples is 0.
#
# *Example.* Two samples of class 0, two classes, $\alpha = 2$, $\delta = 0$, all similarities 0. Class 0 has the positive
# part $\log(1 + 1 + 1)$, so each of its samples has the share $1/3$, and the weight is
# $\frac{1}{1} \cdot (-2) \cdot \frac13 = -0.667$. Class 1 pushes both with $\frac12 \cdot 2 \cdot \frac13 = 0.333$. The
# result is $((-0.667, 0.333), (-0.667, 0.333))$.


# %% question="mpa_weights" role="answer"
def mpa_weights(similarity: Tensor, labels: Tensor, alpha: float, delta: float) -> Tensor:
    """∂L/∂S (N, C) of MPA, from S (N, C) and labels (N,)."""
    ### BEGIN SOLUTION
    C = similarity.shape[1]
    own = labels[:, None] == torch.arange(C)
    zero = similarity.new_zeros(1, C)  # e^0 is the "1 +" of every class
    pull = (-alpha * (similarity - delta)).masked_fill(~own, -torch.inf)
    push = (alpha * (similarity + delta)).masked_fill(own, -torch.inf)
    # the slope of log(1 + Σ e^u) is a softmax with one more entry, 0
    pull_share = torch.softmax(torch.cat([zero, pull]), dim=0)[1:]
    push_share = torch.softmax(torch.cat([zero, push]), dim=0)[1:]
    return -alpha * pull_share / own.any(0).sum() + alpha * push_share / C
    ### END SOLUTION


# %% question="mpa_weights" role="test"
check.mpa_weights(mpa_weights)
### BEGIN HIDDEN TESTS
from labkit.classroom.autograde import require

require("mpa_weights", mpa_weights)
### END HIDDEN TESTS

# %% [markdown]
# Your two functions are all of MPA's similarity loss: `S.backward(weights)` passes the weights on to samples and
# proxies. Below, three classes on a circle, with three, one and two clusters in turn. Only the proxies learn, from three
# random starts. One proxy per class cannot cover the clusters; as many as there are clusters can.

# %%
from labkit.figures import style

CLUSTERS = ((0.0, 120.0, 240.0), (60.0,), (180.0, 300.0))  # degrees, class by class
degrees = torch.tensor([a for where in CLUSTERS for a in where], dtype=torch.float64).repeat_interleave(20)
which = torch.tensor([c for c, where in enumerate(CLUSTERS) for _ in where]).repeat_interleave(20)
source = torch.Generator().manual_seed(0)
turn = torch.deg2rad(degrees + 6 * torch.randn(len(degrees), generator=source, dtype=torch.float64))
samples = torch.stack([turn.cos(), turn.sin()], 1)


def learn(counts: tuple[int, ...], seed: int) -> tuple[Tensor, Tensor, float]:
    """Proxies after 300 steps, which of them exist, and the share of samples that are nearest to their own class."""
    exists = torch.arange(max(counts)) < torch.tensor(counts)[:, None]
    start = torch.Generator().manual_seed(seed)
    v = torch.randn(3, max(counts), 2, generator=start, dtype=torch.float64).requires_grad_()
    optimizer = torch.optim.Adam([v], lr=0.05)
    for _ in range(300):
        optimizer.zero_grad()
        S = ragged_similarity(samples, v, exists, 0.1)
        S.backward(mpa_weights(S.detach(), which, 8.0, 0.1))
        optimizer.step()
    nearest = ragged_similarity(samples, v.detach(), exists, 0.1).argmax(1)
    return v.detach(), exists, (nearest == which).double().mean().item()


def points(where: Tensor, c: int, name: str, **look) -> dict:
    """One trace of a figure."""
    x, y = where.T.tolist()
    return {"type": "scatter", "x": x, "y": y, "mode": "markers", "name": name, "marker": style.marker(c, **look)}


traces = [points(samples[which == c][::4], c, f"class {c}, samples", size=6) for c in range(3)]
for radius, counts in ((0.45, (1, 1, 1)), (0.75, (3, 1, 2))):
    found = [learn(counts, seed) for seed in range(3)]
    told = ", ".join(f"{right:.0%}" for _, _, right in found)
    print(f"proxies per class {counts}: nearest to their own class, for three starts: {told} of the samples")
    v, exists, _ = found[0]
    for c in range(3):
        at = radius * torch.nn.functional.normalize(v[c][exists[c]], dim=1)
        traces.append(points(at, c, f"class {c}, proxies: {counts[c]}", size=16, symbol="star"))
fig = style.figure(*traces, height=460)
fig.update_xaxes(range=[-1.2, 1.2], visible=False)
fig.update_yaxes(range=[-1.2, 1.2], visible=False, scaleanchor="x")
labkit.show(
    fig,
    "Samples of three classes on a circle, in six clusters, and inside it the proxies after training (stars): on the "
    "inner ring with one proxy per class, on the outer ring with as many as the class has clusters. There each cluster "
    "has a proxy of its class; the single proxy of a class cannot be at two or three places.",
)

# %% [markdown] role="notes"
# **Notes for the instructor, question 2.** Exercise 8.2 asks for the loss; here the derivative is asked for.
# - Autograd on the loss of exercise 8.2 passes, and may: the loss has to be written stably for it. Who does it by hand
#   learns that the slope of a log-sum is a softmax.
# - Look for: the divisors (classes *in the batch* for the pull, *all* classes for the push), and the "1 +", whose missing
#   shows as shares that add up to exactly 1.
# - NaN at α = 2000 is ∞/∞. A hint that does not give it away: "divide numerator and denominator by the largest term".
# - In the one-class batch a class has no others: its column gets no push at all, and no NaN.

# %% [markdown]
# ## Text 1. How much pull, how much push? (3 points)
#
# The cell below adds up $|\partial L / \partial S|$ over all pulls of a batch, and over all pushes, for random
# similarities and several sizes of batch.

# %%
for N, C in ((4, 3), (32, 3), (32, 100), (256, 100)):
    S = torch.rand(N, C, generator=source, dtype=torch.float64) - 0.5
    y = torch.randint(C, (N,), generator=source)
    weights = mpa_weights(S, y, 32.0, 0.1)
    own = y[:, None] == torch.arange(C)
    print(f"{N:>3} samples, {C:>3} classes, α = 32: all pulls {-weights[own].sum():.2f}, all pushes "
          f"{weights[~own].sum():.2f}, mean pull of a sample {-weights[own].mean():.3f}")  # fmt: skip

# %% [markdown]
# Show from the formula that neither total can exceed $\alpha$, however many samples and classes there are. What follows
# for a single sample when the batch grows, and the learning rate of plain gradient descent stays? (5 to 10 lines.)

# %% [markdown] question="total_pull_and_push" role="written"
# The slope of $\log(1 + \sum_j e^{u_j})$ in $u_j$ is $e^{u_j} / (1 + \sum_l e^{u_l})$. These shares are positive, and they
# add up to $1 - 1 / (1 + \sum_l e^{u_l}) < 1$. The inner derivative of $u = \mp\alpha(S \mp \delta)$ has the size
# $\alpha$. So one logarithm passes on less than $\alpha$ in all. The positive part has $|C^+|$ logarithms and is divided
# by $|C^+|$: all pulls together stay below $\alpha$. The negative part has $C$ logarithms and is divided by $C$: the same.
#
# For a single sample: there are $N$ own similarities, so the mean pull is below $\alpha / N$, and likewise the mean push
# of a sample over all classes. In a batch that is ten times as large each sample is moved ten times less, as with any
# mean over the batch. But the totals are not shared equally: within one class the sample that is worst off takes
# nearly all. A well-placed sample can get nothing because of another one.

# %% [markdown]
# ## 3. Who has a say in whose gradient (6 points, about 35 minutes)
#
# Write all $N \cdot C$ similarities in a row: place $i \cdot C + c$ is $S(x_i, c)$. Return the matrix
# $(N C, N C)$ of booleans that is True at $(a, b)$ if similarity $b$ has a say in the gradient of similarity $a$, that
# is, if $\partial^2 L / \partial S_a\, \partial S_b$ is not zero for all values of the similarities. Only the labels, the number
# of classes and the loss decide this; no similarity is given. (For a batch with these labels; classes without a sample
# in the batch have places, too.)
#
# | `loss` | formula, mean over samples where not said otherwise |
# |---|---|
# | `"proxy-nca"` | $-\log \dfrac{e^{\lambda S(x_i, c_i)}}{\sum_{c \neq c_i} e^{\lambda S(x_i, c)}}$ |
# | `"soft-triple"` | $-\log \dfrac{e^{\lambda (S(x_i, c_i) - \delta)}}{e^{\lambda (S(x_i, c_i) - \delta)} + \sum_{c \neq c_i} e^{\lambda S(x_i, c)}}$ |
# | `"mpa"` | the loss of question 2 |
# | `"mpa-dw"` | $\log\big(1 + e^{-\alpha (S(x_i, c_i) - \delta)}\big) + \log\big(1 + \sum_{c \neq c_i} e^{\alpha (S(x_i, c) + \delta)}\big)$ |
# | `"mpa-ap"` | $\log\big(1 + e^{-\alpha (S(x_i, c_i) - \delta)} + \sum_{c \neq c_i} e^{\alpha (S(x_i, c) + \delta)}\big)$ |
#
# Lesson 8 computes such a matrix from second derivatives at one point. Here it is to follow from the structure. Mind
# what is left of a loss when there are very few classes: $\log e^u = u$.
#
# *Example.* MPA-DW, one sample of class 0, three classes. The own class stands alone in its logarithm, the two others
# share one:
#
# $$\begin{pmatrix} 1 & 0 & 0 \\ 0 & 1 & 1 \\ 0 & 1 & 1 \end{pmatrix}$$


# %% question="enters_gradient" role="answer"
def enters_gradient(labels: Tensor, num_classes: int, loss: str) -> Tensor:
    """Booleans (N·C, N·C): whether the column's similarity has a say in the gradient of the row's."""
    ### BEGIN SOLUTION
    N, C = len(labels), num_classes
    sample = torch.arange(N).repeat_interleave(C)
    c = torch.arange(C).repeat(N)
    own = labels[sample] == c
    same_sample = sample[:, None] == sample
    same_class = c[:, None] == c
    same_kind = own[:, None] == own  # both pulled or both pushed
    if loss == "mpa":  # a logarithm for the own samples of a class, one for the others
        return same_class & same_kind
    if loss == "mpa-dw":  # a logarithm for the own class of a sample, one for the others
        return same_sample & same_kind
    if loss == "mpa-ap":  # one logarithm per sample
        return same_sample
    if loss == "soft-triple":  # one logarithm per sample; with one class the loss is −log 1
        return same_sample & (C > 1)
    # ProxyNCA is linear in the own similarity, and with two classes in the other one as well
    return same_sample & ~own[:, None] & ~own & (C > 2)
    ### END SOLUTION


# %% question="enters_gradient" role="test"
check.enters_gradient(enters_gradient)
### BEGIN HIDDEN TESTS
from labkit.classroom.autograde import require

require("enters_gradient", enters_gradient)
### END HIDDEN TESTS

# %% [markdown]
# What it is good for: the number of True entries in a row says how many similarities one gradient depends on. A random
# batch of 12 labels of 8 classes:

# %%
y = torch.randint(8, (12,), generator=source)
for loss in ("proxy-nca", "soft-triple", "mpa", "mpa-dw", "mpa-ap"):
    matrix = enters_gradient(y, 8, loss)
    place = torch.arange(12).repeat_interleave(8)
    across = matrix & (place[:, None] != place)
    own = (y[:, None] == torch.arange(8)).flatten()
    print(f"{loss:>11}: a pull depends on {matrix[own].sum(1).double().mean():.1f} similarities, a push on "
          f"{matrix[~own].sum(1).double().mean():.1f}; {'' if across.any() else 'none '}of other samples")  # fmt: skip

# %% [markdown] role="notes"
# **Notes for the instructor, question 3.** Lesson 8 has the same matrix as a figure, by autograd at one point (so does
# `labkit.figures.lessons.proxies`); a student may use second derivatives, too, but needs the loss and must exclude accidental
# zeros.
# - Diagonal: log(1 + e^u) is not linear, so a similarity has a say in its own gradient. ProxyNCA's own similarity has
#   not: it is the one exception, and the reason why its pull never ends.
# - Typical confusion: comparing the *labels* of two samples for MPA instead of the *classes* the two similarities are
#   about. Draw two columns of S and ask which entries stand in one logarithm.
# - Edge cases: ProxyNCA with two classes is linear altogether; SoftTriple with one class is the constant 0.

# %% [markdown]
# ## Text 2. One sample of each class (3 points)
#
# The MPA paper draws batches of 32 at random from SOP, 59,551 images of 11,318 training classes. All 32 are then nearly
# always of different classes:

# %%
same_class = (59_551 / 11_318 - 1) / (59_551 - 1)  # of two images, if all classes are equally large
print(f"all 32 of different classes: {math.exp(-math.comb(32, 2) * same_class):.1%} of the batches")

# %% [markdown]
# Compare MPA (question 2) with MPA-DW (the table of question 3) on such a batch, without regulariser:
#
# 1. Which part of the two losses is the same? Show it.
# 2. Which part differs, and who stands in one logarithm there?
# 3. The paper's Table 1 has a tick in brackets, "(✓)", for MPA under "P-P relations". What is left of it on SOP?

# %% [markdown] question="one_sample_a_class" role="written"
# 1. The positive part. Every class in the batch has one sample, so each logarithm has one term, and $|C^+| = N = 32$: both
#    are $\frac{1}{32} \sum_i \log(1 + e^{-\alpha (S(x_i, c_i) - \delta)})$.
# 2. The negative part. MPA has a logarithm for each of the 11,318 classes and sums over the 31 or 32 samples that are not
#    of that class; MPA-DW has one for each of the 32 samples and sums over 11,317 classes. In MPA the samples compete
#    for the push of a class; in MPA-DW the classes compete for a sample.
# 3. P-P relations are relations between two samples of one class in one logarithm. In such a batch there is none, so
#    nothing is left: the bracket says that MPA considers them only if the batch has them. MPA and MPA-DW can differ on
#    SOP only by their push.

# %% [markdown] role="notes"
# **Notes for the instructor, texts 1 and 2.** Text 1: the bound needs the "1 +" only for "less than"; full points also
# for "at most". A good answer says that the bound is for the whole batch, not for one sample. Text 2: that 32 random
# samples of SOP are of 32 different classes is printed above (and lesson 8, first figure: 0.2 % of the items have a
# partner). Students who say "MPA and MPA-DW are the same on SOP" have missed part 2.

# %% [markdown]
# ## 4. How many proxies work? (7 points, about 40 minutes)
#
# Ten proxies per class cost ten times as much. Do they all learn? Let $s_{ick} = x_i \cdot w_{ck}$ be given, (N, C, K); every
# proxy exists. $S(x_i, c)$ is the soft maximum of question 1 over $k$, and $L$ is MPA of question 2 without the
# regulariser. A proxy's share of the gradient of its class is
#
# $$q_{ck} = \frac{\sum_i |\partial L / \partial s_{ick}|}{\sum_l \sum_i |\partial L / \partial s_{icl}|}, \qquad \frac{\partial L}{\partial s_{ick}} = \frac{\partial L}{\partial S(x_i, c)} \cdot \frac{\partial S(x_i, c)}{\partial s_{ick}}$$
#
# Return $q$, (C, K): rows add up to 1. If no proxy of a class gets any gradient, its row is 0. You may call
# `mpa_weights`. Remember that the weights $p$ of the soft maximum depend on $s$, too.
#
# *Example.* One class, one sample of it, $K = 2$, $s = (0.8, 0.2)$, $\gamma = 0.6$: $p = (0.731, 0.269)$, $S = 0.639$. The
# slopes $\partial S / \partial s$ are $0.731 \cdot (1 + 0.161 / 0.6) = 0.928$ and $0.269 \cdot (1 - 0.439 / 0.6) = 0.072$. The factor
# $\partial L / \partial S$ is the same for both and drops out: $q = (0.928, 0.072)$.


# %% question="proxy_shares" role="answer"
def proxy_shares(similarity: Tensor, labels: Tensor, alpha: float, delta: float, gamma: float) -> Tensor:
    """Share (C, K) of each proxy in its class's gradient, from s (N, C, K) and labels (N,)."""
    ### BEGIN SOLUTION
    p = torch.softmax(similarity / gamma, dim=2)
    S = (p * similarity).sum(2)
    slope = p * (1 + (similarity - S[..., None]) / gamma)  # product rule: p depends on s as well
    size = (mpa_weights(S, labels, alpha, delta)[..., None] * slope).abs().sum(0)
    total = size.sum(1, keepdim=True)
    return size / torch.where(total > 0, total, 1.0)
    ### END SOLUTION


# %% question="proxy_shares" role="test"
check.proxy_shares(proxy_shares)
### BEGIN HIDDEN TESTS
from labkit.classroom.autograde import require

require("proxy_shares", proxy_shares)
### END HIDDEN TESTS

# %% [markdown]
# From the shares one can compute how many proxies work: $e^{H}$ with the entropy $H = -\sum_k q_k \log q_k$ is 10 if ten
# proxies share equally, and 1 if one takes all. Below, 64 random embeddings of 8 classes with 10 random proxies each, in
# 16 dimensions. The paper uses $\gamma = 0.1$.

# %%
source = torch.Generator().manual_seed(0)
x = torch.nn.functional.normalize(torch.randn(64, 16, generator=source, dtype=torch.float64), dim=1)
w = torch.nn.functional.normalize(torch.randn(8, 10, 16, generator=source, dtype=torch.float64), dim=2)
s, y = torch.einsum("nd,ckd->nck", x, w), torch.arange(64) % 8
GAMMAS = np.geomspace(0.005, 2, 25)
curves = []
for number, alpha in enumerate((2.0, 32.0)):
    working = []
    for gamma in GAMMAS:
        q = proxy_shares(s, y, alpha, 0.1, float(gamma))
        working.append(torch.exp(-torch.xlogy(q, q).sum(1)).mean().item())
    curves.append({"x": GAMMAS.tolist(), "y": working, "mode": "lines", "type": "scatter", "name": f"α = {alpha:g}",
                   "line": style.line(number)})  # fmt: skip
fig = style.figure(*curves, x="γ", y="proxies of ten that work")
fig.update_xaxes(type="log")
labkit.show(
    fig,
    "Number of working proxies of ten, against γ, for random embeddings and proxies. At α = 2 it is between 8.5 and 10. At "
    "α = 32 it rises from 3.4 at a small γ over 5 at γ = 0.1 to ten at γ = 1: with a steep α few samples take the whole "
    "gradient of a class, and with a small γ each of them moves its nearest proxy only.",
)

# %% [markdown] role="notes"
# **Notes for the instructor, question 4.** Ties to "Break it" of lesson 8, where ∂S/∂s is printed for one sample.
# - Commonest mistake: ∂S/∂s = p (weights treated as constants). In the example that gives (0.731, 0.269).
# - Second: summing before taking the absolute value. A proxy that is pulled by its class and pushed by others would look
#   idle.
# - A student whose question 2 is wrong loses here, too; grading runs the student's own `mpa_weights`. If it is the only
#   cause, give the points of question 4 by hand (replace the function and grade again).
# - Autograd through a stable loss is a valid answer. 0/0 is the edge case: at α = 2000 a batch at rest has weights that are
#   exactly 0.

# %% [markdown]
# ## Who and what helped
#
# Name people, pages and tools, or write "nobody".
