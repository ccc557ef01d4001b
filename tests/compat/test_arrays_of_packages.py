"""Arrays and rules of packages that reach into autograd's own modules, as simulators of circuits do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from funcgrad.compat import autograd
from funcgrad.compat.autograd.core import JVPNode, Node, SparseObject, VJPNode, VSpace, backward_pass, vspace
from funcgrad.compat.autograd.extend import defvjp, primitive
from funcgrad.compat.autograd.misc.tracers import full_graph
from funcgrad.compat.autograd.numpy.numpy_boxes import ArrayBox
from funcgrad.compat.autograd.tracer import Box, new_box, toposort, trace, trace_stack


class Parameter(np.ndarray):
    """An array that says whether it may be differentiated by, and whose ufuncs keep its class."""

    trainable = True

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [np.asarray(x) if isinstance(x, Parameter) else x for x in inputs]
        if "out" in options:
            options["out"] = tuple([np.asarray(x) for x in options["out"]])
        return np.asarray(getattr(ufunc, method)(*plain, **options)).view(Parameter)


def boxed(x: Any, *args: Any) -> Any:
    if not x.trainable:
        raise ValueError("it is not trainable")
    return ArrayBox(x, *args)


Box.type_mappings[Parameter] = boxed
VSpace.mappings[Parameter] = lambda x: VSpace(np.asarray(x))


def test_registered_arrays_are_differentiated_by_unless_they_refuse() -> None:
    x = np.array([0.3, 0.8]).view(Parameter)
    np.testing.assert_allclose(autograd.grad(lambda t: np.sum(x * np.sin(t) + t * x))(x), x * np.cos(x) + x)
    np.testing.assert_allclose(autograd.grad(lambda t: np.sum(np.add(x, t) ** 2))(x), 4.0 * np.asarray(x))
    assert type(x * 2.0) is Parameter
    x.trainable = False
    with pytest.raises(ValueError, match="not trainable"):
        autograd.grad(np.sum)(x)


class Tape:
    """What a primitive is given beside its parameters, and holds them."""

    def __init__(self, parameters: Any) -> None:
        self.parameters = parameters


@primitive
def executed(parameters: Any, tape: Tape) -> Any:
    return np.sin(float(parameters[0])) * float(parameters[1])


def executed_vjp(ans: Any, parameters: Any, tape: Tape) -> Any:
    def vjp(g: Any) -> Any:
        # Boxes of the trace that has ended, computed with; and one array for a list of numbers.
        first, second = tape.parameters
        shifted = [first + 0.5 * np.pi, second * 1.0]
        values = [x._value if isinstance(x, ArrayBox) else x for x in shifted]
        return g * np.array([np.sin(values[0]) * values[1], np.sin(values[0] - 0.5 * np.pi)])

    return vjp


defvjp(executed, executed_vjp, argnums=[0])


def test_rules_compute_with_boxes_that_they_were_given() -> None:
    def f(x: Any) -> Any:
        parameters = [x[0], 2.0 * x[1]]
        return executed(parameters, Tape(parameters))

    x = np.array([0.4, 0.7])
    expected = [np.cos(0.4) * 1.4, 2.0 * np.sin(0.4)]
    np.testing.assert_allclose(autograd.grad(f)(x), expected, rtol=1e-12)


def test_all_names_are_imported() -> None:
    names: dict[str, Any] = {}
    exec("from funcgrad.compat.autograd.numpy import *", names)
    assert {"sin", "any", "zeros", "linalg", "fft", "random", "where", "pi"} <= set(names)
    assert {"solve", "norm"} <= set(vars(names["linalg"]))
    assert {"fft", "ifft"} <= set(vars(names["fft"]))
    assert "normal" in vars(names["random"])
    np.testing.assert_allclose(autograd.grad(lambda x: names["sum"](names["sin"](x)))(np.zeros(2)), 1.0)


def test_what_makes_boxes_itself_is_refused_by_name() -> None:
    class Own(Node):
        """What a package draws graphs with."""

    class OwnVjp(VJPNode):
        """Likewise, with a backward of its own."""

    calls = (lambda: new_box(1.0, None, None), trace_stack.new_trace, Own.new_root, OwnVjp.new_root)
    for call in (*calls, lambda: full_graph(np.sin, 1.0)):
        with pytest.raises(NotImplementedError, match=r"make_vjp|new_box|make_program"):
            call()


def test_traces_give_the_value_and_the_last_node() -> None:
    value, node = trace(VJPNode.new_root(), lambda x: np.sin(x) * x, 2.0)
    np.testing.assert_allclose(value, np.sin(2.0) * 2)
    np.testing.assert_allclose(backward_pass(1.0, node), np.sin(2.0) + 2 * np.cos(2.0))
    value, node = trace(JVPNode.new_root(3.0), lambda x: np.sin(x) * x, 2.0)
    np.testing.assert_allclose(node.g, 3 * (np.sin(2.0) + 2 * np.cos(2.0)))
    assert trace(VJPNode.new_root(), lambda x: 4.0, 2.0) == (4.0, None)


def test_nodes_are_sorted_before_their_parents() -> None:
    parents: dict[str, list[str]] = {"d": ["b", "c"], "b": ["a"], "c": ["a", "b"], "a": []}
    assert list(toposort("d", parents.__getitem__)) == ["d", "c", "b", "a"]


def test_sparse_objects_are_the_vectors_they_stand_for() -> None:
    def write(a: Any) -> Any:
        a[1] += 5.0
        return a

    assert SparseObject(vspace(np.zeros(3)), write).tolist() == [0.0, 5.0, 0.0]
