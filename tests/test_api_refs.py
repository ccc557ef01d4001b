"""`fg.new_ref`: places that are written into, outside of traces, inside of them, and through `jit`."""

from __future__ import annotations

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import TracerAssignmentError


@fg.jit
def stepped(held, x, i):
    held["a"][i] += x
    return held["a"][...].sum() + held["n"][...]


def test_a_jitted_function_leaves_what_it_writes():
    held = {"a": fg.new_ref(np.zeros(3)), "n": fg.new_ref(7)}
    assert [stepped(held, 1.0, k) for k in (0, 1, 1)] == [8.0, 9.0, 10.0]
    np.testing.assert_array_equal(fg.freeze(held["a"]), [1.0, 2.0, 0.0])
    plain = np.zeros(3)
    assert stepped({"a": plain, "n": held["n"]}, 1.0, 0) == 8.0
    np.testing.assert_array_equal(plain, [1.0, 0.0, 0.0])
    assert (held["a"].shape, held["a"].ndim, held["n"].shape, held["n"].dtype.kind) == ((3,), 1, (), "i")
    assert repr(held["n"]).startswith("Ref(")


def test_loops_write_and_derivatives_follow():
    def f(x):
        held, last = fg.new_ref(np.zeros(3)), fg.new_ref(0.0)

        def body(carry, i):
            held[i] = x[i] ** 2
            last[...] = held[i] + last[...]
            return carry, last[...]

        _, sums = fg.scan(body, 0.0, np.arange(3))
        return sums + held[...]

    x = np.array([1.0, 2.0, 3.0])
    jitted = fg.jit(f)
    np.testing.assert_array_equal(jitted(x), np.cumsum(x**2) + x**2)
    fg.testing.check_grads(jitted, (x,))
    np.testing.assert_array_equal(fg.vmap(f)(np.stack([x, -x])), [jitted(x)] * 2)
    np.testing.assert_array_equal(fg.jacobian(f)(x), fg.jacobian(jitted)(x))
    with pytest.raises(TracerAssignmentError, match="made outside of the trace"):
        f(x)  # nothing but the loop's body is traced


def test_what_a_place_is_not():
    held = fg.new_ref(np.zeros(2))
    fresh = held[...]
    fresh += 1.0
    np.testing.assert_array_equal(held[...], 0.0)
    with pytest.raises(IndexError, match="holds a number"):
        fg.new_ref(1.0)[0]
    with pytest.raises(TracerAssignmentError, match="made outside of the trace"):
        fg.grad(lambda x: (held.__setitem__(0, x), x)[1])(1.0)
    with pytest.raises(TracerAssignmentError, match="shares its memory"):
        fg.jit(lambda a, b: a.__setitem__(0, b[1]))(held, held)
    with pytest.raises(TypeError, match="Ref"):
        fg.scan(lambda s, x: (s, x), held, np.arange(2.0))
