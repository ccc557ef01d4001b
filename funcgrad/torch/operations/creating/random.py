"""Random tensors, from generators that can be seeded."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import Op
from funcgrad.torch.core.dtypes import TYPE_NAMES, numpy_dtype
from funcgrad.torch.core.errors import broadcast_error
from funcgrad.torch.core.layout import filled_as, laid_as
from funcgrad.torch.core.meta import is_meta, is_shape_only, meta_array, on_meta
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import MODES, SETTINGS
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.operations.creating.data import device_like, device_of, finished, made_on, shape_of
from funcgrad.torch.operations.creating.sequences import Words
from funcgrad.torch.operations.pointwise.arithmetic import tensor_beside
from funcgrad.torch.operations.registry import FUNCTIONS, published
from funcgrad.torch.operations.requiring import require_kinds
from funcgrad.types import Anything, Array, Device, DTypeLike, Number, ShapeLike

_SEEDS = range(-(1 << 63), 1 << 64)
_STATE = np.dtype(
    [
        ("seed", "<u8"),
        ("left", "<i4"),
        ("seeded", "<i4"),
        ("next", "<u8"),
        ("words", "<u8", 624),
        ("normal", "<f8", 3),
        ("has_normal", "<i8"),
        ("single", "<i8"),
    ]
)
"""What PyTorch's `get_rng_state` gives, byte by byte."""

_ALL_HALVES = 2049
"""Half precision holds all integers up to here but the last, as PyTorch counts."""


def _seed_of(seed: int) -> int:
    found = int(seed)
    if found not in _SEEDS:
        raise ValueError("Overflow when unpacking long long")
    return found % (1 << 64)


@published()
class Generator:
    """A source of random numbers: from a seed those that PyTorch's generator of the CPU gives.

    >>> fg.torch.Generator().manual_seed(0).initial_seed()
    0
    """

    __module__ = "funcgrad.torch"
    __slots__ = ("_bits", "_seed")

    def __init__(self, device: Device = "cpu") -> None:
        if device_of(device) == "meta":
            raise RuntimeError("META device type not an accelerator.")
        self._seed = 67280421310721
        self._bits = Words(self._seed)

    @property
    def bits(self) -> Words:
        """The words behind the numbers; RuntimeError where random numbers are refused."""
        if MODES.random_refused:
            raise RuntimeError(
                "vmap: called random operation while in randomness error mode. Please either use the 'same' "
                "or 'different' randomness flags on vmap or perform the randomness operation out of vmap"
            )
        return self._bits

    @property
    def device(self) -> Device:
        """The CPU."""
        return FUNCTIONS["device"]("cpu")

    def manual_seed(self, seed: int) -> Generator:
        """Start the sequence that belongs to a seed."""
        self._seed = _seed_of(seed)
        self._bits = Words(self._seed)
        return self

    def initial_seed(self) -> int:
        """The seed."""
        return self._seed

    def seed(self) -> int:
        """Take a seed from the system; returns it."""
        return self.manual_seed(int.from_bytes(os.urandom(7), "little"))._seed

    def get_state(self) -> Tensor:
        """The state of the sequence, as the bytes that PyTorch makes of it."""
        key, position, kept = self._bits.state
        found = np.zeros((), _STATE)
        found["seed"], found["left"], found["seeded"] = self._seed, max(1, 625 - position), 1
        found["next"], found["words"] = position if self._bits.drawn else 0, key
        if kept is not None:
            found["normal"][1], found["has_normal"] = kept, 1
        return wrap(np.frombuffer(found.tobytes(), np.uint8).copy())

    def set_state(self, new_state: Tensor) -> Generator:
        """Continue from a state."""
        if new_state._value.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        data = np.ascontiguousarray(new_state._value).tobytes()
        if len(data) != _STATE.itemsize:
            raise RuntimeError(
                f"Expected either a CPUGeneratorImplStateLegacy of size {_STATE.itemsize - 8} or a "
                f"CPUGeneratorImplState of size {_STATE.itemsize} but found the input RNG state size to be "
                f"{len(data)}"
            )
        found = np.frombuffer(data, _STATE)[0]
        left, following = int(found["left"]), int(found["next"])
        position = 624 if left == 1 else following
        kept = float(found["normal"][1]) if found["has_normal"] else None
        self._seed = int(found["seed"])
        self._bits.drawn = following > 0
        self._bits.state = np.asarray(found["words"], np.uint32), position, kept
        return self

    def clone_state(self) -> Generator:
        """A generator in the same state."""
        return Generator().set_state(self.get_state())

    def __getstate__(self) -> Tensor:
        return self.get_state()

    def __setstate__(self, state: Tensor) -> None:
        Generator.__init__(self)
        self.set_state(state)


default_generator = Generator()


def generator_of(generator: Generator | None) -> Words:
    """The words behind a `Generator`, or the default one's."""
    return (generator or default_generator).bits


@published()
def manual_seed(seed: int) -> Generator:
    """Start the default sequence that belongs to a seed: PyTorch's numbers for it."""
    return default_generator.manual_seed(seed)


@published()
def initial_seed() -> int:
    """The seed of the default sequence."""
    return default_generator.initial_seed()


def has_any(wrong: Array) -> bool:
    """Whether an element is true; none is known to be where there are no values."""
    return not is_shape_only(wrong) and bool(wrong.any())


def _uniform(rng: Words, shape: ShapeLike, dtype: DTypeLike) -> Array:
    return rng.uniform(shape, dtype)


def _normal(rng: Words, shape: ShapeLike, dtype: DTypeLike) -> Array:
    return rng.normal(shape, dtype)


def _sampler(name: str, draw: Callable[..., Any]) -> None:
    def sampled(
        *size: ShapeLike,
        generator: Anything = None,
        dtype: DTypeLike = None,
        requires_grad: bool = False,
        **options: Anything,
    ) -> Tensor:
        if "size" in options:
            size = (options.pop("size"),)
        wanted = SETTINGS.default_dtype if dtype is None else numpy_dtype(dtype)
        require_floating(name, wanted)
        made = made_on(
            options.get("device"), lambda s, d: draw(generator_of(generator), s, d), shape_of(size), wanted
        )
        return finished(made, requires_grad, called=name, **options)

    def like(
        input: Tensor, *, dtype: DTypeLike = None, requires_grad: bool = False, **options: Anything
    ) -> Tensor:
        wanted = input._value.dtype if dtype is None else numpy_dtype(dtype)
        require_floating(name, wanted)
        generator = options.pop("generator", None)
        options["device"] = device_like(input, options)
        rng, value = generator_of(generator), input._value
        if options["device"] == "meta":
            drawn = meta_array(value.shape, wanted)
        elif name == "randn" and _lies_in_pairs(value):
            drawn = filled_as(value, lambda shape: rng.normal(shape, wanted, contiguous=False))
        else:
            drawn = filled_as(value, lambda shape: draw(rng, shape, wanted))
        return finished(laid_as(drawn, value), requires_grad, called=f"{name}_like", **options)

    sampled.__name__ = sampled.__qualname__ = name
    FUNCTIONS[name], FUNCTIONS[f"{name}_like"] = sampled, like


def _lies_in_pairs(value: Array) -> bool:
    """Whether PyTorch draws normal numbers in pairs, as for all that does not lie in rows."""
    return type(value) is np.ndarray and not value.flags.c_contiguous and 0 not in value.strides


def require_floating(name: str, dtype: DTypeLike) -> None:
    """Raise NotImplementedError for a dtype that holds no fractions."""
    if dtype.kind in "iub":
        kernel = "check_uniform_bounds" if name == "rand" else "normal_kernel_cpu"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{TYPE_NAMES[dtype.name]}'")


_sampler("rand", _uniform)
_sampler("randn", _normal)


@published()
def randint(
    low: int = 0,
    high: Number = None,
    size: ShapeLike = None,
    *,
    generator: Generator | None = None,
    dtype: DTypeLike = None,
    requires_grad: bool = False,
    **options: object,
) -> Tensor:
    """Random integers from `low` (0 if left out) to below `high`."""
    if size is None and not isinstance(high, int):
        low, high, size = 0, low, high
    if size is None:
        raise TypeError('randint() missing 1 required positional arguments: "size"')
    if high <= low:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    wanted = np.dtype(np.int64) if dtype is None else numpy_dtype(dtype)
    drawn = made_on(
        options.get("device"),
        lambda shape, dtype: generator_of(generator).integers(int(low), int(high), shape).astype(dtype),
        tuple(size),
        wanted,
    )
    return finished(drawn, requires_grad, called="randint", **options)


@published()
def randint_like(
    input: Tensor, low: int, high: Number = None, *, dtype: DTypeLike = None, **options: Anything
) -> Tensor:
    """Random integers in the shape of another tensor."""
    if high is None:
        low, high = 0, low
    kind = input.dtype if dtype is None else dtype
    options["device"] = device_like(input, options)
    if type(input._value) is not np.ndarray or options["device"] == "meta":
        return randint(low, high, input._value.shape, dtype=kind, **options)
    drawn = filled_as(input._value, lambda shape: randint(low, high, shape, dtype=kind)._value)
    return finished(laid_as(drawn, input._value), called="randint_like", **options)


@published()
def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    dtype: DTypeLike = None,
    requires_grad: bool = False,
    **options: object,
) -> Tensor:
    """The integers below `n` in random order."""
    if isinstance(n, float):
        raise TypeError("randperm(): argument 'n' (position 1) must be int, not float")
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    wanted = np.dtype(np.int64) if dtype is None else numpy_dtype(dtype)
    if wanted.kind in "iu" and n > np.iinfo(wanted).max:
        raise RuntimeError(f"value cannot be converted to type {wanted.name}_t without overflow")
    if wanted == np.float16 and n > _ALL_HALVES:
        raise RuntimeError(f"n cannot be greater than {_ALL_HALVES} for Half type.")
    order = made_on(
        options.get("device"),
        lambda shape, dtype: generator_of(generator).permutation(*shape).astype(dtype),
        (n,),
        wanted,
    )
    return finished(order, requires_grad, called="randperm", **options)


@published()
def normal(
    mean: Operand,
    std: Operand = 1.0,
    size: ShapeLike = None,
    *,
    generator: Generator | None = None,
    **options: Anything,
) -> Tensor:
    """Normally distributed numbers of these means and standard deviations."""
    if isinstance(std, Tensor) and std._value.dtype.kind == "f" and has_any(std._value < 0):
        raise RuntimeError("normal expects all elements of std >= 0.0")
    if not isinstance(std, Tensor) and std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    if size is not None:
        dtype = options.pop("dtype", None)
        wanted = SETTINGS.default_dtype if dtype is None else numpy_dtype(dtype)
        drawn = made_on(
            options.get("device"), lambda s, d: _normal(generator_of(generator), s, d), tuple(size), wanted
        )
        return finished((drawn * std + mean).astype(wanted), called="normal", **options)
    m, s = tensor_beside(mean, std)._value, tensor_beside(std, mean)._value
    try:
        shape = np.broadcast_shapes(m.shape, s.shape)
    except ValueError as error:
        raise broadcast_error(m, s, error) from None
    dtype = m.dtype if isinstance(mean, Tensor) else s.dtype
    require_floating("normal", dtype)
    device = "meta" if is_shape_only(m) or is_shape_only(s) else "cpu"
    drawn = made_on(device, lambda s, d: _normal(generator_of(generator), s, d), shape, dtype)
    return finished((m + s * drawn).astype(dtype), device=device)


def require_chances(chance: Array) -> None:
    """Raise RuntimeError for what is no probability."""
    if has_any((chance < 0) | (chance > 1)):
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be "
            "improved?  If so, please report an enhancement request to PyTorch.)"
        )


def _drawn(name: str, input: Tensor, value: Array) -> Tensor:
    """What was drawn by a tensor, through which a gradient of zeros flows to it, as PyTorch's does."""
    found = wrap(value.astype(input._value.dtype))
    if MODES.grad and input._rg and found._value.dtype.kind in "fc":
        return apply(_of_draws(name), (input, found))  # type: ignore[no-any-return]
    return found


def without_history(name: str) -> Op:
    """What takes drawn numbers in place of a tensor with a history, so that no gradient goes on."""

    def filled(x: Anything, value: Anything) -> Anything:
        return value.astype(x.dtype) + np.zeros((), x.dtype)

    return Op(name, filled, visible=1)


@cache
def _of_draws(name: str) -> Op:
    return without_history(name)


def hit(rng: Words, shape: ShapeLike, chance: Array) -> Array:
    """Where a uniform number is below a chance: of 24 bits for chances in single precision, else of 53."""
    if is_shape_only(chance):
        return chance < 1
    wanted = np.asarray(chance).dtype
    return rng.uniform(shape, np.dtype(np.float64 if wanted == np.float64 else np.float32)) < chance


@published()
def bernoulli(input: Tensor, p: Number = None, *, generator: Generator | None = None) -> Tensor:
    """Zeros and ones, with the elements as probabilities."""
    if p is None:
        require_kinds("bernoulli", input)
    chance = input._value if p is None else np.float64(p)
    require_chances(chance)
    hits = hit(generator_of(generator), input._value.shape, chance)
    return _drawn("BernoulliBackward0" if p is None else "BernoulliBackward2", input, hits)


@published()
def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """Indices drawn with the elements of each row as weights."""
    if input._value.dtype.kind != "f":
        kind = TYPE_NAMES[input._value.dtype.name]
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {kind}")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if is_meta(input):
        return wrap(meta_array((*input._value.shape[:-1], num_samples), np.int64))
    rng = generator_of(generator)
    rows = np.atleast_2d(np.asarray(input._value, np.float64))
    if not replacement and num_samples > rows.shape[1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if not np.isfinite(rows).all() or (rows < 0).any():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if (rows.sum(1) <= 0).any():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if replacement and num_samples > 1:
        value = rng.chosen(np.atleast_2d(input._value), num_samples)
    else:  # The largest of the weights over exponentially distributed numbers.
        waits = rng.exponential(1.0, rows.shape).astype(input._value.dtype)
        order = np.argsort(-(np.atleast_2d(input._value) / waits), axis=1, kind="stable")
        value = order[:, :num_samples].astype(np.int64)
    return wrap(value[0] if len(input._value.shape) == 1 else value)


@published()
def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Poisson distributed numbers with the elements as rates."""
    require_kinds("poisson", input)
    if is_meta(input):
        return wrap(on_meta(input._value))
    if (input._value < 0).any():
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    return _drawn(
        "PoissonBackward0", input, generator_of(generator).poisson(np.asarray(input._value, np.float64))
    )


@published()
def seed() -> int:
    """Seed the default sequence from the system."""
    return default_generator.seed()


@published()
def get_rng_state() -> Tensor:
    """The state of the default sequence."""
    return default_generator.get_state()


@published()
def set_rng_state(new_state: Tensor) -> None:
    """Continue the default sequence from a state."""
    default_generator.set_state(new_state)


FUNCTIONS["default_generator"] = default_generator  # type: ignore[assignment]
for _function in (bernoulli, multinomial):
    setattr(Tensor, _function.__name__, _function)
