"""Programs of 30,000 equations: nothing recurses, and nothing takes more than linear time."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from funcgrad.ir.avals import Aval
from funcgrad.ir.check import check_linear, check_program
from funcgrad.ir.program import Equation, Literal, Program, Var
from funcgrad.ir.text.parsing import parse
from funcgrad.ops.elementwise.arithmetic import mul, neg

COUNT = 30_000
SCALAR = Aval((), np.float64)


@pytest.fixture(scope="module")
def chain() -> Program:
    """A chain of alternating negations and products."""
    half = Literal(np.float64(-0.5), SCALAR)
    x = head = Var(SCALAR, "x")
    equations = []
    for k in range(COUNT):
        out = Var(SCALAR)
        equations.append(Equation(neg, (x,), (out,)) if k % 2 else Equation(mul, (x, half), (out,)))
        x = out
    return Program((head,), (), tuple(equations), (x,), "chain")


def test_text_and_back(chain: Program) -> None:
    text = str(chain)
    assert len(text.splitlines()) == COUNT + 2
    assert parse(text) == chain


def test_comparison_notices_the_last_equation(chain: Program) -> None:
    last = chain.equations[-1]
    other = Equation(mul, (last.inputs[0], last.inputs[0]), last.outputs)
    assert Program(chain.inputs, (), (*chain.equations[:-1], other), chain.outputs) != chain
    assert hash(Program(chain.inputs, (), chain.equations, chain.outputs)) == hash(chain)


def test_checks(chain: Program) -> None:
    check_program(chain)
    check_linear(chain, 0)


def test_copies(chain: Program) -> None:
    assert pickle.loads(pickle.dumps(chain)) == chain
    assert copy.deepcopy(chain) == chain


def test_source(chain: Program) -> None:
    names: dict[str, object] = {}
    exec(chain.to_numpy_source(), names)
    assert callable(names["chain"])
    assert chain(1.0) == (0.0,)
