"""`explain`: what becomes of a function on its way to native code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ParamSpec, overload

from funcgrad import tree
from funcgrad.api.calling.transformed import plain_transform
from funcgrad.api.jit import JittedFunction, jit
from funcgrad.later import Later

if TYPE_CHECKING:
    from funcgrad.compile.measure.explain import Explanation

measured = Later("funcgrad.compile.measure.explain")

P = ParamSpec("P")


@overload
def explain(fun: Callable[P, Any]) -> Callable[P, Explanation]: ...
@overload
def explain() -> Callable[[Callable[P, Any]], Callable[P, Explanation]]: ...
@plain_transform
def explain(fun: Callable[P, Any]) -> Callable[P, Explanation]:
    """A function of `fun`'s arguments that reports every pass from its Program to native code.

    The report says which lines have become loops and branches, what they carry, and why loops were unrolled.
    It counts equations, kernels, bytes moved and operations, says what is left to NumPy and why, and
    gives the estimated and the measured time of a call and of each of its parts. ``print`` it, let a notebook
    show it, or read its attributes.

    >>> report = explain(lambda x: np.sum(np.exp(x) * x))(np.ones(1000))
    >>> len(report.kernels), report.reasons
    (1, ())
    >>> [part.shape for part in report.kernels[0].parts if part.kind == "loop"]
    [(1000,)]
    """
    jitted = fun if isinstance(fun, JittedFunction) else jit(fun)

    def explained(*args: P.args, **kwargs: P.kwargs) -> Explanation:
        fresh = JittedFunction(jitted._fun, jitted._options)
        _, dynamic = fresh._divided(args, kwargs)
        name = getattr(fun, "__name__", "function")
        made: Explanation = measured.explanation(
            name, lambda: fresh.program(*args, **kwargs), tree.leaves(dynamic)
        )
        return replace(made, statements=fresh.hooks.report()) if fresh.hooks is not None else made

    return explained
