"""Every law, for every primitive of the catalog, on every sample and dtype. A new class brings its tests.

A test is one law of one primitive; a case that fails is named in its error.
"""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from lawbook import identities as laws
from lawbook.cases import Case, cases, classes, law_of
from lawbook.numerics import is_inexact, snapshot

from funcgrad.errors import FuncgradError, NotDifferentiableError
from funcgrad.ir.avals import Aval, aval_of
from funcgrad.ir.program import Equation, Literal, Program
from funcgrad.tracing.primitive import Primitive

ALL = list(cases())
DIFFERENTIABLE = [case for case in ALL if case.sample.differentiable]
DOUBLE = [case for case in DIFFERENTIABLE if case.dtype in (np.float64, np.complex128)]
SINGLE = [case for case in DIFFERENTIABLE if case.dtype in (np.float32, np.complex64)]

FIRST = [case for case in ALL if case.dtype == np.float64]
"""One case for each sample, for what does not depend on the dtype."""

every_sample = law_of(FIRST)
every_case = law_of(ALL)
differentiable_case = law_of(DIFFERENTIABLE)
double_case = law_of(DOUBLE)
single_case = law_of(SINGLE)
every_class = pytest.mark.parametrize("cls", classes(), ids=lambda cls: cls.name)


# -- the class ------------------------------------------------------------


@every_class
def test_class_is_documented(cls: type[Primitive]) -> None:
    assert cls.__doc__, f"{cls.name} has no docstring"
    assert cls.samples(), f"{cls.name} has no samples"


@every_class
def test_only_constant_operations_lack_differentiable_samples(cls: type[Primitive]) -> None:
    """A class all of whose samples say ``differentiable=False`` has no tangents, or refuses them."""
    if any(sample.differentiable for sample in cls.samples()):
        return
    for case in (case for case in ALL if case.cls is cls):
        values = case.values(case.rng())
        active = laws.active_inputs(values)
        if not any(active):
            continue
        program = case.program(values)
        try:
            parts = laws.split_of(program, active)
        except NotDifferentiableError:
            continue
        assert not any(parts.has_tangent), f"{case} has a derivative that no sample tests"


@every_sample
def test_equal_parameters_make_one_primitive(case: Case) -> None:
    primitive = case.primitive
    assert case.cls(**case.sample.params) is primitive
    assert copy.copy(primitive) is primitive
    assert copy.deepcopy(primitive) is primitive
    assert dict(primitive.params) == case.sample.params


@every_sample
def test_pickle_returns_the_same_primitive(case: Case) -> None:
    assert pickle.loads(pickle.dumps(case.primitive)) == case.primitive


# -- types and values ------------------------------------------------------------


@every_case
def test_inferred_avals_are_those_of_the_result(case: Case) -> None:
    values = case.values(case.rng())
    program = case.program(values)
    laws.values_of(program, values)
    assert not any(v.aval.weak for v in program.outputs), "strong inputs gave a weak result"


@every_case
def test_weakness_follows_the_rule(case: Case) -> None:
    """Only `keeps_weak` operations on nothing but weak scalars may have a weak result."""
    avals = [aval_of(x) for x in case.values(case.rng())]
    weak = [Aval((), a.dtype, True) if a.ndim == 0 and a.dtype in WEAK else a for a in avals]
    if not any(a.weak for a in weak):
        return
    found = case.primitive.inferred(tuple(weak))
    strong = case.primitive.inferred(tuple(avals))
    outs, strong_outs = (found, strong) if case.primitive.multiple else ((found,), (strong,))
    for out, plain in zip(outs, strong_outs, strict=True):
        assert out.strong is plain, "weakness of an input changed the dtype"
        if not all(a.weak for a in weak):
            assert not out.weak, "an array among the inputs must make the result strong"


WEAK = tuple(np.dtype(t) for t in (np.bool_, np.int64, np.float64, np.complex128))


@every_case
def test_source_computes_what_evaluate_does(case: Case) -> None:
    values = case.values(case.rng())
    laws.assert_source_is_evaluation(case.program(values), values)


@every_case
def test_bind_on_arrays_evaluates(case: Case) -> None:
    values = case.values(case.rng())
    with np.errstate(all="ignore"):
        out = case.bound(values)
    laws.assert_all_close(out, laws.values_of(case.program(values), values), what="bind")


@every_case
def test_inputs_are_left_alone(case: Case) -> None:
    values = case.values(case.rng())
    laws.assert_inputs_untouched(case.program(values), values)


@every_case
def test_overwriting_evaluation_gives_the_same(case: Case) -> None:
    """`evaluate_over` may use the memory of the first input, and of no other."""
    if not case.cls.overwrites:
        return
    values = case.values(case.rng())
    expected = laws.values_of(case.program(values), values)
    first, *others = [np.array(x) if isinstance(x, np.ndarray) else x for x in values]
    with np.errstate(all="ignore"):
        out = case.primitive.evaluate_over(first, *others)
    laws.assert_all_close(out if case.primitive.multiple else (out,), expected, what="evaluate_over")
    assert snapshot(others) == snapshot(values[1:]), "evaluate_over wrote into an input that is not the first"


@every_sample
def test_result_owns_its_memory_unless_it_says_so(case: Case) -> None:
    values = case.values(case.rng())
    if case.primitive.aliases:
        return
    outs = laws.values_of(case.program(values), values)
    for x in outs:
        for y in values:
            shared = isinstance(x, np.ndarray) and isinstance(y, np.ndarray) and np.may_share_memory(x, y)
            assert not shared, f"{case.primitive} returned a view of an input without `aliases`"


@every_case
def test_simplification_changes_nothing(case: Case) -> None:
    values = case.values(case.rng())
    laws.assert_simplified_is_equal(case.program(values), values)


@every_sample
def test_text_is_the_program(case: Case) -> None:
    values = case.values(case.rng())
    program = case.program(values)
    laws.assert_text_is_the_program(program)
    active = laws.active_inputs(values)
    if case.sample.differentiable:
        laws.assert_text_is_the_program(laws.forward_of(program, active))
        laws.assert_text_is_the_program(laws.pullback_program(program, active))


@every_case
def test_numpy_source_runs(case: Case) -> None:
    values = case.values(case.rng())
    laws.assert_numpy_source_runs(case.program(values), values)


# -- derivatives ------------------------------------------------------------


@double_case
def test_jvp_is_a_difference_quotient(case: Case) -> None:
    rng = case.rng()
    values = case.values(rng)
    active = laws.active_inputs(values)
    assert any(active), f"{case} says it is differentiable and has no floating-point input"
    for flags in laws.each_and_all(active):
        laws.assert_jvp_is_numerical(case.program(values), values, rng, flags)


@differentiable_case
def test_vjp_is_the_transpose_of_jvp(case: Case) -> None:
    rng = case.rng()
    values = case.values(rng)
    for flags in laws.each_and_all(laws.active_inputs(values)):
        laws.assert_vjp_is_transposed_jvp(case.program(values), values, rng, flags)


@pytest.mark.at_length
@double_case
def test_second_derivatives(case: Case) -> None:
    rng = case.rng()
    values = case.values(rng)
    laws.assert_second_order(case.program(values), values, rng)


@single_case
def test_single_precision_is_double_precision_rounded(case: Case) -> None:
    rng = case.rng()
    values = case.values(rng)
    laws.assert_precisions_agree(case.program(values), values, case.exact_program(values), rng)


@differentiable_case
def test_transpose_in_every_linear_input(case: Case) -> None:
    """What `linear_in` promises is so, and the transpose rule is the transpose."""
    if case.sample.through is not None:
        return  # its inputs are not the primitive's
    rng = case.rng()
    values = case.values(rng)
    program = case.program(values)
    for flags in laws.choices(len(values)):
        if not case.primitive.linear_in(flags) or not laws.all_inexact(values, flags):
            continue
        part = laws.depending_on(program, flags)
        laws.assert_linear_in(part, values, rng, flags)
        laws.assert_transpose_identity(part, values, rng, flags)


@differentiable_case
def test_rules_take_scalars_as_literals(case: Case) -> None:
    """Where an input is a constant of the Program, the rules meet a NumPy scalar and give the same."""
    for weak in (False, True):
        assert_rules_take_literals(case, weak)


def assert_rules_take_literals(case: Case, weak: bool) -> None:
    """Each scalar input of a case in turn, as a constant."""
    rng = case.rng()
    values = case.values(rng)
    program = case.program(values)
    for k, x in enumerate(values):
        active = tuple([is_inexact(y) and j != k for j, y in enumerate(values)])
        if np.ndim(x) or not any(active):
            continue
        constant = with_literal(program, k, Literal(x, Aval((), x.dtype, weak)))
        others = [y for j, y in enumerate(values) if j != k]
        flags = tuple([a for j, a in enumerate(active) if j != k])
        tangents = laws.given(laws.tangents_for(rng, values, active))
        expected = laws.values_of(laws.forward_of(program, active), [*values, *tangents])
        seen = laws.values_of(laws.forward_of(constant, flags), [*others, *tangents])
        laws.assert_all_close(seen, expected, what=f"input {k} as a literal")
        laws.assert_vjp_is_transposed_jvp(constant, others, rng, flags)
        laws.assert_selection_masks_cotangents(constant, others, rng)


def with_literal(program: Program, k: int, literal: Literal) -> Program:
    """The Program with input `k` replaced by a constant."""
    (equation,) = program.equations
    inputs = tuple([literal if j == k else v for j, v in enumerate(equation.inputs)])
    rest = tuple([v for j, v in enumerate(program.inputs) if j != k])
    return Program(rest, (), (Equation(equation.primitive, inputs, equation.outputs),), program.outputs)


@differentiable_case
def test_selection_masks_cotangents(case: Case) -> None:
    rng = case.rng()
    values = case.values(rng)
    laws.assert_selection_masks_cotangents(case.program(values), values, rng)


@every_case
def test_nothing_leaks_from_what_is_not_selected(case: Case) -> None:
    values = case.values(case.rng())
    program = case.program(values)
    if any(laws.active_inputs(values)) and any(v.aval.inexact for v in program.outputs):
        laws.assert_nothing_leaks(program, values)


# -- batching ------------------------------------------------------------


@every_case
def test_vmap_is_a_loop(case: Case) -> None:
    rng = case.rng()
    examples = [case.values(rng) for _ in range(laws.BATCH)]
    program = case.program(examples[0])
    for flags in laws.choices(len(program.inputs)):
        laws.assert_vmap_is_loop(program, examples, flags)


@pytest.mark.at_length
@differentiable_case
def test_vmap_of_derivatives_is_a_loop(case: Case) -> None:
    rng = case.rng()
    examples = [case.values(rng) for _ in range(laws.BATCH)]
    program = case.program(examples[0])
    active = laws.active_inputs(examples[0])
    for derived in (laws.forward_of(program, active), laws.pullback_program(program, active)):
        extended = [[*values, *laws.cotangents_for(rng, derived, len(values))] for values in examples]
        for flags in (
            (True,) * len(derived.inputs),
            (*[True] * len(active), *[False] * len(extended[0][len(active) :])),
        ):
            laws.assert_vmap_is_loop(derived, extended, flags, 1e-4 if case in SINGLE else 1e-9)


@differentiable_case
def test_derivatives_of_vmap_are_transposes(case: Case) -> None:
    rng = case.rng()
    examples = [case.values(rng) for _ in range(laws.BATCH)]
    program = case.program(examples[0])
    stacked = [np.stack(xs) for xs in zip(*examples, strict=True)]
    batched = laws.batched_of(program, laws.BATCH, (True,) * len(stacked))
    laws.assert_vjp_is_transposed_jvp(batched, stacked, rng, laws.active_inputs(stacked))


# -- refusals ------------------------------------------------------------

ERRORS = [(cls, index, sample) for cls in classes() for index, sample in enumerate(cls.error_samples())]


@pytest.mark.parametrize(
    ("cls", "index", "sample"), ERRORS, ids=lambda x: getattr(x, "name", x if isinstance(x, int) else "")
)
def test_error_samples_are_refused_in_words(cls: type[Primitive], index: int, sample: Any) -> None:
    values = sample.draw(np.random.default_rng(index), np.float64)
    with pytest.raises(sample.error) as caught:
        cls(**sample.params).bind(*values)
    assert sample.words in str(caught.value)
    assert isinstance(caught.value, FuncgradError), "a refusal of ours must carry the user's line"
