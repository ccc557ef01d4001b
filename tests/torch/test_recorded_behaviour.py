"""What PyTorch 2.13 answers, where the facade once answered otherwise. Recorded from PyTorch itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from funcgrad import torch
from funcgrad.torch.utils.checkpoint import CheckpointError, checkpoint

F = torch.nn.functional


def same(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(found.detach()), expected, rtol=1e-6)


def test_running_sums_of_exponentials_of_large_numbers() -> None:
    x = torch.tensor([1000.0, 1000.0, -1000.0, 2000.0], requires_grad=True)
    out = torch.logcumsumexp(x, 0)
    same(out, [1000.0, 1000.6931, 1000.6931, 2000.0])
    out[1].backward()
    same(x.grad, [0.5, 0.5, 0.0, 0.0])


def test_logarithms_of_sums_without_dimensions() -> None:
    x = torch.tensor(2.0)
    assert torch.logsumexp(x, 0).shape == torch.logcumsumexp(x, 0).shape == torch.Size([])


def test_linear_interpolation_of_bytes() -> None:
    image = torch.arange(4, dtype=torch.uint8).reshape(1, 1, 2, 2) * 10
    found = F.interpolate(image, scale_factor=2, mode="bilinear")
    assert found.dtype == torch.uint8
    expected = [[0, 3, 8, 10], [5, 8, 13, 15], [15, 18, 23, 25], [20, 23, 28, 30]]
    np.testing.assert_array_equal(found[0, 0], expected)


def test_variables_keep_their_flag() -> None:
    x = torch.autograd.Variable(torch.ones(2), requires_grad=True)
    assert x.requires_grad
    assert isinstance(torch.ones(1), torch.autograd.Variable)
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got list"):
        torch.autograd.Variable([1.0])


@pytest.mark.parametrize("function", [torch.median, torch.nanmedian])
def test_equal_elements_share_the_gradient_of_a_median(function: Any) -> None:
    x = torch.tensor([1.0, 2.0, 2.0, 2.0, 5.0], requires_grad=True)
    function(x).backward()
    same(x.grad, [0.0, 1 / 3, 1 / 3, 1 / 3, 0.0])


def test_bounds_as_tensors() -> None:
    x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    same(torch.clamp(x, min=torch.tensor(1.5)), [1.5, 2.0, 3.0])
    same(torch.clamp(x, max=torch.tensor(2.5, dtype=torch.float64)), [1.0, 2.0, 2.5])


def test_factors_as_tensors() -> None:
    ones = torch.ones(2, 2)
    same(torch.addmm(ones, ones, ones, alpha=torch.tensor(2.0), beta=torch.tensor(3.0)), [[7.0, 7.0]] * 2)
    same(torch.addcmul(ones, ones, ones, value=torch.tensor(2.0)), [[3.0, 3.0]] * 2)


def test_a_parameter_may_be_replaced_by_what_is_computed() -> None:
    layer = torch.nn.Linear(2, 1, bias=False)
    w = torch.ones(1, 2, requires_grad=True)
    del layer.weight
    layer.weight = w * 2
    layer(torch.ones(1, 2)).sum().backward()
    same(w.grad, [[2.0, 2.0]])


AXES = [
    lambda x: torch.max(x, axis=1)[0],
    lambda x: torch.median(x, axis=1)[0],
    lambda x: torch.logsumexp(x, axis=1),
    lambda x: torch.sort(x, axis=1)[0],
    lambda x: torch.topk(x, 1, axis=1)[0],
    lambda x: x.argmax(axis=1),
    lambda x: x.cumsum(axis=1),
    lambda x: torch.unsqueeze(x, axis=1),
    lambda x: torch.any(x, axis=1),
]


@pytest.mark.parametrize("number", range(len(AXES)))
def test_axis_is_another_word_for_dim(number: int) -> None:
    AXES[number](torch.arange(6.0).reshape(2, 3))


def test_arrays_are_given_where_no_gradient_is_kept() -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        np.testing.assert_array_equal(x.numpy(), [1.0, 1.0])
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        x.numpy()


def test_lists_with_slices_are_several_indices() -> None:
    with pytest.warns(UserWarning, match="read as a tuple"):
        found = torch.arange(6.0).reshape(2, 3)[[slice(None), 1]]
    same(found, [1.0, 4.0])


def test_tensors_without_dimensions() -> None:
    x = torch.tensor(2.0)
    assert torch.flip(x, (0,)).shape == torch.flip(x, ()).shape == torch.Size([])
    values, indices = torch.cummax(x, 0)
    assert (values.item(), indices.item()) == (2.0, 0)


def test_negative_reflecting_padding_takes_away() -> None:
    same(
        F.pad(torch.arange(6.0).reshape(1, 6), (-1, 2), mode="reflect"), [[1.0, 2.0, 3.0, 4.0, 5.0, 4.0, 3.0]]
    )


def test_dimensions_of_an_ellipsis_that_the_result_lacks_are_summed() -> None:
    x = torch.ones(3, 2, 2)
    same(torch.einsum("...ij,...jk->ik", x, x), [[6.0, 6.0], [6.0, 6.0]])


def test_classes_of_tensors_are_types() -> None:
    assert torch.ones(2).type(torch.DoubleTensor).dtype == torch.float64


def test_refusals() -> None:
    with pytest.raises(NotImplementedError):
        torch.tensor([1j]) > torch.tensor([0j])  # noqa: B015 - it raises
    with pytest.raises(RuntimeError, match="shifts and dimensions must align"):
        torch.roll(torch.ones(2, 2), (1, 1), (0,))


def test_results_that_are_no_tensors_have_no_gradients() -> None:
    class Mixed(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2, "text", None

        @staticmethod
        def backward(ctx: Any, *gs: Any) -> Any:
            seen.extend(gs[1:])
            return gs[0] * 2

    seen: list[Any] = []
    x = torch.ones(2, requires_grad=True)
    y, text, nothing = Mixed.apply(x)
    y.sum().backward()
    assert (text, nothing, seen) == ("text", None, [None, None])


def test_contexts_see_arguments_that_were_left_to_their_defaults() -> None:
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(x: Any, s: float = 2.0) -> Any:
            return x * s

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            _, ctx.s = inputs

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.s, None

    x = torch.ones(2, requires_grad=True)
    Scaled.apply(x).sum().backward()
    same(x.grad, [2.0, 2.0])


def test_hooks_of_unused_outputs_are_called_with_none() -> None:
    x = torch.ones(2, requires_grad=True)
    a, b = (x * 2).unbind()
    calls: list[Any] = []
    a.register_hook(lambda g: calls.append(("a", g.item())))
    b.register_hook(lambda g: calls.append(("b", g)))
    a.backward()
    assert calls == [("a", 1.0), ("b", None)]


def test_checkpoints_of_dictionaries_with_hooks_inside() -> None:
    x = torch.ones(2, requires_grad=True)
    calls: list[int] = []

    def f(given: Any) -> Any:
        y = given["x"] * 2
        y.register_hook(lambda g: calls.append(1))
        return {"y": y.sin()}

    checkpoint(f, {"x": x}, use_reentrant=False)["y"].sum().backward()
    assert calls == [1]
    same(x.grad, 2 * np.cos([2.0, 2.0]))


def test_another_size_is_another_version() -> None:
    x = torch.ones(4)
    before = x._version
    x.resize_(2)
    assert x._version == before + 1


@pytest.mark.parametrize("make", [torch.nn.Linear, torch.nn.LayerNorm, torch.nn.Embedding, torch.nn.GRU])
def test_layers_are_not_made_on_devices_that_are_not_here(make: Any) -> None:
    arguments = (3,) if make is torch.nn.LayerNorm else (3, 2)
    assert isinstance(make(*arguments, device="cpu"), torch.nn.Module)
    with pytest.raises(RuntimeError, match="does not support device='cuda'"):
        make(*arguments, device="cuda")


def test_a_function_that_does_something_else_the_second_time_is_found() -> None:
    calls: list[int] = []

    def f(x: Any) -> Any:
        calls.append(1)
        return x.sin() if len(calls) % 2 else x[:1].sin()

    x = torch.ones(2, requires_grad=True)
    with pytest.raises(CheckpointError, match="different metadata than during the forward pass"):
        checkpoint(f, x, use_reentrant=False).sum().backward()


def test_a_leaf_that_got_other_data_is_what_backward_finds() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x + x.detach() * x
    x.data = torch.tensor([10.0, 20.0])
    y.sum().backward(retain_graph=True)
    same(x.grad, [21.0, 42.0])
    assert x._version == 0
    with torch.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x**3).sum()
    x.data = torch.ones(3)
    with pytest.raises(RuntimeError, match=r"size of tensor a \(2\) must match the size of tensor b \(3\)"):
        y.backward()


def test_a_constant_that_got_other_data_is_no_silent_matter() -> None:
    x, c = torch.ones(2, requires_grad=True), torch.ones(2)
    y = (x * c).sum()
    c.data = torch.tensor([5.0, 6.0])
    with pytest.raises(RuntimeError, match="modified"):
        y.backward()


def test_data_of_another_kind_is_refused() -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="must be floating point or complex dtype"):
        x.data = torch.tensor([1, 2])


def test_losses_without_an_alignment_have_no_slope() -> None:
    log_probs = torch.full((3, 2, 2), 0.5).log().requires_grad_()
    lengths, targets = torch.tensor([3, 2]), torch.tensor([[1, 1], [1, 1]])
    loss = F.ctc_loss(log_probs, targets, lengths, torch.tensor([2, 2]), reduction="none")
    assert loss.grad_fn._name() == "CtcLossBackward0"
    same(loss, [np.log(8.0), np.inf])
    loss.sum().backward()
    assert np.isfinite(np.asarray(log_probs.grad[:, 0])).all()
    assert np.isnan(np.asarray(log_probs.grad[:2, 1])).all()
    same(log_probs.grad[2, 1], [0.0, 0.0])
    log_probs.grad = None
    options = {"reduction": "sum", "zero_infinity": True}
    F.ctc_loss(log_probs, targets, lengths, torch.tensor([2, 2]), **options).backward()
    same(log_probs.grad[:, 1], np.zeros((3, 2)))
    with pytest.raises(RuntimeError, match="input_lengths must be of size batch_size"):
        F.ctc_loss(log_probs, targets, torch.tensor([3]), torch.tensor([2, 2]))


def test_out_that_shares_a_part_of_what_is_read_is_refused() -> None:
    x = torch.arange(5.0)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        torch.add(x[1:], x[1:], out=x[:-1])
    same(torch.add(x, 1, out=x), [1.0, 2.0, 3.0, 4.0, 5.0])


@pytest.mark.parametrize("count", [0, 1, 2, 3, 399, 400, 5000])
def test_permutations_all_at_once_are_those_one_by_one(count: int) -> None:
    torch.manual_seed(3)
    found = torch.randperm(count).tolist()
    torch.manual_seed(3)
    words = torch.default_generator.bits.words(max(count - 1, 0)).tolist()
    order = list(range(count))
    for k, word in enumerate(words):
        other = k + word % (count - k)
        order[k], order[other] = order[other], order[k]
    assert found == order


def test_schedulers_in_sequence_say_nothing_of_epochs(recwarn: pytest.WarningsRecorder) -> None:
    schedulers = torch.optim.lr_scheduler
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
    parts = [schedulers.LinearLR(optimizer, 0.1, total_iters=2), schedulers.CosineAnnealingLR(optimizer, 4)]
    schedule = schedulers.SequentialLR(optimizer, parts, [2])
    rates = []
    for _ in range(4):
        optimizer.step()
        schedule.step()
        rates.append(optimizer.param_groups[0]["lr"])
    np.testing.assert_allclose(rates, [0.055, 0.1, 0.0853553, 0.05], rtol=1e-5)
    assert not recwarn.list


def test_schedulers_of_another_optimizer_are_refused() -> None:
    schedulers = torch.optim.lr_scheduler
    one, two = [torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1) for _ in range(2)]
    parts = [schedulers.ConstantLR(one), schedulers.ConstantLR(two)]
    with pytest.raises(ValueError, match="expects all schedulers to belong to the same optimizer"):
        schedulers.SequentialLR(one, parts, [1])
    with pytest.raises(ValueError, match="does not support `ReduceLROnPlateau` scheduler"):
        schedulers.ChainedScheduler([schedulers.ReduceLROnPlateau(one)])


class _Symmetric(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return x.triu() + x.triu(1).T

    def right_inverse(self, x: Any) -> Any:
        return x.triu()


class _Doubled(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return 2 * x

    def right_inverse(self, x: Any) -> Any:
        return x / 2


class _Size(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return abs(x)

    def right_inverse(self, x: Any) -> Any:
        raise NotImplementedError


def test_a_second_parametrisation_changes_the_tensor_and_not_its_original() -> None:
    parametrize = torch.nn.utils.parametrize
    layer = torch.nn.Linear(2, 2)
    parametrize.register_parametrization(layer, "weight", _Symmetric())
    before, original = layer.weight.detach().clone(), layer.parametrizations.weight.original.clone()
    parametrize.register_parametrization(layer, "weight", _Doubled())
    same(layer.weight, (2 * before).numpy())
    same(layer.parametrizations.weight.original, original.detach().numpy())


def test_an_inverse_that_is_not_implemented_is_the_identity() -> None:
    layer = torch.nn.Linear(2, 2)
    bias = layer.bias.detach().clone()
    torch.nn.utils.parametrize.register_parametrization(layer, "bias", _Size())
    same(layer.bias, abs(bias).numpy())


def test_the_tangent_of_a_dual_is_the_one_that_was_given() -> None:
    forward = torch.autograd.forward_ad
    tangent = torch.ones(2)
    with forward.dual_level():
        dual = forward.make_dual(torch.zeros(2), tangent)
        assert forward.unpack_dual(dual).tangent is tangent
        dual.mul_(3)
        same(forward.unpack_dual(dual).tangent, [3.0, 3.0])


def test_checks_draw_what_pytorch_draws() -> None:
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    torch.manual_seed(0)
    torch.autograd.gradgradcheck(torch.sin, (x,))
    same(torch.rand(1), [0.49009341])
