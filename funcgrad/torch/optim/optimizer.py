"""The base of optimisers: parameter groups, state by parameter, state dictionaries, hooks."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

from funcgrad.torch.core.state import MODES
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.optim.hooks import Hooked, StateDict, with_hooks
from funcgrad.types import Anything, Array

__all__ = [
    "DIFFERENTIABLE",
    "STEP_IN_JIT",
    "Optimizer",
    "StateDict",
    "evaluated",
    "require_no_history",
    "required",
]


DIFFERENTIABLE = (
    "funcgrad.torch does not support steps that are differentiated (differentiable=True with parameters, "
    "gradients or a learning rate that require grad): compute the new parameters out of place, as in "
    "`p = p - lr * g`, and evaluate the model on them with torch.func.functional_call"
)
STEP_IN_JIT = (
    "funcgrad.torch does not support this optimizer.step() in a function that is compiled or differentiated: "
    "a step changes parameters and state in place. Under fg.jit give the model and the optimizer to the "
    "function as arguments, or compile the loss and its gradient, and call step() outside of it"
)


class _Required:
    """Stands for an option that has no default."""

    def __repr__(self) -> str:
        return "<required parameter>"


required: Any = _Required()


def evaluated(closure: Callable[[], Any] | None) -> Array:
    """What the closure returns, with histories on; None without one."""
    if closure is None:
        return None
    before, MODES.grad = MODES.grad, True
    MODES.settle()
    try:
        return closure()
    finally:
        MODES.grad = before
        MODES.settle()


class Optimizer(Hooked):
    """Parameters in groups with options, and a state for each; a subclass says what a step is.

    >>> from funcgrad import torch
    >>> w = torch.tensor([1.0], requires_grad=True)
    >>> torch.optim.SGD([w], lr=0.5)
    SGD (
    Parameter Group 0
        dampening: 0
        differentiable: False
        foreach: None
        fused: None
        lr: 0.5
        maximize: False
        momentum: 0
        nesterov: False
        weight_decay: 0
    )
    """

    def __init__(self, params: Anything, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.state: defaultdict[Tensor, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self.forget_hooks()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                + str(params.type())
            )
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __init_subclass__(cls, **kwargs: Anything) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = with_hooks(cls.__dict__["step"])  # type: ignore[method-assign]

    def step(self, closure: Callable[[], Any] | None = None) -> Array:
        """Change the parameters once; returns what the closure returned."""
        raise NotImplementedError

    # -- groups ----------------------------------------------------------------------------------------

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group: a dict with ``params`` and the options that differ from the defaults."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        given = param_group["params"]
        if isinstance(given, Tensor):
            given = [given]
        elif isinstance(given, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of "
                "tensors in sets will change between runs. Please use a list instead."
            )
        group = dict(param_group)
        held = self._without_names(group, list(given))
        for p in held:
            if not isinstance(p, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is {_typename(p)}"
                )
            if not self.defaults.get("differentiable") and p._node is not None:
                raise ValueError("can't optimize a non-leaf Tensor")
        group["params"] = held
        for name, default in self.defaults.items():
            if default is required and name not in group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization parameter {name}"
                )
            group.setdefault(name, default)
        if len(held) != len(set(held)):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause "
                "an error; see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        if set(held) & {p for other in self.param_groups for p in other["params"]}:
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(group)

    def _without_names(self, group: dict[str, object], held: list[Any]) -> list[Tensor]:
        """The parameters of a new group; their names, where they have any, are kept in the group."""
        named = [isinstance(p, tuple) for p in held]
        if any(named):
            if not all(named):
                raise ValueError(
                    "all optimizer params should be with/without names. Some param names are missing"
                )
            group["param_names"] = [name for name, _ in held]
            held = [p for _, p in held]
        if any(("param_names" in group) != ("param_names" in other) for other in self.param_groups):
            raise ValueError(
                "all optimizer param groups should be with/without names. cannot add param group "
                f"{'with' if 'param_names' in group else 'without'} names to the optimizer"
            )
        return held

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or set them to zero."""
        for group in self.param_groups:
            for p in group["params"]:
                grad = p._grad
                if grad is None:
                    continue
                if set_to_none:
                    p._grad = None
                    continue
                if grad._node is not None:
                    grad.detach_()
                else:
                    grad.requires_grad_(False)
                grad.zero_()

    # -- state dictionaries ----------------------------------------------------------------------------

    def state_dict(self) -> StateDict:
        """State and options, with parameters by number."""
        self.run_hooks("before state_dict")
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for p in group["params"]:
                numbers.setdefault(id(p), len(numbers))
            packed = {k: v for k, v in group.items() if k != "params"}
            packed["params"] = [numbers[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {numbers.get(id(p), p): held for p, held in self.state.items()}
        found: StateDict = {"state": state, "param_groups": groups}
        return self.after_hooks("after state_dict", found)

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Take state and options from what `state_dict` returned, for the same groups of parameters."""
        state_dict = self.after_hooks("before load_state_dict", dict(state_dict))
        groups, saved = self.param_groups, deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(g["params"]) != len(s["params"]) for g, s in zip(groups, saved, strict=True)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's "
                "group"
            )
        by_number = {
            k: p
            for g, s in zip(groups, saved, strict=True)
            for k, p in zip(s["params"], g["params"], strict=True)
        }
        state: defaultdict[Tensor, Any] = defaultdict(dict)
        for k, held in state_dict["state"].items():
            p = by_number.get(k)
            if p is None:
                state[k] = deepcopy(held)
            else:
                state[p] = {name: _cast(p, name, value) for name, value in held.items()}
        self.state = state
        for g, s in zip(groups, saved, strict=True):
            s["params"] = g["params"]
            g.clear()
            g.update(s)
        self.run_hooks("after load_state_dict")

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.forget_hooks()

    # -- printing ----------------------------------------------------------------------------

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for k, group in enumerate(self.param_groups):
            lines += ([""] if k else []) + [f"Parameter Group {k}"]
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])


def _typename(x: Anything) -> str:
    kind = type(x)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _cast(p: Tensor, name: str, value: Anything) -> Anything:
    """A loaded state in the dtype of its parameter; step counts as they are."""
    if not isinstance(value, Tensor):
        return deepcopy(value)
    array = np.array(value._value)
    if name != "step" and (p._value.dtype.kind == "f" or array.dtype.kind == "c"):
        array = array.astype(p._value.dtype)
    return wrap(array)


def require_no_history(group: StateDict, params: list[Tensor]) -> None:
    """Raise where the step of a differentiable optimiser would have to be remembered."""
    if any(p._rg and p._node is None for p in params):
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    options = [x for x in group.values() if isinstance(x, Tensor)]
    if any(t is not None and t._rg for p in params for t in (p, p._grad)) or any(t._rg for t in options):
        raise NotImplementedError(DIFFERENTIABLE)
