"""autograd's operators on functions, with its argument orders and results."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import funcgrad as fg
from funcgrad import numpy as np
from funcgrad.compat.autograd.core import make_jvp as _make_jvp
from funcgrad.compat.autograd.core import make_vjp as _make_vjp
from funcgrad.compat.autograd.vspaces import vspace
from funcgrad.compat.autograd.wrap_util import unary_to_nary
from funcgrad.types import Anything, Array, ArrayLike, Result, Tree

Function = Callable[..., Any]

make_vjp = unary_to_nary(_make_vjp)
make_jvp = unary_to_nary(_make_jvp)


@unary_to_nary
def grad(fun: Function, x: ArrayLike) -> Array:
    """The gradient of a function with one real number as result, which may have any shape of size one."""
    vjp, ans = _make_vjp(fun, x)
    if vspace(ans).size != 1:
        raise TypeError(
            "Grad only applies to real scalar-output functions. "
            "Try jacobian, elementwise_grad or holomorphic_grad."
        )
    return vjp(vspace(ans).ones())


@unary_to_nary
def elementwise_grad(fun: Function, x: ArrayLike) -> Array:
    """The sums of the columns of the Jacobian: its diagonal, where it is diagonal."""
    vjp, ans = _make_vjp(fun, x)
    if vspace(ans).iscomplex:
        raise TypeError("Elementwise_grad only applies to real-output functions.")
    return vjp(vspace(ans).ones())


@unary_to_nary
def deriv(fun: Function, x: ArrayLike) -> Array:
    """The derivative in the direction of ones, forwards."""
    return _make_jvp(fun, x)(vspace(x).ones())[1]


@unary_to_nary
def jacobian(fun: Function, x: ArrayLike) -> Array:
    """The Jacobian, of the shape of the result and then that of the argument."""
    vjp, ans = _make_vjp(fun, x)
    space = vspace(ans)
    rows = [vjp(unit) for unit in space.standard_basis()]
    return np.reshape(np.stack(rows), (*space.shape, *vspace(x).shape))


@unary_to_nary
def holomorphic_grad(fun: Function, x: ArrayLike) -> Array:
    """The derivative of a holomorphic function of a complex number."""
    return grad(lambda z: np.real(fun(z)))(x)


def grad_named(fun: Function, argname: str) -> Function:
    """The gradient by an argument with a name."""
    found: Function = grad(fun, list(inspect.signature(fun).parameters).index(argname))
    return found


@unary_to_nary
def hessian(fun: Function, x: ArrayLike) -> Array:
    """The Hessian, by reverse over reverse mode."""
    return jacobian(jacobian(fun))(x)


@unary_to_nary
def make_hvp(fun: Function, x: ArrayLike) -> Anything:
    """A function of a vector that gives the Hessian's product with it, and the gradient."""
    return _make_vjp(grad(fun), x)


def hessian_tensor_product(fun: Function, argnum: int = 0) -> Function:
    """A function of the arguments and a tensor: the Hessian's product with it."""
    fun_grad = grad(fun, argnum)

    def vector_dot_grad(*args: Tree, **kwargs: Tree) -> Result:
        *given, vector = args
        return np.tensordot(fun_grad(*given, **kwargs), vector, np.ndim(vector))

    found: Function = grad(vector_dot_grad, argnum)
    return found


hessian_vector_product = hessian_tensor_product


def tensor_jacobian_product(fun: Function, argnum: int = 0) -> Function:
    """A function of the arguments and a tensor: its product with the Jacobian."""

    def vector_dot_fun(*args: Tree, **kwargs: Tree) -> Result:
        *given, vector = args
        return np.tensordot(vector, fun(*given, **kwargs), axes=np.ndim(vector))

    found: Function = jacobian(vector_dot_fun, argnum)
    return found


vector_jacobian_product = tensor_jacobian_product


@unary_to_nary
def make_jvp_reversemode(fun: Function, x: ArrayLike) -> Function:
    """The directional derivative, by the transpose of the backward function."""
    vjp, y = _make_vjp(fun, x)
    vjp_vjp, _ = _make_vjp(vjp, vspace(y).zeros())
    return vjp_vjp


def _half_square(x: Array) -> Array:
    return 0.5 * np.sum(x**2, axis=-1)


def make_ggnvp(f: Function, g: Function = _half_square, f_argnum: int = 0) -> Function:
    """A function of the arguments that gives products with the generalised Gauss-Newton matrix."""

    @unary_to_nary
    def _make_ggnvp(f: Function, x: Tree) -> Function:
        f_vjp, f_x = _make_vjp(f, x)
        g_hvp, grad_g_x = _make_vjp(grad(g), f_x)
        f_jvp, _ = _make_vjp(f_vjp, vspace(grad_g_x).zeros())
        return lambda v: f_vjp(g_hvp(f_jvp(v)))

    found: Function = _make_ggnvp(f, f_argnum)
    return found


@unary_to_nary
def value_and_grad(fun: Function, x: ArrayLike) -> tuple[Array, Array]:
    """The value and the gradient, as SciPy's optimisers take them."""
    vjp, ans = _make_vjp(fun, x)
    if vspace(ans).size != 1:
        raise TypeError(
            "value_and_grad only applies to real scalar-output functions. "
            "Try jacobian, elementwise_grad or holomorphic_grad."
        )
    return ans, vjp(vspace(ans).ones())


@unary_to_nary
def grad_and_aux(fun: Function, x: ArrayLike) -> tuple[Array, Array]:
    """The gradient of the first result, and the second as it is."""
    vjp, (ans, aux) = _make_vjp(lambda x: tuple(fun(x)), x)
    return vjp((vspace(ans).ones(), vspace(aux).zeros())), aux


def multigrad_dict(fun: Function) -> Function:
    """The gradients by all arguments, by name."""
    signature = inspect.signature(fun)

    def gradfun(*args: Tree, **kwargs: Tree) -> Result:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()

        def by_name(arguments: dict[str, Any]) -> Result:
            given = inspect.BoundArguments(signature, OrderedDict(arguments))
            return fun(*given.args, **given.kwargs)

        found = grad(by_name)(dict(bound.arguments))
        return OrderedDict([(name, found[name]) for name in bound.arguments])

    return gradfun


def checkpoint(fun: Function) -> Function:
    """The function, whose intermediate values are computed again instead of being kept."""
    return fg.checkpoint(fun)
