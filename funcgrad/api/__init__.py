"""The transforms people call, on plain Python functions of pytrees."""

from funcgrad.api.njit import calls as _calls  # noqa: F401 - has transforms take functions of Numba's
from funcgrad.compile.runtime.tiering import register as _register

_register()
