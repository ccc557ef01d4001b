"""Texts that were written for several sizes of arguments, as one text for all of them.

A kernel's text depends on sizes in its numbers only. Where the texts for several sizes agree but for numbers,
each number that differs is written as an expression of the sizes that gives all of its values: ``n0 - 1``,
``n0 * n1``, ``1.0 / n0``. Where there is none, the sizes cannot vary.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement
from math import gcd, prod

import numpy as np

Sizes = Sequence[int]
"""The value of each independent size."""

_NUMBER = re.compile(r"(?<![\w.])(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)(?![\w.])")
_SHIFTS = (0, -1, 1, -2, 2, -3, 3, -4, 4, -5, 5, -6, 6)
_DIVISORS = (2, 3, 4, 8, 16, 4096)


def generalised(texts: Sequence[str], sizes: Sequence[Sizes], names: Sequence[str]) -> str | None:
    """One text for all sizes; None where the texts differ in more than numbers, or these follow no rule.

    >>> generalised(["x[:4] / 5.0", "x[:6] / 7.0", "x[:10] / 11.0"], [(5,), (7,), (11,)], ["n"])
    'x[:n - 1] / n'
    """
    if len(set(texts)) == 1:
        return texts[0]
    parts = [_NUMBER.split(text) for text in texts]
    if len({len(p) for p in parts}) != 1 or len({tuple(p[::2]) for p in parts}) != 1:
        return None
    found: list[str] = []
    known: dict[tuple[str, ...], str | None] = {}
    for k, pieces in enumerate(zip(*parts, strict=True)):
        if k % 2 == 0 or len(set(pieces)) == 1:
            found.append(pieces[0])
            continue
        if pieces not in known:
            known[pieces] = expression_of(pieces, sizes, names)
        text = known[pieces]
        if text is None:
            return None
        alone = found[-1].endswith(("(", "[", ", ", ":", "= ")) and parts[0][k + 1][:1] in (
            "",
            ")",
            "]",
            ",",
            "\n",
            ":",
        )
        found.append(text if alone or re.fullmatch(r"\w+", text) else f"({text})")
    return "".join(found)


def without_numbers(text: str) -> str:
    """The text with a mark in place of each number.

    >>> without_numbers("9 <= 20")
    '# <= #'
    """
    return _NUMBER.sub("#", text)


def expression_of(texts: Sequence[str], sizes: Sequence[Sizes], names: Sequence[str]) -> str | None:
    """An expression of the sizes with these values."""
    if all(text.isdigit() for text in texts):
        return whole_expression([int(text) for text in texts], sizes, names)
    values = [float(text) for text in texts]
    if all(v.is_integer() for v in values):
        found = whole_expression([int(v) for v in values], sizes, names)
        if found is not None:
            return found
    return ratio_expression(values, sizes, names)


def whole_expression(
    values: Sequence[int], sizes: Sequence[Sizes], names: Sequence[str], depth: int = 3
) -> str | None:
    """An expression of whole numbers: a sum, a product of sums, or a quotient that is rounded down."""
    if len(set(values)) == 1:
        return str(values[0])
    found = linear_expression(values, sizes, names)
    if found is not None or depth == 0:
        return found
    for first, text in factors(sizes, names):
        if all(f and v % f == 0 for v, f in zip(values, first, strict=True)):
            rest = whole_expression(
                [v // f for v, f in zip(values, first, strict=True)], sizes, names, depth - 1
            )
            if rest is not None:
                return f"{bracketed(text)} * {bracketed(rest)}"
    # A factor of a product may be half of a size: the coefficients of a spectrum of real numbers.
    for divisor in _DIVISORS if depth == 3 else (2,):
        for first, text in factors(sizes, names, range(-1, divisor + 1)):
            if all(f // divisor == v for v, f in zip(values, first, strict=True)):
                return f"{bracketed(text)} // {divisor}"
    common = gcd(*values)
    if common < 2:
        return None
    rest = whole_expression([v // common for v in values], sizes, names, depth)
    return None if rest is None else f"{bracketed(rest)} * {common}"


def factors(
    sizes: Sequence[Sizes], names: Sequence[str], shifts: Sequence[int] = _SHIFTS
) -> Iterator[tuple[list[int], str]]:
    """Sizes, a little more and a little less, and sums of two sizes: their values, and the text."""
    for shift in shifts:
        for g, name in enumerate(names):
            yield [s[g] + shift for s in sizes], shifted_text(name, shift)
    for g, h in combinations_with_replacement(range(len(names)), 2):
        if g != h:
            yield [s[g] + s[h] for s in sizes], f"{names[g]} + {names[h]}"


def linear_expression(values: Sequence[int], sizes: Sequence[Sizes], names: Sequence[str]) -> str | None:
    """A sum of multiples of sizes and a number."""
    if len(values) < len(names) + 2:
        return None
    table = np.array([[*s, 1] for s in sizes], float)
    solution, *_ = np.linalg.lstsq(table, np.array(values, float), rcond=None)
    whole = [round(float(x)) for x in solution]
    if any(
        sum(c * n for c, n in zip(whole, [*s, 1], strict=True)) != v
        for v, s in zip(values, sizes, strict=True)
    ):
        return None
    terms = [
        (c, name if abs(c) == 1 else f"{abs(c)} * {name}") for c, name in zip(whole, names, strict=False) if c
    ]
    terms.sort(key=lambda term: term[0] < 0)
    if whole[-1]:
        terms.append((whole[-1], str(abs(whole[-1]))))
    first = ("-" if terms[0][0] < 0 else "") + terms[0][1]
    return first + "".join([(" - " if c < 0 else " + ") + text for c, text in terms[1:]])


def ratio_expression(values: Sequence[float], sizes: Sequence[Sizes], names: Sequence[str]) -> str | None:
    """A size and a number; or a number over a product of sizes, times one, or over its square root."""
    for g, name in enumerate(names):
        rest = {round(v - s[g], 12) for v, s in zip(values, sizes, strict=True)}
        shift = rest.pop()
        exact = [abs(s[g] + shift - v) <= 4e-16 * abs(v) for v, s in zip(values, sizes, strict=True)]
        if not rest and shift and all(exact):
            return f"{name} {'+' if shift > 0 else '-'} {abs(shift)!r}"
    pool = [(f, text) for f, text in factors(sizes, names, (0, -1, 1, -2, 2)) if min(f) > 0]
    for degree in (1, 2, 3):
        for chosen in combinations_with_replacement(pool, degree):
            product = [prod(fs) for fs in zip(*[f for f, _ in chosen], strict=True)]
            text = " * ".join([bracketed(t) for _, t in chosen])
            under = f"({text})" if degree > 1 else text
            for form, scale in (
                (f"{{}} / {bracketed(under)}", [1.0 / p for p in product]),
                (f"{{}} * {under}", [float(p) for p in product]),
                (f"{{}} / math.sqrt({text})", [1.0 / p**0.5 for p in product]),
                (f"{{}} * math.sqrt({text})", [p**0.5 for p in product]),
            ):
                number = constant_of([v / s for v, s in zip(values, scale, strict=True)])
                if number is not None:
                    return form.format(number)
    return None


def constant_of(values: Sequence[float]) -> str | None:
    """A number that all of these are, up to rounding: the shortest one."""
    first = values[0]
    if not np.isfinite(first) or not first or any(abs(v - first) > 1e-15 * abs(first) for v in values):
        return None
    short = min((float(f"{v:.13g}") for v in values), key=lambda v: len(repr(v)))
    return repr(short if all(abs(v - short) <= 1e-15 * abs(short) for v in values) else first)


def shifted_text(name: str, shift: int) -> str:
    """A name, more or less a number."""
    return name if not shift else f"{name} {'+' if shift > 0 else '-'} {abs(shift)}"


def bracketed(text: str) -> str:
    """An expression as a factor."""
    return text if re.fullmatch(r"\w+(?: \* \w+)*|\([^()]*\)", text) else f"({text})"
