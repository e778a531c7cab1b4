"""Right answers to assignment 3, in different styles."""

import math

import numpy as np
import torch

DERIVATIVES = {
    "O": lambda R, alpha, b: torch.ones_like(R),
    "Iu": lambda R, alpha, b: torch.log(1 + R),
    "Ib": lambda R, alpha, b: R / (1 + b * R),
    "Ds": lambda R, alpha, b: 1 / (1 + R),
    "Dq": lambda R, alpha, b: alpha / (1 + R) ** (alpha + 1),
}


def gradient_by_matrix(similarity, positive, variant, alpha, b, tau):
    G = torch.sigmoid((similarity[~positive][None, :] - similarity[positive][:, None]) / tau)
    g = DERIVATIVES[variant](G.sum(1), alpha, b)
    force = g[:, None] * G * (1 - G) / tau / positive.sum()
    out = torch.zeros_like(similarity)
    out[positive], out[~positive] = -force.sum(1), force.sum(0)
    return out


def gradient_by_loops(similarity, positive, variant, alpha, b, tau):
    s, y = similarity.tolist(), positive.tolist()
    out = [0.0] * len(s)
    for i in range(len(s)):
        if not y[i]:
            continue
        G = {j: 1 / (1 + math.exp((s[i] - s[j]) / tau)) for j in range(len(s)) if not y[j]}
        R = sum(G.values())
        g = DERIVATIVES[variant](torch.tensor(R, dtype=torch.float64), alpha, b).item()
        for j, value in G.items():
            pull = g * value * (1 - value) / tau / sum(y)
            out[j] += pull
            out[i] -= pull
    return out


def gradient_by_autograd(similarity, positive, variant, alpha, b, tau):
    """Of the losses whose derivatives these are."""
    s = similarity.clone().requires_grad_()
    R = torch.sigmoid((s[~positive][None, :] - s[positive][:, None]) / tau).sum(1)
    F = {
        "O": lambda: R,
        "Iu": lambda: (1 + R) * torch.log(1 + R) - R,
        "Ib": lambda: (b * R - torch.log(1 + b * R)) / b**2,
        "Ds": lambda: torch.log(1 + R),
        "Dq": lambda: 1 - (1 + R) ** -alpha,
    }[variant]()
    F.mean().backward()
    return s.grad


def gradient_by_frozen_slope(similarity, positive, variant, alpha, b, tau):
    """g as a constant weight: the mean of g · R has the same gradient."""
    s = similarity.clone().requires_grad_()
    R = torch.sigmoid((s[None, :] - s[:, None]) / tau)[positive][:, ~positive].sum(1)
    weight = DERIVATIVES[variant](R.detach(), alpha, b)
    return torch.autograd.grad((weight * R).mean(), s)[0]


def quantile_by_cumsum(R, g, share):
    if g.sum() == 0:
        return 0.0
    order = R.argsort()
    reached = g[order].cumsum(0) >= share * g.sum()
    return R[order][reached][0].item()


def quantile_by_loop(R, g, share):
    pairs = sorted(zip(R.tolist(), g.tolist()))
    total, so_far = sum(pull for _, pull in pairs), 0.0
    if total == 0:
        return 0
    for count, pull in pairs:
        so_far += pull
        if so_far >= share * total - 1e-12:
            return count
    return pairs[-1][0]


def quantile_by_matrix(R, g, share):
    up_to = (g[None, :] * (R[None, :] <= R[:, None])).sum(1)
    enough = R[up_to >= share * g.sum()]
    return enough.min() if g.any() else torch.zeros(())


def quantile_by_numpy(R, g, share):
    r, w = R.numpy(), g.numpy()
    order = np.argsort(r, kind="stable")
    if not w.any():
        return 0.0
    return float(r[order][np.searchsorted(np.cumsum(w[order]), share * w.sum())])


def points_by_pieces(R, points):
    x, y = points[:, 0], points[:, 1]
    if x[0] > 0:
        x, y = torch.cat([x.new_zeros(1), x]), torch.cat([y[:1], y])
    area = torch.cat([x.new_zeros(1), torch.cumsum((x[1:] - x[:-1]) * (y[1:] + y[:-1]) / 2, 0)])
    rise = torch.cat([(y[1:] - y[:-1]) / (x[1:] - x[:-1]), y.new_zeros(1)])
    k = torch.stack([(x <= r).sum() - 1 for r in R.detach()])
    h = R - x[k]
    return area[k] + y[k] * h + rise[k] * h**2 / 2


def points_by_loops(R, points):
    nodes = [tuple(point) for point in points.tolist()]
    if nodes[0][0] > 0:
        nodes = [(0.0, nodes[0][1]), *nodes]
    out = []
    for r in R:
        total = 0 * r
        for (x0, y0), (x1, y1) in zip(nodes, nodes[1:]):
            if r > x1:
                total = total + (x1 - x0) * (y0 + y1) / 2
            elif r > x0 or r == x0 == 0:
                here = y0 + (y1 - y0) * (r - x0) / (x1 - x0)
                total = total + (r - x0) * (y0 + here) / 2
        x_last, y_last = nodes[-1]
        if r > x_last:
            total = total + y_last * (r - x_last)
        out.append(total)
    return torch.stack(out)


def points_by_own_backward(R, points):
    """Value by numpy; the gradient is g, put in by hand."""
    x, y = points[:, 0].numpy(), points[:, 1].numpy()
    r = R.detach().numpy()
    g = np.interp(r, x, y)  # constant outside by itself
    value = np.empty_like(r)
    for n, end in enumerate(r):
        inside = np.unique(np.concatenate([[0.0], x[x < end], [end]]))
        value[n] = np.trapezoid(np.interp(inside, x, y), inside)
    g, value = torch.from_numpy(g), torch.from_numpy(value)
    return value + g * (R - R.detach())


def batch_by_loops(similarity, labels, alpha, tau, negatives):
    n, losses = len(labels), []
    for q in range(n):
        P = [i for i in range(n) if i != q and labels[i] == labels[q]]
        N = [j for j in range(n) if labels[j] != labels[q]]
        if not P:
            continue
        each = []
        for i in P:
            R = similarity.new_zeros(())
            for j in N:
                R = R + torch.sigmoid((similarity[q, j] - similarity[q, i]) / tau)
            if N:
                R = R * negatives / len(N)
            each.append(1 - 1 / (1 + R) ** alpha)
        losses.append(sum(each) / len(each))
    return sum(losses) / len(losses)


def batch_by_tensors(similarity, labels, alpha, tau, negatives):
    same = labels[:, None] == labels[None, :]
    positive = same & ~torch.eye(len(labels), dtype=torch.bool)
    before = torch.sigmoid((similarity[:, None, :] - similarity[:, :, None]) / tau) * ~same[:, None, :]
    R = before.sum(2) * negatives / (~same).sum(1).clamp(min=1)[:, None]
    each = (1 - (1 + R).pow(-alpha)) * positive
    counted = positive.any(1)
    return (each.sum(1)[counted] / positive.sum(1)[counted]).mean()


def batch_by_means(similarity, labels, alpha, tau, negatives):
    """The share of negatives before i is a mean of sigmoids."""
    total, queries = 0.0, 0
    for q, row in enumerate(similarity):
        same = labels == labels[q]
        if same.sum() == 1:
            continue
        s_pos = row[same & (torch.arange(len(row)) != q)]
        s_neg = row[~same]
        share = torch.sigmoid((s_neg - s_pos.unsqueeze(1)) / tau).mean(1) if len(s_neg) else 0 * s_pos
        total = total - torch.expm1(-alpha * torch.log1p(negatives * share)).mean()
        queries += 1
    return total / queries


RIGHT = {
    "pnp_gradient": [gradient_by_matrix, gradient_by_loops, gradient_by_autograd, gradient_by_frozen_slope],
    "pull_quantile": [quantile_by_cumsum, quantile_by_loop, quantile_by_matrix, quantile_by_numpy],
    "loss_from_points": [points_by_pieces, points_by_loops, points_by_own_backward],
    "pnp_batch": [batch_by_loops, batch_by_tensors, batch_by_means],
}
