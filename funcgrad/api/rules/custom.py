"""`custom_jvp`, `custom_vjp` and `checkpoint`: functions that say how they are differentiated."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from funcgrad import tree
from funcgrad.api.calling.arguments import here, leaf_aval, normalized_argnums
from funcgrad.api.calling.calls import Traced, name_of, trace
from funcgrad.api.calling.pickling import name_for_pickle
from funcgrad.api.calling.static_arguments import static_arguments
from funcgrad.api.calling.transformed import plain_transform
from funcgrad.api.njit.kinds import is_njit
from funcgrad.api.njit.opaque import DECLARED, called_in_one, jvp_rule_of, rule_of
from funcgrad.api.python.functions import recordable_by_default
from funcgrad.api.python.seen import seen
from funcgrad.api.rules.checkpoint_policies import Policy, keeping, nothing_saveable
from funcgrad.api.rules.custom_rules import CallShape, VjpRules, itself, jvp_rule
from funcgrad.errors import CustomRuleError
from funcgrad.tracing.labelled import plain_leaves
from funcgrad.tracing.recorder import RULE, active_recorder, differentiates, is_open, outlived
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.checkpoint import Checkpoint
from funcgrad.transforms.custom import CustomJvp
from funcgrad.types import Anything, Array, Result, Tree

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)
P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")


class FlatCall:
    """A call of a custom function: its structure and the leaves to differentiate by."""

    __slots__ = ("leaves", "shape")

    def __init__(self, fun: Function, static: Sequence[int], args: tuple[Any, ...], what: str) -> None:
        leaves, treedef = tree.flatten(tuple([x for n, x in enumerate(args) if n not in static]))
        self.leaves = plain_leaves(leaves)
        avals = [leaf_aval(x, lambda: "an argument", what) for x in self.leaves]
        self.shape = CallShape(fun, static, args, treedef, avals)

    def call(self, leaves: Sequence[Any]) -> Result:
        """The function on these leaves, without its rule."""
        fun = self.shape.fun
        own = fun.function if isinstance(fun, CustomFunction) else fun
        if own is not fun and is_njit(own):
            own = called_in_one(own) if self.is_traced else own
        # In a rule, which is recorded without values, branches are recorded as they are in the rule itself.
        found = recordable_by_default(own) if is_open(RULE) else seen(own)
        return found(*self.shape.arguments(leaves))

    def traced(self, what: str) -> tuple[Traced, Any]:
        """The function recorded at these leaves, and the structure of its result."""
        structure: list[Any] = []

        def collect(result: Result) -> list[Any]:
            outs, treedef = tree.flatten(result)
            structure.append(treedef)
            return outs

        found = trace(self.shape.fun, self.call, self.leaves, what, collect, avals=self.shape.avals)
        return found, structure[0]

    @property
    def is_traced(self) -> bool:
        """Whether any argument belongs to an open trace."""
        return any(isinstance(x, Tracer) for x in self.leaves) or active_recorder() is not None


class CustomFunction(Generic[P, R]):
    """What `custom_jvp` and `custom_vjp` share: the function, its static arguments, being a method."""

    __name__: str
    __qualname__: str

    def __init__(
        self,
        fun: Callable[P, R],
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Sequence[str] = (),
    ) -> None:
        functools.update_wrapper(self, fun, updated=())
        self.function = fun
        numbers = (nondiff_argnums,) if isinstance(nondiff_argnums, int) else tuple(nondiff_argnums)
        named = static_arguments(fun, (), nondiff_argnames)[0]
        self._static = (*numbers, *[n for n in named if n not in numbers])
        self._n_positional = positional_count(fun)

    @overload
    def __get__(self, instance: None, owner: object = None) -> CustomFunction[P, R]: ...
    @overload
    def __get__(
        self: CustomFunction[Concatenate[Any, Q], R], instance: object, owner: object = None
    ) -> Callable[Q, R]: ...
    def __get__(self, instance: Anything, owner: object = None) -> Anything:
        return self if instance is None else functools.partial(self.__call__, instance)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({name_of(self.function)})"

    def __reduce__(self) -> str | tuple[Any, ...]:
        # The name stands for this object, not for the function.
        name = name_for_pickle(self, self.__module__, self.__qualname__)
        return (object.__new__, (type(self),), self.__dict__) if name is None else name

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function, recorded with its rule where an argument is traced."""
        raise NotImplementedError

    def _positional(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        if not kwargs and len(args) >= self._n_positional:
            return args
        # Rules are given every argument, also those left to their defaults.
        bound = inspect.signature(self.function).bind(*args, **kwargs)
        bound.apply_defaults()
        if bound.kwargs:
            raise CustomRuleError(
                f"{name_of(self.function)} has keyword-only arguments {sorted(bound.kwargs)}, "
                "which a custom rule cannot take",
                source=here(),
            )
        return bound.args

    def _is_declared(self) -> None:
        """Numba's code calls the function that it compiled; traced, that is the function with its rule."""
        if is_njit(self.function):
            DECLARED[id(self.function)] = self

    def _flat_call(self, args: tuple[Any, ...], kwargs: dict[str, Any], what: str) -> FlatCall:
        args = self._positional(args, kwargs)
        return FlatCall(self, normalized_argnums(self._static, len(args), what), args, what)


def positional_count(fun: Function) -> int:
    """How many arguments a function written in Python takes by position; 0 for other callables."""
    return fun.__code__.co_argcount if inspect.isfunction(fun) else 0


class custom_jvp(CustomFunction[P, R]):
    """A function with its own forward derivative.

    ``f.defjvp(rule)`` where ``rule(primals, tangents)`` returns ``(value, tangent of the value)``, both
    in the structure of the result; arguments at `nondiff_argnums` come first, one by one. Reverse mode
    transposes what the rule records, so it must be linear in the tangents.

    >>> import numpy as np
    >>> @custom_jvp
    ... def softplus(x):
    ...     return np.logaddexp(x, 0.0)
    >>> @softplus.defjvp
    ... def softplus_jvp(primals, tangents):
    ...     (x,), (x_dot,) = primals, tangents
    ...     return softplus(x), x_dot / (1.0 + np.exp(-x))
    >>> from funcgrad import grad
    >>> print(grad(softplus)(0.0))
    0.5
    """

    _rule: Function | None = None

    def defjvp(self, rule: F) -> F:
        """Set the rule; returns it, so that it can decorate."""
        self._rule = jvp_rule_of(rule)
        self._is_declared()
        return rule

    def defjvps(self, *rules: Function | None) -> None:
        """Set one rule per argument: ``rule(tangent, value, *primals)``, summed; None is zero."""

        def summed(primals: Sequence[Any], tangents: Sequence[Any]) -> Tree:
            value = call(*primals)
            parts = [
                rule(t, value, *primals) for rule, t in zip(rules, tangents, strict=True) if rule is not None
            ]
            zero = tree.map(lambda x: 0.0 * x, value)
            return value, functools.reduce(lambda a, b: tree.map(_plus, a, b), parts) if parts else zero

        call: Function = self
        self._rule = summed

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        call = self._flat_call(args, kwargs, "custom_jvp")
        result: R
        if not call.is_traced:
            result = call.call(call.leaves)
            return result
        rule = self._rule
        if rule is None:
            raise CustomRuleError(
                f"no rule is defined for the custom_jvp function {name_of(self.function)}",
                source=here(),
                remedy="Define it with @f.defjvp.",
            )
        traced, out_tree = call.traced("custom_jvp")
        avals = [traced.recorder.avals[i] for i in traced.outputs]
        program = traced.transformed("custom_jvp", itself)
        found, constants = jvp_rule(rule, call.shape, out_tree, avals, now=outlived(active_recorder()))
        outs = CustomJvp(program, found, len(call.leaves)).bind(*traced.operands, *constants)
        result = tree.unflatten(out_tree, outs)
        return result


def _plus(a: Array, b: Array) -> Array:
    return a + b


class custom_vjp(CustomFunction[P, R]):
    """A function with its own backward derivative.

    ``f.defvjp(fwd, bwd)`` where ``fwd(*args)`` returns ``(value, residuals)`` and
    ``bwd(residuals, cotangent)`` a tuple of cotangents, one per differentiable argument (None for zero);
    arguments at `nondiff_argnums` are given to `bwd` first, one by one.

    >>> import numpy as np
    >>> @custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.defvjp(lambda x: (x, None), lambda _, bar: (np.clip(bar, -1.0, 1.0),))
    >>> from funcgrad import grad
    >>> print(grad(lambda x: 5.0 * clipped(x))(2.0))
    1.0
    """

    _forward: Function | None = None
    _backward: Function | None = None

    def defvjp(self, fwd: Function, bwd: Function) -> None:
        """Set the two rules."""
        self._forward = rule_of(fwd)
        self._backward = rule_of(bwd)
        self._is_declared()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        call = self._flat_call(args, kwargs, "custom_vjp")
        result: R
        if not call.is_traced:
            result = call.call(call.leaves)
            return result
        if self._forward is None or self._backward is None:
            raise CustomRuleError(
                f"no rule is defined for the custom_vjp function {name_of(self.function)}",
                source=here(),
                remedy="Define it with f.defvjp(fwd, bwd).",
            )
        rules = VjpRules(self._forward, self._backward, call.shape)
        if differentiates(active_recorder()):
            outs = rules.differentiated(call.leaves)
        else:
            outs = rules.recorded(call.leaves, *call.traced("custom_vjp"))
        result = tree.unflatten(rules.out_tree, outs)
        return result


@overload
def checkpoint(
    fun: Callable[P, R],
    *,
    policy: Policy | None = None,
    prevent_cse: bool = True,
    static_argnums: int | Sequence[int] = (),
) -> Callable[P, R]: ...
@overload
def checkpoint(
    *, policy: Policy | None = None, prevent_cse: bool = True, static_argnums: int | Sequence[int] = ()
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
@plain_transform
def checkpoint(
    fun: Function,
    *,
    policy: Policy | None = None,
    prevent_cse: bool = True,
    static_argnums: int | Sequence[int] = (),
) -> Function:
    """`fun`, with its intermediate values computed again in the backward pass instead of being kept.

    A `policy` of `fg.checkpoint_policies` says which of them are kept all the same.

    >>> import numpy as np
    >>> from funcgrad import grad
    >>> print(grad(checkpoint(lambda x: np.sin(np.sin(x))))(0.0))
    1.0
    """
    keeps: Function = nothing_saveable if policy is None else policy
    if not callable(keeps):
        raise TypeError(f"a policy of checkpoint is a function, got {policy!r}")

    def checkpointed(*args: Tree, **kwargs: Tree) -> Result:
        static = normalized_argnums(static_argnums, len(args), "checkpoint")
        call = FlatCall(functools.partial(fun, **kwargs) if kwargs else fun, static, args, "checkpoint")
        if not call.is_traced:
            return fun(*args, **kwargs)
        traced, out_tree = call.traced("checkpoint")
        n_outs = out_tree.num_leaves
        program = traced.transformed(("checkpoint", keeps), lambda program: keeping(program, keeps))
        outs = Checkpoint(program, len(program.outputs) - n_outs).bind(*traced.operands)
        return tree.unflatten(out_tree, outs[:n_outs])

    return checkpointed
