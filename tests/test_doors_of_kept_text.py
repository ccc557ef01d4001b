"""Text of a traced number that a variable, a container or a function's result holds before it is read."""

from __future__ import annotations

import decimal
import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import FuncgradError

Y = np.array([0.7, 1.3, 2.1])


class Operated:
    """With a class like this, operators, elements and calls in functions that are seen are asked about."""

    def __getitem__(self, key: Any) -> Any:
        return key

    def __add__(self, other: Any) -> Any:
        return other

    __mul__ = __sub__ = __radd__ = __add__


def marked(x: Any) -> str:
    return f"<{x:.6f}>"


def in_a_variable(y: Any) -> Any:
    text = f"{y[0]:.6f}"
    return float(text) * y[1]


def taken_apart(y: Any) -> Any:
    first, _ = f"{y[0]:.6f},{y[1]:.6f}".split(",")
    return float(first) * y[1]


def beside_a_plain_number(y: Any) -> Any:
    n = 3
    return float(f"{y[0]:.6f},{n}".split(",")[0]) * y[1]


def in_a_list(y: Any) -> Any:
    lines = []
    lines.append(f"{y[0]:.6f}")
    return float(lines[0]) * y[1]


def in_a_table(y: Any) -> Any:
    table = {}
    table["a"] = f"{y[0]:.6f}"
    return float(table["a"]) * y[1]


def returned(y: Any) -> Any:
    return float(marked(y[0]).strip("<>")) * y[1]


def gone_through(y: Any) -> Any:
    product = y[1]
    for word in f"{y[0]:.6f} {y[2]:.6f}".split():
        product = product * float(word)
    return product


def joined(y: Any) -> Any:
    text = ",".join(f"{v:.6f}" for v in y)
    return float(text.split(",")[0]) * y[1]


def changed(y: Any) -> Any:
    text = "%.6f;" % y[0]  # noqa: UP031
    text = text.rstrip(";")
    return float(decimal.Decimal(text)) * y[1]


def dumped(y: Any) -> Any:
    text = json.dumps({"a": f"{y[0]:.6f}"})
    return float(json.loads(text)["a"]) * y[1]


def written(y: Any) -> Any:
    stream = io.StringIO()
    stream.write(f"{y[0]:.6f}")
    return float(stream.getvalue()) * y[1]


def an_array(y: Any) -> Any:
    text = f"{y[0]:.6f}"
    return np.array(text).astype(float) * y[1]


def number_in(text: str, digits: int) -> float:
    return round(float(text), digits)


def handed_on(y: Any) -> Any:
    return number_in(f"{y[0]:.6f}", 6) * y[1]


def handed_on_by_name(y: Any) -> Any:
    return number_in(digits=6, text=f"{y[0]:.6f}") * y[1]


REFUSED: list[Callable[[Any], Any]] = [
    in_a_variable,
    taken_apart,
    beside_a_plain_number,
    in_a_list,
    in_a_table,
    returned,
    gone_through,
    joined,
    changed,
    dumped,
    written,
    an_array,
    handed_on,
    handed_on_by_name,
]


@pytest.mark.parametrize("f", REFUSED)
def test_what_reads_a_number_in_it_is_refused(f: Callable[[Any], Any]) -> None:
    with pytest.raises(FuncgradError, match="gradient") as caught:
        fg.grad(f)(Y)
    assert "test_doors_of_kept_text.py" in str(caught.value)


def shown(n: str, scale: str = "2", label: str = "") -> float:
    return float(n) * float(scale)


def a_label_by_name(y: Any) -> Any:
    return shown("3", label=f"{y[0]:.3f}") * y[1]


def one_of_two(y: Any) -> Any:
    texts = ["1.5"]
    first = f"{y[0]:.3f}"
    return float((texts if first else [first])[0]) * y[1]


def overwritten(y: Any) -> Any:
    text = f"{y[0]:.6f}"
    print(text, file=io.StringIO())
    text = "1.5"
    return float(text) * y[1]


def beside_it_in_a_log(y: Any) -> Any:
    log = []
    log.append((1, f"{y[0]:.3f}"))
    return float(log[0][0]) * y[1]


def a_key(y: Any) -> Any:
    key = f"{y[0]:.1f}"
    return float({"0.7": 2.0}[key]) * float(len(key)) * y[1]


def only_shown(y: Any) -> Any:
    label = f"{y[0]:.3f}"
    n = 4
    return float(n) * y[1] if label.startswith("0") else y[1]


def told(text: str, n: str) -> float:
    return float(n)


def told_beside_it(y: Any) -> Any:
    return told(f"{y[0]:.3f}", "3") * y[1]


FREE: dict[Callable[[Any], Any], float] = {
    told_beside_it: 3.0,
    a_label_by_name: 6.0,
    one_of_two: 1.5,
    overwritten: 1.5,
    beside_it_in_a_log: 1.0,
    a_key: 6.0,
    only_shown: 4.0,
}


@pytest.mark.parametrize(("f", "slope"), FREE.items())
def test_what_reads_another_number_is_free(f: Callable[[Any], Any], slope: float) -> None:
    np.testing.assert_allclose(fg.grad(f)(Y), [0.0, slope, 0.0])
