"""Optimisers whose step is a formula for each element, made on many parameters at once.

Owns the bundle: the gradients and the state of many parameters as one flat array each, so that a step
is a few calls of NumPy however many parameters there are. Parameters keep their own memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from funcgrad.extend import Tracer
from funcgrad.shared import once
from funcgrad.torch.core.meta import is_meta, meta_array
from funcgrad.torch.core.tensor import Tensor, own, wrap
from funcgrad.torch.optim.in_traces import register_optimizer, resolved, traced_bundles
from funcgrad.torch.optim.optimizer import STEP_IN_JIT, StateDict, evaluated, require_no_history
from funcgrad.torch.optim.options import Declared
from funcgrad.types import Anything, Array, DTypeLike

__all__ = ["Bundle", "Stepwise", "flat", "shaped"]


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
        meta = is_meta(params[0])
        self.g = meta_array((start,), real) if meta else np.empty(start, real)
        self.arrays = {
            name: meta_array((start,), real) if meta else np.full(start, first, real)
            for name, first in names.items()
        }
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
        if type(self.memory) is Tracer or is_meta(self.params[0]):
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


class Stepwise(Declared):
    """An optimiser whose step is a formula for each element: from gradient and state to a change."""

    slots: ClassVar[tuple[str, ...]] = ()
    """The arrays that the state has, of zeros at first."""
    counts: ClassVar[bool] = True
    """Whether the state has the number of steps."""
    is_traceable: ClassVar[bool] = True
    """Whether a step may be recorded."""
    _traced: tuple[Any, ...]
    """In a trace: the optimiser that this one stands for, the traced leaves, their kinds and the trace."""

    def __init_subclass__(cls, **kwargs: Anything) -> None:
        super().__init_subclass__(**kwargs)
        register_optimizer(cls)

    def __getattr__(self, name: str) -> Anything:
        if name in ("param_groups", "state") and "_traced" in self.__dict__:
            resolved(self)
            return self.__dict__[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def names(self, group: dict[str, Any]) -> dict[str, Any]:
        """The arrays that the state has, with their first values."""
        return dict.fromkeys(self.slots, 0.0)

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

    @once
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
            by_kind.setdefault((dtype, made, is_meta(p)), []).append(p)
        made_of = []
        for (_, made, _), members in by_kind.items():
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
