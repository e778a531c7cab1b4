"""Wrong answers to assignment 3: the solution with some text replaced (old, new, …), or another function."""

WRONG = {
    "pnp_gradient": {
        "Iu as the derivative of Eq. 7": ("torch.log1p(R)", "torch.log1p(R) + R / (1 + R)"),
        "Iu by log2": ("torch.log1p(R)", "torch.log2(1 + R)"),
        "b beside R": ("R / (1 + b * R)", "R / (b + R)"),
        "b left out": ("R / (1 + b * R)", "R / (1 + R)"),
        "alpha in front left out": ("alpha / (1 + R) ** (alpha + 1)", "1 / (1 + R) ** (alpha + 1)"),
        "exponent alpha": ("** (alpha + 1)", "** alpha"),
        "O as its loss": ("torch.ones_like(R)", "R"),
        "mean over all items": ("/ positive.sum()", "/ len(similarity)"),
        "mean over the negatives": ("force.sum(0)", "force.mean(0)"),
        "tau on top": ("(1 - G) / tau", "(1 - G) * tau"),
        "hard counts": ("R = G.sum(1)", "R = (G > 0.5).sum(1).double()"),
        "R to the power": ("(1 + R) ** (alpha + 1)", "(1 + R ** (alpha + 1))"),
        "Ib differentiated once more": ("R / (1 + b * R)", "1 / (1 + b * R) ** 2"),
        "positives only": ("gradient[~positive] = force.sum(0)", "pass"),
    },
    "pull_quantile": {
        "more than the share": (">= share", "> share"),
        "sorted by pull": ("order = R.argsort()", "order = g.argsort()"),
        "from the far end": ("R.argsort()", "R.argsort(descending=True)"),
        "share of one": (">= share * g.sum()", ">= share"),
        "share of the positives": (
            "g[order].cumsum(0) >= share * g.sum()",
            "torch.ones_like(g).cumsum(0) >= share * len(g)",
        ),
        "place, not count": ("R[order][reached][0].item()", "int(reached.nonzero()[0])"),
        "interpolated": (
            "return R[order][reached][0].item()",
            "return float(np.interp(share * g.sum().item(), g[order].cumsum(0).numpy(), R[order].numpy()))",
        ),
        "pull times count": (
            "g[order].cumsum(0) >= share * g.sum()",
            "(g * R)[order].cumsum(0) >= share * (g * R).sum()",
        ),
        "the last one before": ("R[order][reached][0].item()", "R[order][max(0, int((~reached).sum()) - 1)].item()"),
        "no pull: smallest count": ("return 0.0", "return R.min().item()"),
        "not sorted again": ("R[order][reached][0]", "R[reached][0]"),
        "half always": ("share * g.sum()", "0.5 * g.sum()"),
        "squared pull": ("order = R.argsort()", "g = g**2\n    order = R.argsort()"),
    },
    "loss_from_points": {
        "straight between the points": (
            "g[k] * h + rise[k] * h**2 / 2",
            "torch.where(k < len(r) - 1, (g[k] + rise[k] * (r[(k + 1).clamp(max=len(r) - 1)] - r[k]) / 2) * h, g[k] * h)",
        ),
        "by many steps": """
def loss_from_points(R, points):
    r, g = points[:, 0].numpy(), points[:, 1].numpy()
    steps = torch.linspace(0, 1, 20001, dtype=torch.float64)
    at = R.detach()[:, None] * steps
    slopes = torch.as_tensor(np.interp(at.numpy(), r, g))
    value = torch.trapezoid(slopes, at, dim=1)
    return value + slopes[:, -1] * (R - R.detach())
""",
        "by few steps": """
def loss_from_points(R, points):
    r, g = points[:, 0].numpy(), points[:, 1].numpy()
    at = R.detach()[:, None] * torch.linspace(0, 1, 201, dtype=torch.float64)
    slopes = torch.as_tensor(np.interp(at.numpy(), r, g))
    return torch.trapezoid(slopes, at, dim=1) + slopes[:, -1] * (R - R.detach())
""",
        "nothing before the first point": ("torch.cat([g[:1], g])", "torch.cat([0 * g[:1], g])"),
        "the last line goes on": (
            "torch.zeros_like(g[:1])])\n    k",
            "((g[1:] - g[:-1]) / (r[1:] - r[:-1]))[-1:]])\n    k",
        ),
        "nothing behind the last point": ("h = R - r[k]", "h = torch.minimum(R, r[-1]) - r[k]"),
        "square without the half": ("h**2 / 2", "h**2"),
        "no gradient": ("h = R - r[k]", "h = R.detach() - r[k]"),
        "clamped stretches": """
def loss_from_points(R, points):
    r, g = points[:, 0], points[:, 1]
    F = g[0] * R.clamp(max=r[0])
    for k in range(len(r) - 1):
        h = R.clamp(r[k], r[k + 1]) - r[k]
        F = F + g[k] * h + (g[k + 1] - g[k]) / (r[k + 1] - r[k]) * h**2 / 2
    return F + g[-1] * (R.clamp(min=r[-1]) - r[-1])
""",
        "left heights": ("(g[1:] + g[:-1]) / 2", "g[:-1]"),
        "from the first point on": (
            "    if r[0] > 0:\n        r, g = torch.cat([torch.zeros_like(r[:1]), r]), torch.cat([g[:1], g])\n",
            "    R = R - r[0]\n    r = r - r[0]\n",
        ),
        "a point counts as behind": ("r[None, :] <= R", "r[None, :] < R"),
        "equal distances": ("(g[1:] - g[:-1]) / (r[1:] - r[:-1])", "(g[1:] - g[:-1]) / (r[1] - r[0])"),
    },
    "pnp_batch": {
        "share of B − 1": ("max(1, int((~same).sum()))", "(len(labels) - 1)"),
        "share of B": ("max(1, int((~same).sum()))", "len(labels)"),
        "loss scaled": (
            "R * negatives / max(1, int((~same).sum()))",
            "R",
            "1 - ((1 + scaled) ** -alpha).mean()",
            "(1 - ((1 + scaled) ** -alpha).mean()) * negatives / max(1, int((~same).sum()))",
        ),
        "query among its positives": ("positive[q] = False", "pass"),
        "alpha as a factor": ("(1 + scaled) ** -alpha", "alpha / (1 + scaled)"),
        "one minus lost": ("1 - ((1 + scaled)", "((1 + scaled)"),
        "no positive counts as 0": ("continue", "losses_of_queries.append(0 * s.sum())\n            continue"),
        "mean count first": ("((1 + scaled) ** -alpha).mean()", "(1 + scaled.mean()) ** -alpha"),
        "columns": ("enumerate(similarity)", "enumerate(similarity.T)"),
        "positives counted, too": ("s[~same][None, :]", "s[torch.arange(len(s)) != q][None, :]"),
        "share of the positives": ("max(1, int((~same).sum()))", "int(positive.sum())"),
        "one scaled as well": (
            "(1 + scaled) ** -alpha",
            "((1 + R) * negatives / max(1, int((~same).sum()))) ** -alpha",
        ),
        "no negatives left out": ("if not positive.any():", "if not positive.any() or same.all():"),
        "best positive only": ("** -alpha).mean()", "** -alpha).max()"),
    },
}
