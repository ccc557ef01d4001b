"""Functions of the user's where no history is kept: in traces and in `vmap` their backward still counts."""

from typing import ClassVar

import numpy as np
import pytest

import funcgrad as fg
import funcgrad.torch as torch


class Tenfold(torch.autograd.Function):
    """The sine with ten times its derivative, so that it shows whose rule was used."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, note="unread"):
        return x.sin(), note

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.scale = 10.0

    @staticmethod
    def backward(ctx, g, _):
        (x,) = ctx.saved_tensors
        return g * x.cos() * ctx.scale, None


class Straight(torch.autograd.Function):
    """Rounding that passes gradients on; its rule for `vmap` says that it was asked."""

    asked: ClassVar[list[object]] = []

    @staticmethod
    def forward(x):
        return torch.from_numpy(np.asarray(np.round(x.detach().numpy())))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.held = inputs[0]

    @staticmethod
    def backward(ctx, g):
        return g * torch.ones_like(ctx.held)

    @staticmethod
    def vmap(info, in_dims, x):
        Straight.asked.append((info.batch_size, info.randomness, in_dims))
        return Straight.apply(x), in_dims[0]


def tenfold(x):
    return Tenfold.apply(x)[0]


@pytest.mark.parametrize("around", [lambda f: f, fg.jit], ids=["called", "jit"])
def test_gradients_of_traces_use_the_backward(around):
    assert float(around(fg.grad(lambda x: 2 * tenfold(x)))(torch.tensor(0.0))) == 20.0
    assert float(around(tenfold)(torch.tensor(0.0))) == 0.0


def test_what_a_function_returns_beside_tensors_stays():
    seen = []

    def f(x):
        y, note = Tenfold.apply(x, "kept")
        seen.append(note)
        return y

    assert float(fg.grad(f)(torch.tensor(0.0))) == 10.0
    assert set(seen) == {"kept"}


def test_outputs_without_a_derivative_send_none():
    class Halves(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            kept = x * 3
            ctx.mark_non_differentiable(kept)
            return x * 2, kept

        @staticmethod
        def backward(ctx, g, _):
            return g * 7

    def f(x):
        a, b = Halves.apply(x)
        return a + b

    assert float(fg.grad(f)(torch.tensor(1.0))) == 7.0


def test_changes_in_place_are_refused_by_name():
    class Doubles(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    with pytest.raises(RuntimeError, match="Doubles changes an input in place"):
        fg.grad(lambda x: Doubles.apply(x * 1))(torch.tensor(1.0))


def test_vmap_keeps_the_backward():
    x = torch.zeros(2, requires_grad=True)
    torch.vmap(tenfold)(x).sum().backward()
    assert x.grad.tolist() == [10.0, 10.0]
    assert torch.func.grad(lambda t: torch.vmap(tenfold)(t).sum())(torch.zeros(2)).tolist() == [10.0, 10.0]
    assert torch.vmap(torch.func.grad(tenfold))(torch.zeros(2)).tolist() == [10.0, 10.0]


def test_vmap_of_a_gradient_keeps_the_backward_where_it_is_differentiated_again():
    x = torch.tensor([0.3, 0.5], requires_grad=True)
    torch.vmap(torch.func.grad(lambda t: tenfold(t) ** 2))(x).sum().backward()
    # d/dx of 2 s * 10 c, where the derivative of s is 10 c.
    expected = 200 * np.cos(x.detach().numpy()) ** 2 - 20 * np.sin(x.detach().numpy()) ** 2
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-5)


def test_a_rule_of_its_own_is_asked_where_apply_is_mapped():
    Straight.asked.clear()
    x = torch.tensor([[0.2, 1.7, 2.6]], requires_grad=True)
    y = torch.vmap(Straight.apply, in_dims=1, out_dims=1)(x)
    assert Straight.asked == [(3, "error", (1,))]
    assert y.tolist() == [[0.0, 2.0, 3.0]]
    y.sum().backward()
    assert x.grad.tolist() == [[1.0, 1.0, 1.0]]


def test_a_forward_in_numpy_runs_for_each_element():
    x = torch.tensor([0.2, 1.7], requires_grad=True)
    y = torch.vmap(lambda t: Straight.apply(t) * 3)(x)
    y.sum().backward()
    assert y.tolist() == [0.0, 6.0]
    assert x.grad.tolist() == [3.0, 3.0]
    nested = torch.vmap(torch.vmap(Straight.apply))(torch.tensor([[0.2, 1.7]]))
    assert nested.tolist() == [[0.0, 2.0]]


def test_two_rules_are_one_too_many():
    class Both(Straight):
        generate_vmap_rule = True

    with pytest.raises(RuntimeError, match="it has both generate_vmap_rule=True"):
        torch.vmap(Both.apply)(torch.ones(2))
    with pytest.raises(RuntimeError, match="it has both generate_vmap_rule=True"):
        torch.vmap(lambda x: Both.apply(x) * 2)(torch.ones(2))


def test_a_rule_returns_where_the_dimension_lies():
    class Bare(Straight):
        @staticmethod
        def vmap(info, in_dims, x):
            return x

    with pytest.raises(RuntimeError, match="two returns, an output and out_dims"):
        torch.vmap(Bare.apply)(torch.ones(2))


def test_vmap_gives_gradients_to_what_is_closed_over():
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    x = torch.arange(6.0).reshape(3, 2).requires_grad_()
    torch.vmap(lambda t: (t * w).sum())(x).sum().backward()
    assert w.grad.tolist() == [6.0, 9.0]
    assert x.grad.tolist() == [[1.0, 2.0]] * 3


def test_vmap_gives_gradients_through_what_was_computed_before():
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    twice = w * 2
    torch.vmap(lambda t: (t * twice).sum())(torch.ones(3, 2)).sum().backward()
    assert w.grad.tolist() == [6.0, 6.0]


def test_vmap_of_a_module_is_the_module_of_a_batch():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    x = torch.randn(4, 2)
    (torch.vmap(model)(x) ** 2).sum().backward()
    mapped = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    (model(x) ** 2).sum().backward()
    for a, p in zip(mapped, model.parameters(), strict=True):
        np.testing.assert_allclose(a.numpy(), p.grad.numpy(), rtol=1e-5, atol=1e-6)


def test_a_leaf_that_is_closed_over_keeps_its_value_and_its_flag():
    w = torch.tensor(3.0, requires_grad=True)

    def fails(t):
        raise ValueError("mine")

    torch.vmap(lambda t: t * w)(torch.ones(2))
    with pytest.raises(ValueError, match="mine"):
        torch.vmap(fails)(torch.ones(2))
    assert w.requires_grad
    assert w.item() == 3.0
    assert (w * 2).item() == 6.0
