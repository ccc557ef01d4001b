"""Pytrees of arrays as one flat buffer, and back without copies: what goes to workers and what comes back.

A buffer is a header, which says the structure, then the elements of all leaves, those of one dtype together,
so that two buffers with equal headers are added with one addition for each dtype. Knows no engine.
"""

from __future__ import annotations

import functools
import math
import pickle
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from funcgrad import tree
from funcgrad.distributed.recipes import dumps
from funcgrad.errors import DtypeError
from funcgrad.tracing.labelled import plain_leaves
from funcgrad.tree import TreeDef
from funcgrad.types import ArrayLike, Tree

Flat = NDArray[np.uint8]
"""A buffer."""

_ALIGNMENT = 64
_LEAST_ALIGNMENT = 16
"""What an element of any dtype asks for."""
_LAYOUTS = 256
"""How many layouts are remembered."""

_SCALARS: dict[type, np.dtype[Any]] = {
    bool: np.dtype(bool),
    int: np.dtype(np.int64),
    float: np.dtype(np.float64),
    complex: np.dtype(np.complex128),
}


class Spec(NamedTuple):
    """What the header says of a leaf."""

    kind: str
    """``array``, ``number`` (NumPy's), ``scalar`` (Python's) or ``object``."""
    dtype: str
    shape: tuple[int, ...]


class Segment(NamedTuple):
    """The elements of one dtype, from byte to byte."""

    dtype: np.dtype[Any]
    start: int
    stop: int


class Place(NamedTuple):
    """The bytes of a leaf, and what they are."""

    part: slice
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


class Layout:
    """Where the leaves of one kind of tree are in a buffer."""

    __slots__ = ("head", "nbytes", "objects", "places", "segments", "specs", "treedef")

    def __init__(self, header: bytes, treedef: TreeDef, specs: tuple[Spec, ...], objects: bytes) -> None:
        self.head = np.frombuffer(np.int64(len(header)).tobytes() + header, np.uint8)
        """How a buffer begins: the length of the header, and the header."""
        self.treedef = treedef
        self.specs = specs
        self.objects = objects
        start = _aligned(len(self.head))
        places: list[Place | None] = [None] * len(specs)
        segments = []
        for name in dict.fromkeys([spec.dtype for spec in specs if spec.kind != "object"]):
            begin, dtype = start, np.dtype(name)
            for n, spec in enumerate(specs):
                if spec.kind != "object" and spec.dtype == name:
                    stop = start + math.prod(spec.shape) * dtype.itemsize
                    places[n] = Place(slice(start, stop), dtype, spec.shape)
                    start = stop
            segments.append(Segment(dtype, begin, start))
            start = _aligned(start)
        self.places = tuple(places)
        """None for an object, which is in the header."""
        self.segments = tuple(segments)
        self.nbytes = start


def pack(pytree: object) -> Flat:
    """The leaves of a tree in one buffer: arrays and numbers as they are, anything else by (cloud)pickle.

    >>> flat = pack({"w": np.ones(3), "n": 2})
    >>> unpack(flat)
    {'n': 2, 'w': array([1., 1., 1.])}

    Raises DtypeError for arrays of objects.
    """
    layout, leaves = _described(pytree)
    flat: Flat = np.empty(layout.nbytes, np.uint8)
    _fill(flat, layout, leaves)
    return flat


def packed_size(pytree: object) -> int:
    """The bytes of the buffer that `pack` would make."""
    return _described(pytree)[0].nbytes


def pack_into(flat: Flat, pytree: object) -> None:
    """As `pack`, into memory that is long enough."""
    layout, leaves = _described(pytree)
    _fill(flat, layout, leaves)


def _fill(flat: Flat, layout: Layout, leaves: Sequence[Any]) -> None:
    flat[: len(layout.head)] = layout.head
    for leaf, place in zip(leaves, layout.places, strict=True):
        if place is not None:
            _view(flat, place)[...] = leaf


def unpack(flat: Flat) -> Tree:
    """The tree in a buffer; its arrays are views, which cannot be written to."""
    if flat.ctypes.data % _LEAST_ALIGNMENT:
        flat = flat.copy()
    layout = layout_of(flat)
    objects = iter(pickle.loads(layout.objects) if layout.objects else ())
    leaves = []
    for spec, place in zip(layout.specs, layout.places, strict=True):
        if place is None:
            leaves.append(next(objects))
            continue
        view = _view(flat, place)
        if spec.kind == "array":
            view.flags.writeable = False
            leaves.append(view)
        else:
            leaves.append(view.item() if spec.kind == "scalar" else view[()])
    return tree.unflatten(layout.treedef, leaves)


def header_of(flat: Flat) -> bytes:
    """What says the structure: buffers with equal headers hold trees of equal kinds."""
    return flat[8 : 8 + int(flat[:8].view(np.int64)[0])].tobytes()


def layout_of(flat: Flat) -> Layout:
    """Where the leaves are in this buffer."""
    return _read(header_of(flat))


@functools.lru_cache(_LAYOUTS)
def _read(header: bytes) -> Layout:
    treedef, specs, objects = pickle.loads(header)
    return Layout(header, treedef, tuple([Spec(*spec) for spec in specs]), objects)


@functools.lru_cache(_LAYOUTS)
def _made(treedef: TreeDef, specs: tuple[Spec, ...], objects: bytes) -> Layout:
    header = pickle.dumps((treedef, [tuple(spec) for spec in specs], objects), protocol=5)
    return Layout(header, treedef, specs, objects)


def _described(pytree: Tree) -> tuple[Layout, list[Any]]:
    leaves, treedef = tree.flatten(pytree)
    leaves = list(plain_leaves(leaves))
    specs = []
    objects = []
    for n, leaf in enumerate(leaves):
        spec = _spec_of(leaf)
        if spec.kind == "object":
            objects.append(leaf)
        elif spec.dtype == "|O":
            raise DtypeError(
                f"the leaf at {tree.keystr(treedef.paths()[n]) or 'the top'} is an array of Python objects, "
                "which is not sent to workers",
                remedy="Make it an array of numbers, for example with x.astype(float).",
            )
        specs.append(spec)
    return _made(treedef, tuple(specs), _dumped(objects) if objects else b""), leaves


def _spec_of(leaf: ArrayLike) -> Spec:
    if isinstance(leaf, np.ndarray):
        return Spec("array", leaf.dtype.str, leaf.shape)
    if isinstance(leaf, np.generic):
        return Spec("number", leaf.dtype.str, ())
    dtype = _SCALARS.get(type(leaf))
    if dtype is None or (type(leaf) is int and not -(2**63) <= leaf < 2**63):
        return Spec("object", "", ())
    return Spec("scalar", dtype.str, ())


def _dumped(objects: list[Any]) -> bytes:
    return dumps(objects, "an argument")


def _view(flat: Flat, place: Place) -> NDArray[Any]:
    view = flat[place.part].view(place.dtype)
    return view if len(place.shape) == 1 else view.reshape(place.shape)


def _aligned(place: int) -> int:
    return -(-place // _ALIGNMENT) * _ALIGNMENT
