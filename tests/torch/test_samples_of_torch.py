"""PyTorch's own samples of its operations: values, gradients and refusals in both.

Every twentieth operation; with ``STRIDE = 1`` and more of their samples, all of them (a minute).
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from funcgrad import torch as ours

pytestmark = [
    pytest.mark.peers("torch"),
    # What PyTorch deprecates or warns of is among its own samples.
    pytest.mark.filterwarnings("ignore"),
]

RANDOM = [
    "bernoulli",
    "multinomial",
    "normal",
    "rand_like",
    "randint_like",
    "randn",
    "randn_like",
    "svd_lowrank",
    "pca_lowrank",
    "empty_like",
    "new_empty",
    "empty",
    "empty_strided",
    "new_empty_strided",
    "nn.functional.alpha_dropout",
    "nn.functional.dropout",
    "nn.functional.dropout2d",
    "nn.functional.dropout3d",
    "nn.functional.feature_alpha_dropout",
    "nn.functional.rrelu",
    "nn.functional.fractional_max_pool2d",
    "nn.functional.fractional_max_pool3d",
    "randint",
    "nn.functional.gumbel_softmax",
    "nn.functional.multi_head_attention_forward",
    "nn.functional.scaled_dot_product_attention",
]
"""What draws numbers, from another sequence than PyTorch's, or holds whatever was in memory."""

LEFT_OUT = (
    "linalg.eig",
    "linalg.eigh",
    "linalg.svd",
    "svd",
    "nn.functional.triplet_margin_with_distance_loss",
)
"""What is defined up to factors, on which the sums below would depend, and what takes PyTorch's functions."""

DIFFERENT = {
    "as_strided partial_views": "an array that is part of another is all the memory that a tensor knows of",
    "as_strided_scatter": "PyTorch gives a gradient to what was written over",
    "nn.functional.max_unpool1d": "PyTorch gives a gradient to what was written over",
    "nn.functional.max_unpool2d": "PyTorch gives a gradient to what was written over",
    "nn.functional.max_unpool3d": "PyTorch gives a gradient to what was written over",
    "norm": "of order 0: zeros for PyTorch's None",
    "linalg.norm subgradients_at_zero": "of order 0: zeros for PyTorch's None",
    "linalg.matrix_power": "a power of 0 is constant here",
    "linalg.pinv hermitian": "PyTorch's samples are not Hermitian, and its gradient reads both triangles",
    "special.bessel_j0": "PyTorch's is good to seven digits",
    "special.bessel_y1": "PyTorch's is good to seven digits",
}
"""Where ours is meant to differ in these samples, and why."""

SAMPLES = 2
STRIDE = 20
ALLOWED = {
    "__rand__": "a method of the number's, not of a tensor's",
    "__ror__": "a method of the number's, not of a tensor's",
    "__rxor__": "a method of the number's, not of a tensor's",
}
"""What is taken where PyTorch refuses its error samples, and why."""

UNLIKE = ("overlap", "memory", "resizable", "sparse", "cuda", "meta", "quantized", "deterministic")
"""Words of refusals that speak of memory which `translated` copies, and of other devices and layouts."""


def chosen() -> Iterator[Any]:
    """The operations that are functions of a public name in both libraries, once for each kind of samples."""
    theirs = importlib.import_module("torch")
    database = importlib.import_module("torch.testing._internal.common_methods_invocations").op_db
    for op in database:
        if op.name in (*RANDOM, *LEFT_OUT) or theirs.float64 not in op.supported_dtypes("cpu"):
            continue
        if op.op is found(theirs, op.name) and found(ours, op.name) is not None:
            yield op


def found(module: Any, path: str) -> Any:
    """The attribute at a path, None where there is none."""
    for name in path.split("."):
        module = getattr(module, name, None)
    return module


def translated(x: Any) -> Any:
    """An argument of PyTorch's as one of ours, in the same order of memory."""
    kind = type(x).__name__
    if kind == "Tensor":
        t = ours.from_numpy(np.array(x.detach().resolve_conj().resolve_neg().numpy(), order="K"))
        return t.requires_grad_() if x.requires_grad else t
    if kind in ("dtype", "memory_format", "layout"):
        return getattr(ours, str(x).removeprefix("torch."))
    if kind == "device":
        return ours.device(str(x))
    if isinstance(x, dict):
        return {name: translated(v) for name, v in x.items()}
    return type(x)(map(translated, x)) if type(x) in (list, tuple) else x


def tensors(x: Any) -> list[Any]:
    """The tensors in an argument or a result, in order."""
    if hasattr(x, "requires_grad"):
        return [x]
    parts = x.values() if isinstance(x, dict) else x if isinstance(x, list | tuple) else ()
    return [t for part in parts for t in tensors(part)]


def ran(torch: Any, function: Any, args: Any, kwargs: Any) -> tuple[list[Any], list[Any]]:
    """The tensors that a function returns, and the gradients of a fixed sum of them."""
    outs = tensors(function(*args, **kwargs))
    leaves = [t for t in tensors((args, kwargs)) if t.requires_grad]
    reached = [t for t in outs if t.requires_grad]
    if not reached or not leaves:
        return outs, []
    weights = [np.cos(np.arange(t.numel())).reshape(tuple(t.shape)) for t in reached]
    given = [torch.from_numpy(w).to(t.dtype) for w, t in zip(weights, reached, strict=True)]
    return outs, list(torch.autograd.grad(reached, leaves, given, allow_unused=True))


def accepted(theirs: Any, op: Any, sample: Any) -> str | None:
    """The words in which PyTorch refuses a sample that we take; None where both do the same."""
    args, kwargs = (sample.input, *sample.args), dict(sample.kwargs)
    try:
        op.op(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - whatever it is, PyTorch refuses
        words = str(error)
    else:
        return None
    if any(word in words for word in UNLIKE):
        return None
    try:
        given, named = translated(args), translated(kwargs)
    except (AttributeError, TypeError, RuntimeError, ValueError):
        return None  # A dtype, a device or a rank that is not here is refused already.
    try:
        found(ours, op.name)(*given, **named)
    except Exception:  # noqa: BLE001 - in other words, perhaps
        return None
    return words


def difference(theirs: Any, op: Any, sample: Any) -> str | None:
    """How ours differs in one sample; None where it does not."""
    args, kwargs = (sample.input, *sample.args), dict(sample.kwargs)
    wanted = ran(theirs, op.op, args, kwargs)
    try:
        got = ran(ours, found(ours, op.name), translated(args), translated(kwargs))
    except Exception as error:  # noqa: BLE001 - whatever it is, PyTorch computes
        return f"{type(error).__name__}: {error}"
    for word, expected, given in zip(("value", "gradient"), wanted, got, strict=True):
        if len(expected) != len(given):
            return f"{len(given)} of the {word}s for {len(expected)}"
        for a, b in zip(expected, given, strict=True):
            if a is None or b is None:
                if a is not b:
                    return f"{word} {b} for {a}"
                continue
            if str(a.dtype) != str(b.dtype) or tuple(a.shape) != tuple(b.shape):
                return f"{word}: {b.dtype} {tuple(b.shape)} for {a.dtype} {tuple(a.shape)}"
            x, y = a.detach().resolve_conj().resolve_neg().numpy(force=True), np.asarray(b.detach())
            if not np.allclose(y, x, rtol=1e-7, atol=1e-8, equal_nan=True):
                return f"{word} differs"
    return None


def test_samples_of_pytorch() -> None:
    pytest.importorskip("expecttest")
    theirs = importlib.import_module("torch")
    seen: set[str] = set()
    differing: dict[str, str] = {}
    taken: dict[str, str] = {}
    for op in itertools.islice(chosen(), 0, None, STRIDE):
        theirs.manual_seed(0)
        name = f"{op.name} {op.variant_test_name}".strip()
        seen.add(name)
        samples = op.sample_inputs("cpu", theirs.float64, requires_grad=op.supports_autograd)
        for sample in itertools.islice(samples, SAMPLES):
            how = difference(theirs, op, sample)
            if how is not None:
                differing.setdefault(name, how)
        for refused in op.error_inputs("cpu") if op.error_inputs_func is not None else ():
            words = accepted(theirs, op, refused.sample_input)
            if words is not None:
                taken.setdefault(name, words)
    assert len(seen) > 400 // STRIDE
    assert differing.keys() == DIFFERENT.keys() & seen, "\n".join(f"{k}: {v}" for k, v in differing.items())
    assert taken.keys() == ALLOWED.keys() & seen, "\n".join(f"{k}: {v}" for k, v in taken.items())
