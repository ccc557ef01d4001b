"""What a caller's bytecode says, which every Python writes otherwise: uses of a value, and their names."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from types import FrameType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from funcgrad.tracing import callers
from funcgrad.tracing.callers import Use
from funcgrad.tracing.python import instructions


class Asked:
    """A value that notes what is said of the frame that asks for its value."""

    def __init__(self, answer: Callable[[Any, FrameType], Any]) -> None:
        self.answer = answer
        self.answers: list[Any] = []

    def note(self) -> None:
        self.answers.append(self.answer(self, sys._getframe(2)))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        self.note()
        return np.array(1.5)

    def __float__(self) -> float:
        self.note()
        return 1.5

    def __bool__(self) -> bool:
        self.note()
        return True

    def __lt__(self, other: object) -> Any:
        return self


def answered(source: str, answer: Callable[[Any, FrameType], Any], capsys: Any) -> Any:
    """The first answer while a function with this body runs; `t` is the value."""
    lines = "\n".join(f"    {line}" for line in source.splitlines())
    names: dict[str, Any] = {
        "np": np,
        "numpy": np,
        "linalg": SimpleNamespace(asarray=np.asarray),
        "same": lambda x: x,
        "yes": True,
    }
    exec(f"def function(t, a, held):\n{lines}\n", names)
    t = Asked(answer)
    held = SimpleNamespace(t=t, items=[t], inner=SimpleNamespace(t=t))
    names["function"](t, np.zeros(3), held)
    capsys.readouterr()
    return t.answers[0]


@pytest.mark.parametrize(
    ("source", "use"),
    [
        ("np.asarray(t)", Use.PASSED),
        ("u = t\nreturn np.asarray(u)", Use.PASSED),
        ("np.asarray(held.t)", Use.PASSED),
        ("np.asarray(held.inner.t)", Use.PASSED),
        ("u = held.items\nnp.asarray(u[0])", Use.PASSED),
        ("np.array(object=t)", Use.PASSED),
        ("np.array(t, dtype=float, copy=True)", Use.PASSED),
        ("np.add(a, t)", Use.PASSED),
        ("f = np.asarray\nf(t)", Use.PASSED),
        ("def inner():\n    return np.asarray(t)\ninner()", Use.PASSED),
        ("np.asarray([t])", Use.LISTED),
        ("np.asarray([t, 1.0])", Use.LISTED),
        ("np.asarray((t, t))", Use.LISTED),
        ("np.asarray([[t, 1.0], [2.0, t]])", Use.LISTED),
        ("np.asarray([t for _ in range(2)])", Use.LISTED),
        ("np.asarray(held.items)", Use.LISTED),
        ("u = [t]\nnp.asarray(u)", Use.LISTED),
        ("a[0] = t", Use.STORED),
        ("a[1:2] = t", Use.STORED),
        ("a[yes + 1] = t", Use.STORED),
        ("np.asarray(same(t))", Use.UNKNOWN),
        ("np.asarray(t if yes else a)", Use.UNKNOWN),
        ("np.asarray((lambda: t)())", Use.UNKNOWN),
    ],
)
def test_what_is_done_with_a_value(source: str, use: Use, capsys: Any) -> None:
    assert answered(source, lambda t, frame: callers.use_of(t, None, False, frame), capsys) is use


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("np.asarray(t)", (np.asarray, "asarray", "np.asarray")),
        ("numpy.asarray(t)", (np.asarray, "asarray", "numpy.asarray")),
        ("float(t)", (float, None, "float")),
        ("x = 1.0 + float(t) * 2.0", (float, None, "float")),
        ("linalg.asarray(t)", (np.asarray, "asarray", "linalg.asarray")),
        ("f = float\nf(t)", (float, None, "f")),
        ("(lambda: float)()(t)", (None, None, "")),
    ],
)
def test_what_is_called(source: str, expected: Any, capsys: Any) -> None:
    def answer(_: Any, frame: FrameType) -> Any:
        return callers.called_function(frame), callers.called_method(frame), callers.called_name(frame)

    assert answered(source, answer, capsys) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("if float(t) < 1:\n    pass", True),
        ("if float(t):\n    pass", True),
        ("while not float(t):\n    pass", True),
        ("x = float(t) > 0", True),
        ("x = f'{float(t):.3f}'", True),
        ("x = f'{float(t)}'", True),
        ("x = f'{float(t)!r}'", True),
        ("print(float(t))", True),
        ("print('loss', float(t), sep=' ')", True),
        ("x = float(t)", False),
        ("return float(t)", False),
        ("x = float(t) * 2", False),
        ("x = [float(t)]", False),
        ("same(float(t))", False),
        ("x = abs(float(t)) < 1", False),
    ],
)
def test_what_only_decides_or_shows(source: str, expected: bool, capsys: Any) -> None:
    assert answered(source, lambda _, frame: callers.only_decides_or_shows(frame), capsys) is expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = '%.3f' % t", True),
        ("x = '%.3f and %d' % (t, 1)", True),
        ("x = float(t)", False),
        ("a[0] = t", False),
    ],
)
def test_what_formats(source: str, expected: bool, capsys: Any) -> None:
    assert answered(source, lambda _, frame: callers.formats(frame), capsys) is expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("max(t, t)", True),
        ("sorted([t, t])", True),
        ("if t:\n    pass", False),
        ("x = not t", False),
        ("x = t and 1", False),
        ("x = bool(t)", False),
        ("while t:\n    break", False),
    ],
)
def test_what_compares_elements(source: str, expected: bool, capsys: Any) -> None:
    assert answered(source, lambda _, frame: callers.compares_elements(frame), capsys) is expected


class OfAMetaclass(type):
    inherited = 1


class Base:
    @property
    def asked(self) -> None:
        """Nothing: what runs it fails."""
        raise AssertionError


class Derived(Base, metaclass=OfAMetaclass):
    __slots__ = ("slot",)


@pytest.mark.parametrize(
    "owner", [np, np.linalg, sys, Base, Derived, OfAMetaclass, int, np.ndarray, type, SimpleNamespace(a=1)]
)
def test_attributes_are_those_of_inspect(owner: Any) -> None:
    names = {*dir(owner), *dir(type(owner)), *dir(Derived), "inherited", "mro", "__dict__", "missing"}
    for name in names:
        assert instructions.static_attribute(owner, name) is inspect.getattr_static(owner, name, None), name
