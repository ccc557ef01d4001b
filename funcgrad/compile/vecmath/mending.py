"""Results that are wrong for extreme arguments, put right without spoiling vectorised loops.

LLVM vectorises a loop with a call only if it knows the function for vectors. So the call, which is made for
every element, goes to a function that has variants for vectors (clang's `declare simd`, LLVM's "vector
function ABI"): they look at all elements at once and return the results as they are, unless one of the
arguments is extreme.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import llvmlite.binding as llvm

from funcgrad.compile.vecmath.body import Body, Value, typed
from funcgrad.compile.vecmath.formats import Format

# What the vectoriser must know to move the calls: they read and write nothing.
PURE = "nounwind willreturn memory(none)"


def mended(name: str, x: Value, limit: float, result: Value, exact: Callable[[Value], Value]) -> Value:
    """``result``, or where ``|x|`` is beyond the limit, what another function gives."""
    body, kind = x.body, x.kind
    base = f"funcgrad.mended.{name}.{kind}"
    body.helpers[f"{base}.all"] = helper_for_all(body, base, limit, exact)
    body.helpers[base] = scalar_helper(body, base, limit)
    for lanes in lane_counts(body.format):
        body.helpers[variant(base, lanes)] = vector_helper(body, base, limit, lanes)
    variants = ",".join(f"_ZGV_LLVM_N{n}vv_{base}({variant(base, n)})" for n in lane_counts(body.format))
    abi = f'"vector-function-abi-variant"="{variants}"'
    return body.emit(kind, f"call {kind} @{base}({typed(x)}, {typed(result)}) {PURE} {abi}")


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


def helper_for_all(body: Body, name: str, limit: float, exact: Callable[[Value], Value]) -> str:
    """Mends results in memory. It hardly ever runs, so the compiler should not spend time on it."""
    kind = body.format.real
    far = Body(body.format)
    result = exact(Value(far, kind, "%x"))
    body.declarations |= far.declarations
    body.declarations.add(f"declare {kind} @llvm.fabs.{body.format.name}({kind})")
    body.globals |= far.globals
    lines = "\n".join(far.lines)
    return f"""
define linkonce_odr void @{name}.all(ptr %xs, ptr %ys, i32 %count) noinline optnone cold nounwind {{
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %done ]
  %next = add i32 %i, 1
  %px = getelementptr {kind}, ptr %xs, i32 %i
  %x = load {kind}, ptr %px
  %size = call {kind} @llvm.fabs.{body.format.name}({kind} %x)
  %extreme = fcmp ogt {kind} %size, {body.format.text(limit)}
  br i1 %extreme, label %far, label %done
far:
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


def scalar_helper(body: Body, name: str, limit: float) -> str:
    """The choice for one number."""
    kind = body.format.real
    test = f"%any = fcmp ogt {kind} %size, {body.format.text(limit)}"
    return choice(name, name, kind, body.format.name, 1, test)


def vector_helper(body: Body, name: str, limit: float, lanes: int) -> str:
    """The choice for a vector."""
    kind, kinds = body.format.real, f"<{lanes} x {body.format.real}>"
    reduced = f"llvm.vector.reduce.or.v{lanes}i1(<{lanes} x i1>"
    body.declarations |= {
        f"declare {kinds} @llvm.fabs.v{lanes}{body.format.name}({kinds})",
        f"declare i1 @{reduced})",
    }
    limits = ", ".join([f"{kind} {body.format.text(limit)}"] * lanes)
    test = f"%extreme = fcmp ogt {kinds} %size, <{limits}>\n  %any = call i1 @{reduced} %extreme)"
    return choice(name, variant(name, lanes), kinds, f"v{lanes}{body.format.name}", lanes, test)


def choice(base: str, name: str, kinds: str, short: str, lanes: int, test: str) -> str:
    """The results as they are, or mended."""
    return f"""
define linkonce_odr {kinds} @{name}({kinds} %x, {kinds} %near) noinline {PURE} {{
  %size = call {kinds} @llvm.fabs.{short}({kinds} %x)
  {test}
  br i1 %any, label %far, label %done
done:
  ret {kinds} %near
far:
  %xs = alloca {kinds}
  %ys = alloca {kinds}
  store {kinds} %x, ptr %xs
  store {kinds} %near, ptr %ys
  call void @{base}.all(ptr %xs, ptr %ys, i32 {lanes})
  %mended = load {kinds}, ptr %ys
  ret {kinds} %mended
}}"""
