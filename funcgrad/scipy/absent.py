"""What is said where a name of SciPy's is asked for that has no derivative here."""

from __future__ import annotations

from importlib import import_module

from funcgrad.errors import did_you_mean
from funcgrad.scipy.nearest import remedy_for


def missing(module: str, name: str) -> AttributeError:
    """The error for a name that a module of `funcgrad.scipy` does not have.

    >>> print(str(missing("funcgrad.scipy.linalg", "cossin")).partition(". ")[2])
    Use fg.scipy.linalg.svd: bases of subspaces are not unique.
    >>> print(missing("funcgrad.scipy.linalg", "exmp"))
    module 'funcgrad.scipy.linalg' has no attribute 'exmp'. Did you mean 'expm'?
    """
    theirs = module.removeprefix("funcgrad.")
    if not name.startswith("_") and hasattr(import_module(theirs), name):
        ours = module.replace("funcgrad", "fg", 1)
        return AttributeError(
            f"{ours} has no {name}: {theirs}.{name} is for values, fg.stop_gradient(x) of traced ones. "
            f"{remedy_for(theirs, name)}"
        )
    hint = did_you_mean(name, dir(import_module(module)))
    return AttributeError(f"module {module!r} has no attribute {name!r}. {hint}".rstrip())
