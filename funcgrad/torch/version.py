"""``torch.version``: the PyTorch whose names and behaviour the facade follows."""

from __future__ import annotations

import re

__all__ = ["TorchVersion", "__version__", "cuda", "debug", "git_version", "hip", "rocm", "xpu"]


class TorchVersion(str):
    """A version that compares with others as versions do: with text, or with tuples of numbers.

    >>> TorchVersion("2.13.0") > "2.9", TorchVersion("2.13.0") >= (2, 13)
    (True, True)
    """

    __slots__ = ()

    def _compared(self, other: object) -> int:
        """-1, 0 or 1; a local part (``+cpu``) makes an equal version greater, as in PEP 440."""
        ours, theirs = _release(str(self)), _release(other) if isinstance(other, str) else _numbers(other)
        length = max(len(ours), len(theirs))
        a = (ours + (0,) * (length - len(ours)), "+" in self)
        b = (theirs + (0,) * (length - len(theirs)), isinstance(other, str) and "+" in other)
        return (a > b) - (a < b)

    def __lt__(self, other: object) -> bool:
        return self._compared(other) < 0

    def __le__(self, other: object) -> bool:
        return self._compared(other) <= 0

    def __gt__(self, other: object) -> bool:
        return self._compared(other) > 0

    def __ge__(self, other: object) -> bool:
        return self._compared(other) >= 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str | tuple) and self._compared(other) == 0

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(str(self))


def _numbers(parts: object) -> tuple[int, ...]:
    if isinstance(parts, tuple | list):
        return tuple([int(part) for part in parts])
    raise TypeError(f"a version cannot be compared with {type(parts).__name__}")


def _release(text: str) -> tuple[int, ...]:
    found = re.match(r"v?(\d+(?:\.\d+)*)", text)
    if found is None:
        raise ValueError(f"Invalid version: {text!r}")
    return tuple([int(part) for part in found[1].split(".")])


__version__ = TorchVersion("2.13.0+funcgrad")
debug = False
cuda: str | None = None
git_version: str | None = None
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
