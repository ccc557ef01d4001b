"""The Numba engine: kernel text to LLVM by Numba's own front end. Everything in here imports Numba."""
