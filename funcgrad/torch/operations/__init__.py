"""The operations of PyTorch, by family: an array function, a name of a history node, and a signature."""

from importlib import import_module

__all__ = ["load"]

_MODULES = (
    "creation",
    "conversion",
    "questions",
    "arithmetic",
    "operators",
    "elementwise",
    "comparisons",
    "movement",
    "parts",
    "reductions",
    "indexing",
    "scattering",
    "combining",
    "writing",
    "joining",
    "contractions",
    "selection",
    "random",
    "copying",
    "limits",
    "constructors",
    "windows",
    "replaced_parts",
    "copied_views",
    "statistics",
    "calculus",
    "settings",
    "old_linalg",
    "factorisations",
    "compositions",
)


def load() -> None:
    """Import every module here: each gives its functions to `Tensor` and to the registry."""
    for name in _MODULES:
        import_module(f"{__name__}.{name}")
    import_module("funcgrad.torch.core.trees")
