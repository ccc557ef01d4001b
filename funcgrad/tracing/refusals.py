"""The words in which a traced value is refused as an ordinary number: who took it, where, and what to do.

Who took it is what the user's line calls, read from the running instruction, or the package whose code is
running. Decides nothing: whoever calls this has seen that a derivative would be lost.
"""

from __future__ import annotations

import math
import os
import sys
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from funcgrad.errors import ConcretizationError, TracerAssignmentError, UnsupportedFunctionError
from funcgrad.source import Source, is_library_code, user_location
from funcgrad.tracing.callers import (
    asked_function,
    called_function,
    called_method,
    called_name,
    only_decides_or_shows,
)
from funcgrad.tracing.constants import compares_varying

if TYPE_CHECKING:
    from funcgrad.tracing.tracer import Tracer

NUMPY_FOLDER = os.path.dirname(np.__file__) + os.sep
_TESTING_FOLDER = os.path.join(NUMPY_FOLDER, "testing") + os.sep

_QUESTIONS = (
    math.isnan,
    math.isinf,
    math.isfinite,
    math.isclose,
    np.format_float_positional,
    np.format_float_scientific,
)
"""Functions that answer a question about a number, or write it down: no derivative is lost with them."""


def asks_for_control(frame: FrameType) -> bool:
    """Whether a value is read to decide or to show: by ``math.isnan``, by numpy.testing, for a branch."""
    inner: FrameType | None = frame
    while inner is not None and inner.f_code.co_filename.startswith(NUMPY_FOLDER):
        if inner.f_code.co_filename.startswith(_TESTING_FOLDER):
            return True
        inner = inner.f_back
    function = called_function(frame)
    converts = function in (float, complex) or called_method(frame) in ("item", "tolist")
    return function in _QUESTIONS or (converts and only_decides_or_shows(frame))


def prints_errors(frame: FrameType) -> bool:
    """Whether C code asks that prints an exception and goes on: MINPACK's, in SciPy's solvers."""
    return frame.f_globals.get("__name__") == "scipy.optimize._minpack_py"


# -- the value itself -------------------------------------------------------------------------------------

MATHEMATICS = {
    "acos": "np.arccos",
    "acosh": "np.arccosh",
    "asin": "np.arcsin",
    "asinh": "np.arcsinh",
    "atan": "np.arctan",
    "atan2": "np.arctan2",
    "atanh": "np.arctanh",
    "dist": "np.linalg.norm",
    "erf": "fg.scipy.special.erf",
    "erfc": "fg.scipy.special.erfc",
    "fabs": "np.abs",
    "fsum": "np.sum",
    "gamma": "fg.scipy.special.gamma",
    "lgamma": "fg.scipy.special.gammaln",
    "phase": "np.angle",
    "pow": "np.power",
    "sumprod": "np.dot",
}
STATISTICS = {
    "correlation": "np.corrcoef",
    "fmean": "np.mean",
    "pstdev": "np.std",
    "pvariance": "np.var",
    "stdev": "np.std",
    "variance": "np.var",
}
KEEPERS_OF_GRADIENTS = {"math": MATHEMATICS, "cmath": MATHEMATICS, "statistics": STATISTICS}
"""Functions of these modules, and those that keep the gradient where NumPy has none of that name."""

DRAWS = {
    "normal": "loc + scale * rng.standard_normal(size)",
    "lognormal": "np.exp(mean + sigma * rng.standard_normal(size))",
    "uniform": "low + (high - low) * rng.random(size)",
    "exponential": "scale * rng.standard_exponential(size)",
    "multivariate_normal": "mean + np.linalg.cholesky(cov) @ rng.standard_normal(n)",
}
"""Methods of NumPy's generators, and how to draw the same so that the parameters keep their gradient."""

_CONVERTERS = frozenset(
    {"array", "asanyarray", "asarray", "asarray_chkfinite", "ascontiguousarray", "asfortranarray", "require"}
)
_LEFT_OUT = {"float()": "float()", "complex()": "complex()", "item()": ".item()", "tolist()": ".tolist()"}


def value_taken(x: Tracer, what: str, frame: FrameType) -> ConcretizationError:
    """The error for a traced value that would go on as an ordinary number."""
    who, remedy = taker(what, users_frame(frame))
    why = x.why_unknown()
    seen = (
        f"{who} needs the value of a traced {x.aval}, and {why}"
        if why
        else f"{who} takes the value of a traced {x.aval}, which would drop its gradient"
    )
    return ConcretizationError(
        seen,
        source=Source(*user_location()),
        remedy=f"{remedy}\nfg.stop_gradient(x) says that only the value is meant.",
    )


def taker(what: str, frame: FrameType) -> tuple[str, str]:
    """Who takes the value in a frame of the user's, and what to do instead."""
    return named_taker(what, called_function(frame), called_method(frame))


def named_taker(what: str, function: object, method: str | None) -> tuple[str, str]:
    """Who takes the value, a function or method that is called, and what to do instead."""
    name = getattr(function, "__name__", None) or method or ""
    module = str(getattr(function, "__module__", None) or "").lstrip("_")
    if not name or module == "builtins" or what in ("item()", "tolist()"):
        return what, left_out(what) if what in _LEFT_OUT else _GENERAL
    who = f"{module}.{name}()".replace("numpy.", "np.") if module else f"{name}()"
    if module in KEEPERS_OF_GRADIENTS:
        ours = KEEPERS_OF_GRADIENTS[module].get(name) or f"np.{name}"
        known = not ours.startswith("np.") or hasattr(np, ours.split(".")[1])
        return who, f"Use {ours if known else 'functions of fg.numpy'}, which keeps the gradient."
    if isinstance(function, type) and issubclass(function, np.generic):
        return who, f"Leave it out, or write x.astype(np.{name}), which keeps the gradient."
    if name in DRAWS:
        return who, f"Draw {DRAWS[name]}, which keeps the gradient, or use fg.random."
    return who, converter_remedy(name) if name in _CONVERTERS and module != "array" else _GENERAL


def converter_remedy(name: str) -> str:
    """What to do instead of ``np.asarray(x)``."""
    ours = name if name in ("array", "asanyarray") else "asarray"
    return f"It is an array already: leave it out, or use fg.numpy.{ours}, which keeps the gradient."


def left_out(what: str) -> str:
    """What to do instead of ``float(x)`` and its kin."""
    return f"Leave out {_LEFT_OUT[what]}: a traced number can be computed with, and returned, as it is."


_GENERAL = "Write it with functions of np and fg.scipy, which keep the gradient."


def users_frame(frame: FrameType) -> FrameType:
    """The nearest frame that is no library's; the frame itself where there is none."""
    inner: FrameType | None = frame
    while inner is not None and is_library_code(inner.f_code):
        inner = inner.f_back
    return frame if inner is None else inner


# -- packages ---------------------------------------------------------------------------------------------


def refuse_inside_packages(x: Tracer, is_listed: bool, frame: FrameType) -> None:
    """Raise UnsupportedFunctionError or ConcretizationError where a package's code takes the value."""
    refuse_inside_scipy(x, is_listed, frame)
    refuse_inside_pandas(x, frame)
    if not is_listed:
        refuse_inside_numpy(x, frame)


def refuse_inside_numpy(x: Tracer, frame: FrameType) -> None:
    """Raise ConcretizationError in a function of NumPy that makes its result a number, as np.mean does."""
    if frame.f_code.co_filename.startswith(NUMPY_FOLDER):
        raise ConcretizationError(
            f"NumPy turns a traced {x.aval} into a number here, which would drop its gradient",
            source=Source(*user_location()),
            remedy=remedy_inside_numpy(frame),
        )


INSTEAD_OF_NUMPYS = {
    "numpy.polynomial": "Functions of np.polynomial.polynomial and its neighbours keep the gradient "
    "(polymul, polyfit, ...), and so do Polynomial(c) and its operators in code whose source can be read.",
    "numpy.ma": "Use np.where(mask, 0.0, x), or np.sum, np.mean and kin with where=~mask.",
    "numpy.matrixlib": "Use a two-dimensional array, and @ for products.",
}
"""What to use instead of parts of NumPy's that see no traced values, by the names of their modules."""


def remedy_inside_numpy(frame: FrameType) -> str:
    """What to do where a function of NumPy's takes the value in a frame."""
    user, outermost = users_frame(frame), frame
    inner: FrameType | None = frame
    while inner is not None and inner is not user:
        outermost = inner if inner.f_code.co_filename.startswith(NUMPY_FOLDER) else outermost
        inner = inner.f_back
    module = str(outermost.f_globals.get("__name__"))
    for place, remedy in INSTEAD_OF_NUMPYS.items():
        if f"{module}.".startswith(f"{place}."):
            return remedy
    return (
        "Give NumPy one traced array instead of a list or an array of objects: "
        "join the traced values with np.stack or fg.numpy.array first."
    )


def counterpart(package: str, name: str) -> str | None:
    """How users write the function of ours that does what one of SciPy's does; None where there is none."""
    module = f"funcgrad.{package}"
    try:
        found = import_module(module)
    except ModuleNotFoundError:
        return None
    offered = hasattr(found, name.partition(".")[0])
    return f"{module.replace('funcgrad', 'fg', 1)}.{name}" if offered else None


def refuse_sparse_values(frame: FrameType) -> None:
    """Raise UnsupportedFunctionError in what SciPy runs on a sparse array of ours."""
    caller, folder = frame_inside("scipy", frame)
    if caller is None:
        return
    package, name = scipy_function(caller, folder)
    is_class = name.partition(".")[0].endswith(("_array", "_matrix"))
    remedy = "Use an operator, or the method of the traced one of the two: A.multiply(B)."
    taken = "the elements of a traced sparse array"
    raise refused_by_scipy(package, name, taken, remedy if is_class else None)


def refuse_inside_scipy(x: Tracer, is_listed: bool, frame: FrameType) -> None:
    """Raise UnsupportedFunctionError in a function of SciPy that takes values: its result has no gradient.

    A list of tracers becomes an array of objects, there as elsewhere.
    """
    caller, folder = frame_inside("scipy", frame)
    if caller is None:
        return
    if is_listed and not any(value is x for value in frame.f_locals.values()):
        return
    raise refused_by_scipy(*scipy_function(caller, folder), f"the value of a traced {x.aval}")


def refuse_search(x: Tracer, frame: FrameType) -> None:
    """Raise UnsupportedFunctionError where a search of SciPy's compares what has derivatives."""
    caller, folder = frame_inside("scipy", frame)
    if caller is not None and compares_varying(x):
        error = refused_by_scipy(*scipy_function(caller, folder), "values of a function of what is traced")
        x._recorder.refused = error
        raise error


def refused_by_scipy(
    package: str, name: str, taken: str, remedy: str | None = None
) -> UnsupportedFunctionError:
    """The error for a function of SciPy's that takes values, with what keeps the gradient instead of it."""
    ours = counterpart(package, name)
    remedy_for = import_module("funcgrad.scipy.nearest").remedy_for
    return UnsupportedFunctionError(
        f"{package}.{name} takes {taken}, which would drop its gradient",
        source=Source(*user_location()),
        remedy=remedy or (f"Use {ours}." if ours else remedy_for(package, name)),
    )


def refuse_inside_pandas(x: Tracer, frame: FrameType) -> None:
    """Raise UnsupportedFunctionError in a function of pandas: it computes with values alone."""
    if frame_inside("pandas", frame)[0] is not None:
        raise UnsupportedFunctionError(
            f"pandas takes the value of a traced {x.aval}, which would drop its gradient",
            source=Source(*user_location()),
            remedy="Compute with NumPy arrays: take the values of frames and series by .to_numpy() first. "
            "Where no gradient is meant to flow, give pandas np.asarray(fg.stop_gradient(x)).",
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
    """The package and name of the function of SciPy that the user's line calls.

    Where the call cannot be read, it is the outermost function of SciPy's that is running.
    """
    user, outermost, helpers = users_frame(frame), frame, os.path.join(folder, "_lib", "")
    inner: FrameType | None = frame
    while inner is not None and inner is not user:
        file = inner.f_code.co_filename
        called = named_in_scipy(inner.f_locals.get("function")) if stands_in(inner) else None
        if called is not None:
            return called
        # Decorators of SciPy's own run in `_lib`, around the function that is called.
        outermost = inner if file.startswith(folder) and not file.startswith(helpers) else outermost
        inner = inner.f_back
    named = named_in_scipy(called_function(user))
    if named is not None:
        return named
    package = ".".join(str(outermost.f_globals.get("__name__")).split(".")[:2])
    owner = public_owner(outermost.f_locals.get("self"), sys.modules.get(package))
    if owner is not None:
        method = outermost.f_code.co_name
        return package, owner if method.startswith("__") else f"{owner}.{method}"
    spelled = called_name(user)
    if spelled:
        place, _, name = spelled.rpartition(".")
        return (package, name) if place.endswith(package.rpartition(".")[2]) else (place or package, name)
    return package, public_name(outermost, sys.modules.get(package))


def stands_in(frame: FrameType) -> bool:
    """Whether the frame calls a function of another package in the place of the user's call."""
    return (
        frame.f_globals.get("__name__") == "funcgrad.numpy.tracers.made_inside"
        and frame.f_code.co_name == "call"
    )


OFFERED_BY = {"scipy._lib._sparse": "scipy.sparse"}
"""Helpers of SciPy's by the package that offers them."""


def named_in_scipy(function: object) -> tuple[str, str] | None:
    """The package of SciPy's that offers a function under its own name, and that name."""
    module, name = str(getattr(function, "__module__", "")), getattr(function, "__name__", "")
    module = OFFERED_BY.get(module, module)
    if not module.startswith("scipy."):
        return None
    for depth in (3, 2):  # scipy.spatial.distance, scipy.sparse.linalg; else scipy.optimize
        parts = module.split(".")[:depth]
        package = ".".join(parts)
        if not any(part.startswith("_") for part in parts) and hasattr(sys.modules.get(package), name):
            return package, name
    return None


def public_owner(owner: object, package: object) -> str | None:
    """The name under which a package offers an object, what it was frozen from, or its class."""
    kind = type(owner).__name__
    asked = (getattr(owner, "name", None), getattr(getattr(owner, "dist", None), "name", None), kind)
    names = (*asked, kind.removesuffix("_gen"), kind.removesuffix("_frozen"))
    return next((n for n in names if isinstance(n, str) and hasattr(package, n)), None)


def public_name(frame: FrameType, package: object) -> str:
    """The name under which a package offers what the frame runs: a function, or the class that is made."""
    parts = [part for part in frame.f_code.co_qualname.split(".") if not part.startswith("_")]
    held = [getattr(value, "__name__", None) for value in frame.f_locals.values()]
    known = [name for name in (*reversed(parts), *held) if isinstance(name, str) and hasattr(package, name)]
    return known[0] if known else parts[-1] if parts else frame.f_code.co_qualname


def assigned_into_array(what: str) -> TracerAssignmentError:
    """The error for a tracer about to be stored in a real ndarray, where its gradient would be lost."""
    return TracerAssignmentError(
        f"{what} would store a traced value in a NumPy array, which cannot hold it",
        source=Source(*user_location()),
        remedy="Make the array with fg.numpy.zeros (or np.zeros_like of a traced value), "
        "which can be assigned into. A copy that can is fg.numpy.array(x), not x.copy().",
    )


def refuse_list(x: Tracer, wanted: np.dtype[Any], frame: FrameType) -> NoReturn:
    """Refuse a list that holds a traced value and is to be converted to numbers of a dtype.

    What SciPy has compiled makes such lists where nobody sees it: the user's line says who was called.
    """
    refuse_inside_numpy(x, frame)
    user = users_frame(frame)
    named = named_in_scipy(asked_function(user, user.f_lasti))
    if named is not None:
        raise refused_by_scipy(*named, f"the value of a traced {x.aval}")
    raise TracerAssignmentError(
        f"np.array of a list with a traced {x.aval} in it and dtype={wanted} would drop its gradient",
        source=Source(*user_location()),
        remedy="Leave out the dtype, or use fg.numpy.array, which takes lists of traced values.",
    )
