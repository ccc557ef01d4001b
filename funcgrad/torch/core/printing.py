"""The text of tensors, as PyTorch 2.13 prints it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.torch.core.dtypes import default_complex, torch_dtype
from funcgrad.torch.core.meta import is_shape_only
from funcgrad.torch.core.operand import Operands
from funcgrad.torch.core.state import SETTINGS
from funcgrad.types import Array, ArrayLike

if TYPE_CHECKING:
    from funcgrad.torch.core.tensor import Tensor


class Options:
    """How tensors are printed."""

    def __init__(self) -> None:
        self.precision = 4
        self.threshold: float = 1000
        self.edgeitems = 3
        self.linewidth = 80
        self.sci_mode: bool | None = None


OPTIONS = Options()
_PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Change how tensors are printed; `profile` is "default", "short" or "full"."""
    if profile is not None:
        for name, value in _PROFILES[profile].items():
            setattr(OPTIONS, name, value)
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    for name, value in given.items():
        if value is not None:
            setattr(OPTIONS, name, value)
    OPTIONS.sci_mode = sci_mode


class Formatter:
    """How the numbers of one tensor are written: all to one width."""

    def __init__(self, values: Array) -> None:
        self.kind = values.dtype.kind
        self.scientific = False
        self.integral = True
        self.width = 1
        flat = values.reshape(-1)
        if self.kind != "f":
            self.width = max([1, *[len(str(x)) for x in flat.tolist()]])
            return
        flat = flat.astype(np.float64)
        nonzero = flat[np.isfinite(flat) & (flat != 0)]
        if not nonzero.size:
            return
        size = np.abs(nonzero)
        low, high = float(size.min()), float(size.max())
        self.integral = bool((nonzero == np.ceil(nonzero)).all())
        p = OPTIONS.precision
        if self.integral:
            self.scientific = high / low > 1000.0 or high > 1.0e8
        else:
            self.scientific = high / low > 1000.0 or high > 1.0e8 or low < 1.0e-4
        if OPTIONS.sci_mode is not None:
            self.scientific = OPTIONS.sci_mode
        for x in nonzero.tolist():
            plain = f"{x:.0f}." if self.integral else f"{x:.{p}f}"
            text = f"{x:.{p}e}" if self.scientific else plain
            self.width = max(self.width, len(text))

    def text(self, x: ArrayLike) -> str:
        """One number."""
        if self.kind == "f":
            if self.scientific:
                text = f"{x:{self.width}.{OPTIONS.precision}e}"
            elif self.integral:
                text = f"{x:.0f}"
                if math.isfinite(x):
                    text += "."
            else:
                text = f"{x:.{OPTIONS.precision}f}"
        else:
            text = str(x)
        return " " * (self.width - len(text)) + text


def _number(x: Array, first: Formatter, second: Formatter | None) -> str:
    if second is None:
        return first.text(x)
    imaginary = second.text(x.imag).lstrip()
    sign = "" if imaginary[0] in "+-" else "+"
    return first.text(x.real) + sign + imaginary + "j"


def _row(values: Array, indent: int, summarize: bool, first: Formatter, second: Formatter | None) -> str:
    width = first.width + 2 + (second.width + 1 if second is not None else 0)
    per_line = max(1, (OPTIONS.linewidth - indent) // width)
    edge = OPTIONS.edgeitems
    items = values.tolist()
    if summarize and not edge:
        texts = ["..."]
    elif summarize and len(items) > 2 * edge:
        texts = [_number(x, first, second) for x in items[:edge]]
        texts += [" ..."] + [_number(x, first, second) for x in items[-edge:]]
    else:
        texts = [_number(x, first, second) for x in items]
    lines = [texts[k : k + per_line] for k in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join([", ".join(line) for line in lines]) + "]"


def _nested(values: Array, indent: int, summarize: bool, first: Formatter, second: Formatter | None) -> str:
    if values.ndim == 0:
        return str(_number(values.item(), first, second))
    if values.ndim == 1:
        return _row(values, indent, summarize, first, second)
    edge = OPTIONS.edgeitems
    if summarize and len(values) > 2 * edge:
        parts = [_nested(values[k], indent + 1, summarize, first, second) for k in range(edge)]
        parts.append("...")
        parts += [
            _nested(values[k], indent + 1, summarize, first, second)
            for k in range(len(values) - edge, len(values))
        ]
    else:
        parts = [_nested(x, indent + 1, summarize, first, second) for x in values]
    separator: str = "," + "\n" * (values.ndim - 1) + " " * (indent + 1)
    return "[" + separator.join(parts) + "]"


def _shown(values: Array) -> Array:
    """The elements that are printed, the edges only where the rest is left out."""
    edge = OPTIONS.edgeitems
    for axis in range(values.ndim):
        if values.shape[axis] > 2 * edge:
            head = values[(slice(None),) * axis + (slice(0, edge),)]
            tail = values[(slice(None),) * axis + (slice(values.shape[axis] - edge, None),)]
            values = np.concatenate([head, tail], axis)
    return values


def contents(values: Operands, indent: int) -> str:
    """The nested brackets of an array."""
    if not values.size:
        return "[]"
    summarize = values.size > OPTIONS.threshold
    shown = _shown(values) if summarize else values
    if values.dtype == np.float16:
        shown, values = shown.astype(np.float32), values.astype(np.float32)
    second = None
    if values.dtype.kind == "c":
        first, second = Formatter(shown.real), Formatter(shown.imag)
    else:
        first = Formatter(shown)
    return _nested(values, indent, summarize, first, second)


def with_suffixes(text: str, suffixes: Sequence[str], indent: int) -> str:
    """``tensor(...)`` with its suffixes, on a line of their own where they do not fit."""
    last = len(text) - text.rfind("\n") + 1
    parts = [text]
    for suffix in suffixes:
        if last + len(suffix) + 2 > OPTIONS.linewidth:
            parts.append(",\n" + " " * indent + suffix)
            last = indent + len(suffix)
        else:
            parts.append(", " + suffix)
            last += len(suffix) + 2
    return "".join(parts) + ")"


def grad_name(t: Tensor) -> str:
    """The name of a node as a suffix shows it."""
    return type(t.grad_fn).__name__


def _meta_text(t: Tensor) -> str:
    suffixes = ["device='meta'", f"size={tuple(t._value.shape)}"]
    if t._value.dtype != SETTINGS.default_dtype:
        suffixes.append(f"dtype={torch_dtype(t._value.dtype)}")
    return with_suffixes("tensor(...", [*suffixes, *_history(t)], len("tensor("))


def _history(t: Tensor) -> list[str]:
    """The suffix that says whether a tensor has a history, or begins one."""
    if t._node is not None:
        return [f"grad_fn=<{grad_name(t)}>"]
    return ["requires_grad=True"] if t._rg else []


def tensor_text(t: Tensor) -> str:
    """What `repr` of a tensor returns."""
    value = t._value
    if is_shape_only(value):
        return _meta_text(t)
    if not isinstance(value, np.ndarray | np.generic):
        return f"tensor({value!r})"
    value = np.asarray(value)
    default = (np.dtype(np.int64), np.dtype(np.bool_), SETTINGS.default_dtype)
    suffixes = []
    has_default = value.dtype in (*default, default_complex())
    if value.size > OPTIONS.threshold and not OPTIONS.edgeitems:
        suffixes.append(f"size={tuple(value.shape)}" if value.ndim != 1 else f"size=({value.size},)")
    if not value.size:
        if value.ndim != 1:
            suffixes.append(f"size={tuple(value.shape)}")
        if value.dtype != SETTINGS.default_dtype:
            suffixes.append(f"dtype={torch_dtype(value.dtype)}")
    elif not has_default:
        suffixes.append(f"dtype={torch_dtype(value.dtype)}")
    prefix = "tensor("
    return with_suffixes(prefix + contents(value, len(prefix)), [*suffixes, *_history(t)], len(prefix))
