"""Every public function shows an example, and the example runs.

``--doctest-modules`` runs what stands in modules. Functions that tables make, and names that are loaded when
they are asked for, are no part of any module's text, so here every name of every namespace is looked at.
"""

from __future__ import annotations

import doctest
import io
import sys
import types
from typing import Any

import numpy as np
import pytest

import funcgrad as fg

NAMESPACES = {
    "funcgrad": fg,
    "funcgrad.numpy": fg.numpy,
    "funcgrad.numpy.linalg": fg.numpy.linalg,
    "funcgrad.numpy.fft": fg.numpy.fft,
    "funcgrad.scipy.special": fg.scipy.special,
    "funcgrad.scipy.linalg": fg.scipy.linalg,
    "funcgrad.scipy.fft": fg.scipy.fft,
    "funcgrad.scipy.integrate": fg.scipy.integrate,
    "funcgrad.scipy.interpolate": fg.scipy.interpolate,
    "funcgrad.scipy.optimize": fg.scipy.optimize,
    "funcgrad.scipy.ndimage": fg.scipy.ndimage,
    "funcgrad.scipy.signal": fg.scipy.signal,
    "funcgrad.scipy.spatial.distance": fg.scipy.spatial.distance,
    "funcgrad.scipy.sparse": fg.scipy.sparse,
    "funcgrad.scipy.sparse.linalg": fg.scipy.sparse.linalg,
    "funcgrad.scipy.stats": fg.scipy.stats,
    "funcgrad.random": fg.random,
    "funcgrad.nn": fg.nn,
    "funcgrad.lax": fg.lax,
    "funcgrad.tree": fg.tree,
    "funcgrad.testing": fg.testing,
}
PARSER = doctest.DocTestParser()


def public_functions(namespace: Any) -> dict[str, Any]:
    """What can be called, without exceptions, dtypes and modules."""
    names = getattr(namespace, "__all__", None) or [name for name in dir(namespace) if name[0] != "_"]
    found = {name: getattr(namespace, name) for name in names}
    return {
        name: value
        for name, value in found.items()
        if callable(value)
        and not isinstance(value, types.ModuleType)
        and name not in ("Key", "KeyPath", "Tree")  # types
        and not (isinstance(value, type) and issubclass(value, BaseException | np.generic))
    }


@pytest.mark.parametrize("name", NAMESPACES)
def test_every_function_shows_an_example(name: str) -> None:
    functions = public_functions(NAMESPACES[name])
    assert len(functions) > 2
    without = [f for f, value in functions.items() if not PARSER.get_examples(value.__doc__ or "")]
    assert not without, f"no example in the docstrings of {', '.join(without)}"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", NAMESPACES)
def test_every_example_runs(name: str) -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    report = io.StringIO()
    for function, value in public_functions(NAMESPACES[name]).items():
        if getattr(np, function, None) is value:
            continue  # NumPy's own, with NumPy's examples
        home = vars(sys.modules[getattr(value, "__module__", None) or name])
        names = {**home, function: value, "fg": fg, "np": np}
        example = PARSER.get_doctest(value.__doc__ or "", names, f"{name}.{function}", None, None)
        runner.run(example, out=report.write)
    assert runner.summarize(verbose=False).failed == 0, report.getvalue()
