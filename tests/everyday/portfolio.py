"""A portfolio with constraints: the best Sharpe ratio with a cap on weights and on the drawdown."""

import numpy as np
from scipy.optimize import minimize

rng = np.random.default_rng(5)
factor = rng.normal(size=250) * 0.01
returns = 0.0005 + np.outer(factor, [0.5, 1.0, 1.5, 0.8]) + rng.normal(size=(250, 4)) * 0.008
returns[:, 2] += 0.0006

start = np.array([0.25, 0.30, 0.25, 0.20])


def max_drawdown(weights):
    wealth = np.cumprod(1 + returns @ weights)
    peak = np.maximum.accumulate(wealth)
    return np.max(1 - wealth / peak)


def objective(weights):
    daily = returns @ weights
    sharpe = daily.mean() / daily.std(ddof=1) * np.sqrt(252)
    cov = np.cov(returns, rowvar=False)
    penalty = np.sqrt(weights @ cov @ weights)
    return -sharpe + 5.0 * penalty + 2.0 * max_drawdown(weights)


def fit(gradient=None):
    constraints = [
        {"type": "eq", "fun": lambda w: np.sum(w) - 1},
        {"type": "ineq", "fun": lambda w: 0.4 - np.max(w)},
    ]
    bounds = [(0, 1)] * 4
    result = minimize(
        objective, start, jac=gradient, bounds=bounds, constraints=constraints, method="SLSQP", tol=1e-9
    )
    return result.x
