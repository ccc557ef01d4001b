"""Rules for functions of the library's: one with the rule takes their place in autograd's modules.

Packages add a forward rule that autograd lacks, or round with the derivative of the identity. The library
knows the derivatives of its own functions, and keeps them: what is given a rule stands under the same name,
in these modules and in those that have imported it from them. Operators and methods do not see it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import funcgrad as fg
from funcgrad import tree
from funcgrad.compat.autograd.primitives import FORWARD, Backward, Call, aval_of, call_of
from funcgrad.compat.autograd.rules import RULES, Rules
from funcgrad.compat.autograd.wrap_util import wraps
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array, Result, Tree

__all__ = ["current"]

Function = Callable[..., Any]

_REPLACED: dict[int, tuple[Function, Function]] = {}
"""Functions of the library's, and what stands for them."""
_LIBRARIES = ("funcgrad", "numpy", "scipy")


def current(found: object) -> Anything:
    """What stands for a function under its name in autograd's modules; anything else as it is."""
    replaced = _REPLACED.get(id(found))
    return found if replaced is None else replaced[1]


def in_place_of(fun: Function) -> Rules | None:
    """The rules of what stands for a function from now on.

    A function of a user's that is no primitive is differentiated as it runs, in autograd too.
    """
    if (getattr(fun, "__module__", None) or "numpy").split(".")[0] not in _LIBRARIES:
        return Rules(fun)

    @wraps(fun)
    def instead(*args: Tree, **kwargs: Tree) -> Result:
        forward = FORWARD.get()
        leaves, treedef = tree.flatten((args, kwargs))
        if (rules.jvp if forward else rules.vjp) is None or not any(type(x) is Tracer for x in leaves):
            return fun(*args, **kwargs)
        call = call_of(rules, fun, leaves, treedef)
        operands = [leaves[k] for k in call.places]
        active = tuple([k for k, x in enumerate(operands) if type(x) is Tracer])
        key = call, active, forward
        made = rules.calls.get(key)
        if made is None:
            made = rules.calls[key] = (with_forward_rule if forward else with_backward_rule)(call, active)
        return made(*operands)

    rules = Rules(instead)
    rules.instead_of = fun
    RULES[id(fun)] = RULES[id(instead)] = rules
    _REPLACED[id(fun)] = fun, instead
    _import_anew(fun, instead)
    return rules


def value_of(call: Call, operands: Sequence[Any]) -> Array:
    """What the function itself gives."""
    args, kwargs = call.arguments(operands)
    found = call.f_raw(*args, **kwargs)
    call.out_tree = tree.structure(found)
    return found


def with_backward_rule(call: Call, active: tuple[int, ...]) -> Function:
    """The call as a function of its operands. Its rule is recorded as it runs: what it calls is traced."""

    def fwd(*operands: Tree) -> Tree:
        out = value_of(call, operands)
        return out, (operands, out)

    def bwd(kept: Tree, g: Tree) -> tuple[Any, ...]:
        operands, out = kept
        outs = tree.leaves(out)
        avals = tuple(map(aval_of, operands))
        backward = Backward(call, active, len(operands), (True,) * len(outs), avals)
        bars = dict(zip(active, backward.traced([*operands, *outs, *tree.leaves(g)]), strict=True))
        return tuple([bars.get(k) for k in range(len(operands))])

    made = fg.custom_vjp(lambda *operands: value_of(call, operands))
    made.defvjp(fwd, bwd)
    return made


def with_forward_rule(call: Call, active: tuple[int, ...]) -> Function:
    """The call as a function of its operands, with the rule for tangents."""
    made = fg.custom_jvp(lambda *operands: value_of(call, operands))

    @made.defjvp
    def jvp(operands: Tree, tangents: Tree) -> Tree:
        out = value_of(call, operands)
        dots = call.forward(operands, tree.leaves(out), tangents, active)
        return out, tree.unflatten(call.out_tree, dots)

    return made


def _import_anew(fun: Function, instead: Function) -> None:
    """Give modules that have imported the function what stands for it. Elsewhere NumPy's own may be meant."""
    ours = (getattr(fun, "__module__", None) or "").startswith("funcgrad.")
    for name, module in sys.modules.copy().items():
        theirs = name.split(".")[0] not in _LIBRARIES
        if name.startswith("funcgrad.compat.autograd") or (ours and theirs):
            names = getattr(module, "__dict__", {})
            for key in [key for key, value in names.copy().items() if value is fun]:
                names[key] = instead


RULES.in_place_of = in_place_of
