"""Integrals of functions: `quad` and what is composed of it, and `quad_vec`.

The derivative of an integral by what the integrand depends on is the integral of the derivative, and by a
limit the value there (Leibniz' rule). All derivatives that are asked for are one integral of a vector.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from funcgrad.api.derivatives.differentiate import stop_gradient
from funcgrad.api.derivatives.jacobians import jacrev
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.numpy.algebra.contraction import tensordot
from funcgrad.numpy.arrays.joining import concatenate
from funcgrad.numpy.elementwise.logic import isfinite
from funcgrad.numpy.elementwise.selection import where
from funcgrad.numpy.picking.sorting import sort
from funcgrad.ops.arrays.movement import take_span
from funcgrad.ops.arrays.structure import reshape
from funcgrad.ops.families import added
from funcgrad.scipy.derived import applied, composed
from funcgrad.scipy.optimize.options import Options, found, frozen, thawed
from funcgrad.scipy.originals import known_value, originals_of
from funcgrad.scipy.recorded import FLOAT, as_args, is_plain, known, real_scalar, scalar_function
from funcgrad.source import Source, user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import recorder_of
from funcgrad.transforms.replay import inline
from funcgrad.transforms.solved.method import Method, Programs
from funcgrad.types import Anything, Array, ArrayLike, ExtraArguments, Number, Option, ScipyResult

Function = Callable[..., Any]

ONE_BY_ONE = 32
"""Elements of a vector up to which each is integrated by `quad`, which copes with singular ends."""

NUMBER = Aval((), FLOAT)
ERRORS = (Aval((), FLOAT), Aval((), np.int64))


scipys = originals_of("integrate")
"""SciPy's functions and classes by name."""


@dataclass(frozen=True)
class Integral(Method):
    """The integral of ``programs[0]``, ``x, parameters -> array``, over ``a, b, parameters``."""

    what: str
    options: Options

    def results(self, programs: Programs, avals: tuple[Aval, ...]) -> tuple[Aval, ...]:
        return programs[0].out_avals[0].strong, *ERRORS

    def solve(self, programs: Programs, values: Sequence[Any]) -> Sequence[Any]:
        a, b, *parameters = values
        (program,) = programs

        def integrand(x: float) -> Array:
            return program.evaluate(np.float64(x), *parameters)[0]

        shape = program.out_avals[0].shape
        if self.what == "quad_vec":
            return counted(scipys("quad_vec")(integrand, float(a), float(b), full_output=True, **self.plain))
        if not shape:
            return self.by_quad(integrand, float(a), float(b))
        if program.out_avals[0].size > ONE_BY_ONE:
            options = {
                key: value
                for key, value in self.plain.items()
                if key in ("epsabs", "epsrel", "limit", "points")
            }
            return counted(scipys("quad_vec")(integrand, float(a), float(b), full_output=True, **options))
        return self.by_elements(integrand, float(a), float(b), shape)

    @property
    def plain(self) -> dict[str, Any]:
        """The options as SciPy takes them."""
        return thawed(self.options)

    def information(self, program: Program, inputs: Sequence[Any]) -> ScipyResult:
        """What SciPy reports beside value and error: of values, which there must be."""
        a, b, *parameters = [known_value(x) for x in inputs]
        if a is None or b is None or any(x is None for x in parameters):
            raise UnsupportedFunctionError(
                f"{self.what} with full_output=True needs values, and there are none under jit and vmap",
                source=Source(*user_location()),
                remedy="Leave full_output out there.",
            )

        def integrand(x: float) -> Array:
            return program.evaluate(np.float64(x), *parameters)[0]

        return scipys(self.what)(integrand, float(a), float(b), full_output=True, **self.plain)[2]

    def by_quad(self, integrand: Function, a: float, b: float) -> Sequence[Any]:
        """One number."""
        value, error = scipys("quad")(integrand, a, b, **self.plain)
        return value, error, 0

    def by_elements(self, integrand: Function, a: float, b: float, shape: tuple[int, ...]) -> Sequence[Any]:
        """Each element by itself; all of them are computed wherever one is asked for, and remembered."""
        seen: dict[float, Any] = {}

        def at(x: float) -> Array:
            value = seen.get(x)
            if value is None:
                value = seen[x] = np.ravel(integrand(x))
            return value

        value = np.empty(int(np.prod(shape)))
        largest = 0.0
        for k in range(value.size):
            value[k], error, _ = self.by_quad(lambda x, k=k: at(x)[k], a, b)
            largest = max(largest, error)
        return value.reshape(shape), largest, 0

    def tangents(
        self, programs: Programs, inputs: Sequence[Any], outs: Sequence[Any], dots: Sequence[Any]
    ) -> Sequence[Any]:
        (program,) = programs
        a, b, *parameters = inputs
        total: Any = None
        for end, dot, sign in ((a, dots[0], -1.0), (b, dots[1], 1.0)):
            if dot is not None:
                total = added(total, sign * self.at_end(program, end, dot, parameters))
        active = tuple([t is not None for t in dots[2:]])
        if any(active):
            moved = [t for t in dots[2:] if t is not None]
            total = added(total, self.moved(program, inputs, active, moved))
        return total, None, None

    def at_end(self, program: Program, end: Array, dot: Array, parameters: Sequence[Any]) -> ScipyResult:
        """The integrand at a limit, times the tangent of the limit; nothing at an infinite one."""
        if "weight" in self.plain:
            raise UnsupportedFunctionError(f"{self.what} with weight= has no derivative by its limits")
        finite = isfinite(end)
        inside = where(finite, end, 0.0)
        (value,) = inline(end._recorder, program, [inside, *parameters])
        return value * where(finite, dot, 0.0)

    def moved(
        self, program: Program, inputs: Sequence[Any], active: tuple[bool, ...], dots: Sequence[Any]
    ) -> ScipyResult:
        """The integral of the derivative by the parameters, applied to their tangents."""
        slopes = slopes_of(program, active)
        integral = found(self, (slopes,), inputs)[0]
        shape = program.out_avals[0].shape
        rows = program.out_avals[0].size
        total: Any = None
        start = 0
        for dot in dots:
            size = dot.aval.size
            part = reshape(take_span(integral, 0, start, rows * size), (*shape, size))
            total = added(total, tensordot(part, reshape(dot, (size,)), 1))
            start += rows * size
        return total


def counted(outcome: ScipyResult) -> Sequence[Any]:
    """Value, error and status of `quad_vec`."""
    value, error, info = outcome
    return value, error, info.status


def slopes_of(program: Program, active: tuple[bool, ...]) -> Program:
    """``x, parameters -> derivatives by the active parameters``, in one vector."""

    def slopes(x: Array, *parameters: Array) -> list[Any]:
        argnums = tuple([k for k, flag in enumerate(active) if flag])
        found = jacrev(lambda *p: applied(program, [x, *p])[0], argnums)(*parameters)
        return [concatenate([part.reshape(-1) for part in found])]

    return composed(slopes, program.in_avals, "slopes")


def quad(
    func: Function,
    a: ArrayLike,
    b: ArrayLike,
    args: ExtraArguments = (),
    full_output: bool = False,
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
    limit: int = 50,
    points: ArrayLike = None,
    weight: Option = None,
    wvar: Option = None,
    wopts: Option = None,
    maxp1: int = 50,
    limlst: int = 50,
    complex_func: bool = False,
) -> ScipyResult:
    """The integral of a function from `a` to `b`, and an estimate of the error, by `scipy.integrate.quad`.

    Differentiable in the limits and in all that `func` depends on, by Leibniz' rule. Where the integrand
    jumps at a place that depends on a parameter, what the jump contributes is not seen: split the integral
    there, with limits that depend on the parameter, or give the place in `points`.

    >>> def moment(s):
    ...     return fg.scipy.integrate.quad(lambda x: x**2 * np.exp(-s * x), 0.0, np.inf)[0]
    >>> print(round(moment(2.0), 8), round(fg.grad(moment)(2.0), 8))
    0.25 -0.375
    """
    places = None if points is None else tuple(points)
    given: dict[str, Any] = {"epsabs": epsabs, "epsrel": epsrel, "limit": limit}
    given.update(points=places, weight=weight, wvar=wvar, wopts=wopts)
    options = {key: value for key, value in given.items() if value is not None}
    if not callable(func):
        raise ValueError(f"quad needs a function to integrate, and was given {func!r}")
    if points is not None and recorder_of(list(points)) is not None:
        options.pop("points")
        refuse_report(full_output, "points that are traced")
        return in_pieces(func, a, b, points, as_args(args), options)
    if is_plain(a, b, args):
        options.update(maxp1=maxp1, limlst=limlst, complex_func=complex_func)
        return scipys("quad")(func, a, b, as_args(args), full_output, **options)
    if complex_func:
        refuse_report(full_output, "complex_func=True")
        (real, real_error), (imaginary, error) = (
            quad(part_of(func, k, as_args(args)), a, b, (), False, epsabs, epsrel, limit, points)
            for k in ("real", "imag")
        )
        return real + 1j * imaginary, real_error + 1j * error
    return traced_integral(func, a, b, as_args(args), options, full_output)


def traced_integral(
    func: Function,
    a: ArrayLike,
    b: ArrayLike,
    args: Sequence[Any],
    options: dict[str, Any],
    full_output: bool,
) -> ScipyResult:
    """What `quad` returns inside a trace, of a real function."""
    ends = [real_scalar(x, "quad") for x in (a, b)]
    integrand = scalar_function(func, [NUMBER], "quad", args)
    chosen = Integral("quad", frozen(options))
    inputs = [*ends, *integrand.constants]
    value, error, _ = found(chosen, (integrand.program,), inputs)
    return (value, error, chosen.information(integrand.program, inputs)) if full_output else (value, error)


def part_of(func: Function, part: str, args: Sequence[Any]) -> Function:
    """The real or the imaginary part of a function."""

    def of_point(x: Array) -> Array:
        return getattr(func(x, *args), part)

    return of_point


def refuse_report(full_output: bool, what: str) -> None:
    """Raise where SciPy would report on one integration, and there are several."""
    if full_output:
        raise UnsupportedFunctionError(
            f"full_output=True with {what} is not supported: the integral is one of several",
            source=Source(*user_location()),
            remedy="Leave full_output out; the value and its error are the first two results.",
        )


BESIDE = 4e-16
"""How far from a break a piece ends, relative to where it is: enough for its value there to be its own."""


def in_pieces(
    func: Function, a: ArrayLike, b: ArrayLike, points: ArrayLike, args: Sequence[Any], options: Anything
) -> tuple[Any, Any]:
    """The integral between breaks that may move: what a jump at one contributes is in its derivative."""
    breaks = list(sort(asoperand(list(points))))
    away = [BESIDE * (abs(stop_gradient(x)) + 1e-300) for x in breaks]
    starts = [a, *[x + d for x, d in zip(breaks, away, strict=True)]]
    stops = [*[x - d for x, d in zip(breaks, away, strict=True)], b]
    pieces = [quad(func, *ends, tuple(args), **options) for ends in zip(starts, stops, strict=True)]
    value, error = (sum(part) for part in zip(*pieces, strict=True))
    return value, error


def quad_vec(
    f: Function,
    a: ArrayLike,
    b: ArrayLike,
    epsabs: float = 1e-200,
    epsrel: float = 1e-8,
    norm: str = "2",
    cache_size: float = 100e6,
    limit: int = 10000,
    workers: int = 1,
    points: ArrayLike = None,
    quadrature: Option = None,
    full_output: bool = False,
    *,
    args: ExtraArguments = (),
) -> ScipyResult:
    """The integral of a function that returns an array, by `scipy.integrate.quad_vec`; see `quad`.

    >>> def moments(s):
    ...     return fg.scipy.integrate.quad_vec(lambda x: np.exp(-s * x) * np.array([1.0, x]), 0.0, np.inf)[0]
    >>> print(fg.jacfwd(moments)(2.0).round(6))
    [-0.25 -0.25]
    """
    given = {"epsabs": epsabs, "epsrel": epsrel, "norm": norm, "limit": limit, "quadrature": quadrature}
    options = {key: value for key, value in given.items() if value is not None}
    if points is not None:
        options["points"] = tuple(points)
    if is_plain(a, b, args):
        return scipys("quad_vec")(
            f,
            a,
            b,
            cache_size=cache_size,
            workers=workers,
            full_output=full_output,
            args=as_args(args),
            **options,
        )
    ends = [real_scalar(x, "quad_vec") for x in (a, b)]
    integrand = known(f, [NUMBER], "quad_vec", "integrand", as_args(args))
    chosen = Integral("quad_vec", frozen(options))
    inputs = [*ends, *integrand.constants]
    value, error, _ = found(chosen, (integrand.program,), inputs)
    return (value, error, chosen.information(integrand.program, inputs)) if full_output else (value, error)


def dblquad(
    func: Function,
    a: ArrayLike,
    b: ArrayLike,
    gfun: Callable[..., Any] | float,
    hfun: Callable[..., Any] | float,
    args: ExtraArguments = (),
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
) -> ScipyResult:
    """The integral of ``func(y, x)`` for x from `a` to `b` and y from ``gfun(x)`` to ``hfun(x)``.

    >>> def volume(r):
    ...     return fg.scipy.integrate.dblquad(lambda y, x: r * x * y, 0.0, r, 0.0, lambda x: x)[0]
    >>> print(round(volume(2.0), 6), round(fg.grad(volume)(2.0), 6))
    4.0 10.0
    """
    ranges = [lambda x: (limit_at(gfun, x), limit_at(hfun, x)), (a, b)]
    if is_plain(a, b, gfun, hfun, args):
        return scipys("dblquad")(func, a, b, gfun, hfun, as_args(args), epsabs, epsrel)
    return nquad(func, ranges, args, {"epsabs": epsabs, "epsrel": epsrel})


def tplquad(
    func: Function,
    a: ArrayLike,
    b: ArrayLike,
    gfun: Callable[..., Any] | float,
    hfun: Callable[..., Any] | float,
    qfun: Callable[..., Any] | float,
    rfun: Callable[..., Any] | float,
    args: ExtraArguments = (),
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
) -> ScipyResult:
    """The integral of ``func(z, y, x)``, with limits of z that depend on x and y; see `dblquad`.

    >>> box = fg.scipy.integrate.tplquad
    >>> print(round(fg.grad(lambda s: box(lambda z, y, x: s * z, 0, 1, 0, 1, 0, lambda x, y: s)[0])(2.0), 6))
    6.0
    """
    if is_plain(a, b, gfun, hfun, qfun, rfun, args):
        return scipys("tplquad")(func, a, b, gfun, hfun, qfun, rfun, as_args(args), epsabs, epsrel)
    ranges = [
        lambda y, x: (limit_at(qfun, x, y), limit_at(rfun, x, y)),
        lambda x: (limit_at(gfun, x), limit_at(hfun, x)),
        (a, b),
    ]
    return nquad(func, ranges, args, {"epsabs": epsabs, "epsrel": epsrel})


def limit_at(limit: Anything, *x: Number) -> ScipyResult:
    """A limit, which may be a function of the outer variables."""
    return limit(*x) if callable(limit) else limit


def nquad(
    func: Function,
    ranges: Sequence[Any],
    args: ExtraArguments = None,
    opts: Anything = None,
    full_output: bool = False,
) -> ScipyResult:
    """An integral over several variables, the first one innermost, by nested calls of `quad`.

    >>> def mass(s):
    ...     return fg.scipy.integrate.nquad(lambda x, y: np.exp(-s * x * y), [(0.0, 1.0), (0.0, 2.0)])[0]
    >>> print(round(fg.grad(mass)(0.0), 6))
    -1.0
    """
    extra = () if args is None else as_args(args)
    if is_plain(ranges, extra):
        return scipys("nquad")(func, ranges, extra, opts, full_output)
    refuse_report(full_output, "several variables")
    options = opts if isinstance(opts, list | tuple) else [opts] * len(ranges)
    errors: list[Any] = []

    def integrated(depth: int, outer: tuple[Any, ...]) -> Array:
        limits = (
            ranges[depth](*outer, *extra_of(ranges[depth], extra))
            if callable(ranges[depth])
            else ranges[depth]
        )
        chosen = options[depth](*outer, *extra) if callable(options[depth]) else options[depth]

        def inner(x: Array) -> Array:
            return func(x, *outer, *extra) if depth == 0 else integrated(depth - 1, (x, *outer))

        value, error = quad(inner, *limits, **(chosen or {}))
        if depth == len(ranges) - 1:
            errors.append(error)
        return value

    value = integrated(len(ranges) - 1, ())
    return value, errors[0]


def extra_of(limits: Anything, extra: tuple[Any, ...]) -> tuple[Any, ...]:
    """The further arguments for limits: SciPy hands them to users' functions, and ours take none."""
    return () if getattr(limits, "__name__", "") == "<lambda>" and limits.__module__ == __name__ else extra
