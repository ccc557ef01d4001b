"""Kernel text to machine code: two translators to LLVM (`direct`, `numba`), which is chosen, object files."""
