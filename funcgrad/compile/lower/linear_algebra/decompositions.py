"""Lowering of decompositions of matrices: NumPy's own loops over stacks, by address.

``numpy.linalg`` calls LAPACK in loops that take matrices of any strides and memory of their own, and that
touch no Python object. What a kernel gets from them are the evaluator's digits. Where LAPACK fails they leave
NaN; that is noted in a flag, and the program is then run by NumPy, which raises, or finds that the matrix
itself was not a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any, NamedTuple

from funcgrad.compile.emit.statements import Writer
from funcgrad.compile.emit.symbols import Locals
from funcgrad.compile.lower.elementwise import cast_name
from funcgrad.compile.lower.linear_algebra.contractions import at
from funcgrad.compile.lower.linear_algebra.factorizations import (
    Stack,
    changeable,
    lower_cholesky,
    threads_of_blas,
)
from funcgrad.compile.lower.linear_algebra.small_matrices import swapped
from funcgrad.compile.lower.linear_algebra.systems import lower_determinant, lower_magnitude
from funcgrad.compile.passes.scheduling.lowerings import Lowering, NotLowered, lowers
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import Buffer, View
from funcgrad.compile.runtime.addresses.ufuncs import matrix_loop, module_of
from funcgrad.ir.avals import Aval, Shape
from funcgrad.ir.program import Equation
from funcgrad.ops.linalg.cholesky import Cholesky
from funcgrad.ops.linalg.determinants import Det, SlogDet
from funcgrad.ops.linalg.general import Eig, Eigvals
from funcgrad.ops.linalg.orthogonal import Qr
from funcgrad.ops.linalg.singular import Svd, Svdvals
from funcgrad.ops.linalg.spectra import Eigh, Eigvalsh, SquareOfOpenGaps
from funcgrad.ops.random.draws import SampledCholesky, SampledProduct
from funcgrad.types import AnyPrimitive


class MatrixLoop(NamedTuple):
    """A loop of NumPy's over the matrices of stacks, as kernels call it."""

    address: str
    ranks: tuple[int, ...]
    """The axes of each operand and result that the loop sees, the stack aside."""
    sizes: tuple[int, ...]
    """The sizes of those axes, each once."""
    told: str
    """The address of what the loop is told besides, or 0."""
    by_blas: bool

    def write(self, writer: Writer, views: Sequence[View], variables: Sequence[str]) -> None:
        """One call for the matrices along the last axis of the stack; loops run over its other axes."""
        local, count = writer.local, len(views)
        cells = local.fresh("arguments")
        leads = [len(view.shape) - rank for view, rank in zip(views, self.ranks, strict=True)]
        repeated = views[0].shape[leads[0] - 1] if leads[0] else 1
        strides = [view.strides[lead - 1] if lead else 0 for view, lead in zip(views, leads, strict=True)]
        numbers = [local.symbol(size) for size in (repeated, *self.sizes)]
        numbers += [bytes_of(local, stride, view) for stride, view in zip(strides, views, strict=True)]
        for view, lead in zip(views, leads, strict=True):
            numbers += [bytes_of(local, stride, view) for stride in view.strides[lead:]]
        writer.line(f"{cells} = stack_i64({count + len(numbers)})")
        for k, view in enumerate(views):
            pointer = at(writer, first_elements(view, len(variables)), variables)
            writer.line(f"{cells}[{k}] = address_of({pointer})")
        for k, number in enumerate(numbers):
            writer.line(f"{cells}[{count + k}] = {number}")
        places = [f"shifted({cells}, {k})" for k in (count, count + 1 + len(self.sizes))]
        with threads_of_blas(writer, max(self.sizes)) if self.by_blas else nullcontext():
            writer.line(f"call_pointers({self.address}, {cells}, {', '.join(places)}, {self.told})")


def bytes_of(local: Locals, stride: int, view: View) -> str:
    """A distance between elements in bytes."""
    size = view.buffer.dtype.itemsize
    return local.symbol(size * stride) if stride >= 0 else f"-{local.symbol(-size * stride)}"


def found_loop(scheduler: Scheduler, name: str, types: str, ranks: str, sizes: Sequence[int]) -> MatrixLoop:
    """A loop of NumPy's by its name; raises NotLowered where it is not known by address."""
    found, module, local = matrix_loop(name, types), module_of(name), scheduler.local
    if found is None:
        raise NotLowered(f"the loop of {module}'s {name} for {types} is not known by address")
    if by_blas := module != "numpy.fft":
        local.serial_blas()
    name = f"{module.replace('.', '_')}_{name}_{types.partition('->')[0]}"
    address = local.constant(name, found.address)
    told = local.constant(f"{name}_data", found.data) if found.data else "0"
    return MatrixLoop(address, tuple(map(int, ranks)), tuple(sizes), told, by_blas)


class Row(NamedTuple):
    """How one decomposition is a call of one loop."""

    name: Callable[[Any], str]
    """The loop, by the primitive."""
    ranks: str
    """The axes of the operand and of each result."""
    square: bool = True
    finite: bool = False
    """Whether NumPy raises for a matrix with elements that are not finite."""


def of_triangle(stem: str) -> Callable[[Any], str]:
    """The loop that reads the triangle of the primitive's."""

    def name(primitive: AnyPrimitive) -> str:
        return f"{stem}_{'up' if primitive.upper else 'lo'}"

    return name


def svd_loop(primitive: AnyPrimitive) -> str:
    """The loop for full matrices, or for as many vectors as there are values."""
    return "svd_f" if primitive.full else "svd_s"


def called(name: str) -> Callable[[Any], str]:
    """The same loop for all."""

    def same(primitive: AnyPrimitive) -> str:
        return name

    return same


ROWS: dict[type, Row] = {
    Eigh: Row(of_triangle("eigh"), "212"),
    Eigvalsh: Row(of_triangle("eigvalsh"), "21"),
    Svd: Row(svd_loop, "2212", square=False),
    Svdvals: Row(called("svd"), "21", square=False),
    Eig: Row(called("eig"), "212", finite=True),
    Eigvals: Row(called("eigvals"), "21", finite=True),
    SampledCholesky: Row(called("cholesky_lo"), "22"),
    Cholesky: Row(called("cholesky_lo"), "22"),
    Det: Row(called("det"), "20"),
    SlogDet: Row(called("slogdet"), "200"),
}


REAL: dict[type, Lowering] = {Cholesky: lower_cholesky, Det: lower_determinant, SlogDet: lower_magnitude}
"""What is done for real matrices in another way: by LAPACK's own routines, or written out."""


ALONE = 48
"""Rows of matrices up to which BLAS and LAPACK keep to one thread: digits do not depend on who calls."""


def check_sampled(rows: int, columns: int) -> None:
    """Raise NotLowered where the digits of samples would depend on the threads of BLAS."""
    if columns > ALONE or rows * columns * columns > ALONE**3:
        raise NotLowered("samples of vectors as long as these have the digits that threads of BLAS give them")


def check_operand(equation: Equation) -> Aval:
    """The matrices' aval; raises NotLowered for those that have no loop."""
    (x,), name = equation.inputs, equation.primitive.name
    if isinstance(equation.primitive, SampledCholesky):
        check_sampled(1, x.aval.shape[-1])
    if x.aval.dtype.char not in "dD":
        raise NotLowered(f"{name} of {x.aval.dtype} has no native form")
    if not x.aval.size:
        raise NotLowered(f"{name} of nothing is left to NumPy")
    return x.aval


@lowers(*ROWS)
def lower_decomposition(scheduler: Scheduler, equation: Equation) -> None:
    """A call of the loop, and a look at what it has left."""
    in_another_way = REAL.get(type(equation.primitive))
    if in_another_way is not None and equation.inputs[0].aval.dtype.kind != "c":
        in_another_way(scheduler, equation)
        return
    row, primitive, a = ROWS[type(equation.primitive)], equation.primitive, check_operand(equation)
    m, n = a.shape[-2:]
    types = f"{a.dtype.char}->{''.join([v.aval.dtype.char for v in equation.outputs])}"
    sizes = (n,) if row.square else (m, n, min(m, n))
    loop = found_loop(scheduler, row.name(primitive), types, row.ranks, sizes)
    source = scheduler.stored(equation.inputs[0])
    targets = [scheduler.buffer_like(v.aval, scheduler.local.named(v)) for v in equation.outputs]
    flag = scheduler.local.failure_flag()
    batch = a.shape[:-2]

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        with when_finite(writer, source, flag) if row.finite else nullcontext():
            write_calls(writer, loop, [source, *targets], batch)
        note_failures(writer, targets[0], len(batch), flag)

    flops = primitive.flops([a], [v.aval for v in equation.outputs])
    writes = [*targets, View.whole(flag, ())]
    position = scheduler.special(primitive.name, emit, [source], writes, flops=flops)
    for v, target in zip(equation.outputs, targets, strict=True):
        scheduler.define_view(v, target, position)


def write_calls(writer: Writer, loop: MatrixLoop, views: Sequence[View], batch: Shape) -> None:
    """A call for the matrices along the last axis of the stack, in loops over the other axes."""
    with ExitStack() as stack:
        variables = [writer.local.fresh("q") for _ in batch[:-1]]
        for variable, size in zip(variables, batch[:-1], strict=True):
            stack.enter_context(writer.loop(variable, size))
        loop.write(writer, views, variables)


def note_failures(writer: Writer, target: View, axes: int, flag: Buffer) -> None:
    """Set the flag where a result is NaN: all numbers of a matrix's results are, where LAPACK has failed."""
    stack = Stack(writer, target.shape[:axes], flag, None)
    with stack as variables:
        value = writer.local.fresh("first")
        index = writer.index(first_elements(target, axes), variables)
        writer.line(f"{value} = {target.buffer.name}[{index}]")
        writer.line(f"{stack.wrong} = {stack.wrong} | ({value} != {value})")


def first_elements(view: View, axes: int) -> View:
    """The first element of what each place along the first axes holds."""
    return view._replace(shape=view.shape[:axes], strides=view.strides[:axes])


@contextmanager
def when_finite(writer: Writer, source: View, flag: Buffer) -> Iterator[None]:
    """What is done where all elements are finite; else the flag is set."""
    finite, value = writer.local.fresh("finite"), writer.local.fresh("value")
    writer.line(f"{finite} = True")
    with ExitStack() as stack:
        variables = [writer.local.fresh("r") for _ in source.shape]
        for variable, size in zip(variables, source.shape, strict=True):
            stack.enter_context(writer.loop(variable, size))
        writer.line(f"{value} = {writer.element(source, variables)}")
        writer.line(f"{finite} = {finite} & ({value} - {value} == {cast_name(source.buffer.dtype)}(0))")
    with writer.block(f"if {finite}:"):
        yield
    with writer.block("else:"):
        writer.line(f"{flag.name}[0] = 1")


@lowers(Qr)
def lower_qr(scheduler: Scheduler, equation: Equation) -> None:
    """Reflections in place of a copy of the matrix, from which both factors are made. Neither fails."""
    a, complete = check_operand(equation), equation.primitive.complete
    m, n = a.shape[-2:]
    kind, k, batch = a.dtype.char, min(m, n), a.shape[:-2]
    reflect = found_loop(scheduler, "qr_r_raw", f"{kind}->{kind}", "21", (m, n, k))
    types = f"{kind * 2}->{kind}"
    if complete and m > n:
        gather = found_loop(scheduler, "qr_complete", types, "212", (m, n))
    else:
        gather = found_loop(scheduler, "qr_reduced", types, "212", (m, n, k))
    square = changeable(scheduler, equation.inputs[0], "", equation.source, columns_first=False)
    q, r = [scheduler.buffer_like(v.aval, scheduler.local.named(v)) for v in equation.outputs]
    scales = scheduler.buffer_like(Aval((*batch, k), a.dtype), "scales")

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        write_calls(writer, reflect, [square.view, scales], batch)
        write_calls(writer, gather, [square.view, scales, q], batch)
        write_upper(writer, square.view, r)

    flops = equation.primitive.flops([a], [v.aval for v in equation.outputs])
    position = scheduler.special(
        "qr", emit, [square.view], [square.view, q, r], scratch=[scales], flops=flops
    )
    for v, view in zip(equation.outputs, (q, r), strict=True):
        scheduler.define_view(v, view, position)


def write_upper(writer: Writer, source: View, target: View) -> None:
    """The upper triangle of the first rows, with zeros below it."""
    zero = f"{cast_name(target.buffer.dtype)}(0)"
    with ExitStack() as stack:
        variables = [writer.local.fresh("r") for _ in target.shape]
        for variable, size in zip(variables, target.shape, strict=True):
            stack.enter_context(writer.loop(variable, size))
        i, j = variables[-2:]
        with writer.block(f"if {i} <= {j}:"):
            writer.line(f"{writer.element(target, variables)} = {writer.element(source, variables)}")
        with writer.block("else:"):
            writer.line(f"{writer.element(target, variables)} = {zero}")


@lowers(SampledProduct)
def lower_product(scheduler: Scheduler, equation: Equation) -> None:
    """A call of the loop of ``np.matmul``, which adds in its own order."""
    (x, a), (out,) = equation.inputs, equation.outputs
    if out.aval.dtype.char not in "fd" or not out.aval.size or not x.aval.size:
        raise NotLowered(f"{equation.primitive.name} of {x.aval} is left to NumPy")
    kind = out.aval.dtype.char
    (*batch, m, n) = out.aval.shape
    check_sampled(m, n)
    loop = found_loop(scheduler, "matmul", f"{kind * 2}->{kind}", "222", (m, n, n))
    rows, matrix = scheduler.contiguous(x), swapped(scheduler.contiguous(a))
    target = scheduler.buffer_like(out.aval, scheduler.local.named(out))

    def emit(writer: Writer) -> None:
        writer.comment(equation.source)
        write_calls(writer, loop, [rows, matrix, target], tuple(batch))

    flops = 2.0 * n * out.aval.size
    position = scheduler.special(equation.primitive.name, emit, [rows, matrix], [target], flops=flops)
    scheduler.define_view(out, target, position)


@lowers(SquareOfOpenGaps)
def lower_squares(scheduler: Scheduler, equation: Equation) -> None:
    """Squares, and the flag where a gap between two numbers is closed: the evaluation raises there."""
    (gaps,), (out,) = equation.inputs, equation.outputs
    source = scheduler.stored(gaps)
    target = scheduler.buffer_like(out.aval, scheduler.local.named(out))
    flag = scheduler.local.failure_flag()
    zero = f"{cast_name(out.aval.dtype)}(0)"

    def emit(writer: Writer) -> None:
        stack = Stack(writer, out.aval.shape, flag, equation.source)
        with stack as variables:
            gap = writer.local.fresh("gap")
            writer.line(f"{gap} = {writer.element(source, variables)}")
            closed = f"({variables[-1]} != {variables[-2]}) & ({gap} == {zero})"
            writer.line(f"{stack.wrong} = {stack.wrong} | ({closed})")
            writer.line(f"{writer.element(target, variables)} = {gap} * {gap}")

    writes = [target, View.whole(flag, ())]
    position = scheduler.special(equation.primitive.name, emit, [source], writes, flops=out.aval.size)
    scheduler.define_view(out, target, position)
