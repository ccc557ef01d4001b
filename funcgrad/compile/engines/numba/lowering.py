"""What the rows' instructions are built with: llvmlite's builder, and what it lacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from funcgrad.compile.engines.numba.kinds import REUSED
from funcgrad.compile.language.external import Overload
from funcgrad.compile.language.values import (
    LLVM,
    STORAGE,
    Type,
    View,
    is_complex,
    is_float,
    is_signed,
    part,
    width,
)
from funcgrad.types import Foreign

POINTER = ir.IntType(8).as_pointer()
_REALS = {"f32": ir.FloatType(), "f64": ir.DoubleType()}


def llvm_type(kind: Type) -> ir.Type:
    """LLVM's type of a value."""
    if isinstance(kind, View) or kind in ("ptr", "table", "sizes"):
        return POINTER
    if is_complex(kind):
        return ir.LiteralStructType([_REALS[part(kind)]] * 2)
    if kind == "none":
        return ir.VoidType()
    return _REALS[kind] if is_float(kind) else ir.IntType(int(LLVM[kind][1:]))


class Lowering:
    """Builds the instructions of one word; ``known`` are its arguments as far as they stand in the text."""

    def __init__(self, context: Foreign, builder: Foreign, known: Sequence[Any]) -> None:
        self.context = context
        self.builder = builder
        self.known = known

    def constant(self, kind: Type, number: float) -> Foreign:
        """A number."""
        return ir.Constant(llvm_type(kind), number)

    def plain(self, instruction: str, x: object, y: object) -> Foreign:
        """An operation of real numbers that is rounded by itself, whatever flags Numba gives to others.

        Numba adds flags only where there are none; that a reciprocal may stand for a quotient says nothing of
        sums and products, and of a division the flag is left to those who ask for it.
        """
        if instruction == "fdiv":
            return self._unflagged_quotient(x, y)
        return getattr(self.builder, instruction)(x, y, flags=("arcp",))

    def _unflagged_quotient(self, x: Foreign, y: Foreign) -> Foreign:
        # Of one division nothing can be fused or reordered, so the flags that kernels allow change nothing.
        return self.builder.fdiv(x, y)

    def call(self, name: str, result: Type, arguments: Sequence[Any]) -> Foreign:
        """A call of a function that another module or the process defines."""
        module = self.builder.module
        found = module.globals.get(name)
        if found is None:
            kind = ir.FunctionType(llvm_type(result), [x.type for x in arguments])
            found = ir.Function(module, kind, name)
        return self._nothing_or(self.builder.call(found, arguments))

    def _nothing_or(self, value: Foreign) -> Foreign:
        return self.context.get_dummy_value() if isinstance(value.type, ir.VoidType) else value

    def intrinsic(self, name: str, kind: str, arguments: Sequence[Any]) -> Foreign:
        """A call of one of LLVM's own functions of numbers of one type."""
        return self.call(f"llvm.{name}.{kind}", kind, arguments)

    def call_address(
        self, address: object, overload: Overload, arguments: Sequence[Any], attributes: str
    ) -> Foreign:
        """A call of the C function at an address."""
        kind = ir.FunctionType(llvm_type(overload.result), [x.type for x in arguments])
        function = self.builder.inttoptr(address, kind.as_pointer())
        called = self.builder.call(function, arguments)
        for attribute in attributes.split(" ", 1) if attributes else ():
            # llvmlite knows a few attributes only, and refuses others by name.
            set.add(called.attributes, attribute)
        return self._nothing_or(called)

    def register(self, name: str) -> Foreign:
        """The value of one of the processor's registers."""
        module = self.builder.module
        symbol = "llvm.read_volatile_register.i64"
        kind = ir.FunctionType(ir.IntType(64), [ir.MetaDataType()])
        found = module.globals.get(symbol) or ir.Function(module, kind, symbol)
        return self.builder.call(found, [module.add_metadata([ir.MetaDataString(module, name)])])

    def bitcast(self, value: object, kind: Type) -> Foreign:
        """The bits as a number of another type."""
        return self.builder.bitcast(value, llvm_type(kind))

    def frozen(self, value: Foreign) -> Foreign:
        """Some number, where the instruction before leaves open which."""
        made = ir.instructions.Instruction(self.builder.block, value.type, "freeze", [value])
        self.builder._insert(made)
        return made

    def paired(self, kind: Type, real: object, imaginary: object) -> Foreign:
        """The complex number of two parts."""
        empty = ir.Constant(llvm_type(kind), ir.Undefined)
        return self.builder.insert_value(self.builder.insert_value(empty, real, 0), imaginary, 1)

    def moved(self, pointer: Foreign, count: Foreign) -> Foreign:
        """The address so many bytes later."""
        return self.builder.gep(pointer, [count], source_etype=ir.IntType(8))

    def allocated(self, count: int) -> Foreign:
        """So many bytes of the function's frame."""
        room = ir.ArrayType(ir.IntType(8), count)
        with self.builder.goto_entry_block():
            made = self.builder.alloca(room)
            made.align = 64
        return self.builder.bitcast(made, POINTER)

    # Conversions, which wrap around

    def converted(self, value: object, given: Type, wanted: Type) -> Foreign:
        """The number as one of another type."""
        builder = self.builder
        if given == wanted:
            return value
        if is_complex(given) and wanted == "bool":
            parts = [self.converted(builder.extract_value(value, k), part(given), "bool") for k in (0, 1)]
            return builder.or_(*parts)
        if is_complex(wanted):
            zero = self.constant(part(given), 0.0) if is_float(part(given)) else None
            halves = (
                [builder.extract_value(value, k) for k in (0, 1)]
                if is_complex(given)
                else [value, zero or self.constant(given, 0)]
            )
            return self.paired(wanted, *[self.converted(x, part(given), part(wanted)) for x in halves])
        if wanted == "bool":
            zero = self.constant(given, 0)
            test = builder.fcmp_unordered if is_float(given) else builder.icmp_signed
            return test("!=", value, zero)
        return self._number(value, str(given), str(wanted))

    def _number(self, value: Foreign, given: str, wanted: str) -> Foreign:
        builder, kind = self.builder, llvm_type(wanted)
        if is_float(given):
            if is_float(wanted):
                return builder.fpext(value, kind) if wanted == "f64" else builder.fptrunc(value, kind)
            return self._whole(value, given, wanted)
        if is_float(wanted):
            return (builder.sitofp if is_signed(given) else builder.uitofp)(value, kind)
        if width(wanted) == width(given):
            return value
        if width(wanted) < width(given):
            return builder.trunc(value, kind)
        return (builder.sext if is_signed(given) else builder.zext)(value, kind)

    def _whole(self, value: Foreign, given: str, wanted: str) -> Foreign:
        # As machines do it: to 64 bits, of which the lowest are kept; negative numbers wrap around.
        builder, word = self.builder, ir.IntType(64)
        wide = self.frozen(builder.fptosi(value, word))
        if wanted != "u64":
            return wide if wanted == "i64" else builder.trunc(wide, llvm_type(wanted))
        large = self.frozen(builder.fptoui(value, word))
        fits = builder.fcmp_ordered("<", value, self.constant(given, 2.0**63))
        return builder.select(fits, wide, large)

    # Memory

    def load(self, view: Foreign, pointer: Foreign, index: Foreign) -> Foreign:
        """An element of a view."""
        kind, memory, _ = STORAGE[view.storage]
        builder = self.builder
        if is_complex(kind):
            halves = [self._loaded(view, self._place(view, pointer, index, k), part(kind)) for k in (0, 1)]
            return self.paired(kind, *halves)
        where = self._place(view, pointer, index)
        if memory == "half":
            return builder.fpext(self._loaded(view, where, "half"), llvm_type("f32"))
        if kind == "bool":
            return builder.icmp_unsigned("!=", self._loaded(view, where, "u8"), self.constant("u8", 0))
        return self._loaded(view, where, kind)

    def store(self, view: Foreign, pointer: Foreign, index: Foreign, value: Foreign) -> None:
        """Set an element of a view, to a number of its type."""
        kind, memory, _ = STORAGE[view.storage]
        builder = self.builder
        if is_complex(kind):
            for k in (0, 1):
                self._stored(view, builder.extract_value(value, k), self._place(view, pointer, index, k))
            return
        if memory == "half":
            value = builder.fptrunc(value, ir.HalfType())
        elif kind == "bool":
            value = builder.zext(value, ir.IntType(8))
        self._stored(view, value, self._place(view, pointer, index))

    def _memory(self, view: Foreign) -> ir.Type:
        memory = STORAGE[view.storage][1]
        return {"half": ir.HalfType(), "float": _REALS["f32"], "double": _REALS["f64"]}.get(
            memory
        ) or ir.IntType(int(memory[1:]))

    def _place(self, view: Foreign, pointer: Foreign, index: Foreign, half: int = 0) -> Foreign:
        builder = self.builder
        if is_complex(STORAGE[view.storage][0]):
            index = builder.shl(index, self.constant("i64", 1), flags=("nsw",))
            index = builder.or_(index, self.constant("i64", 1)) if half else index
        memory = self._memory(view)
        typed = builder.bitcast(pointer, memory.as_pointer())
        return builder.gep(typed, [index], inbounds=True, source_etype=memory)

    def _loaded(self, view: Foreign, where: Foreign, kind: str) -> Foreign:
        memory = ir.HalfType() if kind == "half" else llvm_type(kind)
        loaded = self.builder.load(where, typ=memory)
        scoped(self.builder.module, loaded, view)
        return loaded

    def _stored(self, view: Foreign, value: Foreign, where: Foreign) -> None:
        scoped(self.builder.module, self.builder.store(value, where), view)

    def call_pool(self, address: object, p: object, n: object, numbers: Sequence[Any]) -> Foreign:
        """A call of the run time's pool of threads."""
        module = self.builder.module
        pool = module.globals.get("funcgrad_threads")
        if pool is None:
            pool = ir.GlobalVariable(module, ir.IntType(8), "funcgrad_threads")
        words = self.builder.ptrtoint(pool, ir.IntType(64))
        return self.call("funcgrad_parallel", "none", [words, address, p, n, *numbers])


def scoped(module: Foreign, instruction: Foreign, view: Foreign) -> None:
    """Say of a load or store which memory it touches, and that it touches no other."""
    if view.scope is None:
        return
    nodes = module.__dict__.setdefault("funcgrad_scopes", {})
    key = view.scope, view.count
    if key not in nodes:
        domain = module.add_metadata([ir.MetaDataString(module, "funcgrad buffers")])
        every = (*range(view.count), REUSED) if view.scope >= 0 else range(-view.count, 0)
        named = {k: module.add_metadata([ir.MetaDataString(module, f"buffer {k}"), domain]) for k in every}
        nodes[key] = (
            module.add_metadata([named[view.scope]]),
            module.add_metadata([node for k, node in named.items() if k != view.scope]),
        )
    instruction.set_metadata("alias.scope", nodes[key][0])
    instruction.set_metadata("noalias", nodes[key][1])
