"""The part of ``scipy.spatial`` that has derivatives: `distance`."""

from funcgrad.scipy.spatial import distance

__all__ = ["distance"]
