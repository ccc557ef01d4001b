"""Context managers and decorators for the modes: `no_grad`, `enable_grad`, `inference_mode` and others."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import MODES
from funcgrad.types import Anything, Result


class Mode:
    """A context manager that is also a decorator, with or without parentheses."""

    __slots__ = ("_before",)
    __module__ = "funcgrad.torch"

    def __new__(cls, function: Anything = None) -> Anything:
        made = object.__new__(cls)
        if function is None:
            return made
        made.__init__()  # type: ignore[misc]
        return made(function)

    def __init__(self, function: Anything = None) -> None:
        self._before: list[Any] = []

    def clone(self) -> Mode:
        """A fresh one, for each call of a decorated function."""
        return type(self)()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isgeneratorfunction(function):
            return self._of_generator(function)

        @functools.wraps(function)
        def inside(*args: Operand, **kwargs: Anything) -> Result:
            with self.clone():
                return function(*args, **kwargs)

        return inside

    def _of_generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def inside(*args: Operand, **kwargs: Anything) -> Result:
            generator = function(*args, **kwargs)
            try:
                with self.clone():
                    item = next(generator)
                while True:
                    try:
                        sent = yield item
                    except GeneratorExit:
                        with self.clone():
                            generator.close()
                        raise
                    except BaseException as error:  # noqa: BLE001 - the generator decides
                        with self.clone():
                            item = generator.throw(error)
                    else:
                        with self.clone():
                            item = generator.send(sent)
            except StopIteration as stop:
                return stop.value

        return inside

    def _enter(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> None:
        self._before.append((MODES.said, MODES.inference))
        self._enter()
        MODES.settle()

    def __exit__(self, *exc: object) -> None:
        said, MODES.inference = self._before.pop()
        MODES.remember(said)
        MODES.settle()


class no_grad(Mode):
    """Operations inside are not remembered.

    >>> x = fg.torch.ones(2, requires_grad=True)
    >>> with fg.torch.no_grad():
    ...     (x * 2).requires_grad
    False
    """

    __slots__ = ()

    def _enter(self) -> None:
        MODES.remember(False)


class enable_grad(Mode):
    """Operations inside are remembered, also within `no_grad`."""

    __slots__ = ()

    def _enter(self) -> None:
        MODES.remember(True)


class inference_mode(Mode):
    """As `no_grad`; what is made inside can never take part in a history."""

    __slots__ = ("_mode",)

    def __new__(cls, mode: Anything = True) -> Anything:
        if isinstance(mode, bool):
            return object.__new__(cls)
        made = object.__new__(cls)
        made.__init__()  # type: ignore[misc]
        return made(mode)

    def __init__(self, mode: Anything = True) -> None:
        super().__init__()
        self._mode = bool(mode) if isinstance(mode, bool) else True

    @property
    def mode(self) -> bool:
        """Whether it turns inference mode on."""
        return self._mode

    def clone(self) -> Mode:
        """A fresh one, for each call of a decorated function."""
        return type(self)(self._mode)

    def _enter(self) -> None:
        MODES.inference = self._mode
        MODES.remember(not self._mode)


class set_grad_enabled(Mode):
    """Turn remembering on or off: at once, or inside a ``with``."""

    __slots__ = ("_mode",)

    def __new__(cls, mode: bool) -> Anything:
        return object.__new__(cls)

    def __init__(self, mode: bool) -> None:
        super().__init__()
        if not isinstance(mode, bool):
            raise TypeError(
                f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}"
            )
        self._mode = mode
        self._before.append((MODES.said, MODES.inference))
        MODES.remember(self._mode)
        MODES.settle()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        said, MODES.inference = self._before.pop()
        MODES.remember(said)
        MODES.settle()
        return super().__call__(function)

    def clone(self) -> Mode:
        """A fresh one, for each call of a decorated function."""
        return type(self)(self._mode)

    def __enter__(self) -> None:
        if not self._before:
            self._before.append((MODES.said, MODES.inference))
        MODES.remember(self._mode)
        MODES.settle()

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self._mode})"

    def _enter(self) -> None:
        MODES.remember(self._mode)


def is_grad_enabled() -> bool:
    """Whether operations are remembered in this thread."""
    return MODES.said


def is_inference_mode_enabled() -> bool:
    """Whether this thread is in inference mode."""
    return MODES.inference


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on."""
    return MODES.anomaly


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode looks for NaN."""
    return MODES.check_nan


class set_detect_anomaly:
    """Turn anomaly mode on or off: at once, or inside a ``with``."""

    __slots__ = ("_before",)

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = (MODES.anomaly, MODES.check_nan)
        MODES.anomaly, MODES.check_nan = bool(mode), check_nan
        MODES.settle()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        MODES.anomaly, MODES.check_nan = self._before
        MODES.settle()


class detect_anomaly:
    """Inside, a backward pass that makes NaN fails and shows the forward operation it came from."""

    __slots__ = ("_before", "_check")

    def __init__(self, check_nan: bool = True) -> None:
        self._check = check_nan
        self._before = (MODES.anomaly, MODES.check_nan)
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be "
            "enabled for debugging.",
            UserWarning,
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self._before = (MODES.anomaly, MODES.check_nan)
        MODES.anomaly, MODES.check_nan = True, self._check
        MODES.settle()

    def __exit__(self, *exc: object) -> None:
        MODES.anomaly, MODES.check_nan = self._before
        MODES.settle()


class set_multithreading_enabled:
    """Accepted: a backward pass runs in the thread that asks for it, whatever is said."""

    __slots__ = ("_before",)

    def __init__(self, mode: bool) -> None:
        self._before = MODES.multithreading
        MODES.multithreading = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        MODES.multithreading = self._before


def is_multithreading_enabled() -> bool:
    """What was said to `set_multithreading_enabled`."""
    return MODES.multithreading
