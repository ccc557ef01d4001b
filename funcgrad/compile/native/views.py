"""Numba types for raw memory: the tables a kernel is given and the typed views it makes of their entries.

``as_f64(p[3])`` is a view of the fourth buffer: ``x[i]`` loads an element, ``x[i] = v`` stores one, nothing is
checked. Loads and stores carry LLVM's alias scopes, one for each buffer, so loops over many pointers vectorise
without overlap checks at run time. ``as_f64(p[3], 1)`` puts the view into scope 1: views that may overlap must
share one. A view of an entry whose index is not a constant may overlap anything.

Imports Numba: import this module only to compile.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer, infer_global, signature
from numba.extending import intrinsic, register_model

from funcgrad.compile.native.external import External, Overload

__all__ = ["VIEWS", "SizesType", "TableType", "external"]

_BYTE = ir.IntType(8)


class TableType(types.Opaque):
    """The pointers to a kernel's buffers."""

    def __init__(self) -> None:
        super().__init__("funcgrad.Table")


class SizesType(types.Opaque):
    """The integers given to a kernel beside its buffers."""

    def __init__(self) -> None:
        super().__init__("funcgrad.Sizes")


class SlotType(types.Opaque):
    """One entry of the table: an untyped pointer. ``scope`` is its index where that is a constant."""

    def __init__(self, scope: int | None) -> None:
        self.scope = scope
        super().__init__(f"funcgrad.Slot({scope})")


class ViewType(types.Opaque):
    """A pointer to elements: ``dtype`` is what a load gives, ``storage`` how it lies in memory."""

    def __init__(self, dtype: types.Type, storage: str, scope: int | None) -> None:
        self.dtype = dtype
        self.storage = storage
        self.scope = scope
        super().__init__(f"funcgrad.View({dtype}, {storage}, {scope})")


for _type in (TableType, SizesType, SlotType, ViewType):
    register_model(_type)(models.OpaqueModel)


@infer
class _SlotOfTable(AbstractTemplate):  # type: ignore[misc]  # Numba is untyped
    key = "static_getitem"

    def generic(self, args: Any, kws: Any) -> Any:
        table, index = args
        if isinstance(table, TableType) and isinstance(index, int):
            return signature(SlotType(index), table, types.literal(index))
        return None


@infer_global(operator.getitem)
class _Item(AbstractTemplate):  # type: ignore[misc]  # Numba is untyped
    def generic(self, args: Any, kws: Any) -> Any:
        value, index = args
        if not isinstance(index, types.Integer):
            return None
        if isinstance(value, TableType):
            return signature(SlotType(None), value, types.intp)
        if isinstance(value, SizesType):
            return signature(types.int64, value, types.intp)
        if isinstance(value, ViewType):
            return signature(value.dtype, value, types.intp)
        return None


@infer_global(operator.setitem)
class _StoredItem(AbstractTemplate):  # type: ignore[misc]  # Numba is untyped
    def generic(self, args: Any, kws: Any) -> Any:
        view, index, _ = args
        if isinstance(view, ViewType) and isinstance(index, types.Integer):
            return signature(types.none, view, types.intp, view.dtype)
        return None


def _read_constant(builder: Any, base: Any, index: Any, kind: ir.Type) -> Any:
    # The tables do not change while a kernel runs, whatever it stores.
    pointer = builder.gep(builder.bitcast(base, kind.as_pointer()), [index])
    loaded = builder.load(pointer)
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


@lower_builtin("static_getitem", TableType, types.IntegerLiteral)
def _lower_constant_slot(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _read_constant(builder, args[0], cgutils.intp_t(args[1]), _BYTE.as_pointer())


@lower_builtin(operator.getitem, TableType, types.Integer)
def _lower_slot(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _read_constant(builder, *args, _BYTE.as_pointer())


@lower_builtin(operator.getitem, SizesType, types.Integer)
def _lower_size(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _read_constant(builder, *args, ir.IntType(64))


_STORAGE = {
    "f16": ir.HalfType(),
    "f32": ir.FloatType(),
    "f64": ir.DoubleType(),
    "c64": ir.FloatType(),
    "c128": ir.DoubleType(),
    "bool": _BYTE,
    **{f"{sign}{bits}": ir.IntType(bits) for sign in "iu" for bits in (8, 16, 32, 64)},
}
_DTYPES = {
    "f16": types.float32,
    "f32": types.float32,
    "f64": types.float64,
    "c64": types.complex64,
    "c128": types.complex128,
    "bool": types.boolean,
    **{f"i{bits}": getattr(types, f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"u{bits}": getattr(types, f"uint{bits}") for bits in (8, 16, 32, 64)},
}


def _element(builder: Any, view: ViewType, base: Any, index: Any) -> Any:
    if isinstance(view.dtype, types.Complex):
        index = builder.shl(index, ir.Constant(index.type, 1))
    return builder.gep(builder.bitcast(base, _STORAGE[view.storage].as_pointer()), [index])


@lower_builtin(operator.getitem, ViewType, types.Integer)
def _lower_load(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    view = sig.args[0]
    pointer = _element(builder, view, *args)
    value = _scoped(builder, builder.load(pointer), view)
    if isinstance(view.dtype, types.Complex):
        following = _scoped(builder, builder.load(builder.gep(pointer, [cgutils.intp_t(1)])), view)
        number = context.make_complex(builder, view.dtype)
        number.real, number.imag = value, following
        return number._getvalue()
    if view.storage == "f16":
        return builder.fpext(value, ir.FloatType())
    if view.storage == "bool":
        return builder.icmp_unsigned("!=", value, _BYTE(0))
    return value


@lower_builtin(operator.setitem, ViewType, types.Integer, types.Any)
def _lower_store(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    view = sig.args[0]
    base, index, value = args
    pointer = _element(builder, view, base, index)
    if isinstance(view.dtype, types.Complex):
        number = context.make_complex(builder, view.dtype, value=value)
        _scoped(builder, builder.store(number.real, pointer), view)
        _scoped(builder, builder.store(number.imag, builder.gep(pointer, [cgutils.intp_t(1)])), view)
        return context.get_dummy_value()
    if view.storage == "f16":
        value = builder.fptrunc(value, ir.HalfType())
    elif view.storage == "bool":
        value = builder.zext(value, _BYTE)
    _scoped(builder, builder.store(value, pointer), view)
    return context.get_dummy_value()


class _Scopes:
    """The alias scopes of one LLVM module. The list of all others grows with each new one."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.domain = module.add_metadata(["funcgrad buffers"])
        self.lists: dict[int, tuple[Any, Any, Any]] = {}

    def of(self, scope: int) -> tuple[Any, Any, Any]:
        if scope not in self.lists:
            add = self.module.add_metadata
            name = add([f"buffer {scope}", self.domain])
            self.lists[scope] = (name, add([name]), add([f"all but buffer {scope}"]))
            for number, (_, _, others) in self.lists.items():
                others.operands = tuple(
                    other for index, (other, _, _) in self.lists.items() if index != number
                )
        return self.lists[scope]


def _scoped(builder: Any, instruction: Any, view: ViewType) -> Any:
    if view.scope is not None:
        module = builder.module
        scopes = module.__dict__.setdefault("funcgrad_scopes", None) or _Scopes(module)
        module.funcgrad_scopes = scopes
        _, own, others = scopes.of(view.scope)
        instruction.set_metadata("alias.scope", own)
        instruction.set_metadata("noalias", others)
    return instruction


def _same_pointer(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return args[0]


def _view_maker(storage: str) -> Any:
    def make(typing: Any, slot: Any, scope: Any = None) -> Any:
        if not isinstance(slot, SlotType):
            return None
        chosen = scope.literal_value if isinstance(scope, types.IntegerLiteral) else slot.scope
        view = ViewType(_DTYPES[storage], storage, chosen)
        return signature(view, slot, types.Omitted(None) if scope is None else scope), _same_pointer

    make.__name__ = make.__qualname__ = f"as_{storage}"
    return intrinsic(prefer_literal=True)(make)


@intrinsic  # type: ignore[untyped-decorator]  # Numba is untyped
def shifted(typing: Any, view: Any, count: Any) -> Any:
    """The view that starts ``count`` elements later."""
    if not (isinstance(view, ViewType) and isinstance(count, types.Integer)):
        return None

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = _element(builder, sig.args[0], *args)
        return builder.bitcast(pointer, args[0].type)

    return signature(view, view, types.intp), lower


def _stack_maker(storage: str) -> Any:
    def make(typing: Any, count: Any) -> Any:
        if not isinstance(count, types.IntegerLiteral):
            return None
        view = ViewType(_DTYPES[storage], storage, None)
        length = count.literal_value * (2 if isinstance(view.dtype, types.Complex) else 1)

        def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            memory = cgutils.alloca_once(builder, _STORAGE[storage], size=length)
            memory.align = 64
            return builder.bitcast(memory, _BYTE.as_pointer())

        return signature(view, count), lower

    make.__name__ = make.__qualname__ = f"stack_{storage}"
    return intrinsic(prefer_literal=True)(make)


VIEWS: dict[str, Any] = {f"as_{storage}": _view_maker(storage) for storage in _STORAGE}
VIEWS.update((f"stack_{storage}", _stack_maker(storage)) for storage in _STORAGE)
VIEWS["shifted"] = shifted


def external(function: External) -> Any:
    """The Numba function that calls an external one."""

    def make(typing: Any, *arguments: Any) -> Any:
        given = arguments[0].types if isinstance(arguments[0], types.BaseTuple) else arguments
        kinds = ["ptr" if isinstance(kind, ViewType | SlotType) else _NAMES.get(kind, "") for kind in given]
        chosen = function.overload(kinds, _weight)
        if chosen is None:
            return None
        wanted = [kind if name == "ptr" else _DTYPES[name] for kind, name in zip(given, chosen.arguments)]
        result = types.none if chosen.result == "none" else _DTYPES[chosen.result]
        return signature(result, types.StarArgTuple(wanted)), _external_call(chosen)

    make.__name__ = make.__qualname__ = function.name
    return intrinsic(make)


_NAMES = {kind: name for name, kind in _DTYPES.items() if name != "f16"}


def _weight(given: str, wanted: str) -> int | None:
    if given == wanted:
        return 0
    if "ptr" in (given, wanted) or not given or wanted.startswith("c"):
        return None
    exact = np.can_cast(*(str(_DTYPES[name]).replace("boolean", "bool") for name in (given, wanted)))
    return 1 if exact or (given == "i64" and wanted in ("f64", "i32")) else None


def _external_call(chosen: Overload) -> Any:
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        (packed,) = args
        values = [builder.extract_value(packed, k) for k in range(len(chosen.arguments))]
        kinds = [value.type for value in values]
        nothing = chosen.result == "none"
        returned = ir.VoidType() if nothing else context.get_value_type(sig.return_type)
        if chosen.symbol:
            kind = ir.FunctionType(returned, kinds)
            called = cgutils.get_or_insert_function(builder.module, kind, chosen.symbol)
        else:
            address, *values = values
            pointer = ir.FunctionType(returned, kinds[1:]).as_pointer()
            called = builder.inttoptr(address, pointer)
        result = builder.call(called, values)
        return context.get_dummy_value() if nothing else result

    return lower
