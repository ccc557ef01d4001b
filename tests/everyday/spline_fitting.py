"""Spline fitting: the values at the knots of a smooth curve, with its bending and its area."""

import numpy as np
from scipy.interpolate import CubicSpline

rng = np.random.default_rng(10)
x = np.sort(rng.uniform(0, 10, size=50))
y = np.sin(x) + 0.3 * x + 0.1 * rng.normal(size=50)
knots = np.linspace(0, 10, 9)

start = np.interp(knots, x, y)


def objective(values):
    spline = CubicSpline(knots, values, bc_type="natural")
    misfit = np.sum((spline(x) - y) ** 2)
    grid = np.linspace(0, 10, 101)
    bending = np.trapezoid(spline(grid, 2) ** 2, grid)
    area = spline.integrate(0, 10)
    slope_at_end = spline.derivative()(10.0)
    return misfit + 0.01 * bending + 1e-3 * area**2 + 1e-3 * slope_at_end**2
