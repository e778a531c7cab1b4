"""Wrong answers to assignment 4: the solution with some text replaced (old, new, …), or another function."""

WRONG = {
    "ragged_similarity": {
        "similarity 0 for missing ones": ("masked_fill(~exists, -torch.inf)", "masked_fill(~exists, 0.0)"),
        "similarity −1 for missing ones": ("masked_fill(~exists, -torch.inf)", "masked_fill(~exists, -1.0)"),
        "mask after the softmax": (
            "torch.softmax((s / gamma).masked_fill(~exists, -torch.inf), dim=2)",
            "torch.softmax(s / gamma, dim=2) * exists",
        ),
        "times gamma": ("s / gamma", "s * gamma"),
        "softmax over the classes": ("-torch.inf), dim=2)", "-torch.inf), dim=1).nan_to_num(0.0)"),
        "embeddings as they are": ("torch.nn.functional.normalize(embeddings, dim=1)", "embeddings"),
        "proxies as they are": ("torch.nn.functional.normalize(proxies, dim=2)", "proxies"),
        "proxies along the wrong axis": ("(proxies, dim=2)", "(proxies, dim=1)"),
        "log-sum-exp": (
            "return (p * s).sum(2)",
            "return gamma * torch.logsumexp((s / gamma).masked_fill(~exists, -torch.inf), dim=2)",
        ),
        "the largest": ("return (p * s).sum(2)", "return s.masked_fill(~exists, -torch.inf).amax(2)"),
        "weights held constant": ("(p * s)", "(p.detach() * s)"),
        "mean over all places": ("(p * s).sum(2)", "(p * s).mean(2)"),
        "plain division": (
            "torch.nn.functional.normalize(proxies, dim=2)",
            "proxies / proxies.norm(dim=2, keepdim=True)",
        ),
        "a small length added": (
            "torch.nn.functional.normalize(embeddings, dim=1)",
            "embeddings / (embeddings.norm(dim=1, keepdim=True) + 1e-3)",
        ),
    },
    "mpa_weights": {
        "pull over all classes": ("pull_share / own.any(0).sum()", "pull_share / C"),
        "push over the classes of the batch": ("push_share / C", "push_share / own.any(0).sum()"),
        "pull over the samples": ("pull_share / own.any(0).sum()", "pull_share / len(labels)"),
        "one lost": (
            "torch.softmax(torch.cat([zero, pull]), dim=0)[1:]",
            "torch.softmax(pull, dim=0).nan_to_num(0.0)",
            "torch.softmax(torch.cat([zero, push]), dim=0)[1:]",
            "torch.softmax(push, dim=0).nan_to_num(0.0)",
        ),
        "inner derivative lost": ("-alpha * pull_share", "-pull_share", "+ alpha * push_share", "+ push_share"),
        "margin the wrong way for the pull": ("similarity - delta", "similarity + delta"),
        "margin the wrong way for the push": ("similarity + delta", "similarity - delta"),
        "own samples pushed, too": (".masked_fill(own, -torch.inf)", ""),
        "signs": (
            "return -alpha * pull_share / own.any(0).sum() + alpha",
            "return alpha * pull_share / own.any(0).sum() - alpha",
        ),
        "no push from other classes": ("+ alpha * push_share / C", "+ alpha * push_share * own.any(0) / C"),
        "naive exponentials": (
            "torch.softmax(torch.cat([zero, push]), dim=0)[1:]",
            "push.exp() / (1 + push.exp().sum(0))",
        ),
        "exponent cut at 50": ("push_share = ", "push = push.clamp(max=50)\n    push_share = "),
        "margin scaled apart": ("(alpha * (similarity + delta))", "(alpha * similarity + delta)"),
        "one logarithm over samples": (
            "torch.cat([zero, push]), dim=0)[1:]",
            "torch.cat([zero.T[:1].expand(len(labels), 1), push], 1), dim=1)[:, 1:]",
        ),
    },
    "enters_gradient": {
        "MPA: class only": ("same_class & same_kind", "same_class"),
        "MPA: labels of the samples": (
            "return same_class & same_kind",
            "return (labels[sample][:, None] == labels[sample]) & same_kind",
        ),
        "MPA-DW: whole sample": ("return same_sample & same_kind", "return same_sample"),
        "MPA-AP: two kinds": ("        return same_sample\n", "        return same_sample & same_kind\n"),
        "SoftTriple: one class": ("same_sample & (C > 1)", "same_sample"),
        "ProxyNCA: own class, too": ("same_sample & ~own[:, None] & ~own & (C > 2)", "same_sample & (C > 2)"),
        "ProxyNCA: rows only": ("& ~own[:, None] & ~own", "& ~own[:, None]"),
        "ProxyNCA: two classes": ("(C > 2)", "(C > 1)"),
        "MPA: never itself": ("same_class & same_kind", "same_class & same_kind & ~torch.eye(N * C, dtype=torch.bool)"),
        "other layout": (
            "torch.arange(N).repeat_interleave(C)",
            "torch.arange(N).repeat(C)",
            "torch.arange(C).repeat(N)",
            "torch.arange(C).repeat_interleave(N)",
        ),
        "MPA: classes of the batch": ("same_class & same_kind", "same_class & same_kind & torch.isin(c, labels)"),
        "SoftTriple: two kinds": ("same_sample & (C > 1)", "same_sample & same_kind & (C > 1)"),
        "MPA-DW: two classes linear": (
            "return same_sample & same_kind",
            "return same_sample & same_kind & (own | (C > 2))",
        ),
    },
    "proxy_shares": {
        "weights held constant": ("slope = p * (1 + (similarity - S[..., None]) / gamma)", "slope = p"),
        "sum before the size": (".abs().sum(0)", ".sum(0).abs()"),
        "squares": (".abs().sum(0)", ".square().sum(0)"),
        "shares of all classes": ("size.sum(1, keepdim=True)", "size.sum()"),
        "gamma on top": ("S[..., None]) / gamma", "S[..., None]) * gamma"),
        "sign of the second part": ("(1 + (similarity", "(1 - (similarity"),
        "largest for the soft one": ("S = (p * similarity).sum(2)", "S = similarity.amax(2)"),
        "zero by zero": ("torch.where(total > 0, total, 1.0)", "total"),
        "equal where nothing moves": (
            "return size / torch.where(total > 0, total, 1.0)",
            "return torch.where(total > 0, size / torch.where(total > 0, total, 1.0), 1 / size.shape[1])",
        ),
        "own samples only": (
            "mpa_weights(S, labels, alpha, delta)[..., None]",
            "(mpa_weights(S, labels, alpha, delta) * (labels[:, None] == torch.arange(S.shape[1])))[..., None]",
        ),
        "size of the weights only": (
            "(mpa_weights(S, labels, alpha, delta)[..., None] * slope).abs()",
            "(mpa_weights(S, labels, alpha, delta).abs()[..., None] * slope)",
        ),
        "softmax without gamma": ("torch.softmax(similarity / gamma, dim=2)", "torch.softmax(similarity, dim=2)"),
        "every sample alike": (
            "mpa_weights(S, labels, alpha, delta)[..., None] * slope",
            "mpa_weights(S, labels, alpha, delta).sign()[..., None] * slope",
        ),
        "small sums as nothing": ("total > 0", "total > 1e-6"),
    },
}
