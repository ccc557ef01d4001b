"""How NumPy's own functions reach ours: the tables behind ``__array_ufunc__`` and ``__array_function__``.

Every function of this package that stands in for one of NumPy's says so with `implements`; the tracer
answers NumPy's protocols from these tables. The tables are filled while the package is imported and
never change afterwards, except through `funcgrad.extend`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

from funcgrad.errors import DtypeError, UnsupportedFunctionError
from funcgrad.ir.avals import Aval
from funcgrad.later import Later
from funcgrad.numpy.arrays.memory import laid_out_by
from funcgrad.numpy.picking.ragged import Ragged
from funcgrad.ops.arrays.lazy import LazyUfunc
from funcgrad.ops.arrays.structure import aval, cast
from funcgrad.ops.families import Unary
from funcgrad.ops.rows import BY_UFUNC
from funcgrad.source import Source, user_location
from funcgrad.tracing.aliasing import written_into
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import Recorder, captured, located
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array, ArrayLike, Arrays, AxisLike, DTypeLike, Result, UfuncLike

# What is refused, and in which words.
refusals = Later("funcgrad.tracing.refusals")

F = TypeVar("F", bound=Callable[..., Any])

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""NumPy (and SciPy) functions by identity, and what runs when an argument is a tracer."""

UNARY: dict[Any, Unary] = {}
"""Those of them that are one operation on one operand."""

REDUCING: dict[Any, type[Any]] = {}
"""NumPy's reductions of one array by one operation: what makes it from axes."""

MET: dict[tuple[type[Any] | None, AxisLike, Aval], tuple[Any, Aval]] = {}
"""Reductions along one axis or all that have been recorded: the operation and the type of its result."""

MOST_MET = 10_000

DEFERRED: dict[tuple[str, str], Callable[..., Any]] = {}
"""The same for ufuncs of packages that may not be imported yet, by module and name."""

UFUNC_METHODS: dict[tuple[Any, str], Callable[..., Any]] = {}
"""``(np.add, "reduce")`` and the like."""


LATER: dict[Any, str] = {}
"""NumPy functions by identity, and the module that registers what runs, imported when first asked for."""

LATER_PACKAGES = {"numpy.fft": "funcgrad.numpy.fft", "numpy.linalg": "funcgrad.numpy.linalg"}
"""The same for all functions of a subpackage of NumPy's that need not be imported yet."""

LATER_UFUNCS = {"scipy.special": "funcgrad.scipy.special", "scipy.special._ufuncs": "funcgrad.scipy.special"}
"""Modules with ufuncs, and those whose ``HOMES`` say which import enters one of some name in `DEFERRED`."""


def implements(*functions: object) -> Callable[[F], F]:
    """Register the decorated function for these NumPy functions or ufuncs."""

    def register(ours: F) -> F:
        ours = laid_out_by(getattr(functions[0], "__name__", ""), ours)  # type: ignore[assignment]
        for function in functions:
            if isinstance(function, LazyUfunc):
                DEFERRED[function.module, function.__name__] = ours
            else:
                FUNCTIONS[function] = ours
                if isinstance(ours, Unary):
                    UNARY[function] = ours
                else:
                    UNARY.pop(function, None)
        return ours

    return register


def implements_method(ufunc: object, method: str) -> Callable[[F], F]:
    """Register the decorated function for a ufunc's method, such as ``np.add.reduce``."""

    def register(ours: F) -> F:
        UFUNC_METHODS[ufunc, method] = ours
        return ours

    return register


def implemented_in(module: str, *names: str) -> None:
    """Register the module whose import will register what runs for NumPy's functions of these names.

    Functions that many programs do without are kept in modules of their own, so that importing stays fast.
    """
    for name in names:
        if hasattr(np, name):
            LATER[getattr(np, name)] = module


def implementation_of(function: object) -> Callable[..., Any] | None:
    """What stands in for a NumPy function, None where nothing does."""
    if function not in FUNCTIONS:
        package = LATER_PACKAGES.get(getattr(function, "__module__", ""))
        if package is not None:
            import_module(package)
        # The package may have said so just now.
        module = LATER.get(function)
        if module is not None:
            import_module(module)
    return FUNCTIONS.get(function)


def array_ufunc(self: Tracer, ufunc: UfuncLike, method: str, *inputs: ArrayLike, **kwargs: Anything) -> Array:
    """NumPy's protocol for ufuncs: ``np.sin(t)``, ``array + t``, ``np.add.reduce(t)``."""
    if not kwargs and method == "__call__":
        # The most frequent calls, in which there is nothing to look for.
        recorder = self._recorder
        if len(inputs) == 1:
            primitive = UNARY.get(ufunc)
            if primitive is not None and self._view is None and not recorder.closed:
                out = primitive._inferred.get((self.aval,))
                if out is not None:
                    return recorder.append_typed((primitive, self._index), out)
        elif len(inputs) == 2 and recorder.copied is None:
            x, y = inputs
            ours = FUNCTIONS.get(ufunc)
            if ours is not None and not is_of_objects(x) and not is_of_objects(y):
                return ours(x, y)
    return any_ufunc(self, ufunc, method, inputs, kwargs)


def any_ufunc(
    self: Tracer, ufunc: UfuncLike, method: str, inputs: tuple[ArrayLike, ...], kwargs: dict[str, Any]
) -> Array:
    """What NumPy's protocol for ufuncs asks for, in general."""
    if any(map(is_of_objects, inputs)):
        inputs = tuple([asoperand(x) for x in inputs])
    if self._recorder.copied is not None:
        inputs = tuple([combined(x, self._recorder) for x in inputs])
    if method == "__call__":
        ours = FUNCTIONS.get(ufunc) or deferred(ufunc)
        if ours is not None:
            return ours(*inputs, **kwargs) if not kwargs else called_with_options(ufunc, ours, inputs, kwargs)
    else:
        ours = UFUNC_METHODS.get((ufunc, method)) or rare_method(ufunc, method)
        if ours is not None:
            return ours(*inputs, **kwargs)
    name = str(ufunc.__name__)
    if is_in("scipy.special", ufunc):
        raise refusals.refused_by_scipy("scipy.special", name, f"a traced {self.aval}")
    name = name_of(ufunc)
    remedy = "" if name.startswith("np.") else WITH_A_TARGET
    raise unsupported(name if method == "__call__" else f"{name}.{method}", remedy)


WITH_A_TARGET = " One of numba.vectorize or guvectorize with a target is traced without it."
"""Such a ufunc keeps nothing of the function of Python that it is made of."""


def is_of_objects(x: ArrayLike) -> bool:
    """Whether it is an array of Python's objects."""
    return type(x) is np.ndarray and x.dtype.hasobject


def rare_method(ufunc: object, method: str) -> Callable[..., Any] | None:
    """A method that is imported when it is first called."""
    found: Callable[..., Any] | None = import_module("funcgrad.numpy.elementwise.ufunc_methods").method_of(
        ufunc, method
    )
    return found


def name_of(ufunc: UfuncLike) -> str:
    """A ufunc as users write it, with ``np.`` if it is NumPy's."""
    name: str = ufunc.__name__
    return f"np.{name}" if getattr(np, name, None) is ufunc else name


def deferred(ufunc: UfuncLike) -> Callable[..., Any] | None:
    """What stands in for a ufunc of another package, if anything; found by name once, then by identity."""
    if ufunc in BY_UFUNC:
        return BY_UFUNC[ufunc]
    named = ufunc.__name__
    for home, front in LATER_UFUNCS.items():
        if getattr(sys.modules.get(home), named, None) is ufunc:
            import_implementations(front, named)
    for (module, name), ours in DEFERRED.copy().items():
        if name == named and is_in(module, ufunc):
            FUNCTIONS[ufunc] = ours
            return ours
    return None


def import_implementations(front: str, name: str) -> None:
    """Import what enters a ufunc of this name; of one that is not public there, all that a package has."""
    homes: dict[str, str] = import_module(front).HOMES
    for home in [homes[name]] if name in homes else {*homes.values()}:
        import_module(home)


def is_in(module: str, ufunc: UfuncLike) -> bool:
    """Whether a ufunc is the module's of its name; SCIPY_ARRAY_API=1 puts a function before it there."""
    homes = (module, f"{module}._ufuncs")
    return any(getattr(sys.modules.get(home), ufunc.__name__, None) is ufunc for home in homes)


def called_with_options(
    ufunc: UfuncLike, ours: Callable[..., Any], inputs: Sequence[Any], kwargs: Mapping[str, Any]
) -> Arrays:
    """A ufunc call with ``out=``, ``where=``, ``dtype=`` or ``casting=``, as NumPy's own.

    Raises UnsupportedFunctionError for other options, TracerAssignmentError for a real array as `out`, and
    DtypeError for a cast that `casting` does not allow.
    """
    options = {name: value for name, value in kwargs.items() if (name, value) not in IDLE_OPTIONS}
    target = target_of(ufunc, options.pop("out", None))
    where = options.pop("where", True)
    dtype = options.pop("dtype", None)
    casting = options.pop("casting", "same_kind")
    # Of the ufuncs on whole axes only those on pairs of vectors know `axis`.
    core = {"axis": options.pop("axis")} if "axis" in options and ufunc.signature == "(n),(n)->()" else {}
    if options or (where is not True and target is None):
        names = sorted(options) or ["where= and no out="]
        raise unsupported(f"{name_of(ufunc)} with {', '.join(names)}")
    result = ours(*(inputs if dtype is None else cast_to_loop(ufunc, inputs, dtype, casting)), **core)
    if target is None:
        return result
    if not np.can_cast(aval(result).dtype, target.aval.dtype, casting):
        refusal = f"{aval(result)} cannot be cast to {target.aval} with {casting!r} casting"
        raise located(DtypeError(f"{name_of(ufunc)}: {refusal}"), user_location())
    target[...] = result if where is True else FUNCTIONS[np.where](where, result, target)  # type: ignore[index]
    return target


IDLE_OPTIONS = (("order", "K"), ("subok", True))
"""Options that say what happens anyway."""


def target_of(ufunc: object, out: Array) -> Tracer | None:
    """The tracer that ``out=`` names, alone or in a tuple of one; raises for real arrays."""
    targets = out if isinstance(out, tuple) else (out,)
    if all(target is None for target in targets):
        return None
    found = [written_into(target, f"{name_of(ufunc)} with out=") for target in targets]
    if len(found) > 1:
        raise unsupported(f"{name_of(ufunc)} with out= of several results")
    return found[0]  # type: ignore[no-any-return]


def cast_to_loop(ufunc: UfuncLike, inputs: Sequence[Any], dtype: DTypeLike, casting: str) -> list[Any]:
    """The operands in the dtypes of the ufunc's loop whose results have `dtype`."""
    operands = [asoperand(x) for x in inputs]
    asked = [type(x) if type(x) in (int, float, complex) else aval(x).dtype for x in operands]
    signature = (*[None] * ufunc.nin, *[np.dtype(dtype)] * ufunc.nout)
    try:
        found = ufunc.resolve_dtypes((*asked, *[None] * ufunc.nout), signature=signature, casting=casting)
    except TypeError as error:
        raise located(
            DtypeError(f"{name_of(ufunc)} with dtype={np.dtype(dtype)}: {str(error).splitlines()[0]}"),
            user_location(),
        ) from None
    return [cast(x, loop_dtype) for x, loop_dtype in zip(operands, found, strict=False)]


def array_function(
    self: Tracer, function: Callable[..., Any], types: Sequence[type], args: Anything, kwargs: Anything
) -> Result:
    """NumPy's protocol for all other functions: ``np.sum(t)``, ``np.linalg.norm(t)``."""
    if not kwargs and len(args) == 1 and self._view is None:
        # The most frequent calls, in which there is nothing to look for.
        met = MET.get((REDUCING.get(function), None, self.aval))
        if met is not None and args[0] is self and not self._recorder.closed:
            primitive, out = met
            return self._recorder.append_typed((primitive, self._index), out)
    if len(types) > 1 and Ragged in types:
        return NotImplemented  # a part of a traced length knows what may be computed of it
    ours = FUNCTIONS.get(function) or implementation_of(function)
    if ours is None:
        module = getattr(function, "__module__", "numpy") or "numpy"
        raise unsupported(f"{module}.{function.__name__}".replace("numpy.", "np.", 1))
    if self._recorder.copied is not None and function in COMBINING:
        args = [combined(x, self._recorder) for x in args]
    return ours(*args, **kwargs)


COMBINING = frozenset(
    [
        *(
            np.concatenate,
            np.convolve,
            np.correlate,
            np.cross,
            np.dot,
            np.einsum,
            np.hstack,
            np.inner,
            np.kron,
        ),
        *(np.matmul, np.outer, np.stack, np.tensordot, np.vdot, np.vstack, np.where, np.column_stack),
    ]
)
"""Functions that combine arrays by their elements. Under `jit` all of these are recorded as they are, before
anything is made of them: an array that is changed afterwards is read anew at every call."""


def combined(x: ArrayLike, recorder: Recorder) -> ArrayLike:
    """An operand as a tracer where it is an array of NumPy's, also in a list."""
    if type(x) is np.ndarray:
        return captured(x, recorder)
    kind: type = type(x)
    # An index of ``np.add.at`` is no array: a tuple stays one.
    return kind([combined(item, recorder) for item in x]) if kind in (list, tuple) else x


def unsupported(name: str, advice: str = "") -> UnsupportedFunctionError:
    """The error for a NumPy function that has no counterpart here; its remedy ends with some advice."""
    # Only a whole function can be taught; a name with an option behind it is not one.
    is_function = all(part.isidentifier() for part in name.split("."))
    taught = f"teach funcgrad: @fg.extend.implements({name}) on a function composed of them, or "
    return UnsupportedFunctionError(
        f"{name} is not supported on traced arrays",
        source=Source(*user_location()),
        remedy="Write it with functions of fg.numpy, or "
        f"{taught if is_function else ''}fg.custom_vjp around the call.{advice}",
    )
