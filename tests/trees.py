"""Classes of a user's that are trees, which the tests of trees share, and functions for their leaves."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass, field
from typing import Any

from funcgrad import tree

Point = namedtuple("Point", ["x", "y"])


@dataclass
class Layer:
    w: Any
    b: Any
    name: str = field(default="layer", metadata={"static": True})


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    w: Any
    b: Any = 0.0
    name: str = tree.static(default="frozen", repr=False)


class Pair:
    """Registered with functions, without keys."""

    def __init__(self, first, second, label="pair"):
        self.first, self.second, self.label = first, second, label

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None


def flatten_pair(pair):
    return (child for child in (pair.first, pair.second)), pair.label


def pair_of(label, children):
    return Pair(*children, label)


tree.register_node(Pair, flatten_pair, pair_of)


@tree.register_pytree_with_keys_class
class Named:
    """Registered by its methods, with keys of its own."""

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __eq__(self, other):
        return type(self) is type(other) and (self.x, self.y) == (other.x, other.y)

    __hash__ = None

    def tree_flatten_with_keys(self):
        return ((tree.GetAttrKey("x"), self.x), ("y", self.y)), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


def double(x):
    return 2 * x


def is_none(x):
    return x is None


def is_tuple(x):
    return isinstance(x, tuple)
