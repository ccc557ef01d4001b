"""Operations on matrices as calls of ``np.linalg``, which Numba compiles too, in the text of a kernel.

They stand for what kernels leave to LAPACK by address, or to the evaluator.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.passes.scheduling.lowerings import NotLowered
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.ir.program import Equation
from funcgrad.ops.linalg.matrices import OnStacks
from funcgrad.ops.random.draws import SampledCholesky, SampledProduct
from funcgrad.types import Anything


def lower_by_numpy(scheduler: Scheduler, equation: Equation) -> None:
    """One call for each matrix of a stack."""
    primitive = equation.primitive
    if equation.inputs[0].aval.dtype.char not in "fdil":
        raise NotLowered(f"{primitive.name} of {equation.inputs[0].aval.dtype} is not written out")
    if any(not v.aval.size for v in equation.outputs):
        raise NotLowered(f"{primitive.name} of nothing is not written out")
    a = equation.inputs[0].aval
    batch = a.shape[: a.ndim - axes_of_one(primitive)]
    operands = [scheduler.contiguous(x) if x.aval.shape else None for x in equation.inputs]
    targets = [scheduler.buffer_like(v.aval, scheduler.local.named(v)) for v in equation.outputs]
    names = [scheduler.local.fresh("m") for _ in targets]

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        with ExitStack() as stack:
            variables = [writer.local.fresh("q") for _ in batch]
            for variable, n in zip(variables, batch, strict=True):
                stack.enter_context(writer.loop(variable, n))
            given = [of_stack(writer, v, variables) for v in operands if v is not None]
            texts = primitive.exported_texts(given)
            if len(texts) < len(targets):
                writer.line(f"{', '.join(names)} = {texts[0]}")
                texts = names
            for target, text in zip(targets, texts, strict=True):
                writer.line(stored(writer, target, variables, text))

    reads = [v for v in operands if v is not None]
    position = scheduler.special(primitive.name, emit, reads, targets, flops=10.0 * a.size)
    for v, target in zip(equation.outputs, targets, strict=True):
        scheduler.define_view(v, target, position)


def of_stack(writer: Anything, view: View, variables: Sequence[str]) -> str:
    """A matrix of a stack, or the only one."""
    shape = view.shape[len(variables) :]
    size = "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
    if view.is_whole and view.buffer.shape == view.shape:
        whole = str(writer.indexing.whole(view.buffer, f"{view.buffer.name}.reshape({view.shape})"))
        return f"{whole}[{', '.join(variables)}]" if variables else whole
    rest = View(view.buffer, (), (), view.offset, view.base)
    index = writer.index(
        View(view.buffer, (), view.strides[: len(variables)], rest.offset, rest.base), variables
    )
    count = 1
    for n in shape:
        count *= n
    start = view.buffer.name if index == "0" else f"part({view.buffer.name}, {index})"
    return f"{start}[:{count}].reshape({size})"


def stored(writer: Anything, view: View, variables: Sequence[str], text: str) -> str:
    """The line that puts a result where it goes: to assign to a part of an array takes Numba seconds."""
    rest = len(view.shape) - len(variables)
    if not rest:
        return f"{writer.element(view, variables)} = {text}"
    whole = str(writer.indexing.whole(view.buffer, f"{view.buffer.name}.reshape({view.shape})"))
    if text.isdigit():
        return f"{whole}[{', '.join([*variables, *[':'] * rest])}] = {text}"
    place = f"{whole}[{', '.join(variables)}]" if variables else whole
    return f"{'put_vector' if rest == 1 else 'put_matrix'}({place}, {text})"


def is_by_numpy(equation: Equation) -> bool:
    """Whether an operation on matrices is a call of NumPy's, or of what a module has written out."""
    primitive = equation.primitive
    operands = [""] * len(equation.inputs)
    return isinstance(primitive, OnStacks | SampledProduct) and bool(primitive.exported_texts(operands))


def axes_of_one(primitive: object) -> int:
    """The axes of one operand, those of a stack left out."""
    return 1 if isinstance(primitive, OnStacks) and primitive.of_vectors else 2


def is_sampled(primitive: object) -> bool:
    """Whether kernels would call routines of this process, for draws equal to NumPy's to the last digit."""
    return isinstance(primitive, SampledCholesky | SampledProduct)
