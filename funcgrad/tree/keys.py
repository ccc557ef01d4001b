"""Owns the words in which the place of a leaf is told: key classes, paths made of them, and their text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn, TypeAlias

from funcgrad.types import Anything

# Usually one of the classes below, but `register_pytree_with_keys` lets a class choose its own.
Key: TypeAlias = Any
KeyPath: TypeAlias = tuple[Key, ...]

_set = object.__setattr__


class _OneValueKey:
    """A frozen key that wraps one value, equal only to keys of its own class.

    Written out because a dataclass or a namedtuple would itself be a pytree.
    """

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()

    @property
    def _value(self) -> Anything:
        return getattr(self, self.__match_args__[0])

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return bool(self._value == other._value)

    def __hash__(self) -> int:
        return hash((type(self), self._value))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__match_args__[0]}={self._value!r})"

    def __reduce__(self) -> tuple[type, tuple[Any]]:
        return type(self), (self._value,)


class SequenceKey(_OneValueKey):
    """The place of a child in a tuple, list or deque.

    >>> str(fg.tree.SequenceKey(2))
    '[2]'
    """

    __slots__ = __match_args__ = ("idx",)
    idx: int

    def __init__(self, idx: int) -> None:
        _set(self, "idx", idx)

    def __str__(self) -> str:
        return f"[{self.idx}]"


class DictKey(_OneValueKey):
    """The key of a child in a dict.

    >>> str(fg.tree.DictKey("w"))
    "['w']"
    """

    __slots__ = __match_args__ = ("key",)
    key: Any

    def __init__(self, key: Anything) -> None:
        _set(self, "key", key)

    def __str__(self) -> str:
        return f"[{self.key!r}]"


class GetAttrKey(_OneValueKey):
    """The name of a child that is an attribute, as in namedtuples and dataclasses.

    >>> str(fg.tree.GetAttrKey("w"))
    '.w'
    """

    __slots__ = __match_args__ = ("name",)
    name: str

    def __init__(self, name: str) -> None:
        _set(self, "name", name)

    def __str__(self) -> str:
        return f".{self.name}"


class FlattenedIndexKey(_OneValueKey):
    """The number of a child in a class that was registered without keys.

    >>> str(fg.tree.FlattenedIndexKey(2))
    '[<flat index 2>]'
    """

    __slots__ = __match_args__ = ("key",)
    key: int

    def __init__(self, key: int) -> None:
        _set(self, "key", key)

    def __str__(self) -> str:
        return f"[<flat index {self.key}>]"


def keystr(keys: Iterable[Key], *, simple: bool = False, separator: str = "") -> str:
    """Text for a path: as one would write it in Python, or the bare names if ``simple``.

    >>> [(path, leaf)] = fg.tree.leaves_with_path({"layers": [{"w": 1.0}]})
    >>> fg.tree.keystr(path)
    "['layers'][0]['w']"
    >>> fg.tree.keystr(path, simple=True, separator="/")
    'layers/0/w'
    """
    if not simple:
        return separator.join(str(key) for key in keys)
    return separator.join(str(key._value if isinstance(key, _OneValueKey) else key) for key in keys)
