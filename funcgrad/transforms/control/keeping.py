"""What of a trip is kept for the way back, and what is computed again from that: a minimum cut.

Every value that the linear part needs must be kept, or computed again from values of which the same is true.
Keeping costs memory that is written and read, computing costs operations. The cheapest choice is a minimum
cut of a network: a value and the equation that makes it are two nodes, the edge between them is what keeping
costs, the edge from the equation to the sink is what computing costs, and the equation needs its inputs.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.ops.arrays.indexing import Gather
from funcgrad.ops.contraction import DotGeneral
from funcgrad.ops.families import Pointwise
from funcgrad.tracing.primitive import Primitive
from funcgrad.tracing.recorder import Recorder

KEEPING = 5
"""Operations that keeping eight bytes is worth: they are written, and read when they are out of the cache."""

FUNCTION = 15
"""Operations of an elementary function."""

MOVEMENTS = ("broadcast", "reshape", "permute", "slice", "flip", "squeeze", "matrix_diagonal")

LARGEST = 3000
"""Values beyond which all is kept that crosses: the cut takes time that grows faster than the body."""

FOREVER = 1 << 60


def operations_of(primitive: Primitive, inputs: Sequence[Aval], outputs: Sequence[Aval]) -> int:
    """Roughly how many operations an equation takes; `FOREVER` where nobody knows."""
    size = sum(a.size for a in outputs)
    held = held_programs(primitive)
    if not primitive.pure or primitive.name.startswith("while"):
        return FOREVER
    if held:
        trips = int(primitive.params.get("length", 1))
        return min(FOREVER, trips * sum(operations_of_program(program) for program in held))
    if isinstance(primitive, Pointwise):
        # What kernels have no words for is a call of NumPy's.
        return max(primitive.cost, 0 if primitive.native_form() else FUNCTION) * size
    if isinstance(primitive, DotGeneral):
        return 2 * max(math.isqrt(math.prod([max(a.size, 1) for a in (*inputs, *outputs)])), size)
    if primitive.name in MOVEMENTS or isinstance(primitive, Gather):
        return size
    return FUNCTION * (size + sum(a.size for a in inputs))


def held_programs(primitive: Primitive) -> list[Program]:
    """The Programs among the parameters of a primitive."""
    found: list[Program] = []
    for value in primitive.params.values():
        found += [x for x in (value if isinstance(value, tuple) else (value,)) if isinstance(x, Program)]
    return found


def operations_of_program(program: Program) -> int:
    """The operations of all equations together."""
    total = 0
    for e in program.equations:
        total += operations_of(e.primitive, [a.aval for a in e.inputs], [v.aval for v in e.outputs])
    return min(total, FOREVER)


def kept_values(
    recorder: Recorder,
    needed: Collection[int],
    free: Collection[int],
    given: Collection[int],
    stored: Collection[int] = (),
    price: int = KEEPING,
) -> set[int]:
    """The values to keep, so that `needed` can be had from them and from what is `free` at least cost.

    `given` cannot be computed again, only kept; what is `stored` in any case costs nothing to keep. The
    `price` of keeping is that of eight bytes.
    """
    network = Network()
    seen: set[int] = set()
    stack = [index for index in needed if index not in free]
    for index in dict.fromkeys(stack):
        network.edge(SOURCE, value_node(index), FOREVER)
    while stack:
        index = stack.pop()
        if index in seen:
            continue
        seen.add(index)
        if len(seen) > LARGEST:
            return {index for index in needed if index not in free}
        keeping = 0 if index in stored else keeping_cost(recorder.avals[index], price)
        if index in given or type(recorder.steps[index]) not in (tuple, int):
            network.edge(value_node(index), SINK, keeping)
            continue
        step: Any = recorder.steps[index]
        first = index - step if type(step) is int else index
        maker = maker_node(first)
        network.edge(value_node(index), maker, keeping)
        primitive, *operands = recorder.steps[first]
        if not network.has(maker, SINK):
            inputs = [recorder.avals[i] for i in operands]
            outputs = primitive.inferred(tuple(inputs))
            computing = operations_of(primitive, inputs, outputs if primitive.multiple else (outputs,))
            network.edge(maker, SINK, computing)
            if keeping <= computing and not primitive.multiple:
                continue  # It is never computed again, and nobody need ask from what.
            for i in operands:
                if i not in free:
                    network.edge(maker, value_node(i), FOREVER)
        stack += [i for i in operands if i not in free]
    reached = network.source_side()
    return {i for i in seen if value_node(i) in reached and not is_computed(recorder, i, reached, given)}


def is_computed(recorder: Recorder, index: int, reached: set[int], given: Collection[int]) -> bool:
    """Whether a value that is there on the way back is computed again."""
    step = recorder.steps[index]
    if index in given or type(step) not in (tuple, int):
        return False
    first = index - step if type(step) is int else index
    return maker_node(first) in reached


def keeping_cost(a: Aval, price: int = KEEPING) -> int:
    """What it costs to keep a value, in operations; more than a comparison of each element, however small.

    Each is written by one operation and read by another, also where it is one byte: a mask is made anew.
    """
    return max(price * a.nbytes // 8, 2 * a.size, 2)


SOURCE, SINK = -1, -2


def value_node(index: int) -> int:
    """The node of a value."""
    return 2 * index


def maker_node(index: int) -> int:
    """The node of the equation whose first result is at an index."""
    return 2 * index + 1


class Network:
    """Capacities between nodes, and the cut that separates source and sink at least cost."""

    def __init__(self) -> None:
        self._left: dict[int, dict[int, int]] = {SOURCE: {}, SINK: {}}

    def edge(self, start: int, end: int, capacity: int) -> None:
        """Let something flow from one node to another."""
        forward = self._left.setdefault(start, {})
        forward[end] = forward.get(end, 0) + capacity
        self._left.setdefault(end, {}).setdefault(start, 0)

    def has(self, start: int, end: int) -> bool:
        """Whether there is such an edge."""
        return end in self._left.get(start, ())

    def source_side(self) -> set[int]:
        """The nodes on the source's side of a minimum cut: the smallest such set (Dinic, 1970)."""
        while True:
            levels = self._levels()
            if SINK not in levels:
                return set(levels)
            arcs = {node: list(self._left[node]) for node in levels}
            while path := self._path(levels, arcs):
                flow = min(self._left[a][b] for a, b in pairwise(path))
                for a, b in pairwise(path):
                    self._left[a][b] -= flow
                    self._left[b][a] += flow

    def _levels(self) -> dict[int, int]:
        """How far from the source each node is that can be reached from it."""
        levels: dict[int, int] = {SOURCE: 0}
        waiting: deque[int] = deque([SOURCE])
        while waiting:
            node = waiting.popleft()
            for other, capacity in self._left[node].items():
                if capacity > 0 and other not in levels:
                    levels[other] = levels[node] + 1
                    waiting.append(other)
        return levels

    def _path(self, levels: Mapping[int, int], arcs: Mapping[Any, list[int]]) -> list[int]:
        """A way to the sink, one level at a time, or nothing; `arcs` lose what leads nowhere."""
        path: list[int] = [SOURCE]
        while path:
            node = path[-1]
            if node == SINK:
                return path
            open_arcs = arcs[node]
            while open_arcs:
                other = open_arcs[-1]
                if self._left[node][other] > 0 and levels.get(other) == levels[node] + 1:
                    path.append(other)
                    break
                open_arcs.pop()
            else:
                path.pop()
                if path:
                    arcs[path[-1]].pop()
        return []
