"""The base of optimisers: parameter groups, state by parameter, state dictionaries, hooks.

Owns also the bundle: the gradients and the state of many parameters as one flat array each, so that a step
is a few calls of NumPy however many parameters there are. Parameters keep their own memory.
"""

from __future__ import annotations

import math
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from copy import deepcopy
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from funcgrad.extend import Tracer
from funcgrad.torch.core.backward.hooks import RemovableHandle, added_hook
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import MODES
from funcgrad.torch.core.tensor import Tensor, own, wrap
from funcgrad.torch.optim.in_traces import register_optimizer, resolved, traced_bundles
from funcgrad.types import Array, DTypeLike, Number

__all__ = ["Bundle", "Optimizer", "StateDict", "Stepwise", "required"]

StateDict = dict[str, Any]

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


class Optimizer:
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

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.state: defaultdict[Tensor, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._pre_hooks: OrderedDict[int, Any] = OrderedDict()
        self._post_hooks: OrderedDict[int, Any] = OrderedDict()
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

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _with_hooks(cls.__dict__["step"])  # type: ignore[method-assign]

    _opt_called = False

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
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for p in group["params"]:
                numbers.setdefault(id(p), len(numbers))
            packed = {k: v for k, v in group.items() if k != "params"}
            packed["params"] = [numbers[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {numbers.get(id(p), p): held for p, held in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Take state and options from what `state_dict` returned, for the same groups of parameters."""
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

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._pre_hooks = OrderedDict()
        self._post_hooks = OrderedDict()

    # -- hooks and printing ----------------------------------------------------------------------------

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before every step."""
        return added_hook(self._pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after every step."""
        return added_hook(self._post_hooks, hook)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for k, group in enumerate(self.param_groups):
            lines += ([""] if k else []) + [f"Parameter Group {k}"]
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])


def _with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    def called(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        for hook in list(self._pre_hooks.values()):
            found = hook(self, args, kwargs)
            if found is not None:
                args, kwargs = found
        out = step(self, *args, **kwargs)
        self._opt_called = True
        for hook in list(self._post_hooks.values()):
            hook(self, args, kwargs)
        return out

    called.__name__ = called.__qualname__ = "step"
    called.__doc__ = step.__doc__
    return called


def _typename(x: Any) -> str:
    kind = type(x)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _cast(p: Tensor, name: str, value: Any) -> Any:
    """A loaded state in the dtype of its parameter; step counts as they are."""
    if not isinstance(value, Tensor):
        return deepcopy(value)
    array = np.array(value._value)
    if name != "step" and (p._value.dtype.kind == "f" or array.dtype.kind == "c"):
        array = array.astype(p._value.dtype)
    return wrap(array)


# -- steps on flat arrays -------------------------------------------------------------------------------


class Bundle:
    """Parameters of one dtype that have made equally many steps: their state in flat arrays.

    The tensors of `Optimizer.state` are views of these arrays.
    """

    __slots__ = ("arrays", "g", "memory", "params", "places", "step", "tensors")

    def __init__(
        self, params: list[Tensor], states: list[StateDict], names: dict[str, Any], counts: bool
    ) -> None:
        dtype = params[0]._value.dtype
        numbers = 2 if dtype.kind == "c" else 1
        self.params = params
        self.places = []
        start = 0
        for p in params:
            size = p._value.size * numbers
            self.places.append((start, start + size, p._value.shape))
            start += size
        real = np.zeros(0, dtype).real.dtype
        self.g = np.empty(start, real)
        self.arrays = {name: np.full(start, first, real) for name, first in names.items()}
        self.tensors: list[tuple[StateDict, str, Tensor]] = []
        found = states[0].get("step")
        self.memory: Any = np.full(1, 0 if found is None else int(found), np.float32)
        """How many steps these parameters have made; compiled functions write into it."""
        self.step = wrap(self.memory.reshape(()))
        if counts:
            for state in states:
                state["step"] = self.step
                self.tensors.append((state, "step", self.step))
        for name, array in self.arrays.items():
            for state, (a, b, shape) in zip(states, self.places, strict=True):
                part = shaped(array[a:b], dtype, shape)
                if isinstance(state.get(name), Tensor):
                    part[...] = state[name]._value
                state[name] = t = wrap(part)
                self.tensors.append((state, name, t))

    def standing_for(self, params: list[Tensor], memory: object, arrays: list[Any]) -> Bundle:
        """The same bundle of the parameters of a trace, with traced state."""
        made: Bundle = object.__new__(Bundle)
        made.params, made.places, made.tensors = params, self.places, []
        made.g = self.g
        made.memory = memory
        made.step = wrap(memory)
        made.arrays = dict(zip(self.arrays, arrays, strict=True))
        return made

    @property
    def count(self) -> Array:
        """How many steps these parameters have made: an int, or traced."""
        first: Any = self.memory[0]
        return int(first) if type(self.memory) is np.ndarray else np.float64(1.0) * first

    def is_current(self, params: list[Tensor]) -> bool:
        """Whether these are the parameters, and nobody replaced their state."""
        if len(params) != len(self.params):
            return False
        for p, q in zip(params, self.params, strict=True):
            if p is not q:
                return False
        return all(state.get(name) is t for state, name, t in self.tensors)

    def gradients(self, maximize: bool) -> Array:
        """All gradients, one after the other; negative ones to maximise."""
        parts: list[Any] = [flat(p._grad._value) for p in self.params]  # type: ignore[union-attr]
        if type(self.memory) is Tracer:
            g = np.concatenate(parts)
            return -g if maximize else g
        if Tracer in map(type, parts):
            raise NotImplementedError(STEP_IN_JIT)
        np.concatenate(parts, out=self.g)
        return np.negative(self.g, out=self.g) if maximize else self.g

    def values(self) -> Array:
        """All parameters, one after the other."""
        return np.concatenate([flat(p._value) for p in self.params])

    def add(self, change: Array) -> None:
        """Add a flat array to the parameters, in place."""
        for p, (a, b, shape) in zip(self.params, self.places, strict=True):
            value: Any = own(p)
            if type(value) is Tracer:
                value[...] = value + change[a:b].reshape(shape)  # type: ignore[index]
            else:
                np.add(value, shaped(change[a:b], value.dtype, shape), out=value)
            p._version_box[0] += 1


def flat(array: Array) -> Array:
    """The elements of an array in one row: of complex ones the real and the imaginary parts."""
    row = array.reshape(-1)
    return np.ascontiguousarray(row).view(row.real.dtype) if row.dtype.kind == "c" else row


def shaped(row: Array, dtype: DTypeLike, shape: tuple[int, ...]) -> Array:
    """A part of a flat array as an array of that dtype, which may be complex, in the same memory."""
    return (row.view(dtype) if dtype.kind == "c" else row).reshape(shape)


class Stepwise(Optimizer):
    """An optimiser whose step is a formula for each element: from gradient and state to a change."""

    counts: ClassVar[bool] = True
    """Whether the state has the number of steps."""
    is_traceable: ClassVar[bool] = True
    """Whether a step may be recorded."""
    _traced: tuple[Any, ...]
    """In a trace: the optimiser that this one stands for, the traced leaves, their kinds and the trace."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        register_optimizer(cls)

    def __getattr__(self, name: str) -> Any:
        if name in ("param_groups", "state") and "_traced" in self.__dict__:
            resolved(self)
            return self.__dict__[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def names(self, group: dict[str, Any]) -> dict[str, Any]:
        """The arrays that the state has, with their first values."""
        raise NotImplementedError

    def change(self, group: dict[str, Any], bundle: Bundle, g: Array, first: bool) -> Array:
        """What to add to the parameters; changes the state in place. `g` may be overwritten."""
        raise NotImplementedError

    def step(self, closure: Callable[[], Any] | None = None) -> Array:
        """Change the parameters once; returns what the closure returned."""
        loss = evaluated(closure)
        for k, group in enumerate(self.param_groups):
            active = [p for p in group["params"] if p._grad is not None]
            if group.get("differentiable"):
                require_no_history(group, active)
            for bundle in self.bundles(k, active):
                self._step_bundle(group, bundle)
        return loss

    def bundles(self, k: int, params: list[Tensor]) -> list[Bundle]:
        """The state of parameters of group `k`."""
        if "_traced" in self.__dict__:
            return traced_bundles(self, k)
        if not params:
            return []
        held: list[Bundle] | None = self._bundles.get(k)
        if held is None or len(held) != 1 or not held[0].is_current(params):
            held = self._bundles[k] = self._bundled(self.param_groups[k], params)
        return held

    @cached_property
    def _bundles(self) -> dict[int, list[Bundle]]:
        return {}

    def _bundled(self, group: dict[str, Any], params: list[Tensor]) -> list[Bundle]:
        by_kind: dict[Any, list[Tensor]] = {}
        names = self.names(group)
        for p in params:
            dtype = p._value.dtype
            if p._grad is not None and p._grad._value.dtype != dtype:
                raise RuntimeError(
                    f"the gradient of a parameter of dtype {p.dtype} has dtype {p._grad.dtype}"
                )
            state = self.state[p] if names or self.counts else {}
            made = int(state["step"]) if "step" in state else all(name in state for name in names)
            by_kind.setdefault((dtype, made), []).append(p)
        made_of = []
        for (_, made), members in by_kind.items():
            states = [self.state[p] if names or self.counts else {} for p in members]
            bundle = Bundle(members, states, names, self.counts)
            if not self.counts:
                bundle.memory[:] = bool(made and names)
            made_of.append(bundle)
        return made_of

    def _step_bundle(self, group: dict[str, Any], bundle: Bundle) -> None:
        first = bundle.count == 0
        bundle.memory += 1
        g = bundle.gradients(group.get("maximize", False))
        with np.errstate(all="ignore"):
            bundle.add(self.change(group, bundle, g, first))


def require_no_history(group: StateDict, params: list[Tensor]) -> None:
    """Raise where the step of a differentiable optimiser would have to be remembered."""
    if any(p._rg and p._node is None for p in params):
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    options = [x for x in group.values() if isinstance(x, Tensor)]
    if any(t is not None and t._rg for p in params for t in (p, p._grad)) or any(t._rg for t in options):
        raise NotImplementedError(DIFFERENTIABLE)


def number(x: Operand) -> Number:
    """A learning rate, which may be a tensor, as a number; one of a trace as it is."""
    return x if type(x) is Tracer else float(x)


def root(x: Number) -> Number:
    """The square root of a number of Python's, as one, or of a traced one."""
    return np.sqrt(x) if type(x) is Tracer else math.sqrt(x)


def check_both_betas(betas: tuple[float, float]) -> None:
    """Raise ValueError for betas out of range."""
    for k, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {k}: {beta}")


def checked(**options: tuple[Any, bool]) -> None:
    """Raise ValueError for the first option whose value is not valid."""
    for name, (value, valid) in options.items():
        if name == "learning_rate" and isinstance(value, Tensor) and value._value.size != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not valid:
            label = "learning rate" if name == "learning_rate" else f"{name.removesuffix('_value')} value"
            raise ValueError(f"Invalid {label}: {value}")
