"""`save` and `load` in PyTorch's own format: what one writes, the other reads.

A file is a ZIP archive of the memory of tensors and a pickle that says how they belong together. `load` reads
the pickle by an interpreter that imports and calls nothing (`core.pickled`), whatever `weights_only` says.
"""

from __future__ import annotations

import io
import math
import pickle
import sys
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from funcgrad.torch.core.dtypes import ALL_DTYPES, TYPE_NAMES
from funcgrad.torch.core.meta import is_meta
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.pickled import Name, Writer, inside, read_pickle
from funcgrad.torch.core.size import Size
from funcgrad.torch.core.tensor import Tensor, own, wrap
from funcgrad.torch.nn.parameter import Parameter
from funcgrad.torch.operations.creating.conversion import device
from funcgrad.types import Anything, Array, Number, Tree

__all__ = ["load", "save"]

_NOT_OURS = "load() reads only what torch.save wrote, and this file is something else, or damaged: "
_STORAGES = {f"{word}Storage": np.dtype(name) for name, word in TYPE_NAMES.items()}
_BRAIN = "BFloat16Storage"


# -- reading ----------------------------------------------------------------------------------------------


class _Storage:
    """The memory of one or several tensors, and PyTorch's word for its numbers."""

    __slots__ = ("array", "word")

    def __init__(self, array: Anything, word: str) -> None:
        self.array = array
        self.word = word


def _tensor(
    storage: Anything,
    offset: int,
    size: Anything,
    stride: Anything,
    requires_grad: bool = False,
    *rest: Anything,
) -> Anything:
    """A tensor on a part of a storage; ValueError for one that would reach out of it."""
    if not isinstance(storage, _Storage) or not isinstance(requires_grad, bool):
        raise ValueError("a tensor has no memory")
    memory = storage.array
    size, stride = tuple(map(int, size)), tuple(map(int, stride))
    last = offset + sum((n - 1) * k for n, k in zip(size, stride, strict=True))
    if offset < 0 or min((*size, *stride), default=0) < 0 or (math.prod(size) and last >= memory.size):
        raise ValueError("a tensor reaches out of its memory")
    if not math.prod(size):
        value = np.zeros(size, memory.dtype)
    else:
        strides = [k * memory.itemsize for k in stride]
        value = np.lib.stride_tricks.as_strided(memory[offset:], size, strides)
    t = wrap(value)
    t._rg = requires_grad
    return t


def _parameter(data: Anything, requires_grad: bool, *rest: Anything) -> Anything:
    return Parameter(data, requires_grad=requires_grad)


def _encoded(text: Anything, coding: str) -> bytes:
    if coding != "latin1":
        raise ValueError(f"bytes in {coding}")
    return str(text).encode("latin1")


def _numpy_dtype(code: Anything, *rest: Anything) -> Anything:
    found = np.dtype(code)
    if found.kind not in "fciub" or found.names is not None:
        raise ValueError(f"an array of {code}")
    return found


def _empty_array(kind: Anything, shape: Anything, code: Anything) -> Anything:
    return np.zeros(shape, np.uint8)


def _filled_array(array: Anything, state: Anything) -> Anything:
    _, shape, dtype, is_fortran, data = state
    found = np.frombuffer(data, dtype).reshape(shape, order="F" if is_fortran else "C")
    return np.array(found)


def _scalar(dtype: Anything, data: Anything) -> Anything:
    return np.frombuffer(data, dtype)[0]


def _dtype_state(dtype: Anything, state: Anything) -> Anything:
    return dtype.newbyteorder(state[1]) if state[1] in "<>" else dtype


def _with_metadata(found: Anything, state: Anything) -> Anything:
    if set(state) - {"_metadata"}:
        raise ValueError(f"a dict with attributes {sorted(state)}")
    found.__dict__.update(state)
    return found


_CALLS: dict[str, Callable[..., Any]] = {
    "collections.OrderedDict": OrderedDict,
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_tensor": _tensor,
    "torch._utils._rebuild_parameter": _parameter,
    "torch.Size": Size,
    "torch.device": device,
    "_codecs.encode": _encoded,
    **{
        f"{module}.{kind.__name__}": kind for module in ("builtins", "__builtin__") for kind in (set, complex)
    },
    "numpy.dtype": _numpy_dtype,
    **{
        f"numpy.{core}.multiarray.{word}": made
        for core in ("core", "_core")
        for word, made in (("_reconstruct", _empty_array), ("scalar", _scalar))
    },
}
_NAMES: dict[str, Any] = {
    **{f"torch.{name}": dtype for name, dtype in ALL_DTYPES.items()},
    **{f"torch.{word}": Name(word) for word in (*_STORAGES, _BRAIN)},
    "torch.nn.parameter.Parameter": Name("Parameter"),
    "numpy.ndarray": Name("ndarray"),
}
_STATES: dict[type, Callable[[Any, Any], Any]] = {
    OrderedDict: _with_metadata,
    np.ndarray: _filled_array,
    **{type(np.dtype(kind)): _dtype_state for kind in "?bBhHiIlLqQefdgFDG"},
}
_PARTS = (Name, _Storage, np.dtype)
"""What tensors and arrays are made of: no value of a file's."""


def _storage_of(archive: zipfile.ZipFile, root: str, kept: dict[str, _Storage], is_big: bool) -> Anything:
    def storage(key: Anything) -> _Storage:
        what, kind, name, _, count = key
        word = kind.path if isinstance(kind, Name) else kind
        if what != "storage" or word not in (*_STORAGES, _BRAIN):
            raise pickle.UnpicklingError(f"it refers to a {what!r}")
        if name not in kept:
            data = archive.read(f"{root}data/{name}")
            order: Literal["<", ">"] = ">" if is_big else "<"
            if word == _BRAIN:
                # The upper halves of single-precision numbers.
                upper = np.frombuffer(data, f"{order}u2", count).astype(np.uint32) << 16
                memory = upper.view(np.float32)
            else:
                dtype = _STORAGES[word].newbyteorder(order)
                memory = np.frombuffer(data, dtype, count).astype(_STORAGES[word])
            kept[name] = _Storage(memory, word)
        return kept[name]

    return storage


def _read(data: bytes) -> Anything:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        damaged = archive.testzip()
        if damaged is not None:
            raise ValueError(f"the checksum of {damaged} is not that of its contents")
        found = [name for name in archive.namelist() if name.endswith("data.pkl")]
        if len(found) != 1:
            raise ValueError("it has no data.pkl")
        root = found[0].removesuffix("data.pkl")
        order = f"{root}byteorder"
        is_big = order in archive.namelist() and archive.read(order) == b"big"
        value = read_pickle(
            archive.read(found[0]), _NAMES, _CALLS, _STATES, _storage_of(archive, root, {}, is_big)
        )
    for part in inside(value):
        if isinstance(part, _PARTS):
            raise ValueError(f"a {type(part).__name__.lstrip('_').lower()} stands where a value should")
    return value


def load(
    f: Anything,
    map_location: object = None,
    pickle_module: object = None,
    *,
    weights_only: object = None,
    **options: object,
) -> Tree:
    """What `save`, here or in PyTorch, wrote to a file or path: tensors, state dicts, and plain containers.

    Nothing in a file is ever imported or called, so `weights_only` is not asked for. Numbers in bfloat16
    become single precision. Raises pickle.UnpicklingError for names that are not tensors' or containers', and
    RuntimeError for every other file, and for one that is damaged, whatever is wrong in it.

    >>> import io
    >>> file = io.BytesIO()
    >>> fg.torch.save({"w": fg.torch.ones(2)}, file)
    >>> fg.torch.load(io.BytesIO(file.getvalue()))
    {'w': tensor([1., 1.])}
    """
    if hasattr(f, "read"):
        data = f.read()
    else:
        with open(f, "rb") as file:
            data = file.read()
    try:
        return _read(data)
    except pickle.UnpicklingError as error:
        raise pickle.UnpicklingError(
            f"Weights only load failed: {error}. Files are read without running what they say; save a "
            "state_dict()"
        ) from None
    except Exception as error:  # noqa: BLE001 - a damaged file may fail in any way, in NumPy's reader too
        raise RuntimeError(f"{_NOT_OURS}{type(error).__name__}: {error}") from None


# -- writing ----------------------------------------------------------------------------------------------


def _lying(x: Tensor) -> tuple[Array, int, tuple[int, ...]]:
    """The memory of a tensor, where it begins there and its strides, in elements.

    That of a view is its base's, so that what shared memory when it was saved does so when it is loaded.
    """
    value = own(x)
    memory = value if x._view is None else own(x._view.base)
    shared = memory is not value and memory.flags.c_contiguous and memory.dtype == value.dtype
    if shared and value.size and min(value.strides, default=0) >= 0:
        offset = (value.ctypes.data - memory.ctypes.data) // value.itemsize
        return memory, int(offset), tuple([step // value.itemsize for step in value.strides])
    return value, 0, tuple([math.prod([max(n, 1) for n in value.shape[k + 1 :]]) for k in range(value.ndim)])


class _Memories:
    """The memories of the tensors that are written: those of equal tensors once."""

    def __init__(self) -> None:
        self.arrays: list[Any] = []
        self.keys: dict[Any, int] = {}

    def key(self, value: Number) -> int:
        where = (value.__array_interface__["data"][0], value.shape, value.strides, value.dtype.name)
        if where not in self.keys or not value.size:
            self.keys[where] = len(self.arrays)
            self.arrays.append(value)
        return self.keys[where]

    def describe(self, x: Operand) -> Callable[[Writer], None] | None:  # noqa: PLR0911 - one for each kind
        """How what is not plain is written."""
        if isinstance(x, Tensor) and is_meta(x):
            raise NotImplementedError(
                "funcgrad.torch.save does not support tensors on meta: give them memory with to_empty"
            )
        if isinstance(x, Tensor):
            return self._parameter(x) if type(x).__name__ == "Parameter" else self._tensor(x)
        if isinstance(x, np.generic):
            return lambda writer: writer.write(x.item())
        if isinstance(x, np.ndarray):
            return self._array(x)
        if isinstance(x, Size):
            return lambda writer: writer.call("torch", "Size", tuple(x))
        if isinstance(x, device):
            return lambda writer: writer.call("torch", "device", "cpu")
        if type(x).__name__ == "dtype" and hasattr(x, "name"):
            return lambda writer: writer.name("torch", str(x).removeprefix("torch."))
        return None

    def _tensor(self, x: Tensor) -> Callable[[Writer], None]:
        value = own(x)
        if value.dtype.name in ("uint16", "uint32", "uint64"):
            raise TypeError(f"save() does not keep tensors of {value.dtype.name}; convert them with .long()")

        memory, offset, stride = _lying(x)

        def written(writer: Writer) -> None:
            writer.name("torch._utils", "_rebuild_tensor_v2")
            writer.raw(b"((")
            writer.write("storage")
            writer.name("torch", f"{TYPE_NAMES[value.dtype.name]}Storage")
            for part in (str(self.key(memory)), "cpu", memory.size):
                writer.write(part)
            writer.raw(b"tQ")
            for part in (offset, tuple(map(int, value.shape)), stride, x._rg):
                writer.write(part)
            writer.call("collections", "OrderedDict")
            writer.raw(b"tR")

        return written

    def _parameter(self, x: Tensor) -> Callable[[Writer], None]:
        def written(writer: Writer) -> None:
            writer.call("torch._utils", "_rebuild_parameter", x.detach(), x._rg, OrderedDict())

        return written

    def _array(self, x: Anything) -> Callable[[Writer], None]:
        if x.dtype.kind not in "fciub":
            raise TypeError(f"save() keeps arrays of numbers, not of {x.dtype}")

        def written(writer: Writer) -> None:
            writer.name("numpy.core.multiarray", "_reconstruct")
            writer.raw(b"(")
            writer.name("numpy", "ndarray")
            writer.write((0,))
            writer.write(b"b")
            writer.raw(b"tR(")
            for part in (1, tuple(map(int, x.shape))):
                writer.write(part)
            writer.call("numpy", "dtype", x.dtype.str.lstrip("<>=|"), False, True)
            writer.write((3, x.dtype.str[0], None, None, None, -1, -1, 0))
            writer.raw(b"b")
            writer.write(False)
            writer.write(np.ascontiguousarray(x).tobytes())
            writer.raw(b"tb")

        return written


def save(
    obj: Tree, f: Anything, pickle_module: object = None, pickle_protocol: int = 2, **options: object
) -> None:
    """Write tensors, and containers of them, to a file or path, as PyTorch reads them.

    Raises TypeError for objects that are not tensors, arrays, plain values or containers of them.
    """
    memories = _Memories()
    writer = Writer(memories.describe)
    writer.write(obj)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("archive/data.pkl", writer.finished())
        archive.writestr("archive/byteorder", sys.byteorder)
        for k, value in enumerate(memories.arrays):
            archive.writestr(f"archive/data/{k}", np.ascontiguousarray(value).tobytes())
        archive.writestr("archive/version", "3\n")
    if hasattr(f, "write"):
        f.write(buffer.getvalue())
        return
    with open(f, "wb") as file:
        file.write(buffer.getvalue())


def add_safe_globals(safe_globals: object) -> None:
    """Nothing is called by `load`, so there is nothing to allow: NotImplementedError."""
    raise NotImplementedError("funcgrad.torch.load calls nothing; save a state_dict() instead of objects")
