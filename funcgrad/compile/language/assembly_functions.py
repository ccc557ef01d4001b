"""Functions that kernels call and that stay functions there: Philox's cipher, and calls of NumPy's loops.

They are LLVM assembly, linked into a kernel that calls them, and not inlined: the cipher is long, and
compiling it once for each kernel is enough. Mixing them into the caller's loops would gain nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from funcgrad.compile.language.external import External, Overload
from funcgrad.compile.language.whole_numbers import ASSEMBLY
from funcgrad.ops.random.philox import MULTIPLIERS, ROUNDS, STEPS

WORD = (1 << 64) - 1


def external(name: str, *arguments: str) -> External:
    """One of them as emitted source calls it."""
    return External(name, (Overload(f"funcgrad.{name}", arguments, "none"),))


EXTERNALS = {
    # key (two words), number of the first block, stream, memory, how many words
    "philox": external("philox", *("u64",) * 4, "ptr", "i64"),
    # loop and its data, operand and result with their steps, how many elements
    "numpy_unary": external("numpy_unary", *("i64",) * 2, *("ptr", "i64") * 2, "i64"),
    "numpy_binary": external("numpy_binary", *("i64",) * 2, *("ptr", "i64") * 3, "i64"),
}
_SYMBOL = re.compile(r"@\"?funcgrad\.(" + "|".join([*EXTERNALS, *ASSEMBLY]) + r")\"?\(")


def outlined_modules(text: str) -> Iterator[str]:
    """The LLVM modules that define the functions a module calls."""
    for name in sorted(set(_SYMBOL.findall(text))):
        yield ASSEMBLY.get(name) or (philox_assembly() if name == "philox" else loop_assembly(name))


@cache
def philox_assembly() -> str:
    """``count`` words of a key, from a block on: `funcgrad.ops.random.philox` says the same in NumPy.

    >>> philox_assembly().count("mul i128")
    20
    """
    rounds: list[str] = []
    counter = ["%low", "%carry", "0", "%stream"]
    for k in range(ROUNDS):
        counter = _round(rounds, k, counter)
    whole, rest = _stores(counter)
    return _PHILOX.format(rounds="\n".join(rounds), whole="\n".join(whole), rest="\n".join(rest))


_PHILOX = """\
define linkonce_odr void @funcgrad.philox\
(i64 %k0, i64 %k1, i64 %start, i64 %stream, ptr %out, i64 %count) noinline nounwind {{
entry:
  %any = icmp sgt i64 %count, 0
  br i1 %any, label %block, label %end
block:
  %b = phi i64 [ 0, %entry ], [ %next, %whole ]
  %low = add i64 %start, %b
  %wrapped = icmp ult i64 %low, %start
  %carry = zext i1 %wrapped to i64
{rounds}
  %first = shl i64 %b, 2
  %left = sub i64 %count, %first
  %place = getelementptr i64, ptr %out, i64 %first
  %full = icmp sge i64 %left, 4
  br i1 %full, label %whole, label %rest
whole:
{whole}
  %next = add i64 %b, 1
  %more = icmp sgt i64 %left, 4
  br i1 %more, label %block, label %end
rest:
{rest}
  br label %end
end:
  ret void
}}"""


def _stores(counter: list[str]) -> tuple[list[str], list[str]]:
    """The lines that store all four words of a block, and those that store what is left of the last one."""
    whole = [f"  store i64 {counter[0]}, ptr %place"]
    rest = list(whole)
    for k in range(1, 4):
        place = f"getelementptr i64, ptr %place, i64 {k}"
        whole += [f"  %p{k} = {place}", f"  store i64 {counter[k]}, ptr %p{k}"]
    for k in range(1, 3):
        rest += [
            f"  %any{k} = icmp sgt i64 %left, {k}",
            f"  br i1 %any{k}, label %rest{k}, label %end",
            f"rest{k}:",
            f"  %r{k} = getelementptr i64, ptr %place, i64 {k}",
            f"  store i64 {counter[k]}, ptr %r{k}",
        ]
    return whole, rest


def _round(lines: list[str], k: int, counter: list[str]) -> list[str]:
    """Append a round; the names of the counter after it."""
    for m, (word, factor) in enumerate(zip((counter[0], counter[2]), MULTIPLIERS, strict=True)):
        name = f"r{k}.{m}"
        lines += [
            f"  %{name}x = zext i64 {word} to i128",
            f"  %{name}p = mul i128 %{name}x, {int(factor)}",
            f"  %{name}low = trunc i128 %{name}p to i64",
            f"  %{name}s = lshr i128 %{name}p, 64",
            f"  %{name}high = trunc i128 %{name}s to i64",
            f"  %{name}key = add i64 %k{m}, {int(STEPS[m]) * k & WORD}",
        ]
    lines += [
        f"  %r{k}.a = xor i64 %r{k}.1high, {counter[1]}",
        f"  %r{k}.c0 = xor i64 %r{k}.a, %r{k}.0key",
        f"  %r{k}.b = xor i64 %r{k}.0high, {counter[3]}",
        f"  %r{k}.c2 = xor i64 %r{k}.b, %r{k}.1key",
    ]
    return [f"%r{k}.c0", f"%r{k}.1low", f"%r{k}.c2", f"%r{k}.0low"]


def loop_assembly(name: str) -> str:
    """A call of one of NumPy's loops, which is given arrays of pointers, sizes and steps.

    >>> "define linkonce_odr void @funcgrad.numpy_unary(" in loop_assembly("numpy_unary")
    True
    """
    count = EXTERNALS[name].overloads[0].arguments.count("ptr")
    parameters = ", ".join(f"ptr %x{k}, i64 %s{k}" for k in range(count))
    arguments = f"i64 %function, i64 %data, {parameters}, i64 %n"
    lines = [
        f"define linkonce_odr void @funcgrad.{name}({arguments}) noinline nounwind {{",
        f"  %pointers = alloca [{count} x ptr]",
        f"  %steps = alloca [{count} x i64]",
        "  %sizes = alloca i64",
        "  store i64 %n, ptr %sizes",
    ]
    for k in range(count):
        lines += [
            f"  %p{k} = getelementptr ptr, ptr %pointers, i64 {k}",
            f"  store ptr %x{k}, ptr %p{k}",
            f"  %q{k} = getelementptr i64, ptr %steps, i64 {k}",
            f"  store i64 %s{k}, ptr %q{k}",
        ]
    return "\n".join(
        [
            *lines,
            "  %f = inttoptr i64 %function to ptr",
            "  %d = inttoptr i64 %data to ptr",
            "  call void %f(ptr %pointers, ptr %sizes, ptr %steps, ptr %d)",
            "  ret void",
            "}",
        ]
    )
