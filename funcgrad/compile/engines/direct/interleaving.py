"""Loops of which two vectors go through the body side by side.

A processor starts on the next turn of a loop while one waits for its results, as far as its window of a few
hundred instructions reaches. A body with many functions fills that window with one turn: where they wait for
one another, as in ``log(exp(tanh(sin(x))))``, units that could compute stand idle. LLVM takes two vectors a
turn by itself only in sums, and there only if it expects all values to stay in registers.

What is left of a loop that is no multiple of a turn goes element by element. So only parts of long loops,
``range(first, last)``, are asked for: a loop over all of an array, ``range(n)``, may be one vector long.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from funcgrad.compile.vecmath.registry import FUNCTIONS, instruction_count

WINDOW = 120
"""Instructions in functions from which turns of a loop hardly overlap by themselves; measured on Zen 4."""

WAITING = 5
"""Where less than this part of them is one chain, a turn has enough to do beside what waits."""


def takes_two_vectors(loop: ast.For) -> bool:
    """Whether a loop over a range is part of a long one and waits for itself."""
    return isinstance(loop.iter, ast.Call) and len(loop.iter.args) == 2 and waits_for_itself(loop.body)


def waits_for_itself(body: Sequence[ast.stmt]) -> bool:
    """Whether a loop's body calls many functions, and some on the results of others.

    >>> waits_for_itself(ast.parse("a = exp(sin(tanh(x[i]))); y[i] = log(sin(a))").body)
    True
    >>> waits_for_itself(ast.parse("y[i] = exp(tanh(x[i]))").body)
    False
    """
    finished: dict[str, int] = {}
    total = longest = 0
    for statement in body:
        if isinstance(statement, ast.For | ast.While | ast.If):
            return False
        if not isinstance(statement, ast.Assign | ast.AugAssign):
            continue
        parts = tuple(ast.walk(statement.value))
        own = sum([instruction_count(x.id) for x in parts if isinstance(x, ast.Name) and x.id in FUNCTIONS])
        total += own
        after = own + max([finished.get(x.id, 0) for x in parts if isinstance(x, ast.Name)], default=0)
        longest = max(longest, after)
        for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
            if isinstance(target, ast.Name):
                finished[target.id] = after
    return total >= WINDOW and WAITING * longest >= total
