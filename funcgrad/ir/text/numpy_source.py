"""Programs as the source of Python functions over NumPy.

Owns one line per equation: the evaluator compiles the same lines that a reader sees. What a reader sees
besides, the user's own lines as comments and the types as docstrings, is written here too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.errors import ProgramError
from funcgrad.ir.numbers import scalar_text
from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
from funcgrad.ir.text.names import Names, variable_names
from funcgrad.ir.text.printing import wrapped
from funcgrad.ir.text.remembered import ARRAYS
from funcgrad.ir.text.spelling import (
    LARGEST_SPELLED,
    construction,
    importable_name,
    is_primitive,
    subprograms,
)
from funcgrad.types import AnyPrimitive, Anything, Array

if TYPE_CHECKING:
    from funcgrad.source import Source

VariableNames = Mapping[Any, str]
Callee = Callable[[Any], str]
"""How to call a primitive that has no expression: the text of a function."""


# -- one equation ---------------------------------------------------------------------------------------


def literal_source(atom: Literal, *, bare: bool) -> str:
    """A scalar constant; `bare` leaves out the dtype where promotion supplies it.

    >>> two = Literal(2.0, fg.ShapeDtypeStruct((), np.float32))
    >>> literal_source(two, bare=True), literal_source(two, bare=False)
    ('2.0', 'np.float32(2.0)')
    """
    text = number_source(atom.value, atom.aval.dtype)
    if not bare:
        return f"{scalar_type(atom.aval.dtype)}({text})"
    return f"({text})" if text.startswith("-") else text


def number_source(value: object, dtype: np.dtype[Any]) -> str:
    """A number as Python writes it, with NumPy's names for what is not finite."""
    if dtype.kind == "c":
        scalar = np.asarray(value, dtype)[()]
        return f"complex({', '.join(number_source(x, x.dtype) for x in (scalar.real, scalar.imag))})"
    text = scalar_text(value, dtype)
    if text.startswith("nan"):
        return "np.nan"
    return text.replace("inf", "np.inf")


def scalar_type(dtype: np.dtype[Any]) -> str:
    """The scalar type of a dtype, as one writes it."""
    return "np.bool_" if dtype.kind == "b" else f"np.{dtype.type.__name__}"


def atom_source(atom: Atom, names: VariableNames) -> str:
    """A variable or literal where nothing around it says which dtype a number has."""
    return literal_source(atom, bare=False) if type(atom) is Literal else names[atom]


def operand_sources(equation: Equation, names: VariableNames) -> list[str]:
    """The operands of an equation: variables by name, numbers without a dtype where a variable has it."""
    dtypes = {atom.aval.dtype for atom in equation.inputs if type(atom) is Var}
    return [
        literal_source(atom, bare=atom.aval.dtype in dtypes) if type(atom) is Literal else names[atom]
        for atom in equation.inputs
    ]


def equation_source(
    equation: Equation, names: VariableNames, callee: Callee, form: str = "expression"
) -> str:
    """The right-hand side for one equation, in the form that reads best or in the form that runs fastest.

    `callee` names primitives that have no expression.
    """
    operands = operand_sources(equation, names)
    avals = [atom.aval for atom in equation.inputs]
    text: str | None = getattr(equation.primitive, form)(operands, avals)
    if text is not None:
        return text
    # `evaluate` relies on the dtypes of its operands, so numbers keep theirs.
    typed = [atom_source(atom, names) for atom in equation.inputs]
    return f"{callee(equation.primitive)}({', '.join(typed)})"


def targets(equation: Equation, names: VariableNames) -> str:
    """The left-hand side of an equation's line."""
    text = ", ".join(names[v] for v in equation.outputs)
    return text + "," if equation.primitive.multiple and len(equation.outputs) == 1 else text or "()"


def tuple_source(items: Sequence[str]) -> str:
    """A tuple display."""
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


# -- whole Programs -------------------------------------------------------------------------------------


def numpy_source(program: Program) -> str:
    """The Program as a Python module with one function of that name, ready for ``exec``.

    The function takes the Program's inputs and returns its output, or a tuple where there are several. Like
    a Program it warns of nothing, leaves its arguments alone and returns arrays of its own. Captured arrays
    of more than a few elements are keyword-only parameters; their defaults hold in the process that wrote
    the source.

    >>> from funcgrad.ir.text.parsing import parse
    >>> print(numpy_source(parse("program double(x: f64[3]): y: f64[3] = mul(x, 2.0) return y")))
    import numpy as np
    <BLANKLINE>
    <BLANKLINE>
    @np.errstate(all="ignore")
    def double(x):
        \"\"\"(x: f64[3]) -> f64[3]\"\"\"
        a = x * 2.0
        return a
    <BLANKLINE>
    """
    return Module().source(program)


_HELPERS = {
    "captured_array": "funcgrad.extend",
    "parse": "funcgrad.ir.text.parsing",
    "primitive": "funcgrad.extend",
}
"""Names that a source may need, and where they come from."""


class Module:
    """The source of a Program and of the Programs it holds.

    A Program that an equation calls becomes a function. One that a primitive runs in its own way, such as the
    body of a loop, is given to the primitive as its text.
    """

    def __init__(self) -> None:
        self._names = Names()
        self._functions: dict[Program, str] = {}
        self._parsed: dict[Program, str] = {}
        self._texts: list[str] = []
        self._modules: set[str] = set()
        self._helpers: set[str] = set()

    def source(self, program: Program) -> str:
        """The whole module."""
        name = self._names.of_program(program)
        function = self.function_source(program, name)
        parts = [*self._texts, f'@np.errstate(all="ignore")\n{function}']
        return "\n\n\n".join(["\n".join(self._heading()), *parts]) + "\n"

    def _heading(self) -> list[str]:
        lines = [*[f"import {name}" for name in sorted(self._modules)], "import numpy as np"]
        for module in sorted({_HELPERS[name] for name in self._helpers}):
            names = ", ".join(name for name in sorted(self._helpers) if _HELPERS[name] == module)
            lines.append(f"from {module} import {names}")
        return lines

    def function_called(self, program: Program) -> str:
        """The name of the function for a Program that an equation calls; written where it is not yet."""
        name = self._functions.get(program)
        if name is None:
            name = self._functions[program] = self._names.of_program(program)
            self._texts.append(self.function_source(program, name))
        return name

    def function_source(self, program: Program, name: str) -> str:
        """One function. The functions that it calls are written first."""
        calls = [self._call_of(equation) for equation in program.equations]
        names = variable_names(program, {name, *self._functions.values(), *self._parsed.values()})
        parameters, arrays = self._captured_arrays(program, names)
        inputs = [names[v] for v in program.inputs] + (["*", *parameters] if parameters else [])
        lines = wrapped(f"def {name}(", inputs, "):", "")
        lines += docstring(program, names) + arrays
        before = ""
        for equation, call in zip(program.equations, calls, strict=True):
            comment = user_line(equation.source)
            if comment not in ("", before):
                lines.append(f"    # {comment}")
            before = comment
            lines += [f"    {line}" for line in self._equation_lines(equation, call, names)]
        return "\n".join([*lines, f"    return {', '.join(result_sources(program, names)) or '()'}"])

    def _call_of(self, equation: Equation) -> str | None:
        """The function to call for an equation that stands for a Program; writes all that it needs."""
        called = equation.primitive.held_program([atom.aval for atom in equation.inputs])
        if called is not None:
            return self.function_called(called)
        for held in subprograms(equation):
            self._parsed_program(held)
        return None

    def _equation_lines(self, equation: Equation, call: str | None, names: VariableNames) -> list[str]:
        target = targets(equation, names)
        if call is not None:
            operands = ", ".join(atom_source(atom, names) for atom in equation.inputs)
            return [f"{', '.join(names[v] for v in equation.outputs) or '()'} = {call}({operands})"]
        avals = [atom.aval for atom in equation.inputs]
        statements = equation.primitive.statements(target, operand_sources(equation, names), avals)
        return statements or [f"{target} = {equation_source(equation, names, self._primitive_method)}"]

    def _primitive_method(self, primitive: AnyPrimitive) -> str:
        return f"{self._value_source(primitive)}.evaluate"

    def _captured_arrays(self, program: Program, names: VariableNames) -> tuple[list[str], list[str]]:
        """Parameters for the large captured arrays, and lines for the small ones."""
        parameters: list[str] = []
        lines: list[str] = []
        for v, value in program.captured:
            if not isinstance(value, np.ndarray | np.generic):
                raise ProgramError(f"{names[v]} is a value of a trace that is still open: it has no source")
            if value.size <= LARGEST_SPELLED:
                lines.append(f"    {names[v]} = {array_source(value)}")
            else:
                self._helpers.add("captured_array")
                parameters.append(f'{names[v]}=captured_array("{ARRAYS.add(value)}")')
        return parameters, lines

    def _value_source(self, value: Anything) -> str:
        """A parameter of a primitive, as Python writes it."""
        plain = plain_source(value)
        if plain is not None:
            return plain
        if type(value) is tuple:
            return tuple_source([self._value_source(item) for item in value])
        if isinstance(value, Program):
            return self._parsed_program(value)
        dotted = importable_name(value)
        if dotted is not None:
            self._modules.add(getattr(value, "__module__", None) or dotted.rpartition(".")[0])
            return dotted
        return self._constructed(value)

    def _constructed(self, value: Anything) -> str:
        """A parameter that is made of others, as a call."""
        made = construction(value)
        if made is None:
            raise ProgramError(f"a parameter that is a {type(value).__name__} cannot be written as source")
        head, items = made
        arguments = [key + self._value_source(item) for key, item in items]
        if is_primitive(value):
            self._helpers.add("primitive")
            return f"primitive({', '.join([quoted(head), *arguments])})"
        if not isinstance(value, slice):
            self._modules.add(type(value).__module__)
        return f"{head}({', '.join(arguments)})"

    def _parsed_program(self, program: Program) -> str:
        """The name of a Program that stands in the module as text."""
        name = self._parsed.get(program)
        if name is None:
            name = self._parsed[program] = self._names.of_program(program)
            self._helpers.add("parse")
            text = str(program)
            quoted_text = repr(text) if "'''" in text else f"r'''\n{text}\n'''"
            self._texts.append(f"{name} = parse({quoted_text})")
        return name


def plain_source(value: object) -> str | None:
    """A parameter that holds no other values and needs no import, as Python writes it."""
    if value is None or type(value) in (bool, int, str, bytes):
        return quoted(value) if type(value) is str else repr(value)
    if type(value) in (float, complex):
        return number_source(value, np.dtype(type(value)))
    if isinstance(value, np.generic):
        return f"{scalar_type(value.dtype)}({number_source(value, value.dtype)})"
    return f'np.dtype("{value.name}")' if isinstance(value, np.dtype) else None


def quoted(text: str) -> str:
    """A string in double quotes where that needs no escaping."""
    return f'"{text}"' if text.isidentifier() else repr(text)


def docstring(program: Program, names: VariableNames) -> list[str]:
    """The types of a function, as its docstring."""
    inputs = [f"{names[v]}: {v.aval}" for v in program.inputs]
    captured = [f"{names[v]}: {v.aval}" for v, value in program.captured if value.size > LARGEST_SPELLED]
    inputs += ["*", *captured] if captured else []
    outputs = [str(atom.aval) for atom in program.outputs]
    result = outputs[0] if len(outputs) == 1 else f"({', '.join(outputs)})"
    return wrapped('    """(', inputs, f') -> {result}"""', "    ")


def user_line(source: Source | None) -> str:
    """The user's line behind an equation: where it is, and what it says."""
    if source is None:
        return ""
    place = str(source).rpartition(" in ")[0]
    first, *more = source.text.strip().splitlines() or [""]
    return f"{place}: {first}{' ...' if more else ''}" if first else place


def array_source(array: Array) -> str:
    """A small array as a call of ``np.array``."""
    dtype = array.dtype.newbyteorder("=")
    return f"np.array({elements_source(np.asarray(array, dtype))}, {scalar_type(dtype)})" + (
        f".reshape({array.shape})" if array.size == 0 and array.ndim > 1 else ""
    )


def elements_source(array: Array) -> str:
    """The elements in nested brackets."""
    if array.ndim == 0:
        return number_source(array, array.dtype)
    return f"[{', '.join(elements_source(part) for part in array)}]"


def result_sources(program: Program, names: VariableNames) -> list[str]:
    """What the function returns: copies of what someone else may hold."""
    makers = {v: equation.primitive for equation in program.equations for v in equation.outputs}
    given: set[Atom] = set()
    results = []
    for atom in program.outputs:
        text = atom_source(atom, names)
        if type(atom) is Var and atom.aval.ndim:
            shared = atom in given or atom not in makers or makers[atom].aliases
            text = f"{text}.copy()" if shared else text
        given.add(atom)
        results.append(text)
    return results
