"""Wrong answers to assignment 2: the solution with some text replaced (old, new, …), or another function."""

WRONG = {
    "batch_ranks": {
        "item stays": ("itself[:, None, :] | itself[None, :, :]", "itself[:, None, :]"),
        "query stays": ("itself[:, None, :] | itself[None, :, :]", "itself[None, :, :]"),
        "left out only where both": ("itself[:, None, :] | itself", "itself[:, None, :] & itself"),
        "columns": (
            "similarity[:, None, :] - similarity[:, :, None]",
            "similarity.T[:, None, :] - similarity.T[:, :, None]",
        ),
        "times tau": ("/ tau)", "* tau)"),
        "no gradient to the item": ("similarity[:, :, None])", "similarity[:, :, None].detach())"),
        "tau twice": ("/ tau)", "/ tau**2)"),
        "sum over the items": (".sum(2)", ".sum(1)"),
        "tanh for the sigmoid": (
            "torch.sigmoid((similarity[:, None, :] - similarity[:, :, None]) / tau)",
            "(1 + torch.tanh((similarity[:, None, :] - similarity[:, :, None]) / tau)) / 2",
        ),
        "cosines assumed": ("itself = torch", "similarity = similarity.clamp(-1, 1)\n    itself = torch"),
        "made symmetric": ("itself = torch", "similarity = (similarity + similarity.T) / 2\n    itself = torch"),
        "exponent cut at 10": ("similarity[:, :, None]) / tau)", "similarity[:, :, None]).div(tau).clamp(-10, 10))"),
    },
    "safe_temperature": {
        "a tie is always 0": (
            "n = len(similarity)",
            "n = len(similarity)\n    if len(set(similarity.tolist())) < n:\n        return 0.0",
        ),
        "boundary left out": ("error >= (n - 1) / 2", "error > (n - 1) / 2"),
        "boundary left out, without an error": (
            "error >= (n - 1) / 2",
            "error > (n - 1) / 2",
            "math.log((n - 1) / error - 1)",
            "max(math.log((n - 1) / error - 1), 1e-12)",
        ),
        "n / 2 as boundary": ("error >= (n - 1) / 2", "error >= n / 2"),
        "n for n − 1": ("math.log((n - 1) / error - 1)", "math.log(n / error - 1)"),
        "one lost": ("/ error - 1)", "/ error)"),
        "neighbours as given": ("similarity.sort().values.diff().min()", "similarity.diff().abs().min()"),
        "ties left out": ("similarity.sort().values", "similarity.unique()"),
        "n − 1 as boundary": (
            "error >= (n - 1) / 2",
            "error >= n - 1",
            "math.log((n - 1) / error - 1)",
            "abs(math.log((n - 1) / error - 1))",
        ),
        "ties within 1e-4": ("    return gap /", "    if gap < 1e-4:\n        return 0.0\n    return gap /"),
        "mean gap": (".diff().min()", ".diff().mean()"),
        "one for infinity": ("return math.inf", "return 1.0"),
        "a tie takes the next gap": (
            "similarity.sort().values.diff().min().item()",
            "min((d for d in similarity.sort().values.diff().tolist() if d > 0), default=0.0)",
        ),
    },
    "rs_loss": {
        "one rank less": ("(k - rank", "(k - 1 - rank"),
        "mean over all pairs": """
def rs_loss(similarity, labels, ks, tau_rank, tau_sim, mode):
    rank = batch_ranks(similarity, tau_sim)
    weights, losses = [], []
    for q in range(len(labels)):
        positive = labels == labels[q]
        positive[q] = False
        if not positive.any():
            continue
        recalls = []
        for k, tau in zip(ks, tau_rank):
            h = torch.sigmoid((k - rank[q, positive]) / tau)
            recalls.append({"fraction": h.mean(), "capped": h.sum().clamp(max=k) / min(k, len(h)), "any": 1 - (1 - h).prod()}[mode])
        losses.append((1 - torch.stack(recalls).mean()) * len(h))
        weights.append(len(h))
    return torch.stack(losses).sum() / sum(weights)
""",
        "query among its positives": ("positive[q] = False", "pass"),
        "capped without the cut": ("h.sum().clamp(max=k)", "h.sum()"),
        "capped divided by k": ("min(k, len(h))", "k"),
        "any as the largest": ("1 - (1 - h).prod()", "h.max()"),
        "any as a capped sum": ("1 - (1 - h).prod()", "h.sum().clamp(max=1)"),
        "first temperature for all": ("/ tau)", "/ tau_rank[0])"),
        "no positive counts as 0": ("continue", "losses.append(0 * similarity.sum())\n            continue"),
        "wrong temperature": ("/ tau)", "/ tau_sim)"),
        "ranks of the columns": ("batch_ranks(similarity, tau_sim)", "batch_ranks(similarity, tau_sim).T"),
        "cut at 1": ("h.sum().clamp(max=k)", "h.sum().clamp(max=1)"),
        "detached ranks": ("rank[q, positive])", "rank[q, positive].detach())"),
        "largest k only": ("torch.stack(recalls).mean()", "recalls[-1]"),
    },
    "smooth_ap_pulls": {
        "divided by all items": ("* p.sum()", "* len(p)"),
        "counts itself": ("(G @ p) - 0.5 * p", "(G @ p)"),
        "one in the second numerator": ("-p * R_neg", "-p * (1 + R_neg)"),
        "nothing cancelled in the first": ("p * (1 + R_pos) / below", "p * (1 + R_pos + R_neg) / below"),
        "tau squared": ("(1 - G) / tau", "(1 - G) / tau**2"),
        "turned round": ("force.sum(0) - force.sum(1)", "force.sum(1) - force.sum(0)"),
        "comparison turned": ("similarity[None, :] - similarity[:, None]", "similarity[:, None] - similarity[None, :]"),
        "second row over all items": ("(by_positives, p))", "(by_positives, torch.ones_like(p)))"),
        "one taken for the half": ("- 0.5 * p", "- p"),
        "one lost below": ("(1 + R_pos + R_neg) ** 2", "(R_pos + R_neg) ** 2"),
        "queries that are negatives": ("by_negatives = p * (1", "by_negatives = 1 * (1"),
        "squares one by one": ("(1 + R_pos + R_neg) ** 2", "((1 + R_pos) ** 2 + R_neg**2)"),
        "one in the first numerator": ("p * (1 + R_pos) /", "p * R_pos /"),
    },
}
