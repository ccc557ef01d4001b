"""Standing in for PyTorch: `import torch` finds this package, with all its submodules."""

from __future__ import annotations

from funcgrad.standing_in import stand_in
from funcgrad.torch.core.unsupported import MISSING_MODULES

__all__ = ["install"]


def install() -> None:
    """Let ``import torch`` and its submodules find funcgrad's; said once on stderr.

    Raises ImportError where PyTorch itself has been imported already. Submodules that are not here raise
    ModuleNotFoundError with what to use instead. ``python -m funcgrad.torch script.py`` does the same for a
    script as it stands.

    >>> fg.torch.install()  # doctest: +SKIP
    >>> import torch.nn.functional  # doctest: +SKIP
    >>> torch.nn.functional.__name__  # doctest: +SKIP
    'funcgrad.torch.nn.functional'
    """
    stand_in("funcgrad.torch", "torch", MISSING_MODULES)
