"""Reading a printed Program back: ``parse(text) == program``, and printing it again gives the same text.

Owns the grammar of Programs and which names are defined, and refuses what it does not understand with line
and column. Whether the types are right is not its business: `check` says that. Line breaks and comments
mean nothing.

    program   = "program" NAME "(" [typed, ...] ")" ":"
                ("captured" typed "=" array | program | equation)*
                "return" (atom, ... | "(" [atom, ...] ")")
    typed     = NAME ":" aval
    aval      = dtype ["*"] "[" [SIZE, ...] "]"
    equation  = (typed, ... | "(" [typed, ...] ")") "=" NAME "(" [atom, ...] [NAME "=" value, ...] ")"
    atom      = NAME | number [":" dtype ["*"]]
    array     = number | "[" [array, ...] "]" | "<array sha256:" DIGEST ">"
    value     = number [":" dtype] | STRING | "None" | dtype | aval | "(" [value, ...] ")" | NAME of a program
              | primitive "(" [NAME "=" value, ...] ")" | dotted name ["(" [value, ...] ")"] | "<" object ">"
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from funcgrad.errors import did_you_mean
from funcgrad.ir.avals import Aval
from funcgrad.ir.numbers import Number
from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
from funcgrad.ir.text.literals import Values
from funcgrad.ir.text.tokens import Token


def parse(text: str, captured: Mapping[str, Any] | None = None) -> Program:
    """The Program that a text describes.

    Large captured arrays stand in the text by digest, ``<array sha256:1a2b...>``. They are taken from
    `captured`, a mapping from digests to arrays, or found again by the process that printed them.
    Functions and classes that the text names are imported: parse only text that you trust.

    Raises ProgramError with line and column for what is no Program.

    >>> program = parse('''
    ... program scale(x: f64[3]):
    ...   y: f64[3] = mul(x, 2.0)
    ...   return y
    ... ''')
    >>> program(np.ones(3))
    (array([2., 2., 2.]),)
    """
    parser = Parser(text, captured or {})
    program = parser.program()
    if parser.token.kind != "end":
        raise parser.unexpected("the end of the text")
    return program


class Scope(NamedTuple):
    """What a Program has defined so far."""

    variables: dict[str, Var]
    programs: dict[str, Program]


class UntypedNumber(NamedTuple):
    """A number that takes its dtype from the variable beside it."""

    number: Number
    token: Token


class Parser(Values):
    """A recursive-descent parser."""

    def program(self) -> Program:
        """A whole Program."""
        self.expect("program")
        name = self.name("a name for the program").text
        scope = Scope({}, {})
        self.expect("(", " and the inputs")
        inputs = tuple(self.listed(lambda: self.input(scope), ")"))
        self.expect(":")
        captured: list[tuple[Var, Any]] = []
        equations: list[Equation] = []
        while not self.accept("return"):
            if self.accept("captured"):
                captured.append(self.captured(scope))
            elif self.token.text == "program":
                self.held_program(scope)
            else:
                equations.append(self.equation(scope))
        return Program(inputs, tuple(captured), tuple(equations), self.results(scope), name)

    def typed(self) -> tuple[Token, Aval]:
        """``name: aval``."""
        token = self.name("a name")
        self.expect(":", f" and the type of {token.text}")
        return token, self.aval()

    def define(self, token: Token, aval: Aval, scope: Scope, hint: str = "") -> Var:
        """A new variable of the scope."""
        if token.text in scope.variables:
            raise self.error(f"{token.text} is defined a second time", token)
        v = scope.variables[token.text] = Var(aval, hint)
        return v

    def input(self, scope: Scope) -> Var:
        """An input, which keeps its name."""
        token, aval = self.typed()
        return self.define(token, aval, scope, token.text)

    def captured(self, scope: Scope) -> tuple[Var, Any]:
        """A captured array, after the word ``captured``."""
        v = self.input(scope)
        self.expect("=", " and the array")
        return v, self.array(v.aval)

    def held_program(self, scope: Scope) -> None:
        """A Program that parameters below may name."""
        start = self.token
        held = self.program()
        if held.name in scope.programs:
            raise self.error(f"a second program is called {held.name}", start)
        scope.programs[held.name] = held

    # -- equations -------------------------------------------------------------------------------------

    def equation(self, scope: Scope) -> Equation:
        """``targets = primitive(operands, parameters)``."""
        targets = self.targets()
        self.expect("=", " and an operation")
        token = self.name("a primitive")
        cls = self.primitive_class(token)
        if len(targets) != 1 and not cls.multiple:
            raise self.error(f"{token.text} has one result, not {len(targets)}", token)
        self.expect("(")
        operands: list[Any] = []
        parameters: dict[str, Any] = {}
        self.listed(lambda: self.argument(scope, operands, parameters), ")")
        context = next((x.aval for x in reversed(operands) if isinstance(x, Var)), None)
        inputs = tuple([self.with_dtype(x, context) for x in operands])
        primitive = self.instance(cls, parameters, token)
        outputs = tuple([self.define(name, aval, scope) for name, aval in targets])
        return Equation(primitive, inputs, outputs)

    def targets(self) -> list[tuple[Token, Aval]]:
        """What an equation defines, in brackets or not."""
        if self.accept("("):
            return self.listed(self.typed, ")")
        targets = [self.typed()]
        while self.accept(","):
            targets.append(self.typed())
        return targets

    def argument(self, scope: Scope, operands: list[Any], parameters: dict[str, Any]) -> None:
        """An operand, or a parameter with its name."""
        token = self.token
        if token.kind != "name" or self.at_number():
            operand: Any = self.literal()
        else:
            self.next()
            if self.token.text == "=":
                self.parameter(token, parameters, scope.programs)
                return
            operand = self.variable(token, scope)
        if parameters:
            raise self.error("an operand stands after a parameter", token)
        operands.append(operand)

    def variable(self, token: Token, scope: Scope) -> Var:
        """The variable of this name."""
        v = scope.variables.get(token.text)
        if v is None:
            remedy = did_you_mean(token.text, scope.variables)
            raise self.error(f"{token.text} is used before it is defined", token, remedy)
        return v

    def literal(self) -> Literal | UntypedNumber:
        """A number as an operand."""
        token = self.token
        number = self.number()
        if not self.accept(":"):
            return UntypedNumber(number, token)
        dtype, weak = self.dtype()
        return Literal(self.as_dtype(number, dtype, token), Aval((), dtype, weak))

    def with_dtype(self, operand: Atom | UntypedNumber, context: Aval | None) -> Atom:
        """The operand; a number without a dtype is weak, and takes that of the context."""
        if not isinstance(operand, UntypedNumber):
            return operand
        if context is None:
            raise self.error("this number needs a dtype, such as 2.0:f64", operand.token)
        value = self.as_dtype(operand.number, context.dtype, operand.token)
        return Literal(value, Aval((), context.dtype, True))

    def results(self, scope: Scope) -> tuple[Atom, ...]:
        """What the Program returns, after the word ``return``, in brackets or not."""
        if self.accept("("):
            return tuple(self.listed(lambda: self.result(scope), ")"))
        results = [self.result(scope)]
        while self.accept(","):
            results.append(self.result(scope))
        return tuple(results)

    def result(self, scope: Scope) -> Atom:
        """One result; a number needs its dtype."""
        if self.at_number():
            return self.with_dtype(self.literal(), None)
        return self.variable(self.name("a result"), scope)
