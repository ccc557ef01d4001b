"""Products that a zero makes zero: each asks for it by a comparison of its own.

``select(x == 0, x, x * y)`` is how a cotangent that a selection has set to zero is multiplied. Of the tests
of one ``x`` LLVM makes one, and what several instructions need goes by way of flags and a general register to
a mask: eleven cycles where a product takes four, one after another in the chain of a backward loop. What one
instruction needs is a mask at once. So the tests of one number differ: where it is NaN ``x * y`` is as well,
and it makes no difference whether NaN counts as zero.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence

from funcgrad.compile.engines.direct.writer import Writer
from funcgrad.compile.language.values import Value, constant

PREDICATES = ("oeq", "ueq")


class ZeroTests:
    """The tests for zero of one function, by what they are of."""

    def __init__(self) -> None:
        self.positives: dict[str, str] = {}
        self.count: Counter[str] = Counter()

    def assigned(self, name: str, value: ast.expr) -> None:
        """Remember which variable is the negative of another: LLVM tests that one in its place."""
        if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
            positive = ast.unparse(value.operand)
            self.positives[name] = self.positives.get(positive, positive)

    def of(self, writer: Writer, node: ast.expr, x: Value) -> Value:
        """Whether a real number, written as `node`, is zero: by another comparison than the last time."""
        name = ast.unparse(node)
        name = self.positives.get(name, name)
        predicate = PREDICATES[self.count[name] % len(PREDICATES)]
        self.count[name] += 1
        return writer.compare(f"fcmp {predicate}", x, constant(str(x.type), 0.0))


def kept_if_zero(arguments: Sequence[ast.expr]) -> ast.expr | None:
    """The ``x`` of ``select(x == 0, x, ...)``; None of other arguments."""
    test, chosen = arguments[:2]
    if not isinstance(test, ast.Compare) or [type(operator) for operator in test.ops] != [ast.Eq]:
        return None
    (zero,) = test.comparators
    same = (
        isinstance(zero, ast.Constant) and zero.value == 0 and ast.unparse(test.left) == ast.unparse(chosen)
    )
    return chosen if same else None
