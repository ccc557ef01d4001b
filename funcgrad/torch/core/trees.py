"""Modules in the arguments of `funcgrad`'s transforms: each is a container of its parameters and buffers.

Inside `fg.grad`, `fg.vmap` or `fg.jit` a tensor's value is traced, and so is all that its operations and its
backward pass compute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import ref

from funcgrad import tree
from funcgrad.extend import Tracer
from funcgrad.torch.core.operand import Operands
from funcgrad.tracing.recorder import recorder_of
from funcgrad.types import Anything, Arrays

if TYPE_CHECKING:
    from funcgrad.tracing.recorder import Recorder


def trace_of(values: Operands) -> Recorder | None:
    """What identifies the trace that values belong to; None where none is traced."""
    return recorder_of(values)


class _Model:
    """A module as static data: itself, compared by identity."""

    __slots__ = ("module",)

    def __init__(self, module: Anything) -> None:
        self.module = module

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Model) and self.module is other.module

    def __hash__(self) -> int:
        return id(self.module)


def _flatten_module(module: Anything) -> Anything:
    names, tensors = module._named_tensors()
    return tuple(tensors), (_Model(module), tuple(names), module.training)


def _copied_module(module: Anything) -> Anything:
    """A module with dicts of its own, on the same tensors."""
    copied = object.__new__(type(module))
    copied.__dict__.update(module.__dict__)
    for store in ("_parameters", "_buffers"):
        copied.__dict__[store] = dict(module.__dict__[store])
    copied.__dict__["_modules"] = {
        name: None if child is None else _copied_module(child)
        for name, child in module.__dict__["_modules"].items()
    }
    return copied


def _unflatten_module(aux: Anything, children: Arrays) -> Anything:
    model, names, _ = aux
    module = _copied_module(model.module)
    for name, part in zip(names, children, strict=True):
        *owners, last = name.split(".")
        owner = module
        for step in owners:
            owner = owner.__dict__["_modules"][step]
        store = "_parameters" if last in owner.__dict__["_parameters"] else "_buffers"
        note_stand_in(owner.__dict__[store][last], part)
        owner.__dict__[store][last] = part
    return module


def note_stand_in(original: Anything, part: Anything) -> None:
    """Let an optimiser of the same trace find the tensor that stands for a parameter."""
    if type(getattr(part, "_value", None)) is not Tracer:
        return
    part._trace = trace_of([part._value])
    living = [r for r in original._stand_ins or () if r() is not None]
    original._stand_ins = [*living, ref(part)]


def register_module(cls: type) -> None:
    """Let transforms take modules of this class apart: into their parameters and buffers."""
    tree.register_node(cls, _flatten_module, _unflatten_module)
