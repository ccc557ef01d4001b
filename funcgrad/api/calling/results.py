"""What functions return to a transform: values, aux parts, tangents and cotangents, checked and rebuilt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad import tree
from funcgrad.api.calling.arguments import here
from funcgrad.errors import DtypeError, NonScalarGradError, ShapeError, TreeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.structure import cast
from funcgrad.ops.families import aval as aval_of_any
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.python.inside import INSIDE
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, Tree

if TYPE_CHECKING:
    from funcgrad.tree.treedef import TreeDef

Function = Callable[..., Any]


class Aux:
    """Splits ``(value, aux)`` while tracing, and puts the aux values back afterwards."""

    __slots__ = ("_has_aux", "_slots", "_structure", "leaves")

    def __init__(self, has_aux: bool) -> None:
        self._has_aux = has_aux
        self.leaves: list[Any] = []
        self._slots: list[Any] = []

    def value_of(self, result: object) -> Tree:
        """The value, with the traced leaves of the aux part kept."""
        if not self._has_aux:
            return result
        if not isinstance(result, tuple | list) or len(result) != 2:
            raise TreeError(
                "has_aux=True expects the function to return (value, aux), "
                f"and it returned a {type(result).__name__}",
                source=here(),
            )
        value, aux = result
        leaves, self._structure = tree.flatten(aux)
        self._slots = [x if isinstance(x, Tracer) else _Kept(INSIDE.plain(x)) for x in leaves]
        self.leaves = [x for x in leaves if isinstance(x, Tracer)]
        return value

    def rebuilt(self, values: Sequence[Any]) -> Tree:
        """The aux part with concrete values for its traced leaves."""
        if not self._has_aux:
            return None
        fresh = iter(values)
        leaves = [x.value if isinstance(x, _Kept) else next(fresh) for x in self._slots]
        return tree.unflatten(self._structure, leaves)


NO_AUX = Aux(False)


class _Kept:
    """An aux leaf that was never traced."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


def scalar_output(value: object, holomorphic: bool, fun: Function) -> Array:
    """The value to differentiate; raises NonScalarGradError unless it is one floating-point number."""
    if type(value) is Tracer and value.aval.dtype.kind == "f" and not value.aval.shape and not holomorphic:
        return value
    name = getattr(fun, "__name__", "the function")
    leaves = tree.leaves(value)
    if len(leaves) == 1 and hasattr(value, "shape") and value.shape == getattr(leaves[0], "shape", None):
        # A container that is itself an array, as a Tensor is of its value.
        value = leaves[0]
    if len(leaves) != 1 or leaves[0] is not value:
        raise NonScalarGradError(
            f"grad needs a function that returns one number, and {name} returned a {type(value).__name__} "
            f"of {len(leaves)} leaves",
            source=here(),
            remedy="Return a scalar (and other results through has_aux=True), or use vjp or jacrev.",
        )
    value = asoperand(value)
    seen = aval_of_any(value)
    if seen.shape != ():
        raise NonScalarGradError(
            f"grad needs a function that returns a scalar, and {name} returned {seen}",
            source=here(),
            remedy="Reduce it, for example with np.sum, or use vjp (one product with the Jacobian) "
            "or jacrev (all of it).",
        )
    if seen.dtype.kind == "c" and not holomorphic:
        raise NonScalarGradError(
            f"grad needs a real result, and {name} returned a complex {seen}",
            source=here(),
            remedy="Take its real part or magnitude, "
            "or pass holomorphic=True if the function is holomorphic.",
        )
    if not seen.inexact:
        raise NonScalarGradError(
            f"grad needs a floating-point result, and {name} returned {seen}", source=here()
        )
    if holomorphic and seen.dtype.kind != "c":
        raise NonScalarGradError(
            f"grad with holomorphic=True needs a complex result, and {name} returned {seen}", source=here()
        )
    return value


def full_gradients(avals: Sequence[Aval], grads: Sequence[Any]) -> Sequence[Any]:
    """Gradients for every leaf; leaves of integers, which have none, get zeros of their shape."""
    if len(grads) == len(avals):
        return grads
    found = iter(grads)
    return [next(found) if a.inexact else np.zeros(a.shape, np.float64)[()] for a in avals]


def matching_leaves(
    value: Tree, treedef: TreeDef, avals: Sequence[Aval], caller: str, what: str
) -> list[Any]:
    """The leaves of a tangent or cotangent, checked against the structure and avals it must have."""
    leaves, seen = tree.flatten(value)
    if seen != treedef:
        raise TreeError(
            f"the {what} given to {caller} does not have the structure it must have: "
            f"{tree.explain_mismatch(treedef, seen)}",
            source=here(),
        )
    checked = []
    for leaf, aval in zip(map(asoperand, leaves), avals, strict=True):
        got = aval_of_any(leaf)
        if got.shape != aval.shape:
            raise ShapeError(
                f"the {what} given to {caller} has shape {got.shape} where the value is {aval}", source=here()
            )
        if aval.inexact and got.dtype != aval.dtype:
            if got.dtype.kind == "c" and aval.dtype.kind != "c":
                raise DtypeError(
                    f"the {what} given to {caller} is complex where the value is {aval}", source=here()
                )
            checked.append(cast(leaf, aval.dtype))
        else:
            checked.append(cast(leaf, aval.dtype) if got.weak and aval.inexact else leaf)
    return checked


def zeros(aval: Aval) -> Array:
    """A zero tangent."""
    return np.zeros(aval.shape, aval.dtype if aval.inexact else np.float64)[()]
