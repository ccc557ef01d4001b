"""``torch.backends.cuda``: not here; its flags can be set, and change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

__all__ = ["is_built", "matmul", "sdp_kernel"]

matmul = SimpleNamespace(
    allow_tf32=False,
    allow_fp16_reduced_precision_reduction=True,
    allow_bf16_reduced_precision_reduction=True,
    fp32_precision="none",
)


def is_built() -> bool:
    """False."""
    return False


@contextmanager
def sdp_kernel(*args: object, **kwargs: object) -> Iterator[None]:
    """A context without effect: there is one way to compute attention here."""
    yield


def _flag(name: str) -> None:
    state = SimpleNamespace(on=True)

    def enable(enabled: bool) -> None:
        state.on = bool(enabled)

    def enabled() -> bool:
        return bool(state.on)

    enable.__name__, enabled.__name__ = f"enable_{name}_sdp", f"{name}_sdp_enabled"
    enable.__doc__ = "Remember the flag, which changes nothing."
    enabled.__doc__ = "What was set."
    globals().update({enable.__name__: enable, enabled.__name__: enabled})
    __all__.extend([enable.__name__, enabled.__name__])


for _name in ("flash", "math", "mem_efficient", "cudnn"):
    _flag(_name)
