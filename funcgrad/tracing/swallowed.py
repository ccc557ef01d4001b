"""Errors of ours that C code has replaced by words of its own: "Error setting single item of array".

A refusal is raised inside ``x.__float__`` or ``x.__array__``, which C code calls, and some of it gives
another error, or goes on calling with the error set. What was refused last is noted in the recorder; the
transforms raise it in place of an error that came from it.
"""

from __future__ import annotations

import re

import numpy as np

from funcgrad.errors import ConcretizationError, DtypeError, FuncgradError, UnsupportedFunctionError
from funcgrad.source import Source, is_library_code, user_location_of
from funcgrad.tracing.callers import asked_function
from funcgrad.tracing.python.instructions import running_instruction
from funcgrad.tracing.recorder import Recorder, recorder_of
from funcgrad.tracing.refusals import named_in_scipy, named_taker
from funcgrad.types import Anything


def real_error(error: Exception, recorder: Recorder) -> FuncgradError | None:
    """The error that should be seen instead of one that is none of ours; None where it is right as it is."""
    if raised_by_user(error):
        return None
    refused = recorder.refused
    if refused is not None and (came_from(error, refused) or same_place(error, refused)):
        return refused
    cause = error.__cause__
    if isinstance(error, ValueError) and isinstance(cause, FuncgradError):
        return cause
    if isinstance(error, TypeError | ValueError | NotImplementedError) and speaks_of_objects(str(error)):
        return about_objects(error)
    if takes_no_traced(error):
        return about_tracer(error)
    return about_keyword(error) if isinstance(error, TypeError) else None


KEYWORDS = {
    "dim": "axis",
    "dims": "axes",
    "keepdim": "keepdims",
    "dim0": "axis1",
    "dim1": "axis2",
    "axes": "axis",
}
"""What PyTorch calls an option, and what NumPy does."""
_UNEXPECTED = re.compile(r"(\w+)\(\) got an unexpected keyword argument '(\w+)'")


_TRACER = re.compile(r"\bTracer\b|\bOpenArray\b|holds references|a Rational instance")
"""What code that takes no traced values calls one, as it looks for a number, a buffer or an iterator."""


UNREADABLE = (TypeError, ValueError, ArithmeticError, SyntaxError)
STRICT_TAKERS = frozenset(
    [
        "None.Decimal.from_float",
        "ast.literal_eval",
        "builtins.eval",
        "decimal.Decimal",
        "json.loads",
        "marshal.dump",
        "marshal.dumps",
        "numpy.fromstring",
        "random.Random",
        "random.Random.seed",
    ]
)
"""What takes no traced numbers and does not say what it was given; ``f"{t}"`` is the name of one."""


_WORDS = re.compile(
    r"^(The only supported seed types are|argument must be int or float$|No matching signature found$"
    r"|object supporting the buffer API required$)"
)
"""What `random`, `decimal`, Cython (of several dtypes) and `hashlib` say of what they cannot read."""
_MEMORY = frozenset(["__array_interface__", "__array_struct__"])
"""By what code asks for the memory of an array."""
_ORDERED = "bins must increase monotonically"
"""What pandas says of bins that it cannot compare, too."""


def takes_no_traced(error: Exception) -> bool:
    """Whether an error says that code, which does not know traced values, was given one."""
    words = str(error)
    if isinstance(error, FuncgradError):
        return False
    if isinstance(error, AttributeError):
        return words in _MEMORY
    if not isinstance(error, UNREADABLE):
        return _TRACER.search(words) is not None
    known = _TRACER.search(words) or _WORDS.search(words) or is_strict(called_at(error))
    return bool(known) or (_ORDERED in words and was_given_traced(error))


def was_given_traced(error: Exception) -> bool:
    """Whether a traced value stands in a list that a package's code was working on."""
    entry = error.__traceback__
    while entry is not None:
        if is_library_code(entry.tb_frame.f_code):
            for value in entry.tb_frame.f_locals.values():
                listed = isinstance(value, list | tuple) or getattr(value, "dtype", None) == np.dtype(object)
                if listed and recorder_of(list(value)) is not None:
                    return True
        entry = entry.tb_next
    return False


def is_strict(function: Anything) -> bool:
    """Whether a function is one of those, which are looked for by name: they may not be loaded."""
    where, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    return f"{where}.{name}" in STRICT_TAKERS


def about_tracer(error: Exception) -> ConcretizationError:
    """The error for a function of Python's or a package's that takes ordinary numbers, given a traced one."""
    location = user_location_of(error)
    who, remedy = named_taker("what is called here", called_at(error), None)
    return ConcretizationError(
        f"{who} takes no traced value: {str(error).splitlines()[0]}",
        source=None if location is None else Source(*location),
        remedy=f"{remedy}\nfloat(fg.stop_gradient(x)), or np.asarray of it, is the value alone.",
    )


def about_keyword(error: TypeError) -> UnsupportedFunctionError | None:
    """The error for an option that a method of traced arrays knows under another name."""
    found = _UNEXPECTED.search(str(error))
    if found is None or found[2] not in KEYWORDS:
        return None
    location = user_location_of(error)
    return UnsupportedFunctionError(
        f"{found[1]}() has no option {found[2]!r}",
        source=None if location is None else Source(*location),
        remedy=f"NumPy calls it {KEYWORDS[found[2]]!r}.",
    )


def came_from(error: BaseException, refused: FuncgradError) -> bool:
    """Whether a refusal stands among the causes and contexts of an error."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error.__cause__, error.__context__]
    while waiting:
        link = waiting.pop()
        # C code that goes on calling meets further refusals before it gives up.
        if link is refused or (isinstance(link, FuncgradError) and type(link) is type(refused)):
            return True
        if link is not None and id(link) not in seen:
            seen.add(id(link))
            waiting += [link.__cause__, link.__context__]
    return False


def raised_by_user(error: BaseException) -> bool:
    """Whether a ``raise`` of the user's own code made the error, as their handler of a refusal may."""
    entry = error.__traceback__
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    if entry is None or is_library_code(entry.tb_frame.f_code):
        return False
    return running_instruction(entry.tb_frame.f_code, entry.tb_lasti).name == "RAISE_VARARGS"


def same_place(error: Exception, refused: FuncgradError) -> bool:
    """Whether an error has passed the user's line of a refusal: C code cleared that, or it got lost.

    SciPy's root finders go on calling with a refusal pending. Look-ups of names may then fail anywhere, in
    the function that is called or in ours, and clear it.
    """
    entry = error.__traceback__ if refused.source is not None else None
    while entry is not None:
        code = entry.tb_frame.f_code
        if not is_library_code(code) and Source(code, entry.tb_lasti) == refused.source:
            return True
        entry = entry.tb_next
    return False


def speaks_of_objects(words: str) -> bool:
    """Whether NumPy complains of an array of objects."""
    return (
        "dtype('O')" in words
        or "'object' not supported" in words
        or "which has no callable" in words
        or "object arrays are not" in words
    )


def about_objects(error: Exception) -> DtypeError:
    """The error for a function of NumPy's or SciPy's that was given an array of traced numbers.

    A package that made it of a list is taken in: then ``np.asarray`` joins the numbers.
    """
    location = user_location_of(error)
    named = named_in_scipy(called_at(error))
    who = "this function" if named is None else ".".join(named)
    found = DtypeError(
        f"{who} was given an array of objects, which a list of traced values became: "
        f"{str(error).splitlines()[0]}",
        source=None if location is None else Source(*location),
        remedy="Make it with fg.numpy.array, which joins traced values into one traced array.",
    )
    found.as_your_own = True
    return found


def called_at(error: Exception) -> Anything:
    """The function that the innermost line of the user's called when the error came; None if it is none."""
    found, entry = None, error.__traceback__
    while entry is not None:
        found = found if is_library_code(entry.tb_frame.f_code) else entry
        entry = entry.tb_next
    return None if found is None else asked_function(found.tb_frame, found.tb_lasti)
