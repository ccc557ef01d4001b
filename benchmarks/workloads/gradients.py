"""Un-jitted gradients, second call on, of functions as people write them."""

from __future__ import annotations

from typing import Any

from benchmarks.contenders import gradients, hessians
from benchmarks.model import Versus, Workload

SEED = 0


def four_operations(np: Any, x: Any) -> Any:
    """Multiply, add, tanh, sum."""
    return np.sum(np.tanh(x * 2.0 + 1.0))


def ten_numbers(np: Any) -> tuple[Any, ...]:
    """Ten numbers between -1 and 1."""
    return (np.linspace(-1.0, 1.0, 10),)


FOUR_OPERATIONS = Workload(
    name="four-operations",
    title="un-jitted gradient of four operations on 10 elements",
    contenders=gradients(four_operations),
    targets=(Versus(("torch",), 1.0), Versus(("autograd",), 2.0), Versus(("jax",), 20.0)),
    inputs=ten_numbers,
    rounds=25,
    information=frozenset({"jax.jit"}),
)


def rosenbrock(np: Any, x: Any) -> Any:
    """Rosenbrock's function in n dimensions."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def rosenbrock_of(n: int) -> Workload:
    """Its value and gradient."""

    def inputs(np: Any) -> tuple[Any, ...]:
        return (np.random.default_rng(SEED).normal(size=n),)

    return Workload(
        name=f"rosenbrock-{n}",
        title=f"un-jitted value and gradient of Rosenbrock, n = {n:,}",
        contenders=gradients(rosenbrock, value=True),
        inputs=inputs,
        information=frozenset({"jax.jit"}),
        in_quick=n <= 10,
    )


def logistic_loss(np: Any, w: Any, X: Any, y: Any) -> Any:
    """Logistic regression with a little ridge."""
    return np.mean(np.logaddexp(0.0, -y * (X @ w))) + 1e-3 * np.sum(w**2)


def torch_logistic_loss(torch: Any, w: Any, X: Any, y: Any) -> Any:
    """With softplus: torch's `logaddexp` wants two tensors and is slower."""
    return torch.mean(torch.nn.functional.softplus(-y * (X @ w))) + 1e-3 * torch.sum(w**2)


def logistic_inputs(np: Any) -> tuple[Any, ...]:
    """1000 points in 20 dimensions."""
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(1000, 20))
    y = np.where(X @ rng.normal(size=20) + rng.normal(size=1000) > 0, 1.0, -1.0)
    return 0.1 * rng.normal(size=20), X, y


LOGISTIC = Workload(
    name="logistic",
    title="un-jitted value and gradient of logistic regression, 1000×20",
    contenders=gradients(logistic_loss, value=True, instead={"torch": torch_logistic_loss}),
    inputs=logistic_inputs,
    information=frozenset({"jax.jit"}),
)


def mlp_loss(np: Any, layers: Any, x: Any, y: Any) -> Any:
    """Mean squared error of a network with tanh layers."""
    for W, b in layers[:-1]:
        x = np.tanh(x @ W + b)
    W, b = layers[-1]
    return np.mean((x @ W + b - y) ** 2)


def mlp_inputs(np: Any) -> tuple[Any, ...]:
    """Three layers of width 64, a batch of 32, float32."""
    rng = np.random.default_rng(SEED)
    width, batch = 64, 32

    def floats(*shape: int) -> Any:
        return rng.normal(size=shape).astype(np.float32)

    scale = np.float32(width**-0.5)
    layers = [(floats(width, width) * scale, floats(width)) for _ in range(3)]
    return layers, floats(batch, width), floats(batch, width)


MLP = Workload(
    name="mlp",
    title="un-jitted value and gradient of a tanh MLP, 3 layers, batch 32, width 64, float32",
    contenders=gradients(mlp_loss, value=True),
    inputs=mlp_inputs,
    information=frozenset({"jax.jit"}),
    rtol=1e-4,
)


def sum_of_squares(np: Any, leaves: Any) -> Any:
    """Touches every leaf."""
    total = 0.0
    for leaf in leaves:
        total = total + np.sum(leaf * leaf)
    return total


def hundred_leaves(np: Any) -> tuple[Any, ...]:
    """A list of 100 arrays of three numbers."""
    return ([row.copy() for row in np.random.default_rng(SEED).normal(size=(100, 3))],)


PYTREE = Workload(
    name="pytree",
    title="un-jitted value and gradient by a list of 100 small arrays",
    contenders=gradients(sum_of_squares, value=True),
    inputs=hundred_leaves,
    information=frozenset({"jax.jit"}),
    in_quick=False,
)

HESSIAN = Workload(
    name="hessian",
    title="un-jitted Hessian of Rosenbrock, n = 10",
    contenders=hessians(rosenbrock),
    inputs=rosenbrock_of(10).inputs,
    information=frozenset({"jax.jit"}),
    in_quick=False,
)


def loop_of_reads(np: Any, x: Any) -> Any:
    """A Python loop over the elements, as nobody should write it and everybody does."""
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] * x[i]
    return total


def thousand_numbers(np: Any) -> tuple[Any, ...]:
    """1000 normal numbers."""
    return (np.random.default_rng(SEED).normal(size=1000),)


LOOP = Workload(
    name="loop",
    title="un-jitted gradient of a Python loop with 1,000 pairs of `x[i]`",
    contenders=gradients(loop_of_reads, names=("funcgrad", "torch", "autograd")),
    inputs=thousand_numbers,
    left_out={"jax": "2 s a call without jit"},
    in_quick=False,
)

WORKLOADS = (
    FOUR_OPERATIONS,
    rosenbrock_of(10),
    rosenbrock_of(1000),
    LOGISTIC,
    MLP,
    PYTREE,
    HESSIAN,
    LOOP,
)
