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
# # 5. SiMix and large batches
#
# **In training the batch is the gallery. Virtual samples make it larger at almost no cost; two passes make it larger than memory.**
#
# About 50 minutes of reading and trying; the cells run in under two minutes on a laptop CPU. You need:
# [lesson 4](04_recall_at_k.ipynb) (RS@k), and what `backward()` does.
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
# | compute similarities of samples that do not exist | 5.1 |
# | say how many items a batch with SiMix ranks | 5.2 |
# | split a gradient into two passes, exactly | 5.3 |
#
# ## First, the real thing
#
# A ranking loss ranks the batch. How hard is that? We take networks from the recorded runs, draw batches of test
# characters, four images per class, and ask each image for its nearest neighbour in the batch.

# %%
import torch

from labkit import losses
from labkit.base.paths import RECORDED
from labkit.figures.lessons import simix_and_large_batches as figures
from labkit.runs import open_run
from labkit.training.pairs import embedded, recall_in_batches

NETWORKS = {"trained with RS@k": "omniglot_recall-at-k_s0", "untrained": "omniglot_untrained_s0"}
networks = {name: embedded(run_id) for name, run_id in NETWORKS.items()}
labkit.show(
    figures.batch_difficulty({name: recall_in_batches(*found) for name, found in networks.items()}),
    "Recall@1 within a batch against the size of the batch, for a trained and an untrained network on Omniglot test "
    "characters. Even the untrained network finds most neighbours in a batch of 8; in one of 128 it finds little more than a third.",
)

whole = open_run("omniglot_recall-at-k_s0", RECORDED).summary.test
print(f"The trained network on all {whole['queries']:.0f} test images: recall@1 {100 * whole['R@1']:.1f} %")

# %% [markdown]
# A small batch is an easy exam: the loss is near its floor, and little is left to learn. The real gallery is harder than
# any batch. Hence the slides' two tricks for more items in a batch.
#
# ## Virtual samples: SiMix
#
# Take two images $x, z$ of one class, with unit embeddings $\mathbf{x}, \mathbf{z}$, and a random weight
# $a \sim U(0, 1)$. The **virtual sample** is $\mathbf{v} = a\,\mathbf{x} + (1 - a)\,\mathbf{z}$. Its similarities follow
# from those that we have already (slides, Algorithm 1, lines 13 and 14). For any real item $w$, and for two virtual samples
# $v_1$ (of $x, z$ with $a_1$) and $v_2$ (of $y, u$ with $a_2$):
#
# $$s(w, v) = a\,s_{wx} + (1 - a)\,s_{wz}$$
#
# $$s(v_1, v_2) = a_1 a_2\,s_{xy} + (1-a_1)(1-a_2)\,s_{zu} + a_1(1-a_2)\,s_{xu} + (1-a_1)a_2\,s_{zy}$$
#
# Each virtual sample is used as a query, as a positive and as a negative. m images of a class give m(m−1)/2 pairs.

# %% jupyter={"source_hidden": true}
from labkit.explorers.lessons.simix_and_large_batches import explore_pair

explore_pair()

# %% [markdown]
# **These similarities are not cosines** (E-SL-5). v lies on the chord, inside the circle:
# $|\mathbf{v}|^2 = 1 - 2a(1-a)(1 - s_{xz}) \le 1$. Each of its
# similarities is the cosine times $|\mathbf{v}|$, so nearer to zero. The slides do not normalise v, and neither do we.
#
# In code, all rules above are one. A matrix M has a row for each item: for a real one a single 1, for a virtual one
# the weights a and 1 − a of its parents. Then all similarities are $M S M^\top$.


# %%
def simix(s, first, second, a):
    """Slides, SiMix: similarities (B, B) and V pairs (first, second, a) -> (B + V, B + V)."""
    unit = torch.eye(len(s), dtype=s.dtype)
    M = torch.cat([unit, a[:, None] * unit[first] + (1 - a)[:, None] * unit[second]])
    return M @ s @ M.T


def rs_at_k(s, labels, ks=(1, 2, 4, 8, 16), tau_rank=1.0, tau_sim=0.01):
    """Lesson 4's loss for all queries at once, from similarities; every class has two members or more."""
    itself = torch.eye(len(s), dtype=torch.bool)
    before = torch.sigmoid((s[:, None, :] - s[:, :, None]) / tau_sim)  # [q, x, z]: z counts as before x
    R = (before * ~itself[None] * ~itself[:, None, :]).sum(2)  # neither x itself nor the query
    positive = (labels[:, None] == labels) & ~itself
    hits = torch.stack([torch.sigmoid((k - 1 - R) / tau_rank) for k in ks]).mean(0)
    return (1 - (hits * positive).sum(1) / positive.sum(1)).mean()


# %% [markdown]
# Three checks: autograd against finite differences, the similarities against the library, and the loss.

# %%
embeddings = torch.randn(9, 8, dtype=torch.float64, requires_grad=True)
labels = torch.tensor([0, 1, 2, 0, 1, 0, 1, 2, 0])  # classes of 4, 3 and 2: 6 + 3 + 1 pairs
source = torch.Generator().manual_seed(1)
pairs = losses.functional.draw_pairs(labels, source, embeddings.device, embeddings.dtype)
mixed_labels = pairs.extend_labels(labels)


def simix_loss(e):
    unit = torch.nn.functional.normalize(e, dim=1)
    return rs_at_k(simix(unit @ unit.T, pairs.first, pairs.second, pairs.a), mixed_labels, tau_sim=0.1)


assert torch.autograd.gradcheck(simix_loss, (embeddings,))
unit = torch.nn.functional.normalize(embeddings, dim=1).detach()
s = simix(unit @ unit.T, pairs.first, pairs.second, pairs.a)
assert torch.allclose(s, losses.functional.mix_similarities(unit @ unit.T, pairs))
mixed = losses.functional.mix_embeddings(unit, pairs)  # the same from mixed embeddings
assert torch.allclose(s, mixed @ mixed.T)
source.manual_seed(1)
library = losses.functional.recall_at_k(embeddings, labels, tau_sim=0.1, simix=True, generator=source)
assert torch.allclose(simix_loss(embeddings), library)
print(f"9 real and {len(s) - 9} virtual items; loss {simix_loss(embeddings).item():.6f}, library {library.item():.6f}")
print(f"lengths of the virtual samples: {mixed[9:].norm(dim=1).min():.2f} to {mixed[9:].norm(dim=1).max():.2f}")

# %% [markdown]
# **A parent outranks the virtual sample itself.** Ask v for its nearest item, v itself included. Is it v? For
# 0 < a < 1 never, except at a = ½: the heavier parent is nearer. This will matter for the released code.
#
# <details><summary>Proof</summary>
#
# With $s = s_{xz}$: $s(v, x) = a + (1-a)s$ and $s(v, v) = a^2 + (1-a)^2 + 2a(1-a)s$. The difference is
#
# $$s(v, x) - s(v, v) = (1-a)\big(a - (1-a) + s - 2as\big) = (1-a)(2a-1)(1-s)$$
#
# which is positive for $\tfrac12 < a < 1$ and $s < 1$. For $a < \tfrac12$ exchange the parents.
# </details>

# %%
from labkit.explorers.sliders import Control

labkit.explore(
    figures.parents,
    [Control("similarity", "similarity of the parents", (-0.5, 0.0, 0.3, 0.6, 0.9), 0.3)],
    [{"similarity": 0.0}, {"similarity": 0.6}],
    "Similarity of a virtual sample to both parents and to itself, against the weight a. One of the parents is always "
    "above the sample itself; the curves meet at a = 0.5.",
)
self_similarity = s.diagonal()[9:]
nearer_parent = torch.stack([s[9:, p].diagonal() for p in (pairs.first, pairs.second)]).amax(0)
print(f"a parent outranks the virtual sample in {int((nearer_parent > self_similarity).sum())} of {len(s) - 9} cases")

# %% [markdown]
# ## Two passes
#
# Why not simply take a batch of 4096? Because backward needs the activations of every layer for every image. The loss,
# however, needs only the embeddings, which are tiny. The slides split a step into five:
#
# 1. embed the batch piece by piece, keep the embeddings, forget the activations;
# 2. compute the loss of all embeddings;
# 3. compute its gradient $g = \partial L / \partial e$ with respect to them;
# 4. embed each piece again, with activations, and send its part of $g$ backward through the model;
# 5. update the weights.
#
# Step 4 is the chain rule: $\partial L / \partial \theta = \sum_i g_i^\top\, \partial e_i / \partial \theta$. In PyTorch: call
# `backward()` on the scalar $\sum_i g_i^\top e_i$ with $g$ held fixed. The sum runs over images, so pieces simply add up.


# %%
def two_passes(model, images, labels, loss, micro_batch, restore=True):
    """Slides, "Training with Large Batches", steps 1 to 4; the optimizer's step is the fifth."""
    pieces, states, kept = images.split(micro_batch), [], []
    with torch.no_grad():  # 1
        for piece in pieces:
            states.append(torch.get_rng_state())
            kept.append(model(piece))
    embeddings = torch.cat(kept).requires_grad_()
    value = loss(embeddings, labels)  # 2
    value.backward()  # 3
    for piece, state, g in zip(pieces, states, embeddings.grad.split(micro_batch)):  # 4
        if restore:
            torch.set_rng_state(state)  # dropout must drop the same units as in step 1
        (model(piece) * g).sum().backward()
    return value.detach()


# %% jupyter={"source_hidden": true}
labkit.predict("5.1")

# %%
from torch import nn

from labkit.training import large_batch_step


def network(*, dropout=0.0, norm=False):
    """The same weights every time."""
    torch.manual_seed(0)
    between = [nn.BatchNorm1d(32)] if norm else []
    return nn.Sequential(nn.Linear(10, 32), *between, nn.ReLU(), nn.Dropout(dropout), nn.Linear(32, 8)).double()


def gradient_of(step, model):
    """All gradients in one vector; dropout starts from the same random numbers."""
    torch.manual_seed(1)
    step(model)
    return torch.cat([p.grad.flatten() for p in model.parameters()])


images, labels = torch.randn(64, 10, dtype=torch.float64), torch.arange(64) // 4
loss = losses.RecallAtK(tau_sim=0.1)


def one_pass(model):
    loss(torch.cat([model(piece) for piece in images.split(16)]), labels).backward()  # pieces: the same dropout


STEPS = {
    "two passes, from scratch": lambda model: two_passes(model, images, labels, loss, 16),
    "labkit.training.large_batch_step": lambda model: large_batch_step(model, (images, labels), loss, 16),
    "two passes, random state not restored": lambda model: two_passes(model, images, labels, loss, 16, restore=False),
}
exact = gradient_of(one_pass, network(dropout=0.5))
for name, step in STEPS.items():
    error = (gradient_of(step, network(dropout=0.5)) - exact).norm() / exact.norm()
    print(f"{name:>38}: relative error of the gradient {error:.1e}")

# %% [markdown]
# With the random state restored, the gradient is that of the whole batch, to rounding. Without it, it is wrong by more
# than its own length. (Trials with the released procedure found 175 %; it depends on the network and the batch.)
#
# **Batch normalisation** breaks the rule in another way. An image's embedding depends on the rest of its piece, so 16 at
# a time is another function than 64 at a time. `large_batch_step` refuses it, or freezes its statistics.

# %%
exact = gradient_of(lambda model: loss(model(images), labels).backward(), network(norm=True))
found = gradient_of(lambda model: two_passes(model, images, labels, loss, 16), network(norm=True))
print(f"BatchNorm in training mode: relative error {(found - exact).norm() / exact.norm():.0%}")
try:
    large_batch_step(network(norm=True), (images, labels), loss, 16)
except ValueError as error:
    print(f"large_batch_step says: {error}")

# %% [markdown]
# ## What it saves
#
# We count what autograd keeps for the backward pass, in bytes, at its highest moment, for a small convolutional network
# on 28 × 28 images. (PyTorch's `saved_tensors_hooks` see every tensor that is put aside; weights and images themselves
# are left out.) The count is exact and does not depend on the machine. τ₁ is 100 here, so that the untrained network has
# a gradient at all; memory does not depend on it.

# %%
from labkit.models.small import SmallCNN
from labkit.training.memory import kept_megabytes as count

model, loss = SmallCNN(64, channels=(8, 16, 16), norm="group"), losses.RecallAtK(tau_rank=100.0)
MICRO = (16, 32, 64, 128, 256)
measured = {"one pass": {}, "loss alone": {}} | {str(micro): {} for micro in MICRO}
for B in (64, 128, 256, 512, 1024, 2048):
    batch = torch.randn(B, 1, 28, 28), torch.arange(B) // 4
    there = [batch[0], *model.parameters()]
    some = torch.randn(B, 64, requires_grad=True)
    measured["one pass"][B] = count(lambda images, labels: loss(model(images), labels), *batch, ignore=there)
    measured["loss alone"][B] = count(loss, some, batch[1], ignore=[some])
    for micro in MICRO:
        measured[str(micro)][B] = count(large_batch_step, model, batch, loss, micro, ignore=there)

# %% [markdown]
# The same as a film of one step, for 256 images: what is put aside, and what is let go again.

# %%
from labkit.training.memory import kept_over_time

batch = torch.randn(256, 1, 28, 28), torch.arange(256) // 4
there = [batch[0], *model.parameters()]
over_time = {
    "one pass": kept_over_time(lambda i, y: loss(model(i), y).backward(), *batch, ignore=there),
    "two passes, 32 at a time": kept_over_time(large_batch_step, model, batch, loss, 32, ignore=there),
}

# %% jupyter={"source_hidden": true}
labkit.show(
    figures.memory_over_time(over_time),
    "Memory kept for the backward pass during one step. One pass climbs to 14.8 MB, through all layers of all images and "
    "the loss, and comes down layer by layer. Two passes put nothing aside while they embed; then comes the loss alone "
    "(the first tooth), and one tooth of 1.7 MB for each of the eight pieces.",
)

# %% [markdown]
# And the highest moment, for all sizes of the batch:

# %% jupyter={"source_hidden": true}
labkit.explore(
    lambda micro: figures.memory(measured, micro),
    [Control("micro", "micro-batch", MICRO, 64)],
    [{"micro": 16}, {"micro": 64}, {"micro": 256}],
    "Memory kept for the backward pass against the batch size, both on logarithmic axes. One pass grows with the batch. "
    "Two passes stay at the height of one micro-batch until the loss's own memory takes over. The loss alone grows with "
    "the square of the batch up to 1024 and falls at 2048, where labkit begins to stream it.",
)

# %% [markdown]
# Two passes need the larger of two things: the activations of one piece, and the memory of the loss. A ranking loss forms
# B × |P| × B sigmoids, so once the activations are out of the way, the loss is next. labkit walks over the queries in
# chunks when there are more than four million sigmoids ("streamed" in `labkit/losses/ranking.py`). The recorded benchmark
# has a deeper network, whole-process memory, and time:

# %%
import json
from pathlib import Path

recorded = Path(labkit.__file__).parents[1] / "benchmarks" / "results" / "results.json"
for row in json.loads(recorded.read_text(encoding="utf-8"))["rows"]:
    if row["name"].startswith(("two-pass", "simix")):
        print(f"{row['what']}: {row['value']:.3g} {row['unit']} {row['detail'] and '(' + row['detail'] + ')'}")

# %% [markdown]
# ## An experiment: larger batches, and SiMix
#
# RS@k on Omniglot with 8, 16, 32 and 64 classes of 4 images in a batch. "Larger is better" can mean two things. At equal
# **steps** a larger batch sees more images. At equal **images** it makes fewer steps: 32 classes for 2000 steps, 8 for 8000
# and 64 for 1000 all see 256,000 images. Learning rate and τ₂ are those tuned at 32 classes (`data/runs/tuning.csv`), so
# the other sizes are slightly at a disadvantage. `RETRAIN = True` trains everything again here (about 30 CPU
# minutes; it needs Omniglot: `python -m labkit data get omniglot`).

# %%
RETRAIN = False
runs = labkit.experiment("omniglot", ["recall-at-k", "recall-at-k-simix"], retrain=RETRAIN)
SIZES = (("8", "2000"), ("16", "2000"), ("64", "2000"), ("8", "8000"), ("64", "1000"))
for classes, steps in SIZES:
    runs += labkit.experiment(
        "omniglot", ["recall-at-k"], retrain=RETRAIN, **{"batch.classes": classes, "steps": steps}
    )

# %%
from labkit.figures.results import results

names = {"omniglot_recall-at-k": "B = 128, 2000 steps", "omniglot_recall-at-k-simix": "B = 128, 2000 steps, SiMix"}
for classes, steps in SIZES:
    names[f"omniglot_recall-at-k_classes={classes}_steps={steps}"] = f"B = {4 * int(classes)}, {steps} steps"
labkit.show(
    results(runs, "R@1", names),
    "Recall@1 on unseen Omniglot characters: RS@k with batches of several sizes, and with SiMix; a point is a seed, the "
    "diamond their mean with its 95 % interval.",
)

# %% [markdown]
# At 2000 steps a larger batch is better each time: 66.0, 72.0, 76.1 and 79.2 % with 32, 64, 128 and 256 images. But in
# the same number of steps a larger batch has seen more images. With equally many images the gain from 32 to 128 shrinks
# from 10.1 to 2.7 points, and that from 128 to 256 from 3.2 to 0.3, which three seeds cannot tell from nothing. SiMix is
# higher in each of three seeds, by 0.7 points on average; its interval just includes zero.
#
# ## The paper's number and ours
#
# The slides use batches of up to 4096 images, which SiMix makes 10240 (1024 classes × (4 + 6)), with ImageNet weights on
# photos. Ours are 32 to 256 drawings, from scratch. The absolute numbers cannot be compared; the two claims can be asked.

# %%
from labkit import papers

table = papers.pivot("slides", "rsk-results").loc[["RS@k, ResNet-50, 512-d", "RS@k + SiMix, ResNet-50, 512-d"]].T
table = table[table.index.get_level_values("metric") == "R@1"].droplevel("metric")
table["difference"] = (table.iloc[:, 1] - table.iloc[:, 0]).round(1)
display(table)
labkit.claims("slides", "SiMix", "batch size")

# %% [markdown]
# In the slides' own table SiMix helps on the two data sets with large classes: Cars196 (82 training images per class) by 7.5
# points and iNaturalist (57) by 0.6. It hurts a little on those with small classes, SOP (5) and VehicleID (8). That is a
# reading of four data sets without a spread over seeds, not a proof. Our characters have 20 images per class.
#
# ## What the released code does differently
#
# <details><summary>Differences, with our switches and what they do; errata</summary>
#
# | | slides | released code | our switch | effect |
# |---|---|---|---|---|
# | virtual samples | "the embedding is never computed" | computes the embeddings of virtual samples | `simix_space="similarity"` or `"embedding"` (default) | none: the same numbers, checked above |
# | images per class | any m | 3, 4 or 6; others stop with UnboundLocalError | any | |
# | query in its ranking | no | yes, as a constant +1 | `convention="official"` | not constant for virtual queries: below |
# | first pass | activations discarded | not under `no_grad`; `copy.copy` of the output detaches it by accident | `large_batch_step` | below |
# | random numbers | not mentioned | not restored | restored | wrong gradient with dropout: above |
# | batch normalisation | not mentioned | frozen for ResNet | refused, or `batch_norm="freeze"` | above |
#
# (RecallatK_surrogate repository, `mixup.py` and `main.py`.) The slides also say that no
# public implementation of the two passes exists; GradCache has one since June 2021 (E-SL-12).
#
# </details>

# %%
import copy

# how much a virtual query counts as before its nearer parent; a query that stays in its ranking is taken to count 1
counted = torch.sigmoid((self_similarity - nearer_parent) / 0.01)
print(f"a virtual query counts as before its nearer parent: {counted.min():.2f} to {counted.max():.2f}, not 1")
output = torch.ones(3, requires_grad=True) * 2
copied = copy.copy(output)
print(f"output is a leaf: {output.is_leaf}; copy.copy(output) is a leaf: {copied.is_leaf}, ", end="")
print(f"in the same memory: {copied.data_ptr() == output.data_ptr()}")

# %% [markdown]
# ## Exercises
#
# **5.1 Virtual similarities** (easy, 5 minutes). `similarity` (B, B) holds the real similarities; virtual sample v mixes
# the items `first[v]` and `second[v]` with the weights `a[v]` and `1 − a[v]`. Return the similarities of all real items
# with all virtual ones, (B, V).
#
# <details><summary>Hint 1</summary><code>similarity[:, first]</code> is (B, V): similarities with the first parents.</details>
# <details><summary>Hint 2</summary>The weight of the second parent is 1 − a. Nothing is normalised.</details>


# %%
def simix_similarities(
    similarity: torch.Tensor, first: torch.Tensor, second: torch.Tensor, a: torch.Tensor
) -> torch.Tensor:
    raise NotImplementedError


labkit.check.simix_similarities(simix_similarities)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def simix_similarities(similarity, first, second, a):
#     return a * similarity[:, first] + (1 - a) * similarity[:, second]
# ```
# </details>
#
# **5.2 How many items?** (easy, 3 minutes). A batch has classes of the given sizes. How many items, real and virtual,
# are ranked with SiMix?
#
# <details><summary>Hint</summary>m images have m(m − 1)/2 pairs. Pairs of different classes are not mixed.</details>


# %%
def simix_size(class_sizes: list[int]) -> int:
    raise NotImplementedError


labkit.check.simix_size(simix_size)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def simix_size(class_sizes):
#     return sum(m + m * (m - 1) // 2 for m in class_sizes)
# ```
# </details>
#
# **5.3 The second pass** (medium, 5 minutes). Step 4 needs a scalar that is linear in the embeddings of a piece and whose
# gradient with respect to them is the gradient of step 3. Which one?
#
# <details><summary>Hint 1</summary>In one dimension: which function of e has the slope g?</details>
# <details><summary>Hint 2</summary>g·e, summed over all entries. Sum, not mean: nothing may be scaled.</details>


# %%
def second_pass(embeddings: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError


labkit.check.second_pass(second_pass)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def second_pass(embeddings, gradient):
#     return (embeddings * gradient).sum()
# ```
# </details>
#
# ## Break it
#
# **A batch that is too large.** Lesson 4 ended with a positive that is lost: with many items before it the outer sigmoid
# is flat. An untrained network has all similarities close together, so each of the other items counts as about half
# before each positive: about B/2 items. labkit computes the misses,
# $\sigma(R - k + 1)$; in float32 their slope $\sigma(1 - \sigma)$ is exactly 0 from some 17 ranks beyond the largest k, because
# 1 − σ rounds to 0. (Lesson 4's form, $\sigma(k - 1 - R)$, keeps a tiny number for longer; it trains no better.) Here are the embeddings of the recorded untrained network (in evaluation mode), four images per class:

# %%
print("          network   τ₂    B  before    loss  largest gradient    (before: items before the median positive)")
for name, (embeddings, labels) in networks.items():
    for tau_sim in (0.01, 0.05):
        for classes in (8, 16, 32, 60):
            rows = torch.cat([(labels == c).nonzero().flatten()[:4] for c in labels.unique()[:classes]])
            batch = embeddings[rows].clone().requires_grad_()
            loss, parts = losses.RecallAtK(tau_sim=tau_sim)(batch, labels[rows], return_parts=True)
            loss.backward()
            before = (parts.R_neg + parts.R_pos).median()
            largest = batch.grad.abs().max()
            print(f"{name:>17} {tau_sim:4}  {len(rows):3}  {before:6.1f}  {loss.item():.4f}  {largest:.1e}")

# %% [markdown]
# At τ₂ = 0.05 the gradient of the untrained network is practically zero at B = 128 and exactly zero at B = 240. The loss
# prints 1.0000, and nothing trains. At τ₂ = 0.01 it survives longer, and shrinks as the batch grows. The slides start from
# ImageNet weights, so they do not meet this. Ways out: a larger τ₁ or a larger k, a smaller batch at first, or another loss
# for the first steps. `large_batch_step` warns. (Our recorded runs at B = 128 and τ₂ = 0.05 get off the ground all the same:
# in training mode, batch normalisation with the batch's own statistics spreads the similarities. Two passes do not have that help.)
#
# ## Can you answer these?
#
# 1. Why is a larger batch a harder exam for a ranking loss?
# 2. Which similarities does SiMix need, and which does it compute from them?
# 3. Why is the similarity to a virtual sample not a cosine? Is it nearer to zero, or further?
# 4. Why does a virtual query rank one of its parents before itself?
# 5. What is kept between the two passes, and what is not?
# 6. Why does $\sum g^\top e$ with fixed $g$ give the right gradient?
# 7. Which two kinds of layers need care in two passes, and why?
# 8. After two passes, what limits the batch size next?
# 9. Larger batch at equal steps, or at equal images: which comparison is fair, and for which question?
#
# ## Summary
#
# The batch is the gallery that a ranking loss sees. SiMix adds one virtual item for each same-class pair, by arithmetic on
# similarities. Two passes trade one more forward pass for memory: the gradient is exact if both passes compute
# the same function, which dropout without its random state and batch normalisation do not. A batch can be too large
# for RS@k: positives far behind the largest k get no gradient.
#
# ## Reading
#
# - Patel, Tolias, Matas, *Recall@k Surrogate Loss with Large Batches and Similarity Mixup*, CVPR 2022: both tricks.
# - Revaud et al., *Learning with Average Precision*, ICCV 2019: the two passes, as the slides cite them.
# - Gao et al., *Scaling Deep Contrastive Learning Batch Size under Memory Limited Setup*, 2021 (GradCache): the same for
#   contrastive losses, with the random state done right.
#
# In the dashboard (`make dashboard`): [these runs, with curves and cost](http://127.0.0.1:8501/compare?preset=omniglot).
#
# Next: [6. Design a loss](06_design_a_loss.ipynb).
