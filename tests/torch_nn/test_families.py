"""Grids, resampling, unpooling, alignments, lazy layers, parametrisations, optimisers: as PyTorch's."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import torch

CASES: list[tuple[str, Callable[[Any], list[Any]], float]] = []


def case(name: str, f: Callable[[Any], list[Any]], tolerance: float = 1e-4) -> None:
    CASES.append((name, f, tolerance))


def leaf(module: Any, values: Any) -> Any:
    return module.tensor(np.asarray(values, np.float32), requires_grad=True)


def with_gradients(module: Any, out: Any, leaves: list[Any]) -> list[Any]:
    (out * module.linspace(0.1, 1, out.numel()).reshape(out.shape)).sum().backward()
    return [out, *[x.grad for x in leaves]]


RNG = np.random.default_rng(0)
IMAGE, POINTS = RNG.normal(size=(2, 3, 5, 4)), RNG.uniform(-1.4, 1.4, size=(2, 6, 7, 2))
VOLUME, POINTS3 = RNG.normal(size=(1, 2, 3, 4, 5)), RNG.uniform(-1.4, 1.4, size=(1, 2, 3, 3, 3))
BYTES = RNG.integers(0, 255, size=(1, 2, 6, 5)).astype(np.uint8)
LOGITS = RNG.normal(size=(12, 3, 5))
LABELS, COUNTS = np.array([[1, 2, 2, 3], [4, 4, 1, 0], [2, 0, 0, 0]]), [4, 3, 1]


def grids(image: Any, points: Any, *options: Any) -> Callable[[Any], list[Any]]:
    def run(m: Any) -> list[Any]:
        x, g = leaf(m, image), leaf(m, points)
        return with_gradients(m, m.nn.functional.grid_sample(x, g, *options), [x, g])

    return run


for options in itertools.product(
    ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (True, False)
):
    case(f"grid {options}", grids(IMAGE, POINTS, *options))
    if options[0] != "bicubic":
        case(f"grid of a volume {options}", grids(VOLUME, POINTS3, *options))


def resampling(mode: str, align: bool, smooth: bool, sizes: dict[str, Any]) -> Callable[[Any], list[Any]]:
    def run(m: Any) -> list[Any]:
        x = leaf(m, IMAGE)
        out = m.nn.functional.interpolate(x, mode=mode, align_corners=align, antialias=smooth, **sizes)
        return with_gradients(m, out, [x])

    return run


SIZES: list[dict[str, Any]] = [
    {"size": (3, 2)},
    {"size": (9, 7)},
    {"scale_factor": 1.7},
    {"scale_factor": 0.6},
]
for mode, align, smooth, sizes in itertools.product(
    ("bicubic", "bilinear"), (True, False), (True, False), SIZES
):
    case(f"resampling {mode} {align} {smooth} {sizes}", resampling(mode, align, smooth, sizes))


def bytes_resampled(mode: str, smooth: bool) -> Callable[[Any], list[Any]]:
    def run(m: Any) -> list[Any]:
        return [m.nn.functional.interpolate(m.tensor(BYTES), size=(4, 9), mode=mode, antialias=smooth)]

    return run


for mode, smooth in itertools.product(("bicubic", "bilinear"), (True, False)):
    case(f"bytes {mode} {smooth}", bytes_resampled(mode, smooth), 1.0)


def affine(size: tuple[int, ...], align: bool) -> Callable[[Any], list[Any]]:
    def run(m: Any) -> list[Any]:
        count = len(size) - 2
        theta = leaf(m, np.arange(size[0] * count * (count + 1)).reshape(size[0], count, count + 1))
        return with_gradients(m, m.nn.functional.affine_grid(theta, size, align_corners=align), [theta])

    return run


for size, align in itertools.product(((2, 1, 3, 4), (1, 1, 3, 4, 1)), (True, False)):
    case(f"affine grid {size} {align}", affine(size, align))


def unpooled(count: int, shape: tuple[int, ...]) -> Callable[[Any], list[Any]]:
    def run(m: Any) -> list[Any]:
        x = leaf(m, np.arange(np.prod(shape)).reshape(shape) % 17)
        pooled, at = getattr(m.nn.functional, f"max_pool{count}d")(x, 2, return_indices=True)
        return with_gradients(m, getattr(m.nn, f"MaxUnpool{count}d")(2)(pooled, at), [x])

    return run


for count, shape in ((1, (2, 3, 8)), (2, (2, 3, 8, 6)), (3, (1, 2, 4, 4, 6))):
    case(f"unpooling {count}", unpooled(count, shape))


def alignment(reduction: str, zero: bool, joined: bool) -> Callable[[Any], list[Any]]:
    def run(m: Any) -> list[Any]:
        x = leaf(m, LOGITS)
        rows = np.concatenate([row[:n] for row, n in zip(LABELS, COUNTS, strict=True)]) if joined else LABELS
        loss = m.nn.CTCLoss(reduction=reduction, zero_infinity=zero)
        out = loss(x.log_softmax(2), m.tensor(rows), m.tensor([12, 10, 7]), m.tensor(COUNTS))
        return with_gradients(m, out, [x])

    return run


for reduction, zero, joined in itertools.product(("mean", "sum", "none"), (False, True), (False, True)):
    case(f"alignments {reduction} {zero} {joined}", alignment(reduction, zero, joined))


def impossible_alignments(m: Any) -> list[Any]:
    x = leaf(m, LOGITS)
    rows = m.tensor([[1, 1, 1, 1], [1, 2, 3, 4], [1, 0, 0, 0]])
    options = {"reduction": "none", "zero_infinity": True}
    out = m.nn.functional.ctc_loss(x.log_softmax(2), rows, (4, 12, 12), (4, 4, 0), **options)
    return with_gradients(m, out, [x])


def one_alignment(m: Any) -> list[Any]:
    x = leaf(m, LOGITS[:, 0])
    out = m.nn.functional.ctc_loss(x.log_softmax(1), m.tensor([1, 2]), m.tensor(12), m.tensor(2))
    return with_gradients(m, out, [x])


case("impossible alignments", impossible_alignments)
case("one alignment", one_alignment)


def margins(m: Any) -> list[Any]:
    x = leaf(m, np.sin(np.arange(12.0)).reshape(3, 4))
    targets = m.tensor([[0, 2, -1, 1], [3, -1, 0, 0], [1, 2, 3, 0]])
    loss = m.nn.MultiLabelMarginLoss()(x, targets)
    loss.backward()
    a, b, c = (leaf(m, np.sin(np.arange(6.0) * k).reshape(2, 3)) for k in (1, 2, 3))

    def distance(u: Any, v: Any) -> Any:
        return (u - v).abs().sum(1)

    triplets = m.nn.TripletMarginWithDistanceLoss(distance_function=distance, swap=True)(a, b, c)
    triplets.backward()
    rows = leaf(m, np.sin(np.arange(12.0)).reshape(4, 3))
    return [loss, x.grad, triplets, a.grad, c.grad, *with_gradients(m, m.pdist(rows), [rows])]


case("margins", margins)


def trained(name: str, options: dict[str, Any]) -> Callable[[Any], list[Any]]:
    def run(m: Any) -> list[Any]:
        w, b = leaf(m, np.arange(12.0).reshape(4, 3) % 5), leaf(m, np.ones(3))
        optimizer = getattr(m.optim, name)([w] if name == "Muon" else [w, b], **options)
        for _ in range(4):
            optimizer.zero_grad()
            ((w.sin() * m.arange(3.0)).sum() + (b**3).sum()).backward()
            optimizer.step()
        states = [v for state in optimizer.state.values() for v in state.values() if hasattr(v, "detach")]
        return [w, b, *([] if name == "Muon" else states)]

    return run


case("ASGD", trained("ASGD", {}))
case("ASGD averaging", trained("ASGD", {"t0": 2, "weight_decay": 0.1, "lambd": 0.1}))
case("Adafactor", trained("Adafactor", {}))
case("Adafactor decaying", trained("Adafactor", {"weight_decay": 0.1, "lr": 0.3, "maximize": True}))
for choice in ({}, {"nesterov": False}, {"adjust_lr_fn": "match_rms_adamw"}):
    # PyTorch makes matrices orthogonal in bfloat16.
    case(f"Muon {choice}", trained("Muon", choice), 5e-4)


def lazy(m: Any) -> list[Any]:
    net = m.nn.Sequential(
        m.nn.LazyConv2d(4, 3),
        m.nn.LazyBatchNorm2d(),
        m.nn.ReLU(),
        m.nn.Flatten(),
        m.nn.LazyLinear(2, bias=False),
    )
    parameters = list(net.parameters())
    optimizer = m.optim.SGD(parameters, lr=0.1)
    out = net(m.arange(216.0).sin().reshape(2, 3, 6, 6))
    before = parameters[-1].detach().clone()
    out.sum().backward()
    optimizer.step()
    return [
        *[tuple(p.shape) for p in parameters],
        [type(layer).__name__ for layer in net],
        list(net.state_dict()),
        all(p is q for p, q in zip(parameters, net.parameters(), strict=True)),
        bool((before != parameters[-1]).any()),
        tuple(m.nn.LazyBatchNorm1d()(m.ones(4, 5)).shape),
        [name for name, _ in m.nn.LazyInstanceNorm1d().named_parameters()],
    ]


case("lazy layers", lazy)


def parametrised(m: Any) -> list[Any]:
    parametrize = m.nn.utils.parametrize

    class Symmetric(m.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any) -> Any:
            return x.triu() + x.triu(1).transpose(-1, -2)

        def right_inverse(self, x: Any) -> Any:
            return x.triu()

    layer = m.nn.Linear(3, 3)
    layer.weight.data.copy_(m.arange(9.0).reshape(3, 3))
    layer.bias.data.zero_()
    parametrize.register_parametrization(layer, "weight", Symmetric())
    out = [layer.weight.detach(), layer.parametrizations.weight.original.detach().clone()]
    out += [list(layer.state_dict()), type(layer).__name__, parametrize.is_parametrized(layer, "weight")]
    layer(m.ones(2, 3)).sum().backward()
    out.append(layer.parametrizations.weight.original.grad)
    with parametrize.cached():
        out.append(layer.weight is layer.weight)
    layer.weight = m.eye(3) * 2
    parametrize.remove_parametrizations(layer, "weight")
    return [*out, layer.weight, type(layer).__name__, [name for name, _ in layer.named_parameters()]]


case("parametrisations", parametrised)


def spectral(is_old: bool) -> Callable[[Any], list[Any]]:
    def run(m: Any) -> list[Any]:
        layer = m.nn.Linear(4, 3)
        layer.weight.data.copy_(m.arange(12.0).reshape(3, 4))
        layer.bias.data.zero_()
        (m.nn.utils if is_old else m.nn.utils.parametrizations).spectral_norm(layer)
        found = layer if is_old else layer.parametrizations.weight[0]
        u, v = (found.weight_u, found.weight_v) if is_old else (found._u, found._v)
        u.copy_(m.ones(3) / 3**0.5)
        v.copy_(m.ones(4) / 2)
        outs = [layer(m.ones(2, 4)) for _ in range(2)]
        sum((y * y).sum() for y in outs).backward()
        layer.eval()
        outs.append(layer(m.ones(2, 4)))
        original = layer.weight_orig if is_old else layer.parametrizations.weight.original
        outs += [original.grad, sorted(layer.state_dict())]
        if is_old:
            m.nn.utils.remove_spectral_norm(layer)
            outs += [layer.weight, sorted(layer.state_dict())]
        return outs

    return run


case("spectral norm", spectral(False))
case("spectral norm by a hook", spectral(True))


def normalised(m: Any) -> list[Any]:
    layer = m.nn.utils.parametrizations.weight_norm(m.nn.Linear(3, 2))
    lengths, directions = layer.parametrizations.weight.original0, layer.parametrizations.weight.original1
    lengths.data.copy_(m.ones(2, 1) * 2)
    directions.data.copy_(m.arange(6.0).reshape(2, 3))
    layer.bias.data.zero_()
    out = layer(m.ones(1, 3))
    out.sum().backward()
    return [out, lengths.grad, directions.grad, list(layer.state_dict())]


case("weight norm", normalised)


@pytest.mark.peers("torch")
@pytest.mark.parametrize(("f", "tolerance"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_as_pytorch(f: Callable[[Any], list[Any]], tolerance: float) -> None:
    import torch as pytorch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's of features that are new, or old
        expected = f(pytorch)
        found = f(torch)
    assert len(expected) == len(found)
    for a, b in zip(expected, found, strict=True):
        if not hasattr(a, "detach"):
            assert a == b
            continue
        a, b = a.detach().numpy(), b.detach().numpy()  # noqa: PLW2901 - as arrays
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a.astype(float), b.astype(float), rtol=1e-3, atol=tolerance)


def test_sampling_at_the_elements_is_the_image() -> None:
    image = torch.arange(6.0).reshape(1, 1, 2, 3)
    grid = torch.nn.functional.affine_grid(torch.eye(2, 3)[None], (1, 1, 2, 3), align_corners=True)
    found = torch.nn.functional.grid_sample(image, grid, align_corners=True)
    np.testing.assert_allclose(found, image, atol=1e-6)


def test_orthogonal_weights_stay_orthogonal() -> None:
    for shape in ((3, 3), (4, 2), (2, 4)):
        layer = torch.nn.utils.parametrizations.orthogonal(torch.nn.Linear(shape[1], shape[0]))
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
        first = layer.weight.detach().clone()
        for _ in range(3):
            optimizer.zero_grad()
            layer(torch.ones(2, shape[1])).sin().sum().backward()
            optimizer.step()
        weight = layer.weight.detach()
        product = weight @ weight.T if shape[0] <= shape[1] else weight.T @ weight
        np.testing.assert_allclose(product, np.eye(min(shape)), atol=1e-5)
        assert (weight - first).abs().max() > 1e-3


def test_sums_over_all_alignments_by_hand() -> None:
    p = torch.tensor([[0.6, 0.4], [0.3, 0.7]])
    loss = torch.nn.functional.ctc_loss(p.log()[:, None], torch.tensor([[1]]), [2], [1], reduction="none")
    np.testing.assert_allclose(loss, [-np.log(0.6 * 0.7 + 0.4 * 0.3 + 0.4 * 0.7)], rtol=1e-6)


@pytest.mark.parametrize("name", ["SGD", "AdamW", "Adafactor"])
def test_steps_are_refused_where_they_would_be_recorded(name: str) -> None:
    net = torch.nn.Linear(3, 2)
    optimizer = getattr(torch.optim, name)(net.parameters(), lr=0.1)

    def step(x: Any) -> Any:
        optimizer.zero_grad()
        loss = net(torch.as_tensor(x)).pow(2).sum()
        loss.backward()
        optimizer.step()
        return loss._value

    with pytest.raises(NotImplementedError, match=r"call step\(\) outside of it"):
        fg.jit(step)(np.ones((4, 3), np.float32))


def test_dense_gradients_are_refused_by_name() -> None:
    w = torch.ones(2, requires_grad=True)
    w.sum().backward()
    with pytest.raises(RuntimeError, match="does not support dense gradients"):
        torch.optim.SparseAdam([w]).step()


def test_large_arrays_run_as_programs_with_the_same_numbers() -> None:
    torch.manual_seed(0)
    small = torch.randn(8, 64)
    large = small.repeat(64, 1)
    layer = torch.nn.LayerNorm(64)
    for function in (torch.nn.functional.gelu, layer, lambda x: x.softmax(-1)):
        want = function(small)
        for _ in range(3):
            x = large.clone().requires_grad_()
            found = function(x)
            found.sum().backward()
            np.testing.assert_allclose(found[-8:].detach(), want.detach(), rtol=2e-6, atol=1e-6)
            assert x.grad.shape == x.shape
        jitted = fg.jit(lambda x, f=function: f(torch.as_tensor(x))._value)
        np.testing.assert_allclose(jitted(large.numpy())[:8], want.detach(), rtol=2e-6, atol=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_hooks_of_all_modules_come_first_and_go() -> None:
    modules = torch.nn.modules.module
    seen: list[str] = []
    layer = torch.nn.Linear(2, 1)
    layer.register_forward_hook(lambda module, args, out: seen.append("own"))
    x = torch.ones(1, 2, requires_grad=True)
    handles = [
        modules.register_module_forward_pre_hook(lambda module, args: seen.append("before")),
        modules.register_module_forward_hook(lambda module, args, out: seen.append("after")),
        modules.register_module_full_backward_pre_hook(lambda module, g: seen.append("back")),
        modules.register_module_full_backward_hook(lambda module, gi, go: seen.append("done")),
    ]
    out = layer(x)
    assert type(out.grad_fn).__name__ == "BackwardHookFunctionBackward"
    out.sum().backward()
    assert seen == ["before", "after", "own", "back", "done"]
    for handle in handles:
        handle.remove()
    layer(x).sum().backward()
    assert seen[5:] == ["own"]


def test_a_level_moves_its_quantile() -> None:
    x = torch.tensor([[1.0, 4.0, 2.0], [5.0, 3.0, 9.0]])
    q = torch.tensor([0.3, 0.5], requires_grad=True)
    torch.quantile(x, q, dim=1).mul(torch.tensor([[1.0, 10.0], [100.0, 1000.0]])).sum().backward()
    # As in PyTorch, at an element it does not move.
    np.testing.assert_allclose(q.grad, [42.0, 0.0], rtol=1e-6)


def test_results_of_vmap_are_tensors() -> None:
    with pytest.raises(ValueError, match="must only return Tensors, got type <class 'int'>"):
        torch.vmap(lambda x: (x, 1))(torch.ones(2))
