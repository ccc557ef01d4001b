"""Results that are wrong for extreme arguments, put right without spoiling vectorised loops.

LLVM vectorises a loop with a call only if it knows the function for vectors. So the call, which is made for
every element, goes to a function that has variants for vectors (clang's `declare simd`, LLVM's "vector
function ABI"): they look at all elements at once and return the results as they are, unless one of the
arguments is extreme. The one for numbers is inlined once loops are vectors: a call would take the registers
of a loop that stays one of numbers, all of which the caller saves.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import llvmlite.binding as llvm

from funcgrad.compile.engines.object_code import LAST
from funcgrad.compile.vecmath.body import Body, Value, typed
from funcgrad.compile.vecmath.formats import Format

# What the vectoriser must know to move the calls: they read and write nothing.
PURE = "nounwind willreturn memory(none)"

Exact = Callable[..., Value]


def mended(name: str, size: Value, limit: float, result: Value, exact: Exact, *arguments: Value) -> Value:
    """``result``, or where ``size`` is beyond the limit, what another function of the arguments gives."""
    body, kind = result.body, result.kind
    base, count = f"funcgrad.mended.{name}.{kind}", len(arguments)
    body.helpers[f"{base}.all"] = helper_for_all(body, base, limit, exact, count)
    body.helpers[base] = scalar_helper(body, base, limit, count)
    for lanes in lane_counts(body.format):
        body.helpers[variant(base, lanes)] = vector_helper(body, base, limit, count, lanes)
    shape = "v" * (count + 2)
    variants = ",".join(
        f"_ZGV_LLVM_N{lanes}{shape}_{base}({variant(base, lanes)})" for lanes in lane_counts(body.format)
    )
    abi = f'"vector-function-abi-variant"="{variants}"'
    operands = ", ".join(map(typed, (size, result, *arguments)))
    return body.emit(kind, f"call {kind} @{base}({operands}) {PURE} {abi}")


@cache
def vector_bits() -> tuple[int, ...]:
    """The widths of this processor's vectors that LLVM's vectoriser is likely to choose."""
    features = llvm.get_host_cpu_features()
    if features.get("avx512f"):
        # Of Intel's processors LLVM uses half the width unless told otherwise.
        return (512,) if llvm.get_host_cpu_name().startswith("znver") else (256, 512)
    return (256,) if features.get("avx") else (128,)


def lane_counts(format: Format) -> tuple[int, ...]:
    """How many numbers vectors hold, those of loops with numbers of twice the width included."""
    return tuple(sorted({bits // width for bits in vector_bits() for width in (format.width, 64)}))


def variant(name: str, lanes: int) -> str:
    """The name of a function for vectors."""
    return f"{name}.{lanes}"


def helper_for_all(body: Body, name: str, limit: float, exact: Exact, count: int) -> str:
    """Mends results in memory. It hardly ever runs, so the compiler should not spend time on it."""
    kind = body.format.real
    far = Body(body.format)
    result = exact(*[Value(far, kind, f"%x{j}") for j in range(count)])
    body.declarations |= far.declarations
    body.globals |= far.globals
    pointers = "".join(f", ptr %xs{j}" for j in range(count))
    loads = "\n".join(
        f"  %px{j} = getelementptr {kind}, ptr %xs{j}, i32 %i\n  %x{j} = load {kind}, ptr %px{j}"
        for j in range(count)
    )
    lines = "\n".join(far.lines)
    return f"""
define linkonce_odr void @{name}.all(i32 %count, ptr %sizes, ptr %ys{pointers}) noinline optnone cold
nounwind {{ entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %done ]
  %next = add i32 %i, 1
  %ps = getelementptr {kind}, ptr %sizes, i32 %i
  %size = load {kind}, ptr %ps
  %extreme = fcmp ogt {kind} %size, {body.format.text(limit)}
  br i1 %extreme, label %far, label %done
far:
{loads}
{lines}
  %py = getelementptr {kind}, ptr %ys, i32 %i
  store {kind} {result.name}, ptr %py
  br label %done
done:
  %more = icmp slt i32 %next, %count
  br i1 %more, label %loop, label %end
end:
  ret void
}}"""


def scalar_helper(body: Body, name: str, limit: float, count: int) -> str:
    """The choice for one number."""
    kind = body.format.real
    test = f"%any = fcmp ogt {kind} %size, {body.format.text(limit)}"
    pointers = ", ptr" * (count + 2)
    return choice(name, name, kind, 1, test, count, f"{LAST}declare void @{name}.all(i32{pointers})")


def vector_helper(body: Body, name: str, limit: float, count: int, lanes: int) -> str:
    """The choice for a vector."""
    kind, kinds = body.format.real, f"<{lanes} x {body.format.real}>"
    reduced = f"llvm.vector.reduce.or.v{lanes}i1(<{lanes} x i1>"
    body.declarations.add(f"declare i1 @{reduced})")
    limits = ", ".join([f"{kind} {body.format.text(limit)}"] * lanes)
    test = f"%extreme = fcmp ogt {kinds} %size, <{limits}>\n  %any = call i1 @{reduced} %extreme)"
    return choice(name, variant(name, lanes), kinds, lanes, test, count)


def choice(base: str, name: str, kinds: str, lanes: int, test: str, count: int, last: str = "") -> str:
    """The results as they are, or mended; what is inlined `last` has its memory from the beginning on."""
    values = ["size", "near", *[f"x{j}" for j in range(count)]]
    parameters = ", ".join(f"{kinds} %{value}" for value in values)
    memory = "\n".join(f"  %p{v} = alloca {kinds}" for v in values)
    stores = "\n".join(f"  store {kinds} %{v}, ptr %p{v}" for v in values)
    pointers = "".join(f", ptr %p{v}" for v in values)
    return f"""
define linkonce_odr {kinds} @{name}({parameters}) noinline {PURE} {{{last}
{memory if last else ""}
  {test}
  br i1 %any, label %far, label %done
done:
  ret {kinds} %near
far:
{"" if last else memory}
{stores}
  call void @{base}.all(i32 {lanes}{pointers})
  %mended = load {kinds}, ptr %pnear
  ret {kinds} %mended
}}"""
