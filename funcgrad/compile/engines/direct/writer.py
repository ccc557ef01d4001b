"""Writes LLVM assembly: instructions on values, conversions, memory with alias scopes.

Knows no Python syntax.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from funcgrad.compile.language.values import (
    LLVM,
    STORAGE,
    AliasScope,
    Type,
    Unsupported,
    Value,
    View,
    constant,
    halves,
    is_complex,
    is_float,
    is_integer,
    is_signed,
    paired,
    part,
    time_of_use,
    width,
)

# Full-width vectors, where LLVM would halve them to keep older processors' clocks up.
_ATTRIBUTES = 'nounwind "prefer-vector-width"="512" "no-trapping-math"="true"'


_FIRST_LOOP = 1_000_000
"""Numbers of metadata from here on are those of loops."""

ROLLED = "!2"
"""A loop that stays a loop: it is not to be unrolled."""

ONE_BY_ONE = "!4"
"""A loop whose turns are not to be made by the elements of a vector."""

INTERLEAVED = "!3"
"""A loop that takes two vectors a turn where it is made one of vectors."""

_FIRST_FAMILY = 2_000_000
"""Numbers of metadata from here on are those of the scopes that a scope keeps apart from."""


class Family:
    """The alias scopes among which a function's loads and stores keep apart.

    LLVM goes through all of them whenever it compares two accesses: those of other functions, which are never
    copied into this one, would only take its time.
    """

    def __init__(self) -> None:
        self.scopes: dict[AliasScope, int] = {}
        """The metadata that lists the others, by the scope."""


class Module:
    """What functions of one module share: declarations, alias scopes, and finished functions."""

    def __init__(self) -> None:
        self.functions: list[str] = []
        self.defined: set[str] = set()
        self.declarations: dict[str, str] = {}
        self.scopes: dict[AliasScope, int] = {}
        self.families: list[Family] = []
        """Those of finished functions."""
        self._lists = itertools.count(_FIRST_FAMILY)
        self.loops: list[str] = []
        """What is said of a loop, for each of which something is."""

    def declare(self, name: str, result: str, arguments: Iterable[str]) -> None:
        """Say that a function is defined elsewhere."""
        self.declarations[name] = f"declare {result} @{name}({', '.join(arguments)})"

    def scope(self, scope: AliasScope, family: Family) -> str:
        """The metadata of a load or store in an alias scope, apart from the others of a family."""
        index = self.scopes.setdefault(scope, len(self.scopes))
        if scope not in family.scopes:
            family.scopes[scope] = next(self._lists)
        return f", !alias.scope !{10 + 2 * index}, !noalias !{family.scopes[scope]}"

    def loop(self, said: str) -> str:
        """The metadata of the branch back to the head of a loop: `ROLLED` or `INTERLEAVED`."""
        self.loops.append(said)
        return f", !llvm.loop !{_FIRST_LOOP + len(self.loops)}"

    def text(self) -> str:
        """The whole module."""
        declared = (line for name, line in self.declarations.items() if name not in self.defined)
        return "\n".join([*declared, *self.functions, *self._metadata(), ""])

    def _metadata(self) -> Iterable[str]:
        yield f"attributes #0 = {{ {_ATTRIBUTES} }}"
        yield "!0 = !{}"
        yield '!1 = !{!"funcgrad buffers"}'
        yield '!2 = !{!"llvm.loop.unroll.disable"}'
        yield '!3 = !{!"llvm.loop.interleave.count", i32 2}'
        yield '!4 = !{!"llvm.loop.vectorize.enable", i1 false}'
        for index in range(len(self.scopes)):
            yield f'!{11 + 2 * index} = !{{!"buffer {index}", !1}}'
            yield f"!{10 + 2 * index} = !{{!{11 + 2 * index}}}"
        for family in self.families:
            scopes = sorted(family.scopes, key=self.scopes.__getitem__)
            times = [(x, *time_of_use(x), f"!{11 + 2 * self.scopes[x]}") for x in scopes]
            for scope, first, last, _ in times:
                # As `may_overlap` says, which is too slow for all pairs of hundreds.
                apart = [
                    name for x, begin, end, name in times if begin <= last and end >= first and x != scope
                ]
                yield f"!{family.scopes[scope]} = !{{{', '.join(apart)}}}"
        for number, said in enumerate(self.loops, _FIRST_LOOP + 1):
            yield f"!{number} = distinct !{{!{number}, {said}}}"


class Writer:
    """The instructions of one function. ``flags`` are the fast-math flags of its arithmetic."""

    def __init__(self, module: Module, flags: str, family: Family | None = None) -> None:
        self.module = module
        self.flags = flags
        self.family = family or Family()
        self.lines: list[str] = []
        self.allocations: list[str] = []
        self._numbers = itertools.count()
        self.block = "entry"
        self.ended = False

    # Text

    def emit(self, instruction: str) -> str:
        """Append an instruction that has a result; its register."""
        register = f"%t{next(self._numbers)}"
        self.lines.append(f"  {register} = {instruction}")
        return register

    def do(self, instruction: str) -> None:
        """Append an instruction that has no result."""
        self.lines.append(f"  {instruction}")

    def label(self, hint: str) -> str:
        """A new name for a block."""
        return f"{hint}{next(self._numbers)}"

    def start(self, label: str) -> None:
        """Begin a block, falling into it if the last one is still open."""
        if not self.ended:
            self.jump(label)
        self.lines.append(f"{label}:")
        self.block, self.ended = label, False

    def jump(self, label: str, metadata: str = "") -> None:
        """End the block."""
        if not self.ended:
            self.do(f"br label %{label}{metadata}")
            self.ended = True

    def branch(self, condition: Value, yes: str, no: str) -> None:
        """End the block with a decision."""
        if not self.ended:
            self.do(f"br i1 {condition.text}, label %{yes}, label %{no}")
            self.ended = True

    def allocate(self, llvm_type: str, count: int = 1, align: int = 0) -> str:
        """Memory of this function's frame, whatever block asks for it."""
        register = f"%v{next(self._numbers)}"
        suffix = f", align {align}" if align else ""
        self.allocations.append(f"  {register} = alloca {llvm_type}, i64 {count}{suffix}")
        return register

    def call(self, name: str, result: str, arguments: Iterable[Value], flags: str = "") -> Value:
        """Call a function of another module, or one of LLVM's own."""
        values = list(arguments)
        kinds = [llvm_type(value.type) for value in values]
        returned = LLVM.get(result, "void")
        self.module.declare(name, returned, kinds)
        text = ", ".join(f"{kind} {value.text}" for kind, value in zip(kinds, values, strict=True))
        instruction = f"call {flags}{returned} @{name}({text})"
        if returned == "void":
            self.do(instruction)
            return Value("none", "")
        return Value(result, self.emit(instruction))

    def external_address(self, name: str) -> str:
        """The address of a variable that is defined elsewhere."""
        self.module.declarations[name] = f"@{name} = external global i8"
        return self.emit(f"ptrtoint ptr @{name} to i64")

    def call_address(
        self, address: Value, result: str, arguments: Iterable[Value], attributes: str = ""
    ) -> Value:
        """Call the C function at an address."""
        pointer = self.emit(f"inttoptr i64 {address.text} to ptr")
        text = ", ".join(f"{llvm_type(value.type)} {value.text}" for value in arguments)
        if result == "none":
            self.do(f"call void {pointer}({text})")
            return Value("none", "")
        return Value(result, self.emit(f"call {LLVM[result]} {pointer}({text}) {attributes}"))

    # Arithmetic on numbers of one type

    def binary(self, instruction: str, left: Value, right: Value) -> Value:
        """An instruction on two values of one type; the result has it too."""
        return Value(left.type, self.emit(f"{instruction} {llvm_type(left.type)} {left.text}, {right.text}"))

    def real(self, operation: str, left: Value, right: Value) -> Value:
        """Floating-point arithmetic, with the flags of this function."""
        return self.binary(f"{operation} {self.flags}", left, right)

    def negative(self, value: Value) -> Value:
        """The value with its sign turned."""
        if is_complex(value.type):
            real, imaginary = (self.negative(half) for half in halves(value))
            return paired(value.type, real, imaginary)
        if is_float(value.type):
            if value.known is not None:
                return constant(str(value.type), -value.known)
            return Value(value.type, self.emit(f"fneg {self.flags}{LLVM[str(value.type)]} {value.text}"))
        if value.known is not None:
            return constant(str(value.type), -value.known)
        return Value(value.type, self.emit(f"sub {llvm_type(value.type)} 0, {value.text}"))

    def compare(self, predicate: str, left: Value, right: Value) -> Value:
        """A comparison instruction, e.g. ``fcmp olt``."""
        return Value("bool", self.emit(f"{predicate} {llvm_type(left.type)} {left.text}, {right.text}"))

    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        """One value or the other, without a branch."""
        if is_complex(yes.type):
            chosen = [self.select(condition, *pair) for pair in zip(halves(yes), halves(no), strict=True)]
            return paired(yes.type, *chosen)
        kind = llvm_type(yes.type)
        text = f"select i1 {condition.text}, {kind} {yes.text}, {kind} {no.text}"
        return Value(yes.type, self.emit(text))

    # Conversions

    def cast(self, value: Value, kind: Type) -> Value:
        """The value as a number of another type."""
        if value.type == kind:
            return value
        if isinstance(kind, View) and isinstance(value.type, View):
            return Value(kind, value.text)
        if (
            isinstance(kind, View)
            or isinstance(value.type, View)
            or (kind not in LLVM and not is_complex(kind))
        ):
            raise Unsupported(f"{value.type} as {kind}")
        if is_complex(kind):
            real, imaginary = halves(value) if is_complex(value.type) else (value, constant("f64", 0.0))
            return paired(kind, self.cast(real, part(kind)), self.cast(imaginary, part(kind)))
        if kind == "bool":
            return self._truth(value)
        if is_complex(value.type) or "ptr" in (kind, value.type):
            raise Unsupported(f"{value.type} as {kind}")
        if value.known is not None and not (is_float(value.type) and is_integer(kind)):
            return constant(kind, _wrapped(kind, value.known))
        return self._number(value, kind)

    def _truth(self, value: Value) -> Value:
        if is_complex(value.type):
            real, imaginary = (self._truth(half) for half in halves(value))
            return self.binary("or", real, imaginary)
        if is_float(value.type):
            return self.compare("fcmp une", value, constant(str(value.type), 0.0))
        return self.compare("icmp ne", value, constant(str(value.type), 0))

    def _number(self, value: Value, kind: str) -> Value:
        source = value.type
        if is_float(source):
            if is_float(kind):
                return self._converted("fpext" if kind == "f64" else "fptrunc", value, kind)
            return self._float_to_integer(value, kind)
        if is_float(kind):
            return self._converted("sitofp" if is_signed(source) else "uitofp", value, kind)
        if width(kind) > width(source):
            return self._converted("sext" if is_signed(source) else "zext", value, kind)
        if width(kind) == width(source):
            return Value(kind, value.text)
        return self._converted("trunc", value, kind)

    def _converted(self, instruction: str, value: Value, kind: str) -> Value:
        return Value(kind, self.emit(f"{instruction} {llvm_type(value.type)} {value.text} to {LLVM[kind]}"))

    def _float_to_integer(self, value: Value, kind: str) -> Value:
        # Numbers out of range have no defined integer; frozen, they are at least some integer. As in C on the
        # machines NumPy is built for, negative numbers wrap around in unsigned types.
        signed = self._converted("fptosi", value, "i64")
        wide = Value("i64", self.emit(f"freeze i64 {signed.text}"))
        if kind != "u64":
            return self._number(wide, kind) if kind != "i64" else wide
        unsigned = self._converted("fptoui", value, "u64")
        large = Value("u64", self.emit(f"freeze i64 {unsigned.text}"))
        fits = self.compare("fcmp olt", value, constant(str(value.type), 2.0**63))
        return self.select(fits, Value("u64", wide.text), large)

    # Memory

    def element(self, view: Value, index: Value, *, offset: int = 0) -> str:
        """The address of an element, or of its second half."""
        assert isinstance(view.type, View)
        memory = STORAGE[view.type.storage][1]
        position = index.text
        if is_complex(view.type.element):
            position = self.emit(f"shl nsw i64 {position}, 1")
            if offset:
                position = self.emit(f"or disjoint i64 {position}, 1")
        return self.emit(f"getelementptr inbounds {memory}, ptr {view.text}, i64 {position}")

    def _scoped(self, view: View) -> str:
        return "" if view.scope is None else self.module.scope(view.scope, self.family)

    def load(self, view: Value, index: Value) -> Value:
        """An element of a view."""
        assert isinstance(view.type, View)
        kind, memory, _ = STORAGE[view.type.storage]
        scoped = self._scoped(view.type)
        first = self.emit(f"load {memory}, ptr {self.element(view, index)}{scoped}")
        if is_complex(kind):
            second = self.emit(f"load {memory}, ptr {self.element(view, index, offset=1)}{scoped}")
            return Value(kind, first, second)
        if memory == "half":
            return Value(kind, self.emit(f"fpext half {first} to float"))
        if kind == "bool":
            return Value(kind, self.emit(f"icmp ne i8 {first}, 0"))
        return Value(kind, first)

    def store(self, view: Value, index: Value, value: Value) -> None:
        """Set an element of a view."""
        assert isinstance(view.type, View)
        kind, memory, _ = STORAGE[view.type.storage]
        value = self.cast(value, kind)
        scoped = self._scoped(view.type)
        text = value.text
        if memory == "half":
            text = self.emit(f"fptrunc float {text} to half")
        elif kind == "bool":
            text = self.emit(f"zext i1 {text} to i8")
        self.do(f"store {memory} {text}, ptr {self.element(view, index)}{scoped}")
        if is_complex(kind):
            where = self.element(view, index, offset=1)
            self.do(f"store {memory} {value.imaginary}, ptr {where}{scoped}")

    def shifted(self, view: Value, count: Value) -> Value:
        """The view that starts some elements later."""
        assert isinstance(view.type, View)
        size = STORAGE[view.type.storage][2]
        offset = self.emit(f"mul i64 {count.text}, {size}")
        return Value(view.type, self.emit(f"getelementptr i8, ptr {view.text}, i64 {offset}"))

    def table_entry(self, table: Value, index: Value, kind: str) -> Value:
        """An entry of a table that does not change while the function runs."""
        memory = LLVM[kind]
        where = self.emit(f"getelementptr inbounds {memory}, ptr {table.text}, i64 {index.text}")
        loaded = self.emit(f"load {memory}, ptr {where}, !invariant.load !0")
        return Value(kind, loaded, scope=index.known if isinstance(index.known, int) else None)


def llvm_type(kind: Type) -> str:
    """How LLVM spells the type of one register."""
    if isinstance(kind, View) or kind in ("table", "sizes"):
        return "ptr"
    return LLVM[kind]


def _wrapped(kind: str, number: float) -> float:
    if not is_integer(kind):
        return number
    bits = width(kind)
    value = int(number) & ((1 << bits) - 1)
    return value - (1 << bits) if is_signed(kind) and value >> (bits - 1) else value
