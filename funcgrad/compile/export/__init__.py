"""Programs as modules of Python that need no funcgrad: with Numba, or with NumPy alone.

- `portable`: the kernel of a Program as text that refers to nothing of this process.
- `library`, `mathematics`: what that text calls, written out.
- `sizes`: texts for several sizes of arguments as one text for all of them.
- `module_text`: the whole module.
"""
