"""Copies of whole objects: `copy.deepcopy`, `pickle`, `save` and `load`.

`save` writes NumPy's `.npz` and a description in JSON; `load` builds only what that describes, so that a
file can never run code.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections import OrderedDict
from typing import Any

import numpy as np

from funcgrad.torch.core.tensor import Tensor, method, own, wrap
from funcgrad.torch.operations.registry import FUNCTIONS

__all__ = ["load", "save"]

_NOT_A_LEAF = (
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. "
    " If you were "
    "attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see "
    "https://github.com/pytorch/pytorch/pull/103001"
)


@method("__deepcopy__")
def _deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    if self._node is not None:
        raise RuntimeError(_NOT_A_LEAF)
    if id(self) in memo:
        return memo[id(self)]  # type: ignore[no-any-return]
    t = object.__new__(type(self))
    memo[id(self)] = t
    memory = own(self)
    t._value = memory.copy()
    t._version_box = [0]
    t._rg = self._rg
    if self._grad is not None:
        t._grad = _deepcopy(self._grad, memo)
    _copy_attributes(self, t, memo)
    return t


_OWN = {
    "_value",
    "_version_box",
    "_node",
    "_rg",
    "_grad",
    "_view",
    "_views",
    "_hooks",
    "_post_hooks",
    "_accumulator",
    "_inference",
    "_retains",
    "_tangent",
}


def _copy_attributes(source: Tensor, target: Tensor, memo: dict[int, Any]) -> None:
    import copy  # noqa: PLC0415 - rarely needed

    for name, value in source.__dict__.items():
        if name not in _OWN:
            target.__dict__[name] = copy.deepcopy(value, memo)


@method("__copy__")
def _shallow(self: Tensor) -> Tensor:
    t = object.__new__(type(self))
    t.__dict__.update(self.__dict__)
    return t


@method("__reduce_ex__")
def _reduce(self: Tensor, protocol: Any) -> Any:
    return rebuilt, (type(self), np.ascontiguousarray(own(self)), self._rg)


def rebuilt(cls: type, value: Any, requires_grad: bool) -> Any:
    """The tensor that was pickled: a leaf."""
    t: Any = object.__new__(cls)
    t._value = np.asarray(value)
    t._version_box = [0]
    t._rg = requires_grad
    return t


# -- files ------------------------------------------------------------------------------------------------


def _described(x: Any, arrays: dict[str, Any]) -> Any:  # noqa: PLR0911 - one for each kind of object
    """A description in JSON; arrays go into `arrays`."""
    if isinstance(x, Tensor):
        key = f"array{len(arrays)}"
        arrays[key] = np.ascontiguousarray(own(x))
        kind = "parameter" if type(x).__name__ == "Parameter" else "tensor"
        return {"kind": kind, "array": key, "requires_grad": x._rg}
    if isinstance(x, np.ndarray):
        key = f"array{len(arrays)}"
        arrays[key] = x
        return {"kind": "ndarray", "array": key}
    if x is None or isinstance(x, bool | int | str):
        return {"kind": "plain", "value": x}
    if isinstance(x, float):
        return {"kind": "float", "value": x.hex() if np.isfinite(x) else str(x)}
    if isinstance(x, complex):
        return {"kind": "complex", "value": [_described(x.real, arrays), _described(x.imag, arrays)]}
    if isinstance(x, dict):
        kind = "ordered" if isinstance(x, OrderedDict) else "dict"
        return {"kind": kind, "items": [[_described(k, arrays), _described(v, arrays)] for k, v in x.items()]}
    if isinstance(x, list | tuple | set):
        kind = (
            "size"
            if type(x).__name__ == "Size"
            else next(c.__name__ for c in (list, tuple, set) if isinstance(x, c))
        )
        return {"kind": kind, "items": [_described(v, arrays) for v in x]}
    if type(x).__name__ == "dtype" and hasattr(x, "name"):
        return {"kind": "dtype", "name": x.name}
    raise TypeError(
        f"save() keeps tensors, arrays, numbers, strings, and dicts, lists, tuples and sets of them, not a "
        f"{type(x).__name__}; save its state_dict() instead"
    )


def save(obj: Any, f: Any, *args: Any, **options: Any) -> None:
    """Write tensors, and containers of them, to a file or path."""
    arrays: dict[str, Any] = {}
    text = json.dumps(_described(obj, arrays))
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, description=np.frombuffer(text.encode(), np.uint8), **arrays)
    if hasattr(f, "write"):
        f.write(buffer.getvalue())
        return
    with open(f, "wb") as file:
        file.write(buffer.getvalue())


def _made(d: Any, arrays: Any) -> Any:  # noqa: PLR0911 - one for each kind of object
    kind = d["kind"]
    if kind in ("tensor", "parameter"):
        if not isinstance(d["requires_grad"], bool):
            raise ValueError(f"requires_grad is {d['requires_grad']!r}")
        t = wrap(arrays[d["array"]])
        if kind == "parameter":
            from funcgrad.torch.nn import Parameter  # noqa: PLC0415 - only where one was saved

            return Parameter(t, requires_grad=d["requires_grad"])
        t._rg = d["requires_grad"]
        return t
    if kind == "ndarray":
        return arrays[d["array"]]
    if kind == "plain":
        return d["value"]
    if kind == "float":
        return float.fromhex(d["value"]) if "x" in d["value"] else float(d["value"])
    if kind == "complex":
        return complex(*[_made(x, arrays) for x in d["value"]])
    if kind in ("dict", "ordered"):
        items = [(_made(k, arrays), _made(v, arrays)) for k, v in d["items"]]
        return OrderedDict(items) if kind == "ordered" else dict(items)
    return _made_other(kind, d, arrays)


def _made_other(kind: str, d: Any, arrays: Any) -> Any:
    from funcgrad.torch.core.dtypes import ALL_DTYPES  # noqa: PLC0415 - rarely needed
    from funcgrad.torch.core.size import Size  # noqa: PLC0415 - likewise

    if kind == "dtype":
        return ALL_DTYPES[d["name"]]
    made: dict[str, Any] = {"list": list, "tuple": tuple, "set": set, "size": Size}
    return made[kind]([_made(x, arrays) for x in d["items"]])


def load(f: Any, map_location: Any = None, *args: Any, weights_only: bool = True, **options: Any) -> Any:
    """What `save` wrote. Files of PyTorch's own, which are pickles, are refused.

    Raises RuntimeError for every other file, and for one that is damaged, whatever is wrong in it.
    """
    if hasattr(f, "read"):
        data = f.read()
    else:
        with open(f, "rb") as file:
            data = file.read()
    if is_of_pytorch(data):
        raise RuntimeError(
            "load() reads only what funcgrad.torch.save wrote: files of PyTorch hold pickles, which can run "
            "code. Convert "
            "them where PyTorch is installed, with numpy.savez of the tensors' .numpy()."
        )
    try:
        return read(data)
    except Exception as error:  # noqa: BLE001 - a damaged file may fail in any way, in NumPy's reader too
        raise RuntimeError(
            "load() reads only what funcgrad.torch.save wrote, and this file is something else, or damaged: "
            f"{type(error).__name__}: {error}"
        ) from None


def is_of_pytorch(data: bytes) -> bool:
    """Whether a file begins as a pickle does, or holds one as PyTorch's archives do."""
    if data[:1] == b"\x80":
        return True
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return any(name.endswith(".pkl") for name in archive.namelist())
    except Exception:  # noqa: BLE001 - no archive, or a damaged one
        return False


def read(data: bytes) -> Any:
    """What the bytes of a file describe; raises whatever the first thing wrong in them leads to."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        damaged = archive.testzip()
    if damaged is not None:
        raise ValueError(f"the checksum of {damaged} is not that of its contents")
    with np.load(io.BytesIO(data), allow_pickle=False) as found:
        arrays = {name: found[name] for name in found.files}
    if "description" not in arrays:
        raise ValueError("it has no description")
    return _made(json.loads(bytes(arrays.pop("description")).decode()), arrays)


FUNCTIONS["save"], FUNCTIONS["load"] = save, load
