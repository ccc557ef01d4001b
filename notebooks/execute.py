"""Runs the notebooks beside this file, each in a fresh kernel, and stores or compares what they show.

    python notebooks/execute.py            runs all and writes their outputs
    python notebooks/execute.py 1 4        runs those whose names start so
    python notebooks/execute.py --check    writes nothing; fails where a notebook now says something else

A cell that raises fails its notebook, unless it is tagged `raises-exception`; so does a warning. The words
that cells show are compared, numbers to six digits, because the last ones depend on the machine; pictures
are not. A cell whose text differs from run to run, such as a measurement, is tagged `varies` and only runs.
"""

from __future__ import annotations

import argparse
import html
import json
import math
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
COMPARED = ("text/plain", "text/html")
NUMBER = re.compile(r"-?(?:\d+\.\d*|\.\d+|\d+)(?:e[-+]?\d+)?")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# Where a file lies is nobody's business: `/tmp/ipykernel_7/3.py`, a home, an environment.
PRIVATE = re.compile(r"(?:/tmp/|/home/|/Users/|/root/|/work/|/opt/|/usr/|~/|site-packages|ipykernel_\d)")
STYLE = re.compile(r"<style.*?</style>", re.DOTALL)
TAG = re.compile(r"<[a-zA-Z/][^>]*>")
METADATA_OF_SVG = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def notebooks(prefixes: list[str]) -> list[Path]:
    """The notebooks whose names start with one of the prefixes, or all."""
    found = sorted(HERE.glob("*.ipynb"))
    return [path for path in found if not prefixes or path.name.startswith(tuple(prefixes))]


def executed(path: Path, timeout: int) -> dict[str, Any]:
    """The notebook after a run of all its cells, in a kernel of the Python that runs this.

    Raises RuntimeError where a cell fails that is not tagged `raises-exception`.
    """
    # Comparing needs none of these.
    import nbformat
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellControlSignal, DeadKernelError

    os.environ["FUNCGRAD_NOTICES"] = "0"  # which compilations take long depends on the machine
    notebook = nbformat.read(path, as_version=4)
    # A kernel that somebody installed under the name python3 may belong to another environment.
    kernel = AsyncKernelManager(
        kernel_name="python3",
        kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
    )
    client = NotebookClient(
        notebook,
        km=kernel,
        timeout=timeout,
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        client.execute()
    except (CellControlSignal, DeadKernelError) as error:
        raise RuntimeError(f"stopped: {error}") from None
    write_bars(notebook, client.widget_state)
    normalise(notebook)
    nbformat.validate(notebook)
    return dict(notebook)


def write_bars(notebook: dict[str, Any], widgets: dict[str, Any]) -> None:
    """Put what progress bars said last in their place: widgets live no longer than their kernel."""
    for _, cell in code_cells(notebook):
        for output in cell["outputs"]:
            view = output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)
            if view is None:
                continue
            children = widgets.get(view["model_id"], {}).get("children", [])
            parts = [widgets[name.removeprefix("IPY_MODEL_")] for name in children]
            if len(parts) == 3:
                before, bar, after = parts
                blocks = round(10 * bar["value"] / max(bar["max"], 1)) * "█"
                text = f"{before['value']}|{blocks:10}|{after['value']}"
                output["data"]["text/plain"] = html.unescape(text).replace("\u2007", " ")


def normalise(notebook: dict[str, Any]) -> None:
    """Take out, in place, what says who ran it, when and on what."""
    notebook["metadata"] = METADATA
    notebook["nbformat_minor"] = 5
    for number, cell in enumerate(notebook["cells"], start=1):
        cell["id"] = f"cell-{number:02d}"
        tags = cell["metadata"].get("tags")
        cell["metadata"] = {"tags": sorted(tags)} if tags else {}
        for output in cell.get("outputs", ()):
            if "metadata" in output:
                sizes = {kind: said for kind, said in output["metadata"].items() if kind == "image/png"}
                output["metadata"] = sizes
            picture = joined(output.get("data", {}).get("image/svg+xml", ""))
            if "<metadata>" in picture:  # the day, and the version of Matplotlib
                output["data"]["image/svg+xml"] = METADATA_OF_SVG.sub("", picture)


def complaints(notebook: dict[str, Any]) -> Iterator[str]:
    """What no stored notebook may hold: errors and warnings that nobody announced, paths, addresses."""
    for number, cell in code_cells(notebook):
        tags = cell["metadata"].get("tags", [])
        for output in cell["outputs"]:
            text = "\n".join(texts(output))
            if output["output_type"] == "error" and "raises-exception" not in tags:
                yield f"cell {number} raised {output['ename']}: {output['evalue']}"
            if "Warning" in text and "raises-exception" not in tags:
                yield f"cell {number} warned: {text[:200]}"
            if output.get("name") == "stderr" and "varies" not in tags:
                yield f"cell {number} wrote to stderr: {text[:200]}"
            if found := PRIVATE.search(text):
                yield f"cell {number} shows a path of this machine: {text[found.start() : found.end() + 40]}"
            if "varies" not in tags and (found := re.search(r"\b0x[0-9a-f]{6,}", text)):
                yield f"cell {number} shows an address: {found.group()}"


def differences(stored: dict[str, Any], fresh: dict[str, Any]) -> Iterator[str]:
    """Where the texts of the stored outputs are not those of a fresh run."""
    for (number, old), (_, new) in zip(code_cells(stored), code_cells(fresh), strict=True):
        if "varies" in old["metadata"].get("tags", []):
            continue
        before = [words_of(text) for output in old["outputs"] for text in texts(output)]
        after = [words_of(text) for output in new["outputs"] for text in texts(output)]
        if len(before) != len(after):
            yield f"cell {number} has {len(before)} texts stored and {len(after)} now"
        for one, other in zip(before, after, strict=False):
            if not alike(one, other):
                yield f"cell {number} is stale\n  stored: {first_difference(one, other)}"


def code_cells(notebook: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    """The cells that run, with their place in the notebook."""
    cells = enumerate(notebook["cells"], start=1)
    return [(number, cell) for number, cell in cells if cell["cell_type"] == "code"]


def texts(output: dict[str, Any]) -> list[str]:
    """The texts that one output shows; an error is its name, its message and its traceback."""
    if output["output_type"] == "stream":
        return [joined(output["text"])]
    if output["output_type"] == "error":
        return [COLOUR.sub("", "\n".join([output["ename"], output["evalue"], *output["traceback"]]))]
    return [joined(output["data"][kind]) for kind in COMPARED if kind in output["data"]]


def words_of(text: str) -> str:
    """What one reads of a page: neither its style nor its tags. Other text stays as it is."""
    return TAG.sub(" ", STYLE.sub("", text)) if "</" in text else text


def joined(text: str | list[str]) -> str:
    """A text, which files may hold as lines."""
    return text if isinstance(text, str) else "".join(text)


def alike(one: str, other: str) -> bool:
    """Whether two texts differ in no more than the last digits of numbers.

    >>> alike("a = 0.1234567", "a = 0.1234568"), alike("a = 0.12", "a = 0.13"), alike("a = 1", "b = 1")
    (True, False, False)
    """
    if one == other:
        return True
    if NUMBER.sub("#", one).split() != NUMBER.sub("#", other).split():
        return False
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
    return all(a == b or math.isclose(float(a), float(b), rel_tol=1e-6, abs_tol=1e-9) for a, b in pairs)


def first_difference(one: str, other: str) -> str:
    """The first line that differs, as it was and as it is."""
    before, after = one.splitlines(), other.splitlines()
    for a, b in zip(before, after, strict=False):
        if not alike(a, b):
            return f"{a[:300]}\n  now:    {b[:300]}"
    return f"{len(before)} lines\n  now:    {len(after)} lines"


def run(path: Path, check: bool, timeout: int) -> list[str]:
    """Run one notebook, store it unless it is only checked, and return what is wrong with it."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    try:
        fresh = executed(path, timeout)
    except RuntimeError as error:
        return [str(error)]
    wrong = list(complaints(fresh))
    if check:
        return wrong + list(complaints(stored)) + list(differences(stored, fresh))
    if not wrong:
        import nbformat

        nbformat.write(nbformat.from_dict(fresh), path)
    return wrong


def main() -> int:
    """Run what the command line names; the exit status is the number of notebooks that fail."""
    parser = argparse.ArgumentParser(description="Run the notebooks in fresh kernels.")
    parser.add_argument("names", nargs="*", help="how their names start; all by default")
    parser.add_argument("--check", action="store_true", help="write nothing; compare with what is stored")
    parser.add_argument("--timeout", type=int, default=300, help="seconds for one cell")
    options = parser.parse_args()
    failed = 0
    for path in notebooks(options.names):
        start = time.perf_counter()
        wrong = run(path, options.check, options.timeout)
        failed += bool(wrong)
        seconds, size = time.perf_counter() - start, path.stat().st_size / 1e3
        print(f"{path.name}: {'FAILED' if wrong else 'passed'}, {seconds:.0f} s, {size:.0f} kB")
        for line in wrong:
            print(f"  {line}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
