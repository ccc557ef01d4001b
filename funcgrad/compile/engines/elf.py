"""Reads the names of the undefined symbols from a relocatable ELF file. Other formats give no names."""

from __future__ import annotations

import struct
from collections.abc import Iterator

_SYMBOL_TABLE = 2
_SECTION = struct.Struct(
    "<IIQQQQIIQQ"
)  # name, type, flags, address, offset, size, link, info, alignment, entry
_SYMBOL = struct.Struct("<IBBHQQ")  # name, info, other, section, value, size


def is_elf(code: bytes) -> bool:
    """Whether the bytes are a 64-bit little-endian ELF file."""
    return code[:6] == b"\x7fELF\x02\x01"


def undefined_symbols(code: bytes) -> tuple[str, ...]:
    """The sorted names of the symbols that 64-bit little-endian ELF object code leaves to the linker."""
    if not is_elf(code):
        return ()
    return tuple(sorted(set(_undefined(code))))


def _undefined(code: bytes) -> Iterator[str]:
    sections = list(_sections(code))
    for _, kind, _, _, offset, size, link, *_ in sections:
        if kind != _SYMBOL_TABLE:
            continue
        strings = sections[link][4]
        for position in range(offset + _SYMBOL.size, offset + size, _SYMBOL.size):
            name, _, _, section, _, _ = _SYMBOL.unpack_from(code, position)
            if section == 0 and name:
                start = strings + name
                yield code[start : code.index(b"\0", start)].decode()


def _sections(code: bytes) -> Iterator[tuple[int, ...]]:
    (start,) = struct.unpack_from("<Q", code, 0x28)
    size, count = struct.unpack_from("<HH", code, 0x3A)
    for index in range(count):
        yield _SECTION.unpack_from(code, start + index * size)
