"""What workers are told once: the function, how its results are put together, and who sent it.

A recipe travels as bytes that cloudpickle made, so lambdas, closures and functions of notebooks and scripts
go along; where cloudpickle is not installed pickle does what it can.
"""

from __future__ import annotations

import hashlib
import inspect
import io
import pickle
import sys
from collections import ChainMap
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import CodeType
from typing import Any

from funcgrad.api.calling.transformed import TransformedFunction
from funcgrad.api.jit import JittedFunction
from funcgrad.errors import ArgnumsError, MissingExtraError

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Recipe:
    """A function of shared arguments and a shard, and what becomes of its results."""

    function: Function
    name: str
    reduce: str | Function
    """``sum``, ``mean``, ``gather``, or a function of two results."""
    aux: str
    """Where the function's result has what is handed back apart: nowhere (``""``), ``second``, ``inner``."""
    jit: bool
    threads: int | None
    out_axes: Any = 0
    """Along which axes gathered results are joined."""


def version() -> str:
    """The version of funcgrad that runs here."""
    return str(vars(sys.modules["funcgrad"])["__version__"])


def dumps(value: object, what: str) -> bytes:
    """`value` as bytes for another process.

    Raises MissingExtraError where only cloudpickle could do it, and it is not installed.
    """
    try:
        import cloudpickle  # noqa: PLC0415 - an extra
    except ImportError:
        try:
            return pickle.dumps(value, protocol=5)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise MissingExtraError(
                f"{what} cannot be sent to other processes by pickle: {error}",
                remedy="cloudpickle sends lambdas, closures and functions of notebooks as well: "
                "pip install 'funcgrad[dask]', or pip install cloudpickle.",
            ) from None
    table = cloudpickle.CloudPickler.dispatch_table
    ours = ChainMap({CodeType: partial(code_with_its_file, table[CodeType])}, table)
    pickler = type("Pickler", (cloudpickle.CloudPickler,), {"dispatch_table": ours})
    written = io.BytesIO()
    pickler(written, protocol=5).dump(value)
    return written.getvalue()


def code_with_its_file(taken_apart: Callable[[CodeType], tuple[Any, ...]], code: CodeType) -> tuple[Any, ...]:
    """As cloudpickle takes code apart, with the name of its file: errors of workers show the user's line.

    From 3.1.3 on it leaves the name out, so that notebooks send the same bytes each time.
    """
    make, given, *rest = taken_apart(code)
    return make, tuple([code.co_filename if part == "<dynamic-code>" else part for part in given]), *rest


def digest_of(data: bytes) -> str:
    """A name for these bytes."""
    return hashlib.sha256(data).hexdigest()[:32]


def options_of(function: object) -> tuple[str, dict[str, Any], Any]:
    """The name of the transform that made a function, its options, and its function; looks through `jit`.

    >>> name, options, _ = options_of(fg.jit(fg.grad(np.sum, has_aux=True)))
    >>> name, options["has_aux"]
    ('grad', True)
    """
    while isinstance(function, JittedFunction):
        function = function._made_by[1][0]
    if not isinstance(function, TransformedFunction):
        return "", {}, function
    make, args, kwargs = function._made_by
    bound = inspect.signature(make).bind(*args, **kwargs)
    bound.apply_defaults()
    return make.__name__, dict(bound.arguments), args[0]


def aux_of(function: object, has_aux: bool) -> str:
    """Where a function's result has its auxiliary part, as in `Recipe`."""
    name, options, _ = options_of(function)
    if options.get("has_aux"):
        return "inner" if name == "value_and_grad" else "second"
    return "second" if has_aux else ""


def refuse_donated(function: object) -> None:
    """Raise ArgnumsError for a jitted function that may write into its arguments."""
    if isinstance(function, JittedFunction) and function._made_by[2].get("donate_argnums"):
        raise ArgnumsError(
            "distribute was given a function whose jit has donate_argnums: shards are used again by the next "
            "call, and must not be written into",
            remedy="Leave donate_argnums out.",
        )
