"""Attributes that are computed when first asked for, by whichever thread asks, under no lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class once(Generic[Value]):
    """`functools.cached_property` without its lock, which until Python 3.12 all instances shared.

    What is computed may be a trace, which runs the user's code and asks for others of these: two threads that
    hold one lock each and need the other's would wait for ever, and so would a child that was forked
    meanwhile. Two threads may both compute it; the first result stays.

    >>> class Circle:
    ...     radius = 2.0
    ...     @once
    ...     def area(self):
    ...         print("computed")
    ...         return 3.0 * self.radius**2
    >>> circle = Circle()
    >>> circle.area, circle.area
    computed
    (12.0, 12.0)
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> once[Value]: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Value: ...
    def __get__(self, instance: object, owner: type | None = None) -> once[Value] | Value:
        if instance is None:
            return self
        # Found there from now on, before this is asked.
        found: Value = instance.__dict__.setdefault(self._name, self._compute(instance))
        return found
