"""The text of every kernel over the whole law suite, to hold a change of the compiler's insides by.

``python tests/laws/kernel_texts.py write FOLDER`` writes a file for each primitive: the kernels of its
samples, of their gradients, and of both in batches, with the reasons where there is none.
``... compare REVISION`` writes those of where the branch left another revision and of what stands here, and
shows the difference; it exits with 1 if there is one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from lawbook.cases import Case, cases

import funcgrad as fg
from funcgrad.compile.passes.kernel import make_kernel
from funcgrad.compile.passes.pipeline import rewritten
from funcgrad.compile.passes.scheduling.lowerings import NotLowered
from funcgrad.compile.passes.segments import segments_of
from funcgrad.errors import FuncgradError
from funcgrad.extend import call_program
from funcgrad.ir.program import Program

ROOT = Path(__file__).parents[2]
SIZE = 3
"""Examples of a batch."""
FIRST_ADDRESS = 1 << 32
"""Sizes from here on are where functions lie in this process."""


def kernel_text(program: Program) -> str:
    """What a Program is compiled to, without the user's lines."""
    whole = rewritten(program)
    try:
        return text_of(whole)
    except NotLowered:
        segments, reasons = segments_of(whole)
    texts = [f"# evaluated: {reason.words}" for reason in reasons]
    return "\n".join([*texts, *[text_of(s.program) for s in segments if s.native]])


def text_of(program: Program) -> str:
    """One kernel: its code, and the sizes it is called with."""
    kernel = make_kernel(program)
    sizes = ["address" if n >= FIRST_ADDRESS else n for n in kernel.sizes]
    return f"{kernel.code}# n = {sizes}"


def programs_of(case: Case) -> Iterator[tuple[str, Callable[[], Program]]]:
    """A case as Programs: its values, its gradient, and both in batches."""
    values = case.values(case.rng())
    whole = case.program(values)
    yield "values", lambda: whole

    def function(*xs: Any) -> Sequence[Any]:
        return tuple(call_program(whole, *xs))

    def pulled(*xs: Any) -> Any:
        out, pullback = fg.vjp(function, *xs)
        return pullback(tuple([ones_like(x) for x in out]))

    batch = [np.stack([np.asarray(x)] * SIZE) for x in values]
    if batch:
        yield "values in batches", lambda: fg.make_program(fg.vmap(function))(*batch)
    if case.sample.differentiable and any(np.asarray(x).dtype.kind in "fc" for x in values):
        yield "gradients", lambda: fg.make_program(pulled)(*values)
        yield "gradients in batches", lambda: fg.make_program(fg.vmap(pulled))(*batch)


def ones_like(x: Any) -> Any:
    """A cotangent of ones."""
    return np.ones(x.shape, x.dtype)


def texts_of(case: Case) -> str:
    """Everything about one case."""
    parts = [f"## {case!r}"]
    for what, make in programs_of(case):
        try:
            text = kernel_text(make())
        except FuncgradError as error:
            text = f"# {type(error).__name__}: {str(error).splitlines()[0]}"
        parts.append(f"# {what}\n{text}")
    return "\n".join(parts)


def write(folder: Path) -> None:
    """A file for each primitive."""
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, list[str]] = {}
    with np.errstate(all="ignore"):
        for case in cases():
            found.setdefault(case.cls.name, []).append(texts_of(case))
    for name, texts in found.items():
        (folder / f"{name}.txt").write_text("\n\n".join(texts) + "\n", encoding="utf-8")


def compare(revision: str) -> int:
    """Show where this working tree differs from where its branch left a revision; 1 if it does."""
    command = ["git", "merge-base", revision, "HEAD"]
    base = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    with tempfile.TemporaryDirectory() as made:
        there = Path(made, "checkout")
        subprocess.run(["git", "worktree", "add", "-q", "--detach", there, base], cwd=ROOT, check=True)
        try:
            for name, root in (("before", there), ("after", ROOT)):
                script = root / "tests/laws/kernel_texts.py"
                command = [sys.executable, str(script), "write", str(Path(made, name))]
                subprocess.run(command, env={**os.environ, "PYTHONPATH": str(root)}, check=True)
            difference = ["git", "--no-pager", "diff", "--no-index", "--stat", "-p", "before", "after"]
            return subprocess.run(difference, cwd=made, check=False).returncode
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", there], cwd=ROOT, check=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["write", folder]:
            write(Path(folder))
        case ["compare", revision]:
            sys.exit(compare(revision))
        case _:
            sys.exit(__doc__)
