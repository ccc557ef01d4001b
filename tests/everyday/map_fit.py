"""A MAP fit: Poisson counts with priors from scipy.stats, found by scipy.optimize.minimize."""

import numpy as np
from scipy import stats
from scipy.optimize import minimize

rng = np.random.default_rng(4)
age = rng.uniform(20, 70, size=80)
exposure = rng.gamma(3.0, 1.0, size=80)
counts = rng.poisson(exposure * np.exp(-1.0 + 0.02 * age))

start = np.array([0.0, 0.0, 0.1])


def objective(theta):
    intercept, slope, log_size = theta
    size = np.exp(log_size)
    mu = exposure * np.exp(intercept + slope * (age - age.mean()))
    logp = stats.norm.logpdf(intercept, 0, 2)
    logp += stats.norm(loc=0, scale=0.1).logpdf(slope)
    logp += stats.gamma.logpdf(size, a=2.0, scale=1.0) + log_size
    logp += stats.nbinom.logpmf(counts, size, size / (size + mu)).sum()
    return -logp


def fit(gradient=None):
    return minimize(objective, start, jac=gradient, method="BFGS").x
