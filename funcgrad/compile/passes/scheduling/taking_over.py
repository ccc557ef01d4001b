"""Changing arrays where they are: whose memory an equation may write into, and what must be kept of it first.

An array that nothing reads any more gives its memory to what is made of it. What has been said of its
elements but not computed yet (a slice of it, a cheap expression) is stored before they change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from funcgrad.compile.passes.scheduling.nests import squeezed
from funcgrad.compile.passes.scheduling.nodes import Node
from funcgrad.compile.passes.scheduling.schedule import Scheduler
from funcgrad.compile.passes.scheduling.views import Buffer, View
from funcgrad.ir.program import Atom, Literal, Var

if TYPE_CHECKING:
    from funcgrad.source import Source


def taken_over(scheduler: Scheduler, atom: Atom) -> View | None:
    """The memory of an array that only the present equation reads, to be changed; None where it must stay.

    Whoever changes it comes after its last reader.
    """
    if not isinstance(atom, Var) or scheduler.remaining.get(atom, 0) != 1:
        return None
    node = scheduler.nodes[atom]
    if node.source is not None or (node.nest is None and node.view is None):
        return None
    view = scheduler.stored_node(node)
    if not view.is_whole or view.buffer.role != "scratch" or view.buffer in scheduler.held:
        return None
    if any(named_alike(scheduler, v, atom, view.buffer) for v in scheduler.alive):
        return None
    keep_elements(scheduler, view.buffer, atom)
    return view


def named_alike(scheduler: Scheduler, v: Var, atom: Var, buffer: Buffer) -> bool:
    """Whether another variable that is still read is all of the same memory."""
    node = scheduler.nodes.get(v)
    return v is not atom and node is not None and node.view is not None and node.view.buffer is buffer


def keep_elements(scheduler: Scheduler, buffer: Buffer, gone: Var) -> None:
    """Store what is still to be read and would be computed from the elements of a block."""
    for v in list(scheduler.alive):
        node = scheduler.nodes.get(v)
        if v is gone or node is None or not reads_later(scheduler, node, buffer):
            continue
        if node.source is None:
            scheduler.stored_node(node)
        elif not v.aval.shape:
            scheduler.define_local(v, scheduler.scalar(v), len(scheduler.steps) - 1)
        else:
            view = scheduler.copied_atom(v)
            scheduler.define_view(v, view, len(scheduler.steps) - 1)


def reads_later(scheduler: Scheduler, node: Node, buffer: Buffer) -> bool:
    """Whether the elements of a node would be read from a block when somebody asks for them.

    What is computed again reads its operands where they are by then, which may be memory they have been given
    since the node was defined.
    """
    while node.source is not None:
        if isinstance(node.source, Literal):
            return False
        node = scheduler.nodes[node.source]
    if node.view is not None:
        return node.view.buffer is buffer
    if node.equation is None or not squeezed(node.aval.shape) or not scheduler.nodes.is_cheap(node):
        return False
    operands = [a for a in node.equation.inputs if isinstance(a, Var)]
    return any(reads_later(scheduler, scheduler.nodes[a], buffer) for a in operands)


def note_copy(scheduler: Scheduler, atom: Atom, source: Source | None) -> None:
    """Note that an array that lies in memory is copied so that it can be changed."""
    if (
        isinstance(atom, Var)
        and squeezed(atom.aval.shape)
        and scheduler.nodes.number_everywhere(atom) is None
    ):
        scheduler.copies.append((atom.aval, source))
