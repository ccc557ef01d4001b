"""PyTorch's modules of single families, ``torch.distributions.normal`` and its like."""

from __future__ import annotations

import re
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

__all__ = ["publish"]

_SHARED = {
    "OneHotCategoricalStraightThrough": "one_hot_categorical",
    "RelaxedOneHotCategorical": "relaxed_categorical",
    "LowRankMultivariateNormal": "lowrank_multivariate_normal",
    "LKJCholesky": "lkj_cholesky",
    "FisherSnedecor": "fishersnedecor",
    "StudentT": "studentT",
    "ExponentialFamily": "exp_family",
}


def module_of(family: str) -> str:
    """The name of the module that a class stands in.

    >>> module_of("MultivariateNormal"), module_of("StudentT")
    ('multivariate_normal', 'studentT')
    """
    return _SHARED.get(family) or re.sub(r"(?<!^)(?=[A-Z])", "_", family).lower()


def publish(package: str, members: dict[str, Any], groups: dict[str, tuple[str, ...]]) -> None:
    """Make the modules of a package: one for each class, and those that hold several names."""
    held: dict[str, dict[str, Any]] = {}
    for name, member in members.items():
        if isinstance(member, type):
            held.setdefault(module_of(name), {})[name] = member
    for module, names in groups.items():
        held.setdefault(module, {}).update({name: members[name] for name in names})
    for module, found in held.items():
        path = f"{package}.{module}"
        if path not in sys.modules:
            made = ModuleType(path, f"``torch.distributions.{module}``.")
            made.__spec__ = ModuleSpec(path, None)
            made.__dict__.update(found)
            sys.modules[path] = made
