"""Wrong answers to assignment 1: the solution with some text replaced (old, new, …), or another function."""

WRONG = {
    "ranked_relevance": {
        "ranks along the columns": ("similarity[others]", "similarity.T[others]"),
        "diagonal of −100, last column dropped": """
def ranked_relevance(similarity, labels):
    s = similarity.clone().fill_diagonal_(-100.0)
    relevant = (labels[:, None] == labels).long()
    order = relevant.sort(dim=1, stable=True).indices
    s, relevant = s.gather(1, order), relevant.gather(1, order)
    order = s.sort(dim=1, descending=True, stable=True).indices
    return relevant.gather(1, order)[:, :-1].double()
""",
        "ties within 1e-4": ("s = similarity[others]", "s = (similarity * 1e4).round()[others]"),
        "a nudge of 1e-4 for ties": (
            "similarity[others].view(n, n - 1)",
            "similarity[others].view(n, n - 1) - 1e-4 * relevant",
        ),
        "ties for the query": (
            "relevant.sort(dim=1, stable=True)",
            "relevant.sort(dim=1, stable=True, descending=True)",
        ),
        "smallest first": ("descending=True, stable=True", "descending=False, stable=True"),
        "first of the sorted row dropped": """
def ranked_relevance(similarity, labels):
    relevant = (labels[:, None] == labels).long()
    order = relevant.sort(dim=1, stable=True).indices
    s, relevant = similarity.gather(1, order), relevant.gather(1, order)
    order = s.sort(dim=1, descending=True, stable=True).indices
    return relevant.gather(1, order)[:, 1:].double()
""",
        "size of the similarity": ("similarity[others]", "similarity.abs()[others]"),
        "places of the short row used for all labels": """
def ranked_relevance(similarity, labels):
    n = len(labels)
    s = similarity[~torch.eye(n, dtype=torch.bool)].view(n, n - 1)
    order = s.argsort(dim=1, descending=True)
    return (labels[order] == labels[:, None]).double()
""",
        "ties in the order given": (
            "order = relevant.sort(dim=1, stable=True).indices",
            "order = torch.arange(n - 1).expand(n, -1)",
        ),
        "diagonal of 0, last column dropped": """
def ranked_relevance(similarity, labels):
    s = similarity.clone().fill_diagonal_(0.0)
    relevant = (labels[:, None] == labels).long()
    order = relevant.sort(dim=1, stable=True).indices
    s, relevant = s.gather(1, order), relevant.gather(1, order)
    order = s.sort(dim=1, descending=True, stable=True).indices
    return relevant.gather(1, order)[:, :-1].double()
""",
    },
    "mean_ap": {
        "k cut at the list": ('"k": k', '"k": min(k, len(row))'),
        "no hit left out": (
            "divisor = {",
            'if rule == "hits" and not hits:\n            continue\n        divisor = {',
        ),
        "rule R cut at k, too": ('cut = R if rule == "R" else k', 'cut = min(R, k) if rule == "R" else k'),
        "ranks from 2": ("start=1", "start=2"),
        "precision at every rank": (
            "                hits += 1\n                total += hits / rank",
            "                hits += 1\n            total += hits / rank",
        ),
        "R counted among the first k": ("R = int(sum(row))", "R = int(sum(row[:k]))"),
        "empty queries count as 0": ("continue", "scores.append(0.0)\n            continue"),
        "min with the length": ('"min": min(k, R)', '"min": min(k, len(row))'),
        "hits of the whole list": ('"hits": max(1, hits)', '"hits": R'),
        "relevant capped by k": ('"relevant": R', '"relevant": min(k, R)'),
        "precision at the last hit only": ("total += hits / rank", "total = hits / rank"),
        "the largest precision behind counts": """
def mean_ap(relevance, k, rule):
    scores = []
    for row in relevance.tolist():
        R = int(sum(row))
        if R == 0:
            continue
        cut = R if rule == "R" else k
        precision = [sum(row[: i + 1]) / (i + 1) for i in range(len(row[:cut]))]
        best = [max(precision[i:]) for i in range(len(precision))]
        hits = sum(row[:cut])
        total = sum(b for b, r in zip(best, row) if r)
        scores.append(total / {"k": k, "relevant": R, "min": min(k, R), "hits": max(1, hits), "R": R}[rule])
    return float(np.mean(scores))
""",
    },
    "disputed_pairs": {
        "first may be equal": (":] > first", ":] >= first"),
        "second may be equal": (":] < second", ":] <= second"),
        "most seeds": ("first[None, :, :]).all(2)", "first[None, :, :]).double().mean(2) > 0.5"),
        "second in any seed": ("second[None, :, :]).all(2)", "second[None, :, :]).any(2)"),
        "worst seed above the best": (
            "(first[:, None, :] > first[None, :, :]).all(2)",
            "first.min(1).values[:, None] > first.max(1).values",
        ),
        "only i < j": ("(better & worse)", "(better & worse).triu()"),
        "both orders": ("(better & worse)", "((better & worse) | (better & worse).T)"),
        "second does not prefer i": (
            "worse = (second[:, None, :] < second[None, :, :]).all(2)",
            "worse = ~(second[:, None, :] > second[None, :, :]).all(2)",
        ),
        "columns swapped": (".nonzero()", ".nonzero().flip(1)"),
        "means in the second": (
            "(second[:, None, :] < second[None, :, :]).all(2)",
            "second.mean(1)[:, None] < second.mean(1)",
        ),
        "sorted by j": ("(better & worse).nonzero()", "(better & worse).T.nonzero().flip(1)"),
        "never worse and once better": (
            "(first[:, None, :] > first[None, :, :]).all(2)",
            "((first[:, None] >= first[None]).all(2) & (first[:, None] > first[None]).any(2))",
        ),
    },
    "expected_ndcg": {
        "grade as gain": ("2**grade - 1", "grade.clone()"),
        "natural logarithm from rank 1": ("1 / math.log2(rank + 1)", "1 / (1 + math.log(rank))"),
        "rank below k": ("rank <= k", "rank < k"),
        "ties in the order given": ("expected[tied] = expected[tied].mean()", "pass"),
        "mean of the places within k only": ("tied = s == value", "tied = (s == value) & (torch.arange(len(s)) < k)"),
        "gain of the mean grade": ("expected[tied].mean()", "2 ** torch.log2(expected[tied] + 1).mean() - 1"),
        "ties within 1e-4": (
            "similarity.argsort(descending=True)",
            "similarity.argsort(descending=True)\n    similarity = (similarity * 1e4).round()",
        ),
        "best list not cut": (
            "(best * discount).sum()",
            "sum(b / math.log2(i + 2) for i, b in enumerate(best.tolist()))",
        ),
        "first two ranks undiscounted": ("1 / math.log2(rank + 1)", "1 / max(1.0, math.log2(rank))"),
        "mean of the best and the worst order": """
def expected_ndcg(similarity, grade, k):
    gain = (2**grade - 1).tolist()
    def dcg(sign):
        order = sorted(range(len(gain)), key=lambda i: (-float(similarity[i]), sign * gain[i]))[:k]
        return sum(gain[i] / math.log2(rank + 2) for rank, i in enumerate(order))
    best = sum(g / math.log2(rank + 2) for rank, g in enumerate(sorted(gain, reverse=True)[:k]))
    return (dcg(1) + dcg(-1)) / 2 / best
""",
        "best of the k found": (
            "best = gain.sort",
            "best = gain[order[:k]].sort",
            "(best * discount).sum()",
            "(best * discount[:k]).sum()",
        ),
    },
}
