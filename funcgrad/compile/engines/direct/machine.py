"""The instructions behind `machine.words`: memory at integer addresses, and atomic operations."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence

from funcgrad.compile.engines.direct.writer import Writer
from funcgrad.compile.language.values import LLVM, Value, constant

Handler = Callable[[Writer, Sequence[Value]], Value]
_NOTHING = Value("none", "")


def _pointer(writer: Writer, address: Value) -> str:
    return writer.emit(f"inttoptr i64 {writer.cast(address, 'i64').text} to ptr")


def _peek(kind: str) -> Handler:
    def handler(writer: Writer, arguments: Sequence[Value]) -> Value:
        loaded = Value(kind, writer.emit(f"load {LLVM[kind]}, ptr {_pointer(writer, arguments[0])}, align 1"))
        return loaded if kind == "f64" else writer.cast(loaded, "i64")

    return handler


def _poke(kind: str) -> Handler:
    def handler(writer: Writer, arguments: Sequence[Value]) -> Value:
        address, value = arguments
        text = writer.cast(value, kind).text
        writer.do(f"store {LLVM[kind]} {text}, ptr {_pointer(writer, address)}, align 1")
        return _NOTHING

    return handler


def _atomic_load(writer: Writer, arguments: Sequence[Value]) -> Value:
    return Value(
        "i64", writer.emit(f"load atomic i64, ptr {_pointer(writer, arguments[0])} acquire, align 8")
    )


def _atomic_store(writer: Writer, arguments: Sequence[Value]) -> Value:
    address, value = arguments
    text = writer.cast(value, "i64").text
    writer.do(f"store atomic i64 {text}, ptr {_pointer(writer, address)} release, align 8")
    return _NOTHING


def _atomic(operation: str) -> Handler:
    def handler(writer: Writer, arguments: Sequence[Value]) -> Value:
        address, value = arguments
        text = writer.cast(value, "i64").text
        return Value(
            "i64", writer.emit(f"atomicrmw {operation} ptr {_pointer(writer, address)}, i64 {text} seq_cst")
        )

    return handler


def _compare_and_swap(writer: Writer, arguments: Sequence[Value]) -> Value:
    address = _pointer(writer, arguments[0])
    old, new = (writer.cast(value, "i64").text for value in arguments[1:])
    pair = writer.emit(f"cmpxchg ptr {address}, i64 {old}, i64 {new} seq_cst seq_cst")
    return Value("bool", writer.emit(f"extractvalue {{i64, i1}} {pair}, 1"))


def _stack_space(writer: Writer, arguments: Sequence[Value]) -> Value:
    (count,) = arguments
    if isinstance(count.known, int):
        place = writer.allocate("i8", count.known, align=64)
    else:
        place = writer.emit(f"alloca i8, i64 {count.text}, align 64")
    return Value("i64", writer.emit(f"ptrtoint ptr {place} to i64"))


def _pause(writer: Writer, arguments: Sequence[Value]) -> Value:
    machine = platform.machine().lower()
    if machine in ("x86_64", "amd64"):
        writer.call("llvm.x86.sse2.pause", "none", [])
    elif machine in ("aarch64", "arm64"):
        writer.call("llvm.aarch64.hint", "none", [constant("i32", 1)])
    return _NOTHING


MACHINE: dict[str, Handler] = {
    "peek": _peek("i64"),
    "peek_i32": _peek("i32"),
    "peek_u8": _peek("u8"),
    "peek_f64": _peek("f64"),
    "poke": _poke("i64"),
    "poke_i32": _poke("i32"),
    "poke_i16": _poke("i16"),
    "poke_u8": _poke("u8"),
    "poke_f64": _poke("f64"),
    "poke_f32": _poke("f32"),
    "atomic_load": _atomic_load,
    "atomic_store": _atomic_store,
    "atomic_swap": _atomic("xchg"),
    "atomic_add": _atomic("add"),
    "compare_and_swap": _compare_and_swap,
    "stack_space": _stack_space,
    "pause": _pause,
}
