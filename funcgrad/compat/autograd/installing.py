"""Standing in for autograd: `import autograd` finds this package, with all its submodules."""

from __future__ import annotations

from funcgrad.standing_in import stand_in
from funcgrad.tracing.tracer import Tracer

BOX = ("autograd.numpy.numpy_boxes", "ArrayBox", "ArrayBox")


def install() -> None:
    """Let ``import autograd`` and its submodules find funcgrad's; said once on stderr.

    Raises ImportError where autograd itself has been imported already.

    >>> install()
    >>> import autograd.numpy
    >>> autograd.numpy.__name__
    'funcgrad.compat.autograd.numpy'
    """
    stand_in("funcgrad.compat.autograd", "autograd")
    # Packages look at the name of a box's class, or of its module, to know whose it is.
    Tracer.__module__, Tracer.__qualname__, Tracer.__name__ = BOX
