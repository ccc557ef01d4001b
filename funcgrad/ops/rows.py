"""Operations as rows: a derivative by its formula, decorated with all else that is known of the operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad.ops.families import Unary
from funcgrad.tracing.primitive import Compiled, Native, Primitive
from funcgrad.tracing.samples import Sample

BY_UFUNC: dict[Callable[..., Any], Unary] = {}
"""The operation that answers a ufunc on traced values, where no public function does."""

Derivative = Callable[[Any, Any], Any]
"""``derivative(x, out)``, by operators on traced values; None where it is zero everywhere."""


def reduced(operation: Unary) -> str | tuple[Any, ...]:
    """What pickle keeps: the name of the row, as of a function; a subclass is found as any class is."""
    own = type(operation).__qualname__ == f"{operation.name}.__class__"
    return operation.name if own else Primitive.__reduce__(operation)


def unary(
    evaluate: Callable[..., Any],
    *,
    samples: Sequence[Sample],
    native: Native | Compiled = "",
    cost: int = 1,
    kinds: str = "fc",
    expression: Callable[..., str | None] | None = None,
) -> Callable[[Derivative], Unary]:
    """Make the operation that a function evaluates of the function that gives its derivative.

    It has the latter's name and docstring. `evaluate` is a ufunc, which is traced from then on, or a function
    of an array that promotes as an addition does. `native` is its form for kernels (`funcgrad.ops.native`)
    or an ``njit`` function of numbers, which they call by address,
    `cost` how many additions an element takes the time of, `kinds` are the dtypes on which it is
    differentiable, and `expression` is as that of any primitive.

    >>> from funcgrad.tracing.samples import normal
    >>> @unary(np.positive, native="+{0}", samples=(Sample(normal(3)),))
    ... def unchanged_in_an_example(x, out):
    ...     "The number itself."
    ...     return 1
    >>> print(fg.grad(unchanged_in_an_example)(2.0))
    1.0
    """

    def make(derivative: Derivative) -> Unary:
        name = derivative.__name__
        members: dict[str, object] = {
            "__doc__": derivative.__doc__,
            "__module__": derivative.__module__,
            # The class is found where the operation is, by those who pickle it.
            "__qualname__": f"{name}.__class__",
            "name": name,
            "native": native,
            "cost": cost,
            "kinds": kinds,
            "derivative": staticmethod(derivative),
            "samples": staticmethod(lambda: samples),
            "__reduce__": reduced,
        }
        is_ufunc = hasattr(evaluate, "resolve_dtypes")
        members |= {"ufunc": evaluate} if is_ufunc else {"evaluate": staticmethod(evaluate)}
        if expression is not None:
            members["expression"] = staticmethod(expression)
        cls: Callable[[], Unary] = type(name, (Unary,), members)
        operation = BY_UFUNC[evaluate] = cls()
        return operation

    return make
