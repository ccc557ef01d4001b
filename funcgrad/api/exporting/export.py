"""Compiled functions as modules of their own: Python, NumPy and Numba, and no funcgrad."""

from __future__ import annotations

import linecache
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from funcgrad.api.calling.arguments import here
from funcgrad.api.exporting.exported_function import exported_source
from funcgrad.api.jit import JittedFunction, jit
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.ir.text.source_text import SourceText
from funcgrad.types import Tree

ENGINES = ("numba", "numpy")


class ExportedModule:
    """A standalone Python module: its text, and ways to keep and to use it.

    >>> made = fg.export(fg.grad(lambda x: np.sum(x**3)))(np.ones(4))
    >>> made.name, "import funcgrad" in made.text
    ('function', False)
    """

    def __init__(self, text: str, name: str) -> None:
        self.text = SourceText(text)
        """The source."""
        self.name = name
        """The name of the function in it."""
        self._module: types.ModuleType | None = None

    def __str__(self) -> str:
        return str(self.text)

    def __repr__(self) -> str:
        return f"<exported module with {self.name}, {self.text.count(chr(10))} lines>"

    def _repr_html_(self) -> str:
        """The source as notebooks show it."""
        return self.text._repr_html_()

    def save(self, path: str | Path) -> Path:
        """Write the module to a file, which Python imports like any other; returns its path."""
        found = Path(path)
        found.write_text(self.text, encoding="utf-8")
        return found

    def module(self) -> types.ModuleType:
        """The module itself, made in this process without a file."""
        if self._module is None:
            filename = f"<exported {self.name} {id(self)}>"
            linecache.cache[filename] = (len(self.text), None, self.text.splitlines(keepends=True), filename)
            made = types.ModuleType(self.name)
            made.__dict__["__file__"] = filename
            exec(compile(self.text, filename, "exec"), made.__dict__)
            self._module = made
        return self._module

    @property
    def function(self) -> Callable[..., Any]:
        """The function of the module."""
        found: Callable[..., Any] = getattr(self.module(), self.name)
        return found


def export(
    fun: Callable[..., Any], *, engine: str = "numba", parallel: bool = False
) -> Callable[..., ExportedModule]:
    """`fun`, or any transform of a function, as a Python module that needs no funcgrad.

    The result takes example arguments, as `fun` does, and returns an `ExportedModule`. In the module is a
    function of the same name that takes and returns what `fun` does, for arguments of the same dtypes and
    ranks. Sizes may be others than the example's wherever recording the function at other sizes gives the
    same program; where they may not, the function checks them and raises ValueError. With the engine
    ``"numba"`` its functions are compiled by Numba, and may be called by your own ``@numba.njit`` functions
    where arguments and results are arrays, numbers and tuples; with ``"numpy"`` it needs NumPy alone.
    With ``parallel=True`` loops over elements that are long in the example run on Numba's threads
    (``numba.prange``), and sums are added in an order that does not depend on their number.

    Raises UnsupportedFunctionError, which names the operation, for what has no form outside of funcgrad.

    >>> def misfit(w, x, y):
    ...     return np.mean((x @ w - y) ** 2)
    >>> made = fg.export(fg.grad(misfit), engine="numpy")(np.ones(3), np.ones((5, 3)), np.zeros(5))
    >>> slope = made.module().misfit
    >>> slope(np.ones(2), np.eye(2), np.zeros(2))
    array([1., 1.])
    """
    if engine not in ENGINES:
        raise UnsupportedFunctionError(
            f"export has no engine {engine!r}",
            source=here(),
            remedy=f"It has {' and '.join(map(repr, ENGINES))}.",
        )
    if parallel and engine == "numpy":
        raise UnsupportedFunctionError(
            "export with engine='numpy' has no threads",
            source=here(),
            remedy="Leave out parallel=True, or engine='numpy'.",
        )
    jitted = fun if isinstance(fun, JittedFunction) else jit(fun)

    def exported(*example_args: Tree, **example_kwargs: Tree) -> ExportedModule:
        text, name = exported_source(jitted.copied(), example_args, example_kwargs, engine, parallel)
        return ExportedModule(text, name)

    exported.__name__ = f"exported_{getattr(fun, '__name__', 'function')}"
    return exported
