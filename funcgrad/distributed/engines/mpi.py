"""MPI: every rank runs the same program, computes its own shards, and one ``Allreduce`` sums what they have.

All ranks call a step together. The parameters of rank 0 go to all, so that ranks cannot drift apart. A rank
sums its shards, neighbours of each other, in the order of all engines; how ``Allreduce`` joins the ranks is
MPI's to choose, and the same from call to call. What goes wrong on one rank is raised on all of them: none is
left waiting.
"""

from __future__ import annotations

import itertools
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from mpi4py import MPI

from funcgrad.api.calling.arguments import here
from funcgrad.distributed.engines.engine import Call, Engine
from funcgrad.distributed.engines.futures import Held, Made
from funcgrad.distributed.failures import Failure, Rows
from funcgrad.distributed.packing import Flat, header_of, layout_of, pack, unpack
from funcgrad.distributed.recipes import version
from funcgrad.distributed.shards import Shards, bounds_of, length_of, split
from funcgrad.distributed.sums import Part, Sums, merged
from funcgrad.distributed.worker import Content, Loaded, computed, where
from funcgrad.errors import ArgnumsError, DistributedError, FuncgradError

_NOTHING = np.iinfo(np.int64).min
_SUMMABLE = "?bhilqBHILQfdFD"
"""The dtypes, by their letters, that MPI adds."""


class MPIEngine(Engine):
    """A communicator of mpi4py."""

    def __init__(self, comm: MPI.Intracomm) -> None:
        self.comm = comm
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        self.name = f"MPI, rank {self.rank} of {self.size}"

    def workers(self) -> int:
        """The ranks."""
        return int(self.size)

    def _own(self, count: int) -> range:
        """The shards of this rank: neighbours of each other."""
        return range(*bounds_of(count, self.size)[self.rank])

    def split(
        self,
        arguments: tuple[Any, ...],
        bounds: Callable[[int], Sequence[tuple[int, int]]],
        local: bool | None,
    ) -> Shards:
        """The arrays of rank 0 in shards on all ranks, or each rank's own arrays as its shard."""
        if local is None:
            raise ArgnumsError(
                "on a communicator a step does not take arrays as they are: whose rows are they?",
                source=here(),
                remedy="step.scatter(X, y) splits the arrays of rank 0, step.scatter(X, y, local=True) takes "
                "each rank's own rows.",
            )
        found: tuple[list[Content], list[tuple[int, int]]] | FuncgradError | ValueError
        try:
            if local:
                found = [], [(0, length_of(arguments))]
            elif self.rank == 0:
                places = list(bounds(length_of(arguments)))
                found = split(arguments, places), places
            else:
                found = [], []
        except (FuncgradError, ValueError) as error:
            found = error
        errors = [x for x in self.comm.allgather(found if isinstance(found, Exception) else None) if x]
        if errors or isinstance(found, Exception):
            raise errors[0]
        contents, places = found
        return self._local(arguments, places[0][1]) if local else self.scatter(contents, places)

    def _local(self, content: Content, rows: int) -> Shards:
        lengths = self.comm.allgather(rows)
        stops = [0, *np.cumsum(lengths).tolist()]
        handles: list[Any] = [None] * self.size
        handles[self.rank] = Held(unpack(pack(content)))
        return Shards(self, handles, list(itertools.pairwise(stops)))

    def scatter(self, contents: Sequence[Content], rows: Sequence[Rows]) -> Shards:
        """The shards of rank 0, one message for each that another rank computes."""
        rows = self.comm.bcast(list(rows), root=0)
        handles: list[Any] = [None] * len(rows)
        for owner, (first, stop) in enumerate(bounds_of(len(rows), self.size)):
            for k in range(first, stop):
                if self.rank == 0:
                    flat = pack(contents[k])
                    if owner:
                        self.comm.send(flat.nbytes, dest=owner, tag=1)
                        self.comm.Send([flat, MPI.BYTE], dest=owner, tag=2)
                elif owner == self.rank:
                    flat = np.empty(self.comm.recv(source=0, tag=1), np.uint8)
                    self.comm.Recv([flat, MPI.BYTE], source=0, tag=2)
                if owner == self.rank:
                    handles[k] = Held(unpack(flat))
        return Shards(self, handles, rows)

    def load(self, loader: Callable[[Any], Any], items: Sequence[Any], keep: bool) -> Shards:
        """Shards that their ranks make."""
        own = self._own(len(items))
        handles = [Made(Loaded(loader, item), keep) if k in own else None for k, item in enumerate(items)]
        return Shards(self, handles, [None] * len(handles))

    def run(self, call: Call) -> Part:
        """Send the parameters, compute, and sum."""
        self._refuse_other_calls(call)
        self.comm.Bcast([call.parameters, MPI.BYTE], root=0)
        call.all_sent()
        part: Part | None
        interrupt: BaseException | None = None
        try:
            part = self._computed(call)
        except BaseException as error:  # noqa: BLE001 - the others are told, and it is raised again below
            interrupt = error
            said = f"rank {self.rank} was interrupted: {type(error).__name__}"
            part = Part(failure=Failure("worker", 0, where(), said))
        began = time.perf_counter()
        try:
            return self._together(call, part)
        finally:
            call.summing += time.perf_counter() - began
            if interrupt is not None:
                raise interrupt

    def _refuse_other_calls(self, call: Call) -> None:
        """Raise on all ranks where they do not make the same call: different things would be summed."""
        words = [call.parameters.nbytes, zlib.crc32(header_of(call.parameters)), call.count]
        both = np.array([*words, *[-word for word in words]], np.int64)
        self.comm.Allreduce(MPI.IN_PLACE, both, op=MPI.MAX)
        if (both[:3] != -both[3:]).any():
            raise DistributedError(
                "the ranks call a step with different arguments: all call it together, with the same kinds "
                f"of shared arguments and as many shards; rank {self.rank} has {call.count} shards and "
                f"{call.parameters.nbytes} bytes of shared arguments"
            )

    def _computed(self, call: Call) -> Part | None:
        """What this rank's shards give; None if it has none."""
        own = self._own(call.count)
        sums = Sums(len(own), call.reduce)
        for n, k in enumerate(own):
            handles = call.handles(k)
            part = computed(
                version(),
                lambda: call.sent.prepared,
                call.given,
                lambda handles=handles: [handle.content() for handle in handles],  # type: ignore[misc]
                call.keywords,
                call.place(k),
            )
            call.moved(1)
            if part.failure is not None:
                return part
            sums.add(n, part)
        return sums.whole

    def _together(self, call: Call, part: Part | None) -> Part:
        """The parts of all ranks as one, on all of them."""
        word = _NOTHING if part is None or part.summed is None else zlib.crc32(header_of(part.summed))
        state = np.array(
            [part is not None and part.failure is not None, part is None, word, _negative(word)], np.int64
        )
        self.comm.Allreduce(MPI.IN_PLACE, state, op=MPI.MAX)
        failed, lacking, most, least = state.tolist()
        if failed:
            failures = self.comm.allgather(None if part is None else part.failure)
            raise min([x for x in failures if x is not None], key=_shard_of).error()
        simple = isinstance(call.reduce, str) and call.reduce != "gather" and not call.sent.recipe.aux
        if not simple or most != -least or lacking:
            return self._gathered(call, part)
        if part is None or part.summed is None or not _summable(part.summed):
            return self._gathered(call, part)
        summed = part.summed.copy()
        for dtype, start, stop in layout_of(summed).segments:
            self.comm.Allreduce(MPI.IN_PLACE, summed[start:stop].view(dtype), op=MPI.SUM)
        rows = self.comm.allreduce(part.rows) if call.reduce == "mean" else part.rows
        call.bytes_back += summed.nbytes
        return replace(part, summed=summed, rows=rows)

    def _gathered(self, call: Call, part: Part | None) -> Part:
        """As `_together`, for what MPI cannot add: every rank has all parts, and joins them in order."""
        parts = [x for x in self.comm.allgather(part) if x is not None]
        if not parts:
            raise DistributedError("a step without any shards has no result")
        call.bytes_back += sum([x.nbytes for x in parts])
        return merged(parts, call.reduce)


def _negative(word: int) -> int:
    return word if word == _NOTHING else -word


def _shard_of(failure: Failure) -> int:
    return failure.shard


def _summable(flat: Flat) -> bool:
    return all(dtype.char in _SUMMABLE and dtype.isnative for dtype, _, _ in layout_of(flat).segments)
