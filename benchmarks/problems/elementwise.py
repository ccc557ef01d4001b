"""Functions of single elements and of their neighbours: call overhead, fusion, vector mathematics."""

from __future__ import annotations

from typing import Any

from benchmarks.problems.spelling import special

SEED = 0


def scalar(np: Any, x: Any) -> Any:
    """A function of one number."""
    return np.sin(x) * np.exp(-x * x) + x / (1.0 + x * x)


def one_number(np: Any) -> tuple[Any, ...]:
    """An array without axes, which every library takes."""
    return (np.array(0.5),)


def rosenbrock(np: Any, x: Any) -> Any:
    """Rosenbrock's function in n dimensions."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def normal_numbers(np: Any, n: int = 10) -> tuple[Any, ...]:
    """Normal numbers."""
    return (np.random.default_rng(SEED).normal(size=n),)


def black_scholes(np: Any, market: Any) -> Any:
    """The value of a book of European calls; its gradient is five greeks of every option."""
    spot, strike, years, rate, volatility = market
    spread = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / spread
    price = spot * normal_cdf(np, d1) - strike * np.exp(-rate * years) * normal_cdf(np, d1 - spread)
    return np.sum(price)


def normal_cdf(np: Any, x: Any) -> Any:
    """The cumulative distribution of the standard normal."""
    return 0.5 * (1.0 + special(np).erf(x * 0.7071067811865476))


def market(np: Any, n: int = 1_000_000) -> tuple[Any, ...]:
    """Spot, strike, years, rate and volatility of n options."""
    rng = np.random.default_rng(SEED)
    ranges = ((80.0, 120.0), (80.0, 120.0), (0.1, 2.0), (0.0, 0.05), (0.1, 0.5))
    return (tuple(rng.uniform(low, high, n) for low, high in ranges),)


def chain30(np: Any, x: Any) -> Any:
    """Five rounds of six operations: sin, multiply, tanh, exp, add, log; values stay of order one."""
    for k in range(5):
        x = np.log(np.exp(np.tanh(np.sin(x) * (1.0 + 0.1 * k))) + 0.5)
    return np.sum(x)


def chain30_inputs(np: Any, n: int = 1_000_000, dtype: str = "float64") -> tuple[Any, ...]:
    """Normal numbers."""
    return (np.random.default_rng(SEED).normal(size=n).astype(dtype),)
