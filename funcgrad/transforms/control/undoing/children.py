"""Loops and branches in a nest: what they do on the way forward, and on the way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Equation, Var
from funcgrad.ops.arrays.indexing import Gather, Scatter
from funcgrad.tracing.primitive import Flags
from funcgrad.tracing.recorder import Recorder
from funcgrad.transforms.control.undoing.blocks import Block, Log
from funcgrad.transforms.control.undoing.pulling import Label, Surroundings
from funcgrad.transforms.linearize import zeros_like
from funcgrad.transforms.replay import read_tracer, start, write
from funcgrad.types import Anything

COUNT = Aval((), np.dtype(np.int64))
State = dict[Any, Any]
"""Where logs, and the numbers of runs of blocks, are while the way forward is recorded."""


class Child:
    """A loop or a branch, as an equation of a block."""

    count: Var | None = None
    """The number of its trips, where the way back must be told."""

    def __init__(self, equation: Equation, blocks: Sequence[Block]) -> None:
        self.equation = equation
        self.blocks = list(blocks)
        self._pulled: dict[Flags, Any] = {}

    @property
    def restores(self) -> bool:
        """Whether it puts arrays back."""
        return any(block.restored for block in self.blocks)

    def activity(self, active: Flags) -> Flags:
        """Which results have tangents."""
        raise NotImplementedError

    def undoes(self, before: Var, after: Var) -> bool:
        """Whether an array that it changes can be put back."""
        raise NotImplementedError

    def restore(self, after: Var) -> None:
        """Have an array put back."""
        raise NotImplementedError

    def forward(self, recorder: Recorder, inputs: Sequence[Any], state: State, t: Anything) -> list[Any]:
        """Record it, with its logs; returns its results and then its count, if it has one."""
        raise NotImplementedError

    def backwards(
        self, pulling: Surroundings, active: Flags, totals: Sequence[Any], bars: Sequence[Any]
    ) -> list[Any]:
        """Record its pullback; returns the cotangents of its inputs."""
        raise NotImplementedError

    def state_avals(self) -> list[tuple[Label, Aval]]:
        """Its logs, and the blocks whose runs it counts, with what they are."""
        logs = [(("log", log), room_of(b, log)) for block in self.blocks for b, log in block.all_logs()]
        return logs + [(("count", b), COUNT) for block in self.blocks for b in block.counted()]


def room_of(block: Block, log: Log) -> Aval:
    """The aval of a log."""
    return log.aval.with_shape((block.capacity, *log.aval.shape))


def forward_block(
    recorder: Recorder, block: Block, inputs: Sequence[Any], state: State, t: Anything
) -> list[Any]:
    """Record a block and what it keeps, in the `state`; returns its results."""
    env = start(block.program, inputs)
    for k, equation in block.augmented():
        values = [read_tracer(recorder, env, a) for a in equation.inputs]
        child = block.children.get(k)
        if child is None:
            write(env, equation, recorder.record(equation.primitive, values))
            continue
        outs = child.forward(recorder, values, state, t)
        env.update(zip(equation.outputs, outs, strict=False))
        if child.count is not None:
            env[child.count] = outs[-1]
    for log in block.logs:
        write_log = Scatter("set", (0,), True)
        state["log", log] = write_log.bind(state["log", log], env[log.v], t)
    return [read_tracer(recorder, env, a) for a in block.program.outputs]


def from_logs(block: Block, state: dict[Label, Any], t: Anything) -> dict[Label, Any]:
    """What was kept of one run."""
    return {("value", log.v): Gather((0,)).bind(state["log", log], t) for log in block.logs}


def given_or_zeros(recorder: Recorder, x: Anything, aval: Aval) -> Anything:
    """A cotangent, zeros where it is None."""
    return zeros_like(recorder, aval.strong) if x is None else x
