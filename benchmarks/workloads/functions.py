"""Fourier transforms and special functions of many numbers, value and gradient."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from benchmarks.contenders import Function, gradients
from benchmarks.model import Versus, Workload

SEED = 0
PEERS = ("torch", "autograd", "jax", "jax.jit")


def convolution_loss(np: Any, pair: Any) -> Any:
    """The energy of a circular convolution, by way of the spectra."""
    x, kernel = pair
    return np.sum(np.fft.irfft(np.fft.rfft(x) * np.fft.rfft(kernel)) ** 2)


def signal_and_kernel(np: Any) -> tuple[Any, ...]:
    """Two signals of 2**20 points."""
    rng = np.random.default_rng(SEED)
    n = 2**20
    return ([rng.normal(size=n), rng.normal(size=n) / n],)


FFT_CONVOLUTION = Workload(
    name="fft-convolution",
    title="un-jitted value and gradient of an FFT convolution of 2²⁰ points with 2²⁰",
    contenders=gradients(convolution_loss, value=True),
    targets=(Versus(PEERS, 1.0),),
    inputs=signal_and_kernel,
    in_quick=False,
)


def special(module: str, name: str) -> Function:
    """The sum of a special function, from the module of a library."""

    def loss(np: Any, x: Any) -> Any:
        return getattr(import_module(module), name)(x).sum()

    return loss


def numbers(low: float, high: float) -> Any:
    """A maker of 10**6 numbers between two bounds."""

    def inputs(np: Any) -> tuple[Any, ...]:
        return (np.random.default_rng(SEED).uniform(low, high, 10**6),)

    return inputs


def special_function(name: str, low: float, high: float) -> Workload:
    """Value and gradient of the sum of a special function of 10**6 numbers."""
    others = {
        "torch": special("torch.special", name),
        "autograd": special("autograd.scipy.special", name),
        "jax": special("jax.scipy.special", name),
    }
    return Workload(
        name=name,
        title=f"un-jitted value and gradient of the sum of {name} of 10⁶ numbers",
        contenders=gradients(special("scipy.special", name), value=True, instead=others),
        targets=(Versus(PEERS, 1.0),),
        inputs=numbers(low, high),
        in_quick=False,
    )


WORKLOADS = (
    FFT_CONVOLUTION,
    special_function("gammaln", 0.5, 20.0),
    special_function("erf", -3.0, 3.0),
)
