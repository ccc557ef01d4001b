"""Native forms: what a kernel computes for one element, as text of the kernel language.

A form is a text with ``{0}``, ``{1}``, ... for the operands, for floating-point numbers; or a text for each
of several kinds of the last operand, where others have none. ``{operand}`` and ``{result}`` stand for the
conversions to the dtypes of the last operand and of the result, by which integers are brought back to their
width. Operands are names, numbers or elements of arrays, and need no parentheses. The words are those of
`funcgrad.compile.language`.
"""

from __future__ import annotations

from funcgrad.tracing.primitive import Native


def by_kind(**texts: str) -> Native:
    """A text for each of several kinds of dtypes, of which a name may have several letters.

    >>> by_kind(fc="-{0}", iu="{result}(-{0})")
    {'fc': '-{0}', 'iu': '{result}(-{0})'}
    """
    return texts


def of_any_kind(text: str) -> Native:
    """The same text for all dtypes."""
    return by_kind(fciub=text)


def infix(symbol: str, booleans: str = "", kinds: str = "fciu") -> Native:
    """An operator between two operands; another one on booleans, or none.

    >>> infix("+", "|")
    {'fc': '{0} + {1}', 'iu': '{result}({0} + {1})', 'b': '{0} | {1}'}
    """
    plain = f"{{0}} {symbol} {{1}}"
    forms = {"fc": plain, "iu": f"{{result}}({plain})", "b": f"{{0}} {booleans} {{1}}" if booleans else ""}
    return {k: text for k, text in forms.items() if text and (k == "b" or k[0] in kinds)}


def analytic(name: str) -> Native:
    """A function of the vector mathematics, which has it for real and for complex numbers.

    >>> analytic("exp")["c"]
    '{result}(complex(real_exp({0}.real, {0}.imag), imag_exp({0}.real, {0}.imag)))'
    """
    parts = ", ".join([f"{part}_{name}({{0}}.real, {{0}}.imag)" for part in ("real", "imag")])
    return by_kind(f=f"{name}({{0}})", c=f"{{result}}(complex({parts}))")
