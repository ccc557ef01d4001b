"""Which values a checkpointed function keeps for the backward pass, as ``fg.checkpoint_policies``.

A policy is asked for each operation inside, ``policy(primitive, *avals, **params)``, whether its results are
kept. It decides memory and time, and no result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from funcgrad import tree
from funcgrad.ir.program import Equation, Program
from funcgrad.ops.contraction import DotGeneral
from funcgrad.ops.signal.convolution import Convolution
from funcgrad.tracing.lists import asoperand
from funcgrad.transforms.checkpoint import Named
from funcgrad.types import AnyPrimitive, Anything, Tree

__all__ = [
    "checkpoint_dots",
    "checkpoint_dots_with_no_batch_dims",
    "dots_saveable",
    "dots_with_no_batch_dims_saveable",
    "everything_saveable",
    "nothing_saveable",
    "save_any_names_but_these",
    "save_anything_except_these_names",
    "save_from_both_policies",
    "save_only_these_names",
]

Policy = Callable[..., bool]


def checkpoint_name(x: object, name: str) -> Tree:
    """`x`, or a tree of arrays, under a name by which policies know it.

    >>> policy = fg.checkpoint_policies.save_only_these_names("hidden")
    >>> @fg.checkpoint(policy=policy)
    ... def f(x):
    ...     return np.sin(fg.checkpoint_name(np.exp(x), "hidden"))
    >>> print(fg.grad(f)(0.0) == np.cos(1.0))
    True
    """
    return tree.map(lambda leaf: Named(name).bind(asoperand(leaf)), x)


def everything_saveable(primitive: object, *avals: object, **params: object) -> bool:
    """Keep everything, as without `checkpoint`."""
    return True


def nothing_saveable(primitive: object, *avals: object, **params: object) -> bool:
    """Keep nothing, as without a policy."""
    return False


def dots_saveable(primitive: object, *avals: object, **params: object) -> bool:
    """Keep the results of products of matrices and of convolutions."""
    return isinstance(primitive, DotGeneral | Convolution)


def dots_with_no_batch_dims_saveable(primitive: object, *avals: object, **params: object) -> bool:
    """Keep the results of products of matrices that are no stacks."""
    return isinstance(primitive, DotGeneral) and not primitive.labels.batch[0]


checkpoint_dots = dots_saveable
checkpoint_dots_with_no_batch_dims = dots_with_no_batch_dims_saveable


class Names:
    """Whether a value that `checkpoint_name` has named is kept."""

    __slots__ = ("_kept", "_others")

    def __init__(self, kept: frozenset[str] | None, others: frozenset[str]) -> None:
        self._kept = kept
        self._others = others

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Names) and (self._kept, self._others) == (other._kept, other._others)

    def __hash__(self) -> int:
        return hash((self._kept, self._others))

    def __call__(self, primitive: AnyPrimitive, *avals: Anything, **params: Anything) -> bool:
        """Whether it is one of those that are kept, or none of the others."""
        if not isinstance(primitive, Named):
            return False
        return (
            primitive.label in self._kept if self._kept is not None else primitive.label not in self._others
        )


def save_only_these_names(*names: str) -> Policy:
    """Keep the values of these names."""
    return Names(frozenset(names), frozenset())


def save_any_names_but_these(*names: str) -> Policy:
    """Keep the values of other names."""
    return Names(None, frozenset(names))


class AllBut:
    """Whether a value is kept that has none of some names."""

    __slots__ = ("_names",)

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AllBut) and self._names == other._names

    def __hash__(self) -> int:
        return hash(self._names)

    def __call__(self, primitive: AnyPrimitive, *avals: Anything, **params: Anything) -> bool:
        """Whether it is."""
        return not isinstance(primitive, Named) or primitive.label not in self._names


def save_anything_except_these_names(*names: str) -> Policy:
    """Keep everything but the values of these names."""
    return AllBut(frozenset(names))


class Either:
    """Whether one of two policies keeps a value."""

    __slots__ = ("_policies",)

    def __init__(self, *policies: Policy) -> None:
        self._policies = policies

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Either) and self._policies == other._policies

    def __hash__(self) -> int:
        return hash(self._policies)

    def __call__(self, primitive: AnyPrimitive, *avals: Anything, **params: Anything) -> bool:
        """Whether one of them does."""
        return any(policy(primitive, *avals, **params) for policy in self._policies)


def save_from_both_policies(policy_1: Policy, policy_2: Policy) -> Policy:
    """Keep what one of two policies keeps."""
    return Either(policy_1, policy_2)


def keeping(program: Program, policy: Policy) -> Program:
    """The Program with the values that the policy keeps as further outputs."""
    kept = [v for e in program.equations if asked(policy, e) for v in e.outputs]
    outputs = (*program.outputs, *kept)
    return Program(program.inputs, program.captured, program.equations, outputs, program.name)


def asked(policy: Policy, equation: Equation) -> bool:
    """What a policy says of an operation."""
    primitive = equation.primitive
    avals = [x.aval for x in equation.inputs]
    params = {name: getattr(primitive, name) for name in primitive.parameters}
    return bool(policy(primitive, *avals, **params))


def __getattr__(name: str) -> NoReturn:
    """Say what there is instead of a name that is not here."""
    if name.startswith(("offload", "save_and_offload")):
        raise AttributeError(
            f"fg.checkpoint_policies has no {name}: there is one memory, and nothing to move values to. "
            "Keep them with save_only_these_names, or compute them again"
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The policies."""
    return sorted(__all__)
