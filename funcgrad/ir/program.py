"""Programs: a function of arrays as a list of typed equations.

Owns the data structure and nothing else: no recording, no checking, no printing, no evaluation. What Programs
can do are methods here, and is written above: `METHODS` holds it, and `funcgrad.ir` fills it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, final

from funcgrad.ir.avals import Aval
from funcgrad.ir.presenters import presenter
from funcgrad.types import AnyPrimitive, Anything, Array


@final
class Var:
    """A value in a Program: an identity and an aval. The hint is a name the printer may use."""

    __slots__ = ("aval", "hint")

    def __init__(self, aval: Aval, hint: str = "") -> None:
        self.aval = aval
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        return Var, (self.aval, self.hint)

    def __repr__(self) -> str:
        return f"Var({self.hint or hex(id(self))}: {self.aval})"


@final
class Literal:
    """A scalar constant inside an equation: a NumPy scalar, weak where the user wrote a Python one."""

    __slots__ = ("aval", "value")

    def __init__(self, value: Anything, aval: Aval) -> None:
        self.value = value
        self.aval = aval

    def __reduce__(self) -> tuple[Any, ...]:
        return Literal, (self.value, self.aval)

    def __repr__(self) -> str:
        return f"Literal({self.value!r}: {self.aval})"


Atom = Var | Literal


class Equation:
    """``outputs = primitive(inputs)``, and the user's line it came from.

    >>> [equation] = fg.make_program(np.sin)(1.0).equations
    >>> equation.primitive.name, len(equation.inputs), len(equation.outputs)
    ('sin', 1, 1)
    """

    __slots__ = ("inputs", "outputs", "primitive", "source")

    def __init__(
        self,
        primitive: AnyPrimitive,
        inputs: tuple[Atom, ...],
        outputs: tuple[Var, ...],
        source: Anything = None,
    ) -> None:
        self.primitive = primitive
        self.inputs = inputs
        self.outputs = outputs
        self.source = source

    @property
    def params(self) -> Mapping[str, Any]:
        """The static parameters of the primitive, by name."""
        params: Mapping[str, Any] = self.primitive.params
        return params

    def __reduce__(self) -> tuple[Any, ...]:
        return Equation, (self.primitive, self.inputs, self.outputs, self.source)

    def __repr__(self) -> str:
        return f"Equation({self.primitive!r}, {self.inputs}, {self.outputs})"


class Methods:
    """What is done with a Program, by modules above its data."""

    __slots__ = ("checked_inputs", "hash", "numpy_source", "runner", "same", "text")

    same: Callable[[Program, Program], bool]
    hash: Callable[[Program], int]
    text: Callable[..., str]
    checked_inputs: Callable[[Program, tuple[Any, ...]], Sequence[Any]]
    runner: Callable[[Program], Callable[..., tuple[Any, ...]]]
    numpy_source: Callable[[Program], str]


METHODS = Methods()


class Program:
    """A closed function of arrays: inputs, captured constants, equations in order, outputs.

    ``captured`` pairs a Var with the array it stands for. Two Programs are equal when they are the same
    up to the names of their variables; sources and hints do not count.

    >>> program = fg.make_program(lambda x: 2.0 * np.sin(x))(1.0)
    >>> [equation.primitive.name for equation in program.equations]
    ['sin', 'mul']
    >>> program(0.0)
    (np.float64(0.0),)
    """

    __slots__ = (
        "__weakref__",
        "_hash",
        "_runner",
        "_steps",
        "captured",
        "equations",
        "inputs",
        "is_simple",
        "name",
        "outputs",
    )

    _steps: Any
    """What the Program was recorded as, of which its parts are made when asked for (`funcgrad.ir.steps`)."""

    def __init__(
        self,
        inputs: tuple[Var, ...],
        captured: tuple[tuple[Var, Any], ...],
        equations: tuple[Equation, ...],
        outputs: tuple[Atom, ...],
        name: str = "program",
    ) -> None:
        self.inputs = inputs
        self.captured = captured
        self.equations = equations
        self.outputs = outputs
        self.name = name
        self._hash: int | None = None
        self._runner: Callable[..., tuple[Any, ...]] | None = None
        self._steps = None
        self.is_simple = False
        """Whether it is known that simplifying changes nothing in it."""

    def __getattr__(self, name: str) -> Anything:
        # Slots that have not been filled: the parts of a recorded Program, of which nobody has asked for one.
        if name not in ("captured", "equations", "inputs", "outputs"):
            raise AttributeError(f"a Program has no attribute {name!r}")
        self.inputs, self.captured, self.equations, self.outputs = self._steps.parts()
        return object.__getattribute__(self, name)

    @property
    def in_avals(self) -> tuple[Aval, ...]:
        """The avals of the inputs."""
        return tuple(v.aval for v in self.inputs)

    @property
    def out_avals(self) -> tuple[Aval, ...]:
        """The avals of the outputs."""
        return tuple(v.aval for v in self.outputs)

    def ends_with_zeros(self, count: int) -> bool:
        """Whether the last outputs are zeros, whatever the inputs are. Makes no equations."""
        return all(value is not None and not value for value in self._numbers_spread(count))

    def _numbers_spread(self, count: int) -> Iterator[Any]:
        """For each of the last outputs the number that it is, in every element; None where it is none."""
        if self._steps is not None:
            yield from self._steps.numbers_spread(count)
            return
        made = {v: equation for equation in self.equations for v in equation.outputs}
        for output in self.outputs[len(self.outputs) - count :]:
            atom = output
            while atom in made and made[atom].primitive.name == "broadcast":
                atom = made[atom].inputs[0]
            yield atom.value if isinstance(atom, Literal) else None

    def __len__(self) -> int:
        return len(self.equations) if self._steps is None else len(self._steps.live)

    def __iter__(self) -> Iterator[Equation]:
        return iter(self.equations)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Program):
            return NotImplemented
        return METHODS.same(self, other)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = METHODS.hash(self)
        return self._hash

    def text(self, sources: bool = True) -> str:
        """The Program as text that `parse` reads back; `sources` adds the user's lines as comments."""
        return METHODS.text(self, sources=sources)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return str(self)

    def __call__(self, *args: Anything) -> tuple[Any, ...]:
        """Run the Program with NumPy on flat arguments; returns the tuple of outputs.

        Raises ShapeError or DtypeError for an argument that is not of the type of its input.
        """
        return self.evaluate(*METHODS.checked_inputs(self, args))

    def evaluate(self, *args: Array) -> tuple[Any, ...]:
        """As a call, on arrays and NumPy scalars that are known to have the types of the inputs."""
        if self._runner is None:
            self._runner = METHODS.runner(self)
        return self._runner(*args)

    def to_numpy_source(self) -> str:
        """The Program as the source of a Python function over NumPy, ready for ``exec``."""
        return METHODS.numpy_source(self)

    def graph(self, **options: object) -> Anything:
        """The Program as a picture: a self-contained SVG that notebooks display and `save` writes.

        The options are those of `funcgrad.display.graph.program_graph`.
        """
        return presenter("graph", "program_graph")(self, **options)

    def _repr_html_(self) -> str:
        """The Program as notebooks show it."""
        html: str = presenter("program", "program_html")(self)
        return html

    def __reduce__(self) -> tuple[Any, ...]:
        return Program, (self.inputs, self.captured, self.equations, self.outputs, self.name)
