"""Functions of functions of tensors: ``torch.func``, standing on histories and `funcgrad.vmap`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

import funcgrad as fg
from funcgrad.torch.autograd.gradients import grad as _gradients
from funcgrad.torch.autograd.gradients import pulled_back
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.engine import nodes_behind
from funcgrad.torch.core.backward.grad_mode import enable_grad
from funcgrad.torch.core.backward.history import Op
from funcgrad.torch.core.nested import (
    Fixed,
    put_back,
    require_numbers,
    require_only_tensors,
    require_tensors_given,
    require_tensors_returned,
    taken_out,
    with_each,
)
from funcgrad.torch.core.state import MODES
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.nn.utils.stateless import functional_call
from funcgrad.torch.operations.creating.random import default_generator
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.types import Anything, Tree

if TYPE_CHECKING:
    from funcgrad.api.calling.arguments import Argnums

__all__ = [
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "stack_module_state",
    "vjp",
    "vmap",
]


# -- levels -----------------------------------------------------------------------------------------------


def _own_input(t: Tensor) -> Tensor:
    """A tensor to differentiate by: connected to `t`, and not the same edge."""
    if t._value.dtype.kind not in "fc":
        raise RuntimeError("only Tensors of floating point dtype can require gradients")
    if t._rg:
        return t.view_as(t)  # type: ignore[no-any-return]
    return t.detach().requires_grad_()


def _closed(results: Any, owned: list[Tensor]) -> Any:
    """Results without the history that only leads to inputs of a level that has ended."""
    leaves = {id(t) for t in owned if t._node is None}

    def closed(t: Tensor) -> Tensor:
        if not t._rg:
            return t
        if t._node is None:
            return t.detach() if id(t) in leaves else t
        for node in nodes_behind([t._node]):
            for e in node.edges:
                if isinstance(e, Tensor) and id(e) not in leaves:
                    return t
        return t.detach()

    return with_each(closed, results)


def _selected(args: tuple[Any, ...], argnums: Any) -> tuple[tuple[int, ...], bool]:
    if not isinstance(argnums, int | tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    if not numbers:
        raise RuntimeError("argnums must be non-empty")
    for n in numbers:
        if not isinstance(n, int):
            raise RuntimeError(f"argnum must be int, got: {type(n)}")
        if not -len(args) <= n < len(args):
            raise RuntimeError(f"Got argnum={n}, but only {len(args)} positional inputs")
    chosen = tuple([n % len(args) for n in numbers])
    if len({*chosen}) < len(chosen):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return chosen, isinstance(argnums, int)


def grad_and_value(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns the gradient of the scalar function `func`, and its value."""

    def both(*args: Any, **kwargs: Any) -> Any:
        numbers, single = _selected(args, argnums)
        with enable_grad():
            owned: list[Tensor] = []

            def enter(t: Tensor) -> Tensor:
                owned.append(_own_input(t))
                return owned[-1]

            require_tensors_given([args[n] for n in numbers])
            given = [with_each(enter, a) if k in numbers else a for k, a in enumerate(args)]
            out = func(*given, **kwargs)
            aux = None
            if has_aux:
                if not (isinstance(out, tuple) and len(out) == 2):
                    raise RuntimeError(
                        "grad_and_value(f)(*args): output of function f should be a tuple: (output, aux) if "
                        "has_aux is True"
                    )
                out, aux = out
            if not isinstance(out, Tensor):
                raise RuntimeError(
                    f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(out)}"
                )
            if len(out._value.shape):
                raise RuntimeError(
                    "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with "
                    f"{len(out._value.shape)} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
                )
            grads = _grads_of(out, owned, None)
        fresh = iter(grads)
        chosen = [with_each(lambda t: next(fresh), given[k]) for k in numbers]
        found = chosen[0] if single else tuple(chosen)
        found, out = _closed(found, owned), _closed(out, owned)
        if has_aux:
            return found, (out, _closed(aux, owned))
        return found, out

    return both


def _grads_of(out: Any, owned: list[Tensor], cotangents: Any) -> list[Tensor]:
    """The gradients by tensors of a level, with a history; zeros where there is none."""
    outs = [out] if isinstance(out, Tensor) else list(out)
    pairs = [
        (o, None if cotangents is None else c)
        for o, c in zip(outs, cotangents or [None] * len(outs), strict=True)
        if o._rg
    ]
    wanted = [t for t in owned if t._rg]
    if not pairs or not wanted:
        return [_zeros(t) for t in owned]
    found = iter(
        _gradients(
            [o for o, _ in pairs],
            wanted,
            [c for _, c in pairs],
            create_graph=True,
            retain_graph=True,
            allow_unused=True,
        )
    )
    grads = [next(found) if t._rg else None for t in owned]
    return [_zeros(t) if g is None else g for g, t in zip(grads, owned, strict=True)]


def _zeros(t: Tensor) -> Tensor:
    return wrap(np.zeros(t._value.shape, t._value.dtype))


def grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient of the scalar function `func`.

    >>> fg.torch.func.grad(fg.torch.func.grad(fg.torch.sin))(fg.torch.tensor(1.0))
    tensor(-0.8415)
    """
    both = grad_and_value(func, argnums, has_aux)

    def gradient(*args: Any, **kwargs: Any) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def vjp(func: Callable[..., Any], *primals: Tree, has_aux: bool = False) -> Anything:
    """The value of `func`, and the function from cotangents to those of the inputs."""
    return _pulling(func, primals, has_aux, "vjp(f, *primals)")


def _pulling(func: Callable[..., Any], primals: Any, has_aux: bool, call: str) -> Any:
    with enable_grad():
        owned: list[Tensor] = []

        def enter(t: Tensor) -> Tensor:
            owned.append(_own_input(t))
            return owned[-1]

        require_tensors_given(primals)
        given = [with_each(enter, p) for p in primals]
        out = func(*given)
        aux = None
        if has_aux:
            out, aux = out
        require_tensors_returned(out, call)
        outs: list[Tensor] = []
        taken_out(out, outs)
        if call.startswith("vjp"):
            require_numbers(outs)

    def pullback(cotangents: Any, retain_graph: bool = True, create_graph: Any = None) -> Any:
        flat: list[Tensor] = []
        taken_out(cotangents, flat)
        if len(flat) != len(outs):
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to "
                f"the function: got {len(flat)} cotangents for {len(outs)} outputs"
            )
        with enable_grad():
            grads = iter(_grads_of(outs, owned, flat))
        return tuple([_closed(with_each(lambda t: next(grads), g), owned) for g in given])

    value = _closed(out, owned)
    return (value, pullback, _closed(aux, owned)) if has_aux else (value, pullback)


def jvp(
    func: Callable[..., Any], primals: Tree, tangents: Tree, *, strict: bool = False, has_aux: bool = False
) -> tuple[Any, ...]:
    """The value of `func` and its derivative in the direction `tangents`."""
    if not isinstance(primals, tuple):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to call "
            "f(*primals)."
        )
    for what, given_tensors in (("primals", primals), ("tangents", tangents)):
        require_only_tensors(given_tensors, what)
    with enable_grad():
        owned: list[Tensor] = []

        def enter(t: Tensor) -> Tensor:
            owned.append(_own_input(t))
            return owned[-1]

        given = [with_each(enter, p) for p in primals]
        directions: list[Tensor] = []
        taken_out(tangents, directions)
        if len(directions) != len(owned):
            raise RuntimeError(
                "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure."
            )
        for t, d in zip(owned, directions, strict=True):
            if t._value.shape != d._value.shape:
                raise RuntimeError(
                    "Trying to set a forward gradient that has a different size than that of the original "
                    f"Tensor, this is not supported. Tensor is of size {list(t._value.shape)} while the "
                    f"given forward gradient is of size {list(d._value.shape)}."
                )
        out = func(*given)
        aux = None
        if has_aux:
            out, aux = out
        require_tensors_returned(out, "jvp(f, primals, tangents)")
        outs: list[Tensor] = []
        shape = taken_out(out, outs)
        weights = [_zeros(o).requires_grad_() if o._rg else o for o in outs]
        dots = [_pushed(o, w, owned, directions) for o, w in zip(outs, weights, strict=True)]
        owned += weights
    value, found = _closed(out, owned), _closed(put_back(shape, iter(dots)), owned)
    return (value, found, _closed(aux, owned)) if has_aux else (value, found)


def _pushed(out: Tensor, weights: Tensor, owned: list[Tensor], directions: list[Tensor]) -> Tensor:
    """The derivative of one output along directions: the pullback, which is linear, pulled back."""
    if not out._rg:
        return _zeros(out)
    wanted = [t for t in owned if t._rg]
    pulled = pulled_back(out, wanted, weights)
    chosen = [d for t, d in zip(owned, directions, strict=True) if t._rg]
    pairs = [(p, d) for p, d in zip(pulled, chosen, strict=True) if p is not None and p._rg]
    if not pairs:
        return _zeros(out)
    (found,) = _gradients(
        [p for p, _ in pairs],
        weights,
        [d for _, d in pairs],
        create_graph=True,
        retain_graph=True,
        allow_unused=True,
    )
    return _zeros(out) if found is None else found


def linearize(func: Callable[..., Any], *primals: Tree) -> tuple[Any, ...]:
    """The value of `func`, and its derivative there as a function of directions."""

    def pushforward(*tangents: Any) -> Any:
        return jvp(func, primals, tangents)[1]

    return func(*primals), pushforward


# -- jacobians --------------------------------------------------------------------------------------------


def jacrev(
    func: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False, chunk_size: int | None = None
) -> Callable[..., Any]:
    """A function that returns the Jacobian of `func`, a pullback for each output element."""

    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")
    return _jacobian(func, argnums, has_aux, "vjp(f, *primals)")


def _jacobian(
    func: Callable[..., Any], argnums: Any, has_aux: bool, call: str, *, forward: bool = False
) -> Callable[..., Any]:
    def jacobian(*args: Any) -> Any:
        numbers, single = _selected(args, argnums)

        def of_chosen(*chosen: Any) -> Any:
            full = list(args)
            for n, x in zip(numbers, chosen, strict=True):
                full[n] = x
            return func(*full)

        found = _pulling(of_chosen, [args[n] for n in numbers], has_aux, call)
        out, pull = found[0], found[1]
        outs: list[Tensor] = []
        shape = taken_out(out, outs)
        blocks = [_rows(pull, shape, outs, k, single) for k in range(len(outs))]
        if forward:  # tangents have the dtypes of the outputs, those of whole numbers and of truth among them
            blocks = [
                block if o._value.dtype.kind in "fc" else with_each(_as_dtype_of(o), block)
                for o, block in zip(outs, blocks, strict=True)
            ]
        result = put_back(shape, iter(blocks))
        return (result, found[2]) if has_aux else result

    return jacobian


def _as_dtype_of(out: Tensor) -> Callable[[Tensor], Tensor]:
    def converted(block: Tensor) -> Tensor:
        found: Tensor = block.to(out.dtype)
        return found

    return converted


def _rows(pull: Callable[..., Any], shape: Any, outs: list[Tensor], k: int, single: bool) -> Any:
    """The derivatives of output `k`: a tree like the inputs."""
    out = outs[k]
    rows = []
    for j in range(out._value.size):
        seeds = [_zeros(o) for o in outs]
        flat = np.zeros(out._value.size, out._value.dtype)
        flat[j] = 1
        seeds[k] = wrap(flat.reshape(out._value.shape))
        rows.append(pull(put_back(shape, iter(seeds))))
    count = len(rows)
    if not count:
        return pull(put_back(shape, iter([_zeros(o) for o in outs])))[0]
    first = rows[0]

    def stacked(*parts: Tensor) -> Tensor:
        return FUNCTIONS["stack"](parts).reshape((*out._value.shape, *parts[0]._value.shape))  # type: ignore[no-any-return]

    found = with_each(stacked, first, *rows[1:])
    return found[0] if single else found


def jacfwd(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
    randomness: str = "error",
) -> Callable[..., Any]:
    """A function that returns the Jacobian of `func`. The same numbers as `jacrev`."""
    return _jacobian(func, argnums, has_aux, "jvp(f, primals, tangents)", forward=True)


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """A function that returns the second derivatives of `func`."""
    return jacfwd(jacrev(func, argnums), argnums)


# -- vmap -------------------------------------------------------------------------------------------------


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
    RuntimeError for a function that draws random numbers.
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
        )
    name = getattr(func, "__name__", repr(func))

    def mapped(*args: Any, **kwargs: Any) -> Any:
        tensors: list[Tensor] = []
        shape = taken_out(args, tensors)
        dims = _dims(in_dims, args)
        _check_dims(tensors, dims, f"vmap({name}, in_dims={in_dims}, ...)(<inputs>)")
        structure: list[Any] = []
        if randomness == "different":
            return _one_by_one(func, shape, tensors, dims, out_dims, kwargs)
        start = default_generator.get_state()

        def of_arrays(*arrays: Any) -> Any:
            given = put_back(shape, iter([wrap(a) for a in arrays]))
            now = default_generator.get_state()
            if structure:  # a derivative is recorded of the same draws
                default_generator.set_state(start)
            with random_numbers(randomness):
                out = func(*given, **kwargs)
            if structure:
                default_generator.set_state(now)
            found: list[Tensor] = []
            structure.append(taken_out(out, found))
            if out_dims is not None:
                _require_tensors(structure[-1], name)
            return tuple([t._value for t in found])

        batched = fg.vmap(of_arrays, in_axes=tuple(dims), out_axes=_out(out_dims))
        found = apply(Op("VmapBackward", batched), tensors)
        return put_back(structure[0], iter(found))

    return mapped


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
    shape: Any,
    tensors: list[Tensor],
    dims: list[Any],
    out_dims: Any,
    kwargs: dict[str, Any],
) -> Any:
    """The results of `func` for every element of the mapped dimensions, stacked."""
    count = next(t.shape[d] for t, d in zip(tensors, dims, strict=True) if d is not None)
    rows: list[list[Tensor]] = []
    with random_numbers("different"):
        for k in range(count):
            parts = [t if d is None else t.select(d, k) for t, d in zip(tensors, dims, strict=True)]
            rows.append([])
            structure = taken_out(func(*put_back(shape, iter(parts)), **kwargs), rows[-1])
    columns = list(zip(*rows, strict=True))
    at = out_dims if isinstance(out_dims, tuple | list) else [out_dims] * len(columns)
    stacked = [FUNCTIONS["stack"](c, dim=d or 0) for c, d in zip(columns, at, strict=True)]
    return put_back(structure, iter(stacked))


def _out(out_dims: Any) -> Any:
    return out_dims if isinstance(out_dims, int) or out_dims is None else tuple(out_dims)


def _dims(in_dims: Any, args: tuple[Any, ...]) -> list[Any]:
    """The mapped dimension of every tensor."""
    given = (in_dims,) * len(args) if isinstance(in_dims, int) or in_dims is None else tuple(in_dims)
    if len(given) != len(args):
        raise ValueError(
            f"vmap(f, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure of "
            "inputs."
        )
    dims: list[Any] = []
    for d, a in zip(given, args, strict=True):
        _spread(d, a, dims)
    return dims


def _spread(d: Any, a: Any, dims: list[Any]) -> None:
    if isinstance(a, Tensor):
        dims.append(d)
    elif isinstance(a, dict):
        for k, v in a.items():
            _spread(d[k] if isinstance(d, dict) else d, v, dims)
    elif isinstance(a, list | tuple):
        for k, v in enumerate(a):
            _spread(d[k] if isinstance(d, list | tuple) else d, v, dims)


def _require_tensors(shape: Any, name: str) -> None:
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
        raise ValueError(f"{call}: at least one input must be mapped over")
    if len(set(sizes)) > 1:
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} "
            "for the mapped dimension"
        )


# -- modules ----------------------------------------------------------------------------------------------


def stack_module_state(models: Sequence[Any]) -> tuple[Any, ...]:
    """The parameters and buffers of several modules, each stacked."""
    parameters, buffers = [
        {
            name: FUNCTIONS["stack"]([dict(getattr(m, what)())[name] for m in models])
            .detach()
            .requires_grad_(learns)
            for name in dict(getattr(models[0], what)())
        }
        for what, learns in (("named_parameters", True), ("named_buffers", False))
    ]
    return parameters, buffers


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """The function itself: in-place changes are functional underneath."""
    return func


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
