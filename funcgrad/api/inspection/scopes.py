"""Names for parts of programs that JAX's programs give; here reports name the lines themselves."""

from __future__ import annotations

from contextlib import ContextDecorator
from types import TracebackType


class named_scope(ContextDecorator):
    """Name a part of a function, as ``jax.named_scope`` does; it changes nothing.

    `fg.explain`, `fg.profile` and errors name the lines of the program, whatever they stand in.

    >>> def layer(x):
    ...     with named_scope("layer"):
    ...         return np.tanh(x)
    >>> print(fg.grad(layer)(0.0))
    1.0
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"named_scope takes a name, got {name!r}")
        self.name = name

    def __enter__(self) -> named_scope:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing was changed."""
