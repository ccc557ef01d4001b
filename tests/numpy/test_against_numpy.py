"""Every function of NumPy's that can be recorded, called in every way: as NumPy evaluates it.

Values, shapes and dtypes are compared; where NumPy gives a result, so must funcgrad, or refuse by an error
of its own. What differs on purpose is listed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import CodeType
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
import funcgrad.numpy as fnp
from funcgrad import tree
from funcgrad.errors import FuncgradError

from .call_patterns import ARRAYS, expressions

OTHERWISE = (
    # The variance is found in the dtype asked for, where NumPy rounds the mean to that of the array.
    r"np\.nan(std|var)\([ghn], dtype=",
    # The exact coefficients, where NumPy's small unsigned integers wrap around.
    r"np\.poly\(",
    # Real eigenvalues are complex as well, since no dtype may depend on values.
    r"np\.(roots|poly|linalg\.eigvals)\(",
    # Powers of the ratio, which is infinite.
    r"np\.geomspace\(abs\(inf\)",
    # Dtypes narrower than float64, in which NumPy alone works on integers of one byte.
    r"np\.logaddexp\.reduce",
    r"(t|b0) ?\*\* ?2$",
    r"np\.histogram\((t|b0|g|h), 3, (weights|range)=",
    r"np\.pad\(t, 3, .*odd",
    # The remainder keeps NaN only where there are numbers.
    r"np\.polydiv\((n|inf),",
    # Results that are no arrays, and answers about memory, which recorded arrays have none of.
    r"np\.(result_type|min_scalar_type|common_type|array_equiv|shares_memory)",
    r"\.(dtype|device|strides|base is None)$",
    # Numbers of integers, which the recorded array cannot be asked for here.
    r"np\.(real_if_close|array\(\[e, e|asarray\(\[e, e)",
    r"(bool|list|len|round)\(",
    r"np\.(copyto|put|place|putmask|put_along_axis|fill_diagonal)\(",
)

EXPRESSIONS = [text for text in dict.fromkeys(expressions()) if not re.match("|".join(OTHERWISE), text)]
EXPRESSIONS = [text for text in EXPRESSIONS if not re.search(OTHERWISE[-4], text)]
CHUNK = 1500
STARTS = range(0, len(EXPRESSIONS), CHUNK)
PRECISION = {2: 2e-3, 4: 1e-5, 8: 1e-11}


def names_in(text: str) -> list[str]:
    """The arrays that an expression is about."""
    found = re.findall(r"(?<![\w.])([a-z]\w*)(?!\w|\s*=[^=])", re.sub(r"'[^']*'", "''", text))
    return [name for name in dict.fromkeys(found) if name in ARRAYS]


def fresh(text: str) -> dict[str, Any]:
    return {name: ARRAYS[name].copy() for name in names_in(text)}


def recorded(code: CodeType, values: dict[str, Any]) -> Any:
    """The expression recorded at these arrays, and the Program evaluated."""
    structure: list[Any] = []

    def function(*args: Any) -> Any:
        leaves, treedef = tree.flatten(eval(code, {"np": np, **dict(zip(values, args, strict=True))}))
        structure.append(treedef)
        return leaves

    program = fg.make_program(function)(*values.values())
    return tree.unflatten(structure[-1], list(program.evaluate(*values.values())))


def evaluated(code: CodeType, values: dict[str, Any]) -> Any:
    """The expression with `funcgrad.numpy` in NumPy's place."""
    return eval(code, {"np": fnp, **values})


def leaves_of(x: Any) -> list[Any]:
    if isinstance(x, tuple | list):
        return [leaf for part in x for leaf in leaves_of(part)]
    return [leaf for part in x.values() for leaf in leaves_of(part)] if isinstance(x, dict) else [x]


def difference(ours: Any, theirs: Any) -> str:
    """How two results differ, in words; empty if they do not."""
    found, wanted = leaves_of(ours), leaves_of(theirs)
    if len(found) != len(wanted):
        return f"{len(found)} results and not {len(wanted)}"
    return "; ".join(filter(None, map(difference_of_leaves, found, wanted)))


def difference_of_leaves(x: Any, y: Any) -> str:
    """How one of the results differs from NumPy's."""
    if not isinstance(y, np.ndarray | np.generic | int | float | complex):
        return "" if x is y or x == y else f"{x!r} and not {y!r}"
    a, b = np.asarray(x), np.asarray(y)
    if a.shape != b.shape:
        return f"shape {a.shape} and not {b.shape}"
    if isinstance(y, np.ndarray | np.generic) and a.dtype != b.dtype:
        return f"dtype {a.dtype} and not {b.dtype}"
    if b.dtype.kind not in "fc":
        same = np.array_equal(a, b)
    else:
        bound = PRECISION[b.real.dtype.itemsize]
        same = np.allclose(a.astype(complex), b.astype(complex), bound, bound, equal_nan=True)
    return "" if same else f"{a.tolist()} and not {b.tolist()}"


def differences(texts: list[str], run: Callable[[CodeType, dict[str, Any]], Any]) -> list[str]:
    found = []
    for text in texts:
        code = compile(text, "<expression>", "eval")
        try:
            theirs = eval(code, {"np": np, **fresh(text)})
        except Exception:  # noqa: BLE001, S112 - whatever NumPy refuses is not compared
            continue
        try:
            ours = run(code, fresh(text))
        except (FuncgradError, NotImplementedError, AttributeError):
            continue
        except Exception as error:  # noqa: BLE001 - all of them are faults
            found.append(f"{text}: {type(error).__name__}: {error}")
            continue
        if words := difference(ours, theirs):
            found.append(f"{text}: {words}")
    return found


@pytest.mark.at_length
@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="the names are those of NumPy 2.1")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("run", [evaluated, recorded])
def test_results_are_numpys(run: Any, start: int) -> None:
    with np.errstate(all="ignore"):
        assert differences(EXPRESSIONS[start : start + CHUNK], run) == []
