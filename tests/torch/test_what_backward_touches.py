"""What a backward pass may change, and what functions of the user's must say. Recorded from PyTorch 2.13."""

from __future__ import annotations

from typing import Any

import pytest

from funcgrad import torch


class Both(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        return x + y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g, g


class Constant(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, slope: Any) -> Any:
        ctx.save_for_backward(slope)
        return x * slope

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return ctx.saved_tensors[0], None


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2


def by_caller(x: Any) -> Any:
    given = torch.ones(2)
    for _ in range(2):
        x.backward(given)
    return given


def by_caller_with_graph(x: Any) -> Any:
    given = torch.ones(2)
    with pytest.warns(UserWarning, match="reference cycle"):
        x.backward(given, create_graph=True)
    x.grad.mul_(2)
    return given


def by_hook(x: Any) -> Any:
    held: list[Any] = []
    x.register_hook(held.append)
    for _ in range(2):
        x.sum().backward()
    return held[0]


def by_constant_of_a_hook(x: Any) -> Any:
    held = torch.ones(2)
    x.register_hook(lambda g: held)
    for _ in range(2):
        x.sum().backward()
    return held


def by_node_hook(x: Any) -> Any:
    held: list[Any] = []
    y = x * 1
    y.grad_fn.register_hook(lambda ins, outs: held.append(ins[0]))
    y.sum().backward()
    x.grad.mul_(2)
    return held[0]


def by_saved_tensor(x: Any) -> Any:
    slope = torch.ones(2)
    for _ in range(2):
        Constant.apply(x, slope).sum().backward()
    return slope


def by_other_leaf(x: Any) -> Any:
    y = torch.ones(2, requires_grad=True)
    Both.apply(x, y).sum().backward()
    x.grad.mul_(2)
    return y.grad


@pytest.mark.parametrize(
    "held",
    [
        by_caller,
        by_caller_with_graph,
        by_hook,
        by_constant_of_a_hook,
        by_node_hook,
        by_saved_tensor,
        by_other_leaf,
    ],
)
def test_accumulating_changes_nothing_that_others_hold(held: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    assert held(x).tolist() == [1.0, 1.0]
    assert x.grad.tolist() == [2.0, 2.0]


def test_a_view_changed_by_a_function_of_the_users_changes_the_history_of_its_base() -> None:
    x = torch.ones(2, requires_grad=True)
    base = x.clone()
    view = base[:1]
    assert Doubled.apply(view) is view
    base.sum().backward()
    assert (x.grad.tolist(), view.grad_fn.name()) == ([2.0, 1.0], "AsStridedBackward0")


def test_a_saved_input_that_is_returned_is_the_input() -> None:
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * x * 10

    x = torch.tensor(3.0, requires_grad=True)
    (first,) = torch.autograd.grad(Same.apply(x), x, create_graph=True)
    assert torch.autograd.grad(first, x)[0].item() == 10.0


def function_of(forward: Any, backward: Any) -> Any:
    parts = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Made", (torch.autograd.Function,), parts)


def not_returned(ctx: Any, x: Any) -> Any:
    ctx.mark_dirty(x)
    return x.mul_(2) * 1


def part(ctx: Any, x: Any) -> Any:
    return x[:1]


def parts(ctx: Any, x: Any) -> Any:
    return x[:1], x[1:]


REFUSED = [
    (lambda x: function_of(not_returned, None).apply(x), "Some elements marked as dirty during the forward"),
    (lambda x: function_of(part, None).apply(x).mul_(2), "Output 0 of Made is a view .* custom Function"),
    (lambda x: function_of(parts, None).apply(x)[1].mul_(2), "Output 1 of Made is a view .* multiple views"),
    (lambda x: Both()(x, x), "Legacy autograd function with non-static forward"),
    (
        lambda x: function_of(lambda ctx, a, k: a * k, lambda ctx, g: (g, g)).apply(x, 3).sum().backward(),
        "MadeBackward returned a gradient different than None at position 2",
    ),
]


@pytest.mark.parametrize(("run", "message"), REFUSED)
def test_functions_of_the_users_are_refused(run: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        run(torch.ones(2, requires_grad=True).clone())


def test_nodes_are_called_with_a_gradient_for_each_result() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    node = (x**3).grad_fn
    with pytest.raises(TypeError, match="expected 1 arguments, got 2 instead"):
        node(x, x)
    slope = node(torch.tensor(1.0))
    assert torch.autograd.grad(slope, x)[0].item() == 12.0


def test_generators_without_gradients_take_what_is_thrown() -> None:
    @torch.no_grad()
    def steps() -> Any:
        try:
            yield torch.is_grad_enabled()
        except ValueError:
            yield ("thrown", torch.is_grad_enabled())
        finally:
            seen.append(torch.is_grad_enabled())

    seen: list[bool] = []
    run = steps()
    assert next(run) is False
    assert run.throw(ValueError) == ("thrown", False)
    run.close()
    assert (seen, torch.is_grad_enabled()) == ([False], True)


def test_hooks_of_several_tensors_are_called_once_in_each_pass() -> None:
    x, y, z = (torch.ones(1, requires_grad=True) for _ in range(3))
    every: list[Any] = []
    first: list[Any] = []
    torch.autograd.graph.register_multi_grad_hook((x, y, z), every.append)
    torch.autograd.graph.register_multi_grad_hook((x, y, z), first.append, mode="any")
    (x * 2).sum().backward()
    (z * 3 + y).sum().backward()
    found = [[g if g is None else g.item() for g in grads] for grads in every]
    assert found == [[2.0, None, None], [None, 1.0, 3.0]]
    assert len(first) == 2


def test_what_is_asked_for_comes_before_the_hooks_of_a_node_that_runs() -> None:
    x = torch.ones(1, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    assert [g.item() for g in torch.autograd.grad(y.sum(), [x, y], retain_graph=True)] == [20.0, 1.0]
    assert [g.item() for g in torch.autograd.grad(y.sum(), y, retain_graph=True)] == [10.0]
    y.sum().backward(inputs=[x, y])
    assert (x.grad.item(), y.grad.item()) == (20.0, 10.0)


def test_prehooks_come_after_what_is_kept_and_asked_for() -> None:
    x = torch.ones(1, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 10,))
    y.sum().backward(inputs=[x])
    assert (x.grad.item(), y.grad.item()) == (20.0, 1.0)


def test_hooks_of_leaves_that_nobody_asked_for_are_not_called() -> None:
    x, y = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    called: list[Any] = []
    x.register_hook(called.append)
    torch.autograd.grad((x * y).sum(), y)
    assert called == []


@pytest.mark.parametrize("register", ["register_hook", "register_prehook"])
def test_hooks_of_nodes_return_as_many_as_they_were_given(register: str) -> None:
    y = torch.ones(1, requires_grad=True) * 2
    getattr(y.grad_fn, register)(lambda *grads: (torch.ones(1),) * 5)
    with pytest.raises(RuntimeError, match=r"returned an incorrect number of values \(got 5, but expected"):
        y.sum().backward()


def test_tangents_have_a_history() -> None:
    forward_ad = torch.autograd.forward_ad
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    t = torch.tensor([3.0, 4.0], requires_grad=True)
    with forward_ad.dual_level():
        out = forward_ad.unpack_dual(forward_ad.make_dual(x, t) ** 2).tangent
        out.sum().backward()
        with pytest.raises(RuntimeError, match="different size"):
            forward_ad.make_dual(x, torch.ones(1))
    assert (x.grad.tolist(), t.grad.tolist()) == ([6.0, 8.0], [2.0, 4.0])


def test_gradcheck_of_complex_results_and_of_results_without_history() -> None:
    gradcheck = torch.autograd.gradcheck
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda x: x.to(torch.complex128) * (2 + 1j), x)
    with pytest.raises(RuntimeError, match="expected to be zero"):
        gradcheck(lambda x: x.detach(), x)
    noisy = function_of(lambda ctx, x: x * 1, lambda ctx, g: g + torch.rand(2, dtype=g.dtype) * 1e-3)
    with pytest.raises(RuntimeError, match="Backward is not reentrant"):
        gradcheck(noisy.apply, x, atol=1e-1)


def test_checkpoints_differentiate_what_they_close_over_and_differentiate_twice() -> None:
    def run(x: Any) -> Any:
        return torch.utils.checkpoint.checkpoint(lambda x: w * x**3, x, use_reentrant=False)

    x, w = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    assert torch.autograd.grad(run(x), w)[0].item() == 8.0
    run(x).backward(inputs=[x])
    assert (x.grad.item(), w.grad) == (36.0, None)
    (slope,) = torch.autograd.grad(run(x), x, create_graph=True)
    assert [g.item() for g in torch.autograd.grad(slope, [x, w])] == [36.0, 12.0]
    w.register_hook(lambda g: g * 10)
    (run(x) + w).backward()
    assert w.grad.item() == 90.0
