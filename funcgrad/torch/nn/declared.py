"""Classes whose constructor is a list of options, written as annotated fields.

Owns how fields become a constructor: its parameters, their defaults and their types. What is done with the
options is the class's, in its method ``take``. Dataclasses do nearly this, but compile text for each class,
which takes longer than to import it, and set attributes before a module can have any.
"""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import Any, Literal, NamedTuple, TypeVar, cast, dataclass_transform

from funcgrad.types import Anything

__all__ = ["declared", "fixed"]

T = TypeVar("T")

_REQUIRED: Any = object()


class Field(NamedTuple):
    """An option: its default, its type as text, and how it is given."""

    default: Any
    type: str
    is_by_name: bool
    is_attribute: bool
    is_given: bool = True


class _Fixed(NamedTuple):
    value: Any


def fixed(value: T, *, init: Literal[False] = False) -> T:
    """An option of a base that this class does not take, and its value."""
    return cast("T", _Fixed(value))


@dataclass_transform(eq_default=False, field_specifiers=(fixed,))
def declared(cls: type[T]) -> type[T]:
    """Give a class a constructor that takes its annotated fields, after those of its bases.

    ``InitVar`` says that an option is no attribute; those after ``_: KW_ONLY`` are given by name.
    The constructor hands all of them to the method ``take``, as a dict. Type checkers read the fields too.

    >>> @declared
    ... class Window:
    ...     size: int
    ...     stride: int = 1
    ...     def take(self, options):
    ...         self.__dict__.update(options)
    >>> Window(3, stride=2).stride
    2
    >>> Window()
    Traceback (most recent call last):
    TypeError: Window.__init__() missing 1 required positional argument: 'size'
    """
    fields: dict[str, Field] = dict(getattr(cls, "_fields", {}))
    after_marker = False
    for name, text in inspect.get_annotations(cls).items():
        if text == "KW_ONLY":
            after_marker = True
        elif not text.startswith("ClassVar"):
            fields[name] = _field(
                cls, name, text, fields[name].is_by_name if name in fields else after_marker
            )
    made: Any = cls
    made._fields = fields
    made.__init__ = _constructor(cls, fields)
    return cls


def _field(cls: type, name: str, text: str, is_by_name: bool) -> Field:
    """What the class says of an option; its default is no attribute of the class."""
    is_attribute = not text.startswith("InitVar[")
    text = text if is_attribute else text.removeprefix("InitVar[")[:-1]
    default = cls.__dict__.get(name, _REQUIRED)
    if default is not _REQUIRED:
        delattr(cls, name)
    if isinstance(default, _Fixed):
        return Field(default.value, text, is_by_name, is_attribute, is_given=False)
    return Field(default, text, is_by_name, is_attribute)


def _hand_over(self: Anything, given: dict[str, Any]) -> None:
    self.take({name: given.get(name, field.default) for name, field in self._fields.items()})


def _template(self: Anything) -> None:
    _hand_over(self, locals())


def _constructor(cls: type, fields: dict[str, Field]) -> FunctionType:
    """The template with options as its parameters: Python binds arguments, and refuses them in its words."""
    first = {name: field for name, field in fields.items() if field.is_given and not field.is_by_name}
    last = {name: field for name, field in fields.items() if field.is_given and field.is_by_name}
    names = ("self", *first, *last)
    code = _template.__code__.replace(
        co_name="__init__",
        co_argcount=1 + len(first),
        co_kwonlyargcount=len(last),
        co_nlocals=len(names),
        co_varnames=names,
    )
    defaults = tuple([field.default for field in first.values() if field.default is not _REQUIRED])
    made = FunctionType(code, globals(), "__init__", defaults)
    made.__kwdefaults__ = {name: field.default for name, field in last.items()}
    made.__annotations__ = {name: field.type for name, field in (first | last).items()} | {"return": "None"}
    made.__module__ = cls.__module__
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made
