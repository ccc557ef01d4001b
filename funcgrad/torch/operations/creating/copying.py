"""Copies of whole tensors: `copy.deepcopy`, `copy.copy` and `pickle`."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.torch.core.layout import copied
from funcgrad.torch.core.meta import is_meta, meta_array
from funcgrad.torch.core.tensor import Tensor, method, own
from funcgrad.types import Anything, ArrayLike, DTypeLike, ShapeLike

if TYPE_CHECKING:
    from funcgrad.torch.core.operand import Operand


_NOT_A_LEAF = (
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
    "moment.  If you were attempting to deepcopy a module, this may be because of a "
    "torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
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
    t._value = copied(memory)
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
    for name, value in source.__dict__.items():
        if name not in _OWN:
            target.__dict__[name] = copy.deepcopy(value, memo)


@method("__copy__")
def _shallow(self: Tensor) -> Tensor:
    t = object.__new__(type(self))
    t.__dict__.update(self.__dict__)
    return t


@method("__reduce_ex__")
def _reduce(self: Tensor, protocol: Anything) -> Anything:
    if is_meta(self):
        return rebuilt_on_meta, (type(self), self._value.shape, self._value.dtype, self._rg)
    return rebuilt, (type(self), np.ascontiguousarray(own(self)), self._rg)


def rebuilt_on_meta(cls: type, shape: ShapeLike, dtype: DTypeLike, requires_grad: bool) -> Operand:
    """The meta tensor that was pickled: a leaf."""
    t = rebuilt(cls, np.zeros(0, dtype), requires_grad)
    t._value = meta_array(shape, dtype)
    return t


def rebuilt(cls: type, value: ArrayLike, requires_grad: bool) -> Operand:
    """The tensor that was pickled: a leaf."""
    t: Any = object.__new__(cls)
    t._value = np.asarray(value)
    t._version_box = [0]
    t._rg = requires_grad
    return t
