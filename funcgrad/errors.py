"""Owns the classes and the layout of funcgrad's errors: what was seen, the user's line, the next step.

Words no message itself: whoever notices a mistake knows best what to say. Each class also inherits the
builtin exceptions under which NumPy, JAX or autograd report the same mistake, so existing handlers catch it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from funcgrad.config import HAVE_RULES
from funcgrad.later import Later
from funcgrad.source import Source, installed_package

__all__ = [
    "ArgnumsError",
    "ConcretizationError",
    "CustomRuleError",
    "DistributedError",
    "DtypeError",
    "EscapedTracerError",
    "FuncgradError",
    "IndexingError",
    "LabelsDroppedWarning",
    "LostDataError",
    "MissingExtraError",
    "NonScalarGradError",
    "NotDifferentiableError",
    "ProgramError",
    "ShapeError",
    "ShardError",
    "StaticArgumentError",
    "TracedAttributeError",
    "TracedBranchError",
    "TracerAssignmentError",
    "TreeError",
    "UnsupportedFunctionError",
    "WorkerVersionError",
    "ZeroGradientWarning",
    "did_you_mean",
]

# A misspelt name can wait for it; importing funcgrad should not.
difflib = Later("difflib")


WHEN_REFUSED: list[Callable[[FuncgradError], None]] = []
"""What is told of every refusal, when it is made."""


class FuncgradError(Exception):
    """Base of every error that funcgrad raises on purpose.

    ``seen`` says what was found, ``source`` is the user's line, ``notes`` are further labelled lines and
    ``remedy`` is the next step. The text is laid out when it is asked for, so whoever knows the line may
    set ``source`` on an error that was made without one.

    >>> print(ShapeError("shapes (3,) and (4,) do not broadcast", remedy="Reshape one of them."))
    shapes (3,) and (4,) do not broadcast
      Reshape one of them.
    """

    seen: str
    source: Source | None
    remedy: str | None
    notes: tuple[tuple[str, Source], ...]
    as_your_own = False
    """Whether the user's own code might not have met this where the code of an installed package does."""
    refuses = False
    """Whether a traced value could not go on: code that catches this may compute something else."""
    has_paths = False
    """Whether one path may be recorded where this keeps a function from being recorded for all arguments."""

    def __init__(
        self,
        seen: str,
        *,
        source: Source | None = None,
        remedy: str | None = None,
        notes: Sequence[tuple[str, Source]] = (),
    ) -> None:
        # Pickling and copying rebuild from `args` and then restore the attributes below.
        super().__init__(seen)
        self.seen = seen
        self.source = source
        self.remedy = remedy
        self.notes = tuple(notes)
        if self.refuses:
            for note in WHEN_REFUSED:
                note(self)

    def __str__(self) -> str:
        parts = [self.seen]
        if self.source is not None:
            parts.append(self.source.caret())
        parts += [source.caret(label) for label, source in self.notes]
        if self.remedy:
            parts += [f"  {line}".rstrip() for line in self.remedy.splitlines()]
        package = self.package_to_take_in()
        if package:
            parts.append(f"  fg.config.packages({package!r}) has its functions traced as your own.")
        return "\n".join(parts)

    def package_to_take_in(self) -> str:
        """The installed package that would have to be traced as the user's own; "" where there is none."""
        package = "" if self.source is None or not self.as_your_own else installed_package(self.source.file)
        return "" if package in HAVE_RULES else package

    def on_one_path(self) -> FuncgradError:
        """This error, of a function that can be recorded for one path at a time."""
        self.has_paths = True
        return self

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: no library frames."""
        from funcgrad.tracebacks import rendered  # noqa: PLC0415 - when an error is shown

        return rendered(self)


class TracedBranchError(FuncgradError, TypeError):
    """Raised when ``if``, ``while``, ``and`` or ``or`` asks for a traced value where none exists."""

    as_your_own = refuses = True


class ConcretizationError(FuncgradError, TypeError):
    """Raised when ``float``, ``np.asarray`` or ``math.sin`` would take a traced value, or there is none."""

    as_your_own = refuses = True


class ShapeError(FuncgradError, ValueError, TypeError):
    """Raised when the shapes of the arguments do not fit each other or the operation."""


class DtypeError(FuncgradError, TypeError):
    """Raised when an operation does not take the dtype it was given."""


class NonScalarGradError(FuncgradError, TypeError):
    """Raised when the function given to ``grad`` returns anything but one real scalar."""


class NotDifferentiableError(FuncgradError, TypeError):
    """Raised when an integer or boolean argument, or an operation without a derivative, is differentiated."""


class ArgnumsError(FuncgradError, ValueError, TypeError):
    """Raised when ``argnums``, ``in_axes`` or a like option does not fit the arguments of the call."""


class StaticArgumentError(FuncgradError, ValueError, TypeError):
    """Raised when an argument of `jit` cannot be traced, or a static one cannot be part of a key."""


class TracerAssignmentError(FuncgradError, TypeError):
    """Raised when a traced value is assigned into a real NumPy array, which cannot hold it."""

    as_your_own = refuses = True


class EscapedTracerError(FuncgradError, RuntimeError, TypeError):
    """Raised when a traced value is used after the trace that made it has ended."""

    as_your_own = refuses = True


class TracedAttributeError(FuncgradError, AttributeError):
    """Raised when a traced array is asked for something that only an array in memory has, or nothing has."""


class UnsupportedFunctionError(FuncgradError, TypeError, NotImplementedError):
    """Raised when a NumPy or SciPy function that funcgrad does not offer is called on a traced value."""

    as_your_own = refuses = True


class TreeError(FuncgradError, ValueError, TypeError):
    """Raised when pytrees that must have one structure differ, or a pytree cannot be flattened."""


class CustomRuleError(FuncgradError, TypeError):
    """Raised when a custom derivative rule is missing or returns the wrong structure, shape or dtype."""


class ProgramError(FuncgradError, ValueError):
    """Raised when checking or parsing finds an ill-formed Program."""


class IndexingError(FuncgradError, IndexError):
    """Raised when an index is out of bounds, has too many parts, or is of a kind that cannot be traced."""


class MissingExtraError(FuncgradError, ImportError):
    """Raised when a package is asked for that comes with an extra, and is not installed."""


class DistributedError(FuncgradError, RuntimeError):
    """Raised when work that `distribute` gave to an engine cannot be done: the engine is closed, say."""


class ShardError(DistributedError):
    """Raised when the function raises on a shard of the data; the function's own error is the cause."""

    shard: int
    """The number of the shard."""
    rows: tuple[int, int] | None
    """Its first row and the one after its last, where they are known."""

    def __init__(
        self,
        seen: str,
        *,
        source: Source | None = None,
        remedy: str | None = None,
        notes: Sequence[tuple[str, Source]] = (),
        shard: int = 0,
        rows: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(seen, source=source, remedy=remedy, notes=notes)
        self.shard = shard
        self.rows = rows


class LostDataError(DistributedError):
    """Raised when scattered data is gone with the worker that held it."""


class WorkerVersionError(DistributedError):
    """Raised when a worker has another version of funcgrad than the process that sends it work."""


class LabelsDroppedWarning(UserWarning):
    """Given when the values of a pandas or xarray object are taken, and its labels are not."""


class ZeroGradientWarning(UserWarning):
    """Given when a result follows from what it is differentiated by only through comparisons.

    >>> import warnings
    >>> def root(a):
    ...     lo, hi = 0.0, 4.0
    ...     while hi - lo > 1e-12:
    ...         middle = (lo + hi) / 2
    ...         lo, hi = (middle, hi) if middle**2 < a else (lo, middle)
    ...     return middle
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     print(fg.grad(root)(2.0), caught[0].category.__name__)
    0.0 ZeroGradientWarning
    """


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """A question that offers the candidates closest to a misspelt name, or ``""`` where none is close.

    >>> did_you_mean("arctahn", ["arcsin", "arctan", "arctanh", "sum"])
    "Did you mean 'arctan', 'arctanh' or 'arcsin'?"
    """
    if name.startswith("__"):
        # Python asks every module that is imported from for `__path__`: that is nobody's mistake.
        return ""
    close = [repr(found) for found in difflib.get_close_matches(name, sorted(set(candidates)))]
    if not close:
        return ""
    listed = " or ".join(filter(None, [", ".join(close[:-1]), close[-1]]))
    return f"Did you mean {listed}?"


_OF_JAX: dict[str, object] = {
    "ConcretizationTypeError": (ConcretizationError, TracedBranchError),
    "JAXIndexError": IndexingError,
    "JAXTypeError": FuncgradError,
    "NonConcreteBooleanIndexError": (IndexingError, ConcretizationError),
    "TracerArrayConversionError": ConcretizationError,
    "TracerBoolConversionError": TracedBranchError,
    "TracerIntegerConversionError": ConcretizationError,
    "UnexpectedTracerError": EscapedTracerError,
}
"""What programs written for JAX catch under the names of ``jax.errors``."""


def __getattr__(name: str) -> object:
    if name in _OF_JAX:
        return _OF_JAX[name]
    advice = did_you_mean(name, [*__all__, *_OF_JAX])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}. {advice}".rstrip())


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
