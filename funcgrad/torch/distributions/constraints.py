"""Where values may lie: ``constraint.check(value)`` says it for every value, or for every event."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad import torch
from funcgrad.torch.core.operand import Operand
from funcgrad.types import Anything, Number, Option, ShapeLike

__all__ = [
    "Constraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_semidefinite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
    "unit_interval",
]


class Constraint:
    """A region, with the number of dimensions that belong to one event in it."""

    is_discrete: Any = False
    event_dim: Any = 0

    def check(self, value: Operand) -> Operand:
        raise NotImplementedError

    def __repr__(self) -> str:
        return type(self).__name__.removeprefix("_") + "()"


class _Plain(Constraint):
    """A region without parameters, described by one function."""

    def __init__(
        self, name: str, inside: Callable[[Any], Any], event_dim: int = 0, is_discrete: bool = False
    ) -> None:
        self.name = name
        self.inside = inside
        self.event_dim = event_dim
        self.is_discrete = is_discrete

    def check(self, value: Operand) -> Operand:
        return self.inside(value)

    def __repr__(self) -> str:
        return f"{self.name}()"


class _Dependent(Constraint):
    """A region that depends on other variables: its bounds are read from a distribution."""

    def __init__(
        self, *, is_discrete: Anything = NotImplemented, event_dim: Anything = NotImplemented
    ) -> None:
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    @property
    def is_discrete(self) -> Option:
        return _known(self._is_discrete, "is_discrete")

    @property
    def event_dim(self) -> Number:
        return _known(self._event_dim, "event_dim")

    def __call__(
        self, *, is_discrete: Anything = NotImplemented, event_dim: Anything = NotImplemented
    ) -> _Dependent:
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, value: Operand) -> Operand:
        raise ValueError("Cannot determine validity of dependent constraint")

    def __repr__(self) -> str:
        return "Dependent()"


def _known(value: Operand, name: str) -> Anything:
    if value is NotImplemented:
        raise NotImplementedError(f".{name} cannot be determined statically")
    return value


class dependent_property(property, _Dependent):
    """A support that an instance computes, and of which the class knows only the kind."""

    def __init__(
        self,
        fn: Anything = None,
        *,
        is_discrete: Anything = NotImplemented,
        event_dim: Anything = NotImplemented,
    ) -> None:
        property.__init__(self, fn)
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    def __call__(self, fn: Anything) -> Anything:  # type: ignore[override]
        return dependent_property(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


def is_dependent(constraint: object) -> bool:
    """Whether a constraint depends on other variables."""
    return isinstance(constraint, _Dependent)


class _Bounded(Constraint):
    """A region between bounds: the comparisons that hold inside, by the names of the bounds."""

    bounds: tuple[tuple[str, str], ...] = ()

    def __init__(self, *given: Operand, **named: Anything) -> None:
        names = [name for name, _ in self.bounds]
        values = {**dict(zip(names, given, strict=False)), **named}
        for name in names:
            setattr(self, name, values[name])

    def check(self, value: Operand) -> Operand:
        inside: Any = None
        for name, comparison in self.bounds:
            holds = getattr(torch, comparison)(value, getattr(self, name))
            inside = holds if inside is None else inside & holds
        return inside & (value % 1 == 0) if self.is_discrete else inside

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={getattr(self, name)}" for name, _ in self.bounds)
        return f"{self.word}({given})"

    word = ""


def _bounded(word: str, doc: str, *bounds: tuple[str, str], is_discrete: bool = False) -> Anything:
    return type(
        word,
        (_Bounded,),
        {"bounds": bounds, "is_discrete": is_discrete, "__doc__": doc, "word": word, "__module__": __name__},
    )


greater_than = _bounded("GreaterThan", "Above a bound.", ("lower_bound", "gt"))
greater_than_eq = _bounded("GreaterThanEq", "At or above a bound.", ("lower_bound", "ge"))
less_than = _bounded("LessThan", "Below a bound.", ("upper_bound", "lt"))
interval = _bounded("Interval", "Between bounds, both in.", ("lower_bound", "ge"), ("upper_bound", "le"))
half_open_interval = _bounded(
    "HalfOpenInterval", "Between bounds, the upper one out.", ("lower_bound", "ge"), ("upper_bound", "lt")
)
integer_interval = _bounded(
    "IntegerInterval",
    "Whole numbers between bounds, both in.",
    ("lower_bound", "ge"),
    ("upper_bound", "le"),
    is_discrete=True,
)
_integer_from = _bounded(
    "IntegerGreaterThan", "Whole numbers from a bound.", ("lower_bound", "ge"), is_discrete=True
)


class independent(Constraint):
    """A constraint whose last dimensions belong to one event: all of it has to hold."""

    def __init__(self, base_constraint: Anything, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def is_discrete(self) -> Option:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Number:
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Operand) -> Operand:
        found = self.base_constraint.check(value)
        count = self.reinterpreted_batch_ndims
        if found.dim() < count:
            raise ValueError(
                f"Expected value.dim() >= {self.base_constraint.event_dim + count} but got {value.dim()}"
            )
        return found.reshape((*found.shape[: found.dim() - count], -1)).all(-1)

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class multinomial(Constraint):
    """Counts that are not negative and sum to at most a bound."""

    def __repr__(self) -> str:
        return "Multinomial()"

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Operand) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Operand) -> Operand:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class MixtureSameFamilyConstraint(Constraint):
    """The region of the components of a mixture."""

    def __repr__(self) -> str:
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"

    def __init__(self, base_constraint: Anything) -> None:
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> Option:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Number:
        return self.base_constraint.event_dim

    def check(self, value: Operand) -> Operand:
        unsqueezed = value.unsqueeze(value.dim() - self.event_dim)
        found = self.base_constraint.check(unsqueezed)
        count = max(value.dim() - self.event_dim, 0)
        return found.reshape((*found.shape[:count], -1)).all(-1)


class _Several(Constraint):
    """Constraints of the parts of a value along a dimension."""

    def __init__(self, cseq: Sequence[Any], dim: int = 0, lengths: ShapeLike = None) -> None:
        self.cseq = list(cseq)
        self.dim = dim
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)

    @property
    def is_discrete(self) -> Option:
        return any(c.is_discrete for c in self.cseq)


class cat(_Several):
    """Pieces of a value along a dimension, each in a region of its own."""

    @property
    def event_dim(self) -> Number:
        return max(c.event_dim for c in self.cseq)

    def check(self, value: Operand) -> Operand:
        pieces = value.split(self.lengths, self.dim)
        return torch.cat([c.check(v) for c, v in zip(self.cseq, pieces, strict=True)], self.dim)


class stack(_Several):
    """Entries of a value along a dimension, each in a region of its own."""

    @property
    def event_dim(self) -> Number:
        found = max(c.event_dim for c in self.cseq)
        return found + 1 if self.dim + found < 0 else found

    def check(self, value: Operand) -> Operand:
        parts = value.unbind(self.dim)
        return torch.stack([c.check(v) for c, v in zip(self.cseq, parts, strict=True)], self.dim)


# -- regions without parameters ---------------------------------------------------------------------------


def _is_real(value: Operand) -> Anything:
    return ~torch.isnan(value)


def _is_boolean(value: Operand) -> Anything:
    return (value == 0) | (value == 1)


def _is_one_hot(value: Operand) -> Anything:
    return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


def _is_simplex(value: Operand) -> Anything:
    return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


def _all_of_matrix(holds: Anything) -> Anything:
    return holds.reshape((*holds.shape[:-2], -1)).all(-1)


def _is_lower(value: Operand) -> Anything:
    return _all_of_matrix(value.tril() == value)


def _is_lower_cholesky(value: Operand) -> Anything:
    return _is_lower(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


def _is_corr_cholesky(value: Operand) -> Anything:
    slack = torch.finfo(value.dtype).eps * value.size(-1) * 10
    return _is_lower_cholesky(value) & ((value.norm(dim=-1) - 1).abs() < slack).all(-1)


def _is_square(value: Operand) -> Anything:
    return torch.full(tuple(value.shape[:-2]), value.shape[-2] == value.shape[-1], dtype=torch.bool)


def _is_symmetric(value: Operand) -> Anything:
    square_enough = _is_square(value)
    if not square_enough.all():
        return square_enough
    return _all_of_matrix(torch.isclose(value, value.mT, atol=1e-6))


def _is_semidefinite(value: Operand) -> Anything:
    found = _is_symmetric(value)
    return found & (torch.linalg.eigvalsh(value) >= 0).all(-1) if found.all() else found


def _is_definite(value: Operand) -> Anything:
    found = _is_symmetric(value)
    return found & (torch.linalg.eigvalsh(value) > 0).all(-1) if found.all() else found


boolean = _Plain("Boolean", _is_boolean, is_discrete=True)
one_hot = _Plain("OneHot", _is_one_hot, 1, is_discrete=True)
real = _Plain("Real", _is_real)
real_vector = independent(real, 1)
simplex = _Plain("Simplex", _is_simplex, 1)
lower_triangular = _Plain("LowerTriangular", _is_lower, 2)
lower_cholesky = _Plain("LowerCholesky", _is_lower_cholesky, 2)
corr_cholesky = _Plain("CorrCholesky", _is_corr_cholesky, 2)
square = _Plain("Square", _is_square, 2)
symmetric = _Plain("Symmetric", _is_symmetric, 2)
positive_semidefinite = _Plain("PositiveSemidefinite", _is_semidefinite, 2)
positive_definite = _Plain("PositiveDefinite", _is_definite, 2)
positive = greater_than(lower_bound=0.0)
nonnegative = greater_than_eq(lower_bound=0.0)
unit_interval = interval(0.0, 1.0)
nonnegative_integer = _integer_from(0)
positive_integer = _integer_from(1)
dependent = _Dependent()


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
