"""Packages that must be told about tracers before they meet one, and what tells them, by name.

Most packages find tracers through NumPy's protocols. Some want each array library to introduce itself; that
is done when a trace begins, or a tensor is made, and the package has been imported: nothing is imported for
it that is not wanted, and nothing here imports upwards.
"""

from __future__ import annotations

from importlib import import_module
from sys import modules

PENDING = {
    "einops": "funcgrad.numpy.tracers.for_einops",
    "numba.core.registry": "funcgrad.numpy.tracers.for_numba",
    "scipy.fft": "funcgrad.scipy.for_uarray",
}
"""Packages that are not told yet, and the modules that introduce us when they are imported."""


def introduce() -> None:
    """Introduce tracers to the packages that have been imported since."""
    if modules.keys().isdisjoint(PENDING):
        return
    for package, module in PENDING.copy().items():
        if package in modules:
            # Crossed out once it is told: other threads come here too, and wait for the import.
            import_module(module)
            PENDING.pop(package, None)
