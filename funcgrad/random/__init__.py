"""Random numbers as functions of keys: reproducible, splittable, traced like any other, differentiable.

>>> key = fg.random.key(0)
>>> key, own = fg.random.split(key)
>>> x = fg.random.normal(own, (3,))
"""

from funcgrad.api.absent import missing
from funcgrad.random.continuous import (
    beta,
    cauchy,
    chisquare,
    dirichlet,
    exponential,
    gamma,
    gumbel,
    laplace,
    loggamma,
    logistic,
    multivariate_normal,
    normal,
    student_t,
    truncated_normal,
    uniform,
)
from funcgrad.random.continuous import student_t as t
from funcgrad.random.derived import (
    double_sided_maxwell,
    f,
    generalized_normal,
    geometric,
    lognormal,
    maxwell,
    multinomial,
    pareto,
    rayleigh,
    triangular,
    wald,
    weibull_min,
)
from funcgrad.random.directions import ball, orthogonal
from funcgrad.random.discrete import (
    bernoulli,
    binomial,
    categorical,
    choice,
    permutation,
    poisson,
    rademacher,
    randint,
)
from funcgrad.random.keys import (
    PRNGKey,
    bits,
    clone,
    fold_in,
    key,
    key_data,
    key_dtype,
    key_impl,
    split,
    wrap_key_data,
)

__all__ = [
    "PRNGKey",
    "ball",
    "bernoulli",
    "beta",
    "binomial",
    "bits",
    "categorical",
    "cauchy",
    "chisquare",
    "choice",
    "clone",
    "dirichlet",
    "double_sided_maxwell",
    "exponential",
    "f",
    "fold_in",
    "gamma",
    "generalized_normal",
    "geometric",
    "gumbel",
    "key",
    "key_data",
    "key_dtype",
    "key_impl",
    "laplace",
    "loggamma",
    "logistic",
    "lognormal",
    "maxwell",
    "multinomial",
    "multivariate_normal",
    "normal",
    "orthogonal",
    "pareto",
    "permutation",
    "poisson",
    "rademacher",
    "randint",
    "rayleigh",
    "split",
    "student_t",
    "t",
    "triangular",
    "truncated_normal",
    "uniform",
    "wald",
    "weibull_min",
    "wrap_key_data",
]


def __getattr__(name: str) -> object:
    """Say what to write for a name of JAX's that is not here."""
    raise missing(__name__, name, __dir__())


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
