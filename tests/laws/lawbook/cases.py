"""Which laws are asked of which primitive: every class of the catalog, every sample, every dtype."""

from __future__ import annotations

import pkgutil
import zlib
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from funcgrad import ops, transforms
from funcgrad.ir.avals import Aval, aval_of
from funcgrad.ir.program import Equation, Program, Var
from funcgrad.tracing.primitive import CATALOG, Primitive
from funcgrad.tracing.recorder import NOWHERE, Recorder
from funcgrad.tracing.samples import Sample

# A class enters the catalog when its module is imported, and users import none of these.
for _package in (ops, transforms):
    for _module in pkgutil.walk_packages(_package.__path__, f"{_package.__name__}."):
        import_module(_module.name)

DTYPES = tuple(np.dtype(t) for t in (np.float64, np.float32, np.complex128, np.complex64))
DOUBLE = {"f": np.dtype(np.float64), "c": np.dtype(np.complex128)}


class Case:
    """One primitive on one sample in one dtype."""

    def __init__(self, cls: type[Primitive], index: int, sample: Sample, dtype: np.dtype[Any]) -> None:
        self.cls = cls
        self.sample = sample
        self.dtype = dtype
        self.id = f"{cls.name}-{index}-{dtype.name}"

    def __repr__(self) -> str:
        return self.id

    @property
    def primitive(self) -> Any:
        """The primitive with the sample's parameters."""
        return self.cls(**self.sample.params)

    def rng(self) -> np.random.Generator:
        """A generator of its own, the same in every run."""
        return np.random.default_rng(zlib.crc32(self.id.encode()))

    def values(self, rng: np.random.Generator) -> list[Any]:
        """Fresh inputs; those of rank 0 as NumPy scalars, as an evaluated Program has them."""
        with np.errstate(all="ignore"):
            return [x[()] if isinstance(x, np.ndarray) else x for x in self.sample.draw(rng, self.dtype)]

    def program(self, values: list[Any]) -> Program:
        """The primitive as a Program of one equation, or of what the sample puts around it."""
        return self._program_on(tuple([aval_of(x) for x in values]))

    def bound(self, values: list[Any]) -> tuple[Any, ...]:
        """The results of applying the primitive to arrays."""
        primitive, through = self.primitive, self.sample.through
        out = primitive.bind(*values) if through is None else through(primitive, *values)
        return out if isinstance(out, tuple) else (out,)

    def _program_on(self, avals: tuple[Aval, ...]) -> Program:
        if self.sample.through is None:
            return program_of(self.primitive, avals)
        with Recorder(self.primitive.name, "law", NOWHERE) as recorder:
            inputs = [recorder.input(a) for a in avals]
            out = self.sample.through(self.primitive, *inputs)
            outs = out if isinstance(out, tuple) else (out,)
            return recorder.program([t._index for t in inputs], [recorder.index_of(x) for x in outs])

    def exact_program(self, values: list[Any]) -> Program:
        """The same in double precision."""
        avals = [aval_of(x) for x in values]
        wide = [a.with_dtype(DOUBLE[a.dtype.kind]) if a.inexact else a for a in avals]
        return self._program_on(tuple(wide))


def program_of(primitive: Any, avals: tuple[Aval, ...]) -> Program:
    """One equation as a Program."""
    inputs = tuple([Var(a) for a in avals])
    found = primitive.inferred(avals)
    outputs = tuple([Var(a) for a in (found if primitive.multiple else (found,))])
    return Program(inputs, (), (Equation(primitive, inputs, outputs),), outputs, primitive.name)


def follows_dtype(sample: Sample) -> bool:
    """Whether any input takes the dtype it is asked for; if none does, one dtype says everything."""
    drawn = [sample.draw(np.random.default_rng(0), dtype) for dtype in (np.float64, np.float32)]
    return any(x.dtype != y.dtype for x, y in zip(*drawn, strict=True))


def dtypes_of(cls: type[Primitive], sample: Sample) -> tuple[np.dtype[Any], ...]:
    """The dtypes in which a sample is drawn."""
    with np.errstate(all="ignore"):
        if not follows_dtype(sample):
            return DTYPES[:1]
    return tuple([d for d in DTYPES if d.kind in getattr(cls, "kinds", "fc")])


def cases() -> Iterator[Case]:
    """Every case of the catalog."""
    for name in sorted(CATALOG):
        cls = CATALOG[name]
        for index, sample in enumerate(cls.samples()):
            for dtype in dtypes_of(cls, sample):
                yield Case(cls, index, sample, dtype)


def classes() -> list[type[Primitive]]:
    """Every primitive class, by name."""
    return [CATALOG[name] for name in sorted(CATALOG)]


def law_of(among: Iterable[Case]) -> Callable[[Callable[[Case], None]], Callable[..., None]]:
    """Decorate a law of one case: a test of each primitive, of all its cases. Those that fail are named."""
    of_class: dict[str, list[Case]] = {}
    for case in among:
        of_class.setdefault(case.cls.name, []).append(case)

    def decorate(law: Callable[[Case], None]) -> Callable[..., None]:
        @pytest.mark.parametrize("name", list(of_class))
        def test(name: str) -> None:
            failures = [failure for case in of_class[name] if (failure := failure_of(law, case)) is not None]
            if failures:
                raise failures[0] if len(failures) == 1 else ExceptionGroup(f"cases of {name}", failures)

        test.__name__, test.__doc__, test.__module__ = law.__name__, law.__doc__, law.__module__
        return test

    return decorate


def failure_of(law: Callable[[Case], None], case: Case) -> Exception | None:
    """What a law has against a case."""
    try:
        law(case)
    except Exception as error:  # noqa: BLE001  # raised again when the other cases have been tried
        error.add_note(f"case {case!r}")
        return error
    return None
