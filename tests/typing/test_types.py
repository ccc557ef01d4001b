"""The types that an editor shows: a strict checker agrees with the examples beside this file, which run."""

from __future__ import annotations

import importlib.util
import inspect
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import funcgrad as fg

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
EXAMPLES = sorted(path for path in HERE.glob("*.py") if not path.name.startswith("test_"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, path.stem, module)
    spec.loader.exec_module(module)
    module.main()
    assert capsys.readouterr().out


@pytest.fixture(scope="module")
def mypy(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """What mypy says of files, as strict as it can be; of our own modules it says nothing here."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    cache = tmp_path_factory.mktemp("mypy")
    options = ["--strict", "--follow-imports=silent", "--no-error-summary", "--cache-dir", str(cache)]

    def said(*paths: Path) -> str:
        command = [sys.executable, "-m", "mypy", *options, *map(str, paths)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
        return done.stdout + done.stderr

    return said


def test_a_strict_checker_passes_on_the_examples(mypy: Callable[..., str]) -> None:
    assert mypy(*EXAMPLES) == ""


def test_wrong_calls_are_seen(mypy: Callable[..., str], tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "import funcgrad as fg\n"
        "def f(x: float, n: int) -> float:\n"
        "    return x**n\n"
        'fg.grad(f)("no number", 2)\n'
        "fg.grad(f)(2.0, power=2)\n"
        "fg.jit(f)(2.0)\n"
        "slope: str = fg.value_and_grad(f)(2.0, 2)[1]\n"
        "fg.no_such_transform\n",
        encoding="utf-8",
    )
    said = mypy(wrong)
    lines = {int(line.split(":")[1]) for line in said.splitlines() if ": error:" in line}
    assert lines == {4, 5, 6, 7, 8}, said


def test_decorated_functions_keep_name_text_and_signature() -> None:
    def f(x: float, n: int = 2) -> float:
        """A power."""
        return x**n

    decorators = (
        *(fg.grad, fg.value_and_grad, fg.jacfwd, fg.jacrev, fg.hessian),
        *(fg.jit, fg.vmap, fg.checkpoint, fg.custom_vjp, fg.custom_jvp),
    )
    for decorate in decorators:
        made = decorate(f)
        assert (made.__name__, made.__doc__) == ("f", "A power.")
        assert str(inspect.signature(made)) == str(inspect.signature(f))


def test_every_public_name_has_a_type() -> None:
    """What is imported later is imported for checkers too: none of it comes from ``__getattr__``."""
    text = Path(fg.__file__).read_text(encoding="utf-8")
    for_checkers = text.partition("if _typing.TYPE_CHECKING:")[2].partition("__version__")[0]
    imported = {word.strip(",") for line in for_checkers.splitlines() for word in line.split()}
    assert set(fg.__all__) <= imported


def test_what_tables_and_fields_declare_has_types(mypy: Callable[..., str], tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "from funcgrad.torch import nn, ones, optim\n"
        "w = [ones(2)]\n"
        "optim.Adam(w, 0.1, (0.9, 0.999), foreach=True)\n"
        "optim.Adam()\n"
        "optim.Adam(w, amsgrad='yes')\n"
        "optim.AdamW(w, decoupled_weight_decay=False)\n"
        "optim.Adagrad(w, 0.1, 0.0, 0.0, 0.0, 1e-10, None, True)\n"
        "optim.LBFGS(w).lr\n"
        "nn.MaxPool2d(2, stride=3, ceil_mode=True)\n"
        "nn.MaxPool2d()\n"
        "nn.Softplus(beta='1')\n"
        "nn.NLLLoss(None, None, 'class')\n"
        "from funcgrad import torch\n"
        "torch.logsumexp(ones(2), axis=0, out=ones(()))\n"
        "torch.no_such_function\n"
        "torch.logsumexp(ones(2), dims=0)\n"
        "ones(2).sum(keep_dims=True)\n"
        "ones(2).no_such_method()\n",
        encoding="utf-8",
    )
    said = mypy(wrong)
    lines = {int(line.split(":")[1]) for line in said.splitlines() if ": error:" in line}
    assert lines == {4, 5, 6, 7, 8, 10, 11, 12, 15, 16, 17, 18}, said
