"""What a user waits for before anything is warm: the import, and a first gradient in a new process."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks.model import Call, Contender, Target, Versus, Workload
from benchmarks.workloads.gradients import FOUR_OPERATIONS, LOGISTIC, MLP


def nothing_to_build(library: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
    """The import is all there is."""
    raise NotImplementedError("imports are measured by their statement alone")


def first_call_of(workload: Workload, targets: tuple[Target, ...] = ()) -> Workload:
    """The same call as the first one in a new process, imports and compilation included."""
    return replace(
        workload,
        name=f"first-{workload.name}",
        title=f"first call in a new process, import included: {workload.title}",
        measure="first call",
        statistic="median",
        targets=targets,
        information=frozenset(),
    )


IMPORT = Workload(
    name="import",
    title="`import` in a new process",
    contenders=tuple(
        Contender(name, name, nothing_to_build) for name in ("funcgrad", "numpy", "torch", "autograd", "jax")
    ),
    targets=(Versus(("numpy",), 1 / 1.5),),
    measure="import",
    information=frozenset({"numpy"}),
    statistic="median",
    rounds=21,
)

WORKLOADS = (
    IMPORT,
    first_call_of(FOUR_OPERATIONS, (Versus(("jax", "jax.jit"), 2.0),)),
    replace(first_call_of(LOGISTIC), in_quick=False),
    replace(first_call_of(MLP), in_quick=False),
)
