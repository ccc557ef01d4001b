"""Losses of statistics and machine learning: contractions, reductions, gathers, factorisations."""

from __future__ import annotations

from typing import Any

from benchmarks.problems.spelling import (
    cumulative_sum,
    logsumexp,
    softplus,
    solve_lower,
    sorted_values,
)

SEED = 0


def logistic_loss(np: Any, w: Any, X: Any, y: Any) -> Any:
    """Logistic regression with a little ridge."""
    return np.mean(softplus(np, -y * (X @ w))) + 1e-3 * np.sum(w**2)


def logistic_inputs(np: Any, points: int = 1000, dimensions: int = 20) -> tuple[Any, ...]:
    """Weights, points and their signs."""
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(points, dimensions))
    y = np.where(X @ rng.normal(size=dimensions) + rng.normal(size=points) > 0, 1.0, -1.0)
    return 0.1 * rng.normal(size=dimensions), X, y


def hessian_inputs(np: Any, points: int = 2000, dimensions: int = 100) -> tuple[Any, ...]:
    """The inputs of the Hessian of logistic regression."""
    return logistic_inputs(np, points, dimensions)


def mlp_loss(np: Any, layers: Any, x: Any, y: Any) -> Any:
    """Mean squared error of a network with tanh layers."""
    for W, b in layers[:-1]:
        x = np.tanh(x @ W + b)
    W, b = layers[-1]
    return np.mean((x @ W + b - y) ** 2)


def mlp_inputs(np: Any, batch: int = 32, width: int = 64) -> tuple[Any, ...]:
    """Three layers, float32."""
    rng = np.random.default_rng(SEED)

    def floats(*shape: int) -> Any:
        return rng.normal(size=shape).astype(np.float32)

    scale = np.float32(width**-0.5)
    layers = [(floats(width, width) * scale, floats(width)) for _ in range(3)]
    return layers, floats(batch, width), floats(batch, width)


def softmax_cross_entropy(np: Any, logits: Any, rows: Any, labels: Any) -> Any:
    """The mean cross-entropy of rows of logits."""
    return np.mean(logsumexp(np, logits, 1) - logits[rows, labels])


def softmax_inputs(np: Any, batch: int = 1024, classes: int = 1000) -> tuple[Any, ...]:
    """Logits in float32, the numbers of the rows, labels."""
    rng = np.random.default_rng(SEED)
    logits = rng.normal(size=(batch, classes)).astype(np.float32)
    return logits, np.arange(batch), rng.integers(classes, size=batch)


def one_logsumexp(np: Any, x: Any) -> Any:
    """The logarithm of one long sum of exponentials."""
    return logsumexp(np, x, 0)


def long_vector(np: Any, n: int = 1_000_000) -> tuple[Any, ...]:
    """Normal numbers."""
    return (np.random.default_rng(SEED).normal(size=n),)


def sum_of_squares(np: Any, leaves: Any) -> Any:
    """Touches every leaf."""
    total = 0.0
    for leaf in leaves:
        total = total + np.sum(leaf * leaf)
    return total


def small_leaves(np: Any, n: int = 100) -> tuple[Any, ...]:
    """A list of arrays of three numbers."""
    return ([row.copy() for row in np.random.default_rng(SEED).normal(size=(n, 3))],)


def embedding_loss(np: Any, table: Any, rows: Any) -> Any:
    """The squares of the rows that are looked up."""
    return np.mean(table[rows] ** 2)


def embedding_inputs(
    np: Any, lookups: int = 100_000, words: int = 10_000, width: int = 64
) -> tuple[Any, ...]:
    """A table in float32, and the rows to look up."""
    rng = np.random.default_rng(SEED)
    return rng.normal(size=(words, width)).astype(np.float32), rng.integers(words, size=lookups)


def weighted_sort(np: Any, x: Any, weights: Any) -> Any:
    """A sum over order statistics."""
    return np.sum(sorted_values(np, x) * weights)


def weighted_cumsum(np: Any, x: Any, weights: Any) -> Any:
    """A sum over squares of running sums."""
    return np.sum(cumulative_sum(np, x) ** 2 * weights)


def sort_cumsum(np: Any, x: Any, weights: Any) -> Any:
    """Both: the running sums of order statistics (Lorenz's curve)."""
    return np.sum(cumulative_sum(np, sorted_values(np, x)) * weights)


def weighted_inputs(np: Any, n: int = 1_000_000) -> tuple[Any, ...]:
    """Normal numbers and weights whose squares of running sums stay of order one."""
    rng = np.random.default_rng(SEED)
    return rng.normal(size=n), rng.uniform(size=n) / n


def mixture_loss(np: Any, parameters: Any, X: Any, places: Any) -> Any:
    """ADBench's objective for a Gaussian mixture, without the constant of its prior.

    Srajer, Kukelova and Fitzgibbon, "A benchmark of selected algorithmic differentiation tools on some
    problems in computer vision and machine learning", 2018. Component k has the weight softmax(alpha)[k], the
    mean mu[k] and the inverse covariance Q'Q, where Q is lower triangular with diagonal exp(q[k]) and the
    entries of lower[k] below it. The prior is Wishart's with gamma = 1 and m = 0.
    """
    alpha, mu, q, lower = parameters
    n, d = X.shape
    padded = np.concatenate([lower, np.exp(q), np.zeros_like(q[:, :1])], 1)
    Q = padded[:, places]
    away = np.einsum("kij,nkj->nki", Q, X[:, None, :] - mu)
    inner = alpha + np.sum(q, 1) - 0.5 * np.sum(away**2, 2)
    prior = 0.5 * (np.sum(np.exp(2.0 * q)) + np.sum(lower**2))
    normaliser = 0.5 * n * d * 1.8378770664093453
    return np.sum(logsumexp(np, inner, 1)) - n * logsumexp(np, alpha, 0) + prior - normaliser


def mixture_inputs(np: Any, n: int = 1000, d: int = 10, k: int = 25) -> tuple[Any, ...]:
    """Parameters, points, and where each entry of Q stands among ``lower, exp(q), 0``."""
    rng = np.random.default_rng(SEED)
    below = d * (d - 1) // 2
    places = np.full((d, d), below + d)
    places[np.tril_indices(d, -1)] = np.arange(below)
    places[np.diag_indices(d)] = below + np.arange(d)
    parameters = (
        rng.normal(size=k),
        rng.uniform(size=(k, d)),
        0.5 * rng.normal(size=(k, d)),
        0.5 * rng.normal(size=(k, below)),
    )
    return parameters, rng.normal(size=(n, d)), places


def gaussian_process_loss(np: Any, parameters: Any, distances: Any, y: Any, identity: Any) -> Any:
    """Minus the log marginal likelihood of a process with a squared-exponential kernel and noise.

    Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, equation 2.30; parameters are
    the logarithms of length, amplitude and noise.
    """
    length, amplitude, noise = np.exp(parameters)
    K = amplitude**2 * np.exp(-0.5 * distances / length**2) + noise**2 * identity
    L = np.linalg.cholesky(K)
    z = solve_lower(np, L, y)
    half = 0.9189385332046727
    return 0.5 * np.sum(z * z) + np.sum(np.log(np.diag(L))) + len(y) * half


def gaussian_process_inputs(np: Any, n: int = 500) -> tuple[Any, ...]:
    """Parameters, squared distances between points in the plane, values, and the identity."""
    rng = np.random.default_rng(SEED)
    X = rng.uniform(-3.0, 3.0, size=(n, 2))
    y = np.sin(X[:, 0]) * np.cos(X[:, 1]) + 0.1 * rng.normal(size=n)
    distances = np.sum((X[:, None, :] - X) ** 2, axis=2)
    return np.array([0.1, 0.2, -1.5]), distances, y, np.eye(n)
