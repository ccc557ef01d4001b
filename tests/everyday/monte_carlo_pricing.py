"""Monte-Carlo pricing: an Asian option with a barrier's discount, and its greeks."""

import math

import numpy as np
from scipy.stats import norm

start = np.array([100.0, 0.2, 0.03])  # spot, volatility, rate
strike = 101.0
maturity = 1.0
steps = 24
paths = 400


def black_scholes(spot, sigma, r):
    d1 = (math.log(spot / strike) + (r + 0.5 * sigma**2) * maturity) / (sigma * math.sqrt(maturity))
    d2 = d1 - sigma * math.sqrt(maturity)
    return spot * norm.cdf(d1) - strike * math.exp(-r * maturity) * norm.cdf(d2)


def objective(market):
    spot, sigma, r = market
    rng = np.random.default_rng(12345)
    dt = maturity / steps
    S = np.full(paths, spot)
    running = np.zeros(paths)
    for _ in range(steps):
        z = rng.standard_normal(paths)
        S = S * np.exp((r - 0.5 * sigma**2) * dt + sigma * np.sqrt(dt) * z)
        running += S
    average = running / steps
    payoff = np.where(average > strike, average - strike, 0)
    european = np.maximum(S - strike, 0)
    control = european.mean() * math.exp(-r * maturity) - black_scholes(spot, sigma, r)
    return math.exp(-r * maturity) * payoff.mean() - 0.5 * control
