"""`torch.nn.functional` beside PyTorch's: values, gradients, names of nodes, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from torch_pairs import compare, error_of

import funcgrad.torch as ours

pytestmark = [
    pytest.mark.peers("torch"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

RNG = np.random.default_rng(7)


def normal(*shape: int) -> Any:
    return RNG.normal(size=shape)


X = normal(4, 6)
AROUND = np.array([-30.0, -6.0, -3.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 6.0, 25.0])
SIGNAL, IMAGE, VOLUME = normal(2, 4, 9), normal(2, 4, 7, 6), normal(2, 4, 5, 4, 6)
TIES = np.round(normal(2, 3, 7, 8))
CLASSES = np.array([0, 5, 2, 3])
PROBABILITIES = RNG.uniform(0.1, 0.9, size=(4, 6))

ONE = dict.fromkeys(
    (
        "relu",
        "relu6",
        "leaky_relu",
        "elu",
        "selu",
        "celu",
        "gelu",
        "silu",
        "mish",
        "softplus",
        "softsign",
        "hardtanh",
        "hardsigmoid",
        "hardswish",
        "logsigmoid",
        "tanhshrink",
        "softshrink",
        "hardshrink",
        "sigmoid",
        "tanh",
    ),
    (AROUND,),
)


@pytest.mark.parametrize("name", ONE)
def test_activations(name: str) -> None:
    compare(lambda t, x: getattr(t.nn.functional, name)(x), AROUND, rtol=1e-5)


CALLS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "elu_alpha": (lambda F, x: F.elu(x, 0.7), (AROUND,)),
    "celu_alpha": (lambda F, x: F.celu(x, 0.7), (AROUND,)),
    "gelu_tanh": (lambda F, x: F.gelu(x, approximate="tanh"), (AROUND,)),
    "leaky_slope": (lambda F, x: F.leaky_relu(x, 0.3), (AROUND,)),
    "softplus_beta": (lambda F, x: F.softplus(x, beta=2, threshold=5), (AROUND,)),
    "hardtanh_bounds": (lambda F, x: F.hardtanh(x, -0.5, 3.0), (AROUND,)),
    "threshold": (lambda F, x: F.threshold(x, 0.1, -7.0), (AROUND,)),
    "rrelu_eval": (lambda F, x: F.rrelu(x), (AROUND,)),
    "prelu": (lambda F, x, w: F.prelu(x, w), (IMAGE, normal(4))),
    "prelu_one": (lambda F, x, w: F.prelu(x, w), (AROUND, normal(1))),
    "glu": (lambda F, x: F.glu(x, 0), (X,)),
    "softmax": (lambda F, x: F.softmax(x, 1), (X,)),
    "softmin": (lambda F, x: F.softmin(x, 0), (X,)),
    "log_softmax": (lambda F, x: F.log_softmax(x, -1), (X,)),
    "softmax_dtype": (lambda F, x: F.softmax(x, 1), (X.astype(np.float32),)),
    "linear": (lambda F, x, w, b: F.linear(x, w, b), (X, normal(5, 6), normal(5))),
    "linear_plain": (lambda F, x, w: F.linear(x, w), (X, normal(5, 6))),
    "linear_3d": (lambda F, x, w, b: F.linear(x, w, b), (normal(2, 3, 6), normal(5, 6), normal(5))),
    "linear_3d_plain": (lambda F, x, w: F.linear(x, w), (normal(2, 3, 6), normal(5, 6))),
    "linear_1d": (lambda F, x, w, b: F.linear(x, w, b), (normal(6), normal(5, 6), normal(5))),
    "embedding": (lambda F, i, w: F.embedding(i, w), (np.array([[1, 2], [2, 0]]), normal(4, 3))),
    "embedding_padding": (
        lambda F, i, w: F.embedding(i, w, padding_idx=2),
        (np.array([[1, 2], [2, 0]]), normal(4, 3)),
    ),
    "one_hot": (lambda F, i: F.one_hot(i, 7), (CLASSES,)),
    "one_hot_all": (lambda F, i: F.one_hot(i), (CLASSES,)),
    "cross_entropy": (lambda F, x, t: F.cross_entropy(x, t), (X, CLASSES)),
    "cross_entropy_sum": (lambda F, x, t: F.cross_entropy(x, t, reduction="sum"), (X, CLASSES)),
    "cross_entropy_none": (lambda F, x, t: F.cross_entropy(x, t, reduction="none"), (X, CLASSES)),
    "cross_entropy_weight": (
        lambda F, x, t, w: F.cross_entropy(x, t, weight=w.detach(), ignore_index=2),
        (X, CLASSES, PROBABILITIES[0]),
    ),
    "cross_entropy_smoothing": (
        lambda F, x, t: F.cross_entropy(x, t, label_smoothing=0.2, ignore_index=3),
        (X, CLASSES),
    ),
    "cross_entropy_smoothing_weight": (
        lambda F, x, t, w: F.cross_entropy(x, t, weight=w.detach(), label_smoothing=0.2),
        (X, CLASSES, PROBABILITIES[0]),
    ),
    "cross_entropy_smoothing_none": (
        lambda F, x, t: F.cross_entropy(x, t, label_smoothing=0.2, reduction="none"),
        (X, CLASSES),
    ),
    "cross_entropy_probabilities": (lambda F, x, p: F.cross_entropy(x, p), (X, PROBABILITIES)),
    "cross_entropy_probabilities_smoothing": (
        lambda F, x, p, w: F.cross_entropy(x, p.detach(), weight=w.detach(), label_smoothing=0.1),
        (X, PROBABILITIES, PROBABILITIES[1]),
    ),
    "cross_entropy_image": (
        lambda F, x, t: F.cross_entropy(x, t),
        (IMAGE, RNG.integers(0, 4, size=(2, 7, 6))),
    ),
    "cross_entropy_one": (lambda F, x, t: F.cross_entropy(x, t), (X[0], np.array(3))),
    "nll": (lambda F, x, t: F.nll_loss(x, t, ignore_index=5), (X, CLASSES)),
    "mse": (lambda F, x, y: F.mse_loss(x, y), (X, PROBABILITIES)),
    "mse_none": (lambda F, x, y: F.mse_loss(x, y, reduction="none"), (X, PROBABILITIES)),
    "l1": (lambda F, x, y: F.l1_loss(x, y), (X, PROBABILITIES)),
    "smooth_l1": (lambda F, x, y: F.smooth_l1_loss(x, y, beta=0.7), (X, PROBABILITIES)),
    "huber": (lambda F, x, y: F.huber_loss(x, y, reduction="sum", delta=0.6), (X, PROBABILITIES)),
    "kl_batchmean": (lambda F, x, y: F.kl_div(x, y.detach(), reduction="batchmean"), (X, PROBABILITIES)),
    "kl_log": (lambda F, x, y: F.kl_div(x, y, reduction="sum", log_target=True), (X, X - 1.0)),
    "bce": (lambda F, x, y: F.binary_cross_entropy(x, y), (PROBABILITIES, PROBABILITIES[::-1].copy())),
    "bce_weight": (
        lambda F, x, y, w: F.binary_cross_entropy(x, y, w.detach(), reduction="sum"),
        (PROBABILITIES, PROBABILITIES[::-1].copy(), PROBABILITIES),
    ),
    "bce_logits": (lambda F, x, y: F.binary_cross_entropy_with_logits(x, y), (X * 20, PROBABILITIES)),
    "bce_logits_weights": (
        lambda F, x, y, w, p: F.binary_cross_entropy_with_logits(
            x, y.detach(), w.detach(), pos_weight=p.detach()
        ),
        (X, PROBABILITIES, PROBABILITIES, PROBABILITIES[0]),
    ),
    "poisson": (lambda F, x, y: F.poisson_nll_loss(x, y.detach(), full=True), (X, PROBABILITIES * 4)),
    "gaussian": (
        lambda F, x, y, v: F.gaussian_nll_loss(x, y, v, full=True),
        (X, PROBABILITIES, PROBABILITIES),
    ),
    "soft_margin": (lambda F, x, y: F.soft_margin_loss(x, y.detach().sign()), (X, normal(4, 6))),
    "margin_ranking": (
        lambda F, x, z, y: F.margin_ranking_loss(x, z, y.detach().sign(), margin=0.1),
        (X, normal(4, 6), normal(4, 6)),
    ),
    "hinge": (lambda F, x, y: F.hinge_embedding_loss(x, y.detach().sign()), (X, normal(4, 6))),
    "cosine_embedding": (
        lambda F, x, z, y: F.cosine_embedding_loss(x, z, y.detach().sign(), margin=0.1),
        (X, normal(4, 6), normal(4)),
    ),
    "triplet": (lambda F, a, p, n: F.triplet_margin_loss(a, p, n), (X, normal(4, 6), normal(4, 6))),
    "triplet_swap": (
        lambda F, a, p, n: F.triplet_margin_loss(a, p, n, swap=True),
        (X, normal(4, 6), normal(4, 6)),
    ),
    "multilabel": (lambda F, x, y: F.multilabel_soft_margin_loss(x, y.detach()), (X, PROBABILITIES)),
    "layer_norm": (lambda F, x, w, b: F.layer_norm(x, (6,), w, b), (X, normal(6), normal(6))),
    "layer_norm_two": (lambda F, x: F.layer_norm(x, (7, 6)), (IMAGE,)),
    "rms_norm": (lambda F, x, w: F.rms_norm(x, (6,), w), (X, normal(6))),
    "group_norm": (lambda F, x, w, b: F.group_norm(x, 2, w, b), (IMAGE, normal(4), normal(4))),
    "instance_norm": (lambda F, x, w, b: F.instance_norm(x, weight=w, bias=b), (IMAGE, normal(4), normal(4))),
    "batch_norm": (
        lambda F, x, w, b: F.batch_norm(x, None, None, w, b, training=True),
        (IMAGE, normal(4), normal(4)),
    ),
    "batch_norm_eval": (
        lambda F, x, m, v, w: F.batch_norm(x, m.detach(), v.detach(), w),
        (IMAGE, normal(4), PROBABILITIES[0][:4].copy(), normal(4)),
    ),
    "local_response": (lambda F, x: F.local_response_norm(x, 3), (IMAGE,)),
    "conv1d": (lambda F, x, w, b: F.conv1d(x, w, b, padding=1), (SIGNAL, normal(6, 4, 3), normal(6))),
    "conv2d": (lambda F, x, w, b: F.conv2d(x, w, b, 2, 1), (IMAGE, normal(6, 4, 3, 2), normal(6))),
    "conv2d_groups": (
        lambda F, x, w: F.conv2d(x, w, padding="same", dilation=(1, 2), groups=2),
        (IMAGE, normal(6, 2, 3, 3)),
    ),
    "conv2d_one": (lambda F, x, w: F.conv2d(x, w), (IMAGE[0].copy(), normal(3, 4, 3, 3))),
    "conv3d": (lambda F, x, w: F.conv3d(x, w, stride=(1, 2, 1)), (VOLUME, normal(2, 4, 2, 2, 3))),
    "conv_transpose1d": (
        lambda F, x, w, b: F.conv_transpose1d(x, w, b, 3, 1, 2),
        (SIGNAL, normal(4, 2, 3), normal(2)),
    ),
    "conv_transpose2d": (
        lambda F, x, w: F.conv_transpose2d(x, w, None, 2, 1, 1, 2, (1, 2)),
        (IMAGE, normal(4, 3, 3, 2)),
    ),
    "max_pool1d": (lambda F, x: F.max_pool1d(x, 3, 2, 1), (SIGNAL,)),
    "max_pool2d": (lambda F, x: F.max_pool2d(x, 2), (TIES,)),
    "max_pool2d_indices": (
        lambda F, x: F.max_pool2d(x, (3, 2), (2, 1), 1, 2, return_indices=True),
        (TIES,),
    ),
    "max_pool2d_ceil": (lambda F, x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True), (TIES,)),
    "max_pool3d": (lambda F, x: F.max_pool3d(x, 2), (VOLUME,)),
    "avg_pool1d": (lambda F, x: F.avg_pool1d(x, 3, 2, 1), (SIGNAL,)),
    "avg_pool2d": (lambda F, x: F.avg_pool2d(x, (2, 3), padding=(1, 0)), (TIES,)),
    "avg_pool2d_inside": (lambda F, x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), (TIES,)),
    "avg_pool2d_divisor": (lambda F, x: F.avg_pool2d(x, 3, 2, divisor_override=5), (TIES,)),
    "adaptive_avg": (lambda F, x: F.adaptive_avg_pool2d(x, (3, 4)), (TIES,)),
    "adaptive_avg_one": (lambda F, x: F.adaptive_avg_pool2d(x, 1), (TIES,)),
    "adaptive_avg_even": (lambda F, x: F.adaptive_avg_pool2d(x, (7, 2)), (TIES,)),
    "adaptive_avg_none": (lambda F, x: F.adaptive_avg_pool2d(x, (None, 3)), (TIES,)),
    "adaptive_avg1d": (lambda F, x: F.adaptive_avg_pool1d(x, 4), (SIGNAL,)),
    "adaptive_max": (lambda F, x: F.adaptive_max_pool2d(x, (7, 4)), (TIES,)),
    "lp_pool": (lambda F, x: F.lp_pool2d(x, 2.0, 2), (TIES + 9,)),
    "pad": (lambda F, x: F.pad(x, (1, 2, 0, 3), value=0.5), (X,)),
    "pad_negative": (lambda F, x: F.pad(x, (-1, 2)), (X,)),
    "pad_reflect": (lambda F, x: F.pad(x, (1, 2), "reflect"), (X,)),
    "pad_replicate": (lambda F, x: F.pad(x, (1, 2, 2, 0), "replicate"), (IMAGE,)),
    "nearest": (lambda F, x: F.interpolate(x, scale_factor=2), (IMAGE,)),
    "nearest_size": (lambda F, x: F.interpolate(x, size=(4, 9)), (IMAGE,)),
    "nearest_exact": (lambda F, x: F.interpolate(x, size=(4, 9), mode="nearest-exact"), (IMAGE,)),
    "bilinear": (lambda F, x: F.interpolate(x, scale_factor=1.5, mode="bilinear"), (IMAGE,)),
    "bilinear_corners": (
        lambda F, x: F.interpolate(x, size=(5, 11), mode="bilinear", align_corners=True),
        (IMAGE,),
    ),
    "unfold": (lambda F, x: F.unfold(x, (2, 3), padding=1, stride=2), (IMAGE,)),
    "fold": (lambda F, x: F.fold(x, (4, 5), (2, 2), padding=1), (normal(2, 12, 30),)),
    "pixel_shuffle": (lambda F, x: F.pixel_shuffle(x, 2), (IMAGE,)),
    "pixel_unshuffle": (lambda F, x: F.pixel_unshuffle(x, 2), (normal(2, 3, 4, 6),)),
    "attention": (
        lambda F, q, k, v: F.scaled_dot_product_attention(q, k, v),
        (normal(2, 3, 4, 5), normal(2, 3, 6, 5), normal(2, 3, 6, 5)),
    ),
    "attention_causal": (
        lambda F, q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.5),
        (normal(2, 4, 5), normal(2, 4, 5), normal(2, 4, 7)),
    ),
    "attention_bias": (
        lambda F, q, k, v, m: F.scaled_dot_product_attention(q, k, v, m),
        (normal(4, 5), normal(6, 5), normal(6, 3), normal(4, 6)),
    ),
    "attention_mask": (
        lambda F, q, k, v: F.scaled_dot_product_attention(q, k, v, q.detach()[..., :1] > -9),
        (normal(4, 5), normal(6, 5), normal(6, 3)),
    ),
    "cosine_similarity": (lambda F, x, y: F.cosine_similarity(x, y), (X, normal(4, 6))),
    "normalize": (lambda F, x: F.normalize(x, dim=0), (X,)),
    "pairwise": (lambda F, x, y: F.pairwise_distance(x, y), (X, normal(4, 6))),
    "bilinear_form": (
        lambda F, x, y, w, b: F.bilinear(x, y, w, b),
        (X, normal(4, 3), normal(2, 6, 3), normal(2)),
    ),
    "dropout_eval": (lambda F, x: F.dropout(x, 0.3, training=False), (X,)),
}
OTHER_NAMES = {
    "adaptive_avg_even",
    "adaptive_avg1d",
    "adaptive_avg_none",
    "attention_causal",
    "attention_bias",
    "attention_mask",
    "bilinear_form",
    "conv2d_one",
    "cosine_similarity",
    "cross_entropy_one",
    "cross_entropy_probabilities",
    "cross_entropy_probabilities_smoothing",
    "cross_entropy_smoothing",
    "cross_entropy_smoothing_none",
    "cross_entropy_smoothing_weight",
    "dropout_eval",
    "hinge",
    "instance_norm",
    "lp_pool",
    "local_response",
    "max_pool2d_indices",
    "nearest_exact",
    "pad_replicate",
    "pairwise",
    "rrelu_eval",
    "triplet_swap",
}
"""Where PyTorch composes in an order of its own, and only values and gradients are compared."""


@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str) -> None:
    function, args = CALLS[name]
    compare(
        lambda t, *xs: function(t.nn.functional, *xs),
        *args,
        rtol=1e-5,
        atol=1e-8,
        names=name not in OTHER_NAMES,
    )


ERRORS: dict[str, Any] = {
    "linear": lambda t: t.nn.functional.linear(t.ones(2, 3), t.ones(4, 5)),
    "linear_bias": lambda t: t.nn.functional.linear(t.ones(2, 3), t.ones(4, 5), t.ones(4)),
    "linear_3d": lambda t: t.nn.functional.linear(t.ones(2, 2, 3), t.ones(4, 5), t.ones(4)),
    "conv_channels": lambda t: t.nn.functional.conv2d(t.ones(1, 3, 5, 5), t.ones(2, 4, 3, 3)),
    "conv_kernel": lambda t: t.nn.functional.conv2d(t.ones(1, 3, 2, 2), t.ones(2, 3, 3, 3)),
    "conv_dims": lambda t: t.nn.functional.conv2d(t.ones(3, 3), t.ones(2, 3, 3, 3)),
    "nll_batch": lambda t: t.nn.functional.nll_loss(t.ones(2, 3), t.tensor([1, 1, 1])),
    "nll_range": lambda t: t.nn.functional.nll_loss(t.ones(2, 3), t.tensor([1, 3])),
    "embedding_range": lambda t: t.nn.functional.embedding(t.tensor([5]), t.ones(3, 2)),
    "bce_sizes": lambda t: t.nn.functional.binary_cross_entropy(t.ones(2), t.ones(3)),
    "bce_logits_sizes": lambda t: t.nn.functional.binary_cross_entropy_with_logits(t.ones(2), t.ones(3)),
    "dropout": lambda t: t.nn.functional.dropout(t.ones(2), 1.5),
    "batch_norm_one": lambda t: t.nn.functional.batch_norm(t.ones(1, 3), None, None, training=True),
    "layer_norm": lambda t: t.nn.functional.layer_norm(t.ones(2, 3), (4,)),
    "group_norm": lambda t: t.nn.functional.group_norm(t.ones(2, 3), 2),
    "one_hot_float": lambda t: t.nn.functional.one_hot(t.tensor([7]), 3),
    "glu": lambda t: t.nn.functional.glu(t.ones(3)),
    "reduction": lambda t: t.nn.functional.mse_loss(t.ones(1), t.ones(1), reduction="most"),
    "pad_length": lambda t: t.nn.functional.pad(t.ones(2), (1, 1, 1)),
    "conv_groups": lambda t: t.nn.Conv2d(3, 4, 3, groups=2),
    "gelu": lambda t: t.nn.functional.gelu(t.ones(1), approximate="no"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    import torch as theirs

    (kind, words), (their_kind, their_words) = (error_of(ERRORS[name], t) for t in (ours, theirs))
    assert issubclass(kind, their_kind), words
    assert words == their_words.split("\n")[0] or words == their_words


def test_in_place_activations() -> None:
    compare(lambda t, x: t.nn.functional.relu(x * 1, inplace=True), X, names=False)
    x = ours.tensor([-1.0, 2.0])
    assert ours.nn.functional.relu_(x) is x
    assert x.tolist() == [0.0, 2.0]


def test_running_statistics() -> None:
    import torch as theirs

    found = []
    for t in (ours, theirs):
        mean, var = t.zeros(4, dtype=t.float64), t.ones(4, dtype=t.float64)
        t.nn.functional.batch_norm(t.tensor(IMAGE), mean, var, training=True, momentum=0.3)
        found.append((mean.numpy(), var.numpy()))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
