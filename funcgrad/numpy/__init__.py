"""NumPy's functions on arrays and tracers alike."""

from funcgrad.numpy import (
    arithmetic,
    complexes,
    contraction,
    convolution,
    creation,
    cumulative,
    elementary,
    inquiries,
    joining,
    logic,
    movement,
    names,
    padding,
    positions,
    products,
    quantiles,
    ranges,
    reductions,
    rounding,
    selection,
    shapes,
    sorting,
    statistics,
    tabulated,
    views,
    without_nan,
)
from funcgrad.numpy import assignment as assignment
from funcgrad.numpy import indexing as indexing
from funcgrad.numpy import linalg as linalg
from funcgrad.numpy import made_inside as _made_inside  # noqa: F401 - enters itself
from funcgrad.numpy import operators as operators
from funcgrad.numpy import protocols as protocols
from funcgrad.numpy.arithmetic import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.complexes import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.contraction import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.convolution import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.creation import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.cumulative import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.dispatch import array_function, array_ufunc
from funcgrad.numpy.einsum import einsum, einsum_path
from funcgrad.numpy.elementary import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.inquiries import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.joining import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.later import HOMES as _HOMES
from funcgrad.numpy.later import OWN as _OWN
from funcgrad.numpy.later import PUBLIC as _PUBLIC
from funcgrad.numpy.later import later as __getattr__  # noqa: F401 - what Python asks for other names
from funcgrad.numpy.logic import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.movement import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.names import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.padding import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.positions import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.products import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.quantiles import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.ranges import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.reductions import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.rounding import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.selection import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.shapes import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.sorting import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.statistics import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.tabulated import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.views import *  # noqa: F403 - what its __all__ names
from funcgrad.numpy.without_nan import *  # noqa: F403 - what its __all__ names
from funcgrad.tracing.tracer import install

__all__ = ["einsum", "einsum_path", "linalg"]
__all__ += arithmetic.__all__
__all__ += complexes.__all__
__all__ += contraction.__all__
__all__ += convolution.__all__
__all__ += creation.__all__
__all__ += cumulative.__all__
__all__ += elementary.__all__
__all__ += inquiries.__all__
__all__ += joining.__all__
__all__ += logic.__all__
__all__ += movement.__all__
__all__ += names.__all__
__all__ += padding.__all__
__all__ += positions.__all__
__all__ += products.__all__
__all__ += quantiles.__all__
__all__ += ranges.__all__
__all__ += reductions.__all__
__all__ += rounding.__all__
__all__ += selection.__all__
__all__ += shapes.__all__
__all__ += sorting.__all__
__all__ += statistics.__all__
__all__ += tabulated.__all__
__all__ += views.__all__
__all__ += without_nan.__all__
__all__.extend(_PUBLIC)

install({"__array_ufunc__": array_ufunc, "__array_function__": array_function})


def __dir__() -> list[str]:
    """The public names, those imported later among them."""
    return sorted({*__all__, *_HOMES, *_OWN, "fft"})
