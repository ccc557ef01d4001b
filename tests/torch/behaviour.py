"""Runs a piece of code against a module that may be PyTorch or ours, and says what happened in plain data."""

import ast
import contextlib
import io
import math
import re
import warnings

import numpy as np

__all__ = ["outcome", "same"]


def plain(x):  # noqa: PLR0911 - one for each kind of value
    """A value as literals: tensors with dtype, shape, elements, requires_grad and the name of grad_fn."""
    if x is None or isinstance(x, bool | str):
        return x
    name = type(x).__name__
    if name == "dtype":
        return ["dtype", str(x).rsplit(".", 1)[-1]]
    if isinstance(x, np.ndarray):
        return ["ndarray", str(x.dtype), list(x.shape), plain(x.tolist())]
    if hasattr(x, "detach") and hasattr(x, "tolist"):
        node = None if x.grad_fn is None else type(x.grad_fn).__name__
        dtype = str(x.dtype).rsplit(".", 1)[-1]
        return ["tensor", dtype, list(x.shape), plain(x.detach().tolist()), bool(x.requires_grad), node]
    if isinstance(x, np.generic):
        return plain(x.item())
    if isinstance(x, int | float):
        return x
    if isinstance(x, complex):
        return ["complex", x.real, x.imag]
    if name == "Size":
        return ["size", *[int(n) for n in x]]
    if isinstance(x, list | tuple):
        return ["list" if isinstance(x, list) else "tuple", *[plain(v) for v in x]]
    if isinstance(x, dict):
        return ["dict", *[[plain(k), plain(v)] for k, v in x.items()]]
    return ["object", name]


def outcome(torch, code):
    """``{"value": ...}`` or ``{"error": ..., "message": ...}``, with the categories of warnings."""
    torch.set_warn_always(True)
    env = {"torch": torch, "np": np, "__name__": "case"}
    found = {}
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(io.StringIO()) as out:
        warnings.simplefilter("always")
        try:
            tree = ast.parse(code)
            last = tree.body[-1]
            if isinstance(last, ast.Expr):
                exec(compile(ast.Module(tree.body[:-1], []), "<case>", "exec"), env)
                found["value"] = plain(eval(compile(ast.Expression(last.value), "<case>", "eval"), env))
            else:
                exec(compile(tree, "<case>", "exec"), env)
                found["value"] = out.getvalue()
        except Exception as error:  # noqa: BLE001 - whatever happens is the result
            found["error"], found["message"] = type(error).__name__, str(error)
    found["warnings"] = sorted({w.category.__name__ for w in caught} - {"DeprecationWarning"})
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    torch.set_printoptions(profile="default")
    return found


def same(a, b, tolerance=2e-5):  # noqa: PLR0911 - likewise
    """Whether two outcomes agree: numbers nearly, all else exactly, addresses left out."""
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
        return a is b
    if isinstance(a, str) and isinstance(b, str):
        return re.sub(r"0x[0-9a-f]+", "0x", a).strip() == re.sub(r"0x[0-9a-f]+", "0x", b).strip()
    if isinstance(a, int | float) and isinstance(b, int | float):
        if isinstance(a, int) != isinstance(b, int):
            return False
        if math.isnan(a) or math.isnan(b):
            return math.isnan(a) and math.isnan(b)
        return a == b or abs(a - b) <= 1e-6 + tolerance * max(abs(a), abs(b))
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k], tolerance) for k in a)
    return a == b
