"""NumPy's functions on arrays and tracers alike."""

import typing as _typing

from funcgrad.numpy import names
from funcgrad.numpy.algebra import contraction, products
from funcgrad.numpy.algebra.contraction import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.algebra.products import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.arrays import copies, creation, inquiries, joining, movement, ranges, shapes, views
from funcgrad.numpy.arrays.copies import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.arrays.creation import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.arrays.inquiries import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.arrays.joining import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.arrays.movement import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.arrays.ranges import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.arrays.shapes import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.arrays.views import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.dispatch import array_function, array_ufunc
from funcgrad.numpy.elementwise import arithmetic, complexes, elementary, logic, rounding, selection
from funcgrad.numpy.elementwise.arithmetic import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.elementwise.complexes import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.elementwise.elementary import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.elementwise.logic import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.elementwise.rounding import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.elementwise.selection import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.later import HOMES as _HOMES
from funcgrad.numpy.later import OWN as _OWN
from funcgrad.numpy.later import PUBLIC as _PUBLIC
from funcgrad.numpy.later import later as __getattr__  # noqa: F401 - what Python asks for other names
from funcgrad.numpy.names import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.picking import assignment as assignment
from funcgrad.numpy.picking import indexing as indexing
from funcgrad.numpy.picking import positions, sorting
from funcgrad.numpy.picking.positions import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.picking.sorting import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.reducing import cumulative, reductions, statistics
from funcgrad.numpy.reducing.cumulative import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.reducing.reductions import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.reducing.statistics import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.tracers import instead as _instead  # noqa: F401 - enters itself
from funcgrad.numpy.tracers import operators as operators
from funcgrad.numpy.tracers import protocols as protocols
from funcgrad.numpy.tracers import vectorized_inside as _vectorized_inside  # noqa: F401 - enters itself
from funcgrad.tracing.tracer import install

if _typing.TYPE_CHECKING:  # Imported when they are first asked for: see `funcgrad.numpy.later`.
    from funcgrad.numpy import linalg as linalg
    from funcgrad.numpy.algebra.convolution import *  # noqa: F403 - what its __all__ names
    from funcgrad.numpy.algebra.einsum import einsum as einsum
    from funcgrad.numpy.algebra.einsum import einsum_path as einsum_path
    from funcgrad.numpy.arrays.padding import *  # noqa: F403 - what its __all__ names
    from funcgrad.numpy.reducing.quantiles import *  # noqa: F403 - what its __all__ names
    from funcgrad.numpy.reducing.tabulated import *  # noqa: F403 - what its __all__ names
    from funcgrad.numpy.reducing.without_nan import *  # noqa: F403 - what its __all__ names

__all__: list[str] = []
__all__ += arithmetic.__all__
__all__ += complexes.__all__
__all__ += contraction.__all__
__all__ += copies.__all__
__all__ += creation.__all__
__all__ += cumulative.__all__
__all__ += elementary.__all__
__all__ += inquiries.__all__
__all__ += joining.__all__
__all__ += logic.__all__
__all__ += movement.__all__
__all__ += names.__all__
__all__ += positions.__all__
__all__ += products.__all__
__all__ += ranges.__all__
__all__ += reductions.__all__
__all__ += rounding.__all__
__all__ += selection.__all__
__all__ += shapes.__all__
__all__ += sorting.__all__
__all__ += statistics.__all__
__all__ += views.__all__
__all__.extend(_PUBLIC)

install({"__array_ufunc__": array_ufunc, "__array_function__": array_function})


def __dir__() -> list[str]:
    """The public names, those imported later among them."""
    return sorted({*__all__, *_HOMES, *_OWN, "fft"})
