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
# # 1. Start here
#
# **A metric is what you report. A loss is what you can train on. They are not the same, and this course is about the way
# from one to the other.**
#
# About 40 minutes of reading and trying; the cells run in under a minute on a laptop CPU. You need: a little Python and
# PyTorch, and what training a network by gradient descent means.
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
# | say what query, gallery, positive and ranking are, and find nearest neighbours | 1.1 |
# | compute Recall@1 of a set of embeddings | 1.2 |
# | say why a loss can fall while the metric stays, and the other way round | 1.2, and the predictions |
#
# ## First, the real thing
#
# Eight vendors have drawn the same emoji, each in a style of its own. Choose one drawing, the **query**. All other
# drawings are the **gallery**. The computer sorts the gallery by similarity to the query, the **ranking**, and we look at
# its first ten. The other drawings of the same emoji are the **positives**: they should come first. The network has been
# trained on other emoji; it has never seen these.

# %%
import numpy as np
import torch

from labkit import losses, metrics
from labkit.explorers.lessons.start_here import explore_circle, explore_retrieval
from labkit.figures.lessons import start_here as figures
from labkit.training import galleries

gallery = galleries.emoji_gallery()
print(f"{len(gallery.labels)} drawings of {len(gallery.labels.unique())} emoji")
explore_retrieval(gallery)

# %% [markdown]
# Look at the panda. By pixels the nearest drawing is a grey square, and no panda is among the first ten: pixels know
# colours and places, nothing else. The untrained network has two pandas among the first ten, at places 5 and 6. The
# trained one has a panda first and five in all; the other five are dogs. Does it matter most that the first is right, or
# how many are? That depends on what you count, so we need a metric, and a mean over all queries.
#
# Three metrics, each a mean over all queries: **R@1** asks whether the first item is a positive, **R@10** whether one of the
# first ten is, and **MAP@R** looks at as many first places as the query has positives (at most seven here) and counts how
# many are positives, the early ones more ([lesson 2](02_metrics_that_disagree.ipynb) has the formulas).

# %% jupyter={"source_hidden": true}
import pandas as pd

means = {way: metrics.evaluate(unit, gallery.labels, ks=(1, 10), progress=False) for way, unit in gallery.ways.items()}
table = pd.DataFrame(means).T[["R@1", "R@10", "MAP@R"]]
labkit.predict("1.1", share=100 * table.loc[galleries.UNTRAINED, "R@1"])

# %%
(100 * table).round(1)  # means over the queries, among these 1201 drawings

# %% [markdown]
# ## The gallery as a map
#
# A network maps each image to a vector; here of 64 numbers. Nobody sees 64 dimensions, so a method called UMAP looks for
# places in the plane at which vectors that are near each other mostly stay near. In JupyterLab and in the book: point at a dot to see its drawing,
# click it to see its nearest neighbours in the *64-dimensional* space, draw round some with Shift to see them all.

# %%
labkit.explore_embeddings("emoji_pnp-dq_s0", "umap")

# %% [markdown]
# ## A metric and a loss
#
# The vector of an image is its **embedding**. The similarity of two items is the cosine of their vectors,
# $s_{ij}$. Everything else follows from these numbers.
#
# | | metric | loss |
# |---|---|---|
# | what for | to report, to compare, to choose | to train |
# | looks at | the order of the gallery | the similarities themselves |
# | must have | a meaning for people | a gradient |
# | example | Recall@1 | a pair loss |
#
# **Recall@1** is the share of queries whose nearest neighbour is a positive. With $y$ the labels, and the maximum over
# all items but the query itself:
#
# $$\mathrm{R@1} = \frac{1}{N} \sum_{q=1}^{N} \mathbb{1}\{ y_{n(q)} = y_q \}, \qquad
# n(q) = \operatorname{argmax}_{j \neq q} s_{qj}$$
#
# The **contrastive loss** (Hadsell, Chopra, LeCun 2006, Eq. 4) is the simplest loss of pairs. It pulls positives
# together and pushes negatives apart until they are a margin $m$ away; $D$ is the distance of two unit vectors:
#
# $$L_{ij} = \tfrac12 D_{ij}^2 \ \text{ if } y_i = y_j, \qquad L_{ij} = \tfrac12 \max(0,\, m - D_{ij})^2 \ \text{ otherwise},
# \qquad D_{ij}^2 = 2 - 2 s_{ij}$$
#
# ## A metric jumps, a loss slides
#
# Five items on a circle, two of them positives. The query turns from 0° to 90°. Beside R@1 we look at a second metric,
# **average precision** (AP): stop at each positive of the ranking, note which share of the items so far is positive, and
# take the mean of these shares. It is 1 if all positives come first.

# %% jupyter={"source_hidden": true}
labkit.show(
    figures.turning(),
    "R@1, average precision and the pair loss of one query while it turns past five items. The metrics are flat and jump "
    "where two items change places; the pair loss changes all the time, smoothly.",
)

# %% jupyter={"source_hidden": true}
labkit.predict("1.2")
for angle, loss in ((38.0, "0.048"), (42.0, "0.046")):
    assert f"{figures.measured(angle)['pair loss']:.3f}" == loss

# %% jupyter={"source_hidden": true}
explore_circle()

# %% [markdown]
# ## A map of the course
#
# The metric has no gradient, the loss is not what we want. Three papers and a set of slides go from the one towards the
# other, each in its own way.
#
# | lesson | in one line |
# |---|---|
# | 1. Start here | metric, loss, and the gap between them |
# | [2. Metrics that disagree](02_metrics_that_disagree.ipynb) | one name, several formulas; which metrics rank losses alike |
# | [3. Smoothing a rank](03_smoothing_a_rank.ipynb) | a sigmoid for each comparison gives average precision a gradient: Smooth-AP |
# | [4. RS@k](04_recall_at_k.ipynb) | the same for recall@k, with a second sigmoid for the cut-off |
# | [5. SiMix and large batches](05_simix_and_large_batches.ipynb) | virtual items, and batches that do not fit into memory |
# | [6. Design a loss](06_design_a_loss.ipynb) | PNP: choose the gradient that you want, integrate, get the loss |
# | [7. Many centres](07_many_centres.ipynb) | when one label holds several things |
# | [8. Proxies](08_proxies.ipynb) | compare with learned representatives of classes: ProxyAnchor, SoftTriple, MPA |
# | [9. SGSL](09_sgsl.ipynb) | a softmax with a term on the sphere |
# | [10. Learned surrogates](10_learned_surrogates.ipynb) | a network that learns the metric: edit distance, rotated boxes |
# | 11. Perceptual compression (to come) | train on what people see |
# | [12. Reading a results table](12_reading_a_results_table.ipynb) | seeds, intervals, budgets; what a row can claim |
#
# ## The pair loss from scratch
#
# Hadsell et al., Eq. 4, as the mean over all pairs of a batch:


# %%
def contrastive(embeddings, labels, margin=0.5):
    """Mean over pairs i < j of ½D² (same label) or ½max(0, m − D)² (different labels), on unit vectors."""
    unit = torch.nn.functional.normalize(embeddings, dim=1)
    i, j = torch.triu_indices(len(unit), len(unit), offset=1)  # every pair once
    D = (unit[i] - unit[j]).norm(dim=1)
    same = labels[i] == labels[j]
    pull = 0.5 * D.square()
    push = 0.5 * (margin - D).clamp_min(0).square()
    return torch.where(same, pull, push).mean()


embeddings = torch.randn(12, 8, dtype=torch.float64, requires_grad=True)
labels = torch.tensor([0, 1, 2, 0, 1, 2, 0, 1, 0, 3, 3, 4])
assert torch.autograd.gradcheck(lambda e: contrastive(e, labels, margin=1.5), (embeddings,))
ours, library = contrastive(embeddings, labels), losses.functional.contrastive(embeddings, labels, margin=0.5)
assert torch.allclose(ours, library)
print(f"loss {ours.item():.6f}, library {library.item():.6f}; gradient checked against finite differences")

# %% [markdown]
# ## Loss without metric, metric without loss
#
# Twelve emoji that look alike, 96 drawings, shrunk to 8 × 8 pixels, and the smallest possible network: one matrix. We
# start twice from the identity. First we follow the gradient of the pair loss for ten small steps. Then we do without
# gradients: try random changes of the matrix and keep one if R@1 rises.

# %%
ALIKE = ["three-oclock", "eleven-oclock", "five-thirty", "grinning-face-with-big-eyes", "face-savoring-food", "taxi"]
ALIKE += ["smirking-face", "grimacing-face", "panda", "dog-face", "tiger-face", "minibus"]
chosen = torch.tensor([i for i, name in enumerate(gallery.names) if name in ALIKE])
thumbnails = torch.nn.functional.avg_pool2d(gallery.images[chosen].double() / 255, 6).flatten(1)
labels = gallery.labels[chosen]


def judge(matrix):
    """(pair loss, R@1) of the drawings under a matrix."""
    z = thumbnails @ matrix
    return contrastive(z, labels).item(), metrics.evaluate(z.detach(), labels, ks=(1,), progress=False)["R@1"]


matrix = torch.eye(thumbnails.shape[1], dtype=torch.float64, requires_grad=True)
descent = [judge(matrix)]
for _ in range(10):
    (gradient,) = torch.autograd.grad(contrastive(thumbnails @ matrix, labels), matrix)
    matrix = (matrix - 0.5 * gradient).detach().requires_grad_()
    descent.append(judge(matrix))

generator = torch.Generator().manual_seed(0)
matrix = torch.eye(thumbnails.shape[1], dtype=torch.float64)
search = [judge(matrix)]
for _ in range(30):
    changed = matrix + 0.03 * torch.randn(matrix.shape, generator=generator, dtype=torch.float64)
    if judge(changed)[1] > search[-1][1]:
        matrix = changed
        search.append(judge(matrix))

for name, path in (("ten gradient steps on the loss", descent), ("30 random tries on R@1", search)):
    (loss, recall), (new_loss, new_recall) = path[0], path[-1]
    change = f"{100 * (new_loss / loss - 1):+.0f} %"
    print(
        f"{name:>30}: pair loss {loss:.4f} → {new_loss:.4f} ({change}), R@1 {100 * recall:.1f} → {100 * new_recall:.1f}"
    )

# %% jupyter={"source_hidden": true}
labkit.show(
    figures.loss_against_metric({"gradient steps on the loss": descent, "random tries on R@1": search}),
    "Two ways from the same start (right end of the lower line): gradient steps lower the pair loss by almost a quarter and hardly move R@1; "
    "random tries raise R@1 while the pair loss gets worse. The large mark is the end.",
)

# %% [markdown]
# Neither is a way to train. The first walks along something else than the metric. The second walks along the metric, but
# blindly; with a hundred thousand weights it would hardly find anything. What we want is a gradient that knows about ranks:
# [lesson 3](03_smoothing_a_rank.ipynb).
#
# ## An experiment: losses that know about ranks, and losses that do not
#
# Emoji: train on 536 emoji, choose on others, test on 595 unseen ones. Same network, same 1000 steps, three seeds. Two
# losses that compare single pairs: the contrastive loss, and the **triplet loss**, which takes a query, a positive and a
# negative and wants the positive to be nearer by a margin. Against them three losses that know about ranks: **Smooth-AP**, a
# smooth average precision (lesson 3), **RS@k**, a smooth recall (lesson 4, `recall-at-k` in the figure), and **PNP-D_q**, which
# counts the negatives before each positive (lesson 6). The untrained network is the baseline. The options of every loss got the same four tuning trials, on validation emoji
# ([lesson 12](12_reading_a_results_table.ipynb) comes back to budgets).
# `RETRAIN = True` trains everything again here (about 15 CPU minutes).

# %%
RETRAIN = False
runs = labkit.experiment(
    "emoji", ["smooth-ap", "pnp-dq", "recall-at-k", "contrastive", "triplet", "untrained"], retrain=RETRAIN
)

# %% jupyter={"source_hidden": true}
from labkit.figures.results import results

labkit.show(
    results(runs, "R@1"),
    "Recall@1 on unseen emoji, among all test drawings: losses that smooth a ranking metric, losses of pairs, and the "
    "untrained network; mean over seeds with 95 % interval.",
)

# %% [markdown]
# Now judge the same networks by the pair loss as well, on the unseen drawings that the runs keep (first seed). If the
# loss were as good as the metric, both columns would order the networks alike. Do they?

# %%
from labkit.runs import read_embeddings, read_samples

rows = {}
for run in runs:
    if run.has("embeddings.safetensors"):
        kept, label = read_embeddings(run), torch.as_tensor(read_samples(run)["label"].to_numpy().copy())
        loss = losses.functional.contrastive(kept, label, margin=0.5).item()
        rows[run.loss] = {"pair loss × 1000": 1000 * loss, "R@1 (all test drawings)": 100 * run.value("R@1")}
judged = pd.DataFrame(rows).T.sort_values("pair loss × 1000")
display(judged.round(2))
best = judged.index[0], judged["R@1 (all test drawings)"].idxmax()
print(f"lowest pair loss: {best[0]}; highest R@1: {best[1]}")

# %% [markdown]
# ## The paper's number and ours
#
# The PNP paper (Table 5) compares on iNaturalist: photos of animals and plants, 2,452 unseen species, a ResNet-50 with
# ImageNet weights, batches of 224. There the losses built from average precision lead over the triplet loss at R@1. We
# ask the same on our scale: a network of 61,576 weights, from scratch, on drawings. The numbers cannot be compared, the
# sign of the difference can.

# %%
from labkit import papers
from labkit.runs import paired_difference
from labkit.runs.claims import evidence

display(papers.pivot("pnp", "5"))
for ranking in ("smooth-ap", "pnp-dq", "recall-at-k"):
    for pair in ("triplet", "contrastive"):
        if {f"emoji_{ranking}", f"emoji_{pair}"} <= {run.group for run in runs}:
            print(evidence(paired_difference(runs, f"emoji_{ranking}", f"emoji_{pair}", "R@1")))

# %% [markdown]
# The sign agrees: each of the three is better than the contrastive and the triplet loss, in all three seeds. That does
# not make every loss of pairs worse. Multi-similarity, which weighs a pair by how hard it is among the others, has the highest R@1 of
# all twenty losses on emoji, 73.2 % against 72.2 % for PNP-D_q (`data/runs`), a difference that three seeds cannot show.
# (The paper's text names the gain over Smooth-AP at R@1, 0.7 points. At R@16 and R@32 its own table has Smooth-AP ahead
# by 0.1, E-PNP-7.)
#
# ## What the released code does differently
#
# You will meet this box in every lesson. Here, what concerns all of them:
#
# <details><summary>Differences, with our switches and what they do; errata</summary>
#
# | | paper | released code | our switch | effect |
# |---|---|---|---|---|
# | which weights are reported | not said | `dml_cross_entropy`, which SGSL builds on, keeps the best epoch *on the test set* | chosen on validation classes, tested once | the report is too good |
# | who is a positive | the others of the class | PNP and Smooth-AP count the query as its own positive | `convention="official"` | PNP at τ = 0.01: loss × (M−1)/M with M items per class |
# | who belongs to a class | labels | PNP and Smooth-AP go by position in the batch | always by label | wrong when shuffled |
# | contrastive loss | ½D², ½max(0, m−D)², mean over all pairs | pytorch-metric-learning 2.9: D and max(0, m−D), no square, m = 1, mean over the pairs that are not 0 | | below |
#
# (Repositories PNPloss, Smooth_AP, dml_cross_entropy; pytorch-metric-learning's `ContrastiveLoss`.) An id such as E-PNP-7
# stands for an error that was found in a paper. `labkit.papers.errata()` has the text of each, from
# `data/papers/errata.csv`.
#
# </details>

# %%
from pytorch_metric_learning.losses import ContrastiveLoss

z = thumbnails + 0.0
print(f"the 96 drawings: Eq. 4 with m = 1 {contrastive(z, labels, margin=1.0).item():.4f}, ", end="")
print(f"pytorch-metric-learning with m = 1 {ContrastiveLoss(neg_margin=1)(z, labels).item():.4f}")

# %% [markdown]
# ## Exercises
#
# **1.1 The nearest neighbour** (easy, 5 minutes). For every row of `embeddings`, return the index of the most similar
# *other* row, by cosine similarity.
#
# <details><summary>Hint 1</summary>Give every row the length 1; then dot products are cosines.</details>
# <details><summary>Hint 2</summary>Every row is most similar to itself: put −∞ on the diagonal before you look for the
# maximum.</details>


# %%
def nearest_neighbour(embeddings: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError


labkit.check.nearest_neighbour(nearest_neighbour)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def nearest_neighbour(embeddings):
#     unit = torch.nn.functional.normalize(embeddings, dim=1)
#     similarity = unit @ unit.T
#     similarity.fill_diagonal_(-torch.inf)
#     return similarity.argmax(dim=1)
# ```
# </details>
#
# **1.2 Recall@1** (easy, 5 minutes). The share of queries whose nearest neighbour has their label. A query that is alone
# in its class has no positive: leave it out.
#
# <details><summary>Hint 1</summary><code>labels[nearest_neighbour(embeddings)]</code> are the labels of the neighbours.</details>
# <details><summary>Hint 2</summary><code>(labels[:, None] == labels).sum(1) > 1</code> says which queries have a positive.</details>


# %%
def recall_at_1(embeddings: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError


labkit.check.recall_at_1(recall_at_1)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def recall_at_1(embeddings, labels):
#     hit = labels[nearest_neighbour(embeddings)] == labels
#     has_positive = (labels[:, None] == labels).sum(1) > 1
#     return hit[has_positive].double().mean()
# ```
# </details>
#
# ## Break it
#
# **Leave the query in its own gallery.** Everything finds itself: R@1 is 100 % for any embeddings, even random ones.
# This happens in real code, when queries and gallery come from one file.
#
# **Forget to normalise.** Then bright images, which have long vectors, are near to everything.

# %%
unit = gallery.ways[galleries.PIXELS]
raw = gallery.images.flatten(1).float() / 255
noise = torch.randn(len(raw), 8)
found = (noise @ noise.T / noise.norm(dim=1)).argmax(dim=1)  # each column by its length, but nobody is left out
print(f"random embeddings, query left in:  R@1 {100 * (gallery.labels[found] == gallery.labels).double().mean():.1f}")
print(
    f"random embeddings, query left out: R@1 {100 * metrics.evaluate(noise, gallery.labels, progress=False)['R@1']:.1f}"
)
for name, rows in (("cosine", unit), ("dot product", raw)):
    similarity = (rows @ rows.T).fill_diagonal_(-torch.inf)
    nearest = similarity.argmax(dim=1)
    recall = (gallery.labels[nearest] == gallery.labels).double().mean()
    most = np.bincount(nearest.numpy()).max()
    print(f"pixels by {name}: R@1 {100 * recall:.1f}; one drawing is the nearest neighbour of {most} others")

# %% [markdown]
# ## Can you answer these?
#
# 1. What are query, gallery, positive and ranking in the emoji example?
# 2. Why is the gradient of R@1 zero almost everywhere?
# 3. The pair loss fell and R@1 fell, too. How can that be?
# 4. Why is random search on the metric not a way to train a network?
# 5. Why does the untrained network belong in every comparison?
# 6. What is R@1 if the query stays in its gallery?
# 7. Why must the weights that are reported not be chosen on the test set?
#
# ## Summary
#
# A metric counts places in a ranking; it is flat, then jumps. A loss has a gradient, but measures something else, and
# each can improve without the other. "Train on what you measure" means: a loss whose gradient follows the metric. First
# we look at the metrics themselves.
#
# ## Reading
#
# - Hadsell, Chopra, LeCun, *Dimensionality Reduction by Learning an Invariant Mapping*, CVPR 2006: the contrastive loss.
# - Musgrave, Belongie, Lim, *A Metric Learning Reality Check*, ECCV 2020: how comparisons of such losses go wrong.
# - Li et al., PNP, AAAI 2022, Section 1: the case for losses built from a ranking metric.
#
# In the dashboard (`make dashboard`): [the same retrieval with other runs and queries](http://127.0.0.1:8501/retrieval?data=emoji).
#
# Next: [2. Metrics that disagree](02_metrics_that_disagree.ipynb).
