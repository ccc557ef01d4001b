"""Functions of functions of tensors: ``torch.func``, standing on histories and `funcgrad.vmap`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.torch.autograd.gradients import grad as _gradients
from funcgrad.torch.autograd.gradients import pulled_back
from funcgrad.torch.autograd.mapping import vmap
from funcgrad.torch.autograd.rearranging import rearrange
from funcgrad.torch.core.backward.engine import nodes_behind
from funcgrad.torch.core.backward.grad_mode import enable_grad
from funcgrad.torch.core.nested import (
    put_back,
    require_numbers,
    require_only_tensors,
    require_tensors_given,
    require_tensors_returned,
    taken_out,
    with_each,
)
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.nn.layers.normalization import BatchNorm
from funcgrad.torch.nn.utils.stateless import functional_call
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.types import Anything, Array, Arrays, Option, Result, Tree

if TYPE_CHECKING:
    from funcgrad.api.calling.arguments import Argnums

__all__ = [
    "debug_unwrap",
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "rearrange",
    "replace_all_batch_norm_modules_",
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
        return t.view_as(t)
    return t.detach().requires_grad_()


def _closed(results: Array, owned: list[Tensor]) -> Result:
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


def _selected(args: tuple[Any, ...], argnums: Option) -> tuple[tuple[int, ...], bool]:
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

    def both(*args: Operand, **kwargs: Anything) -> Result:
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


def _grads_of(out: Array, owned: list[Tensor], cotangents: Arrays) -> list[Tensor]:
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

    def gradient(*args: Operand, **kwargs: Anything) -> Result:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def vjp(func: Callable[..., Any], *primals: Tree, has_aux: bool = False) -> Anything:
    """The value of `func`, and the function from cotangents to those of the inputs."""
    return _pulling(func, primals, has_aux, "vjp(f, *primals)")


def _pulling(func: Callable[..., Any], primals: Arrays, has_aux: bool, call: str) -> Result:
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

    def pullback(cotangents: Arrays, retain_graph: bool = True, create_graph: Option = None) -> Result:
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
    if not isinstance(tangents, tuple):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure. For "
            "example, if primals is a tuple of 3 tensors, tangents also must be. Got tangents of "
            f"{type(tangents)}."
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

    def pushforward(*tangents: Operand) -> Result:
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
    func: Callable[..., Any], argnums: Option, has_aux: bool, call: str, *, forward: bool = False
) -> Callable[..., Any]:
    def jacobian(*args: Operand) -> Result:
        numbers, single = _selected(args, argnums)

        def of_chosen(*chosen: Operand) -> Result:
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


def _rows(pull: Callable[..., Any], shape: Tree, outs: list[Tensor], k: int, single: bool) -> Operand:
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


def replace_all_batch_norm_modules_(root: Anything) -> Anything:
    """Let every layer of batch normalisation below use the batch alone, in place; returns the module.

    Running statistics are changed in place by each call, which functions that `vmap` maps may not do.

    >>> model = fg.torch.nn.BatchNorm1d(2)
    >>> fg.torch.func.replace_all_batch_norm_modules_(model).running_mean is None
    True
    """
    for module in root.modules():
        if isinstance(module, BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """The tensor: transforms do not wrap it here."""
    return tensor


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """The function itself: in-place changes are functional underneath."""
    return func


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
