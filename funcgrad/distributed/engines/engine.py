"""What a step asks of an engine: to keep data in shards, and to have every shard computed and summed."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from funcgrad.api.calling.arguments import here
from funcgrad.distributed.failures import Rows
from funcgrad.distributed.packing import Flat, unpack
from funcgrad.distributed.recipes import Recipe, digest_of, dumps
from funcgrad.distributed.shards import Shards, length_of, split
from funcgrad.distributed.sums import Part, Reduce
from funcgrad.distributed.worker import Content, Place, Prepared, Shared
from funcgrad.errors import ArgnumsError


class Sent:
    """A recipe, and its bytes where workers are other processes: made when they are first asked for."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.prepared = Prepared(recipe)
        self._data: bytes | None = None
        self._digest = ""

    @property
    def data(self) -> bytes:
        """The recipe as bytes."""
        if self._data is None:
            self._data = dumps(self.recipe, f"{self.recipe.name}, or what it closes over,")
            self._digest = digest_of(self._data)
        return self._data

    @property
    def digest(self) -> str:
        """The name of these bytes."""
        return self._digest if self.data else ""


@dataclass(slots=True)
class Call:
    """One call of a step, on its way through an engine."""

    sent: Sent
    parameters: Flat
    sources: tuple[tuple[Any, ...], ...]
    """For each argument that is data, the handle of each shard."""
    keywords: tuple[str | None, ...]
    """The names of the arguments that are data; None for those without."""
    rows: tuple[Rows, ...]
    moved: Callable[[int], None] = lambda _: None
    """Is told how many more shards are done."""
    watched: bool = False
    """Whether somebody wants to know."""
    begin: float = field(default_factory=time.perf_counter)
    sending: float = 0.0
    summing: float = 0.0
    bytes_back: int = 0
    carried: Any = None
    """What the engine needs to remember of it."""
    _given: Shared | None = field(default=None, init=False)

    @property
    def count(self) -> int:
        """How many shards there are."""
        return len(self.rows)

    @property
    def reduce(self) -> Reduce:
        """How results are put together."""
        return self.sent.recipe.reduce

    def place(self, k: int) -> Place:
        """Which shard that is."""
        return Place(k, self.count, self.rows[k])

    def given(self) -> Shared:
        """The shared arguments, read once for all shards of this process."""
        if self._given is None:
            self._given = unpack(self.parameters)
        return self._given

    def handles(self, k: int) -> tuple[Any, ...]:
        """What the arguments of a shard are made of."""
        return tuple([source[k] for source in self.sources])

    def all_sent(self) -> None:
        """The engine has everything."""
        self.sending = time.perf_counter() - self.begin


class Engine(ABC):
    """Carries shards to workers and results back."""

    name: str
    """What messages call it."""

    @abstractmethod
    def workers(self) -> int:
        """How many shards can be computed at once, as far as is known."""

    @abstractmethod
    def scatter(self, contents: Sequence[Content], rows: Sequence[Rows]) -> Shards:
        """Hand shards to the workers, which keep them."""

    @abstractmethod
    def load(self, loader: Callable[[Any], Any], items: Sequence[Any], keep: bool) -> Shards:
        """Shards that the workers make themselves, each of one item, when they need them."""

    def collected(self, arguments: Sequence[Any]) -> list[Shards] | None:
        """The shards of collections of the engine's own; None where the arguments are none."""
        return None

    def split(
        self,
        arguments: tuple[Any, ...],
        bounds: Callable[[int], Sequence[tuple[int, int]]],
        local: bool | None,
    ) -> Shards:
        """Split arrays by rows, between the bounds for so many rows, and scatter them.

        `local` is for engines on which every process has arrays of its own; None where nobody has said.
        """
        if local:
            raise ArgnumsError(
                f"local=True is for communicators: {self.name} splits the arrays of this process",
                source=here(),
            )
        found = bounds(length_of(arguments))
        return self.scatter(split(arguments, found), found)

    @abstractmethod
    def run(self, call: Call) -> Part:
        """Have every shard computed, and put the results together. Raises DistributedError."""
