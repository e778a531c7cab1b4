"""Right answers to the exercises of lesson 6, in different styles."""

import torch


def slope_by_autograd(R, alpha):
    x = R.clone().requires_grad_()
    (1 - 1 / (1 + x) ** alpha).sum().backward()
    return x.grad


def slope_loop(R, alpha):
    return [alpha / (1 + r) ** (alpha + 1) for r in R.tolist()]


def slope_by_logarithm(R, alpha):
    return alpha * torch.exp(-(alpha + 1) * torch.log1p(R))


def integral_plain(R):
    return (1 + R) * torch.log(1 + R) - R


def integral_by_substitution(R):
    u = 1 + R
    return u * torch.log(u) - u + 1


def integral_by_xlogy(R):
    return torch.special.xlog1py(1 + R, R) - R


def query_loop(similarity, positive, alpha, tau):
    losses = []
    for i in positive.nonzero().flatten():
        R = sum(torch.sigmoid((similarity[j] - similarity[i]) / tau) for j in (~positive).nonzero().flatten())
        losses.append(1 - (1 + R) ** (-alpha))
    return sum(losses) / len(losses)


def query_matrix(similarity, positive, alpha, tau):
    d = (similarity[~positive][None] - similarity[positive][:, None]) / tau
    return 1 - torch.mean(1 / (1 + torch.sigmoid(d).sum(1)) ** alpha)


def query_with_where(similarity, positive, alpha, tau):
    d = 1 / (1 + torch.exp((similarity[:, None] - similarity[None, :]) / tau))
    R = torch.where(positive, 0.0, d).sum(1)[positive]
    return 1 - (1 + R).pow(-alpha).sum() / positive.sum()


RIGHT = {
    "dq_derivative": [slope_by_autograd, slope_loop, slope_by_logarithm],
    "iu_exact": [integral_plain, integral_by_substitution, integral_by_xlogy],
    "pnp_dq": [query_loop, query_matrix, query_with_where],
}
