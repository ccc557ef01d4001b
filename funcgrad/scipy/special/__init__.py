"""The special functions of ``scipy.special`` on arrays and tracers alike.

SciPy's own ufuncs work on traced values too: ``scipy.special.gamma(t)`` is answered by `gamma`. Functions of
SciPy that are no ufuncs (`logsumexp`, `softmax`, `polygamma`, `spherical_jn`, ...) would take the values of
traced arrays, which raises; those of this module keep the gradient. By orders and degrees there is no
derivative, and asking for one says so.

Names are imported with their modules when they are first asked for: few programs use many of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

from funcgrad.later import Later as _Later

if _TYPE_CHECKING:
    from funcgrad.scipy.softmax import log_softmax as log_softmax
    from funcgrad.scipy.softmax import logsumexp as logsumexp
    from funcgrad.scipy.softmax import softmax as softmax
    from funcgrad.scipy.special.bessel_functions import *  # noqa: F403 - what its __all__ names
    from funcgrad.scipy.special.common_functions import *  # noqa: F403 - what its __all__ names
    from funcgrad.scipy.special.distribution_functions import *  # noqa: F403 - what its __all__ names
    from funcgrad.scipy.special.error_functions import *  # noqa: F403 - what its __all__ names
    from funcgrad.scipy.special.gamma_functions import *  # noqa: F403 - what its __all__ names
    from funcgrad.scipy.special.hypergeometric_functions import *  # noqa: F403 - what its __all__ names
    from funcgrad.scipy.special.integral_functions import *  # noqa: F403 - what its __all__ names
    from funcgrad.scipy.special.plain_functions import *  # noqa: F403 - what its __all__ names
    from funcgrad.scipy.special.several_results import *  # noqa: F403 - what its __all__ names

_absent = _Later("funcgrad.scipy.absent")

MODULES: dict[str, str] = {
    "funcgrad.scipy.softmax": "log_softmax logsumexp softmax",
    "funcgrad.scipy.special.bessel_functions": (
        "hankel1 hankel2 i0 i0e i1 i1e iv ive j0 j1 jn jv k0 k0e k1 k1e kn kv kve y0 y1 yn yv"
    ),
    "funcgrad.scipy.special.common_functions": (
        "digamma entr erf erfc erfinv expit gammaln log_expit logit ndtr polygamma psi"
    ),
    "funcgrad.scipy.special.distribution_functions": (
        "bdtr bdtrc chdtr chdtrc chdtri fdtr fdtrc gdtr gdtrc pdtr pdtrc stdtr stdtrit"
    ),
    "funcgrad.scipy.special.error_functions": (
        "dawsn erfcinv erfcx erfi log_ndtr ndtri ndtri_exp owens_t wofz"
    ),
    "funcgrad.scipy.special.gamma_functions": (
        "beta betainc betaincc betainccinv betaincinv betaln binom gamma gammainc gammaincc "
        "gammainccinv gammaincinv gammasgn loggamma poch rgamma zetac"
    ),
    "funcgrad.scipy.special.hypergeometric_functions": (
        "eval_chebyt eval_chebyu eval_gegenbauer eval_genlaguerre eval_hermite eval_hermitenorm "
        "eval_jacobi eval_laguerre eval_legendre exprel hyp0f1 hyp1f1 hyp2f1 hyperu"
    ),
    "funcgrad.scipy.special.integral_functions": (
        "ellipe ellipeinc ellipk ellipkinc ellipkm1 exp1 expi expn spence wrightomega"
    ),
    "funcgrad.scipy.special.plain_functions": (
        "boxcox boxcox1p cosdg cosm1 cotdg exp10 huber inv_boxcox inv_boxcox1p kl_div powm1 "
        "pseudo_huber rel_entr sindg tandg xlog1py xlogy"
    ),
    "funcgrad.scipy.special.several_results": (
        "airy cbrt comb diric exp2 expm1 factorial fresnel lambertw log1p multigammaln perm "
        "shichi sici sinc softplus spherical_in spherical_jn spherical_kn spherical_yn zeta"
    ),
}
"""Names by the module that has them."""

HOMES = {name: module for module, names in MODULES.items() for name in names.split()}
"""The module of each name."""

__all__ = [*HOMES]  # noqa: PLE0604 - they are strings


def __getattr__(name: str) -> object:
    """Import the module of a name that is first asked for; say what there is instead of others."""
    if name not in HOMES:
        raise _absent.missing(__name__, name)
    globals()[name] = found = getattr(import_module(HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
