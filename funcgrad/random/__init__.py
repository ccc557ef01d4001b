"""Random numbers as functions of keys: reproducible, splittable, traced like any other, differentiable.

>>> key = fg.random.key(0)
>>> key, own = fg.random.split(key)
>>> x = fg.random.normal(own, (3,))
"""

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
from funcgrad.random.derived import geometric, lognormal, multinomial, pareto, rayleigh, weibull_min
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
from funcgrad.random.keys import PRNGKey, bits, fold_in, key, split

__all__ = [
    "PRNGKey",
    "bernoulli",
    "beta",
    "binomial",
    "bits",
    "categorical",
    "cauchy",
    "chisquare",
    "choice",
    "dirichlet",
    "exponential",
    "fold_in",
    "gamma",
    "geometric",
    "gumbel",
    "key",
    "laplace",
    "loggamma",
    "logistic",
    "lognormal",
    "multinomial",
    "multivariate_normal",
    "normal",
    "pareto",
    "permutation",
    "poisson",
    "rademacher",
    "randint",
    "rayleigh",
    "split",
    "student_t",
    "truncated_normal",
    "uniform",
    "weibull_min",
]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
