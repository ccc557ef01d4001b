"""The operations of PyTorch, by family: an array function, a name of a history node, and a signature."""

from importlib import import_module

__all__ = ["load"]

_MODULES = (
    "creating.data",
    "creating.filled",
    "creating.conversion",
    "questions",
    "pointwise.arithmetic",
    "pointwise.operators",
    "pointwise.elementwise",
    "pointwise.pairs",
    "pointwise.comparisons",
    "movement",
    "places.parts",
    "places.shapes_in_place",
    "reducing.sums",
    "reducing.extremes",
    "reducing.moments",
    "reducing.ranks",
    "places.indexing",
    "places.scattering",
    "places.combining",
    "places.writing",
    "joining",
    "algebra.contractions",
    "algebra.added_products",
    "places.selection",
    "reducing.softmax",
    "reducing.norms",
    "creating.random",
    "creating.drawn_in_place",
    "creating.copying",
    "pointwise.limits",
    "creating.constructors",
    "creating.windows",
    "places.replaced_parts",
    "creating.copied_views",
    "algebra.statistics",
    "calculus",
    "settings",
    "algebra.extreme_eigenpairs",
    "algebra.old_linalg",
    "algebra.factorisations",
    "compositions",
    "segments",
)


def load() -> None:
    """Import every module here: each gives its functions to `Tensor` and to the registry."""
    for name in _MODULES:
        import_module(f"{__name__}.{name}")
    import_module("funcgrad.torch.core.trees")
