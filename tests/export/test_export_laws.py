"""Every primitive on its samples: exported and run without funcgrad, or refused by name."""

from __future__ import annotations

import functools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lawbook.cases import Case, cases, classes
from lawbook.numerics import assert_close
from standalone import run_standalone

from funcgrad.compile.export.bodies import body_of
from funcgrad.compile.export.module_text import Door, Leaf, module_text
from funcgrad.compile.passes.scheduling.lowerings import NotLowered
from funcgrad.ir.program import Program
from funcgrad.tracing.primitive import Primitive

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

# What the factors are is a matter between this primitive and the one that solves with them.
UNCOMPARED = ("lu_factors",)


@functools.cache
def samples() -> list[Case]:
    return [case for case in cases() if case.dtype == np.float64 and not meets_infinity(case)]


def meets_infinity(case: Case) -> bool:
    """Where native code is right and NumPy need not be, or says so: infinity beside strong zeros."""
    values = case.values(case.rng())
    return case.cls.name.startswith("strong_zero") and not all(np.all(np.isfinite(x)) for x in values)


ENGINES = ("numba", "numpy")


def program_module(program: Program, name: str, engine: str = "numba") -> str:
    """A Program as a module with a function of its flat inputs, for its own sizes, that returns a tuple."""
    body = body_of(program, name, engine)
    parameters = [local or f"unused{k}" for k, (local, _) in enumerate(body.inputs)]
    leaves = [
        Leaf(local, parameter, v.aval, flat)
        for parameter, (local, flat), v in zip(parameters, body.inputs, program.inputs, strict=True)
        if local
    ]
    returned = f"({', '.join(body.results)}{',' if len(body.results) == 1 else ''})"
    door = Door(name, parameters, returned, [f"{name}.", "A Program for its own sizes."], True, [], {})
    return module_text(door, leaves, ["", *body.lines, f"    return {returned}"], body.constants, engine)


@functools.cache
def modules(engine: str) -> dict[str, str | NotLowered]:
    """The module of every sample, or why there is none."""
    found: dict[str, str | NotLowered] = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        for case in samples():
            try:
                found[case.id] = program_module(case.program(case.values(case.rng())), "law", engine)
            except NotLowered as error:
                found[case.id] = error
    return found


@functools.cache
def results(engine: str, folder: Path) -> dict[str, Any]:
    """What the modules of all samples compute."""
    exported = [case for case in samples() if isinstance(modules(engine)[case.id], str)]
    jobs = [("law", str(modules(engine)[case.id]), [tuple(case.values(case.rng()))]) for case in exported]
    answers = run_standalone(jobs, folder, compiled=False)
    return {case.id: answer for case, (answer,) in zip(exported, answers, strict=True)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("laws")


@pytest.mark.at_length
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("cls", classes(), ids=lambda cls: cls.name)
def test_exported_or_refused(cls: type[Primitive], engine: str, folder: Path) -> None:
    for case in [case for case in samples() if case.cls is cls and cls.name not in UNCOMPARED]:
        module = modules(engine)[case.id]
        if isinstance(module, NotLowered):
            assert str(module), case.id
            continue
        with np.errstate(all="ignore"):
            values = case.values(case.rng())
            wanted = case.program(values).evaluate(*values)
        found = results(engine, folder)[case.id]
        assert not isinstance(found, str), f"{case.id}: {found}"
        for x, y in zip(found, wanted, strict=True):
            assert np.asarray(x).dtype == np.asarray(y).dtype, case.id
            assert np.shape(x) == np.shape(y), case.id
            assert_close(x, y)


HIGHER = "higher orders by parameters need zeta functions"
NO_SCHUR = "neither NumPy nor Numba has a Schur form of real matrices"
HALVES = "of float16 has no native form"
REFUSED = {
    "betainc_by_parameters-2": HIGHER,
    "gammainc_by_parameter-1": HIGHER,
    **{f"has_no_factor-{k}": "whether a factor exists is told by NumPy's error" for k in range(3)},
    "host_call-0": "is a function of Python's, called with values",
    "law_value-0": "it is computed by scipy.stats",
    "law_value-1": "it is computed by scipy.stats",
    "random_normal-2": HALVES,
    "random_uniform-2": HALVES,
    "regular-0": "solvers have no form outside of funcgrad",
    "retraced-0": "solvers have no form outside of funcgrad",
    "schur-0": NO_SCHUR,
    "schur-1": NO_SCHUR,
    "schur_turn-0": NO_SCHUR,
    "schur_turn-1": NO_SCHUR,
    "solved-0": "which calls functions of Python with values",
    "solved-1": "which calls functions of Python with values",
    "sparse_found-0": "the solver is SciPy's",
    "sparse_solve-0": "sparse factors are SciPy's",
    "sparse_solve-1": "sparse factors are SciPy's",
    "sparse_solve-2": "sparse factors are SciPy's",
    "special-2": "SciPy has no function spherical_jn",
    "special-3": "SciPy has no function sici_si",
    **{f"spline_filter-{k}": "the filter is SciPy's" for k in range(4)},
}
"""The samples that have no form outside of funcgrad, and why."""

REFUSED_BY_NUMBA = {
    "bitwise_count-1": "of u8[4] has no native form",
    "dot_general-12": "of bool is no product that BLAS has",
}
"""And those of which NumPy has what Numba has not."""


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_refused_is_listed_with_its_reason(engine: str) -> None:
    listed = REFUSED | (REFUSED_BY_NUMBA if engine == "numba" else {})
    found = {
        case.id.removesuffix("-float64"): str(modules(engine)[case.id])
        for case in samples()
        if not isinstance(modules(engine)[case.id], str)
    }
    assert found.keys() == listed.keys()
    assert [name for name, reason in listed.items() if reason not in found[name]] == []
