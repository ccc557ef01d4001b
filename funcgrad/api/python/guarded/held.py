"""What holds values that a recorded function may change: names, attributes, elements of containers."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from funcgrad.api.python.blocks.recording import Place
from funcgrad.types import Anything


class State:
    """Something that holds values, and the values that it held when it was first seen."""

    __slots__ = ("before", "owner")

    def __init__(self, owner: Anything) -> None:
        self.owner = owner
        self.before = self.now()

    def now(self) -> dict[Any, Any]:
        """What it holds."""
        raise NotImplementedError

    def put(self, held: Mapping[Any, Any]) -> None:
        """Have it hold this again."""
        raise NotImplementedError

    def spelled(self, key: object) -> str:
        """How messages call one of its values."""
        raise NotImplementedError

    def moved(self) -> list[str]:
        """What holds something that it did not before."""
        now, before = self.now(), self.before
        changed = [key for key, value in now.items() if before.get(key, now) is not value]
        gone = [key for key in before if key not in now]
        return [self.spelled(key) for key in [*gone, *changed]]


class Name(State):
    """A name of another function or of a module, or an attribute of what keeps no dict of them."""

    def now(self) -> dict[Any, Any]:
        """What it stands for."""
        try:
            return {self.owner.spelled: self.owner.cell_contents}
        except ValueError:
            return {}

    def put(self, held: Mapping[Any, Any]) -> None:
        """Bind it, or no longer."""
        for value in held.values():
            self.owner.cell_contents = value
        if not held and self.now():
            del self.owner.cell_contents

    def spelled(self, key: object) -> str:
        """The name."""
        return str(key)


class SetAttribute(Place):
    """An attribute of what keeps no dict of its own for them: of a class, a module, an object with slots."""

    __slots__ = ()

    @property
    def spelled(self) -> str:
        """The attribute, as it is written."""
        return f"{getattr(self._owner, '__name__', type(self._owner).__name__)}.{self._key}"


class Attributes(State):
    """The attributes of an object of the user's."""

    def now(self) -> dict[Any, Any]:
        """What they are."""
        return dict(vars(self.owner))

    def put(self, held: Mapping[Any, Any]) -> None:
        """Set them."""
        own: Anything = vars(self.owner)
        own.clear()
        own.update(held)

    def spelled(self, key: object) -> str:
        """The attribute, with the class of the object."""
        return f"{type(self.owner).__name__}.{key}"


class Elements(State):
    """The elements of a list, dict, set or deque."""

    def now(self) -> dict[Any, Any]:
        """What they are."""
        owner = self.owner
        if isinstance(owner, dict):
            return dict(owner)
        return dict(enumerate(owner)) if isinstance(owner, list | deque) else {x: x for x in owner.copy()}

    def put(self, held: Mapping[Any, Any]) -> None:
        """Have it hold these."""
        self.owner.clear()
        if isinstance(self.owner, list | deque):
            self.owner.extend(held.values())
        else:
            self.owner.update(held)

    def spelled(self, key: object) -> str:
        """The kind of container, and what is in it where that is short."""
        return f"{type(self.owner).__name__}[{key!r}]"
