"""The laws themselves, as functions of a Program and values: they know no particular primitive."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from funcgrad.ir.check import check_linear, check_program
from funcgrad.ir.evaluate.runner import source_function, walk
from funcgrad.ir.program import Literal, Program
from funcgrad.ir.text.parsing import parse
from funcgrad.ir.text.printing import program_text
from funcgrad.ops.elementwise.selection import where
from funcgrad.transforms.batching import batch_program
from funcgrad.transforms.linearize import Linearized, jvp_program, linearize_program
from funcgrad.transforms.replay import inline, inputs_of, transforming
from funcgrad.transforms.simplify import simplify_program
from funcgrad.transforms.transpose import transpose_program
from lawbook.numerics import (
    FIRST_ORDER,
    SECOND_ORDER,
    Values,
    as_dtype,
    assert_close,
    assert_near,
    assert_same_type,
    direction_like,
    is_inexact,
    numerical_derivative,
    pairing,
    snapshot,
)

Flags = tuple[bool, ...]

BATCH = 3


# -- transforms, checked -----------------------------------------------------------------------


def forward_of(program: Program, active: Flags) -> Program:
    """The jvp of every output."""
    forward = jvp_program(program, active, len(program.outputs))
    check_program(forward)
    return forward


def split_of(program: Program, active: Flags) -> Linearized:
    """The Program with residuals, and the linear Program that takes them."""
    parts = linearize_program(program, active, len(program.outputs))
    check_program(parts.primal)
    check_program(parts.linear)
    check_linear(parts.linear, parts.n_residuals)
    return parts


def transposed_of(linear: Program, n_fixed: int) -> Program:
    """The transpose, which is linear in the cotangents."""
    transposed = transpose_program(linear, n_fixed)
    check_program(transposed)
    check_linear(transposed, n_fixed)
    return transposed


def batched_of(program: Program, size: int, batched: Flags) -> Program:
    """The Program over a batch axis."""
    wide = batch_program(program, size, batched)
    check_program(wide)
    return wide


# -- running ------------------------------------------------------------


def values_of(program: Program, values: Values) -> tuple[Any, ...]:
    """The outputs, by walking the equations and checking each result against its variable's aval."""
    env: dict[Any, Any] = dict(zip(program.inputs, values, strict=True))
    env.update(program.captured)
    with np.errstate(all="ignore"):
        for equation in program.equations:
            inputs = [a.value if isinstance(a, Literal) else env[a] for a in equation.inputs]
            out = equation.primitive.evaluate(*inputs)
            outs = out if equation.primitive.multiple else (out,)
            for v, x in zip(equation.outputs, outs, strict=True):
                seen = np.asarray(x)
                assert seen.shape == v.aval.shape, (
                    f"{equation.primitive}: {v.aval} evaluates to shape {seen.shape}"
                )
                assert seen.dtype == v.aval.dtype, f"{equation.primitive}: {v.aval} evaluates to {seen.dtype}"
                env[v] = x
    return tuple([a.value if isinstance(a, Literal) else env[a] for a in program.outputs])


def assert_source_is_evaluation(program: Program, values: Values) -> None:
    """The lines of NumPy source compute what the primitives do, in the same types."""
    expected = values_of(program, values)
    with np.errstate(all="ignore"):
        assert_all_close(source_function(program)(*values), expected, what="source")
        assert_all_close(walk(program, values), expected, what="walk")


def assert_inputs_untouched(program: Program, values: Values) -> None:
    """Evaluation writes into no input, and does not care how the inputs lie in memory."""
    before = snapshot(values)
    expected = values_of(program, values)
    assert snapshot(values) == before, "an input was modified"
    frozen = [read_only(x) for x in values]
    assert_all_close(values_of(program, frozen), expected, what="read-only inputs")
    strided = [non_contiguous(x) for x in values]
    assert_all_close(values_of(program, strided), expected, what="strided inputs")


def read_only(x: Any) -> Any:
    """A copy that refuses to be written."""
    if not isinstance(x, np.ndarray):
        return x
    x = x.copy()
    x.flags.writeable = False
    return x


def non_contiguous(x: Any) -> Any:
    """Equal values as a view with gaps and a negative stride."""
    if not isinstance(x, np.ndarray) or x.ndim == 0:
        return x
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
    view = wide[..., ::-2]
    view[...] = x
    return view


def assert_all_close(
    actual: Values, expected: Values, tolerance: float | None = None, what: str = "value"
) -> None:
    """`assert_close` for every output."""
    assert len(actual) == len(expected), f"{what}: {len(actual)} outputs instead of {len(expected)}"
    for k, (x, y) in enumerate(zip(actual, expected, strict=True)):
        assert_close(x, y, tolerance, f"{what}, output {k}")


# -- derivatives ------------------------------------------------------------


def active_inputs(values: Values) -> Flags:
    """Which values may be differentiated."""
    return tuple([is_inexact(x) for x in values])


def choices(n_inputs: int) -> list[Flags]:
    """Every combination of inputs that is not empty; of many inputs each alone, all but one, and all."""
    if n_inputs <= 3:
        return [flags for flags in product((True, False), repeat=n_inputs) if any(flags)]
    alone = [tuple([i == k for i in range(n_inputs)]) for k in range(n_inputs)]
    rest = [tuple([not flag for flag in flags]) for flags in alone]
    return [(True,) * n_inputs, *alone, *rest]


def each_and_all(flags: Flags) -> list[Flags]:
    """All flagged inputs together, and each alone: rules must take None for any tangent."""
    alone = [tuple([i == k for i in range(len(flags))]) for k, flag in enumerate(flags) if flag]
    return [flags, *alone] if len(alone) > 1 else [flags]


def tangents_for(rng: np.random.Generator, values: Values, active: Flags) -> list[Any]:
    """A random direction for the active inputs, None for the others."""
    return [direction_like(rng, x) if a else None for x, a in zip(values, active, strict=True)]


def given(tangents: Values) -> list[Any]:
    """The tangents that are there."""
    return [t for t in tangents if t is not None]


def assert_jvp_is_numerical(
    program: Program, values: Values, rng: np.random.Generator, active: Flags, tolerance: float = FIRST_ORDER
) -> None:
    """Forward mode is the limit of difference quotients."""
    tangents = tangents_for(rng, values, active)
    both = forward_of(program, active)
    results = values_of(both, [*values, *given(tangents)])
    n = len(program.outputs)
    assert_all_close(results[:n], values_of(program, values), what="value beside its tangent")
    expected = [d for d in numerical_derivative(program, values, tangents) if d is not None]
    assert len(results) == n + len(expected)
    for k, (dot, wanted) in enumerate(zip(results[n:], expected, strict=True)):
        assert_near(dot, wanted, tolerance, f"tangent {k} along {active}")


def pullback_program(program: Program, active: Flags) -> Program:
    """``inputs, cotangents -> cotangents of the active inputs``, for outputs that depend on them."""
    parts = split_of(program, active)
    transposed = transposed_of(parts.linear, parts.n_residuals)
    with transforming(program, "vjp") as recorder:
        inputs = inputs_of(recorder, program.inputs)
        residuals = inline(recorder, parts.primal, inputs)[len(program.outputs) :]
        cotangents = inputs_of(recorder, transposed.inputs[parts.n_residuals :])
        bars = inline(recorder, transposed, [*residuals, *cotangents])
        pullback = recorder.program([t._index for t in [*inputs, *cotangents]], [t._index for t in bars])
    check_program(pullback)
    return pullback


def cotangents_for(rng: np.random.Generator, pullback: Program, n_inputs: int) -> list[Any]:
    """Random cotangents for the outputs that the pullback takes."""
    return [direction_like(rng, np.zeros(v.aval.shape, v.aval.dtype)) for v in pullback.inputs[n_inputs:]]


def assert_vjp_is_transposed_jvp(
    program: Program, values: Values, rng: np.random.Generator, active: Flags, tolerance: float | None = None
) -> None:
    """``<c, J t> = <J^T c, t>``: reverse mode is the transpose of forward mode."""
    parts = split_of(program, active)
    pullback = pullback_program(program, active)
    cotangents = cotangents_for(rng, pullback, len(values))
    bars = values_of(pullback, [*values, *cotangents])
    for bar, x in zip(bars, [x for x, a in zip(values, active, strict=True) if a], strict=True):
        assert_same_type(bar, x, "cotangent")
    tangents = tangents_for(rng, values, active)
    residuals = values_of(parts.primal, values)[len(program.outputs) :]
    dots = values_of(parts.linear, [*residuals, *given(tangents)])
    left, right = pairing(cotangents, dots), pairing(bars, given(tangents))
    assert_near(
        left, right, tolerance or pairing_tolerance(values), f"<c, J t> against <J^T c, t> for {active}"
    )


def pairing_tolerance(values: Values) -> float:
    """Rounding allowed in a sum of products, by the coarsest input."""
    return 1e-4 if any(np.asarray(x).dtype in (np.float32, np.complex64) for x in values) else 1e-9


def assert_second_order(program: Program, values: Values, rng: np.random.Generator) -> None:
    """The derivatives' own derivatives: forward and reverse mode over both forward and reverse mode."""
    active = active_inputs(values)
    forward = forward_of(program, active)
    reverse = pullback_program(program, active)
    tangents = given(tangents_for(rng, values, active))
    at_forward = [*values, *tangents]
    at_reverse = [*values, *cotangents_for(rng, reverse, len(values))]
    for derived, point in ((forward, at_forward), (reverse, at_reverse)):
        inputs = active_inputs(point)
        assert_jvp_is_numerical(derived, point, rng, inputs, SECOND_ORDER)
        assert_vjp_is_transposed_jvp(derived, point, rng, inputs)


def assert_precisions_agree(
    program: Program, values: Values, exact: Program, rng: np.random.Generator
) -> None:
    """The derivatives in single precision are those of the same Program in double precision, rounded.

    `exact` is the Program at the double-precision avals of `values`.
    """
    active = active_inputs(values)
    for make in (forward_of, pullback_program):
        single, double = make(program, active), make(exact, active)
        extra = cotangents_for(rng, single, len(values))
        coarse = values_of(single, [*values, *extra])
        wide = [as_dtype(x, v.aval.dtype) for x, v in zip([*values, *extra], double.inputs, strict=True)]
        fine = values_of(double, wide)
        for k, (x, y) in enumerate(zip(coarse, fine, strict=True)):
            assert_near(x, y, 1e-4, f"{make.__name__} in single precision, output {k}")


def masked(program: Program, masks: Sequence[Any]) -> Program:
    """The Program whose floating-point results are 0 where their mask is False."""
    with transforming(program, "masked") as recorder:
        inputs = inputs_of(recorder, program.inputs)
        outs = inline(recorder, program, inputs)
        kept = [
            where(mask, out, out.dtype.type(0)) if out.aval.inexact else out
            for out, mask in zip(outs, masks, strict=True)
        ]
        return recorder.program([t._index for t in inputs], [recorder.index_of(x) for x in kept])


def assert_selection_masks_cotangents(program: Program, values: Values, rng: np.random.Generator) -> None:
    """The pullback of a selection of results is the pullback of cotangents with zeros in them."""
    active = active_inputs(values)
    masks = [np.asarray(rng.integers(0, 2, v.aval.shape), np.bool_)[()] for v in program.outputs]
    plain, selecting = pullback_program(program, active), pullback_program(masked(program, masks), active)
    cotangents = cotangents_for(rng, plain, len(values))
    moving = [mask for mask, has in zip(masks, split_of(program, active).has_tangent, strict=True) if has]
    zeroed = [
        as_dtype(np.where(m, c, 0), np.asarray(c).dtype) for m, c in zip(moving, cotangents, strict=True)
    ]
    seen = values_of(selecting, [*values, *cotangents])
    assert_all_close(seen, values_of(plain, [*values, *zeroed]), what="pullback of a selection")


def assert_nothing_leaks(program: Program, values: Values) -> None:
    """Where no result is selected every cotangent is exactly 0, at any values, even NaN and infinity."""
    active = active_inputs(values)
    masks = [np.zeros(v.aval.shape, np.bool_)[()] for v in program.outputs]
    pullback = pullback_program(masked(program, masks), active)
    ones = [np.ones(v.aval.shape, v.aval.dtype)[()] for v in pullback.inputs[len(values) :]]
    for bar in values_of(pullback, [*values, *ones]):
        assert not np.any(bar), f"a cotangent of 0 became {bar}"


# -- linear operations ------------------------------------------------------------


def all_inexact(values: Values, flags: Flags) -> bool:
    """Whether the flagged values can have tangents at all."""
    return all(is_inexact(x) for x, flag in zip(values, flags, strict=True) if flag)


def depending_on(program: Program, flags: Flags) -> Program:
    """The Program of one equation, with those of its results that depend on the flagged inputs."""
    (equation,) = program.equations
    depends = equation.primitive.dependent_results(flags)
    if depends is None:
        return program
    outputs = tuple([v for v, flag in zip(program.outputs, depends, strict=True) if flag])
    return Program(program.inputs, program.captured, program.equations, outputs, program.name)


def assert_linear_in(program: Program, values: Values, rng: np.random.Generator, flags: Flags) -> None:
    """``f(2 s - 3 t) = 2 f(s) - 3 f(t)`` for random values of the flagged inputs."""

    def at(parts: Sequence[Any]) -> tuple[Any, ...]:
        fresh = iter(parts)
        return values_of(program, [next(fresh) if flag else x for x, flag in zip(values, flags, strict=True)])

    chosen = [x for x, flag in zip(values, flags, strict=True) if flag]
    first = [direction_like(rng, x) for x in chosen]
    second = [direction_like(rng, x) for x in chosen]
    mixed = [as_dtype(2 * s - 3 * t, np.asarray(s).dtype) for s, t in zip(first, second, strict=True)]
    for k, (m, s, t) in enumerate(zip(at(mixed), at(first), at(second), strict=True)):
        assert_near(m, 2 * s - 3 * t, 1e-4, f"linearity in {flags}, output {k}")


def assert_transpose_identity(
    program: Program, values: Values, rng: np.random.Generator, subset: Flags
) -> None:
    """``<c, A t> = <A^T c, t>`` for a Program that is linear in the flagged inputs."""
    fixed = [k for k, s in enumerate(subset) if not s]
    linear = [k for k, s in enumerate(subset) if s]
    order = tuple([program.inputs[k] for k in (*fixed, *linear)])
    turned = Program(order, program.captured, program.equations, program.outputs, program.name)
    transposed = transposed_of(turned, len(fixed))
    tangents = [direction_like(rng, values[k]) for k in linear]
    known = [values[k] for k in fixed]
    outs = values_of(turned, [*known, *tangents])
    cotangents = [direction_like(rng, x) for x in outs]
    bars = values_of(transposed, [*known, *cotangents])
    for bar, t in zip(bars, tangents, strict=True):
        assert_same_type(bar, t, "cotangent")
    assert_near(
        pairing(cotangents, outs), pairing(bars, tangents), pairing_tolerance(values), "transpose identity"
    )


# -- batching ------------------------------------------------------------


def assert_vmap_is_loop(
    program: Program, examples: Sequence[Values], batched: Flags, tolerance: float | None = None
) -> None:
    """A batched Program computes what the Program does on each example."""
    size = len(examples)
    stacked = [
        np.stack([example[k] for example in examples]) if flag else examples[0][k]
        for k, flag in enumerate(batched)
    ]
    singles = [
        values_of(
            program, [x if flag else y for x, y, flag in zip(example, examples[0], batched, strict=True)]
        )
        for example in examples
    ]
    outs = values_of(batched_of(program, size, batched), stacked)
    assert len(outs) == len(program.outputs)
    for k, out in enumerate(outs):
        expected = np.stack([single[k] for single in singles])
        assert_close(out, expected, tolerance, f"vmap over {batched}, output {k}")


# -- passes ------------------------------------------------------------


def assert_simplified_is_equal(program: Program, values: Values) -> None:
    """Simplification changes no result, and finds nothing to do where it has been."""
    simple = simplify_program(program)
    check_program(simple)
    if simple.is_simple:
        simple.is_simple = False
        assert simplify_program(simple) is simple
    assert_all_close(values_of(simple, values), values_of(program, values), what="simplified")


def assert_text_is_the_program(program: Program) -> None:
    """Print, parse, print: one Program and one text."""
    text = program_text(program, sources=False)
    again = parse(text)
    check_program(again)
    assert again == program, f"parsing gives another Program\n{text}\n{again}"
    assert hash(again) == hash(program)
    assert program_text(again) == text


def assert_numpy_source_runs(program: Program, values: Values) -> None:
    """The source that a reader sees is a Python function that computes the same."""
    source = program.to_numpy_source()
    namespace: dict[str, Any] = {}
    exec(compile(source, "<source of a Program>", "exec"), namespace)
    function = namespace[re.findall(r"^def (\w+)\(", source, re.MULTILINE)[-1]]
    found = function(*values)
    outs = found if isinstance(found, tuple) else (found,)
    assert_all_close(outs, values_of(program, values), what=f"NumPy source\n{source}")
