"""autograd's conveniences: containers as vectors, optimisers, fixed points."""

from funcgrad.compat.autograd.misc.flatten import flatten
from funcgrad.compat.autograd.misc.tracers import const_graph

__all__ = ["const_graph", "flatten"]
