"""The part of ``scipy.spatial`` that has derivatives: `distance`."""

from typing import NoReturn

from funcgrad.scipy.absent import missing
from funcgrad.scipy.spatial import distance

__all__ = ["distance"]


def __getattr__(name: str) -> NoReturn:
    """Say what there is instead of a name that is not here."""
    raise missing(__name__, name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
