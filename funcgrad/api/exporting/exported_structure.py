"""Arguments and results of an exported function: containers taken apart and put together in its text."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.api.calling.arguments import here
from funcgrad.api.inspection.inspect import inner_function
from funcgrad.compile.export.library import is_written_out
from funcgrad.compile.export.module_text import Door
from funcgrad.compile.export.portable import RESERVED
from funcgrad.compile.passes.pipeline import NAMES_OF_KERNELS
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.types import Anything, Tree


class Placed(str):
    """The text of a leaf, among containers."""

    __slots__ = ()


@dataclass
class Structure:
    """The parameters of a function, where its leaves are among them, and what it returns."""

    parameters: list[str]
    accesses: list[str]
    out_tree: Any
    compiled: bool
    """Whether Numba knows the containers."""
    static_checks: list[str]
    cells: list[str] = field(default_factory=list)
    """The parameters that are arrays without axes in the example."""
    classes: dict[str, Sequence[str]] = field(default_factory=dict)

    def returned(self, results: Sequence[str]) -> str:
        """What the compiled function returns."""
        if not self.compiled:
            return f"({', '.join(results)}{',' if len(results) == 1 else ''})"
        return self.display(results)

    def display(self, results: Sequence[str]) -> str:
        """The results in their containers."""
        return container_text(tree.unflatten(self.out_tree, [Placed(r) for r in results]), self.classes)

    def door(self, name: str, sentences: Sequence[str]) -> Door:
        """What callers see."""
        result = self.display([f"_r{k}" for k in range(self.out_tree.num_leaves)])
        return Door(name, self.parameters, result, sentences, self.compiled, self.cells, self.classes)


def structure_of(
    jitted: Anything, args: tuple[Any, ...], kwargs: dict[str, Any], places: Sequence[int], found: Anything
) -> Structure:
    """The structure of a function with an example of its arguments."""
    parameters = parameter_names(jitted, args, kwargs)
    leaves, treedef = tree.flatten((args, kwargs))
    static = [k for k in range(len(leaves)) if k not in set(places)]
    accesses: list[str] = [""] * len(leaves)
    numbered = tree.unflatten(treedef, list(range(len(leaves))))
    plain = True
    for name, value in zip(
        parameters, [*numbered[0], *[numbered[1][key] for key in sorted(kwargs)]], strict=True
    ):
        plain = access_paths(name, value, accesses) and plain
    checks: list[str] = []
    for k in static:
        checks += [
            f"    if {accesses[k]} != {leaves[k]!r}:",
            f'        raise ValueError("{accesses[k]} must be what it was in the example")',
        ]
    if any(type(leaves[k]) not in (bool, int, str) for k in static):
        raise UnsupportedFunctionError(
            "export: a static argument is no number and no string",
            source=here(),
            remedy="Close over it: export(lambda x: f(x, options))(x).",
        )
    classes: dict[str, Sequence[str]] = {}
    marks = tree.unflatten(found.out_tree, [Placed("x")] * found.out_tree.num_leaves)
    container_text(marks, classes)
    compiled = plain and (marks is None or only_tuples(marks))
    values = [*args, *[kwargs[key] for key in sorted(kwargs)]]
    cells = [
        name for name, x in zip(parameters, values, strict=True) if isinstance(x, np.ndarray) and not x.ndim
    ]
    return Structure(
        parameters, [accesses[k] for k in places], found.out_tree, compiled, checks, cells, classes
    )


def parameter_names(jitted: Anything, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[str]:
    """The user's names of parameters, changed where modules use them for something else."""
    try:
        known = [
            name
            for name, p in inspect.signature(inner_function(jitted)).parameters.items()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):
        known = []
    names = [known[k] if k < len(known) else f"x{k}" for k in range(len(args))] + sorted(kwargs)
    return [f"{name}_" if is_taken(name) or keyword.iskeyword(name) else name for name in names]


def is_taken(name: str) -> bool:
    """Whether modules use a name for something of theirs."""
    return name in RESERVED or name in NAMES_OF_KERNELS or is_written_out(name)


def access_paths(text: str, value: Tree, accesses: list[str]) -> bool:
    """Note the text of every leaf; returns whether Numba knows the containers around them."""
    if type(value) is int:
        accesses[value] = text
        return True
    if value is None:
        return True
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        known = [access_paths(f"{text}.{name}", getattr(value, name), accesses) for name in value._fields]
        return all(known)
    if type(value) in (tuple, list):
        found = [access_paths(f"{text}[{k}]", x, accesses) for k, x in enumerate(value)]
        return type(value) is tuple and all(found)
    if isinstance(value, dict):
        for key, x in value.items():
            access_paths(f"{text}[{key!r}]", x, accesses)
        return False
    raise no_container(value)


def container_text(value: Tree, classes: dict[str, Sequence[str]]) -> str:
    """Containers as Python writes them; named tuples are noted."""
    if type(value) is Placed or value is None:
        return str(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        name = type(value).__name__
        classes[name] = value._fields
        return f"{name}({', '.join([container_text(x, classes) for x in value])})"
    if type(value) in (tuple, list):
        items = ", ".join([container_text(x, classes) for x in value])
        if type(value) is list:
            return f"[{items}]"
        return f"({items}{',' if len(value) == 1 else ''})"
    if type(value) is dict:
        return f"{{{', '.join([f'{key!r}: {container_text(x, classes)}' for key, x in value.items()])}}}"
    raise no_container(value)


def only_tuples(value: object) -> bool:
    """Whether containers are all tuples, as Numba has them."""
    if type(value) is Placed:
        return True
    return isinstance(value, tuple) and all(only_tuples(x) for x in value)


def no_container(value: object) -> UnsupportedFunctionError:
    """The error for containers that have no text."""
    return UnsupportedFunctionError(
        f"export: a {type(value).__name__} among arguments or results has no form outside of funcgrad",
        source=here(),
        remedy="Use tuples, lists, dicts and named tuples, or take its arrays as arguments.",
    )
