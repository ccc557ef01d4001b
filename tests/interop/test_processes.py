"""Gradients in other processes and threads: pickle, cloudpickle, joblib, concurrent.futures, notebooks."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import cloudpickle
import joblib
import numpy as np
import pytest
from shared_work import clipped, compiled_loss, loss

import funcgrad as fg

FUNCTIONS = {
    "grad": fg.grad(loss),
    "jit": fg.jit(fg.grad(loss)),
    "value_and_grad": fg.value_and_grad(loss),
    "hessian": fg.hessian(loss),
    "vmap": fg.vmap(fg.grad(loss), in_axes=(None, 0)),
    "decorated": compiled_loss,
    "grad of decorated": fg.grad(compiled_loss),
}


@pytest.fixture
def points(rng: np.random.Generator) -> Any:
    return rng.normal(size=(5, 3)), rng.normal(size=(6, 3))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("package", [pickle, cloudpickle])
def test_functions_go_through_pickle(package: Any, name: str, points: Any) -> None:
    (w, *_), x = points
    copy = pickle.loads(package.dumps(FUNCTIONS[name]))
    for found, expected in zip(
        fg.tree.leaves(copy(w, x)), fg.tree.leaves(FUNCTIONS[name](w, x)), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_process_pools(method: str, points: Any) -> None:
    ws, x = points
    expected = [FUNCTIONS["grad"](w, x) for w in ws]
    context = multiprocessing.get_context(method)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        found = list(pool.map(FUNCTIONS["jit"], ws, [x] * len(ws)))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["grad", "jit"])
def test_thread_pools(name: str, points: Any) -> None:
    ws, x = points
    expected = [FUNCTIONS["grad"](w, x) for w in ws]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(FUNCTIONS[name], ws, [x] * len(ws)))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_joblib(points: Any) -> None:
    ws, x = points
    expected = [FUNCTIONS["grad"](w, x) for w in ws]
    for options in ({"prefer": "threads"}, {}):
        found = joblib.Parallel(2, **options)(joblib.delayed(FUNCTIONS["jit"])(w, x) for w in ws)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_cloudpickle_takes_closures() -> None:
    a = 3.0
    gradient = fg.jit(fg.grad(lambda w: a * np.sum(w**2)))
    gradient(np.ones(2))  # what has been compiled is not carried along
    copy = cloudpickle.loads(cloudpickle.dumps(gradient))
    np.testing.assert_allclose(copy(np.ones(2)), [6.0, 6.0])
    pullback = fg.vjp(lambda w: a * w**2, np.ones(2))[1]
    np.testing.assert_allclose(cloudpickle.loads(cloudpickle.dumps(pullback))(np.ones(2))[0], [6.0, 6.0])
    program = fg.make_program(lambda w: a * w)(2.0)
    assert cloudpickle.loads(cloudpickle.dumps(program)) == program


def test_custom_rules_go_along() -> None:
    @fg.custom_vjp
    def doubled(x: Any) -> Any:
        return x

    doubled.defvjp(lambda x: (x, None), lambda _, bar: (2.0 * bar,))
    assert fg.grad(cloudpickle.loads(cloudpickle.dumps(doubled)))(1.0) == 2.0
    assert pickle.loads(pickle.dumps(clipped)) is clipped
    assert fg.grad(cloudpickle.loads(cloudpickle.dumps(fg.grad(lambda x: 5.0 * clipped(x)))))(2.0) == 0.0


NOTEBOOK = """
    import concurrent.futures, multiprocessing
    import cloudpickle, joblib, numpy as np
    import funcgrad as fg

    @fg.jit
    def compiled(x):
        return np.sum(np.sin(x))

    @fg.grad
    def slope(x):
        return np.sum(np.sin(x))

    @fg.custom_vjp
    def doubled(x):
        return x

    doubled.defvjp(lambda x: (x, None), lambda _, bar: (2.0 * bar,))
    functions = [compiled, fg.grad(compiled), slope, fg.grad(doubled), doubled]
    for function in functions:
        (found,) = joblib.Parallel(2)([joblib.delayed(function)(1.0)])
        assert found == function(1.0), function
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        for function in functions:
            assert pool.submit(function, 1.0).result() == function(1.0), function
"""


def test_functions_of_notebooks_go_to_workers(tmp_path: Path) -> None:
    # As in a notebook, there is no file that a worker could run to find what __main__ defines.
    code = textwrap.dedent(NOTEBOOK)
    environment = {**os.environ, "PYTHONPATH": str(Path(fg.__file__).parents[1])}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=False, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
