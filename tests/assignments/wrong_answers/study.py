"""Wrong answers to assignment 6: the solution with some text replaced (old, new, …), or another function."""

WRONG = {
    "difference_by_seed": {
        "pairs by place": (
            "d = [value - of_baseline[seed] for seed, value in zip(our_seeds, ours) if seed in of_baseline]",
            "d = [a - b for a, b in zip(ours, baseline)]",
        ),
        "divided by n": ("/ (n - 1))\n    half", "/ n)\n    half"),
        "normal quantile": ("t[n - 1]", "1.96"),
        "t of n": ("t[n - 1]", "t[min(n, len(t) - 1)]"),
        "never the opposite": ("1 if low > 0 else -1 if high < 0 else 0", "1 if low > 0 else 0"),
        "two samples": (
            "half = t[n - 1] * s / math.sqrt(n)",
            "half = t[n - 1] * math.sqrt(np.var(ours, ddof=1) / len(ours) + np.var(baseline, ddof=1) / len(baseline)) if len(ours) > 1 and len(baseline) > 1 else math.nan",
        ),
        "root of n lost": ("* s / math.sqrt(n)", "* s"),
        "one seed decides by sign": (
            "math.nan, math.nan, 0\n",
            "math.nan, math.nan, (int(np.sign(d[0])) if d else 0)\n",
        ),
        "no seed is 0": ("d[0] if d else math.nan", "d[0] if d else 0.0"),
        "baseline minus ours": ("value - of_baseline[seed]", "of_baseline[seed] - value"),
        "verdict by the mean": ("1 if low > 0 else -1 if high < 0 else 0", "1 if mean > 0 else -1 if mean < 0 else 0"),
        "ends at 0 are enough": (
            "1 if low > 0 else -1 if high < 0 else 0",
            "1 if low >= 0 else -1 if high <= 0 else 0",
        ),
        "means of all seeds": ("mean = sum(d) / n", "mean = float(np.mean(ours) - np.mean(baseline))"),
        "first n seeds of both": (
            "if seed in of_baseline]",
            "if seed in of_baseline][: min(len(ours), len(baseline)) - 1]",
        ),
    },
    "class_bootstrap": {
        "mean of class means": ("total[draws].sum(1) / count[draws].sum(1)", "(total / count)[draws].mean(1)"),
        "order of appearance": ("labels.unique()", "torch.tensor(list(dict.fromkeys(labels.tolist())))"),
        "drawn twice counts once": (
            "total[draws].sum(1) / count[draws].sum(1)",
            "torch.stack([total[row.unique()].sum() / count[row.unique()].sum() for row in draws])",
        ),
        "one-sided ends": ("[(1 - level) / 2, (1 + level) / 2]", "[1 - level, level]"),
        "nearest value": ("(1 + level) / 2])", '(1 + level) / 2], method="nearest")'),
        "divided by all queries": ("/ count[draws].sum(1)", "/ len(labels)"),
        "divided by the classes": ("/ count[draws].sum(1)", "/ draws.shape[1]"),
        "normal interval": (
            "low, high = np.quantile(values.numpy(), [(1 - level) / 2, (1 + level) / 2])",
            "low, high = values.mean() - 1.96 * values.std(), values.mean() + 1.96 * values.std()",
        ),
        "turned interval": (
            "return float(low), float(high)",
            "middle = float(difference.mean())\n    return 2 * middle - float(high), 2 * middle - float(low)",
        ),
        "lower neighbour": ("(1 + level) / 2])", '(1 + level) / 2], method="lower")'),
        "ends swapped": ("float(low), float(high)", "float(high), float(low)"),
        "classes numbered from the end": ("labels.unique()", "labels.unique().flip(0)"),
        "counted twice on top only": (
            "count[draws].sum(1)",
            "torch.stack([count[row.unique()].sum() for row in draws])",
        ),
        "size of differences": ("(own * difference)", "(own * difference.abs())"),
    },
    "choose_on_validation": {
        "failed seeds left out": ("validation.mean(1), test.mean(1)", "validation.nanmean(1), test.nanmean(1)"),
        "NaN chosen": ("torch.where(seen.isnan(), -torch.inf, seen)", "seen"),
        "setting by its last step": (
            "setting, step = divmod(best, seen.shape[1])",
            "setting = int(seen[:, -1].nan_to_num(-1e9).argmax())\n    step = int(seen[setting].nan_to_num(-1e9).argmax())",
        ),
        "best seed": ("validation.mean(1), test", "validation.amax(1), test"),
        "last of equals": (
            "int(torch.where(seen.isnan(), -torch.inf, seen).argmax())",
            "seen.numel() - 1 - int(torch.where(seen.isnan(), -torch.inf, seen).flatten().flip(0).argmax())",
        ),
        "peeks at the chosen setting only": (
            "torch.where(hidden.isnan(), -torch.inf, hidden).max()",
            "torch.where(hidden[setting].isnan(), -torch.inf, hidden[setting]).max()",
        ),
        "NaN as 0": ("torch.where(seen.isnan(), -torch.inf, seen)", "seen.nan_to_num(0.0)"),
        "step before setting": (
            "best = int(torch.where(seen.isnan(), -torch.inf, seen).argmax())",
            "best = int(torch.where(seen.isnan(), -torch.inf, seen).T.flatten().argmax())\n    best = best % seen.shape[0] * seen.shape[1] + best // seen.shape[0]",
        ),
        "median over seeds": ("validation.mean(1), test.mean(1)", "validation.median(1).values, test.median(1).values"),
        "peeks only where validation was whole": (
            "torch.where(hidden.isnan(),",
            "torch.where(hidden.isnan() | seen.isnan(),",
        ),
        "equal within 1e-4": (
            "seen, hidden = validation.mean(1), test.mean(1)",
            "seen, hidden = (validation.mean(1) * 1e4).round(), test.mean(1)",
        ),
        "peeks at single seeds": (
            "torch.where(hidden.isnan(), -torch.inf, hidden).max()",
            "test.nan_to_num(-1e9).max()",
        ),
        "numbers from 1": ("return setting, step,", "return setting + 1, step + 1,"),
        "chosen on the test": (
            "seen, hidden = validation.mean(1), test.mean(1)",
            "seen, hidden = test.mean(1), test.mean(1)",
        ),
        "NaN of the peek as 0": (
            "torch.where(hidden.isnan(), -torch.inf, hidden).max()",
            "hidden.nan_to_num(0.0).max()",
        ),
    },
}
