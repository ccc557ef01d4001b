"""Reading single values from a Program's text: numbers, types, arrays and parameters.

The counterpart of `spelling`. Knows nothing of equations and variables.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np

from funcgrad.errors import did_you_mean
from funcgrad.ir.avals import Aval
from funcgrad.ir.catalog import CATALOG
from funcgrad.ir.fingerprint import array_digest
from funcgrad.ir.numbers import Number, named_dtype
from funcgrad.ir.program import Program
from funcgrad.ir.text.remembered import ARRAYS, OBJECTS
from funcgrad.ir.text.spelling import imported, is_callable_in_text
from funcgrad.ir.text.tokens import Token, Words
from funcgrad.types import Anything

Programs = Mapping[str, Program]
"""The Programs defined so far, which parameters may name."""


class Values(Words):
    """What can stand for a value, each read by one method."""

    def __init__(self, text: str, captured: Mapping[str, Any]) -> None:
        super().__init__(text)
        self._captured = captured

    # -- numbers and types -----------------------------------------------------------------------------

    def at_number(self) -> bool:
        """Whether a number comes next."""
        return self.token.kind == "number" or self.token.text in ("True", "False", "nan", "complex")

    def number(self) -> Number:
        """A number, exactly as written."""
        if not self.at_number():
            raise self.unexpected("a number")
        token = self.next()
        if token.text == "complex":
            self.expect("(")
            parts = [str(part) for part in self.listed(self.number, ")")]
            if len(parts) != 2:
                raise self.error("a complex number has a real and an imaginary part", token)
            return Number(tuple(parts))
        if token.text == "nan" and self.accept("("):
            bits = self.next().text
            self.expect(")")
            return Number((f"nan({bits})",))
        return Number((token.text,))

    def as_dtype(self, number: Number, dtype: np.dtype[Any], token: Token) -> Anything:
        """The number that starts at the word, as a NumPy scalar."""
        try:
            return number.of_dtype(dtype)
        except (ValueError, OverflowError):
            raise self.error(f"{number} is no {dtype.name}", token) from None

    def dtype(self) -> tuple[np.dtype[Any], bool]:
        """``f64``, or ``f64*`` for a weak one."""
        token = self.name("a dtype such as f64")
        found = named_dtype(token.text)
        if found is None:
            raise self.error(f"{token.text} is no dtype: f64, f32, c128, i64, u8 and bool are", token)
        return found, self.accept("*")

    def aval(self) -> Aval:
        """``f64[3,4]`` or ``f64*[]``."""
        dtype, weak = self.dtype()
        self.expect("[", " and a shape")
        return Aval(tuple(self.listed(self.size, "]")), dtype, weak)

    def size(self) -> int:
        """One entry of a shape."""
        if not self.token.text.isdecimal():
            raise self.unexpected("the size of an axis")
        return int(self.next().text)

    # -- arrays ----------------------------------------------------------------------------------------

    def array(self, aval: Aval) -> Anything:
        """An array of this type: its elements in nested brackets, or its digest."""
        start = self.token
        if start.kind == "angle":
            array = self.array_called(self.next())
            if array.shape != aval.shape or array.dtype != aval.dtype:
                found = Aval(array.shape, array.dtype)
                raise self.error(f"this array is {found}, and the type says {aval}", start)
            return array
        numbers: list[Any] = []
        shape = self.elements(aval.dtype, numbers)
        if shape != aval.shape and (numbers or aval.size):
            raise self.error(f"these elements have shape {shape}, and the type says {aval}", start)
        return np.array(numbers, aval.dtype).reshape(aval.shape)

    def elements(self, dtype: np.dtype[Any], numbers: list[Any]) -> tuple[int, ...]:
        """Append the elements of a bracket to `numbers`; returns the shape."""
        start = self.token
        if not self.accept("["):
            numbers.append(self.as_dtype(self.number(), dtype, start))
            return ()
        shapes = self.listed(lambda: self.elements(dtype, numbers), "]")
        if any(shape != shapes[0] for shape in shapes):
            raise self.error("the rows of this array differ in length", start)
        return (len(shapes), *(shapes[0] if shapes else ()))

    def array_called(self, token: Token) -> Anything:
        """The array with a digest: one that was given, or one that this process has printed."""
        head, _, digest = token.text[1:-1].partition(":")
        if head != "array sha256":
            raise self.error(f"{token.text} stands for a value that has no text", token)
        given = self._captured.get(digest)
        array = ARRAYS.find(digest) if given is None else given
        if array is None:
            remedy = f"Pass it: parse(text, captured={{{digest!r}: array}})."
            raise self.error("this process does not hold the array", token, remedy)
        if given is not None and array_digest(given) != digest:
            raise self.error(f"the array given for {digest} has the digest {array_digest(given)}", token)
        return array

    # -- parameters ------------------------------------------------------------------------------------

    def value(self, programs: Programs) -> Anything:
        """The value of a parameter."""
        token = self.token
        if token.kind == "string":
            return ast.literal_eval(self.next().text)
        if token.kind == "angle":
            return self.object_called(self.next())
        if self.accept("None"):
            return None
        if self.at_number():
            number = self.number()
            return self.as_dtype(number, self.dtype()[0], token) if self.accept(":") else number.plain()
        if self.accept("("):
            return tuple(self.listed(lambda: self.value(programs), ")"))
        return self.named_value(programs)

    def named_value(self, programs: Programs) -> Anything:
        """A Program, dtype, aval, primitive, or something to import."""
        token = self.name("a value")
        if self.token.text == ".":
            return self.imported(token, programs)
        if self.accept("("):
            return self.constructed(token, programs)
        if token.text in programs:
            return programs[token.text]
        dtype = named_dtype(token.text)
        if dtype is None:
            remedy = did_you_mean(token.text, programs)
            raise self.error(f"{token.text} is no value and no program defined above", token, remedy)
        weak = self.accept("*")
        return Aval(tuple(self.listed(self.size, "]")), dtype, weak) if self.accept("[") else dtype

    def constructed(self, token: Token, programs: Programs) -> Anything:
        """A slice, or a primitive with its parameters; the opening bracket is consumed."""
        if token.text == "slice":
            return slice(*self.listed(lambda: self.value(programs), ")"))
        cls = self.primitive_class(token)
        parameters: dict[str, Any] = {}
        self.listed(lambda: self.parameter(self.name("a parameter"), parameters, programs), ")")
        return self.instance(cls, parameters, token)

    def primitive_class(self, token: Token) -> Anything:
        """The primitive class of this name."""
        cls = CATALOG.get(token.text)
        if cls is None:
            remedy = did_you_mean(token.text, CATALOG)
            raise self.error(f"no primitive is called {token.text}", token, remedy)
        return cls

    def parameter(self, token: Token, parameters: dict[str, Any], programs: Programs) -> None:
        """``= value`` after the name of a parameter."""
        self.expect("=", f" and the value of {token.text}")
        if token.text in parameters:
            raise self.error(f"the parameter {token.text} is given a second time", token)
        parameters[token.text] = self.value(programs)

    def instance(self, cls: Anything, parameters: Mapping[str, Any], token: Token) -> Anything:
        """The primitive with these parameters."""
        missing = [key for key in cls.parameters if key not in parameters]
        if missing:
            raise self.error(f"{cls.name} needs the parameter {missing[0]}", token)
        for key in parameters:
            if key not in cls.parameters:
                remedy = did_you_mean(key, cls.parameters)
                raise self.error(f"{cls.name} has no parameter {key}", token, remedy)
        try:
            return cls(**parameters)
        except TypeError as error:
            raise self.error(f"{cls.name} does not take these parameters: {error}", token) from None

    def imported(self, token: Token, programs: Programs) -> Anything:
        """Something with a dotted name, called if brackets follow."""
        parts = [token.text]
        while self.accept("."):
            parts.append(self.name("a name").text)
        dotted = ".".join(parts)
        try:
            found = imported(dotted)
        except (ImportError, AttributeError) as error:
            raise self.error(f"{dotted} cannot be imported: {error}", token) from None
        if not self.accept("("):
            return found
        if not is_callable_in_text(found):
            raise self.error(f"{dotted} is nothing that the text of a Program may call", token)
        return found(*self.listed(lambda: self.value(programs), ")"))

    def object_called(self, token: Token) -> Anything:
        """The object that this process printed under a number."""
        _, _, number = token.text[1:-1].rpartition("#")
        if number.isdecimal():
            found = OBJECTS.find(int(number))
            if found is not None:
                return found
        seen = f"{token.text} has no text, and this process does not know it (any more)"
        raise self.error(seen, token, "Pickle the Program instead of printing it.")
