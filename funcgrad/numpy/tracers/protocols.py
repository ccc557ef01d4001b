"""What else an array answers to: attributes by name, ``in``, the array API, DLPack, ``np.add.at``.

NumPy's loops over arrays of objects call a method of each element named like the ufunc, so a tracer has
a method for every ufunc of this package: ``np.exp(np.array([t0, t1]))`` calls ``t0.exp()``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from types import FrameType, ModuleType
from typing import Any, NoReturn

import numpy as np

from funcgrad.errors import ConcretizationError, TracedAttributeError, did_you_mean
from funcgrad.later import Later
from funcgrad.numpy.arrays.copies import check_device
from funcgrad.numpy.dispatch import FUNCTIONS, implements_method
from funcgrad.numpy.picking.assignment import AtIndex
from funcgrad.ops.elementwise.comparison import equal
from funcgrad.source import Source, user_location
from funcgrad.tracing.aliasing import assign, written_into
from funcgrad.tracing.tracer import Tracer, install
from funcgrad.types import Anything, Array, ArrayLike, Device, Index, Option, UfuncLike

# What is refused, and in which words.
refusals = Later("funcgrad.tracing.refusals")

NAMES_OF_TENSORS = {
    "backward": "fg.grad of the function, or the tensors of funcgrad.torch",
    "clamp": "x.clip(low, high)",
    "cpu": "x, which is in this machine's memory",
    "detach": "fg.stop_gradient(x)",
    "numpy": "x, which is an array",
    "permute": "x.transpose(axes)",
    "requires_grad": "fg.grad of the function, or the tensors of funcgrad.torch",
    "unsqueeze": "np.expand_dims(x, axis)",
}
"""Names of PyTorch's, and what to write instead."""


def _getattr(self: Tracer, name: str) -> Anything:
    """The ufunc of that name as a method, flags as a new array has them; else raises TracedAttributeError."""
    if hasattr(Tracer, name):
        # C code that calls Python while an error is pending, as SciPy's root finders do: CPython's look-up of
        # a name that its cache of types has lost fails then, clears the error, and asks here.
        return object.__getattribute__(self, name)
    if not name.startswith("_"):
        ufunc = getattr(np, name, None)
        if isinstance(ufunc, np.ufunc) and ufunc in FUNCTIONS:
            return partial(FUNCTIONS[ufunc], self)
        if name == "flags":
            # SciPy's own code asks for them where it takes the memory of an array.
            refusals.refuse_inside_scipy(self, False, sys._getframe(1))
            return np.empty(self.aval.shape, self.aval.dtype).flags
        raise missing(name)
    raise AttributeError(name)


def missing(name: str) -> TracedAttributeError:
    """The error for an attribute that a traced array has not."""
    seen, remedy = f"a traced array has no attribute {name!r}", ""
    if hasattr(np.ndarray, name):
        seen = f"ndarray.{name} is not supported on traced arrays"
        remedy = "Write it with functions of np and fg.scipy, which keep the gradient.\n" + VALUE_ALONE
    elif hasattr(float, name):
        remedy = VALUE_ALONE
    elif name in NAMES_OF_TENSORS:
        seen, remedy = f"{seen}, as PyTorch's tensors have", f"Use {NAMES_OF_TENSORS[name]}."
    else:
        names = [other for other in dir(Tracer) if not other.startswith("_")]
        names += [ufunc.__name__ for ufunc in [*FUNCTIONS] if isinstance(ufunc, np.ufunc)]
        hint = did_you_mean(name, names)
        remedy = hint or "It has those of NumPy's arrays, and NumPy's ufuncs as methods."
    return TracedAttributeError(seen, source=Source(*user_location()), remedy=remedy)


VALUE_ALONE = "float(fg.stop_gradient(x)), or np.asarray of it, is the value alone."
"""What to do where only the value is meant."""


def _contains(self: Tracer, item: ArrayLike) -> bool:
    """Whether an element equals `item`; needs values."""
    return bool(np.any(equal(self, item)))


def _array_namespace(self: Tracer, *, api_version: str | None = None) -> ModuleType:
    """The module whose functions take tracers: ``funcgrad.numpy``, for some of SciPy's questions NumPy."""
    return _namespace_for_scipy(sys._getframe(1)) or sys.modules["funcgrad.numpy"]


CHOOSES = "scipy.special._support_alternative_backends"
"""What SCIPY_ARRAY_API=1 puts before SciPy's ufuncs: it asks whose the arrays are."""


def _namespace_for_scipy(frame: FrameType) -> ModuleType | None:
    """NumPy's namespace, as SciPy spells it, where SciPy would not get on with ours.

    Its ufuncs are then those that take tracers, and a traced array beside one of NumPy's is taken as without
    SCIPY_ARRAY_API=1: refused by the function's name. SciPy asks by functions called ``array_namespace``.
    """
    asking: list[FrameType] = []
    caller: FrameType | None = frame
    while caller is not None and caller.f_code.co_name == "array_namespace":
        asking.append(caller)
        caller = caller.f_back
    if not asking or caller is None:
        return None
    outermost = asking[-1]
    if not str(outermost.f_globals.get("__name__")).startswith("scipy."):
        return None
    is_mixed = any(
        isinstance(x, np.ndarray) for given in outermost.f_locals.values() for x in _several(given)
    )
    if not is_mixed and caller.f_globals.get("__name__") != CHOOSES:
        return None
    found: ModuleType = outermost.f_globals["array_namespace"](np.empty(0))
    return found


def _several(given: Anything) -> Sequence[Anything]:
    """What a function's variable holds, where that is several things."""
    return given if isinstance(given, (list, tuple)) else ()


def _refuse_dlpack(self: Tracer, **options: Option) -> NoReturn:
    """Refuse: another library would get memory, and no gradient."""
    raise ConcretizationError(
        f"DLPack hands the memory of an array to another library, and a traced {self.aval} has none",
        source=Source(*user_location()),
        remedy="Call the other library outside of the traced function, or give it a rule with fg.custom_vjp.",
    )


def _device(self: Tracer) -> str:
    """Where the array lives, as the Array API standard asks: ``"cpu"``."""
    return "cpu"


def _to_device(self: Tracer, device: Device, /, *, stream: object = None) -> Tracer:
    """The array itself; raises ValueError for another device than ``"cpu"``."""
    if stream is not None:
        raise ValueError("the device has no streams")
    check_device(device)
    return self


AT_METHODS: dict[Any, str] = {
    np.add: "add",
    np.subtract: "subtract",
    np.multiply: "multiply",
    np.divide: "divide",
    np.power: "power",
    np.minimum: "min",
    np.maximum: "max",
}


def _at_method(ufunc: UfuncLike, name: str) -> Callable[..., None]:
    def combine_at(a: Array, indices: Index, b: Array) -> None:
        target = written_into(a, f"np.{ufunc.__name__}.at")
        assign(target, getattr(AtIndex(target, indices), name)(b))

    return combine_at


for _ufunc, _name in AT_METHODS.items():
    implements_method(_ufunc, "at")(_at_method(_ufunc, _name))

install(
    {
        "__getattr__": _getattr,
        "__contains__": _contains,
        "__array_namespace__": _array_namespace,
        "__dlpack__": _refuse_dlpack,
        "__dlpack_device__": _refuse_dlpack,
        "device": property(_device),
        "to_device": _to_device,
    }
)
