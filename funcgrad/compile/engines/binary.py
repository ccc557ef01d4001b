"""Object code with plain C symbols that needs no Python to run, and its bytes for the cache."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from funcgrad.compile.engines.llvm import Loaded, link_object


class Binary(NamedTuple):
    """Object code, the functions it offers, and the symbols it needs from the process."""

    code: bytes
    functions: tuple[str, ...]
    needs: tuple[str, ...]
    engine: str = "direct"
    """What made it of the text."""
    beside: tuple[bytes, ...] = ()
    """Other object code: what was compiled on another core, and is placed with it."""

    def load(self, symbols: Mapping[str, int] = MappingProxyType({})) -> Loaded:
        """Place the code in this process; `symbols` has the addresses of what it needs beside C's library."""
        return link_object(self.code, self.functions, symbols, self.engine, self.beside)


def pack(binary: Binary) -> bytes:
    """The bytes of a binary, for the cache."""
    objects = (binary.code, *binary.beside)
    lengths = " ".join([str(len(each)) for each in objects])
    header = "\n".join((" ".join(binary.functions), " ".join(binary.needs), binary.engine, lengths)).encode()
    return len(header).to_bytes(4, "little") + header + b"".join(objects)


def unpack(payload: bytes) -> Binary:
    """The binary that `pack` made bytes of."""
    start = 4 + int.from_bytes(payload[:4], "little")
    functions, needs, engine, lengths = payload[4:start].decode().split("\n")
    objects = []
    for length in map(int, lengths.split()):
        objects.append(payload[start : start + length])
        start += length
    code, *beside = objects
    return Binary(code, tuple(functions.split()), tuple(needs.split()), engine, tuple(beside))
