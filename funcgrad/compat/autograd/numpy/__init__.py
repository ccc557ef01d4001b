"""NumPy's namespace, as autograd wraps it: ours where we have a name, NumPy's own elsewhere.

No code stands here: names like ``any`` and ``sum`` of this module are NumPy's.
"""

# ruff: noqa: F401 - names are what this module is for
from __future__ import annotations

from numpy import __version__
from numpy.lib import NumpyVersion

from funcgrad.compat.autograd.numpy import fft, linalg, numpy_boxes, numpy_vjps, numpy_wrapper, random
from funcgrad.compat.autograd.numpy.finding import finder, make_diagonal, names, where
from funcgrad.compat.autograd.tracer import Box

numpy_version = NumpyVersion(__version__)
__getattr__, __dir__ = finder(globals()), names
