"""Functions whose graph is recorded by their first call and followed by every later one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

import funcgrad as fg
from funcgrad import tree
from funcgrad.compat.autograd.wrap_util import wraps
from funcgrad.extend import call_program
from funcgrad.types import Tree


def const_graph_unary(fun: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`fun`, run by its first call; later calls compute what was recorded then, whatever Python would do.

    >>> calls = []
    >>> square = const_graph_unary(lambda x: calls.append(x) or x**2)
    >>> print(square(2.0), square(3.0), len(calls))
    4.0 9.0 1
    """
    graph: list[tuple[Any, Any]] = []

    def maybe_recorded(x: Tree) -> Tree:
        if not graph:
            structures: list[Any] = []

            def flat(given: Tree) -> Tree:
                leaves, out_tree = tree.flatten(fun(given))
                structures.append(out_tree)
                return tuple(leaves)

            graph.append((fg.make_program(flat)(x), structures))
        program, structures = graph[0]
        return tree.unflatten(structures[0], call_program(program, *tree.leaves(x)))

    return maybe_recorded


def const_graph(fun: Callable[..., Any], *args: object, **kwargs: object) -> Callable[..., Any]:
    """`fun` of further arguments, whose graph is recorded by the first call."""
    partial_fun = functools.partial(fun, *args, **kwargs)
    recorded = const_graph_unary(lambda given: partial_fun(*given))

    @wraps(fun)
    def const_fun(*given: Tree) -> Tree:
        return recorded(given)

    found: Callable[..., Any] = const_fun
    return found


def full_graph(fun: Callable[..., Any], *args: object, **kwargs: object) -> NoReturn:
    """Refuse: what autograd lists as nodes is a Program here."""
    raise NotImplementedError(
        "autograd.misc.tracers.full_graph: funcgrad.make_program(fun)(*args) gives the operations of a "
        "function as a Program, whose equations can be read and drawn"
    )
