"""What a second thread is good for, and how one compares with C by hand: ADBench's mixtures and bundles."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import which
from typing import Any

from benchmarks.contenders import bound, mapped, waited_for
from benchmarks.libraries import use_threads
from benchmarks.model import Builder, Call, Contender, Versus, Workload
from benchmarks.problems import vision
from benchmarks.workloads.compiled import compiled

ONE_THREAD, BY_HAND = "funcgrad.one thread", "C"

GAIN = Versus((ONE_THREAD,), 1.7)
"""What two threads are to gain."""

FLAGS = ("-O3", "-march=native", "-ffast-math", "-shared", "-fPIC")

JACOBIANS = ("torch", "torch.compile", "jax.jit")


class UnsupportedHereError(Exception):
    """What a contender needs is not on this machine."""


def on_one_thread(build: Builder) -> Builder:
    """The same call where kernels and BLAS have one thread: for a process of its own."""

    def built(fg: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        use_threads(1)
        return build(fg, np, inputs)

    return built


def beside_one_thread(workload: Workload) -> Workload:
    """A workload with its own call on one thread."""
    (ours,) = (c for c in workload.contenders if c.name == "funcgrad")
    alone = Contender(ONE_THREAD, "funcgrad", on_one_thread(ours.build))
    return replace(workload, contenders=(*workload.contenders, alone), targets=(*workload.targets, GAIN))


def c_function(name: str) -> Callable[..., float]:
    """The C function of ``problems/NAME.c``, compiled here; raises where there is no compiler."""
    compiler = which("cc")
    if compiler is None:
        raise UnsupportedHereError("there is no C compiler")
    source = Path(__file__).parents[1] / "problems" / f"{name}.c"
    with tempfile.TemporaryDirectory() as folder:
        library = str(Path(folder) / f"{name}.so")
        subprocess.run([compiler, *FLAGS, "-o", library, str(source), "-lm"], check=True)
        found = ctypes.CDLL(library)[name]
    found.restype = ctypes.c_double
    return found


def mixture_in_c(numpy: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
    """Value and gradient of a mixture by hand, on one thread."""
    (alpha, mu, q, lower), X, _ = inputs
    function = c_function("mixture")
    sizes = [ctypes.c_long(n) for n in (*X.shape, len(alpha))]

    def call() -> Any:
        given, results = (alpha, mu, q, lower, X), [np.empty_like(a) for a in (alpha, mu, q, lower)]
        return function(*sizes, *[ctypes.c_void_p(a.ctypes.data) for a in (*given, *results)]), results

    return call


def mixture(d: int, k: int, ratio: float) -> Workload:
    """ADBench's Gaussian mixture of other sizes, n = 1000."""
    return compiled(
        f"mixture-{d}x{k}", f"ADBench's Gaussian mixture, d = {d}, K = {k}, n = 1000", ratio, "gmm", d=d, k=k
    )


def beside_c(workload: Workload) -> Workload:
    """A mixture on one thread beside C by hand."""
    by_hand = Contender(BY_HAND, "numpy", mixture_in_c)
    return replace(
        workload,
        title=f"{workload.title}, one thread",
        threads=1,
        contenders=(*workload.contenders, by_hand),
        targets=(*workload.targets, Versus((BY_HAND,), 1.1)),
    )


def funcgrad_jacobians(fg: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
    """A dense block for every observation."""
    one = fg.jacrev(bound(vision.reprojection, np))
    return partial(fg.jit(fg.vmap(one)), *inputs)


def torch_jacobians(torch: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
    """`torch.func`, operation by operation."""
    one = torch.func.jacrev(bound(vision.reprojection, torch))
    return partial(torch.vmap(one), *mapped(torch.from_numpy, inputs))


def torch_compiled_jacobians(torch: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
    """`torch.func` in one graph."""
    torch._dynamo.reset()
    one = torch.func.jacrev(bound(vision.reprojection, torch))
    return partial(torch.compile(torch.vmap(one)), *mapped(torch.from_numpy, inputs))


def jax_jacobians(jax: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
    """The same in jax."""
    one = jax.jacrev(bound(vision.reprojection, jax.numpy))
    return waited_for(jax, jax.jit(jax.vmap(one)), inputs, False)


BUNDLE_JACOBIAN = Workload(
    name="jit-bundle-jacobian",
    title="bundle adjustment, Jacobians (2 × 15) of 31,843 observations by vmap(jacrev)",
    contenders=(
        Contender("funcgrad", "funcgrad", funcgrad_jacobians),
        Contender("torch", "torch", torch_jacobians),
        Contender("torch.compile", "torch", torch_compiled_jacobians),
        Contender("jax.jit", "jax", jax_jacobians),
    ),
    targets=(Versus(JACOBIANS, 1.0, "the best peer"),),
    inputs=vision.gathered_inputs,
    in_quick=False,
)

WORKLOADS = (
    beside_one_thread(mixture(64, 25, 1.0)),
    beside_c(mixture(20, 50, 1.0)),
    beside_one_thread(
        compiled("bundle", "bundle adjustment, 49 cameras, 31,843 observations", 1.0, "bundle")
    ),
    beside_one_thread(BUNDLE_JACOBIAN),
)
