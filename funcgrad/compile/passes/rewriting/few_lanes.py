"""Batches of a few rows that go through long loops of products: recurrent networks over a batch of sequences.

A trip is too short for threads to share, but its products take the rows of a batch one by one, and so do the
trips on the way back: tiles of a few rows make all trips by themselves (`tiles_of_lanes`). Knows when that is
worth its while, and of how many rows a tile is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from funcgrad.compile.passes.arranging.dividing import BYTES_PER_SECOND, FLOPS_PER_SECOND, SHORTEST
from funcgrad.ir.program import Equation, Program
from funcgrad.ops.contraction import DotGeneral
from funcgrad.transforms.control.scan import Scan

FEWEST_TRIPS = 4
"""Trips of a loop from which what comes before and after all of them is little."""

FEWEST_ROWS, MOST_ROWS = 4, 16
"""Rows of a tile: BLAS takes longer for each of fewer, and of more there would be fewer tiles to share."""

LARGEST_PRODUCT = 1_000_000
"""Multiplications of a product in a trip up to which BLAS rearranges no operand: each tile would do it."""

WORTH_FEWER = 1.1
"""By how much longer two threads may take for smaller tiles, which more threads can share."""

FLOPS_OF_PRODUCTS = 10 * FLOPS_PER_SECOND

LARGEST_PART = 0.03
"""What may be done for every tile instead of once, or to turn results round, beside all work of the loops."""


def lanes_of_products(e: Equation) -> set[int]:
    """How many rows there may be that a loop carries and its trips multiply by matrices; none elsewhere."""
    if not isinstance(e.primitive, Scan) or e.primitive.length < FEWEST_TRIPS:
        return set()
    if not any(True for _ in products_in(e.primitive.body)):
        return set()
    return {x.aval.shape[0] for x in e.inputs[: e.primitive.n_carry] if x.aval.ndim >= 2}


def products_in(program: Program) -> Iterator[Equation]:
    """The products of matrices of a body, inner loops included."""
    for e in program.equations:
        if isinstance(e.primitive, DotGeneral):
            yield e
        elif isinstance(e.primitive, Scan):
            yield from products_in(e.primitive.body)


def rows_of_tile(count: int) -> int:
    """How many rows of a batch a tile has; 0 where no such tiles make up the batch.

    >>> [rows_of_tile(n) for n in (8, 16, 50, 64, 17)]
    [4, 8, 5, 8, 0]
    """
    found = [r for r in range(FEWEST_ROWS, MOST_ROWS + 1) if count % r == 0 and count // r >= 2]
    if not found:
        return 0
    # A tile takes as long as its rows and one more; the slower of two threads has the odd one.
    taken = {r: math.ceil(count / r / 2) * (r + 1) for r in found}
    return min([r for r in found if taken[r] <= WORTH_FEWER * min(taken.values())])


def seconds_of(e: Equation) -> float:
    """The time of an equation with all trips of a loop, by rule of thumb."""
    if isinstance(e.primitive, Scan):
        return e.primitive.length * sum(seconds_of(inner) for inner in e.primitive.body.equations)
    rate = FLOPS_OF_PRODUCTS if isinstance(e.primitive, DotGeneral) else FLOPS_PER_SECOND
    return float(e.primitive.flops([x.aval for x in e.inputs], [v.aval for v in e.outputs])) / rate


def few_lanes_pay(inside: Sequence[Equation], tile: int, count: int, turned: int, alone: float) -> bool:
    """Whether tiles of a batch of few rows are shared with gain, and take one thread no longer.

    `turned` is how many bytes of results lie otherwise when they leave the tiles, and `alone` the seconds of
    what is the same for all rows and hence done by each tile.
    """
    seconds = sum(map(seconds_of, inside))
    scans = [e.primitive for e in inside if isinstance(e.primitive, Scan)]
    largest = max([multiplications(e) for scan in scans for e in products_in(scan.body)], default=0)
    again = alone * (count // tile - 1) + 2 * turned / BYTES_PER_SECOND
    return (
        seconds >= 2 * SHORTEST
        and largest * tile // count <= LARGEST_PRODUCT
        and again <= LARGEST_PART * seconds
    )


def multiplications(e: Equation) -> int:
    """How many numbers a product multiplies."""
    labels = e.primitive.labels
    sizes = dict(zip(labels.x, e.inputs[0].aval.shape, strict=True))
    sizes.update(zip(labels.y, e.inputs[1].aval.shape, strict=True))
    return math.prod(sizes.values())
