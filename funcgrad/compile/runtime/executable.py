"""Running Programs as native code: kernels, and the evaluator between them for what has no native form."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.collector import CollectorPaused
from funcgrad.compile.runtime.beside import BEGINNING
from funcgrad.compile.runtime.binaries import loaded_kernel, seconds_to_build
from funcgrad.compile.runtime.call_facts import CallFacts, facts_of
from funcgrad.compile.runtime.callers.call_layout import Accept, CallLayout, Constant, Input, Output, Scratch
from funcgrad.compile.runtime.callers.caller import make_caller
from funcgrad.compile.runtime.known_kernels import known_facts, remember
from funcgrad.compile.runtime.signals import signal_words
from funcgrad.compile.runtime.waiting_notices import said_when_long
from funcgrad.ir.avals import Aval
from funcgrad.ir.evaluate.runner import evaluate_by_numpy
from funcgrad.ir.program import Literal, Program, Var
from funcgrad.later import Later
from funcgrad.types import Anything, Array, ArrayLike, Result

if TYPE_CHECKING:
    from funcgrad.compile.passes.kernel import Kernel
    from funcgrad.compile.passes.segments import Reason

# A process that finds its kernels on disk needs none of the passes.
making = Later("funcgrad.compile.passes.kernel")
scheduling = Later("funcgrad.compile.passes.scheduling.lowerings")
dividing = Later("funcgrad.compile.passes.segments")
loops = Later("funcgrad.compile.passes.solver_loops")

ANY_SCALAR = Accept.ARRAY | Accept.NUMPY_SCALAR | Accept.FLOAT | Accept.INT | Accept.BOOL | Accept.COMPLEX
_PYTHON = {bool: Accept.BOOL, int: Accept.INT, float: Accept.FLOAT, complex: Accept.COMPLEX}
_WEAK = {"b": Accept.BOOL, "i": Accept.INT, "f": Accept.FLOAT, "c": Accept.COMPLEX}
LONG = 20_000
"""Operations from which a call lets other Python threads run."""


class Executable:
    """A Program that runs as native code, in one call where all of it has a native form."""

    def __init__(self, program: Program, made: list[Kernel] | None = None) -> None:
        self.program = program
        self.made = made
        """Its kernels; None where what calls need of the only one was found on disk."""
        self.reasons: list[Reason] = []
        self.call: Callable[..., Any]
        """Takes the flat inputs; returns the tuple of outputs, or NotImplemented for others than declared."""
        self.single: Callable[..., Any]
        """As `call`, for a Program with one output: returns that output."""

    @property
    def kernels(self) -> list[Kernel]:
        """The kernels, made anew where only what calls need was found on disk."""
        if self.made is None:
            self.made = [making.make_kernel(loops.for_kernels(self.program))]
        return self.made

    @property
    def kernel_count(self) -> int:
        """How many kernels there are. Makes none."""
        return 1 if self.made is None else len(self.made)

    def run(self, *args: Array) -> tuple[Any, ...]:
        """The outputs, for inputs that may be strided, of another memory order, or Python scalars."""
        found = self.call(*args)
        if found is NotImplemented:
            found = self.call(*[conformed(x, v.aval) for x, v in zip(args, self.program.inputs, strict=True)])
        if found is NotImplemented:
            return evaluated(self.program, args)
        return found  # type: ignore[no-any-return]


def conformed(x: object, aval: Aval) -> Array:
    """An argument as the native code takes it."""
    if aval.shape:
        return np.ascontiguousarray(x, aval.dtype)
    return np.asarray(x, aval.dtype)[()]


def evaluated(program: Program, args: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs by NumPy, for whatever arguments the native code takes: rules know no Python numbers."""
    return evaluate_by_numpy(
        program, [conformed(x, v.aval) for x, v in zip(args, program.inputs, strict=True)]
    )


def compiled(program: Program, *, strict: bool = False, donated: frozenset[int] = frozenset()) -> Executable:
    """The Program as native code. With `strict`, Python scalars are taken only for weak inputs.

    The memory of inputs that are `donated` may become that of results.
    """
    with said_when_long(program), CollectorPaused():
        return executable_of(program, strict, donated)


def compiled_soon(program: Program, most: float) -> Executable | None:
    """The Program as native code, where that takes at most so many seconds; else None."""
    with said_when_long(program), CollectorPaused():
        try:
            return executable_of(program, False, frozenset(), most)
        except TakesLong:
            return None


class TakesLong(Exception):
    """Compiling would take longer than anybody wants to wait."""


def executable_of(
    program: Program, strict: bool, donated: frozenset[int], most: float = math.inf
) -> Executable:
    """The Program as native code, made now; raises TakesLong where that takes more than `most` seconds."""
    made = Executable(program)
    try:
        make_calls(made, strict, donated, most)
    finally:
        BEGINNING.end()
    return made


def make_calls(made: Executable, strict: bool, donated: frozenset[int], most: float) -> None:
    """Compile a Program, or find it compiled, and make its calls."""
    program = made.program
    facts = facts_for(made, most)
    if facts is None:
        made.call = mixed_call(loops.for_kernels(program), made, strict=strict, most=most)
    else:
        made.call = native_call(facts, program, strict=strict, donated=donated)
    if len(program.outputs) == 1:
        made.single = (
            first_of(made.call)
            if facts is None
            else native_call(facts, program, strict=strict, single=True, donated=donated)
        )


def facts_for(made: Executable, most: float) -> CallFacts | None:
    """What calls have to know of the kernel of all of a Program, which may be on disk; None without one."""
    key, facts = known_facts(made.program)
    if facts is not None:
        refuse_long([facts.code], most)
        return facts
    made.made = []
    try:
        kernel = making.make_kernel(loops.for_kernels(made.program))
    except scheduling.NotLowered:
        return None
    facts = facts_of(kernel)
    refuse_long([facts.code], most)
    made.made.append(kernel)
    if key is not None:
        remember(key, facts)
    return facts


def first_of(call: Callable[..., Any]) -> Callable[..., Any]:
    """The only result of a call, by itself."""

    def first(*args: ArrayLike) -> Result:
        found = call(*args)
        return found if found is NotImplemented else found[0]

    return first


def native_call(
    kernel: CallFacts,
    program: Program,
    *,
    strict: bool = False,
    single: bool = False,
    donated: frozenset[int] = frozenset(),
) -> Callable[..., Any]:
    """A caller of a kernel, compiled if it is not yet."""
    loaded = loaded_kernel(kernel.code, kernel.functions)
    layout = call_layout(
        kernel, program, strict=strict, single=single and not kernel.may_fail, donated=donated
    )
    call = make_caller(loaded.addresses[kernel.name], layout, loaded)
    if kernel.may_fail:
        call = failing_call(call, program)
        return first_of(call) if single else call
    return call


def executable_of_kernel(kernel: Kernel, program: Program) -> Executable:
    """A Program that is as it is scheduled, and its only kernel, as native code."""
    made = Executable(program, [kernel])
    made.call = native_call(facts_of(kernel), program)
    return made


def failing_call(call: Callable[..., Any], program: Program) -> Callable[..., Any]:
    """A call whose last result says that NumPy would raise an error: then NumPy does."""
    whole: list[Program] = []

    def checked(*args: ArrayLike) -> Result:
        found = call(*args)
        if found is NotImplemented:
            return found
        if not found[-1]:
            return found[:-1]
        if not whole:
            whole.append(loops.for_kernels(program))
        return evaluated(whole[0], args)

    return checked


def refuse_long(sources: Sequence[str], most: float) -> None:
    """Raise TakesLong where building kernels of these sources would take more than `most` seconds."""
    if most < math.inf and seconds_to_build(sources) > most:
        raise TakesLong


def mixed_call(program: Program, made: Executable, *, strict: bool, most: float) -> Callable[..., Any]:
    """A function that alternates between kernels and the evaluator; it takes what a kernel alone would."""
    segments, reasons = dividing.segments_of(program)
    made.reasons.extend(reasons)
    kernels = {id(segment): making.make_kernel(segment.program) for segment in segments if segment.native}
    refuse_long([kernel.code for kernel in kernels.values()], most)
    calls: list[tuple[Callable[..., Any], tuple[Any, ...], tuple[Var, ...]]] = []
    for segment in segments:
        if segment.native:
            inner = executable_of_kernel(kernels[id(segment)], segment.program)
            made.kernels.extend(inner.kernels)
            run: Callable[..., Any] = inner.run
        else:
            run = segment.evaluate
        calls.append((run, segment.program.inputs, segment.defines))
    inputs = program.inputs
    outputs = program.outputs
    captured = dict(program.captured)
    declared = [(v.aval, accepted(v.aval, strict=strict)) for v in inputs]

    def call(*args: ArrayLike) -> Result:
        if len(args) != len(declared) or not all(
            is_declared(x, aval, accept) for x, (aval, accept) in zip(args, declared, strict=True)
        ):
            return NotImplemented
        env: dict[Any, Any] = dict(captured)
        for v, x in zip(inputs, args, strict=True):
            env[v] = conformed(x, v.aval)
        for run, reads, defines in calls:
            env.update(zip(defines, run(*[env[v] for v in reads]), strict=True))
        results = [a.value if isinstance(a, Literal) else env[a] for a in outputs]
        return owned_results(results, args, captured.values())

    return call


def is_declared(x: object, aval: Aval, accept: Accept) -> bool:
    """Whether an argument is of the kind that an input declares; its memory may lie in any order."""
    if type(x) is np.ndarray:
        return bool(accept & Accept.ARRAY) and x.shape == aval.shape and x.dtype == aval.dtype
    if type(x) is aval.dtype.type:
        return not aval.shape and bool(accept & Accept.NUMPY_SCALAR)
    return bool(accept & _PYTHON.get(type(x), Accept(0)))


def owned_results(results: Sequence[Any], args: Sequence[Any], captured: Anything) -> tuple[Any, ...]:
    """The results, copied where someone else holds their memory."""
    given = [x for x in (*args, *captured) if isinstance(x, np.ndarray)]
    owned: list[Any] = []
    for x in results:
        if not isinstance(x, np.ndarray):
            owned.append(x)
            continue
        if x.ndim == 0:
            owned.append(x[()])
            continue
        shared = not x.flags.writeable or any(
            np.may_share_memory(x, y) for y in (*given, *owned) if isinstance(y, np.ndarray)
        )
        owned.append(x.copy() if shared else x)
    return tuple(owned)


def call_layout(
    kernel: CallFacts, program: Program, *, strict: bool, single: bool, donated: frozenset[int]
) -> CallLayout:
    """What a call of the kernel is given, for the caller."""
    inputs: list[Any] = [None] * len(program.inputs)
    outputs: list[Any] = [None] * len(program.outputs)
    constants, scratch = [], []
    donors = donors_of(kernel, program, donated)
    for slot, block in enumerate(kernel.blocks):
        if block.role == "input":
            aval = program.inputs[block.place].aval
            inputs[block.place] = Input(slot, aval.dtype, aval.shape, accepted(aval, strict=strict))
        elif block.role == "output":
            aval = program.outputs[block.place].aval
            donor = donors.get(block.place)
            outputs[block.place] = Output(slot, aval.dtype, aval.shape, not aval.shape, donor)
        elif block.role == "captured":
            assert block.array is not None
            constants.append(Constant(slot, np.ascontiguousarray(block.array).reshape(block.array.shape)))
        elif block.role == "clock":
            outputs.append(Output(slot, block.dtype, (block.size,)))
        elif block.role == "failure":
            outputs.append(Output(slot, block.dtype, (), True))
        elif block.role == "signals":
            constants.append(Constant(slot, signal_words()))
        else:
            scratch.append(Scratch(slot, block.place))
    return CallLayout(
        tuple(inputs),
        tuple(outputs),
        tuple(constants),
        tuple(scratch),
        kernel.scratch_bytes,
        kernel.sizes,
        kernel.flops > LONG,
        single,
        kernel.stops,
    )


SMALLEST_DONATED = 64
"""Elements from which loops go over an array: LLVM writes out loops of fewer turns."""


def donors_of(kernel: CallFacts, program: Program, donated: frozenset[int]) -> dict[int, int]:
    """For outputs the donated input whose memory they take: one that is read for the last time before.

    A kernel that may fail takes none: its arguments must be whole for NumPy to run the program again. Nor
    does what is written before a loop that can be left: after Ctrl-C the arguments are whole. Nor what is so
    small that text without loops may read and write it: to LLVM arguments and results are different memory.
    """
    if kernel.may_fail:
        return {}
    free = [block for block in kernel.blocks if block.role == "input" and block.place in donated]
    found: dict[int, int] = {}
    for output in kernel.blocks:
        for given in free if output.role == "output" else ():
            taken, made = program.inputs[given.place].aval, program.outputs[output.place].aval
            alike = (taken.dtype, taken.shape) == (made.dtype, made.shape)
            if alike and taken.size >= SMALLEST_DONATED and max(given.last, kernel.last_stop) < output.first:
                found[output.place] = given.place
                free.remove(given)
                break
    return found


def accepted(aval: Aval, *, strict: bool) -> Accept:
    """What may stand for an input."""
    if aval.shape:
        return Accept.ARRAY
    if not strict:
        return ANY_SCALAR
    return _WEAK[aval.dtype.kind] if aval.weak else Accept.ARRAY | Accept.NUMPY_SCALAR
