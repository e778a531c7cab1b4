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
# # 3. Smoothing a rank
#
# **A rank is a sum of comparisons. Replace each hard comparison by a sigmoid, and the rank gets a gradient.**
#
# About 40 minutes of reading and trying; the cells run in under a minute on a laptop CPU. You need: what average
# precision is ([lesson 2](02_metrics_that_disagree.ipynb)), and a little PyTorch.
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
# | write a rank as a sum of comparisons, and smooth it | 3.1 |
# | turn average precision into a loss, Smooth-AP | 3.2 |
# | say which pairs still get a gradient at a given temperature | 3.3 |
#
# ## First, the real thing
#
# A query has five items in its gallery; two of them are positives (of the query's class). We move one positive from
# similarity 0 up to 1 and write down average precision. It is flat nearly everywhere. Where it is not flat, it jumps.
# Its gradient is zero or does not exist: nothing to train on.

# %%
import numpy as np
import torch

from labkit import losses, metrics
from labkit.figures.lessons import smoothing_a_rank as figures
from labkit.training.pairs import similarity_differences

negatives = torch.tensor([0.8, 0.6, 0.3])
other_positive = 0.7
labkit.show(
    figures.moved_positive(negatives, other_positive, tau=0.01),
    "Average precision and Smooth-AP (temperature 0.01) of one query while one positive moves from similarity 0 to 1. "
    "Average precision is a staircase with steps at the similarities of the negatives. Smooth-AP follows it with "
    "rounded steps; where the two positives tie, at 0.7, it is slightly too high.",
)

# %% jupyter={"source_hidden": true}
labkit.predict("3.1")

# %% [markdown]
# ## A rank is a sum
#
# Let $s_i$ be the cosine similarity of the query and item $i$. The rank of $i$ counts the items before it:
#
# $$r(i) = 1 + \sum_{j \neq i} \mathbb{1}\{s_j > s_i\}$$
#
# The indicator $\mathbb{1}$ is the only part without a gradient. Replace it by a sigmoid with temperature $\tau$
# (PNP paper, Eq. 3):
#
# $$G(x; \tau) = \frac{1}{1 + e^{-x / \tau}}, \qquad \tilde r(i) = 1 + \sum_{j \neq i} G(s_j - s_i; \tau)$$
#
# As $\tau \to 0$ the sigmoid becomes the indicator, except at a tie: $G(0) = \tfrac12$ for every $\tau$, so two tied
# items share their places.

# %% jupyter={"source_hidden": true}
from labkit.explorers.drag import who_is_pulled

who_is_pulled("Smooth-AP", ("recall@k", "Smooth-AP"), curves=True, tau=0.05)

# %% jupyter={"source_hidden": true}
labkit.predict("3.2")

# %%
from labkit.explorers.sliders import Control

TAU = Control("tau", "temperature τ", (0.005, 0.01, 0.02, 0.05, 0.1, 0.2), 0.05)
labkit.explore(
    figures.smoothed_step,
    [TAU],
    [{"tau": 0.01}, {"tau": 0.05}, {"tau": 0.2}],
    "The indicator of s_j > s_i and the sigmoid at three temperatures: at 0.01 nearly the step, at 0.2 nearly a "
    "straight line.",
)

# %% [markdown]
# ## Smooth-AP from scratch
#
# Average precision of a query with positives $S_P$ and negatives $S_N$ needs two counts for each positive $i$: the
# positives and the negatives before it. The smooth counts are
# $R(i, S) = \sum_{j \in S, j \neq i} G(s_j - s_i; \tau)$, and (PNP paper, Eq. 4)
#
# $$L_{AP} = 1 - \frac{1}{|S_P|} \sum_{i \in S_P} \frac{1 + R(i, S_P)}{1 + R(i, S_P) + R(i, S_N)}$$
#
# In code, for a batch in which every item is a query and the others are its gallery:


# %%
def smooth_ap(embeddings, labels, tau=0.01):
    """PNP Eq. 4, averaged over the queries."""
    unit = torch.nn.functional.normalize(embeddings, dim=1)
    s = unit @ unit.T  # (B, B) cosine similarities
    per_query = []
    for q in range(len(s)):
        gallery = torch.arange(len(s)) != q  # the query is not in its own ranking
        positive = (labels == labels[q]) & gallery
        if not positive.any():
            continue  # a query without positives has no average precision
        before = torch.sigmoid((s[q][None, :] - s[q][:, None]) / tau)  # [i, j]: j counts as before i
        before = before * ~torch.eye(len(s), dtype=torch.bool)
        R_pos = before[positive][:, positive].sum(1)
        R_neg = before[positive][:, gallery & ~positive].sum(1)
        per_query.append(1 - ((1 + R_pos) / (1 + R_pos + R_neg)).mean())
    return torch.stack(per_query).mean()


# %% [markdown]
# Is it right? Three checks: autograd against finite differences, against the library (any labels, many times faster),
# and, at a small temperature, against average precision itself.

# %%
embeddings = torch.randn(12, 8, dtype=torch.float64, requires_grad=True)
labels = torch.tensor([0, 1, 2, 0, 1, 2, 0, 1, 0, 3, 3, 4])  # shuffled, unequal classes, one singleton
assert torch.autograd.gradcheck(lambda e: smooth_ap(e, labels, tau=0.1), (embeddings,))
ours, library = smooth_ap(embeddings, labels), losses.functional.smooth_ap(embeddings, labels, tau=0.01)
assert torch.allclose(ours, library)
sharp = 1 - smooth_ap(embeddings, labels, tau=1e-5).item()
exact = metrics.evaluate(embeddings.detach(), labels, ks=(11,))["MAP@11/relevant"]
print(f"loss {ours.item():.6f}, library {library.item():.6f}; 1 − loss at τ → 0: {sharp:.6f}, exact AP: {exact:.6f}")

# %% [markdown]
# ## Approximation against gradient
#
# A small $\tau$ counts well but passes a gradient to few pairs; a large $\tau$ the other way round. How many pairs get
# a gradient depends on how far apart the similarities are, and that changes during training. We take the similarity
# differences of a real network, before and after training, and count the pairs where the slope is at least 1 % of its
# maximum, that is, $|s_j - s_i| < 6.0\,\tau$.

# %%
EMBEDDED = {"untrained network": "omniglot_untrained_s0", "trained with Smooth-AP": "omniglot_smooth-ap_s0"}
differences = {name: similarity_differences(run, queries=100) for name, run in EMBEDDED.items()}
taus = tuple(np.geomspace(0.001, 1, 25))
density = {name: figures.gradient_density(found, taus) for name, found in differences.items()}
labkit.explore(
    lambda network: density[network],
    [Control("network", "network", tuple(differences), "trained with Smooth-AP", menu=True)],
    [{"network": name} for name in differences],
    "Share of (positive, item) pairs that get a gradient, and the mean error of one comparison, against the "
    "temperature, on Omniglot test characters. The untrained network has all its similarities close together, so the "
    "same temperature is thirty times coarser for it.",
)

# %% [markdown]
# ## An experiment: which temperature trains best?
#
# Smooth-AP on Omniglot: train on characters of some alphabets, retrieve characters of unseen ones. Same network, same
# 2000 steps, three seeds; only the temperature differs. The learning rate was chosen on validation alphabets at
# τ = 0.01 and 0.05 (`data/runs/tuning.csv`), so the outer temperatures are slightly at a disadvantage.
# `RETRAIN = True` trains everything again here (about 20 CPU minutes; it needs Omniglot: `python -m labkit data get
# omniglot`).

# %%
RETRAIN = False
runs = labkit.experiment("omniglot", ["smooth-ap", "contrastive", "triplet", "untrained"], retrain=RETRAIN)
for tau in ("0.001", "0.1", "1.0"):
    runs += labkit.experiment("omniglot", ["smooth-ap"], retrain=RETRAIN, tau=tau)

# %%
from labkit.figures.results import results

names = {"omniglot_smooth-ap": "Smooth-AP, τ = 0.01"}
names |= {f"omniglot_smooth-ap_tau={tau}": f"Smooth-AP, τ = {float(tau):g}" for tau in ("0.001", "0.1", "1.0")}
labkit.show(
    results(runs, "R@1", names),
    "Recall@1 on unseen Omniglot characters: Smooth-AP at several temperatures, contrastive and triplet loss, and the "
    "untrained network; three seeds each, mean with 95 % interval.",
)

# %% [markdown]
# **What came out.** From 0.01 to 0.1 the temperature hardly matters (76.4 and 75.9 %). At 0.001, where few pairs have a
# gradient, training still works, but ends at 73.9 %. At 1 every rank is so smooth that the network ends where it began:
# 17.7 %, the untrained one 18.9 %.

# %% [markdown]
# ## The paper's number and ours
#
# The PNP paper trains Smooth-AP on three large photo data sets, from ImageNet weights, with batches of up to 384. We
# train a small network from scratch on drawings of characters. The absolute numbers cannot be compared. The question
# that can be asked at our scale is the paper's: does Smooth-AP lose to the loss that only counts negatives, PNP-D_q?
# ([Lesson 6](06_design_a_loss.ipynb) derives that one.)

# %%
from labkit import papers

display(papers.pivot("pnp", "3").loc[["Smooth-AP", "PNP-Dq (BS 112)", "PNP-Dq (BS 384)"]])
labkit.claims("pnp", "Table 3")

# %% [markdown]
# ## What the released code does differently
#
# <details><summary>Differences, with our switches and what they do; errata</summary>
#
# | | paper | released code | our switch | effect |
# |---|---|---|---|---|
# | gallery | the rest of the batch | the query stays in its own gallery, as a positive that is always first | `convention="official"` | below |
# | labels | any | position in the batch decides: classes must be equal-sized and sorted | always by label | wrong losses when shuffled |
# | a re-implementation | | pytorch-metric-learning 2.9 takes the group size for the number of classes | | perfect clusters, 4 classes of 3: loss 0.297 instead of 0 |
#
# (Smooth_AP repository, the loss class's forward.) One more thing the PNP paper says about average
# precision: for a positive behind three others the gradient is "almost equal" whatever the negatives do. It is flatter,
# but still a factor of 12 between 0 and 10 negatives (E-PNP-8).
#
# </details>

# %%
torch.manual_seed(0)
embeddings, labels = torch.randn(12, 16), torch.arange(12) // 3
for convention in ("paper", "official"):
    loss = losses.SmoothAP(convention=convention)(embeddings, labels)
    print(f"4 classes of 3, random embeddings, convention={convention!r}: {loss.item():.4f}")

# %% [markdown]
# ## Exercises
#
# **3.1 A soft rank** (easy, 5 minutes). `similarity` holds the query's similarity to each of n items. Return the n soft
# ranks; the first rank is 1.
#
# <details><summary>Hint 1</summary>A rank is 1 plus the number of other items before it.</details>
# <details><summary>Hint 2</summary><code>similarity[None, :] - similarity[:, None]</code> holds s_j − s_i at [i, j].</details>


# %%
def soft_rank(similarity: torch.Tensor, tau: float) -> torch.Tensor:
    raise NotImplementedError


labkit.check.soft_rank(soft_rank)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def soft_rank(similarity, tau):
#     before = torch.sigmoid((similarity[None, :] - similarity[:, None]) / tau)
#     return 1 + before.sum(1) - 0.5  # every item has counted itself as G(0) = 1/2
# ```
# </details>
#
# **3.2 Smooth-AP of one query** (medium, 10 minutes). `positive` says which items are positives. The query itself is
# not among the items.
#
# <details><summary>Hint 1</summary>You need two counts for each positive: positives before it, negatives before it.</details>
# <details><summary>Hint 2</summary>Mask the matrix of exercise 3.1: rows of positives; columns of positives, or of
# negatives. A positive must not count itself.</details>


# %%
def smooth_ap_of_a_query(similarity: torch.Tensor, positive: torch.Tensor, tau: float) -> torch.Tensor:
    raise NotImplementedError


labkit.check.smooth_ap(smooth_ap_of_a_query)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def smooth_ap_of_a_query(similarity, positive, tau):
#     before = torch.sigmoid((similarity[None, :] - similarity[:, None]) / tau)
#     before = before - torch.diag(before.diagonal())
#     R_pos = before[positive][:, positive].sum(1)
#     R_neg = before[positive][:, ~positive].sum(1)
#     return 1 - ((1 + R_pos) / (1 + R_pos + R_neg)).mean()
# ```
# </details>
#
# **3.3 Who gets a gradient?** (easy, 5 minutes). Of the given similarity differences, which share has a slope of $G$
# that is at least `threshold` times its largest slope? The slope is $G (1 - G) / \tau$; where is it largest?
#
# <details><summary>Hint</summary>The slope is largest at 0, and there it is 1/(4τ).</details>


# %%
def share_with_gradient(differences: torch.Tensor, tau: float, threshold: float) -> torch.Tensor:
    raise NotImplementedError


labkit.check.share_with_gradient(share_with_gradient)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def share_with_gradient(differences, tau, threshold):
#     G = torch.sigmoid(differences / tau)
#     return (4 * G * (1 - G) >= threshold).double().mean()
# ```
# </details>
#
# ## Break it
#
# **Temperature to zero.** The smaller $\tau$, the closer the loss value is to the metric's, and the fewer items get a
# gradient: hardly any pair is closer than a few temperatures. The few pairs that are may by chance get a
# large gradient. The loss still prints a sensible number while next to nothing trains.
#
# **A collapsed network.** All embeddings equal: every comparison is a tie, every $G$ is ½. The gradient with respect to
# the similarities is as large as it can be, but the similarities do not change to first order (each is at its maximum,
# 1), so the gradient with respect to the embeddings is zero. Collapse is a trap that this loss cannot leave.

# %%
spread = torch.nn.functional.normalize(torch.randn(32, 16), dim=1)
collapsed = torch.ones(32, 16) / 4
labels = torch.arange(32) // 4
cases = [(f"τ = {tau:g}", spread, tau) for tau in (1e-2, 1e-4, 1e-6)] + [("collapsed", collapsed, 0.01)]
for name, batch, tau in cases:
    batch = batch.clone().requires_grad_()
    loss = losses.functional.smooth_ap(batch, labels, tau=tau)
    loss.backward()
    reached = (batch.grad.norm(dim=1) > 1e-6).sum()
    print(f"{name:>10}: loss {loss.item():.3f}, {reached} of {len(batch)} items get a gradient")

# %% [markdown]
# ## Can you answer these?
#
# 1. Why is the gradient of average precision zero almost everywhere?
# 2. What does $G(0) = \tfrac12$ mean for two tied items?
# 3. What gets better and what gets worse when τ becomes smaller?
# 4. Why is one and the same τ "coarse" for an untrained network and "sharp" for a trained one?
# 5. Which two counts does Smooth-AP need for each positive?
# 6. Why must the query leave its own gallery? What does it do to the loss if it stays?
# 7. Why can Smooth-AP not leave a collapsed state?
#
# ## Summary
#
# A metric of ranks is a function of sums of comparisons. A sigmoid in place of each comparison gives a gradient, within
# a few temperatures of the step. The temperature trades approximation for reach. The rest of the course changes
# the function of the counts: RS@k (lesson 4) cuts off at k, PNP (lesson 6) drops one of the two counts.
#
# ## Reading
#
# - Brown, Xie, Kalogeiton, Zisserman, *Smooth-AP: Smoothing the Path Towards Large-Scale Image Retrieval*, ECCV 2020:
#   the loss of this lesson.
# - Qin, Liu, Li, *A general approximation framework for direct optimization of information retrieval measures*, 2010:
#   the idea, ten years before.
# - Li et al., PNP, AAAI 2022: Section 3 takes this loss apart; lesson 6 follows it.
#
# In the dashboard (`make dashboard`): [these runs, with curves and differences](http://127.0.0.1:8501/compare?preset=omniglot).
#
# Next: [4. RS@k](04_recall_at_k.ipynb).
