"""The surrogates that come with labkit are those whose learning was recorded, and do what the lesson says of them."""

import numpy as np
import torch

from labkit.data.rendered_words import words_of
from labkit.data.word_images import LETTERS
from labkit.surrogates import box_task, random_box_pairs, random_word_pairs, surrogate_loss, word_task
from labkit.surrogates.pocket import SLOTS, box_surrogate, learning, word_surrogate


def test_the_film_ends_with_the_surrogate_that_is_shipped():
    film = learning()
    z, y = random_word_pairs(words_of("test"), LETTERS, SLOTS, 4000, seed=1)(0)
    exact = word_task(LETTERS).exact(z, y)
    rows = torch.cat([(exact == k).nonzero()[: len(film.exact) // 7, 0] for k in range(7)])
    found = surrogate_loss(word_surrogate(), z[rows], y[rows], exact[rows], lam=0.0)
    assert exact[rows].tolist() == film.exact.tolist()
    np.testing.assert_allclose(found.estimate.numpy(), film.estimates[0, -1], atol=5e-3)
    np.testing.assert_allclose(found.gradient_norm.numpy(), film.norms[0, -1], atol=5e-3)
    assert film.lams.tolist() == [np.float32(0.1), 0.0]
    assert (np.diff(film.steps) > 0).all()


def test_disjoint_boxes_are_pulled_together_where_iou_has_no_gradient():
    z, y = random_box_pairs(500, seed=1)(0)
    apart = box_task().exact(z, y) == 1
    z, y = z[apart].requires_grad_(), y[apart]
    (gradient,) = torch.autograd.grad(box_surrogate()(z, y).sum(), z)
    assert len(z) > 50
    assert bool(((gradient * (y - z))[:, :2].sum(1) < 0).all())
