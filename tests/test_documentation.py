"""The documentation: every page is reached, every public name has its place, every name it mentions exists."""

from __future__ import annotations

import funcgrad as fg


def test_every_name_that_the_tensor_facade_lists_exists():
    for name in dir(fg.torch):
        getattr(fg.torch, name)
