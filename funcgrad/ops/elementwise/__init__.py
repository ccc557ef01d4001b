"""Functions of elements: arithmetic, comparisons, logic, rounding, choices, special functions."""
