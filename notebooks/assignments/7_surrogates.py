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
# # Assignment 7. Learned surrogates
#
# The edit distance counts whole edits, so it has no useful gradient. A learned surrogate is a distance between embeddings that
# is trained to equal it. You fill the table of the edit distance with prices of your own, write what a surrogate is
# trained on, down to its second derivative, write the filter of FEDS with the control that it needs, and judge two
# claims: one of the slides, one of your own.
#
# **30 points**: three functions (20) and two texts (10). About 3 hours.
#
# **What you will show that you can do**
#
# 1. write a dynamic programme, borders included;
# 2. train on the length of a gradient: a loss that is differentiated twice;
# 3. write a filter, and a control that keeps as much but not the same;
# 4. tell what a table shows from what it does not, and say what is missing.
#
# **Working together.** Talk about the ideas with whomever you like. Write the code and the texts yourself, and name the
# people and the tools that helped you in the last cell.
#
# **Reading**
#
# - [Lesson 10](../10_learned_surrogates.ipynb): the surrogate, its two terms, the filter and the controls.
# - Patel, *Training Neural Networks on Non-Differentiable Losses* (slides, 2022): Algorithm 1, LS-ED and FEDS.
# - [Lesson 12](../12_reading_a_results_table.ipynb): intervals, pairs and verdicts.
#
# **Handing in, and how it is marked.** Hand in this notebook, with its name unchanged. Everything an answer needs must be
# in its cell or in another answer cell. Grading runs only the answer cells, and of other
# cells the functions and imports that answers use, with `import math`, `import numpy as np`,
# `import torch` and `from torch import Tensor` already done; labkit cannot be imported there. The check under each
# question shows the public cases only, grading uses more. Some cases ask for care (empty words, equal pairs, an error of
# exactly ε); an answer that fails only there keeps a part of the points. Texts are marked by a person.
#
# **Notation.** $z$ is a prediction, $y$ its target, $e$ the metric (`exact`), $\hat e$ its surrogate (`estimate`), $h$ the
# embedding, λ (`lam`) the weight of the penalty, ε (`epsilon`) the width of the filter.

# %%
import torch
from torch import Tensor

from labkit import check

# %% [markdown]
# ## 1. The table of the edit distance (6 points, about 30 minutes)
#
# $D_{ij}$ is the least cost of turning the first $i$ letters of `a` into the first $j$ letters of `b`. A letter of `b` that is put
# in costs `insert`, a letter of `a` that is dropped costs `delete`, a letter that becomes another one costs `change`;
# equal letters cost nothing. Return the whole table, (len(a) + 1, len(b) + 1), as float64.
#
# $$D_{ij} = \min\big(D_{i-1,j} + \text{delete},\; D_{i,j-1} + \text{insert},\; D_{i-1,j-1} + \text{change}\,[a_i \neq b_j]\big)$$
#
# *Example.* a = "ab", b = "b", insert 1, delete 2, change 5. To turn "ab" into "b", drop the a: 2. The table is
# $\begin{pmatrix} 0 & 1 \\ 2 & 3 \\ 4 & 2 \end{pmatrix}$. ($D_{11}$: "a" into "b" is 5 as a change, 3 as a drop and an insertion.)


# %% question="edit_table" role="answer"
def edit_table(a: str, b: str, insert: float, delete: float, change: float) -> Tensor:
    """The table of least costs, (len(a) + 1, len(b) + 1)."""
    ### BEGIN SOLUTION
    D = torch.zeros(len(a) + 1, len(b) + 1, dtype=torch.float64)
    for j in range(1, len(b) + 1):
        D[0, j] = D[0, j - 1] + insert
    for i in range(1, len(a) + 1):
        D[i, 0] = D[i - 1, 0] + delete
        for j in range(1, len(b) + 1):
            swap = D[i - 1, j - 1] + (0.0 if a[i - 1] == b[j - 1] else change)
            D[i, j] = min(D[i - 1, j] + delete, D[i, j - 1] + insert, swap)
    return D
    ### END SOLUTION


# %% question="edit_table" role="test"
check.edit_table(edit_table)
### BEGIN HIDDEN TESTS
from labkit.classroom.autograde import require

require("edit_table", edit_table)
### END HIDDEN TESTS

# %% [markdown]
# The slides print this table for *sitting* and *kitten*. With prices of 1 its last cell is what a library in C++ counts:

# %%
from labkit import metrics

print(edit_table("sitting", "kitten", 1.0, 1.0, 1.0).int().tolist()[-1])
for pair in (("napasozin", "napasorn"), ("lilidut", "lilliput"), ("", "ash")):
    print(pair, int(edit_table(*pair, 1.0, 1.0, 1.0)[-1, -1]), metrics.edit_distance(*pair))

# %% [markdown] role="notes"
# **Notes for the instructor, question 1.** Commonest mistakes: a border of zeros (as in local alignment), insert and
# delete swapped, and letters compared at i and j where the first of them have the index 0. With all prices 1 a swap of
# insert and delete does not show: that is why there are prices. "Changes are free" and empty words are edge cases.

# %% [markdown]
# ## 2. What a surrogate is trained on (8 points, about 60 minutes)
#
# Let $h(x) = \tanh(A x)$ with weights $A$ (D, n), and $\hat e = \lVert h(z) - h(y) \rVert_2$. For a batch of N pairs, `z` and `y`
# (N, n), with the metric's values `exact` (N,), return the mean over pairs of Equation 6:
#
# $$\big(\hat e - e\big)^2 + \lambda \Big(\lVert \partial \hat e / \partial z \rVert_2 - 1\Big)^2$$
#
# The gradient of the result with respect to $A$ counts, too: it goes through $\partial \hat e / \partial z$, so that is differentiated twice.
# Put $10^{-12}$ under every root: pairs may be equal, and a root at 0 has no derivative.
#
# *Example.* n = D = 1, $A = 1$, $z = 0.5$, $y = 0$, $e = 1$, λ = 2. $\hat e = \tanh 0.5 = 0.462$, its derivative is
# $1 - 0.462^2 = 0.786$, so the result is $0.538^2 + 2 \cdot 0.214^2 = 0.381$.


# %% question="surrogate_objective" role="answer"
def surrogate_objective(A: Tensor, z: Tensor, y: Tensor, exact: Tensor, lam: float) -> Tensor:
    """Equation 6 for h(x) = tanh(A x), the mean over the pairs."""
    ### BEGIN SOLUTION
    z = z.detach().requires_grad_()
    apart = torch.tanh(z @ A.T) - torch.tanh(y @ A.T)
    estimate = (apart.square().sum(1) + 1e-12).sqrt()
    (gradient,) = torch.autograd.grad(estimate.sum(), z, create_graph=True)
    norm = (gradient.square().sum(1) + 1e-12).sqrt()
    return ((estimate - exact).square() + lam * (norm - 1).square()).mean()
    ### END SOLUTION


# %% question="surrogate_objective" role="test"
check.surrogate_objective(surrogate_objective)
### BEGIN HIDDEN TESTS
from labkit.classroom.autograde import require

require("surrogate_objective", surrogate_objective)
### END HIDDEN TESTS

# %% [markdown]
# What λ does, in small: the metric is the distance between two numbers, but never more than 1. Your loss trains A for
# 300 steps, once without and once with the penalty.

# %%
source = torch.Generator().manual_seed(0)
z, y = 3 * torch.rand(2, 200, 1, generator=source, dtype=torch.float64)
exact = (z - y).abs().squeeze(1).clamp(max=1.0)
for lam in (0.0, 1.0):
    A = torch.full((4, 1), 0.3, dtype=torch.float64).mul(torch.arange(1, 5)[:, None]).requires_grad_()
    optimizer = torch.optim.Adam([A], lr=0.02)
    for _ in range(300):
        optimizer.zero_grad()
        surrogate_objective(A, z, y, exact, lam).backward()
        optimizer.step()
    value = surrogate_objective(A.detach(), z, y, exact, 0.0).item()
    penalty = surrogate_objective(A.detach(), z, y, exact, 1.0).item() - value
    print(f"λ = {lam}: mean (ê − e)² {value:.4f}, mean (‖∂ê/∂z‖ − 1)² {penalty:.4f}")

# %% [markdown] role="notes"
# **Notes for the instructor, question 2.** The value is easy; the gradient by A is the question.
# - Without `create_graph=True` torch either stops, or the penalty is a constant to A: the check says which.
# - The gradient of the *sum* over the batch has in each row the gradient of that row's ê. The mean makes it too short.
# - By hand, without autograd: ∂ê/∂z = Aᵀ((1 − tanh²(Az)) ∘ d)/ê with d = h(z) − h(y). It passes, and is worth a remark.
# - An answer that calls `torch.linalg.vector_norm` gives NaN in the second derivative where a pair is equal: an edge case.

# %% [markdown]
# ## 3. The filter, and its control (6 points, about 20 minutes)
#
# FEDS trusts the surrogate only where it is right. With $u = |\hat e - e|$, return three rows of weights, (3, N):
#
# 1. the ramp, $\max(0, 1 - u/\varepsilon)$;
# 2. the hard filter, 1 if $u \le \varepsilon$, else 0;
# 3. the control: the ramp's weights, dealt out to other pairs. Pair $i$ gets the ramp's weight of pair `order[i]`.
#
# Weights are constants: no gradient may pass through them. (The paper's own ramp could not be found; this one is labkit's.)
#
# *Example.* ê = (1.5, 4), e = (1, 2), ε = 2, order = (1, 0): u is (0.5, 2), the ramp (0.75, 0), the hard filter (1, 1), the
# control (0, 0.75).


# %% question="filter_weights" role="answer"
def filter_weights(estimate: Tensor, exact: Tensor, epsilon: float, order: Tensor) -> Tensor:
    """Weights (3, N): ramp, hard filter, and the ramp's weights in another order."""
    ### BEGIN SOLUTION
    u = (estimate.detach() - exact).abs()
    ramp = (1 - u / epsilon).clamp(min=0)
    hard = (u <= epsilon).double()
    return torch.stack([ramp, hard, ramp[order]])
    ### END SOLUTION


# %% question="filter_weights" role="test"
check.filter_weights(filter_weights)
### BEGIN HIDDEN TESTS
from labkit.classroom.autograde import require

require("filter_weights", filter_weights)
### END HIDDEN TESTS

# %% [markdown]
# On the surrogate that comes with labkit: what each filter keeps, and how wrong the surrogate is on what it keeps.

# %%
from labkit import surrogates
from labkit.data.rendered_words import words_of
from labkit.data.word_images import LETTERS
from labkit.surrogates.pocket import SLOTS, word_surrogate

z, y = surrogates.random_word_pairs(words_of("test"), LETTERS, SLOTS, 500)(0)
exact = surrogates.word_task(LETTERS).exact(z, y)
with torch.no_grad():
    estimate = word_surrogate()(z, y)
order = torch.randperm(500, generator=torch.Generator().manual_seed(0))
for epsilon in (0.5, 1.0, 2.0):
    weights = filter_weights(estimate, exact, epsilon, order).double()
    kept = (weights * (estimate - exact).abs()).sum(1) / weights.sum(1)
    said = zip(("ramp", "hard", "control"), weights.mean(1), kept)
    print(f"ε = {epsilon}: " + "; ".join(f"{name} keeps {w:.2f}, mean |ê − e| there {k:.2f}" for name, w, k in said))

# %% [markdown] role="notes"
# **Notes for the instructor, question 3.** Short, but each part has its trap: the sign of the error, weights below 0, the
# equality at ε, the inverse of a permutation. The last mistake is the deep one: with a gradient through the weights, the
# cheapest way to a small loss is a surrogate that is wrong on purpose. Ask what the weighted loss of a useless ê would be.

# %% [markdown]
# ### What text 1 is about: a table of the slides

# %%
from labkit import papers

table = papers.pivot("slides", "ls-ed-recognition").stack("dataset", future_stack=True)
table.unstack("method")[["Acc", "NED", "TED", "TED improvement %"]]

# %% [markdown]
# ## Text 1. A table of the slides (5 points)
#
# The slides say that tuning on LS-ED "yields up to 39 % improvement on total edit distance", and show the table above.
# Write a verdict (8 to 12 lines): what does the table show, what does it not show, which of its numbers is wrong, and what
# would you ask for before you believe that the surrogate is the reason?

# %% [markdown] question="slides_verdict" role="written"
# The table shows that, after tuning on LS-ED, TED is lower and accuracy higher on all seven sets than before tuning. NED
# is not: on IIIT-5K it falls from .954 to .953. "Up to 39 %" is one set of seven (ICDAR'13); the others lie between 10 and
# 21 %, and one of the percentages is wrong: 151 to 119 on ICDAR'03 is 21.2 %, not 26.89 % (that is 32/119).
#
# It does not show that the surrogate is the reason. The row it is compared with has had fewer training steps. Cross-entropy
# for as many further steps, or as much CPU time, is missing; so is any other way to train on the metric. And there is one
# run of each and no seeds, so that no interval can be given; one over the words of the sets would at least be possible,
# since both readers read the same words.
#
# So: shown for this base, that post-tuning with LS-ED lowers TED. Not shown, that the learned surrogate does it. I would ask
# for the two cross-entropy controls, five seeds each, and a base that has converged.

# %% [markdown] role="notes"
# **Notes for the instructor, text 1.** The wrong percentage is E-SL-6. Students who compute all seven themselves find it.
# A released TRBA trained by cross-entropy alone is better on all seven sets than the table's LS-ED, as a user measured it
# (E-SL-B, subsets may differ): worth telling afterwards.

# %% [markdown]
# ### What text 2 is about: recorded runs
#
# Tuning a small reader of rendered words: every arm's gain in total edit distance over its base, with intervals. (If no run is there, train some: `python -m labkit train words-tune --loss
# untrained --seed 0 1 2`, and the same with `cross-entropy` and `ls-ed`.)

# %%
from pathlib import Path

from labkit.base.paths import RECORDED
from labkit.runs import find_runs
from labkit.runs.gains import gains

for gain in gains(find_runs(RECORDED, Path("runs"))):
    low, high = gain.interval
    seeds = len(gain.difference.seeds)
    print(f"{gain.reader:>8}  {gain.title:<34} {gain.mean:+7.1f} [{low:+7.1f}, {high:+7.1f}]  {seeds} seeds")

# %% [markdown]
# ## Text 2. A verdict of your own (5 points)
#
# Choose one claim about LS-ED that the gains above can decide, write it as one sentence that can turn out false, and
# judge it (8 to 12 lines), with the numbers.

# %% [markdown] question="own_verdict" role="written"
# (One good answer of many; the numbers are those of the table at the time of writing.)
#
# *Claim.* From the fully trained base, LS-ED lowers the total edit distance on the test words by more than cross-entropy does
# in the same number of steps.
#
# The baseline is cross-entropy with the same steps, not the base: both arms see more data than the base did, and whatever
# more training gives must not be booked on the surrogate. For each I quote mean, both ends and the number of seeds from the
# table. The verdict is read off the interval of their *difference*, paired by seed (`labkit.runs.readings.word_difference`),
# not from whether two intervals overlap: if it lies above 0 the claim held, below 0 it is contradicted, within the margin they
# are equal, and if it reaches across, these seeds cannot tell.
#
# Limits: rendered words in 27 fonts and one small reader; a base that could still learn would gain from anything; and the
# surrogate itself is wrong by about one edit on average, most where e is large.

# %% [markdown] role="notes"
# **Notes for the instructor, text 2.** Two things separate good from very good: the right baseline with its reason, and an
# interval of the difference instead of two intervals looked at by eye. Any verdict is right that follows from the numbers;
# "not resolved" is a good answer. `labkit.claims("slides", "LS-ED", "FEDS")` has the verdicts of the recorded runs.

# %% [markdown]
# ## Who and what helped
#
# Name people, pages and tools, or write "nobody".
