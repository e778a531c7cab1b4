"""Wrong answers to assignment 5: the solution with some text replaced (old, new, …), or another function."""

WRONG = {
    "least_scale": {
        "one lost": ("math.expm1(loss)", "math.exp(loss)"),
        "digits lost": ("math.expm1(loss)", "(math.exp(loss) - 1)"),
        "negative scales": ("if loss >= math.log(C):", "if loss > 700:"),
        "factor turned": ("(C - 1) / C * math.log", "C / (C - 1) * math.log"),
        "factor lost": ("(C - 1) / C * math.log", "math.log"),
        "others opposite": ("(C - 1) / C * math.log", "0.5 * math.log"),
        "C for C − 1": ("math.log((C - 1) /", "math.log(C /"),
        "small loss for all": ("math.expm1(loss)", "loss"),
        "size above log C": ("        return 0.0", "        loss = min(loss, 700.0)"),
        "guess of C − 1 classes": ("loss >= math.log(C)", "loss >= math.log(C - 1)"),
        "at least 1": ("return (C - 1) / C *", "return max(1.0, (C - 1) / C)  *"),
        "three digits": (
            "return (C - 1) / C * math.log((C - 1) / math.expm1(loss))",
            "return round((C - 1) / C * math.log((C - 1) / math.expm1(loss)), 3)",
        ),
    },
    "best_scale": {
        "a grid of 1,000": """
def best_scale(cosine, labels, most):
    grid = torch.linspace(0, most, 1000, dtype=torch.float64)
    return float(grid[int(torch.stack([torch.nn.functional.cross_entropy(s * cosine, labels) for s in grid]).argmin())])
""",
        "200 steps of descent": """
def best_scale(cosine, labels, most):
    s = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    for _ in range(200):
        loss = torch.nn.functional.cross_entropy(s * cosine, labels)
        (slope,) = torch.autograd.grad(loss, s)
        s = (s - slope).clamp(0, most).detach().requires_grad_()
    return s.item()
""",
        "softmax not scaled": ("torch.softmax(s * cosine, dim=1)", "torch.softmax(cosine, dim=1)"),
        "nearest for the own": ("own = cosine.gather(1, labels[:, None]).squeeze(1)", "own = cosine.max(1).values"),
        "ends swapped": ("return low\n    if slope(high)", "return high\n    if slope(high)"),
        "ten halvings": ("range(60)", "range(10)"),
        "mean of every sample's best": """
def best_scale(cosine, labels, most):
    found = []
    for row, label in zip(cosine, labels):
        low, high = 0.0, most
        for _ in range(60):
            middle = (low + high) / 2
            slope = float((torch.softmax(middle * row, dim=0) * row).sum() - row[label])
            low, high = (middle, high) if slope < 0 else (low, middle)
        found.append((low + high) / 2)
    return float(np.mean(found))
""",
        "not below 1": ("low, high = 0.0, most", "low, high = min(1.0, most), most"),
        "not above 100": ("low, high = 0.0, most", "low, high = 0.0, min(most, 100.0)"),
        "three steps of Newton": """
def best_scale(cosine, labels, most):
    s = 1.0
    own = cosine.gather(1, labels[:, None]).squeeze(1)
    for _ in range(3):
        p = torch.softmax(s * cosine, dim=1)
        mean = (p * cosine).sum(1)
        s -= float((mean - own).mean() / ((p * cosine**2).sum(1) - mean**2).mean())
    return min(max(s, 0.0), most)
""",
        "temperature": ("    return (low + high) / 2", "    return 2 / (low + high)"),
        "median sample": ("- own).mean())", "- own).median())"),
    },
    "sgsl_gradient": {
        "sigmoid lost": ("torch.sigmoid(m)[:, None] *", "1.0 *"),
        "along f as well": ("direction - (direction * u).sum(1, keepdim=True) * u", "direction"),
        "length lost": ("return across / length", "return across"),
        "sum over the batch": ("/ len(labels)", "/ 1"),
        "gamma once too often": (
            "torch.softmax(others, dim=1) - own.double()",
            "gamma * torch.softmax(others, dim=1) - own.double()",
        ),
        "own class in the soft maximum": (".masked_fill(own, -torch.inf)", ""),
        "softplus for its slope": ("torch.sigmoid(m)", "torch.nn.functional.softplus(m)"),
        "class vectors as they are": ("weight / weight.norm(dim=1, keepdim=True)", "weight"),
        "turned round": ("- own.double())", "- own.double()) * -1"),
        "naive exponentials": ("torch.logsumexp(others, dim=1)", "torch.log(others.exp().sum(1))"),
        "nearest other only": (
            "torch.softmax(others, dim=1) -",
            "torch.nn.functional.one_hot(others.argmax(1), len(W)) -",
        ),
        "gamma not taken out": ("torch.logsumexp(others, dim=1) / gamma", "torch.logsumexp(others, dim=1)"),
        "squared length": ("across / length", "across / length**2"),
        "own cosine left out": ("- own.double()", ""),
    },
    "gated_sgsl": {
        "gate at its value": ("loss.item() < gate", "loss.item() <= gate"),
        "smoothing over all classes": (
            "torch.where(own, 1 - epsilon, epsilon / (C - 1))",
            "torch.where(own, 1 - epsilon + epsilon / C, epsilon / C)",
        ),
        "gate without smoothing": (
            "loss.item() < gate",
            "torch.nn.functional.cross_entropy(embeddings @ weight.T, labels).item() < gate",
        ),
        "gradient to W": ("weight.detach()", "weight"),
        "forgets that it was open": ("was_open or loss", "loss"),
        "open stays only below the gate": ("was_open or loss", "was_open and loss"),
        "beta on both": ("return loss + beta *", "return beta * loss + beta *"),
        "cosines in the softmax": (
            "embeddings @ weight.T, dim=1)",
            "torch.nn.functional.normalize(embeddings, dim=1) @ torch.nn.functional.normalize(weight, dim=1).T, dim=1)",
        ),
        "sum over the batch": ("softplus(m).mean()", "softplus(m).sum()"),
        "open above the gate": ("loss.item() < gate", "loss.item() > gate"),
        "others share over C": ("epsilon / (C - 1))", "epsilon / C)"),
        "own class in the soft maximum": (".masked_fill(own, -torch.inf)", ""),
        "features held": (
            "cosine = torch.nn.functional.normalize(embeddings, dim=1)",
            "cosine = torch.nn.functional.normalize(embeddings.detach(), dim=1)",
        ),
        "gate on the sum": (
            "if not (was_open or loss.item() < gate):",
            "if not (was_open or loss.item() * len(labels) < gate):",
        ),
        "softmax dropped once open": ("return loss + beta", "return beta"),
    },
}
