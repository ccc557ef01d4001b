"""The base class of every primitive: one class holds everything about one operation.

Owns interning of parametrised primitives, the check that mandatory rules exist, and binding (record
where a tracer is involved, evaluate where none is). Families of operations refine it in `families`.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from weakref import ref

from funcgrad.errors import NotDifferentiableError, ProgramError
from funcgrad.ir.avals import Aval, aval_of
from funcgrad.ir.catalog import CATALOG
from funcgrad.ir.program import Program
from funcgrad.shared import keep_through_forks
from funcgrad.tracing.recorder import NOWHERE, Recorder, recorder_of
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array, ArrayLike, Arrays

if TYPE_CHECKING:
    from funcgrad.ir.program import Atom

Avals = Aval | tuple[Aval, ...]
Flags = tuple[bool, ...]

Native = str | Mapping[str, str]
"""A native form of one element: see `funcgrad.ops.native`."""

Compiled = Callable[..., Any]
"""A function of numbers that Numba has compiled, in place of a native form: kernels call it by address."""


class Fold(NamedTuple):
    """How elements are combined into one, in any order: parts may be combined first, and then what they gave.

    In `start`, ``{lowest}`` and ``{highest}`` are the bounds of an integer dtype.
    """

    name: str
    """What kernels call what has been found so far."""
    combine: Native
    """The form of one step, of what has been found and one more element."""
    start: Native
    """What there is before the first element."""


MANDATORY = ("infer", "evaluate", "jvp", "batch", "samples")

FORMS = (
    "native",
    "native_form",
    "fold",
    "passes_on",
    "expansion",
    "exported",
    "exported_texts",
    "line_calls",
)
"""What says how kernels and exported modules compute it."""

MOST_INFERRED = 10_000
"""Result types that a primitive remembers, before it starts again."""

_INTERNING = RLock()
keep_through_forks(_INTERNING)


_DEAD: deque[tuple[dict[Any, Any], tuple[Any, ...], ref[Any]]] = deque()
"""Primitives that have ended and are still among the instances of their class."""


def bury() -> None:
    """Take out those that have ended, unless another thread is at it, or enters one: it does so afterwards.

    Nobody waits: a primitive may end anywhere, also where its thread holds what the other needs.
    """
    while _DEAD and _INTERNING.acquire(blocking=False):
        try:
            while True:
                try:
                    instances, args, dead = _DEAD.popleft()
                except IndexError:  # all are out; others may end in between, so that to ask is not enough
                    break
                if instances.get(args) is dead:
                    del instances[args]
        finally:
            _INTERNING.release()


class Linear:
    """Stands for a linear input in a transpose rule: it has an aval and no value."""

    __slots__ = ("aval",)

    def __init__(self, aval: Aval) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"Linear({self.aval})"


class Primitive:
    """An operation with its static parameters; equal class and parameters make one object.

    A concrete class sets ``name`` and ``parameters`` and defines the rules below. Rules are written with
    ordinary operations on tracers, so whatever they compute is recorded, typed and differentiable again.
    Tangents and cotangents that are structurally zero are ``None``.
    """

    name: ClassVar[str] = ""
    parameters: ClassVar[tuple[str, ...]] = ()
    multiple: ClassVar[bool] = False
    """Whether it returns a tuple of results."""
    selects: ClassVar[bool] = False
    """Whether its transpose sets elements of a cotangent to zero because they were not selected."""
    aliases: ClassVar[bool] = False
    """Whether `evaluate` may return a view of an input."""
    overwrites: ClassVar[bool] = False
    """Whether there is an `evaluate_over`, which may put the result in the memory of the first input."""
    transpose_into: ClassVar[Callable[..., Any] | None] = None
    """``transpose_into(total, cotangent, *inputs)``: the transpose by the first input, added to `total`.

    For operations that read a part: adding a part to what is there costs as much as the part, and many
    reads of one array cost as much as the array.
    """
    transpose_onto: ClassVar[Callable[..., Any] | None] = None
    """``transpose_onto(totals, cotangent, *inputs)``: the transpose, added to what has reached the inputs.

    For operations that hold Programs, which add to a total where they would else begin with zeros.
    `totals` has a value or None for each input.
    """
    splits: ClassVar[bool] = False
    """Whether it gives eigenvectors, of which `funcgrad.transforms.spectra` takes care before derivatives."""
    severs: ClassVar[bool] = False
    """Whether no derivative flows through it, so that its value may be read as an ordinary number."""
    decides: ClassVar[bool] = False
    """Whether it holds all branches or trips of something recorded, of which a value decides what is run."""
    reads_numbers: ClassVar[bool] = False
    """Whether its derivative is another one where numbers among the operands are known."""
    pure: ClassVar[bool] = True
    """Whether two applications to the same inputs may be merged."""
    native: Native | Compiled = ""
    """Element by element: what kernels compute for one; empty where they have no words for it."""
    cost: ClassVar[int] = 1
    """How many additions an element takes the time of, roughly."""
    fold: ClassVar[Fold | None] = None
    """How elements along axes are combined, for kernels to make loops of: `funcgrad.ops.reducing.folds`."""
    passes_on: ClassVar[bool] = False
    """Whether the result is the operand itself, which kernels then read in its place."""
    exported: ClassVar[tuple[str, ...]] = ()
    """What exported modules call for what kernels have no text for: the results, or one text of a tuple.

    ``{0}`` and so on are the operands, elements or matrices, and ``{p.name}`` is a parameter.
    """
    not_exported: ClassVar[str] = ""
    """Why exported modules have no form of it, where more is known than that there is none."""
    of_nothing: ClassVar[str] = ""
    """The elements of its results where there are none to compute them of, in words of kernels."""

    _instances: ClassVar[dict[tuple[Any, ...], ref[Any]]]
    _inferred: dict[tuple[Aval, ...], Any]
    _plans: dict[tuple[Aval, ...], Any]
    _local_rules: dict[tuple[Any, ...], Any]
    """What `funcgrad.transforms.local_rules` has made of its rules, by the types of operands."""

    def __init_subclass__(cls, **kwargs: Anything) -> None:
        super().__init_subclass__(**kwargs)
        cls._instances = {}
        if "name" not in cls.__dict__ or not cls.name:
            return
        cls._forget_forms_of_others()
        missing = [rule for rule in MANDATORY if getattr(cls, rule, None) is getattr(Primitive, rule)]
        if missing:
            raise TypeError(f"primitive {cls.name!r} has no {' and no '.join(missing)} rule")
        if CATALOG.get(cls.name, cls).__qualname__ != cls.__qualname__:
            raise TypeError(f"two primitives are called {cls.name!r}: {CATALOG[cls.name]} and {cls}")
        CATALOG[cls.name] = cls

    @classmethod
    def _forget_forms_of_others(cls) -> None:
        """Take no form for kernels over from an operation that is evaluated in another way."""
        bases = cls.__mro__
        above = next((k for k, base in enumerate(bases) if k and base.__dict__.get("name")), len(bases) - 1)
        if all(getattr(bases[above], r, None) is getattr(cls, r, None) for r in ("evaluate", "ufunc")):
            return
        for form in FORMS:
            if not any(form in base.__dict__ for base in bases[:above]):
                setattr(cls, form, Primitive.__dict__[form])

    def __new__(cls, *args: Anything, **kwargs: Anything) -> Anything:
        if kwargs:
            args = args + tuple(kwargs[name] for name in cls.parameters[len(args) :])
        # A plain dictionary of weak references: `WeakValueDictionary.get` takes three times as long.
        found = cls._instances.get(args)
        self = found() if found is not None else None
        return self if self is not None else cls._intern(args)

    @classmethod
    def _intern(cls, args: tuple[Any, ...]) -> Anything:
        if len(args) != len(cls.parameters):
            raise TypeError(f"{cls.name} takes parameters {cls.parameters}, got {args}")
        self = object.__new__(cls)
        for name, value in zip(cls.parameters, args, strict=True):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_inferred", {})
        object.__setattr__(self, "_plans", {})
        object.__setattr__(self, "_local_rules", {})
        instances = cls._instances

        def forget(dead: ref[Any], is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
            # As Python ends, what compares parameters may be gone.
            if not is_ending():
                _DEAD.append((instances, args, dead))
                bury()

        with _INTERNING:
            found = instances.get(args)
            other = found() if found is not None else None
            if other is None:
                instances[args] = ref(self, forget)
        if _DEAD:
            bury()
        return self if other is None else other

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a primitive is immutable: cannot set {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, name) for name in self.parameters)

    def __copy__(self) -> Primitive:
        return self

    def __deepcopy__(self, memo: object) -> Primitive:
        return self

    @property
    def params(self) -> Mapping[str, Any]:
        """The static parameters, by name."""
        return {name: getattr(self, name) for name in self.parameters}

    def __repr__(self) -> str:
        inner = ", ".join(f"{key}={value!r}" for key, value in self.params.items())
        return f"{self.name}({inner})" if inner else self.name

    # -- rules -----------------------------------------------------------------------------------------

    def infer(self, *avals: Aval) -> Avals:
        """The aval (or tuple of avals) of the results; raises ShapeError or DtypeError."""
        raise NotImplementedError(f"{self.name}: infer")

    def evaluate(self, *values: Array) -> Arrays:
        """The result (or tuple of results) on NumPy values. Never modifies its inputs."""
        raise NotImplementedError(f"{self.name}: evaluate")

    def evaluator(self) -> Callable[..., Any]:
        """What `evaluate` calls, on the shortest way."""
        return self.evaluate

    def evaluate_over(self, *values: object) -> Arrays:
        """As `evaluate`, where nothing else will read the first value: it may be overwritten."""
        return self.evaluate(*values)

    def expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str | None:
        """One line of NumPy source for the result, or None to call `evaluate` by name."""
        return None

    def fast_expression(self, names: Sequence[str], avals: Sequence[Aval]) -> str | None:
        """As `expression`, where speed counts and nobody reads: for the evaluator."""
        return self.expression(names, avals)

    def statements(self, target: str, names: Sequence[str], avals: Sequence[Aval]) -> list[str] | None:
        """NumPy source for a reader where a result takes several lines; None to use `expression`."""
        return None

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """Results and their tangents; at least one tangent is not None."""
        raise NotImplementedError(f"{self.name}: jvp")

    def transpose(self, cotangent: Arrays, *inputs: Array) -> tuple[Any, ...]:
        """Cotangents of the inputs that are `Linear`, None for the others."""
        raise NotDifferentiableError(f"{self.name} is not linear, so it has no transpose")

    def linear_in(self, flags: Flags) -> bool:
        """Whether what depends on the flagged inputs is linear in them together, whatever the others are.

        With a transpose rule the default is yes for a single input: unary operations and products. Sums
        of their inputs say so, and operations that are linear in some of their inputs say in which.
        """
        return type(self).transpose is not Primitive.transpose and sum(flags) == 1

    def dependent_results(self, flags: Flags) -> Flags | None:
        """Which of several results depend on the flagged inputs; None for all of them."""
        return None

    def independent_part(self, flags: Flags) -> tuple[Primitive, tuple[int, ...]]:
        """The primitive of the results that do not depend on the flagged inputs, and where its inputs are."""
        raise NotImplementedError(f"{self.name}: independent_part")

    def needed_part(self, needed: Flags) -> tuple[Primitive, tuple[int, ...], tuple[int, ...]] | None:
        """The primitive of the results that are needed, and perhaps of some more, with the places of its
        inputs and of its results; None where nothing is saved."""
        return None

    def expansion(self, *inputs: object) -> Arrays:
        """The results by other operations, which is how kernels compute them; None where they are not."""
        return None

    def held_program(self, avals: Sequence[Aval]) -> Program | None:
        """The Program that it stands for, with inputs of these avals; None where it stands for none."""
        return None

    def expanded(self, avals: Sequence[Aval]) -> Program | None:
        """What kernels compute in its place from inputs of these avals; None for itself."""
        held = self.held_program(avals)
        if held is not None or type(self).expansion is Primitive.expansion:
            return held
        with Recorder(self.name, "expansion", NOWHERE) as recorder:
            inputs = [recorder.input(a) for a in avals]
            out = self.expansion(*inputs)
            if out is None:
                return None
            outs = [recorder.index_of(x) for x in (out if self.multiple else (out,))]
            program = recorder.program([t._index for t in inputs], outs)
        expected: Any = self.inferred(tuple(avals))
        types = [(a.shape, a.dtype) for a in (expected if self.multiple else (expected,))]
        if [(a.shape, a.dtype) for a in program.out_avals] != types:
            found = ", ".join([str(a) for a in program.out_avals])
            raise ProgramError(f"the expansion of {self.name} gives {found}, and `infer` says {expected}")
        return program

    def native_form(self) -> Native | Compiled:
        """`native`, where it does not depend on parameters."""
        return self.native

    def exported_texts(self, operands: Sequence[str]) -> Sequence[str]:
        """`exported`, of these operands."""
        return [text.format(*operands, p=self) for text in self.exported]

    def line_calls(self, given: Sequence[Aval], out: Aval) -> Sequence[tuple[str, str]]:
        """What exported modules call for it on flat arrays, each on the result of the one before.

        A function of theirs, and its arguments after the operands and the result.
        """
        return ()

    def flops(self, inputs: Sequence[Aval], outputs: Sequence[Aval]) -> float:
        """Arithmetic operations, in additions that take the same time; none for what only moves elements."""
        return 0.0

    def batch(self, size: int, inputs: Sequence[Any], batched: Flags) -> tuple[Any, Any]:
        """Results with batch axis 0 where `batched`, and which of them are batched."""
        raise NotImplementedError(f"{self.name}: batch")

    def simplify(self, inputs: Sequence[Any]) -> Atom | None:
        """An input that equals the result, or None. `inputs` are Vars and Literals."""
        return None

    @classmethod
    def samples(cls) -> Sequence[Any]:
        """Samples for the shared test-suite (see `funcgrad.tracing.samples`)."""
        raise NotImplementedError(f"{cls.name}: samples")

    @classmethod
    def error_samples(cls) -> Sequence[Any]:
        """Inputs that must be refused, with the words of the refusal."""
        return ()

    # -- binding ---------------------------------------------------------------------------------------

    def inferred(self, avals: tuple[Aval, ...]) -> Avals:
        """`infer`, remembered."""
        found = self._inferred.get(avals)
        if found is None:
            found = self.infer(*avals)
            if len(self._inferred) >= MOST_INFERRED:
                self._inferred.clear()
            self._inferred[avals] = found
        return found

    def bind(self, *inputs: ArrayLike) -> Arrays:
        """Record the operation where an input is a tracer; otherwise check and evaluate it now."""
        if len(inputs) == 1:
            x = inputs[0]
            if type(x) is Tracer and x._view is None:
                out = self._inferred.get((x.aval,))
                if type(out) is Aval and not x._recorder.closed:
                    return x._recorder.append_typed((self, x._index), out)
        elif len(inputs) == 2:
            x, y = inputs
            if type(x) is Tracer is type(y) and x._view is y._view is None and x._recorder is y._recorder:
                out = self._inferred.get((x.aval, y.aval))
                if type(out) is Aval and not x._recorder.closed:
                    return x._recorder.append_typed((self, x._index, y._index), out)
        recorder = recorder_of(inputs)
        if recorder is None:
            self.inferred(tuple([aval_of(x) for x in inputs]))
            return self.evaluate(*inputs)
        return recorder.record(self, inputs)


Rule = Callable[..., Any]
