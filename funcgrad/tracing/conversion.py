"""Tracers where values are asked for: by NumPy, by ``float`` and its kin, by the functions of `math`.

A value that exists is given, with a TracerValueWarning where a gradient might be expected to flow through
it; one that does not exist raises ConcretizationError. A list of tracers becomes an array of objects,
which the next operation joins into one tracer (see `funcgrad.tracing.lists`), so no gradient is lost.
Knows neither operations nor the recorder.
"""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.errors import (
    ConcretizationError,
    TracerAssignmentError,
    TracerValueWarning,
    UnsupportedFunctionError,
)
from funcgrad.source import Source, user_location, user_stacklevel
from funcgrad.tracing.callers import Use, called_function, called_method, use_of

if TYPE_CHECKING:
    from funcgrad.tracing.tracer import Tracer

NUMPY_FOLDER = os.path.dirname(np.__file__) + os.sep
_KEEPERS = frozenset({"fill", "itemset"})
"""Methods of an array that store the number they are given."""


def array_of(x: Tracer, dtype: Any, copy: bool | None, frame: FrameType) -> Any:
    """What ``x.__array__`` answers to the frame that called NumPy.

    An array of its own with the value where NumPy was given the tracer itself; an array of objects, the
    elements of `x`, where it was given a list that holds it, or where that cannot be told. Raises
    TracerAssignmentError where the tracer would be stored into an array, or converted inside a list.
    """
    if copy is False:
        raise ValueError(f"a traced {x.aval} has no memory that an array could share without a copy")
    wanted = None if dtype is None else np.dtype(dtype)
    if wanted is not None and wanted.kind == "O":
        return elements_of(x)
    use = use_in(frame, x)
    if x.aval.inexact:
        refuse_inside_scipy(x, use, frame)
        refuse_inside_pandas(x, frame)
    if not x.aval.inexact:  # no gradient flows through integers and booleans
        if use is Use.PASSED or wanted is not None or x.has_value():
            return np.array(x._needed_by("np.asarray()"), wanted)
        return elements_of(x)
    if use is Use.STORED:
        raise assigned_into_array("this assignment")
    if use is Use.PASSED:
        value = np.array(x._needed_by("np.asarray()"), wanted)
        if not is_constant(x):
            warn_of_value(x, "NumPy")
        return value
    if wanted is not None:
        refuse_inside_numpy(x, frame)
        raise TracerAssignmentError(
            f"np.array of a list with a traced {x.aval} in it and dtype={wanted} would drop its gradient",
            source=Source(*user_location()),
            remedy="Leave out the dtype, or use fg.numpy.array, which takes lists of traced values.",
        )
    return elements_of(x)


def number_of(x: Tracer, what: str, frame: FrameType) -> Any:
    """The value for ``float(x)`` and its kin; raises TracerAssignmentError where it would be stored away.

    NumPy converts what is stored into a single element of an array, and the functions of `math` convert
    their arguments: a gradient that is lost there is reported.
    """
    if x.aval.inexact:
        refuse_inside_numpy(x, frame)
        use = use_in(frame, x)
        if use is Use.STORED or (use is Use.PASSED and called_method(frame) in _KEEPERS):
            raise assigned_into_array("this assignment")
        value = x._needed_by(what)
        if not is_constant(x):
            warn_of_lost_gradient(x, called_function(frame))
        return value
    return x._needed_by(what)


def warn_of_lost_gradient(x: Tracer, function: Any) -> None:
    """Warn where a number is not taken by ``float`` and its kin, which say what is meant, but on the way."""
    module = getattr(function, "__module__", None)
    if module in ("math", "cmath"):
        warn_of_value(x, f"a function of {module}")
    elif function in (np.float64, np.complex128):  # Python's numbers too, so they ask as those do
        warn_of_value(x, f"np.{function.__name__}")


def use_in(frame: FrameType, x: Tracer) -> Use:
    """What the frame is doing with the tracer."""
    recorder = x._recorder
    made_at = recorder.sources[x._index]
    return use_of(x, made_at, x._index == len(recorder.sources) - 1, frame)


def is_constant(x: Tracer) -> bool:
    """Whether the user has said, with `stop_gradient`, that no gradient is meant to flow through it."""
    step = x._recorder.steps[x._index]
    return type(step) is tuple and step[0].severs


def elements_of(x: Tracer) -> Any:
    """An array of objects: the elements of `x`."""
    array = np.empty(x.aval.shape, dtype=object)
    if not x.aval.shape:
        array[()] = x
        return array
    for index in np.ndindex(x.aval.shape):
        array[index] = x[index]  # type: ignore[index]
    return array


def refuse_inside_numpy(x: Tracer, frame: FrameType) -> None:
    """Raise ConcretizationError in a function of NumPy that makes its result a number, as np.mean does."""
    if frame.f_code.co_filename.startswith(NUMPY_FOLDER):
        raise ConcretizationError(
            f"NumPy turns a traced {x.aval} into a number here, which would drop its gradient",
            source=Source(*user_location()),
            remedy="Give NumPy one traced array instead of a list or an array of objects: "
            "join the traced values with np.stack or fg.numpy.array first.",
        )


COUNTERPARTS = {
    "scipy.special": ("funcgrad.scipy.special", "fg.scipy.special"),
    "scipy.linalg": ("funcgrad.scipy.linalg", "fg.scipy.linalg"),
    "scipy.optimize": ("funcgrad.scipy.optimize", "fg.scipy.optimize"),
    "scipy.fft": ("funcgrad.numpy.fft", "fg.numpy.fft"),
}
"""Packages of SciPy, the modules of ours with functions of the same names, and how users write them."""


def refuse_inside_scipy(x: Tracer, use: Use, frame: FrameType) -> None:
    """Raise UnsupportedFunctionError in a function of SciPy that takes values: its result has no gradient.

    A list of tracers becomes an array of objects, there as elsewhere.
    """
    caller, folder = frame_inside("scipy", frame)
    if caller is None:
        return
    if use is Use.LISTED and not any(value is x for value in frame.f_locals.values()):
        return
    package, name = scipy_function(caller, folder)
    module, prefix = COUNTERPARTS.get(package, ("", ""))
    ours = f"{prefix}.{name}" if module and hasattr(import_module(module), name) else None
    raise UnsupportedFunctionError(
        f"{package}.{name} takes the value of a traced {x.aval}, which would drop its gradient",
        source=Source(*user_location()),
        remedy=f"Use {ours}."
        if ours
        else "Write it with functions of fg.numpy, or give the call a rule with fg.custom_vjp. Where no "
        "gradient is meant to flow, call it on np.asarray(fg.stop_gradient(x)).",
    )


def refuse_inside_pandas(x: Tracer, frame: FrameType) -> None:
    """Raise UnsupportedFunctionError in a function of pandas: it computes with values alone."""
    if frame_inside("pandas", frame)[0] is not None:
        raise UnsupportedFunctionError(
            f"pandas takes the value of a traced {x.aval}, which would drop its gradient",
            source=Source(*user_location()),
            remedy="Compute with NumPy arrays: take the values of frames and series by .to_numpy() first. "
            "Where no gradient is meant to flow, give pandas np.asarray() of the traced value.",
        )


def frame_inside(package: str, frame: FrameType) -> tuple[FrameType | None, str]:
    """The frame that called NumPy, or was called by it, if it is the package's; and the package's folder."""
    module = sys.modules.get(package)
    if module is None:
        return None, ""
    caller: FrameType | None = frame
    while caller is not None and caller.f_code.co_filename.startswith(NUMPY_FOLDER):
        caller = caller.f_back
    folder = os.path.dirname(getattr(module, "__file__", None) or "") + os.sep
    if caller is None or not caller.f_code.co_filename.startswith(folder):
        return None, folder
    return caller, folder


def scipy_function(frame: FrameType, folder: str) -> tuple[str, str]:
    """The package and name of the outermost function of SciPy that is running, past its decorators."""
    package, name = "scipy", frame.f_code.co_name
    inner: FrameType | None = frame
    while inner is not None:
        if inner.f_code.co_filename.startswith(folder):
            package = ".".join(str(inner.f_globals.get("__name__")).split(".")[:2])
            name = public_name(inner, sys.modules.get(package))
        inner = inner.f_back
    return package, name


def public_name(frame: FrameType, package: Any) -> str:
    """The name under which a package offers what the frame runs, or what it was decorated from."""
    held = frame.f_locals.values()
    wrapped = [getattr(value, attribute, None) for attribute in ("__name__", "name") for value in held]
    names = [n for n in (frame.f_code.co_name, *wrapped) if isinstance(n, str) and hasattr(package, n)]
    return names[0] if names else frame.f_code.co_qualname


def warn_of_value(x: Tracer, who: str) -> None:
    """Warn, at the user's line, that a value is taken and its gradient is not."""
    warnings.warn(
        f"{who} takes the value of a traced {x.aval}: no gradient flows through this use of it. "
        "Use fg.numpy functions (or np functions on the traced value itself) to keep it, "
        "or np.asarray(fg.stop_gradient(x)) to say that it is meant.",
        TracerValueWarning,
        stacklevel=user_stacklevel(),
    )


def assigned_into_array(what: str) -> TracerAssignmentError:
    """The error for a tracer about to be stored in a real ndarray, where its gradient would be lost."""
    return TracerAssignmentError(
        f"{what} would store a traced value in a NumPy array, which cannot hold it",
        source=Source(*user_location()),
        remedy="Make the array with fg.numpy.zeros (or np.zeros_like of a traced value), "
        "which can be assigned into.",
    )
