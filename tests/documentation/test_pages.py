"""The documentation: every page is reached, every public name has its place, every name it mentions exists.

The site itself is built by `.ci/run`, which runs the cells of its pages and takes no warning.
"""

from __future__ import annotations

import re
import types
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import funcgrad as fg

GENERATED = ("_build", "_generated", "notebooks", "generated")
CODE = re.compile(r"`([^`]+)`")
FENCE = re.compile(r"^`{3,}\{toctree\}\n(.*?)^`{3,}", re.MULTILINE | re.DOTALL)
# Their modules have pages; `dlpack` has two names that are known from elsewhere.
NAMESPACES = {"funcgrad.scipy", "funcgrad.torch.utils", "funcgrad.torch.utils.dlpack"}
TABLES = ("howto/from-autograd.md", "howto/from-jax.md", "howto/from-pytorch.md")


def test_every_name_that_the_tensor_facade_lists_exists():
    for name in dir(fg.torch):
        getattr(fg.torch, name)


def pages(docs: Path) -> list[Path]:
    every = (path.relative_to(docs) for path in docs.rglob("*.md"))
    return sorted(path for path in every if not set(path.parts) & set(GENERATED))


def listed(docs: Path, page: Path) -> set[Path]:
    """The pages that the toctrees of a page name."""
    found = set()
    for block in FENCE.findall((docs / page).read_text(encoding="utf-8")):
        for line in block.splitlines():
            name = re.sub(r".*<(.+)>", r"\1", line.strip())
            if not name or name.startswith(":"):
                continue
            folder = docs / page.parent
            matches = folder.glob(f"{name}.md") if "*" in name else [folder / f"{name}.md"]
            found |= {path.relative_to(docs) for path in matches}
    return found


def test_every_page_is_reached_from_the_first(docs):
    reached, todo = set(), [Path("index.md")]
    while todo:
        page = todo.pop()
        reached.add(page)
        if (docs / page).exists():
            todo += listed(docs, page) - reached
    unreached = set(pages(docs)) - reached - {Path("design/README.md")}  # which design/index.md includes
    assert not unreached
    missing = {
        page for page in reached if not (docs / page).exists() and not set(page.parts) & set(GENERATED)
    }
    assert not missing


def test_every_page_begins_with_its_title(docs):
    for page in pages(docs):
        text = re.sub(r"\A---\n.*?\n---\n", "", (docs / page).read_text(encoding="utf-8"), flags=re.DOTALL)
        assert text.lstrip().startswith(("# ", "```{include}")), page


def test_every_cell_of_the_pages_is_python(docs):
    for page in pages(docs):
        for cell in re.findall(r"```\{code-cell\}[^\n]*\n(.*?)```", (docs / page).read_text(), re.DOTALL):
            code = re.sub(r"^:tags:.*\n|^%\w+ ", "", cell, flags=re.MULTILINE)
            compile(code, str(page), "exec")


# PyTorch's other paths to what `torch.nn` and `torch.utils.data` have.
OTHER_PATHS = {
    "funcgrad.torch.nn.modules",
    *[f"funcgrad.torch.nn.modules.{name}" for name in fg.torch.nn.modules.__dict__ if name[0] != "_"],
    *[f"funcgrad.torch.utils.data.{name}" for name in ("dataloader", "dataset", "sampler")],
} - {"funcgrad.torch.nn.modules.utils"}


def public_modules(module: types.ModuleType) -> set[str]:
    """The modules that can be reached by public names."""
    found = {module.__name__}
    names = dir(module) if module is fg.torch else module.__all__
    for name in names:
        value = getattr(module, name)
        if isinstance(value, types.ModuleType) and value.__name__.startswith(module.__name__ + "."):
            found |= public_modules(value)
    return found - OTHER_PATHS


def test_every_public_module_has_a_page_in_the_reference(making):
    reference = making("reference")
    assert public_modules(fg) - NAMESPACES <= {page.module for page in reference.existing_pages()}


def test_the_gallery_shows_every_notebook_with_its_minutes(making, tmp_path):
    root = Path(__file__).parents[2]
    pages = making("site_pages")
    pages.copy_notebooks(root / "notebooks", tmp_path / "notebooks")
    text = (tmp_path / "notebooks" / "index.md").read_text(encoding="utf-8")
    stems = sorted(path.stem for path in (root / "notebooks").glob("*.ipynb"))
    assert re.findall(r"^:link: (.+)$", text, re.MULTILINE) == stems
    assert len(re.findall(r"^\d+ minutes to read\.$", text, re.MULTILINE)) == len(stems)
    pictures = re.findall(r"^:img-top: (.+)$", text, re.MULTILINE)
    assert len(pictures) >= 5
    assert all((tmp_path / "notebooks" / name).stat().st_size > 1000 for name in pictures)


INTERNALS = {"Any", "Array", "Callable", "Sequence", "annotations", "missing", "np", "partial"}


def test_every_public_name_is_in_the_reference(making):
    reference = making("reference")
    for page in reference.existing_pages():
        text = reference.page_text(page)
        module = import_module(page.module)
        for name in reference.public_names(module):
            if isinstance(getattr(module, name), types.ModuleType):
                continue
            entry = rf":: {re.escape(page.module)}\.{name}(?:\(|$)" if page.entries else rf"``{name}\("
            assert re.search(rf"{entry}|``{name}``", text, re.MULTILINE), f"{page.module}.{name}"


def test_completion_shows_what_is_public_and_nothing_else(making):
    reference = making("reference")
    for page in reference.existing_pages():
        if page.module.startswith("funcgrad.torch.") and not page.entries:
            continue  # Surroundings of the facade, such as `backends`, of few names.
        module = import_module(page.module)
        shown = {name for name in dir(module) if not name.startswith("__")}
        assert shown >= set(reference.public_names(module)), page.module
        inner = {name for name in shown if name.startswith("_")} | shown & INTERNALS
        assert not inner - set(reference.public_names(module)), page.module


def test_the_front_page_of_the_reference_names_what_there_is(making):
    reference = making("reference")
    planned = {name for names in reference.FRONT.values() for name in names.split()}
    functions = {name for name in fg.__all__ if not isinstance(getattr(fg, name), types.ModuleType)}
    assert functions - planned <= set()


def resolved(name: str) -> Any:
    """The value of a dotted name that begins with ``fg``, ``np``, or a module."""
    first, *rest = name.split(".")
    value: Any = {"fg": fg, "np": np}.get(first) or import_module(first)
    path = value.__name__
    for part in rest:
        path += "." + part
        if not hasattr(value, part) and find_spec(path) is not None:
            import_module(path)
        value = getattr(value, part)
    return value


@pytest.mark.parametrize("page", TABLES)
def test_our_names_in_the_tables_exist(table, page):
    rows = table(page, "Names")
    assert len(rows) > 20
    for row in rows:
        for name in CODE.findall(row[1]):
            resolved(name)


@pytest.mark.parametrize(
    ("page", "peer"),
    [
        pytest.param(page, peer, marks=pytest.mark.peers(peer))
        for page, peer in zip(TABLES, ("autograd", "jax", "torch"), strict=True)
    ],
)
@pytest.mark.filterwarnings("ignore")  # modules that a peer is about to drop say so when they are imported
def test_their_names_in_the_tables_exist(table, page, peer):
    for row in table(page, "Names"):
        for name in CODE.findall(row[0]):
            resolved(name)


def test_names_of_ours_in_the_text_exist(docs):
    """What is written as `fg.name` anywhere, prose or code."""
    for page in pages(docs):
        text = (docs / page).read_text(encoding="utf-8")
        for name in set(re.findall(r"`(fg(?:\.[a-zA-Z_]\w*)+)", text)):
            try:
                resolved(name)
            except AttributeError as error:
                raise AssertionError(f"{page} mentions {name}") from error


def words(docs: Path, page: str) -> set[str]:
    return set(re.findall(r"\w+", (docs / page).read_text(encoding="utf-8")))


def names_of(module: types.ModuleType) -> set[str]:
    return {name for name in dir(module) if not name.startswith("_")}


@pytest.mark.peers("jax")
@pytest.mark.parametrize(
    "name", ["nn", "random", "tree", "scipy.special", "scipy.linalg", "numpy.linalg", "numpy.fft"]
)
def test_no_name_of_a_namespace_of_jax_is_left_out(docs, name):
    theirs, ours = import_module(f"jax.{name}"), import_module(f"funcgrad.{name}")
    assert names_of(theirs) - names_of(ours) <= words(docs, "howto/from-jax.md")


@pytest.mark.peers("autograd")
def test_no_operator_of_autograd_is_left_out(docs):
    import autograd.differential_operators

    functions = {name for name in names_of(autograd) if callable(getattr(autograd, name))}
    known = words(docs, "howto/from-autograd.md")
    assert functions - {"dict", "list", "tuple", "type", "isinstance", "primitive"} <= known


@pytest.mark.peers("torch")
def test_no_module_and_no_optimiser_of_torch_is_left_out(docs):
    import torch

    known = words(docs, "howto/from-pytorch.md")
    for theirs, ours, base in (
        (torch.nn, fg.torch.nn, torch.nn.Module),
        (torch.optim, fg.torch.optim, torch.optim.Optimizer),
    ):
        classes = {n for n in names_of(theirs) if isinstance(getattr(theirs, n), type)}
        real = {n for n in classes if issubclass(getattr(theirs, n), base) and "Base" not in n}
        missing = {n for n in real if not hasattr(ours, n) and not n.startswith("Lazy")}
        assert missing - {"Container", "NLLLoss2d", "LinearCrossEntropyLoss"} <= known


def test_the_headline_is_taken_from_the_table(making, docs):
    text = (docs.parent / "benchmarks" / "results" / "latest.md").read_text(encoding="utf-8")
    headline = making("site_pages").headline(text)
    assert "processor" in headline
    assert len([line for line in headline.splitlines() if "×" in line and line.startswith("|")]) >= 6


def test_pages_made_of_other_files_link_to_pages(making, docs):
    made = making("site_pages")
    for name in ("CHANGELOG.md", "CONTRIBUTING.md"):
        text = made.with_links_from((docs.parent / name).read_text(encoding="utf-8"))
        for target in made.LINK.findall(text):
            assert (docs / target.lstrip("/").split("#")[0]).exists(), target


def test_docstrings_become_markup(making):
    docstrings = making("docstrings")
    lines = ["The *args of `f`.", ">>> f(*args)", "1", "", "    indented"]
    assert docstrings.restructured(lines) == [
        "The \\*args of `f`.",
        "",
        ".. code-block:: pycon",
        "",
        "   >>> f(*args)",
        "   1",
        "",
        "::",
        "",
        "    indented",
        "",
    ]


def test_the_example_with_joblib_runs(docs):
    pytest.importorskip("joblib")
    (example,) = re.findall(r"```python\n(.*?)```", (docs / "howto/processes.md").read_text(), re.DOTALL)
    names = {"np": np, "fg": fg}
    exec(example, names)
    np.testing.assert_array_equal(names["slopes"], np.repeat([[2.0], [4.0], [6.0]], 3, axis=1))
