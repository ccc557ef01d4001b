"""A Gaussian process: its marginal likelihood, with SciPy's distances and Cholesky factors."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist

rng = np.random.default_rng(3)
X = np.sort(rng.uniform(-3, 3, size=(35, 1)), axis=0)
y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=35)

start = np.log([1.0, 0.6, 0.2])


def kernel(A, B, variance, lengthscale):
    return variance * np.exp(-0.5 * cdist(A / lengthscale, B / lengthscale, "sqeuclidean"))


def objective(log_params):
    variance, lengthscale, noise = np.exp(log_params)
    K = kernel(X, X, variance, lengthscale)
    K[np.diag_indices_from(K)] += noise**2 + 1e-8
    c, low = cho_factor(K, lower=True)
    weights = cho_solve((c, low), y)
    logdet = 2 * np.log(np.diag(c)).sum()
    return 0.5 * y.dot(weights) + 0.5 * logdet + 0.5 * len(y) * np.log(2 * np.pi)
