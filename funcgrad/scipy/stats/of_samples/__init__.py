"""Functions of samples: what sums them up, compares them, and tests what they come from.

Each is SciPy's own on what is not traced.
"""

from funcgrad.scipy.stats.of_samples import (
    correlation,
    distances,
    hypotheses,
    moments,
    powers,
    students,
    trimmed,
)

FUNCTIONS = {
    name: getattr(module, name)
    for module in (correlation, distances, hypotheses, moments, powers, students, trimmed)
    for name in module.__all__
}
"""By name."""
