"""Results that are wrong for extreme arguments, put right without spoiling vectorised loops.

LLVM vectorises a loop with a call only if it knows the function for vectors. So the call, which is made for
every element, goes to a function that has variants for vectors (clang's `declare simd`, LLVM's "vector
function ABI"): they look at all elements at once and return the results as they are, unless one of the
arguments is extreme.
"""

from __future__ import annotations

from collections.abc import Callable

from funcgrad.compile.vecmath.body import Body, Value, typed
from funcgrad.compile.vecmath.formats import Format

# What the vectoriser must know to move the calls: they read and write nothing.
PURE = "nounwind willreturn memory(none)"


def mended(name: str, x: Value, limit: float, result: Value, exact: Callable[[Value], Value]) -> Value:
    """``result``, or where ``|x|`` is beyond the limit, what another function gives."""
    body, kind = x.body, x.kind
    base = f"funcgrad.mended.{name}.{kind}"
    body.helpers[base] = scalar_helper(body, base, limit, exact)
    for lanes in lane_counts(body.format):
        body.helpers[variant(base, lanes)] = vector_helper(body, base, limit, lanes)
    variants = ",".join(f"_ZGV_LLVM_N{n}vv_{base}({variant(base, n)})" for n in lane_counts(body.format))
    abi = f'"vector-function-abi-variant"="{variants}"'
    return body.emit(kind, f"call {kind} @{base}({typed(x)}, {typed(result)}) {PURE} {abi}")


def lane_counts(format: Format) -> tuple[int, ...]:
    """How many numbers the vectors of processors hold."""
    return tuple([bits // format.width for bits in (128, 256, 512)])


def variant(name: str, lanes: int) -> str:
    """The name of a function for vectors."""
    return f"{name}.{lanes}"


def scalar_helper(body: Body, name: str, limit: float, exact: Callable[[Value], Value]) -> str:
    """The choice for one number."""
    kind = body.format.real
    far = Body(body.format)
    result = exact(Value(far, kind, "%x"))
    body.declarations |= far.declarations
    body.declarations.add(f"declare {kind} @llvm.fabs.{body.format.name}({kind})")
    body.globals |= far.globals
    lines = "\n".join(far.lines)
    return f"""
define linkonce_odr {kind} @{name}({kind} %x, {kind} %near) noinline {PURE} {{
  %size = call {kind} @llvm.fabs.{body.format.name}({kind} %x)
  %extreme = fcmp ogt {kind} %size, {body.format.text(limit)}
  br i1 %extreme, label %far, label %done
done:
  ret {kind} %near
far:
{lines}
  ret {kind} {result.name}
}}"""


def vector_helper(body: Body, name: str, limit: float, lanes: int) -> str:
    """The choice for a vector: the results as they are, or element by element."""
    kind, kinds = body.format.real, f"<{lanes} x {body.format.real}>"
    short = f"v{lanes}{body.format.name}"
    body.declarations |= {
        f"declare {kinds} @llvm.fabs.{short}({kinds})",
        f"declare i1 @llvm.vector.reduce.or.v{lanes}i1(<{lanes} x i1>)",
    }
    limits = ", ".join([f"{kind} {body.format.text(limit)}"] * lanes)
    return f"""
define linkonce_odr {kinds} @{variant(name, lanes)}({kinds} %x, {kinds} %near) noinline {PURE} {{
entry:
  %size = call {kinds} @llvm.fabs.{short}({kinds} %x)
  %extreme = fcmp ogt {kinds} %size, <{limits}>
  %any = call i1 @llvm.vector.reduce.or.v{lanes}i1(<{lanes} x i1> %extreme)
  br i1 %any, label %far, label %done
done:
  ret {kinds} %near
far:
  %i = phi i32 [ 0, %entry ], [ %next, %far ]
  %results = phi {kinds} [ %near, %entry ], [ %mended, %far ]
  %xi = extractelement {kinds} %x, i32 %i
  %yi = extractelement {kinds} %results, i32 %i
  %zi = call {kind} @{name}({kind} %xi, {kind} %yi)
  %mended = insertelement {kinds} %results, {kind} %zi, i32 %i
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, {lanes}
  br i1 %more, label %far, label %end
end:
  ret {kinds} %mended
}}"""
