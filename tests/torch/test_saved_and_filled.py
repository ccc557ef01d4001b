"""What histories save while memory is written: random fills, changes under hooks, layouts of gradients."""

import numpy as np
import pytest

import funcgrad.torch as torch

FILLS = [
    ("uniform_", (), "UniformBackward0"),
    ("normal_", (), "NormalBackward0"),
    ("bernoulli_", (), "BernoulliBackward2"),
    ("random_", (), "RandomBackward2"),
    ("exponential_", (), "ExponentialBackward0"),
    ("geometric_", (0.5,), "GeometricBackward0"),
    ("cauchy_", (), "CauchyBackward0"),
    ("log_normal_", (), "LogNormalBackward0"),
]


@pytest.mark.parametrize(("name", "args", "node"), FILLS)
def test_what_is_drawn_over_gets_no_gradient(name, args, node):
    x = torch.ones(4, requires_grad=True)
    y = x * 1
    getattr(y, name)(*args)
    assert y.grad_fn.name() == node
    y.sum().backward()
    assert x.grad.tolist() == [0.0] * 4
    z = x * 1
    getattr(z[:2], name)(*args)
    x.grad = None
    z.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize("name", ["apply_", "map_"])
def test_functions_of_elements_are_refused_where_a_gradient_would_be_lost(name):
    y = torch.ones(2, requires_grad=True) * 2
    args = (lambda v: v,) if name == "apply_" else (torch.ones(2), lambda a, b: b)
    with pytest.raises(RuntimeError, match=rf"Can't call {name}\(\) on Variable that requires grad"):
        getattr(y, name)(*args)


def contexts():
    graph = torch.autograd.graph
    kept = []

    def pack(t):
        kept.append(t)
        return len(kept) - 1

    return {
        "on_cpu": graph.save_on_cpu(),
        "as_they_are": graph.saved_tensors_hooks(lambda t: t, lambda t: t),
        "in_a_list": graph.saved_tensors_hooks(pack, lambda k: kept[k]),
        "as_arrays": graph.saved_tensors_hooks(lambda t: t.detach().numpy().copy(), torch.from_numpy),
    }


@pytest.mark.parametrize("which", ["on_cpu", "as_they_are", "in_a_list", "as_arrays"])
def test_changes_in_place_under_hooks_keep_what_was_saved(which):
    x = torch.ones(2, requires_grad=True)
    w = torch.full((2,), 3.0, requires_grad=True)
    with contexts()[which]:
        y = x * 5
        y.mul_(w)
        y.mul_(w)
    y.sum().backward()
    assert w.grad.tolist() == [30.0, 30.0]
    assert x.grad.tolist() == [45.0, 45.0]


def test_later_changes_of_what_hooks_left_in_place_are_noticed():
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.save_on_cpu():
        y = x * 5
        z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_hooks_are_given_leaves_themselves_and_asked_once():
    p = torch.nn.Parameter(torch.ones(2))
    packed, unpacked = [], []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: packed.append(t) or t, lambda t: unpacked.append(t) or t
    ):
        y = (p * p).sum()
    y.backward()
    assert [t is p for t in packed] == [True, True]
    assert len(unpacked) == 2


def test_gradients_lie_in_memory_as_their_leaves():
    w = torch.arange(6.0).reshape(2, 3).t().requires_grad_()
    for backward in (lambda y: y.backward(), lambda y: y.backward(torch.tensor(1.0))):
        w.grad = None
        backward((w * w).sum())
        assert w.grad.stride() == w.stride()
        np.testing.assert_array_equal(w.grad.numpy(), 2 * w.detach().numpy())


def test_a_wrong_rule_for_tangents_is_found():
    class Doubles(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, t):
            return t * 3

    x = torch.tensor([0.5, 1.5], dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(Doubles.apply, (x,))
    with pytest.raises(torch.autograd.GradcheckError, match="computed with forward mode mismatch"):
        torch.autograd.gradcheck(Doubles.apply, (x,), check_forward_ad=True)
