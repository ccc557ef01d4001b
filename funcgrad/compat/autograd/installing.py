"""Standing in for autograd: `import autograd` finds this package, with all its submodules."""

from __future__ import annotations

from funcgrad.standing_in import stand_in


def install() -> None:
    """Let ``import autograd`` and its submodules find funcgrad's; said once on stderr.

    Raises ImportError where autograd itself has been imported already.

    >>> install()
    >>> import autograd.numpy
    >>> autograd.numpy.__name__
    'funcgrad.compat.autograd.numpy'
    """
    stand_in("funcgrad.compat.autograd", "autograd")
