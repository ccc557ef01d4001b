"""`vmap` of functions of tensors, by `funcgrad.vmap`; one element after another where that cannot be.

Leaves that the function closes over are inputs of what is recorded. What cannot be recorded with its history
(a `Function` with a rule of its own, a captured tensor that was computed) runs for each element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import funcgrad as fg
from funcgrad.extend import Tracer
from funcgrad.torch.autograd.function import Function
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.engine import nodes_behind
from funcgrad.torch.core.backward.history import Op
from funcgrad.torch.core.nested import Fixed, put_back, taken_out
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import MODES, SEQUENCE
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.operations.creating.random import default_generator
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.types import Anything, Array, Arrays, AxisLike, Result, Tree

__all__ = ["VmapInfo", "vmap"]


class VmapInfo(NamedTuple):
    """What a `Function`'s rule for `vmap` is told."""

    batch_size: int
    randomness: str


class _OneByOne(Exception):
    """What runs cannot be recorded for all elements at once."""


class _Mapping:
    """A `vmap` whose function runs."""

    __slots__ = ("asks", "outer", "refused")

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self.outer = MODES.mapping
        self.asks = MODES.grad and any(t._rg for t in tensors)
        """Whether somebody may ask for the derivative of the whole."""
        if self.outer is not None:
            self.asks = self.asks or self.outer.asks
        self.refused = False

    @contextmanager
    def running(self) -> Iterator[None]:
        """Inside, functions of the user's meet this one."""
        before, MODES.mapping = MODES.mapping, self
        try:
            yield
        finally:
            MODES.mapping = before

    def meet(self, function: type[Function], remembering: bool) -> None:
        """Give up for a function whose own rule, or whose backward in a history, would be lost."""
        require_one_rule(function)
        if function.vmap is not Function.vmap or (remembering and self.asks):
            self.give_up()

    def give_up(self) -> None:
        """Let every element be computed by itself."""
        self.refused = True
        raise _OneByOne("computed one element after another")


class _Captured:
    """The leaves that a mapped function closes over: traced while it runs, as further inputs."""

    __slots__ = ("leaves",)

    def __init__(self) -> None:
        self.leaves: list[Tensor] = []

    def find(self, outs: Sequence[Tensor], start: int, mapping: _Mapping) -> bool:
        """Note the leaves that results have a history of; whether there are any."""
        known = {id(t) for t in self.leaves}
        found = [t for t in outs if t._rg and t._node is None]
        for node in nodes_behind([t._node for t in outs if t._rg and t._node is not None]):
            if node.seq < start:
                mapping.give_up()
            found += [e for e in node.edges if isinstance(e, Tensor)]
        for t in found:
            if type(t._value) is not Tracer and id(t) not in known:
                known.add(id(t))
                self.leaves.append(t)
        return bool(found)

    @contextmanager
    def standing_for(self, arrays: Sequence[Any]) -> Iterator[None]:
        """Inside, the leaves hold these arrays and have no history of their own."""
        before = [(t, t._value, t._rg) for t in self.leaves]
        for t, x in zip(self.leaves, arrays, strict=True):
            t._value, t._rg = x, False
        try:
            yield
        finally:
            for t, value, rg in before:
                t._value, t._rg = value, rg


def vmap(
    func: Callable[..., Any],
    in_dims: Tree = 0,
    out_dims: Tree = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that maps `func` over a dimension of its arguments, by `funcgrad.vmap`.

    With ``randomness="different"`` the function is called once for every element. Without `randomness`,
    RuntimeError for a function that draws random numbers. ``F.apply`` of a `Function` with a `vmap` of its
    own is computed by that rule; inside of another function such a `Function` is called for every element.
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
        )
    name = getattr(func, "__name__", repr(func))

    def mapped(*args: Operand, **kwargs: Anything) -> Result:
        tensors: list[Tensor] = []
        shape = taken_out(args, tensors)
        dims = _dims(in_dims, args, name)
        _check_dims(tensors, dims, f"vmap({name}, in_dims={in_dims}, ...)(<inputs>)")
        function = getattr(func, "__self__", None)
        if isinstance(function, type) and issubclass(function, Function) and name == "apply" and not kwargs:
            require_one_rule(function)
            if function.vmap is not Function.vmap:
                return _by_rule(function, args, in_dims, out_dims, randomness)
        if randomness == "different":
            return _one_by_one(func, shape, tensors, dims, out_dims, kwargs, randomness)
        mapping = _Mapping(tensors)
        try:
            return _at_once(func, shape, tensors, dims, out_dims, kwargs, randomness, mapping)
        except Exception:
            if not mapping.refused:
                raise
        return _one_by_one(func, shape, tensors, dims, out_dims, kwargs, randomness)

    return mapped


def _at_once(
    func: Callable[..., Any],
    shape: Tree,
    tensors: list[Tensor],
    dims: list[Any],
    out_dims: AxisLike,
    kwargs: dict[str, Any],
    randomness: str,
    mapping: _Mapping,
) -> Operand:
    """The results of `func` recorded for one element and batched."""
    structure: list[Any] = []
    captured = _Captured()
    start = default_generator.get_state()
    name = getattr(func, "__name__", repr(func))

    def of_arrays(*arrays: Array) -> Arrays:
        given = put_back(shape, iter([wrap(a) for a in arrays[: len(tensors)]]))
        now = default_generator.get_state()
        if structure:  # a derivative is recorded of the same draws
            default_generator.set_state(start)
        first = next(SEQUENCE)
        with random_numbers(randomness), mapping.running(), captured.standing_for(arrays[len(tensors) :]):
            out = func(*given, **kwargs)
            found: list[Tensor] = []
            structure.append(taken_out(out, found))
            if captured.find(found, first, mapping) and len(arrays) == len(tensors):
                raise _HasLeaves
        if len(structure) > 1:
            default_generator.set_state(now)
        if out_dims is not None:
            _require_tensors(structure[-1], name)
        return tuple([t._value for t in found])

    def recorded() -> Operand:
        axes = (*dims, *[None] * len(captured.leaves))
        batched = fg.vmap(of_arrays, in_axes=axes, out_axes=_out(out_dims))
        return apply(Op("VmapBackward", batched), [*tensors, *captured.leaves])

    try:
        found = recorded()
    except _HasLeaves:
        default_generator.set_state(start)
        structure.clear()
        found = recorded()
    return put_back(structure[0], iter(found))


class _HasLeaves(Exception):
    """The function closes over leaves, which have to be inputs."""


def require_one_rule(function: type[Function]) -> None:
    """Raise RuntimeError for a `Function` that has a rule for `vmap` and asks for one to be made."""
    if function.generate_vmap_rule and function.vmap is not Function.vmap:
        raise RuntimeError(
            f"You tried to vmap over {function.__name__}, but it has both generate_vmap_rule=True and an "
            "overridden vmap staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap "
            "staticmethod to avoid ambiguity. For more details, please see "
            "https://pytorch.org/docs/main/notes/extending.func.html"
        )


def _by_rule(
    function: type[Function], args: tuple[Any, ...], in_dims: AxisLike, out_dims: AxisLike, randomness: str
) -> Arrays:
    """The results of a `Function`'s own rule, with the mapped dimensions where they are wanted."""
    given = (in_dims,) * len(args) if isinstance(in_dims, int) else tuple(in_dims)
    at = tuple([d if isinstance(x, Tensor) else None for d, x in zip(given, args, strict=True)])
    size = next(x.shape[d] for d, x in zip(at, args, strict=True) if d is not None)
    made = function.vmap(VmapInfo(size, randomness), at, *args)
    if not isinstance(made, tuple) or len(made) != 2:
        raise RuntimeError(
            "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree "
            f"structure compatible with the output. Got a {type(made)} instead"
        )
    outs, dims = made
    single = not isinstance(outs, tuple)
    parts = (outs,) if single else outs
    lie = dims if isinstance(dims, tuple) else (dims,) * len(parts)
    wanted = out_dims if isinstance(out_dims, tuple | list) else (out_dims,) * len(parts)
    placed = []
    for t, d, to in zip(parts, lie, wanted, strict=True):
        if to is None:
            placed.append(t)
            continue
        whole = t.unsqueeze(0).expand(size, *t.shape) if d is None else t
        placed.append(whole.movedim(d or 0, to))
    return placed[0] if single else tuple(placed)


@contextmanager
def random_numbers(randomness: str) -> Iterator[None]:
    """Inside, random numbers are drawn, or refused for "error"."""
    before, MODES.random_refused = MODES.random_refused, randomness == "error"
    try:
        yield
    finally:
        MODES.random_refused = before


def _one_by_one(
    func: Callable[..., Any],
    shape: Tree,
    tensors: list[Tensor],
    dims: list[Any],
    out_dims: AxisLike,
    kwargs: dict[str, Any],
    randomness: str,
) -> Arrays:
    """The results of `func` for every element of the mapped dimensions, stacked."""
    count = next(t.shape[d] for t, d in zip(tensors, dims, strict=True) if d is not None)
    start = default_generator.get_state()
    rows: list[list[Tensor]] = []
    with random_numbers(randomness):
        for k in range(count):
            if randomness == "same":
                default_generator.set_state(start)
            parts = [t if d is None else t.select(d, k) for t, d in zip(tensors, dims, strict=True)]
            rows.append([])
            structure = taken_out(func(*put_back(shape, iter(parts)), **kwargs), rows[-1])
    columns = list(zip(*rows, strict=True))
    at = out_dims if isinstance(out_dims, tuple | list) else [out_dims] * len(columns)
    stacked = [FUNCTIONS["stack"](c, dim=d or 0) for c, d in zip(columns, at, strict=True)]
    return put_back(structure, iter(stacked))


def _out(out_dims: AxisLike) -> int | tuple[int, ...] | None:
    return out_dims if isinstance(out_dims, int) or out_dims is None else tuple(out_dims)


def _dims(in_dims: AxisLike, args: tuple[Any, ...], name: str) -> list[Any]:
    """The mapped dimension of every tensor."""
    if not isinstance(in_dims, int | tuple | list):
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a (potentially "
            f"nested) tuple matching the structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to "
            "vmap over a function with no inputs. The latter is unsupported."
        )
    given = (in_dims,) * len(args) if isinstance(in_dims, int) else tuple(in_dims)
    dims: list[Any] = []
    try:
        for d, a in zip(given, args, strict=True):
            _spread(d, a, dims)
    except (ValueError, LookupError):
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure "
            "of `inputs`."
        ) from None
    return dims


def _spread(d: Tree, a: Tree, dims: list[Any]) -> None:
    if isinstance(a, Tensor):
        dims.append(d)
    elif isinstance(a, dict):
        for k, v in a.items():
            _spread(d[k] if isinstance(d, dict) else d, v, dims)
    elif isinstance(a, list | tuple):
        for k, v in enumerate(a):
            _spread(d[k] if isinstance(d, list | tuple) else d, v, dims)


def _require_tensors(shape: Tree, name: str) -> None:
    """Raise ValueError for a part of a result that is no tensor."""
    if type(shape) is Fixed:
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(shape.value)}. "
            "Did you mean to set out_dims= to None for output?"
        )
    if shape is not None:
        kind, parts = shape
        for part in parts:
            _require_tensors(part[1] if isinstance(kind, type) else part, name)


def _check_dims(tensors: list[Tensor], dims: list[Any], call: str) -> None:
    sizes = []
    for t, d in zip(tensors, dims, strict=True):
        if d is None:
            continue
        ndim = len(t._value.shape)
        if not -ndim <= d < ndim:
            raise ValueError(
                f"{call}: Got in_dim={d} for some input, but that input is a "
                f"Tensor of dimensionality {ndim} so expected in_dim to satisfy -{ndim} <= in_dim < {ndim}."
            )
        sizes.append(t._value.shape[d])
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if len(set(sizes)) > 1:
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} "
            "for the mapped dimension"
        )
