"""Transforms: pure functions from Program to Program."""

from importlib import import_module as _import_module

# Rules use operators and functions of NumPy's, which tracers learn above: here only the name is known.
_import_module("funcgrad.numpy")
