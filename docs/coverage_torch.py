"""Writes docs/coverage-torch.md: what of PyTorch's public functions and classes is here.

The names are those of PyTorch 2.13, written down in docs/torch_names.json.

    python docs/coverage_torch.py            # rewrites the page
    python docs/coverage_torch.py --check    # says whether it is current
    python docs/coverage_torch.py --record   # writes the names down again, where PyTorch is installed
"""

from __future__ import annotations

import json
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

from funcgrad.torch.core.unsupported import reason_for

PAGE = Path(__file__).with_name("coverage-torch.md")
NAMES = Path(__file__).with_name("torch_names.json")
PLACES = (
    "torch",
    "torch.Tensor",
    "torch.nn",
    "torch.nn.functional",
    "torch.nn.init",
    "torch.nn.utils",
    "torch.nn.utils.rnn",
    "torch.nn.utils.parametrize",
    "torch.nn.utils.parametrizations",
    "torch.linalg",
    "torch.fft",
    "torch.special",
    "torch.optim",
    "torch.optim.lr_scheduler",
    "torch.utils.data",
    "torch.utils.checkpoint",
    "torch.distributions",
    "torch.autograd",
    "torch.autograd.functional",
    "torch.autograd.graph",
    "torch.autograd.forward_ad",
    "torch.func",
    "torch.amp",
    "torch.jit",
    "torch.testing",
)
HEAD = """# What is here of PyTorch 2.13

<!-- Written by docs/coverage_torch.py from the code; do not edit. -->

`funcgrad.torch` is for dense tensors on a CPU. Every public function and class of PyTorch's stands below:
under its module where it is here, then, with the reason, where it refuses by name, and last what is not here
yet.
"""


def found(place: str, package: str) -> Any:
    """The module or class of a place."""
    path = package + place.removeprefix("torch")
    try:
        return import_module(path)
    except ModuleNotFoundError:
        parent, _, last = path.rpartition(".")
        return getattr(import_module(parent), last)


def callables(place: Any) -> list[str]:
    """The public names that can be called and are not borrowed from elsewhere."""
    names = []
    for name in dir(place):
        value = getattr(place, name, None) if name[0] != "_" else None
        home = getattr(value, "__module__", "") or ""
        borrowed = home.split(".")[0] in (
            "typing",
            "typing_extensions",
            "collections",
            "contextlib",
            "copy",
            "enum",
            "functools",
            "_bisect",
            "weakref",
        )
        if callable(value) and not borrowed and not isinstance(value, type(json)):
            names.append(name)
    return names


def record() -> None:
    """Write PyTorch's names down."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = {place: callables(found(place, "torch")) for place in PLACES}
    NAMES.write_text(json.dumps(names, indent=0) + "\n", encoding="utf-8")


def wrapped(words: list[str], width: int = 108) -> list[str]:
    """The words with commas between them, in lines."""
    lines = [""]
    for k, word in enumerate(words):
        piece = word + ("," if k < len(words) - 1 else "")
        if len(lines[-1]) + len(piece) + 1 > width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + piece
    return lines


def has(place: Any, name: str) -> bool:
    """Whether a place has a name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return hasattr(place, name)


def sections() -> tuple[list[str], dict[str, list[str]]]:
    """The page's lines, and the names that are neither here nor refused, by place."""
    lines: list[str] = []
    counts: list[tuple[str, int, int, int]] = []
    open_: dict[str, list[str]] = {}
    for place, names in json.loads(NAMES.read_text(encoding="utf-8")).items():
        try:
            ours = found(place, "funcgrad.torch")
        except (ModuleNotFoundError, AttributeError):
            ours = None
        here = [n for n in names if ours is not None and has(ours, n)]
        refused: dict[str, list[str]] = {}
        for name in names:
            reason = None if name in here else reason_for(name)
            if reason is not None:
                refused.setdefault(reason, []).append(name)
        left = [n for n in names if n not in here and reason_for(n) is None]
        open_[place] = left
        counts.append((place, len(names), len(here), len(names) - len(here) - len(left)))
        lines += ["", f"## {place}", "", *wrapped([f"`{n}`" for n in here])]
        for reason, group in refused.items():
            lines += ["", f"Refused ({reason}):", "", *wrapped([f"`{n}`" for n in group])]
        if left:
            lines += ["", "Not here yet:", "", *wrapped([f"`{n}`" for n in left])]
    table = ["", "| | of PyTorch | here | refused by name | not yet |", "| --- | --- | --- | --- | --- |"]
    table += [f"| `{p}` | {n} | {h} | {r} | {n - h - r} |" for p, n, h, r in counts]
    return [*table, *lines], open_


def page() -> str:
    """The whole page."""
    return HEAD + "\n".join(sections()[0]) + "\n"


def main() -> int:
    """Write, check or record."""
    if "--record" in sys.argv:
        record()
    if "--check" in sys.argv:
        return int(PAGE.read_text(encoding="utf-8") != page())
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
