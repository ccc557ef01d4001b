"""Calls by address as calls of NumPy: products of BLAS, loops of NumPy's, and what depends on dtypes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from funcgrad.compile.export.indices import Indexing
from funcgrad.compile.passes.scheduling.views import Buffer

PRODUCT = re.compile(r"\b[ds](gem[mv])\((.*)\)\s*$")
_TRANSPOSED = "112"


_UNARY = re.compile(r"\bnumpy_(unary|binary)\((.*)\)\s*$")
_ORDER = re.compile(r"\border_bits\((\w+)\[")
_PHILOX = re.compile(r"\bphilox\((.*)\)\s*$")
_NORMAL = re.compile(r"\bnormal_(cosine|sine)\((.*)\)\s*$")
"""Of numbers of 24 digits; what is written out takes 53."""

CALLED = re.compile(
    r"\b(?:normal_cosine|normal_sine|[ds]gem[mv]|numpy_unary|numpy_binary|order_bits|philox)\("
)
"""What is rewritten here."""


def with_words_of_numpy(text: str, buffers: Mapping[str, Buffer], indexing: Indexing) -> str:
    """A line of the kernel language in which something is `CALLED`."""
    match = PRODUCT.search(text)
    if match is not None:
        return text[: match.start()] + product_text(match, buffers, indexing)
    match = _UNARY.search(text)
    if match is not None:
        return text[: match.start()] + loop_text(split_arguments(match[2]))
    match = _PHILOX.search(text)
    if match is not None:
        out = re.sub(r"\W.*", "", split_arguments(match[1])[4].removeprefix("shifted("))
        halves = out in buffers and buffers[out].dtype.itemsize == 4
        return text.replace("philox(", "philox_halves(") if halves else text
    match = _NORMAL.search(text)
    if match is not None:
        target = buffers.get(text.strip().partition("[")[0])
        if target is not None and target.dtype.itemsize == 4:
            radius, digits = split_arguments(match[2])
            made = f"np.float32(normal_{match[1]}({radius}, {digits} * {2**29}.0))"
            return text[: match.start()] + made
        return text
    return _ORDER.sub(lambda found: f"{order_of(buffers.get(found[1]))}({found[1]}[", text)


def order_of(buffer: Buffer | None) -> str:
    """The function that orders the elements of an array."""
    kind = "f" if buffer is None else buffer.dtype.kind
    return {"f": "order_bits", "u": "order_of_unsigned"}.get(kind, "order_of_integers")


def loop_text(operands: list[str]) -> str:
    """A call of one of NumPy's loops, on arrays that lie one element after the other."""
    function, _, *rest, count = operands
    *given, (out, _) = list(zip(rest[::2], rest[1::2], strict=True))
    texts = [f"{x}[:{count}]" if step != "0" else f"{x}[0]" for x, step in given]
    return f"{out}[:{count}] = {function}({', '.join(texts)})"


def product_text(match: re.Match[str], buffers: Mapping[str, Buffer], indexing: Indexing) -> str:
    """A call that `PRODUCT` has found, as text of NumPy."""
    kind, text = match.groups()
    operands = split_arguments(text)

    def factor(x: str, rows: str, columns: str, leading: str, order: str) -> str:
        """A matrix in memory, or the transpose of one."""
        transposed = order == _TRANSPOSED
        r, c = (columns, rows) if transposed else (rows, columns)
        buffer = buffers.get(x)
        if buffer is not None and buffer.shape == (int(r), int(c)) and leading == c:
            found = indexing.whole(buffer, f"rows_of({x}, {r}, {c}, {leading})")
        else:
            found = f"rows_of({x}, {r}, {c}, {leading})"
        return f"{found}.T" if transposed else found

    if kind == "gemm":
        _, _, a_order, b_order, m, n, k, _, a, a_leading, b, b_leading, _, c, _ = operands
        left, right = factor(a, m, k, a_leading, a_order), factor(b, k, n, b_leading, b_order)
        out = buffers.get(c)
        if out is not None and out.shape == (int(m), int(n)):
            target = indexing.whole(out, f"{c}.reshape(({m}, {n}))")
            return f"np.dot({left}, {right}, {target})"
        return f"product({left}, {right}, {c})"
    _, _, order, m, n, _, a, leading, x, step, _, y, _ = operands
    rows, columns = (n, m) if order == _TRANSPOSED else (m, n)
    vector, out = buffers.get(x), buffers.get(y)
    left = factor(a, rows, columns, leading, order)
    right = (
        x
        if vector is not None and vector.shape == (int(columns),) and step == "1"
        else f"every({x}, {columns}, {step})"
    )
    if out is not None and out.shape == (int(rows),):
        return f"np.dot({left}, {right}, {y})"
    return f"product_with_vector({left}, {right}, {y})"


def split_arguments(text: str) -> list[str]:
    """The arguments of a call."""
    found, depth, start = [], 0, 0
    for k, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            found.append(text[start:k].strip())
            start = k + 1
    return [*found, text[start:].strip()]
