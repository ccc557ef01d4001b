"""Arrays of which no length is known: a solver's steps, an event's occurrences, where no values exist yet.

Their first and last elements are known by what they are, so that ``sol.y[:, -1]`` and ``sol.t_events[0][0]``
are computed when they are taken. What would need all elements is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from funcgrad.errors import ConcretizationError
from funcgrad.source import Source, user_location
from funcgrad.types import Anything, Index


class Unlisted:
    """An array with one axis of unknown length, along which elements are computed one by one.

    `element` gives what lies at a place of that axis, an array of `shape`; `axis` is where the axis stands
    among those of the shape. `places` are the places that are known, None for all.
    """

    __slots__ = ("_axis", "_element", "_name", "_places", "_remedy", "_shape")
    __array_priority__ = 1e6

    def __init__(
        self,
        name: str,
        remedy: str,
        element: Callable[[int], Any],
        shape: tuple[int, ...] = (),
        axis: int = 0,
        places: tuple[int, ...] | None = None,
    ) -> None:
        self._name = name
        self._remedy = remedy
        self._element = element
        self._shape = shape
        self._axis = axis
        self._places = places

    def __repr__(self) -> str:
        return f"<{self._name}, of a length that is known with values alone>"

    def __getitem__(self, key: Index) -> Anything:
        parts = list(key) if isinstance(key, tuple) else [key]
        ndim = len(self._shape) + 1
        if any(part is None for part in parts):
            self._refuse()
        if any(part is Ellipsis for part in parts):
            k = next(k for k, part in enumerate(parts) if part is Ellipsis)
            parts[k : k + 1] = [slice(None)] * (ndim - len(parts) + 1)
        if len(parts) > ndim:
            raise IndexError(f"too many indices: {self._name} has {ndim} axes, and {len(parts)} were indexed")
        parts += [slice(None)] * (ndim - len(parts))
        along, rest = parts.pop(self._axis), tuple(parts)
        if isinstance(along, slice) and along == slice(None):
            return self._of_elements(rest)
        if isinstance(along, slice) or not hasattr(along, "__index__"):
            self._refuse()
        k = along.__index__()
        if self._places is not None and k not in self._places:
            self._refuse()
        element = self._element(k)
        return element[rest] if rest else element

    def _of_elements(self, rest: tuple[Any, ...]) -> Unlisted:
        """The same part of every element."""
        if all(isinstance(part, slice) and part == slice(None) for part in rest):
            return self
        whole = self._element
        shape = np.broadcast_to(0.0, self._shape)[rest].shape
        before = [part for part in rest[: self._axis] if not hasattr(part, "__index__")]
        return Unlisted(self._name, self._remedy, lambda k: whole(k)[rest], shape, len(before), self._places)

    @property
    def T(self) -> Unlisted:
        """The array with its axes in the other order."""
        axis = len(self._shape) - self._axis
        return Unlisted(self._name, self._remedy, self._element, self._shape, axis, self._places)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._shape) + 1

    def __len__(self) -> int:
        if self._axis == 0:
            self._refuse()
        return self._shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter([self[k] for k in range(len(self))])

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        self._refuse()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise ConcretizationError(
            f"{self._name} has as many elements as the values say, and no values exist under this transform",
            source=Source(*user_location()),
            remedy=self._remedy,
        )


_WHOLE = (
    "array array_ufunc array_function add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv "
    "pow rpow mod rmod matmul rmatmul neg pos abs lt le gt ge eq ne bool float int contains reversed setitem"
)
for _name in _WHOLE.split():
    setattr(Unlisted, f"__{_name}__", Unlisted._refuse)
Unlisted.__hash__ = object.__hash__  # type: ignore[method-assign]
