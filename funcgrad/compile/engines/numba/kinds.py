"""The types of kernels as types of Numba's: tables, views with their alias scopes, and numbers."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.core.typeconv.castgraph import Conversion
from numba.extending import NativeValue, register_model, typeof_impl, unbox

from funcgrad.compile.language.pointers import Sizes, Table
from funcgrad.compile.language.values import STORAGE, Reused, Type, View
from funcgrad.types import Foreign


class TableType(types.Type):
    """The first argument of a kernel: so many pointers, each to memory of its own."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(name=f"funcgrad.table({count})")


class SizesType(types.Type):
    """The second argument of a kernel: integers."""

    def __init__(self) -> None:
        super().__init__(name="funcgrad.sizes")


REUSED = 1 << 20
"""The alias scope of all memory that is used for one array after another: types do not know of each other."""


class SlotType(types.Type):
    """A pointer. With a scope, it is one of so many that point to different memory."""

    def __init__(self, scope: int | None, count: int) -> None:
        self.scope, self.count = scope, count
        super().__init__(name=f"funcgrad.slot({scope}, {count})")

    def can_convert_to(self, typingctx: Foreign, other: Foreign) -> Foreign:
        """Whether a pointer serves as another."""
        return Conversion.safe if isinstance(other, SlotType) else None


class ViewType(types.Type):
    """A pointer to elements of one type. Views of one scope may overlap; of no scope, may overlap any."""

    def __init__(self, storage: str, scope: int | None, count: int) -> None:
        self.storage, self.scope, self.count = storage, scope, count
        super().__init__(name=f"funcgrad.view({storage}, {scope}, {count})")

    @property
    def element(self) -> Foreign:
        """The type of a loaded element."""
        return NUMBERS[STORAGE[self.storage][0]]

    def unify(self, typingctx: object, other: object) -> ViewType | None:
        """A variable that is assigned views of several scopes may overlap anything."""
        if isinstance(other, ViewType) and other.storage == self.storage:
            return ViewType(self.storage, None, max(self.count, other.count))
        return None

    def can_convert_to(self, typingctx: Foreign, other: Foreign) -> Foreign:
        """Whether a view serves as another, or as a pointer."""
        if isinstance(other, SlotType):
            return Conversion.safe
        alike = isinstance(other, ViewType) and other.storage == self.storage
        return Conversion.safe if alike and other.scope is None else None


@register_model(TableType)
@register_model(SizesType)
@register_model(SlotType)
@register_model(ViewType)
class PointerModel(models.PrimitiveModel):
    """All of them are addresses."""

    def __init__(self, manager: Foreign, kind: Foreign) -> None:
        super().__init__(manager, kind, ir.IntType(8).as_pointer())


NUMBERS: dict[str, Any] = {
    "bool": types.boolean,
    **{f"i{bits}": getattr(types, f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"u{bits}": getattr(types, f"uint{bits}") for bits in (8, 16, 32, 64)},
    "f32": types.float32,
    "f64": types.float64,
    "c64": types.complex64,
    "c128": types.complex128,
    "none": types.none,
}
_NAMES = {kind: name for name, kind in NUMBERS.items()}


def kind_of(kind: object) -> Type | None:
    """The name of a type of Numba's in the kernel language; None for what is no type of it."""
    kind = types.unliteral(kind)
    if isinstance(kind, ViewType):
        return View(kind.storage, kind.scope)
    if isinstance(kind, SlotType):
        return "ptr" if kind.scope is None else View("ptr", kind.scope)
    if isinstance(kind, TableType):
        return "table"
    if isinstance(kind, SizesType):
        return "sizes"
    return _NAMES.get(kind)


def known_of(kind: object) -> float | int | None:
    """The number that stands in the text, where it does."""
    value = getattr(kind, "literal_value", None) if isinstance(kind, types.Literal) else None
    return value if isinstance(value, bool | int | float) else None


def numba_type(kind: Type, count: int) -> Foreign:
    """Numba's type for a type of the kernel language, beside so many pointers."""
    if isinstance(kind, View):
        scope = REUSED if isinstance(kind.scope, Reused) else kind.scope
        return SlotType(scope, count) if kind.storage == "ptr" else ViewType(kind.storage, scope, count)
    return SlotType(None, count) if kind == "ptr" else NUMBERS[kind]


@typeof_impl.register(Table)
def typeof_table(table: Table, context: object) -> TableType:
    """The type of the tables that Python holds."""
    return TableType(len(table))


@typeof_impl.register(Sizes)
def typeof_sizes(sizes: Sizes, context: object) -> SizesType:
    """The type of the sizes that Python holds."""
    return SizesType()


def _address_in(attribute: str) -> Foreign:
    def unboxed(kind: Foreign, holder: Foreign, c: Foreign) -> Foreign:
        """The address of the array that the object holds."""
        api = c.pyapi
        array = api.object_getattr_string(holder, attribute)
        data = api.object_getattr_string(array, "ctypes")
        number = api.object_getattr_string(data, "data")
        address = api.number_as_ssize_t(number)
        for thing in (number, data, array):
            api.decref(thing)
        pointer = c.builder.inttoptr(address, c.context.get_value_type(kind))
        return NativeValue(pointer, is_error=c.pyapi.c_api_error())

    return unboxed


unbox(TableType)(_address_in("addresses"))
unbox(SizesType)(_address_in("numbers"))
