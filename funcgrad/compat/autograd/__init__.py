"""HIPS autograd's interface on funcgrad: programs and packages for autograd run by changing an import.

>>> import funcgrad.compat.autograd.numpy as np
>>> from funcgrad.compat.autograd import elementwise_grad, grad
>>> print(grad(lambda x: np.sum(np.tanh(x) ** 2))(np.array([0.0, 1.0])).round(3))
[0.   0.64]
>>> print(elementwise_grad(np.sin)(np.zeros(2)))
[1. 1.]

Programs that import autograd themselves run under ``python -m funcgrad.compat.autograd script.py`` (or
``-m pytest``), or after `install`. Names, argument orders and meanings are autograd's; what differs is in the
migration guide.
"""

from funcgrad.compat.autograd.builtins import dict, isinstance, list, tuple, type  # noqa: A004 - autograd's names
from funcgrad.compat.autograd.core import primitive
from funcgrad.compat.autograd.differential_operators import (
    checkpoint,
    deriv,
    elementwise_grad,
    grad,
    grad_and_aux,
    grad_named,
    hessian,
    hessian_tensor_product,
    hessian_vector_product,
    holomorphic_grad,
    jacobian,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_vjp,
    multigrad_dict,
    tensor_jacobian_product,
    value_and_grad,
    vector_jacobian_product,
)
from funcgrad.compat.autograd.installing import install

__all__ = [
    "checkpoint",
    "deriv",
    "dict",
    "elementwise_grad",
    "grad",
    "grad_and_aux",
    "grad_named",
    "hessian",
    "hessian_tensor_product",
    "hessian_vector_product",
    "holomorphic_grad",
    "install",
    "isinstance",
    "jacobian",
    "list",
    "make_ggnvp",
    "make_hvp",
    "make_jvp",
    "make_vjp",
    "multigrad_dict",
    "primitive",
    "tensor_jacobian_product",
    "tuple",
    "type",
    "value_and_grad",
    "vector_jacobian_product",
]
