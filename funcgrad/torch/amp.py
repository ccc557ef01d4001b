"""``torch.amp``: mixed precision, which changes nothing here, and says so.

Everything is computed in the dtype it has. A program written for mixed precision computes in full
precision, and needs no scaled gradients.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from funcgrad.types import Anything, Result

if TYPE_CHECKING:
    from funcgrad.torch.core.operand import Operands

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

F = TypeVar("F", bound=Callable[..., Any])

_KNOWN = ("cpu", "cuda", "xpu", "mps", "hpu", "mtia", "xla", "maia", "meta")


class autocast:
    """A context, or a decorator, in which operations keep their dtypes. Enabled for the CPU it warns of that.

    >>> with fg.torch.autocast("cpu", enabled=False):
    ...     (fg.torch.ones(2, 2) @ fg.torch.ones(2, 2)).dtype
    torch.float32
    """

    def __init__(
        self,
        device_type: str,
        dtype: Anything = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if device_type not in _KNOWN:
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        if enabled and device_type != "cpu":
            warnings.warn(
                f"{device_type.upper()} is not available. Disabling autocast.", UserWarning, stacklevel=2
            )
        self.device = device_type
        self._casts = enabled and device_type == "cpu"

    def __enter__(self) -> autocast:
        self._say_that_nothing_is_cast()
        return self

    def __exit__(self, *error: object) -> None:
        """Leave the context."""

    def __call__(self, function: F) -> F:
        """The function as it is."""
        self._say_that_nothing_is_cast()
        return function

    def _say_that_nothing_is_cast(self) -> None:
        if self._casts:
            warnings.warn(
                "torch.autocast casts nothing here: products of matrices, layers and convolutions keep the "
                "dtype of what they are given, where PyTorch computes in bfloat16 or float16. "
                "Pass enabled=False.",
                UserWarning,
                stacklevel=3,
            )


class GradScaler:
    """Scales nothing: full precision needs none. ``is_enabled()`` is False, as in PyTorch without CUDA.

    >>> w = fg.torch.ones(1, requires_grad=True)
    >>> steps, scaler = fg.torch.optim.SGD([w], lr=0.5), fg.torch.amp.GradScaler(enabled=False)
    >>> scaler.scale((w * w).sum()).backward()
    >>> scaler.step(steps)
    >>> scaler.update()
    >>> w
    tensor([0.], requires_grad=True)
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if enabled:
            self._say_so(device)

    def _say_so(self, device: str) -> None:
        reason = (
            "full precision needs no scaling" if device == "cpu" else f"{device.upper()} is not available"
        )
        warnings.warn(
            f"torch.amp.GradScaler is enabled, but {reason}.  Disabling.", UserWarning, stacklevel=4
        )

    def scale(self, outputs: Operands) -> Operands:
        """The outputs themselves."""
        return outputs

    def unscale_(self, optimizer: Anything) -> None:
        """Nothing: gradients are not scaled."""

    def step(self, optimizer: Anything, *args: Anything, **kwargs: Anything) -> Result:
        """``optimizer.step(*args, **kwargs)``."""
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: object = None) -> None:
        """Nothing: there is no scale."""

    def get_scale(self) -> float:
        """1."""
        return 1.0

    def is_enabled(self) -> bool:
        """False."""
        return False

    def state_dict(self) -> dict[str, Any]:
        """Empty."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Accept the state of any scaler: none of it is used."""


def is_autocast_available(device_type: str) -> bool:
    """Whether contexts for this device are accepted without a warning: for the CPU."""
    return device_type == "cpu"


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str = "cuda", cast_inputs: object = None
) -> Callable[..., Any]:
    """The ``forward`` of a `Function` as it is: nothing is cast outside of mixed precision."""
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)
    return fwd


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str = "cuda") -> Callable[..., Any]:
    """The ``backward`` of a `Function` as it is."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)
    return bwd
