"""The vector mathematics as Python functions: the same polynomials as those that kernels link in.

Their bodies are translated line by line from the straight-line assembly that `vecmath` writes, and values
that are read once are written where they are read.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from functools import cache

from funcgrad.compile.vecmath.registry import FUNCTIONS, INTERNAL, function, function_assembly
from funcgrad.errors import UnsupportedFunctionError

LARGEST_ANGLE = 3.5e15
"""Beyond this, sine, cosine and tangent need more digits of pi than the translated functions have."""

BY_NUMPY = {"fmod": "np.fmod(x, y)", "remainder": "np.remainder(x, y)", "nextafter": "np.nextafter(x, y)"}
"""Functions whose exactness no polynomial gives."""

OF_NUMPY = {
    **{
        name: f"np.{name}"
        for name in ("exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "cbrt", "hypot")
    },
    **{name: f"np.{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{f"arc{name}": f"np.arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")},
    **{name: f"np.{name}" for name in ("logaddexp", "logaddexp2", "floor_divide", *BY_NUMPY)},
    "pow": "np.power",
}
"""Functions that need not be written out where NumPy computes them: without a compiler its own are faster."""

_OF_NUMPY = re.compile(rf"(?<![\w.])({'|'.join(OF_NUMPY)})\(")

WIDEST = 88
_LINE = re.compile(r"  %(\w+) = (.*)")
_BINARY = {"fadd": "+", "fsub": "-", "fmul": "*", "fdiv": "/", "add": "+", "sub": "-"}
_BITS = {"and": "&", "or": "|", "xor": "^", "shl": "<<"}
_RELATIONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
_CALLS = {
    "fabs": "abs({})",
    "sqrt": "np.sqrt({})",
    "floor": "np.floor({})",
    "trunc": "np.trunc({})",
    "rint": "np.rint({})",
    "copysign": "math.copysign({}, {})",
    "fma": "fma({}, {}, {})",
}


def is_known(name: str) -> bool:
    """Whether the vector mathematics has a function of this name."""
    return name in FUNCTIONS or name in INTERNAL


def by_numpy(text: str) -> str:
    """A text in which NumPy's functions are called.

    >>> by_numpy("y = pow(sin(x), 2.5) + np.exp(x)")
    'y = np.power(np.sin(x), 2.5) + np.exp(x)'
    """
    return _OF_NUMPY.sub(lambda match: f"{OF_NUMPY[match[1]]}(", text)


@cache
def function_source(name: str) -> str:
    """A function of the vector mathematics as a function of Python over double precision.

    >>> print(function_source("sinh").partition("    v")[0])
    def sinh(x):
        \"\"\"The hyperbolic sine.\"\"\"
    <BLANKLINE>
    """
    text = function_assembly(name, "f64")
    head, _, body = text.rpartition("define ")
    del head
    arity = body.partition("{")[0].count("%a")
    parameters = ["x", "y"][:arity]
    sentence = (function(name).__doc__ or name).strip().partition("\n")[0]
    lines = [f"def {name}({', '.join(parameters)}):", f'    """{sentence}"""']
    if name in BY_NUMPY:
        return "\n".join([*lines, f"    return {BY_NUMPY[name]}"])
    return "\n".join([*lines, *Translation(body, parameters).lines])


class Translation:
    """The lines of one straight-line function."""

    def __init__(self, body: str, parameters: list[str]) -> None:
        self.lines: list[str] = []
        self.texts: dict[str, tuple[str, bool]] = {
            f"%a{k}": (name, True) for k, name in enumerate(parameters)
        }
        """For each value its text, and whether that needs no brackets."""
        instructions = _LINE.findall(body)
        self.uses = Counter(re.findall(r"%\w+", " ".join([text for _, text in instructions])))
        for value, text in instructions:
            self.define(f"%{value}", *self.expression(text))
        (result,) = re.findall(r"  ret \w+ (%\w+)", body)
        self.lines.append(f"    return {self.texts[result][0]}")

    def define(self, value: str, text: str, atomic: bool) -> None:
        """Note what a value is, as a line of its own where it is read more than once, or long."""
        if self.uses[value] > 1 or (len(text) > WIDEST - 30 and not text.startswith("-")):
            self.lines.append(f"    {value[1:]} = {text}")
            text, atomic = value[1:], True
        self.texts[value] = (text, atomic)

    def operand(self, text: str, kind: str) -> str:
        """An operand, in brackets where it needs them."""
        if text.startswith("%"):
            found, atomic = self.texts[text]
            return found if atomic else f"({found})"
        if kind == "double":
            (value,) = struct.unpack("<d", struct.pack("<Q", int(text, 16)))
            named = {"inf": "np.inf", "-inf": "(-np.inf)", "nan": "np.nan"}
            return named.get(repr(value)) or (f"({value!r})" if value < 0 else repr(value))
        number = int(text)
        number = number - (1 << 64) if number >= 1 << 63 else number
        return f"({number})" if number < 0 else str(number)

    def plain(self, text: str, kind: str) -> str:
        """An operand that stands between commas."""
        if text.startswith("%"):
            return self.texts[text][0]
        found = self.operand(text, kind)
        return found[1:-1] if found.startswith("(") else found

    def expression(self, text: str) -> tuple[str, bool]:  # noqa: PLR0911 - one for each kind of instruction
        """The text of an instruction, and whether it is one that needs no brackets."""
        word, _, rest = text.partition(" ")
        if word == "call":
            return self.call(rest)
        if word == "select":
            c, yes, no = [part.split() for part in rest.split(", ")]
            return (
                f"select({self.plain(c[1], 'i1')}, {self.plain(yes[1], yes[0])}, {self.plain(no[1], no[0])})",
                True,
            )
        if word == "fneg":
            return f"-{self.operand(rest.split()[1], 'double')}", False
        if word == "bitcast":
            kind, value, _, to = rest.split()
            inner = self.texts[value][0]
            return (f"float_of({inner})" if to == "double" else f"bits_of({inner})"), True
        if word in ("fcmp", "icmp"):
            relation, kind, x, y = rest.replace(",", "").split()
            if relation == "uno":
                return f"{self.operand(x, kind)} != {self.operand(y, kind)}", False
            if relation == "ult":
                return f"(0 <= {self.operand(x, kind)} < {self.operand(y, kind)})", True
            return f"{self.operand(x, kind)} {_RELATIONS[relation[-2:]]} {self.operand(y, kind)}", False
        kind, x, y = rest.replace(",", "").split()
        if kind == "i1" and word == "xor" and y in ("true", "1", "-1"):
            return f"not {self.operand(x, kind)}", False
        if kind == "i1":
            return (
                f"{self.operand(x, kind)} {'!=' if word == 'xor' else _BITS[word]} {self.operand(y, kind)}",
                False,
            )
        if word == "lshr":
            mask = (1 << (64 - int(y))) - 1
            return f"({self.operand(x, kind)} >> {y}) & {mask}", False
        symbol = _BINARY.get(word) or _BITS.get(word)
        if symbol is None:
            raise UnsupportedFunctionError(f"{word} has no form in Python", remedy="Report this as a bug.")
        return f"{self.operand(x, kind)} {symbol} {self.operand(y, kind)}", False

    def call(self, rest: str) -> tuple[str, bool]:
        """A call of what processors have, or of what mends extreme arguments."""
        name, _, tail = rest.partition("@")[2].partition("(")
        operands = [part.split() for part in tail.partition(")")[0].split(", ")]
        texts = [self.plain(x, kind) for kind, x in operands]
        if name.startswith("llvm."):
            return _CALLS[name.split(".")[1]].format(*texts), True
        # Size, what has been computed, and the arguments themselves.
        size, near = texts[:2]
        return f"select({size} > {LARGEST_ANGLE}, np.nan, {near})", True
