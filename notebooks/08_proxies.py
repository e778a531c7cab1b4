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
# # 8. Proxies
#
# **A proxy stands for a class. Six losses compare samples with proxies instead of with each other. They differ in which
# similarities they add up before they take the logarithm.**
#
# About 60 minutes of reading and trying; the cells run in under a minute on a laptop CPU. You need: cosine similarity,
# softmax, and a little PyTorch. [Lesson 7](07_many_centres.ipynb) shows why a class may need several centres.
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
# | compute the similarity of a sample to a class that has several proxies | 8.1 |
# | write ProxyAnchor so that it does not overflow, and say who shares a logarithm with whom | 8.2 |
# | find where a printed formula has no value or no slope, and repair it | 8.3 |
#
# ## First, the real thing
#
# Which loss is best? Ask at four budgets. Below, a ranking loss of lesson 6 (PNP-D_q), a plain softmax and two losses of
# this lesson, ProxyAnchor and MPA-AP, train on Omniglot, with every three characters *merged* into one label. Each point
# is a whole training of its own, whose learning rate falls to zero at its end. (The learning rates were tuned at 1000
# steps, another way in which a budget enters a result. `RETRAIN = True` trains everything in this lesson again, about 70
# CPU minutes for the losses at 2000 steps; it needs Omniglot: `python -m labkit data get omniglot`.)

# %%
import pandas as pd
import torch

from labkit import losses, papers
from labkit.explorers.sliders import Control
from labkit.figures.lessons import proxies as figures
from labkit.figures.results import results
from labkit.figures.settings import against_setting, centers_of, steps_of
from labkit.losses import functional

RETRAIN = False
BUDGET = ["pnp-dq", "proxy-anchor", "softmax", "mpa-ap"]
budget = labkit.experiment("omniglot-merged", BUDGET, retrain=RETRAIN)  # 2000 steps
for steps in ("500", "1000", "4000"):
    budget += labkit.experiment("omniglot-merged", BUDGET, retrain=RETRAIN, quiet=True, steps=steps)

# %% jupyter={"source_hidden": true}
labkit.show(
    against_setting(budget, steps_of, (500, 1000, 2000, 4000), "training steps"),
    "Recall@1 on unseen Omniglot characters after training on merged labels, against the number of training steps: "
    "PNP-D_q, ProxyAnchor, softmax and MPA-AP, mean over seeds with 95 % interval; budgets without recorded runs are "
    "empty.",
)

# %% jupyter={"source_hidden": true}
from labkit.runs.compare import table as means

for steps in (500, 1000, 2000, 4000):
    frame = means([run for run in budget if steps_of(run) == steps]).sort_values("mean", ascending=False)
    order = ", ".join(
        f"{loss} {100 * mean:.1f} ({n})" for loss, mean, n in zip(frame["loss"], frame["mean"], frame["n"])
    )
    print(f"{steps} steps, best first, R@1 in % (seeds): {order or 'no recorded runs yet'}")

# %% [markdown]
# The lines cross. At 500 and 1000 steps PNP-D_q leads. At 2000 the four lie within about two points, and at 4000 MPA-AP
# leads by three points, while PNP-D_q is last. A table made at 1000 steps and one made at 4000 would recommend different
# losses. (Two places have really changed only where the intervals do not overlap, or where the paired difference says so.)
# Proxies must first find their places; this lesson shows what they do there.
#
# The same from ImageNet weights on emoji, where our budget is 250 steps only: ProxyAnchor reaches 44.9 % and MPA-AP 5.3 %,
# which is below the 36.9 % of the backbone that MPA-AP starts from, while PNP-D_q reaches 71.3 % (four tuning trials each,
# `data/runs`). A likely reason: 250 steps are far too few for ten proxies per class; the paper trains 60 epochs.
#
# ## Why proxies?
#
# The losses of lessons 3 to 6 rank the items of a batch. An item whose class has no other item in the batch has no
# positive, and then there is nothing to rank. How often does that happen in a random batch?

# %% jupyter={"source_hidden": true}
labkit.show(
    figures.partners(),
    "Share of the items of a random batch that have a positive in it, against the batch size, for the training sets of "
    "CUB, Cars196, SOP and Omniglot (classes taken as equally large). The marks are the batch sizes of the MPA paper, "
    "and ours on Omniglot. On SOP with batches of 32 it is 0.2 %.",
)

# %% [markdown]
# So ranking losses need a sampler that puts several items of a class into each batch. A proxy loss does not: every
# class has at least one learned vector, its *proxy*, and a sample always meets the proxy of its own class and those of
# all others. We count who gets a gradient in a random batch of 128 Omniglot labels:

# %%
labels = torch.randint(827, (128,), generator=torch.Generator().manual_seed(0))  # 827 training classes
embeddings = torch.randn(128, 64, generator=torch.Generator().manual_seed(1))
_, parts = losses.SmoothAP()(embeddings, labels, return_parts=True)
print(f"Smooth-AP: {parts.skipped} of 128 items have no positive and are skipped as queries")

x = embeddings.clone().requires_grad_()
losses.ProxyAnchor(num_classes=827, dim=64)(x, labels).backward()
print(f"ProxyAnchor: {int((x.grad.norm(dim=1) > 1e-6).sum())} of 128 items get a gradient")

# %% [markdown]
# ## Every loss is a function of S(x, c)
#
# $x$ is a sample's embedding, $w_{c1}, \dots, w_{cK}$ are the $K$ proxies of class $c$; all are unit vectors. Their
# similarities make one similarity of sample and class, a soft maximum (MPA paper, Eq. 1):
#
# $$S(x, c) = \sum_{k=1}^{K} \frac{e^{x \cdot w_{ck} / \gamma}}{\sum_l e^{x \cdot w_{cl} / \gamma}} \; x \cdot w_{ck}$$
#
# With $K = 1$ it is the cosine. A small $\gamma$ takes the nearest proxy, a large one the mean. In all that follows
# $c_i$ is the class of sample $x_i$; $X_c^+$ are the samples of class $c$ in the batch and $X_c^-$ the others.
#
# **ProxyNCA** (2017, one proxy per class; $\lambda$ is twice our `scale`, since $d^2 = 2 - 2 S$), mean over samples:
#
# $$-\log \frac{e^{\lambda S(x_i, c_i)}}{\sum_{c \neq c_i} e^{\lambda S(x_i, c)}}$$
#
# **SoftTriple** (2019, many proxies; Eq. 2), mean over samples:
#
# $$-\log \frac{e^{\lambda (S(x_i, c_i) - \delta)}}{e^{\lambda (S(x_i, c_i) - \delta)} + \sum_{c \neq c_i} e^{\lambda S(x_i, c)}}$$
#
# **ProxyAnchor** (2020, one proxy) and **MPA** (many; Eq. 6), where $C^+$ are the classes in the batch:
#
# $$\frac{1}{|C^+|} \sum_{c \in C^+} \log\Big(1 + \sum_{x \in X_c^+} e^{-\alpha (S(x, c) - \delta)}\Big) + \frac{1}{|C|} \sum_{c} \log\Big(1 + \sum_{x \in X_c^-} e^{\alpha (S(x, c) + \delta)}\Big)$$
#
# **MPA-DW**, "data-wise" (many; Eq. 12), mean over samples:
#
# $$\log\Big(1 + e^{-\alpha (S(x_i, c_i) - \delta)}\Big) + \log\Big(1 + \sum_{c \neq c_i} e^{\alpha (S(x_i, c) + \delta)}\Big)$$
#
# **MPA-AP**, "all pairs" (many; Eq. 16), mean over samples:
#
# $$\log\Big(1 + e^{-\alpha (S(x_i, c_i) - \delta)} + \sum_{c \neq c_i} e^{\alpha (S(x_i, c) + \delta)}\Big)$$
#
# The last three have the same terms; what changes is who is summed with whom inside a logarithm. That decides the
# gradient (Eqs. 10 and 11):
#
# $$f = \log\Big(1 + \sum_i e^{u_i}\Big), \qquad \frac{\partial f}{\partial u_j} = \frac{1}{e^{-u_j} + \sum_i e^{u_i - u_j}}$$
#
# The gradient of $u_j$ sees $u_j$ itself, from the "1 +", and its differences to everything *in the same logarithm*.
# It sees nothing else.
#
# Losses with many proxies add $\tau$ times a regulariser (Eq. 3), which draws the proxies of a class together:
#
# $$\mathrm{Reg} = \frac{\sum_{j=1}^{C} \sum_{t < s} \sqrt{2 - 2\, w_{js} \cdot w_{jt}}}{C K (K - 1)}$$
#
# ## Who is pulled?
#
# The query that you know from lessons 3, 4 and 6, once more. A ranking loss pulls at items of the gallery; a proxy loss
# (ProxyAnchor in the menu) does not look at them. It has one point for each class, here the mean of its items, and
# moves the query towards the own one.

# %% jupyter={"source_hidden": true}
from labkit.explorers.drag import who_is_pulled

who_is_pulled("ProxyAnchor")

# %% [markdown]
# ## MPA from scratch


# %%
def mpa(embeddings, labels, proxies, alpha=32.0, delta=0.1, gamma=0.1, tau=0.2):
    """MPA Eq. 7: Eq. 6 on the S of Eq. 1, plus tau times Eq. 3. proxies (C, K, D)."""
    x = torch.nn.functional.normalize(embeddings, dim=1)
    w = torch.nn.functional.normalize(proxies, dim=2)
    s = torch.einsum("nd,ckd->nck", x, w)
    S = (torch.softmax(s / gamma, 2) * s).sum(2)  # Eq. 1, (N, C)
    zero = S.new_zeros(1)  # e^0 is the "1 +"
    pull, push = [], []
    for c in range(len(w)):
        own = labels == c
        if own.any():  # c is in C⁺
            pull.append(torch.logsumexp(torch.cat([zero, -alpha * (S[own, c] - delta)]), 0))
        push.append(torch.logsumexp(torch.cat([zero, alpha * (S[~own, c] + delta)]), 0))
    loss = torch.stack(pull).mean() + torch.stack(push).mean()  # Eq. 6
    C, K, _ = w.shape
    if tau == 0 or K == 1:
        return loss
    t, s = torch.triu_indices(K, K, offset=1)
    return loss + tau * (w[:, s] - w[:, t]).norm(dim=2).sum() / (C * K * (K - 1))  # Eq. 3


# %% [markdown]
# Is it right? Against finite differences, against the library, and against another paper: with one proxy and no
# regulariser, MPA *is* ProxyAnchor (E-MPA-16).

# %%
generator = torch.Generator().manual_seed(0)
embeddings = torch.randn(9, 4, dtype=torch.float64, generator=generator).requires_grad_()
w = torch.randn(5, 3, 4, dtype=torch.float64, generator=generator).requires_grad_()
labels = torch.tensor([0, 3, 1, 1, 0, 3, 0, 1, 2])  # shuffled, unequal; class 4 is not in the batch
assert torch.autograd.gradcheck(lambda x, p: mpa(x, labels, p, alpha=8.0), (embeddings, w))
ours, library = mpa(embeddings, labels, w), functional.mpa(embeddings, labels, w)
assert torch.allclose(ours, library)
one, anchor = mpa(embeddings, labels, w[:, :1], tau=0.0), functional.proxy_anchor(embeddings, labels, w[:, 0])
assert torch.allclose(one, anchor, rtol=1e-12)
print(f"MPA {ours.item():.10f}, library {library.item():.10f}")
print(f"MPA with K = 1, τ = 0: {one.item():.10f}; ProxyAnchor: {anchor.item():.10f}")

# %% [markdown]
# ## Who is pushed where
#
# Three classes on the unit circle, two samples each, with one to three proxies per class. The arrows are what a step of
# gradient descent does to each sample and each proxy. The bars are the weight ∂L/∂S(x, c) of the sample x with each class:
# to the left (negative) is a pull, to the right a push. The scale α (λ) is 8 for all losses, so that there is something to
# see in a plane, and τ = 0.

# %% jupyter={"source_hidden": true}
labkit.predict("8.1")

# %% jupyter={"source_hidden": true}
from labkit.explorers.lessons.proxies import explore_proxies

explore_proxies()

# %% [markdown]
# Four things to try:
#
# 1. Choose MPA and drag x from 90 to 210 degrees, into class B. The other sample of A, at 110 degrees, loses its arrow:
#    nearly the whole gradient of class B falls on x, the nearest sample. Now the same with MPA-DW: the arrow stays.
# 2. Choose MPA-AP with one proxy per class, and x at 210 degrees: x sits on the wrong proxy and hardly moves. Nearly all the
#    weight is on the push from B, but on top of a proxy the cosine is at its maximum, so its gradient is zero. Drag the
#    proxy of B a little aside, and x has somewhere to go. MPA-DW keeps its pull to A.
# 3. Choose ProxyNCA: the pull to A is the same at every angle. The positive is not in the denominator, so nothing
#    tells the loss that x has arrived.
# 4. Choose SoftTriple with three proxies per class, and drag one proxy of A to x. One near proxy is enough: the pull to A
#    falls from 1.33 to 0.57, and the other two proxies of A get hardly any arrow.
#
# ## Table 1, computed
#
# The paper's Table 1 says which relations between similarities a gradient considers: two positives (P-P), two
# negatives (N-N), a positive and a negative (P-N). This can be computed. If the similarity $S_2$ has a say in the
# gradient of $S_1$, then $\partial^2 L / \partial S_1\, \partial S_2$ is not zero. Below, four samples ($x_1, x_2$ of class
# A, $x_3$ of B, $x_4$ of C) and three classes: twelve similarities, a 12 × 12 matrix.

# %% jupyter={"source_hidden": true}
LOSSES = tuple(figures.LOSSES)
labkit.explore(
    figures.relations,
    [Control("loss", "loss", LOSSES, "MPA-AP", menu=True)],
    [{"loss": loss} for loss in LOSSES],
    "Which similarity enters which gradient, for six losses: a mark where the second derivative is not zero. ProxyNCA, "
    "SoftTriple, MPA-DW and MPA-AP are made of blocks, one for each sample. ProxyAnchor and MPA connect different "
    "samples of one class. Only SoftTriple and MPA-AP connect positives with negatives.",
)

# %% [markdown]
# The same as numbers: for each relation the entry of largest size. "Other samples" is any entry between two samples
# ("stability" in Table 1 is its absence); "a shift" is how the gradient answers when all similarities rise together
# ("similarity" in Table 1).

# %%
table = pd.DataFrame({loss: figures.relation_strengths(loss) for loss in LOSSES}).T
display(table.map(lambda value: "0" if abs(value) < 1e-9 else f"{value:+.3f}"))

# %% [markdown]
# The paper's Table 1 has a tick wherever a number stands here, and a gap wherever a 0 does. The sentence in the text that
# "ProxyNCA loss and MPA loss" see relations between positives does not fit: it should say ProxyAnchor (E-MPA-7).
#
# One column hides something. Look at the signs under P-N.

# %% jupyter={"source_hidden": true}
labkit.predict("8.2")

# %% [markdown]
# ## "P-N relations" are not always differences
#
# Table 1 says that P-N relations are "differences between positive similarity and negative similarity". For SoftTriple
# they are. For MPA-AP, with $S_p$ to the own class and $S_n$ to another, the relation of Eq. 18 is
#
# $$(\delta - S_p) - (S_n + \delta) = -(S_p + S_n)$$
#
# a **sum**, in which the margins cancel (E-MPA-6). Test: two classes, one sample. Rows 1 and 2 have the same
# difference, rows 1 and 3 the same sum. α = λ = 8.

# %%
rows = []
for S_p, S_n in ((0.5, 0.3), (0.3, 0.1), (0.6, 0.2)):
    x, w = figures.with_similarities(torch.tensor([[S_p, S_n]], dtype=torch.float64))
    row = {"S_p": S_p, "S_n": S_n, "difference": S_p - S_n, "sum": S_p + S_n}
    for name in ("SoftTriple", "MPA-AP"):
        _, parts = figures.LOSSES[name](x, torch.tensor([0]), w, return_parts=True)
        row |= {f"{name}: pull": parts.dL_dS[0, 0].item(), f"{name}: push": parts.dL_dS[0, 1].item()}
    row["MPA-AP: pull / push"] = row["MPA-AP: pull"] / row["MPA-AP: push"]
    rows.append(row)
display(pd.DataFrame(rows, index=[1, 2, 3]).round(4))

# %% [markdown]
# SoftTriple: the whole gradient is the same in rows 1 and 2; it knows the difference only. MPA-AP: the *ratio* of pull
# and push is the same in rows 1 and 3, $-e^{-\alpha (S_p + S_n)}$. When a sample sits among the wrong class, MPA-AP
# first pushes it out and pulls only then.
#
# ## Printed gradients against autograd
#
# A published gradient can be checked in a few lines. Eq. 5, the gradient of SoftTriple, has both signs wrong. For more
# than two classes its fraction is wrong, too: it adds up ratios, one for each negative class, where the sum belongs in
# the denominator (E-MPA-1). Eq. 14, of MPA-DW, prints
# `S_DR = S(x_i, c') − S(x_i, c')`, which is 0; it must be `S(x_i, c) − S(x_i, c')` (E-MPA-5). Eqs. 8, 9, 11 and 18
# are right.

# %%
S = torch.tensor([0.10, 0.28, 0.17, 0.23, -0.02], dtype=torch.float64)  # one sample of class 0, five classes
x, w = figures.with_similarities(S[None])
negatives = S[1:]


def show_gradient(name, slope):
    print(f"{name:>28}: " + ", ".join(f"{value:+8.3f}" for value in slope.tolist()))


_, parts = functional.soft_triple(x, torch.tensor([0]), w, lam=20.0, delta=0.01, tau=0.0, return_parts=True)
show_gradient("SoftTriple, autograd", parts.dL_dS[0])
l_R = torch.exp(20 * (S[0] - negatives - 0.01))  # l_R⁺(c_i, c)
relative = torch.exp(20 * (negatives[:, None] - negatives[None, :]))  # [c', c]: l_R⁻(c', c)
printed = torch.cat([20 / (l_R.sum() + 1)[None], -20 / (l_R + relative.sum(1))])
right = torch.cat([-20 / (1 + 1 / (1 / l_R).sum())[None], 20 / (l_R + relative.sum(0))])
show_gradient("Eq. 5 as printed", printed)
show_gradient("Eq. 5 corrected", right)
assert torch.allclose(right, parts.dL_dS[0])

_, parts = functional.mpa_data_wise(x, torch.tensor([0]), w, alpha=8.0, delta=0.1, tau=0.0, return_parts=True)
show_gradient("MPA-DW negatives, autograd", parts.dL_dS[0, 1:])
itself = torch.exp(-8 * (negatives + 0.1))
show_gradient("Eq. 14 as printed", 8 / (itself + 4))
right = 8 / (itself + torch.exp(8 * (negatives[:, None] - negatives[None, :])).sum(0))
show_gradient("Eq. 14 corrected", right)
assert torch.allclose(right, parts.dL_dS[0, 1:])

# %% [markdown]
# ## The regulariser has two holes
#
# Eq. 3 divides by $C K (K - 1)$, but there are $C K (K - 1) / 2$ pairs: it is *half* the mean distance. With $K = 1$ it
# is 0/0, and yet Tables 7 and 8 have a row $K = 1$. And the root has an infinite slope at 0, where two proxies
# coincide (E-MPA-2). The printed formula against ours:

# %%
from labkit.losses.class_similarity import proxy_regularizer


def as_printed(w):
    C, K, _ = w.shape
    t, s = torch.triu_indices(K, K, offset=1)
    return torch.sqrt(2 - 2 * (w[:, s] * w[:, t]).sum(2)).sum() / (C * K * (K - 1))


axes = torch.eye(4)
for name, rows in (("K = 2, at right angles", [0, 1]), ("K = 1", [0]), ("K = 3, two coincide", [0, 0, 1])):
    for title, formula in (("printed", as_printed), ("labkit", proxy_regularizer)):
        w = axes[rows][None].clone().requires_grad_()
        value = formula(w)
        value.backward()
        print(f"{name:>22}, {title}: Reg = {value.item():.3f}, largest |gradient| = {w.grad.abs().max():.3f}")

# %% [markdown]
# ## What it costs
#
# Table 2 gives $O(BCK^2)$ for all losses, with $K$ proxies per class and $B$ samples (the paper writes $P$ and $M$). But
# $S$ needs $B C K$ similarities of $D$ numbers each, once. Only the regulariser compares proxies with each other,
# $C K^2$ a step whatever $B$ is (E-MPA-8; the text also has $C (K - 1)$ negative proxies where there are $K (C - 1)$). PyTorch can count exactly what
# its matrix products do:

# %%
from torch.utils.flop_counter import FlopCounterMode


def operations(function, B, C, K, D=64, **options):
    """Floating-point operations of one forward pass's matrix products."""
    with FlopCounterMode(display=False) as counter:
        function(torch.randn(B, D), torch.randint(C, (B,)), torch.randn(C, K, D), **options)
    return counter.get_total_flops()


rows = []
for B, C, K in ((128, 100, 1), (128, 100, 10), (256, 100, 10), (128, 200, 10), (128, 100, 20), (128, 100, 40)):
    total, plain = operations(functional.mpa, B, C, K), operations(functional.mpa, B, C, K, tau=0.0)
    pair = 2 * 64  # a product of two vectors: 64 multiplications, 64 additions
    rows.append([B, C, K, plain / pair, (total - plain) / pair, plain / (B * C * K * pair)])
columns = ["B", "C", "K", "S: products", "Reg: products", "S: products / BCK"]
display(pd.DataFrame(rows, columns=columns).round(2))

# %% [markdown]
# From $K = 10$ to 20 the products of $S$ double and those of the regulariser become four times as many. The last column is the test of
# Table 2: it would grow like $K$ if the cost were $B C K^2$. It stays at 1 (plus 1/64 for the weighted mean of Eq. 1).
# All losses of the family cost the same, since they share $S$. A comparison of all proxies with all others, $(CK)^2$,
# would cost $C$ times as much as our regulariser for the same number.
#
# ## An experiment
#
# The six losses and the untrained network on Omniglot: train on characters of some alphabets, retrieve characters of
# unseen ones. First with one label a character, then with every three characters *merged* into one training label, so
# that a class really has several centres. 2000 steps, three seeds; $K = 10$, $\tau = 0.2$, proxies learn at 0.03. Each
# loss had the same four tuning trials on validation alphabets (`data/runs/tuning.csv`; α = 16 and λ = 10 were chosen).
# `RETRAIN = True` at the top trains everything again.

# %%
FAMILY = ["proxy-nca", "proxy-anchor", "soft-triple", "mpa", "mpa-dw", "mpa-ap", "untrained"]
plain = labkit.experiment("omniglot", FAMILY, retrain=RETRAIN)
merged = labkit.experiment("omniglot-merged", FAMILY, retrain=RETRAIN)

# %% jupyter={"source_hidden": true}
labkit.show(
    results(plain, "R@1"),
    "Recall@1 on unseen Omniglot characters: six proxy losses and the untrained network; seeds, and their mean with the "
    "95 % interval.",
)
labkit.show(
    results(merged, "R@1"),
    "The same, trained with every three characters merged into one label, and tested on single unseen characters.",
)

# %% [markdown]
# Merging changes the order. With plain labels the best three, MPA-DW, ProxyNCA and SoftTriple, lie within 1.6 points.
# With merged ones the losses that have several proxies lead: MPA-DW 76.3 %, SoftTriple 74.2 %, MPA 72.9 % and MPA-AP
# 71.9 %, against 69.8 % for ProxyAnchor and 69.3 % for ProxyNCA with their one proxy per class. These four are even better
# than with plain labels, each by one to three points. That is no error: with a third of the labels each proxy sees three
# times as many of its samples in the same number of steps. A likely reason, not tested here.
#
# ### How many proxies?
#
# Merged labels have three characters each. If proxies stand for the centres of a class, one proxy should be too few,
# and more than a handful should not hurt.

# %%
merged_k = [run for run in merged if run.loss in ("mpa", "mpa-ap")]  # K = 10
for centers in ("1", "4", "20"):
    merged_k += labkit.experiment("omniglot-merged", ["mpa", "mpa-ap"], retrain=RETRAIN, quiet=True, centers=centers)
labkit.show(
    against_setting(merged_k, centers_of, (1, 4, 10, 20), "proxies per class K"),
    "Recall@1 on unseen Omniglot characters after training on merged labels, against the number of proxies per class: "
    "MPA and MPA-AP, mean over seeds with 95 % interval; values of K without recorded runs are empty.",
)

# %% [markdown]
# One is too few: ten proxies are better than one by 3.0 points with MPA and 4.1 with MPA-AP, in each of three seeds.
# With MPA four do as well as ten. Twenty do not hurt; three seeds cannot show that they are better than ten.
#
# The order also depends on the budget: see the first figure of this lesson.
#
# ## The paper's numbers and ours
#
# The paper trains an Inception network with ImageNet weights on photos of birds and cars. The differences in R@1
# between the losses are at most 1.6 points on CUB and 1.1 on Cars196, over three runs, and the promised standard deviations are
# missing in our copy of the tables. We train a small network from scratch on drawings. The absolute numbers cannot be
# compared; the order of the losses can be asked for.

# %%
OURS = ["SoftTriple (our)", "ProxyAnchor (our)", "MPA", "MPA-DW", "MPA-AP"]  # "our": the paper's own reruns
wanted = ["R@1", "nDCG@8", "MAP@R"]
rows = pd.concat([papers.pivot("mpa", number).loc[OURS] for number in ("4", "5")], axis=1)
display(rows.loc[:, [column for column in rows.columns if column[1] in wanted]])
display(pd.concat([papers.pivot("mpa", "7"), papers.pivot("mpa", "8")], axis=1))

# %% jupyter={"source_hidden": true}
labkit.claims("mpa")

# %% [markdown]
# ## What the released code does differently
#
# <details><summary>Differences, with our switches and what they do; errata</summary>
#
# No implementation of MPA has been published that we could find. Its parents have code:
#
# | | paper | released code | our switch | effect |
# |---|---|---|---|---|
# | SoftTriple | Eq. 4: sum over samples | mean over samples | `reduction="sum"` for Eq. 4 | below: τ means something else |
# | SoftTriple | Eq. 3 | 1e-5 inside the root; no regulariser if K = 1 | `convention="official"` | distance 0 counts as 0.003, finite gradient |
# | SoftTriple | | Adam with eps = 0.01, centres learn 100 times faster | `proxy_lr` of a preset | |
# | Proxy-Anchor | log(1 + Σ exp) | the same, literally | always stable | below: infinite in fp16 |
# | Proxy-Anchor | | proxies learn 100 times faster, gradients clipped, first epoch(s) with a frozen backbone | `proxy_lr`, `clip` | below |
# | Proxy-Anchor's ProxyNCA | | its proxies were not given to the optimizer until issue 25 | | below: a baseline with a handicap |
# | ProxyNCA, in ProxyNCA++'s code | positive not in the denominator (2017) | all proxies in it; both vectors scaled by 3, so d² by 9 | `convention="official"`, `scale` | below: no floor at 0 |
#
# (Repositories idstcv/SoftTriple, Proxy-Anchor, proxynca_pp.)
#
# Two sentences of the paper that its own tables do not bear out: MPA-AP is "as accurate or more accurate than the
# other losses in all datasets" (MPA is better on CUB, MPA-DW on SOP; E-MPA-13); ProxyAnchor has the "highest MAP@R" (on
# SOP it is SoftTriple; E-MPA-14). The counts of CUB's training and test images are exchanged (E-MPA-9). And in Table 7
# $K = 16$ is worse than $K = 1$.
#
# </details>
#
# First, fp16. The largest number is 65504; an exponent of $32 \cdot 1.1$ is reached by one negative that coincides with a proxy.

# %%
print(f"exp(32 · 1.1) = {torch.tensor(32 * 1.1, dtype=torch.float64).exp().item():.2g}")
s = torch.tensor([1.0, 0.2, 0.1])
for dtype in (torch.float32, torch.float16):
    score = (32 * (s + 0.1)).to(dtype)
    literal, stable = torch.log(1 + score.exp().sum()), torch.nn.functional.softplus(torch.logsumexp(score, 0))
    print(f"{dtype}: log(1 + Σ exp) = {literal.item():.4f}, softplus(logsumexp) = {stable.item():.4f}")

# %% [markdown]
# Second, the proxies. Forty clusters in 16 dimensions, a linear network to 8, ProxyAnchor, Adam for 100 steps. The only
# difference is what the optimizer gets.

# %%
generator = torch.Generator().manual_seed(0)
centres = torch.randn(40, 16, generator=generator)
labels = torch.arange(40).repeat(4)
inputs = centres[labels] + 0.5 * torch.randn(160, 16, generator=generator)


def train(proxy_rate):
    """First and last loss, and how far a proxy has turned on average, in degrees."""
    torch.manual_seed(0)
    network, loss = torch.nn.Linear(16, 8), losses.ProxyAnchor(40, 8)
    before = torch.nn.functional.normalize(loss.proxies.detach().clone(), dim=1)
    groups = [{"params": network.parameters(), "lr": 1e-3}]
    if proxy_rate:
        groups.append({"params": loss.parameters(), "lr": 1e-3 * proxy_rate})
    optimizer, values = torch.optim.Adam(groups), []
    for _ in range(100):
        optimizer.zero_grad()
        value = loss(network(inputs), labels)
        value.backward()
        values.append(value.item())
        optimizer.step()
    after = torch.nn.functional.normalize(loss.proxies.detach(), dim=1)
    return values[0], values[-1], torch.rad2deg((before * after).sum(1).clamp(-1, 1).acos()).mean().item()


for rate, name in ((0, "proxies forgotten"), (1, "learning rate × 1"), (100, "learning rate × 100")):
    first, last, turned = train(rate)
    print(f"{name:>20}: loss {first:.2f} → {last:.2f}, proxies turned by {turned:.0f}°")

# %% [markdown]
# A comparison in which one loss has its proxies at × 100 and the other at × 1 compares learning rates (issue 28 of the
# Proxy-Anchor repository says so). Third, the value of ProxyNCA on a perfect batch in both forms, and how much a
# regulariser weighs beside a mean and beside a sum:

# %%
x = torch.nn.functional.normalize(torch.randn(6, 4, generator=generator), dim=1)
w = torch.nn.functional.normalize(torch.randn(6, 4, generator=generator), dim=1)
d2, scaled = (x - w).square().sum(1), (3 * x - 3 * w).square().sum(1)
print(f"d² of vectors scaled by 3, over d²: {(scaled / d2).mean().item():.4f}")
perfect = torch.eye(6)  # every sample sits on its own proxy
for convention in ("paper", "official"):
    value = functional.proxy_nca(perfect, torch.arange(6), perfect, convention=convention)
    print(f"ProxyNCA of a perfect batch, convention={convention!r}: {value.item():.4f}")

many = torch.randn(6, 3, 4, generator=generator)
for how in ("mean", "sum"):
    total = functional.soft_triple(x.repeat(30, 1), torch.arange(6).repeat(30), many, reduction=how)
    bare = functional.soft_triple(x.repeat(30, 1), torch.arange(6).repeat(30), many, reduction=how, tau=0.0)
    print(f"SoftTriple, batch of 180, {how}: the regulariser is {100 * (1 - bare / total).item():.3f} % of the loss")

# %% [markdown]
# ## Exercises
#
# **8.1 Similarity to a class** (easy, 5 minutes). `x` (D,) is a sample, `w` (C, K, D) holds the proxies; all are unit
# vectors. Return $S(x, c)$ for every class, (C,), as in Eq. 1. The weights have a gradient, too.
#
# <details><summary>Hint 1</summary><code>w @ x</code> has the shape (C, K).</details>
# <details><summary>Hint 2</summary>The softmax runs over the proxies of one class: over the last axis.</details>


# %%
def class_similarity(x: torch.Tensor, w: torch.Tensor, gamma: float) -> torch.Tensor:
    raise NotImplementedError


labkit.check.class_similarity(class_similarity)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def class_similarity(x, w, gamma):
#     s = w @ x
#     return (torch.softmax(s / gamma, 1) * s).sum(1)
# ```
# </details>
#
# **8.2 ProxyAnchor that does not overflow** (medium, 15 minutes). `similarity` (N, C) holds $S$; `labels` (N,) the
# classes. The positive terms are averaged over the classes in the batch, the negative ones over all classes. The cases
# include α = 2000, where $e^{\alpha}$ is infinite even in float64.
#
# <details><summary>Hint 1</summary>log(1 + Σ exp(u)) is the logsumexp of all u and one more number. Which one?</details>
# <details><summary>Hint 2</summary>A loop over classes is fine: <code>similarity[labels == c, c]</code> are the own
# samples of class c.</details>
# <details><summary>Hint 3</summary>A class without own samples has no positive term and does not count in the
# mean.</details>


# %%
def proxy_anchor(similarity: torch.Tensor, labels: torch.Tensor, alpha: float, delta: float) -> torch.Tensor:
    raise NotImplementedError


labkit.check.proxy_anchor(proxy_anchor)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def proxy_anchor(similarity, labels, alpha, delta):
#     zero = similarity.new_zeros(1)  # e^0 is the "1 +"
#     pull, push = [], []
#     for c in range(similarity.shape[1]):
#         own = labels == c
#         if own.any():
#             pull.append(torch.logsumexp(torch.cat([zero, -alpha * (similarity[own, c] - delta)]), 0))
#         push.append(torch.logsumexp(torch.cat([zero, alpha * (similarity[~own, c] + delta)]), 0))
#     return torch.stack(pull).mean() + torch.stack(push).mean()
# ```
# </details>
#
# **8.3 A regulariser without NaN** (medium, 10 minutes). `v` (C, K, D) holds proxies that are not normalised yet.
# Normalise them and return Reg of Eq. 3. With $K = 1$ it is 0; where proxies coincide the gradient is 0.
#
# <details><summary>Hint 1</summary>For unit vectors √(2 − 2 a·b) is the distance of a and b.</details>
# <details><summary>Hint 2</summary><code>torch.cdist</code> and <code>.norm()</code> have the gradient 0 at distance
# 0; <code>torch.sqrt</code> has not.</details>


# %%
def regulariser(v: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError


labkit.check.proxy_regularizer(regulariser)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def regulariser(v):
#     w = torch.nn.functional.normalize(v, dim=-1)
#     C, K, _ = w.shape
#     t, s = torch.triu_indices(K, K, offset=1)
#     return (w[:, s] - w[:, t]).norm(dim=-1).sum() / max(1, C * K * (K - 1))
# ```
# </details>
#
# ## Break it
#
# **All proxies of a class start at one point.** They are equal, so they get equal gradients, so they stay equal: ten
# proxies are one, for ever. The regulariser cannot help, it only draws together. Random starts are not a detail.
#
# **A proxy far from its own sample is pushed away.** From Eq. 1 follows
# $\partial S / \partial s_k = p_k (1 + (s_k - S) / \gamma)$, $p$ being the softmax. It is negative for a proxy whose
# similarity is more than $\gamma$ below $S$. So a sample can repel a proxy of its own class. With small γ the weight
# $p_k$ is tiny, too: such a proxy is dead.

# %%
generator = torch.Generator().manual_seed(0)
embeddings = torch.randn(64, 16, generator=generator)
labels = torch.arange(64) % 8
random_start = torch.randn(8, 10, 16, generator=generator)
for name, start in (("random start", random_start), ("one point", random_start[:, :1].expand(8, 10, 16))):
    w = start.clone().requires_grad_()
    optimizer = torch.optim.Adam([w], lr=0.01)
    for _ in range(50):
        optimizer.zero_grad()
        functional.mpa(embeddings, labels, w, tau=0.0).backward()
        optimizer.step()
    spread = 2 * proxy_regularizer(torch.nn.functional.normalize(w.detach(), dim=2)).item()
    print(f"{name:>12}: mean distance between the proxies of a class after 50 steps {spread:.3f}")

s = torch.tensor([0.7, 0.5, 0.2])
for gamma in (1.0, 0.1, 0.01):
    leaf = s.clone().requires_grad_()
    (torch.softmax(leaf / gamma, 0) * leaf).sum().backward()
    slopes = ", ".join(f"{value:.4f}" for value in leaf.grad.tolist())
    print(f"γ = {gamma:>4}: proxies at similarity 0.7, 0.5, 0.2 get the slopes {slopes}")

# %% [markdown]
# ## Can you answer these?
#
# 1. Why does a proxy loss need no sampler that puts several items of a class into a batch?
# 2. Two similarities stand in different logarithms. What does the gradient of one know about the other?
# 3. Which of the six losses have a gradient that depends on the other samples of the batch, and why?
# 4. Which do not notice when all similarities rise by 0.1?
# 5. Why does SoftTriple pull harder when a negative comes closer, and MPA-AP less hard?
# 6. What is MPA with one proxy and τ = 0?
# 7. Where does Eq. 3 have no value, and where no slope?
# 8. How does the cost of $S$ grow with $K$, and how that of the regulariser?
# 9. A colleague's ProxyNCA baseline does not learn. What do you look at first?
#
# ## Summary
#
# A proxy loss is a function of the similarities $S(x, c)$ of samples to classes. Who stands together in one logarithm
# competes for one gradient: samples of a class (ProxyAnchor, MPA), the negatives of a sample (MPA-DW), or everything
# about a sample (SoftTriple, MPA-AP). Several proxies per class cost $K$ times the products and need different starts.
# Small formulas have holes at their ends: $K = 1$, coincident proxies, large exponents. And a ranking of losses belongs
# to a budget and a learning rate of the proxies.
#
# ## Reading
#
# - Movshovitz-Attias et al., *No Fuss Distance Metric Learning Using Proxies*, ICCV 2017: the idea.
# - Kim, Kim, Cho, Kwak, *Proxy Anchor Loss for Deep Metric Learning*, CVPR 2020: the proxy looks at the samples.
# - Qian et al., *SoftTriple Loss*, ICCV 2019: several centres, and the regulariser.
# - Saeki, Kawahara, Aman, *Multi Proxy Anchor Family Loss for Several Types of Gradients*, 2023: Section 3 and Table 1
#   are this lesson.
# - Teh, DeVries, Taylor, *ProxyNCA++*, ECCV 2020: how much of a result is not the loss.
#
# In the dashboard (`make dashboard`): [these runs, with curves and differences](http://127.0.0.1:8501/compare?preset=omniglot-merged).
#
# Next: [9. SGSL](09_sgsl.ipynb).
