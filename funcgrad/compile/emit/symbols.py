"""What all parts of one kernel share: names of locals, blocks of memory, and symbols for numbers.

A kernel must not depend on the sizes of its arrays, so every number that comes from a shape stands in the
text as a symbol, ``n0``, ``n1``, ...; equal numbers share one. Only the smallest are written out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from funcgrad.compile.passes.scheduling.views import Buffer
from funcgrad.compile.runtime.addresses.blas import thread_routines
from funcgrad.ir.program import Program, Var
from funcgrad.ir.text.names import RESERVED
from funcgrad.types import Array, Number

WRITTEN_OUT = 4
"""Numbers up to this are written as they are: small inner sizes are worth unrolling."""


class Locals:
    """Names, memory and symbols of a kernel that is being made."""

    portable = False
    """Whether the text is for another process: it knows no addresses, threads and signals of this one."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = {*taken, *RESERVED}
        self._names: dict[Var, str] = {}
        self._counts: dict[str, int] = {}
        self.buffers: list[Buffer] = []
        self.blas_threads: tuple[str, ...] = ()
        """The names of the addresses of what says and sets the number of BLAS's threads."""
        self.budget_name = ""
        self.prepared: dict[tuple[Any, ...], tuple[Program, Program]] = {}
        """Held Programs by identity, as they stand and as they are scheduled."""
        self.numbers: dict[tuple[np.dtype[Any], bytes], str] = {}
        self.symbols: dict[int, str] = {}
        """The symbol of each number that stands in the text."""
        self.exchanged: list[frozenset[str]] = []
        """The names of memory that change places with each other while a kernel runs."""

    def name_all(self, names: Mapping[Var, str]) -> None:
        """Use these names for variables, changed where they are taken."""
        for v, name in names.items():
            if v not in self._names:
                self._names[v] = self.distinct(name)

    def named(self, v: Var) -> str:
        """The name of a variable."""
        name = self._names.get(v)
        if name is None:
            name = self._names[v] = self.fresh("v")
        return name

    def distinct(self, wanted: str) -> str:
        """The wanted name, numbered if it is taken."""
        if wanted in self._taken:
            return self.fresh(wanted)
        self._taken.add(wanted)
        return wanted

    def fresh(self, stem: str) -> str:
        """A new name that begins with a stem."""
        stem = stem.rstrip("0123456789") or "v"
        k = self._counts.get(stem, 1)
        while (name := f"{stem}{k}") in self._taken:
            k += 1
        self._counts[stem] = k + 1
        self._taken.add(name)
        return name

    def block(
        self, name: str, dtype: np.dtype[Any], size: int, role: str, source: Array | int | None = None
    ) -> Buffer:
        """A block of memory."""
        buffer = Buffer(name, dtype, size, role, source)
        self.buffers.append(buffer)
        return buffer

    def scratch(self, dtype: np.dtype[Any], size: int, hint: str = "") -> Buffer:
        """A block of memory for a value in between; it is named after the value."""
        return self.block(self.fresh(f"{hint}_" if hint else "tmp"), dtype, size, "scratch")

    def serial_blas(self) -> None:
        """Let BLAS use one thread while the kernel runs: the kernel has threads of its own."""
        found = thread_routines()
        if found is not None and not self.blas_threads:
            names = ("get_blas_threads", "set_blas_threads")
            self.blas_threads = tuple([self.constant(n, a) for n, a in zip(names, found, strict=True)])

    def signals(self) -> Buffer:
        """The words by which a loop asks for signals."""
        for buffer in self.buffers:
            if buffer.role == "signals":
                return buffer
        return self.block(self.distinct("signals"), np.dtype(np.int64), 1, "signals")

    def budget(self) -> str:
        """The local that counts the operations until signals are asked for; the kernel sets it first."""
        if not self.budget_name:
            self.budget_name = self.distinct("budget")
        return self.budget_name

    def failure_flag(self) -> Buffer:
        """A number that a kernel sets where NumPy would raise an error."""
        for buffer in self.buffers:
            if buffer.role == "failure":
                return buffer
        return self.block(self.distinct("failed"), np.dtype(np.int64), 1, "failure")

    def number(self, value: Number, dtype: np.dtype[Any]) -> str:
        """A local for a number that the source does not spell: it may come from a size."""
        key = (dtype, np.asarray(value, dtype).tobytes())
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = self.fresh("number")
        return found

    def number_blocks(self) -> dict[str, tuple[Buffer, int]]:
        """For each such local the memory that holds it and its place there."""
        found: dict[str, tuple[Buffer, int]] = {}
        for dtype in dict.fromkeys([dtype for dtype, _ in self.numbers]):
            names = {raw: name for (d, raw), name in self.numbers.items() if d == dtype}
            values = np.frombuffer(b"".join(names), dtype).copy()
            block = self.block(self.fresh("numbers"), dtype, values.size, "captured", values)
            found.update({name: (block, k) for k, name in enumerate(names.values())})
        return found

    def constant(self, name: str, value: int) -> str:
        """A number that is the same for every call of this process, under a name of its own."""
        found = self.symbols.get(value)
        if found is None:
            found = self.symbols[value] = self.distinct(f"{name}_address")
        return found

    def symbol(self, number: int) -> str:
        """The text of a number that comes from a shape."""
        if abs(number) <= WRITTEN_OUT:
            return str(number)
        found = self.symbols.get(number)
        if found is None:
            found = self.symbols[number] = f"n{len(self.symbols)}"
            self._taken.add(found)
        return found
