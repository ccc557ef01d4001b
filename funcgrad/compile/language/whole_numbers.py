"""Words of whole numbers that take a loop or an instruction of their own: powers, divisors, bits set.

They are LLVM assembly of 64-bit words, as the functions of `assembly_functions` are; what calls them brings
results back to their width.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from funcgrad.compile.language.external import External, Overload, external_word
from funcgrad.compile.language.word import Elements, Sample, Word
from funcgrad.types import Number

WIDTH = 1 << 64


def integer_power(x: Number, n: Number) -> int:
    """``x ** n`` for n of at least 0, in 64 bits that wrap.

    >>> integer_power(3, 4), integer_power(-1, 5), integer_power(2, 64)
    (81, -1, 0)
    """
    found = pow(int(x), int(n), WIDTH)
    return found - WIDTH if found >= WIDTH // 2 else found


def common_divisor(x: Number, y: Number) -> int:
    """The greatest common divisor, 0 of two zeros.

    >>> common_divisor(12, -18), common_divisor(0, 0)
    (6, 0)
    """
    return math.gcd(int(x), int(y))


def bits_set(x: Number) -> int:
    """How many bits of the absolute value are set.

    >>> bits_set(-7), bits_set(0)
    (3, 0)
    """
    return abs(int(x)).bit_count()


ASSEMBLY = {
    # By squaring: the lowest bit of what is left of n says whether this square is a factor.
    "integer_power": """\
define linkonce_odr i64 @funcgrad.integer_power(i64 %x, i64 %n) noinline nounwind memory(none) {
entry:
  br label %loop
loop:
  %base = phi i64 [ %x, %entry ], [ %square, %loop ]
  %left = phi i64 [ %n, %entry ], [ %rest, %loop ]
  %power = phi i64 [ 1, %entry ], [ %next, %loop ]
  %odd = trunc i64 %left to i1
  %factor = select i1 %odd, i64 %base, i64 1
  %next = mul i64 %power, %factor
  %square = mul i64 %base, %base
  %rest = lshr i64 %left, 1
  %more = icmp ne i64 %rest, 0
  br i1 %more, label %loop, label %end
end:
  ret i64 %next
}""",
    # Euclid's algorithm.
    "common_divisor": """\
declare i64 @llvm.abs.i64(i64, i1)
define linkonce_odr i64 @funcgrad.common_divisor(i64 %x, i64 %y) noinline nounwind memory(none) {
entry:
  %first = call i64 @llvm.abs.i64(i64 %x, i1 false)
  %second = call i64 @llvm.abs.i64(i64 %y, i1 false)
  br label %loop
loop:
  %a = phi i64 [ %first, %entry ], [ %b, %step ]
  %b = phi i64 [ %second, %entry ], [ %rest, %step ]
  %done = icmp eq i64 %b, 0
  br i1 %done, label %end, label %step
step:
  %rest = urem i64 %a, %b
  br label %loop
end:
  ret i64 %a
}""",
    "bits_set": """\
declare i64 @llvm.abs.i64(i64, i1)
declare i64 @llvm.ctpop.i64(i64)
define linkonce_odr i64 @funcgrad.bits_set(i64 %x) noinline nounwind memory(none) {
  %size = call i64 @llvm.abs.i64(i64 %x, i1 false)
  %count = call i64 @llvm.ctpop.i64(i64 %size)
  ret i64 %count
}""",
}
"""The functions by name, each a module of its own."""


def whole_word(meaning: Callable[..., Any], first: tuple[int, ...], *second: tuple[int, ...]) -> Word:
    """The row of one of them, with samples of its operands."""
    name: str = getattr(meaning, "__name__", "")
    operands = ("i64",) * (1 + len(second))
    external = External(name, (Overload(f"funcgrad.{name}", operands, "i64"),))
    arrays = tuple([Elements("i64", values) for values in (first, *second)])
    call = f"out[i] = {name}({', '.join(['a[i]', 'b[i]'][: len(operands)])})"
    words = f"{', '.join(operands)} -> i64"
    return external_word(external, words, meaning, (Sample(call, arrays, "i64"),), meaning.__doc__ or "")


WHOLE_WORDS: tuple[Word, ...] = (
    whole_word(integer_power, (3, -1, 2, 0, 5, -3), (4, 5, 64, 0, 0, 41)),
    whole_word(common_divisor, (12, 0, 7, -18, 0), (-18, 5, 13, 12, 0)),
    whole_word(bits_set, (0, 1, -7, 255, 1 << 40)),
)
"""Words that these functions give."""
