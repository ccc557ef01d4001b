"""Whose code it is: the user's own, which is rewritten where it is traced, or an installed package's."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from types import CodeType

from funcgrad.config import WHEN_PACKAGES_CHANGE, take_in
from funcgrad.source import TOP, installed_package, is_library_code, library_files

POLYNOMIALS = os.path.join("numpy", "polynomial", "")
"""NumPy's series are Python that calls NumPy: it is traced as the user's own would be."""


def is_users(code: CodeType) -> bool:
    """Whether the code is the user's own, or of a package that is not installed or has been taken in."""
    file = code.co_filename
    if POLYNOMIALS in file:
        return True
    return not is_library_code(code) and not installed_package(file)


def is_of_package(code: CodeType) -> bool:
    """Whether the code is of an installed package, taken in or not."""
    return _is_in_packages(code.co_filename)


@lru_cache(maxsize=4096)
def _is_in_packages(file: str) -> bool:
    return TOP.search(file) is not None


def take_in_package_of(function: object) -> None:
    """Have the installed package of a function that is given to a transform traced as the user's own."""
    _take_in_module(getattr(function, "__module__", None) or type(function).__module__)


@lru_cache(maxsize=1024)
def _take_in_module(module: str) -> None:
    name = module.partition(".")[0]
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    if installed_package(file) == name and not library_files[file]:
        take_in(name)


WHEN_PACKAGES_CHANGE.append(_take_in_module.cache_clear)
