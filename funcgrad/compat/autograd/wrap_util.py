"""Functions of one argument as functions of many, and names for them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from funcgrad.compat.autograd.places import subvals
from funcgrad.types import Anything, Tree


def get_name(f: object) -> str:
    """The name of a function."""
    return getattr(f, "__name__", "[unknown name]")


def get_doc(f: object) -> str:
    """The docstring of a function."""
    return getattr(f, "__doc__", "") or ""


def wraps(
    fun: object, namestr: str = "{fun}", docstr: str = "{doc}", **names: object
) -> Callable[[Any], Any]:
    """A decorator that gives a function the name and the docstring of another, filled into templates."""

    def named(f: Anything) -> Anything:
        f.__name__ = namestr.format(fun=get_name(fun), **names)
        f.__doc__ = (
            docstr.replace("{doc}", get_doc(fun))
            if docstr == "{doc}"
            else docstr.format(fun=get_name(fun), doc=get_doc(fun), **names)
        )
        return f

    return named


def unary_to_nary(unary_operator: Callable[..., Any]) -> Callable[..., Any]:
    """An operator on functions of one argument as one that takes the argument's number, or several.

    >>> from funcgrad.compat.autograd import grad
    >>> grad(lambda x, y: x * y, 1)(3.0, 5.0), grad(lambda x, y: x * y, (0, 1))(3.0, 5.0)
    (np.float64(3.0), (np.float64(5.0), np.float64(3.0)))
    """

    @functools.wraps(unary_operator)
    def nary_operator(
        fun: Callable[..., Any], argnum: Anything = 0, *op_args: Tree, **op_kwargs: Tree
    ) -> Anything:
        assert type(argnum) in (int, tuple, list), argnum

        def nary_f(*args: Tree, **kwargs: Tree) -> Tree:
            several = not isinstance(argnum, int)

            def unary_f(x: Tree) -> Tree:
                given = subvals(args, zip(argnum, x, strict=True) if several else [(argnum, x)])
                return fun(*given, **kwargs)

            unary_f.__name__ = get_name(fun)
            x = tuple([args[k] for k in argnum]) if several else args[argnum]
            return unary_operator(unary_f, x, *op_args, **op_kwargs)

        namestr = "{op}_of_{fun}_wrt_argnum_{argnum}"
        docstr = (
            "{op} of function {fun} with respect to argument number {argnum}; it takes the same arguments."
        )
        return wraps(fun, namestr, docstr, op=get_name(unary_operator), argnum=argnum)(nary_f)

    return nary_operator
