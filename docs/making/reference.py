"""Writes the pages of the reference: every public name of every public module, by what it is about.

Entries are made by Sphinx's autodoc from the docstrings. The tensor facade, whose names and signatures are
PyTorch's, is listed in tables of a sentence each. The pages are ignored by git.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Page:
    """One page: a module, its title, and whether every name gets an entry or a line in a table."""

    module: str
    title: str
    entries: bool = True

    @property
    def file(self) -> str:
        """The name of its file."""
        return self.module.replace("funcgrad.", "").replace(".", "-") + ".rst"


PAGES = (
    Page("funcgrad", "fg: transforms and Programs"),
    Page("funcgrad.api.rules.checkpoint_policies", "fg.checkpoint_policies", entries=False),
    Page("funcgrad.numpy", "fg.numpy"),
    Page("funcgrad.numpy.linalg", "fg.numpy.linalg"),
    Page("funcgrad.numpy.fft", "fg.numpy.fft"),
    Page("funcgrad.scipy.special", "fg.scipy.special"),
    Page("funcgrad.scipy.optimize", "fg.scipy.optimize"),
    Page("funcgrad.scipy.fft", "fg.scipy.fft"),
    Page("funcgrad.scipy.spatial.distance", "fg.scipy.spatial.distance"),
    Page("funcgrad.scipy.integrate", "fg.scipy.integrate"),
    Page("funcgrad.scipy.interpolate", "fg.scipy.interpolate"),
    Page("funcgrad.scipy.linalg", "fg.scipy.linalg"),
    Page("funcgrad.scipy.spatial", "fg.scipy.spatial"),
    Page("funcgrad.scipy.signal", "fg.scipy.signal"),
    Page("funcgrad.scipy.ndimage", "fg.scipy.ndimage"),
    Page("funcgrad.scipy.sparse", "fg.scipy.sparse"),
    Page("funcgrad.scipy.stats", "fg.scipy.stats"),
    Page("funcgrad.random", "fg.random"),
    Page("funcgrad.nn", "fg.nn"),
    Page("funcgrad.nn.initializers", "fg.nn.initializers", entries=False),
    Page("funcgrad.lax", "fg.lax"),
    Page("funcgrad.lax.linalg", "fg.lax.linalg", entries=False),
    Page("funcgrad.loops", "fg.loops"),
    Page("funcgrad.distributed", "fg.distributed"),
    Page("funcgrad.tree", "fg.tree"),
    Page("funcgrad.tree_util", "fg.tree_util", entries=False),
    Page("funcgrad.testing", "fg.testing"),
    Page("funcgrad.extend", "fg.extend"),
    Page("funcgrad.compat.autograd", "fg.compat.autograd", entries=False),
    Page("funcgrad.display.graph", "fg.display.graph"),
    Page("funcgrad.torch.core.pictures", "fg.torch.pictures"),
    Page("funcgrad.config", "fg.config"),
    Page("funcgrad.errors", "fg.errors"),
    Page("funcgrad.datasets", "fg.datasets"),
    Page("funcgrad.torch", "fg.torch", entries=False),
    Page("funcgrad.torch.autograd", "fg.torch.autograd", entries=False),
    Page("funcgrad.torch.autograd.functional", "fg.torch.autograd.functional", entries=False),
    Page("funcgrad.torch.autograd.forward_ad", "fg.torch.autograd.forward_ad", entries=False),
    Page("funcgrad.torch.autograd.graph", "fg.torch.autograd.graph", entries=False),
    Page("funcgrad.torch.func", "fg.torch.func", entries=False),
    Page("funcgrad.torch.nn", "fg.torch.nn", entries=False),
    Page("funcgrad.torch.nn.functional", "fg.torch.nn.functional", entries=False),
    Page("funcgrad.torch.nn.init", "fg.torch.nn.init", entries=False),
    Page("funcgrad.torch.nn.utils", "fg.torch.nn.utils", entries=False),
    Page("funcgrad.torch.optim", "fg.torch.optim", entries=False),
    Page("funcgrad.torch.optim.lr_scheduler", "fg.torch.optim.lr_scheduler", entries=False),
    Page("funcgrad.torch.optim.swa_utils", "fg.torch.optim.swa_utils", entries=False),
    Page("funcgrad.torch.random", "fg.torch.random", entries=False),
    Page("funcgrad.torch.return_types", "fg.torch.return_types", entries=False),
    Page("funcgrad.torch.linalg", "fg.torch.linalg", entries=False),
    Page("funcgrad.torch.fft", "fg.torch.fft", entries=False),
    Page("funcgrad.torch.special", "fg.torch.special", entries=False),
    Page("funcgrad.torch.utils.checkpoint", "fg.torch.utils.checkpoint", entries=False),
    Page("funcgrad.torch.accelerator", "fg.torch.accelerator", entries=False),
    Page("funcgrad.torch.amp", "fg.torch.amp", entries=False),
    Page("funcgrad.torch.autograd.profiler", "fg.torch.autograd.profiler", entries=False),
    Page("funcgrad.torch.backends", "fg.torch.backends", entries=False),
    Page("funcgrad.torch.backends.cpu", "fg.torch.backends.cpu", entries=False),
    Page("funcgrad.torch.backends.cuda", "fg.torch.backends.cuda", entries=False),
    Page("funcgrad.torch.backends.cudnn", "fg.torch.backends.cudnn", entries=False),
    Page("funcgrad.torch.backends.mkl", "fg.torch.backends.mkl", entries=False),
    Page("funcgrad.torch.backends.mkldnn", "fg.torch.backends.mkldnn", entries=False),
    Page("funcgrad.torch.backends.mps", "fg.torch.backends.mps", entries=False),
    Page("funcgrad.torch.backends.openmp", "fg.torch.backends.openmp", entries=False),
    Page("funcgrad.torch.backends.opt_einsum", "fg.torch.backends.opt_einsum", entries=False),
    Page("funcgrad.torch.compiler", "fg.torch.compiler", entries=False),
    Page("funcgrad.torch.cpu", "fg.torch.cpu", entries=False),
    Page("funcgrad.torch.cpu.amp", "fg.torch.cpu.amp", entries=False),
    Page("funcgrad.torch.cuda", "fg.torch.cuda", entries=False),
    Page("funcgrad.torch.cuda.amp", "fg.torch.cuda.amp", entries=False),
    Page("funcgrad.torch.distributions", "fg.torch.distributions", entries=False),
    Page("funcgrad.torch.distributions.constraints", "fg.torch.distributions.constraints", entries=False),
    Page("funcgrad.torch.distributions.kl", "fg.torch.distributions.kl", entries=False),
    Page("funcgrad.torch.nn.utils.parametrizations", "fg.torch.nn.utils.parametrizations", entries=False),
    Page("funcgrad.torch.nn.utils.parametrize", "fg.torch.nn.utils.parametrize", entries=False),
    Page("funcgrad.torch.nn.utils.prune", "fg.torch.nn.utils.prune", entries=False),
    Page("funcgrad.torch.nn.utils.rnn", "fg.torch.nn.utils.rnn", entries=False),
    Page("funcgrad.torch.nn.utils.stateless", "fg.torch.nn.utils.stateless", entries=False),
    Page("funcgrad.torch.serialization", "fg.torch.serialization", entries=False),
    Page("funcgrad.torch.jit", "fg.torch.jit", entries=False),
    Page("funcgrad.torch.mps", "fg.torch.mps", entries=False),
    Page("funcgrad.torch.multiprocessing", "fg.torch.multiprocessing", entries=False),
    Page("funcgrad.torch.nn.modules.utils", "fg.torch.nn.modules.utils", entries=False),
    Page("funcgrad.torch.nn.parallel", "fg.torch.nn.parallel", entries=False),
    Page("funcgrad.torch.profiler", "fg.torch.profiler", entries=False),
    Page("funcgrad.torch.testing", "fg.torch.testing", entries=False),
    Page("funcgrad.torch.utils.data", "fg.torch.utils.data", entries=False),
    Page("funcgrad.torch.version", "fg.torch.version", entries=False),
    Page("funcgrad.torch.xpu", "fg.torch.xpu", entries=False),
)

# The front page of the reference is in the order of use, not of the alphabet.
FRONT = {
    "Derivatives": (
        "grad value_and_grad vjp jvp linearize linear_transpose jacfwd jacrev jacobian hessian hvp "
        "stop_gradient"
    ),
    "Batches": "vmap",
    "Compiled": (
        "jit explain profile export njit_callable low_level_callable logp_callback cache_info clear_cache"
    ),
    "Programs": "make_program eval_shape ShapeDtypeStruct Program Equation check parse named_scope",
    "Rules of one's own": (
        "custom_vjp custom_jvp custom_gradient closure_convert checkpoint checkpoint_name pure_callback"
    ),
    "Places that are written into": "new_ref freeze",
    "Control flow": "cond switch while_loop fori_loop scan map associative_scan",
    "Trees as vectors": "ravel_pytree",
    "Sums by segment": "segment_sum segment_prod segment_max segment_min",
    "Many machines": "distribute",
}
IN_PLACE = "In place: as the function without the underscore, written into the first argument"
CONSTANTS = "Constants, types and conveniences"


def public_names(module: types.ModuleType) -> list[str]:
    """What the module offers: its ``__all__``, for the tensor facade all of ``dir``."""
    if module.__name__ in {"funcgrad.torch"}:
        return [name for name in dir(module) if not name.startswith("_")]
    declared = getattr(module, "__all__", None)
    return list(declared if declared is not None else (n for n in dir(module) if not n.startswith("_")))


def is_ours(value: object) -> bool:
    """Whether this is a function or class of funcgrad, whose docstring is ours."""
    ours = str(getattr(value, "__module__", "")).startswith("funcgrad")
    return ours and callable(value) and bool(getattr(value, "__doc__", None))


def heading_of(value: object, page: str) -> str:
    """The part of a page a value is listed under: the first words of the docstring of the value's module."""
    if value.__module__ == page:
        return "Basics"
    home = sys.modules.get(str(value.__module__))
    line = ((home.__doc__ if home else None) or "Others").split("\n")[0]
    first = re.split(r"[:.;]|, (?=and |as )", line, maxsplit=1)[0]
    return first.replace("``", "").replace("`", "")


def grouped(module: types.ModuleType, names: Iterable[str]) -> dict[str, list[str]]:
    """Names by heading, modules left out; what is not documented here comes last."""
    names = [name for name in names if not isinstance(getattr(module, name), types.ModuleType)]
    groups: dict[str, list[str]] = {}
    if module.__name__ == "funcgrad":
        for heading, listed in FRONT.items():
            groups[heading] = [name for name in listed.split() if name in names]
        listed_names = {name for group in groups.values() for name in group}
        names = [name for name in names if name not in listed_names]
    last, in_place = [], []
    for name in names:
        value = getattr(module, name)
        if name.endswith("_") and module.__name__.startswith("funcgrad.torch"):
            in_place.append(name)
        elif is_ours(value):
            groups.setdefault(heading_of(value, module.__name__), []).append(name)
        else:
            last.append(name)
    if in_place:
        groups[IN_PLACE] = in_place
    if last:
        groups[CONSTANTS] = last
    return groups


def sentence(value: object) -> str:
    """The first sentence of a docstring."""
    text = inspect.getdoc(value) or ""
    first = text.split("\n\n")[0].replace("\n", " ")
    return re.split(r"(?<=[.?!])\s(?=[A-Z`])", first, maxsplit=1)[0]


def signature(value: Any) -> str:
    """The signature without its annotations, or dots where there is none."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in found.parameters.values()]
    return str(found.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def titled(text: str, line: str) -> list[str]:
    """A heading."""
    return [text, line * len(text), ""]


def entry(module: str, name: str, value: Any, names: list[str]) -> list[str]:
    """The directive that makes an entry; that of a second name for the same function leads to the first."""
    first = getattr(value, "__name__", name)
    if first != name and first in names and not isinstance(value, type):
        return [f".. py:function:: {module}.{name}{signature(value)}", "", f"   The same as `{first}`.", ""]
    if isinstance(value, type):
        lines = [f".. autoclass:: {module}.{name}"]
        if not issubclass(value, Exception | Warning):
            lines.append("   :members:")
        return [*lines, ""]
    return [f".. autofunction:: {module}.{name}", ""]


def listing(names: Iterable[str]) -> list[str]:
    """Names and nothing else."""
    return [".. rst-class:: names", "", ", ".join(f"``{name}``" for name in names), ""]


def table(module: types.ModuleType, names: Iterable[str]) -> Iterator[str]:
    """A line for every name: signature and first sentence."""
    from docstrings import escaped  # noqa: PLC0415 - beside this file, on the path of the build

    yield from (".. list-table::", "   :widths: 45 55", "   :class: names", "")
    for name in names:
        value = getattr(module, name)
        words = escaped(sentence(value)) if value.__doc__ else "As the function of that name above."
        yield f"   * - ``{name}{signature(value)}``"
        yield f"     - {words}"
    yield ""


def first_paragraphs(module: types.ModuleType) -> list[str]:
    """The module's docstring."""
    from docstrings import restructured  # noqa: PLC0415 - likewise

    return restructured(inspect.cleandoc(module.__doc__ or "").split("\n"))


def page_text(page: Page) -> str:
    """One page of the reference as reStructuredText."""
    module = importlib.import_module(page.module)
    lines = [*titled(page.title, "="), f".. py:module:: {page.module}", "", *first_paragraphs(module)]
    groups = grouped(module, public_names(module))
    for heading, names in groups.items():
        if len(groups) > 1:
            lines += titled(heading, "-")
        if heading in {CONSTANTS, IN_PLACE}:
            lines += listing(names)
        elif page.entries:
            for name in names:
                lines += entry(page.module, name, getattr(module, name), names)
        else:
            lines += table(module, names)
    if page.module == "funcgrad.torch":
        methods = [name for name in dir(module.Tensor) if not name.startswith("_")]
        lines += [*titled("Methods and attributes of Tensor", "-"), *listing(methods)]
    return "\n".join(lines)


def existing_pages() -> tuple[Page, ...]:
    """The pages of the modules that this version has."""
    return tuple(page for page in PAGES if _exists(page.module))


def _exists(module: str) -> bool:
    """Whether a module can be imported; one that fails for any reason but its absence raises."""
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        return False
    return True


def index_text(pages: Iterable[Page]) -> str:
    """The list of the pages, for the front page of the reference to include."""
    lines = []
    for entries, caption in ((True, "Functions of arrays"), (False, "The tensor facade")):
        chosen = [page for page in pages if page.entries is entries]
        rows = []
        for page in chosen:
            words = sentence(importlib.import_module(page.module)).rstrip(".")
            rows.append(f"| [{page.title}](generated/{page.file}) | {words} |")
        lines += [f"## {caption}", "", "| module | what it is about |", "|---|---|", *rows, ""]
        names = [
            f"{page.title.split(':')[0]} <generated/{page.file.removesuffix('.rst')}>" for page in chosen
        ]
        lines += ["```{toctree}", ":hidden:", f":caption: {caption}", "", *names, "```", ""]
    return "\n".join(lines)


def write(folder: Path) -> None:
    """Write every page; those that did not change keep their time, so that Sphinx leaves them alone."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = existing_pages()
    (folder.parent.parent / "_generated" / "reference.md").write_text(index_text(pages), encoding="utf-8")
    for stale in set(folder.glob("*.rst")) - {folder / page.file for page in pages}:
        stale.unlink()
    for page in pages:
        path, text = folder / page.file, page_text(page)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
