"""A hidden Markov model with Gaussian emissions: the scaled forward algorithm."""

import numpy as np
from scipy.special import softmax
from scipy.stats import norm

rng = np.random.default_rng(2)
states = np.repeat([0, 1, 0, 2, 1], 12)
observed = np.array([-2.0, 0.5, 3.0])[states] + rng.normal(size=len(states)) * 0.7
K = 3

start = np.concatenate([rng.normal(size=K * K) * 0.3, [-1.0, 0.0, 2.0], [0.0, 0.1, -0.1]])


def objective(theta):
    A = np.zeros((K, K))
    for k in range(K):
        A[k, :] = softmax(theta[k * K : (k + 1) * K])
    mu = theta[K * K : K * K + K]
    sigma = np.exp(theta[K * K + K :])

    T = len(observed)
    alpha = np.zeros((T, K))
    scale = np.zeros(T)
    emission = np.array([norm.pdf(observed, mu[k], sigma[k]) for k in range(K)]).T

    alpha[0] = emission[0] / K
    scale[0] = alpha[0].sum()
    alpha[0] /= scale[0]
    for t in range(1, T):
        for j in range(K):
            total = 0.0
            for i in range(K):
                total += alpha[t - 1, i] * A[i, j]
            alpha[t, j] = total * emission[t, j]
        scale[t] = alpha[t].sum()
        alpha[t] /= scale[t]
    return -np.log(scale).sum()
