"""The special functions of ``scipy.special`` on arrays and tracers alike.

SciPy's own ufuncs work on traced values too: ``scipy.special.gamma(t)`` is answered by `gamma`. Functions of
SciPy that are no ufuncs (`logsumexp`, `softmax`, `polygamma`, `spherical_jn`, ...) would take the values of
traced arrays, which raises; those of this module keep the gradient. By orders and degrees there is no
derivative, and asking for one says so.
"""

from typing import NoReturn

from funcgrad.scipy.absent import missing
from funcgrad.scipy.softmax import log_softmax, logsumexp, softmax
from funcgrad.scipy.special import (
    bessel_functions,
    common_functions,
    distribution_functions,
    error_functions,
    gamma_functions,
    hypergeometric_functions,
    integral_functions,
    plain_functions,
    several_results,
)
from funcgrad.scipy.special.bessel_functions import *  # noqa: F403 - what its __all__ names
from funcgrad.scipy.special.common_functions import *  # noqa: F403 - what its __all__ names
from funcgrad.scipy.special.distribution_functions import *  # noqa: F403 - what its __all__ names
from funcgrad.scipy.special.error_functions import *  # noqa: F403 - what its __all__ names
from funcgrad.scipy.special.gamma_functions import *  # noqa: F403 - what its __all__ names
from funcgrad.scipy.special.hypergeometric_functions import *  # noqa: F403 - what its __all__ names
from funcgrad.scipy.special.integral_functions import *  # noqa: F403 - what its __all__ names
from funcgrad.scipy.special.plain_functions import *  # noqa: F403 - what its __all__ names
from funcgrad.scipy.special.several_results import *  # noqa: F403 - what its __all__ names

__all__ = [  # noqa: PLE0604 - the lists that are joined hold strings
    "log_softmax",
    "logsumexp",
    "softmax",
    *bessel_functions.__all__,
    *common_functions.__all__,
    *distribution_functions.__all__,
    *error_functions.__all__,
    *gamma_functions.__all__,
    *hypergeometric_functions.__all__,
    *integral_functions.__all__,
    *plain_functions.__all__,
    *several_results.__all__,
]


def __getattr__(name: str) -> NoReturn:
    """Say what there is instead of a name that is not here."""
    raise missing(__name__, name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
