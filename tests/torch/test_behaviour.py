"""Some three thousand pieces of code, against what PyTorch 2.13 was recorded to do with them."""

import gzip
import importlib.util
import json
import pathlib

import pytest

HERE = pathlib.Path(__file__).parent
TABLES = (
    "operations",
    "semantics",
    "printing",
    "more",
    "programs",
    "printed",
    "scripts",
    "distributions",
    "arguments",
    "random",
    "statements",
    "numbers",
    "meta",
    "kinds",
)


def loaded(name):
    spec = importlib.util.spec_from_file_location(f"torch_{name}", HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


behaviour = loaded("behaviour")
CASES = {table: list(loaded(f"cases_{table}").cases()) for table in TABLES}
RECORDED = json.loads(gzip.decompress((HERE / "recorded.json.gz").read_bytes()))
CHUNK = 60

# Where ours is meant to differ, and why.
DIFFERENT = {
    "operations": (
        "torch.special.ndtr(x)",  # one operation here, several there: another name of grad_fn
        "torch.chain_matmul(m, m)",  # PyTorch warns that it goes
        "torch.linalg.vecdot(u, v)",
        "torch.linalg.pinv(x)",
        "torch.linalg.matrix_exp",  # PyTorch's is good to four digits in single precision
        "torch.cholesky(m)",
        "torch.trapezoid(x)",
        "torch.float_power(p, 2)",
        "x.quantile(0.3)",  # the last digit
        "x.scatter(1, torch.tensor([[0, 2], [1, 0]]), y)",  # PyTorch has no gradient for a larger source
        "x.scatter_add(1, torch.tensor([[0, 0], [1, 1]]), y)",
        "x.sgn()",  # PyTorch returns a tensor without memory
        "x['a']",
        "x.add(1, 2)",  # deprecated there
        "cuda",  # says what to do instead
        "torch.sinc",  # the last digits
    ),
    "semantics": (
        "(v, x.grad._version)",  # counts copies inside PyTorch
        "y[[0, 0]] = v",  # PyTorch gives a gradient to what was written over
        "torch.func.linearize",  # warns there
    ),
    "printing": ("torch.from_numpy(np.float32(1.0))",),
    "programs": (),
    "printed": (),
    "scripts": (),
    "distributions": (
        "repr(d)",  # ours names the parameters of every family
        "D.kl_divergence(D.Pareto(p, q + 2), D.Gumbel",  # refused there, too, in other words
        "D.kl_divergence(D.ContinuousBernoulli(u), D.Beta(",
        "D.kl_divergence(D.ContinuousBernoulli(u), D.Gamma(",
        "out = d.mode",  # the name of the class in the message; PyTorch's of Kumaraswamy is NaN
        "D.Gamma(p, q); v = torch.tensor([0.2, 3.0]); out = d.cdf",  # has a derivative by the shape here
        "D.InverseGamma(p + 2, q); v = torch.tensor([0.2, 3.0]); out = d.cdf",
        "D.Chi2(p); v = torch.tensor([0.2, 3.0]); out = d.cdf",
        "[[2.0, 0.3], [0.3, 1.0]]); out = (d.sample",  # PyTorch warns of singular draws
        "[[2.0, 0.3], [0.3, 1.0]]); out = d.support",
    ),
    "more": (
        "torch.tensor()",  # Python's own words for calls that do not fit
        "torch.add(torch.ones(2))",
        "torch.ones(2).sum(foo=1)",
        "torch.nn.Parameter(torch.tensor([1], dtype=torch.int64))",
        "clip_grad_value_",  # an internal assertion there
    ),
    "arguments": (),
    "random": (),
    "statements": (),
    "numbers": (),
    "meta": (),
    "kinds": (),
}


def chunks():
    return [(table, k) for table in TABLES for k in range(0, len(CASES[table]), CHUNK)]


def expected_to_differ(table, code):
    return any(part in code for part in DIFFERENT[table])


@pytest.mark.at_length
@pytest.mark.parametrize(("table", "start"), chunks())
def test_does_what_was_recorded(table, start):
    import funcgrad.torch as torch

    failures = []
    for name, code in CASES[table][start : start + CHUNK]:
        if expected_to_differ(table, code):
            continue
        want, got = RECORDED[table][code], behaviour.outcome(torch, code)
        if not behaviour.same(want, got):
            failures.append(f"{name}\n    want {want}\n    got  {got}")
    assert not failures, "\n".join(failures)


@pytest.mark.peers("torch")
@pytest.mark.parametrize("table", TABLES)
def test_the_record_is_what_torch_does(table):
    import torch

    if not torch.__version__.startswith("2.13."):
        pytest.skip("recorded with torch 2.13")
    failures = []
    for name, code in CASES[table]:
        got = behaviour.outcome(torch, code)
        if not behaviour.same(RECORDED[table][code], got):
            failures.append(f"{name}\n    recorded {RECORDED[table][code]}\n    now      {got}")
    assert not failures, "\n".join(failures)
