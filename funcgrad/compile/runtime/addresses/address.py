"""Addresses that say where they were found, so that another process finds its own."""

from __future__ import annotations


class Address(int):
    """Where a function of another library lies in this process, as a number like others.

    `origin` names what found it, and what that was asked for: `known_kernels` asks again.

    >>> Address(4096, "blas", "dgemm").origin
    ('blas', 'dgemm')
    >>> Address(4096, "blas", "dgemm") == 4096
    True
    """

    origin: tuple[str, ...]

    def __new__(cls, value: int, *origin: str) -> Address:
        self = super().__new__(cls, value)
        self.origin = origin
        return self
