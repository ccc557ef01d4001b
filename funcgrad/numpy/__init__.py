"""NumPy's functions on arrays and tracers alike."""

from funcgrad.numpy.dispatch import array_function, array_ufunc
from funcgrad.numpy.elementwise import power, square, where
from funcgrad.numpy.reductions import sum
from funcgrad.tracing.tracer import install

install({"__array_ufunc__": array_ufunc, "__array_function__": array_function})

__all__ = ["power", "square", "sum", "where"]
