"""The words of a printed Program: numbers, arrays and parameters as text that reads back exactly.

Owns how a single value is written. How equations are laid out is `printing`'s, and reading is `parsing`'s.
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from funcgrad.ir.avals import Aval, dtype_name
from funcgrad.ir.catalog import CATALOG
from funcgrad.ir.numbers import scalar_text
from funcgrad.ir.program import Equation, Literal, Program, Var
from funcgrad.ir.text.remembered import ARRAYS, OBJECTS
from funcgrad.types import Anything, Array

LARGEST_SPELLED = 16
"""Captured arrays of more elements are named by their digest."""


# -- numbers and arrays ---------------------------------------------------------------------------------


def dtype_text(aval: Aval) -> str:
    """The dtype of a scalar, with a star where it is weak."""
    return f"{dtype_name(aval.dtype)}{'*' if aval.weak else ''}"


def literal_text(literal: Literal, context: Aval | None) -> str:
    """A literal; without its dtype where it is weak and has the dtype of `context`."""
    text = scalar_text(literal.value, literal.aval.dtype)
    if context is not None and literal.aval.weak and literal.aval.dtype == context.dtype:
        return text
    return f"{text}:{dtype_text(literal.aval)}"


def context_of(equation: Equation) -> Aval | None:
    """The operand that gives plain numbers their dtype: the last variable, a branch and not the condition."""
    return next((atom.aval for atom in reversed(equation.inputs) if isinstance(atom, Var)), None)


def captured_text(value: object) -> str:
    """A captured array: its elements where they are few, its digest where they are many."""
    if not isinstance(value, np.ndarray | np.generic):
        return f"<{type(value).__name__}>"  # a value of a trace that is still open
    if value.size <= LARGEST_SPELLED:
        return array_text(np.asarray(value))
    return f"<array sha256:{ARRAYS.add(value)}>"


def array_text(array: Array) -> str:
    """All elements, in nested brackets."""
    if array.ndim == 0:
        return scalar_text(array, array.dtype)
    return f"[{', '.join(array_text(part) for part in array)}]"


# -- parameters -----------------------------------------------------------------------------------------


def parameter_text(value: object, blocks: Mapping[Program, str]) -> str:
    """A parameter of an equation; Programs are written elsewhere and go by the names in `blocks`."""
    plain = plain_text(value)
    if plain is not None:
        return plain
    if isinstance(value, Program):
        return blocks[value]
    if type(value) is tuple:
        inner = ", ".join(parameter_text(item, blocks) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    made = construction(value)
    if made is None:
        return opaque_text(value)
    head, arguments = made
    return f"{head}({', '.join(key + parameter_text(item, blocks) for key, item in arguments)})"


def plain_text(value: object) -> str | None:
    """A value that holds no other values; None for all others."""
    if value is None or type(value) in (bool, int, str, bytes):
        return repr(value)
    if type(value) in (float, complex):
        return scalar_text(value, np.dtype(type(value)))
    if isinstance(value, np.generic):
        return f"{scalar_text(value, value.dtype)}:{dtype_name(value.dtype)}"
    if isinstance(value, np.dtype | Aval):
        return dtype_name(value) if isinstance(value, np.dtype) else str(value)
    return importable_name(value)


def construction(value: Anything) -> tuple[str, list[tuple[str, Any]]] | None:
    """What makes an equal value: a name to call, and arguments as (``"key="`` or ``""``, value)."""
    if isinstance(value, slice):
        return "slice", [("", value.start), ("", value.stop), ("", value.step)]
    if is_primitive(value):
        return value.name, [(f"{key}=", item) for key, item in value.params.items()]
    arguments = constructor_arguments(value)
    name = importable_name(type(value))
    if arguments is None or name is None:
        return None
    return name, [("", item) for item in arguments]


def constructor_arguments(value: object) -> tuple[Any, ...] | None:
    """The arguments that make an equal object of the same class, where the object says what they are."""
    cls = type(value)
    if dataclasses.is_dataclass(value):
        return tuple([getattr(value, field.name) for field in dataclasses.fields(value) if field.init])
    if isinstance(value, tuple) and hasattr(cls, "_fields"):
        return tuple(value)
    if "__reduce__" in vars(cls):
        reduced = value.__reduce__()
        if len(reduced) == 2 and reduced[0] is cls:
            return tuple(reduced[1])
    return None


def is_primitive(value: object) -> bool:
    """Whether the value is a primitive of the catalog."""
    name = getattr(value, "name", None)
    return isinstance(name, str) and CATALOG.get(name) is type(value)


def importable_name(value: object) -> str | None:
    """The dotted name under which a function, class or enumeration member can be imported, if it can be."""
    if isinstance(value, enum.Enum):
        outer = importable_name(type(value))
        return None if outer is None else f"{outer}.{value.name}"
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    module = getattr(value, "__module__", None) or ("numpy" if isinstance(value, np.ufunc) else None)
    if not isinstance(name, str) or not isinstance(module, str) or "<" in name:
        return None
    dotted = f"{module}.{name}"
    try:
        return dotted if imported(dotted) is value else None
    except (ImportError, AttributeError):
        return None


def imported(dotted: str) -> Anything:
    """The object with this dotted name; raises ImportError or AttributeError where there is none."""
    parts = dotted.split(".")
    for k in range(len(parts) - 1, 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:k]))
        except ModuleNotFoundError:
            continue
        for name in parts[k:]:
            found = getattr(found, name)
        return found
    raise ModuleNotFoundError(f"no module holds {dotted}")


def is_callable_in_text(value: object) -> bool:
    """Whether a text may call this: classes of values, never functions or anything that could do harm."""
    if not isinstance(value, type):
        return False
    fields = dataclasses.is_dataclass(value) or (issubclass(value, tuple) and hasattr(value, "_fields"))
    return fields or value.__module__.partition(".")[0] == "funcgrad"


def opaque_text(value: object) -> str:
    """An object that has no text, by a number under which this process finds it again."""
    own_name = getattr(value, "name", None) or getattr(value, "__name__", "")
    label = re.sub(r"[<>#\s]+", " ", f"{type(value).__name__} {own_name}").strip()
    return f"<{label} #{OBJECTS.add(value)}>"


def programs_in(value: object) -> Iterator[Program]:
    """The Programs that a parameter is or holds, in the order in which its text names them."""
    if isinstance(value, Program):
        yield value
    elif plain_text(value) is None:
        for item in parts_of(value):
            yield from programs_in(item)


def parts_of(value: object) -> list[Any]:
    """The values that a parameter is made of."""
    if type(value) is tuple:
        return list(value)
    made = construction(value)
    return [] if made is None else [item for _, item in made[1]]


def subprograms(equation: Equation) -> Iterator[Program]:
    """The Programs that an equation's parameters are or hold."""
    for value in equation.params.values():
        yield from programs_in(value)
