"""``torch.backends``: libraries that are not here. Their flags can be set, and change nothing."""

from __future__ import annotations

from funcgrad.torch.backends import cpu, cuda, cudnn, mkl, mkldnn, mps, openmp, opt_einsum

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum"]
