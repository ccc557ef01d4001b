"""What a first call imports is counted: each module is a third of a millisecond that every process waits.

The numbers may fall. One that rises is a decision: what a first gradient does without is imported when it is
first used, as `Later` or by a table of names.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from importlib import import_module

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.numpy import later
from funcgrad.numpy.tracers import made_inside, mattering
from funcgrad.scipy import special
from funcgrad.tracing.overwriting import DRAWING_METHODS
from funcgrad.tracing.python.attributes import SERIES

CALLS = {
    "import": "import numpy, funcgrad",
    "grad": (
        "import numpy as np, funcgrad as fg\n"
        "x = np.linspace(0.0, 1.0, 10)\n"
        "print(fg.grad(lambda x: np.sum(np.sin(x) * x + x))(x)[0], file=sys.stderr)"
    ),
    "jit": (
        "import numpy as np, funcgrad as fg\n"
        "x = np.linspace(0.0, 1.0, 10)\n"
        "print(fg.jit(fg.grad(lambda x: np.sum(np.sin(x) * x + x)))(x)[0], file=sys.stderr)"
    ),
    "special": (
        "import numpy as np, funcgrad as fg, scipy.special\n"
        "x = np.linspace(0.0, 1.0, 10)\n"
        "print(fg.grad(lambda x: np.sum(scipy.special.expit(x)))(x)[0], file=sys.stderr)"
    ),
}
"""Programs of users by name."""

MOST = {"import": 1, "grad": 180}
"""Modules of this package that each may import."""

SPARED = (
    *("difflib", "hashlib", "numpy.polynomial", "numpy.random", "scipy", "numba", "llvmlite"),
    *("funcgrad.api.jit", "funcgrad.api.python.hooks", "funcgrad.compile.runtime.executable"),
    *("funcgrad.transforms.control.step", "funcgrad.torch", "funcgrad.display"),
)
"""What costs milliseconds, and no un-jitted gradient of plain arithmetic has a use for."""


@cache
def imported(call: str) -> frozenset[str]:
    """The modules that a program has imported in a process of its own."""
    code = f"import sys\n{CALLS[call]}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return frozenset(done.stdout.split())


@pytest.mark.parametrize("call", MOST)
def test_no_more_modules_are_imported(call: str) -> None:
    found = sorted(name for name in imported(call) if name.partition(".")[0] == "funcgrad")
    assert 0 < len(found) <= MOST[call], found


def test_a_jitted_call_imports_no_generators_of_random_numbers() -> None:
    assert "funcgrad.api.python.guarded.state" in imported("jit")
    assert not imported("jit") & {"numpy.random", "secrets", "hashlib"}


DRAWING = """
import types
import numpy
import funcgrad as fg

library = types.ModuleType("library")
text = "import numpy\\ndef draw(): return numpy.random.normal()\\n"
exec(compile(text, "/usr/lib/python3/site-packages/library/draws.py", "exec"), vars(library))
assert "random" not in vars(numpy)
print(fg.jit(lambda x: x * library.draw())(1.0))
"""


def test_a_generator_that_is_imported_while_a_function_is_recorded_is_watched_all_the_same() -> None:
    done = subprocess.run([sys.executable, "-c", DRAWING], capture_output=True, text=True, check=False)
    assert "ConcretizationError" in done.stderr, (done.stdout, done.stderr)
    assert "draws from a generator of random numbers" in done.stderr


def test_a_common_special_function_imports_no_others() -> None:
    found = imported("special")
    assert "funcgrad.scipy.special.common_functions" in found
    assert not found & {"funcgrad.ops.specials", "funcgrad.scipy.special.bessel_functions"}


@pytest.mark.parametrize("home", special.MODULES)
def test_special_functions_are_those_of_their_modules(home: str) -> None:
    found = import_module(home)
    assert special.MODULES[home].split() == sorted(found.__all__)
    assert {*found.__all__} <= {*dir(special)}


@pytest.mark.parametrize("call", MOST)
def test_what_is_slow_to_import_is_not_imported(call: str) -> None:
    assert "numpy" in imported(call)
    assert not imported(call) & {*SPARED}


def test_names_written_out_are_those_of_numpy() -> None:
    series = {name for name, kind in vars(np.polynomial).items() if isinstance(kind, type)}
    assert series == SERIES
    methods = {name for name in dir(np.random.Generator) if not name.startswith("_")}
    assert methods - {"shuffle"} <= DRAWING_METHODS


def test_functions_known_to_be_called_otherwise_are_those_that_are() -> None:
    assert frozenset(made_inside.CONVERTERS) == mattering.CONVERTED
    assert frozenset(made_inside.ASKED) == mattering.ASKED


@pytest.mark.parametrize("module", later.MODULES)
def test_names_imported_later_are_those_of_their_modules(module: str) -> None:
    found = import_module(f"funcgrad.numpy.{module}")
    assert {*later.MODULES[module]} <= {*vars(found)}
    assert {*getattr(found, "__all__", ())} <= {*fg.numpy.__all__}
