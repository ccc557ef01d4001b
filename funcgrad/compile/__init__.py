"""The compiler: Programs become native code by way of Numba. The only layer that knows Numba."""
