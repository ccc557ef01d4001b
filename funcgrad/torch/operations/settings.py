"""Settings of the whole module, and what of them is accepted without effect."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.torch.core.dtypes import NAMED_ONLY
from funcgrad.torch.core.state import MODES, SETTINGS
from funcgrad.torch.operations.creating.conversion import device
from funcgrad.torch.operations.registry import published
from funcgrad.types import Anything

__all__: list[str] = []


@published()
def set_warn_always(b: bool) -> None:
    """Accepted: warnings are never suppressed here except by Python's filters."""
    SETTINGS.warn_always = b


@published()
def is_warn_always_enabled() -> bool:
    """What `set_warn_always` set."""
    return SETTINGS.warn_always


@published()
def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Accepted: every algorithm here is deterministic."""
    SETTINGS.deterministic = mode


@published()
def are_deterministic_algorithms_enabled() -> bool:
    """What `use_deterministic_algorithms` set."""
    return SETTINGS.deterministic


@published()
def get_num_threads() -> int:
    """1: NumPy decides for itself how many threads its BLAS uses."""
    return 1


@published()
def set_num_threads(count: int) -> None:
    """Accepted without effect: NumPy decides for itself."""


@published()
def get_num_interop_threads() -> int:
    """1: operations run one after another."""
    return 1


@published()
def set_num_interop_threads(count: int) -> None:
    """Accepted without effect: operations run one after another."""


@published("get_autocast_dtype")
def get_autocast_dtype(device_type: str) -> Anything:
    """bfloat16, as in PyTorch for the CPU; no tensor here ever gets it."""
    return NAMED_ONLY["bfloat16"]


@published("get_autocast_cpu_dtype")
def get_autocast_cpu_dtype() -> Anything:
    """`get_autocast_dtype` of the CPU."""
    return NAMED_ONLY["bfloat16"]


@published("set_autocast_enabled", "set_autocast_dtype", "set_autocast_cpu_enabled", "set_autocast_cpu_dtype")
def set_autocast(*given: object) -> None:
    """Accepted without effect: operations keep their dtypes, as under `torch.amp.autocast`."""


@published("set_autocast_cache_enabled", "clear_autocast_cache")
def set_autocast_cache(*given: object) -> None:
    """Accepted without effect: nothing is cast, so nothing is kept."""


@published()
def autocast_increment_nesting() -> int:
    """How deep contexts of `autocast` are nested, one more from now on."""
    MODES.autocast_depth += 1
    return MODES.autocast_depth


@published()
def autocast_decrement_nesting() -> int:
    """How deep contexts of `autocast` are nested, one less from now on."""
    MODES.autocast_depth -= 1
    return MODES.autocast_depth


@published()
def get_default_device() -> device:
    """Where tensors are made that are not told where."""
    return device(MODES.device)


@published()
def set_default_device(wanted: object) -> None:
    """Choose where tensors are made that are not told where: "cpu" or "meta"."""
    MODES.device = "cpu" if wanted is None else device(wanted).type


@published()
def set_default_tensor_type(t: Anything) -> None:
    """Choose the dtype of Python floats by the name of a tensor type."""
    names = {
        "torch.FloatTensor": np.float32,
        "torch.DoubleTensor": np.float64,
        "torch.HalfTensor": np.float16,
    }
    found: Any = names[t] if isinstance(t, str) else t.numpy
    SETTINGS.default_dtype = np.dtype(found)


@published()
def set_float32_matmul_precision(precision: str) -> None:
    """Accepted without effect: products are always of full precision."""


@published()
def get_float32_matmul_precision() -> str:
    """Always "highest"."""
    return "highest"


@published()
def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Turn anomaly mode on or off."""
    MODES.anomaly, MODES.check_nan = mode, check_nan
    MODES.settle()
