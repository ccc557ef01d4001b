"""Optimisers whose step looks at a whole tensor, or averages: ASGD, Adafactor, Muon, SparseAdam."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, InitVar
from typing import Any, ClassVar

import numpy as np

from funcgrad.extend import Tracer
from funcgrad.torch.core.tensor import Tensor, own, wrap
from funcgrad.torch.nn.declared import declared
from funcgrad.torch.optim.optimizer import STEP_IN_JIT, StateDict, evaluated, require_no_history
from funcgrad.torch.optim.options import Declared, number, require_number_in_range, require_options_in_range
from funcgrad.types import Array, Number, Result

__all__ = ["ASGD", "Adafactor", "Muon", "SparseAdam"]


class _ByTensor(Declared):
    """An optimiser whose step is a function of one parameter, its gradient and its state, on arrays."""

    takes_complex: ClassVar[bool] = False
    """Whether its formulas are linear, and so those of complex numbers as well."""

    def update(self, group: dict[str, Any], state: StateDict, value: Array, g: Array) -> None:
        """Change `value` and the state in place."""
        raise NotImplementedError

    def begin(self, group: dict[str, Any], value: Number) -> StateDict:
        """The first state of a parameter."""
        raise NotImplementedError

    def step(self, closure: Callable[[], Any] | None = None) -> Result:
        """Change the parameters once; returns what the closure returned."""
        loss = evaluated(closure)
        for group in self.param_groups:
            active = [p for p in group["params"] if p._grad is not None]
            if group.get("differentiable"):
                require_no_history(group, active)
            for p in active:
                self._step_one(group, p)
        return loss

    def _step_one(self, group: dict[str, Any], p: Tensor) -> None:
        value = own(p)
        if value.dtype.kind != "f" and not self.takes_complex:
            raise RuntimeError(f"{type(self).__name__} does not support complex parameters")
        state = self.state[p]
        if not state:
            state.update(self.begin(group, value))
        g = p._grad._value  # type: ignore[union-attr]
        if type(g) is Tracer:
            raise NotImplementedError(STEP_IN_JIT)
        with np.errstate(all="ignore"):
            self.update(group, state, value, -g if group.get("maximize") else g)
        p._version_box[0] += 1


def _count(state: StateDict) -> int:
    """One more step."""
    state["step"]._value[...] += 1
    return int(state["step"]._value)


def _zero_steps() -> Tensor:
    return wrap(np.array(0.0, np.float32))


@declared
class ASGD(_ByTensor):
    """Gradient descent that also averages the parameters (Polyak and Juditsky, 1992), in the state ``ax``."""

    takes_complex = True

    lr: InitVar[Number] = 1e-2
    lambd: InitVar[float] = 1e-4
    alpha: InitVar[float] = 0.75
    t0: InitVar[float] = 1e6
    weight_decay: InitVar[float] = 0
    foreach: InitVar[bool | None] = None
    maximize: InitVar[bool] = False
    differentiable: InitVar[bool] = False
    capturable: InitVar[bool] = False

    checks = ("lr", "weight_decay")

    def begin(self, group: dict[str, Any], value: Number) -> StateDict:
        return {
            "step": _zero_steps(),
            "eta": wrap(np.array(number(group["lr"]), np.float32)),
            "mu": wrap(np.array(1.0, np.float32)),
            "ax": wrap(np.zeros_like(value)),
        }

    def update(self, group: dict[str, Any], state: StateDict, value: Array, g: Array) -> None:
        step = _count(state)
        lr, eta, mu = number(group["lr"]), state["eta"]._value, state["mu"]._value
        g = g + group["weight_decay"] * value if group["weight_decay"] else g
        value *= 1 - group["lambd"] * eta.item()
        value -= eta.item() * g
        mean = state["ax"]._value
        if mu.item() != 1:
            mean += (value - mean) * mu.item()
        else:
            mean[...] = value
        eta[...] = lr / (1 + group["lambd"] * lr * step) ** group["alpha"]
        mu[...] = 1 / max(1, step - group["t0"])


def require_sign(name: str, value: Number, sign: str = ">=", bound: int = 0) -> None:
    """Raise ValueError, in the words of Adafactor's and Muon's, for an option out of range."""
    if isinstance(value, Tensor) and value._value.size != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not (value >= float(bound) if sign == ">=" else value <= float(bound)):
        raise ValueError(f"{name} should be {sign} {bound} but is: {value}")


@declared
class Adafactor(_ByTensor):
    """Adam with second moments of rows and columns only (Shazeer and Stern, 2018)."""

    lr: InitVar[Number] = 1e-2
    beta2_decay: InitVar[float] = -0.8
    eps: InitVar[tuple[float | None, float]] = (None, 1e-3)
    d: InitVar[float] = 1.0
    weight_decay: InitVar[float] = 0.0
    _: KW_ONLY
    foreach: InitVar[bool | None] = None
    maximize: InitVar[bool] = False

    def check(self, options: dict[str, Any]) -> None:
        first, second = options["eps"][0], options["eps"][1]
        require_sign("Learning rate", options["lr"])
        require_sign("beta2_decay", options["beta2_decay"], "<=")
        require_sign("epsilon1", 0.0 if first is None else first)
        require_sign("epsilon2", second)
        require_sign("Clipping threshold d", options["d"], bound=1)
        require_sign("weight_decay", options["weight_decay"])

    def begin(self, group: dict[str, Any], value: Number) -> StateDict:
        if value.ndim < 2:
            return {"step": _zero_steps(), "variance": wrap(np.zeros_like(value))}
        return {
            "step": _zero_steps(),
            "row_var": wrap(np.zeros((*value.shape[:-1], 1), value.dtype)),
            "col_var": wrap(np.zeros((*value.shape[:-2], 1, value.shape[-1]), value.dtype)),
        }

    def update(self, group: dict[str, Any], state: StateDict, value: Array, g: Array) -> None:
        step = _count(state)
        lr, (eps1, eps2) = number(group["lr"]), group["eps"]
        eps1 = float(np.finfo(value.dtype).eps) if eps1 is None else eps1
        share = step ** group["beta2_decay"]
        size = max(eps2, float(np.linalg.norm(value)) / value.size**0.5) * min(lr, step**-0.5)
        if group["weight_decay"]:
            value *= 1 - lr * group["weight_decay"]
        square = g * g
        if value.ndim < 2:
            variance = state["variance"]._value
            variance += share * (square - variance)
        else:
            rows, columns = state["row_var"]._value, state["col_var"]._value
            rows += share * (square.mean(-1, keepdims=True) - rows)
            columns += share * (square.mean(-2, keepdims=True) - columns)
            variance = rows @ columns / np.maximum(rows.mean(-2, keepdims=True), eps1)
        change = g / np.sqrt(np.maximum(variance, eps1 * eps1))
        most = max(1.0, float(np.linalg.norm(change)) / (value.size**0.5 * group["d"]))
        value += change * (-size / most)


@declared
class Muon(_ByTensor):
    """Momentum of matrices made nearly orthogonal (Jordan and others, 2024); PyTorch's is in bfloat16."""

    lr: InitVar[Number] = 1e-3
    weight_decay: InitVar[float] = 0.1
    momentum: InitVar[float] = 0.95
    nesterov: InitVar[bool] = True
    ns_coefficients: InitVar[tuple[float, float, float]] = (3.4445, -4.7750, 2.0315)
    eps: InitVar[float] = 1e-7
    ns_steps: InitVar[int] = 5
    adjust_lr_fn: InitVar[str | None] = None

    def take(self, options: dict[str, Any]) -> None:
        super().take(options)
        for group in self.param_groups:
            for p in group["params"]:
                if len(p._value.shape) != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {p.shape}"
                    )

    def check(self, options: dict[str, Any]) -> None:
        require_sign("Learning rate", options["lr"])
        require_sign("momentum", options["momentum"])
        require_sign("weight decay", options["weight_decay"])
        if options["adjust_lr_fn"] not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {options['adjust_lr_fn']} is not supported")

    def begin(self, group: dict[str, Any], value: Number) -> StateDict:
        return {"momentum_buffer": wrap(np.zeros_like(value))}

    def update(self, group: dict[str, Any], state: StateDict, value: Array, g: Array) -> None:
        momentum, lr = group["momentum"], number(group["lr"])
        buffer = state["momentum_buffer"]._value
        buffer += (g - buffer) * (1 - momentum)
        change = orthogonalised(g + (buffer - g) * momentum if group["nesterov"] else buffer, group)
        rows, columns = value.shape
        if group["adjust_lr_fn"] == "match_rms_adamw":
            rate = lr * 0.2 * max(rows, columns) ** 0.5
        else:
            rate = lr * max(1, rows / columns) ** 0.5
        value *= 1 - lr * group["weight_decay"]
        value -= rate * change


def orthogonalised(g: Array, group: dict[str, Any]) -> Array:
    """The nearest orthogonal matrix, roughly: some steps of Newton and Schulz's iteration."""
    a, b, c = group["ns_coefficients"]
    x = g.T if g.shape[0] > g.shape[1] else g
    x = x / max(float(np.linalg.norm(x)), group["eps"])
    for _ in range(group["ns_steps"]):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.T if g.shape[0] > g.shape[1] else x


@declared
class SparseAdam(_ByTensor):
    """Adam for sparse gradients, which do not exist here: dense ones are refused, as in PyTorch."""

    lr: InitVar[Number] = 1e-3
    betas: InitVar[tuple[float, float]] = (0.9, 0.999)
    eps: InitVar[float] = 1e-8
    maximize: InitVar[bool] = False

    def take(self, options: dict[str, Any]) -> None:
        super().take(options)
        found = [
            [k, n]
            for k, group in enumerate(self.param_groups)
            for n, p in enumerate(group["params"])
            if p._value.dtype.kind == "c"
        ]
        if found:
            raise ValueError(
                f"Complex params at indices {found}: SparseAdam does not support complex parameters"
            )

    def check(self, options: dict[str, Any]) -> None:
        lr, eps = options["lr"], options["eps"]
        require_number_in_range("learning rate", lr, lr > 0.0)
        require_number_in_range("epsilon value", eps, eps > 0.0)
        require_options_in_range(options, ("betas",))

    def begin(self, group: dict[str, Any], value: Number) -> StateDict:
        raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
