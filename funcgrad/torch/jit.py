"""``torch.jit``: functions and modules stay as they are, in Python. `fg.jit` compiles functions."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, Final, NoReturn, TypeVar

from funcgrad.torch.core.operand import Operands
from funcgrad.torch.core.unsupported import missing
from funcgrad.torch.nn.module import Module as ScriptModule
from funcgrad.types import Anything

__all__ = [
    "Final",
    "ScriptModule",
    "TracerWarning",
    "TracingCheckError",
    "annotate",
    "export",
    "fork",
    "freeze",
    "ignore",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "load",
    "optimize_for_inference",
    "save",
    "script",
    "script_if_tracing",
    "script_method",
    "trace",
    "trace_module",
    "unused",
    "wait",
]


class TracerWarning(Warning):
    """What PyTorch warns of while it traces; nothing here does."""


class TracingCheckError(Exception):
    """What PyTorch raises where a traced function does something else; nothing here does."""


T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


def script(obj: T, **options: object) -> T:
    """The function, class or module itself.

    >>> @fg.torch.jit.script
    ... def double(x):
    ...     return x + x
    >>> double(fg.torch.ones(2))
    tensor([2., 2.])
    """
    return obj


def trace(func: T, example_inputs: object = None, **options: object) -> T:
    """The function or module itself: branches stay branches."""
    return func


def trace_module(mod: T, inputs: Operands, **options: object) -> T:
    """The module itself."""
    return mod


def freeze(mod: T, preserved_attrs: object = None, optimize_numerics: bool = True) -> T:
    """The module itself, which has to be in evaluation mode."""
    if getattr(mod, "training", False):
        raise RuntimeError(
            "Freezing is currently only implemented for modules in eval mode. Please call .eval() on your "
            "module before freezing."
        )
    return mod


def optimize_for_inference(mod: T, other_methods: object = None) -> T:
    """The module itself."""
    return mod


def export(fn: F) -> F:
    """The function itself."""
    return fn


def script_method(fn: F) -> F:
    """The method itself."""
    return fn


def script_if_tracing(fn: F) -> F:
    """The function itself."""
    return fn


def ignore(drop: Anything = False, **options: object) -> Callable[..., Any]:
    """The function itself; with an argument first, a decorator that returns it."""
    return drop if callable(drop) else script


def unused(fn: F) -> F:
    """The function itself."""
    return fn


def annotate(the_type: object, the_value: T) -> T:
    """The value."""
    return the_value


def isinstance(obj: object, target_type: type | tuple[type, ...]) -> bool:
    """Python's own question, of types without parameters."""
    return builtins.isinstance(obj, target_type)


def is_scripting() -> bool:
    """False: nothing is compiled."""
    return False


def is_tracing() -> bool:
    """False: nothing is recorded."""
    return False


def fork(func: Callable[..., T], *args: object, **kwargs: object) -> T:
    """``func(*args, **kwargs)``, computed at once; `wait` gives it back."""
    return func(*args, **kwargs)


def wait(future: T) -> T:
    """What `fork` computed."""
    return future


def load(f: object, *args: object, **kwargs: object) -> NoReturn:
    """Not supported: programs of TorchScript are PyTorch's own."""
    raise NotImplementedError(
        "funcgrad.torch does not support jit.load: make the module in Python and load its state_dict"
    )


def save(m: object, f: object, *args: object, **kwargs: object) -> NoReturn:
    """Not supported: there is no TorchScript here."""
    raise NotImplementedError("funcgrad.torch does not support jit.save: save the module's state_dict")


def __getattr__(name: str) -> Anything:
    """What is not here says so by name."""
    raise missing(__name__, name)
