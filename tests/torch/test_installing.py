"""Programs that import PyTorch run with the facade in its place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor, nn, optim
from torch.autograd import Function
from torch.optim.lr_scheduler import StepLR
import torch.utils.checkpoint
assert sys.modules["torch.nn.functional"] is F is nn.functional
assert torch.Tensor is Tensor and torch.nn is nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
steps = optim.Adam(model.parameters(), lr=0.05)
x = torch.randn(32, 3)
y = x.sum(1, keepdim=True)
for _ in range(200):
    steps.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    steps.step()
print(torch.__name__, bool(loss < 0.1), sys.argv[1:])
"""


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def test_a_script_runs_with_us_for_torch(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    done = run("-m", "funcgrad.torch", str(script), "one", "two", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split(maxsplit=2) == ["funcgrad.torch", "True", "['one', 'two']\n"]
    assert done.stderr.strip() == "funcgrad.torch stands in for torch"


def test_pytest_runs_with_us_for_torch(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(
        "import torch\n"
        "def test_one():\n"
        "    x = torch.ones(2, requires_grad=True)\n"
        "    (x * x).sum().backward()\n"
        "    assert torch.equal(x.grad, torch.full((2,), 2.0))\n"
        "    assert torch.__name__ == 'funcgrad.torch'\n",
        encoding="utf-8",
    )
    done = run(
        "-m", "funcgrad.torch", "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path), cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_submodules_that_are_not_here_say_so_by_name(tmp_path: Path) -> None:
    code = "import funcgrad.torch\nfuncgrad.torch.install()\nfuncgrad.torch.install()\nimport torch.fx\n"
    done = run("-c", code, cwd=tmp_path)
    assert done.stderr.count("stands in for torch") == 1
    assert done.stderr.strip().endswith(
        "ModuleNotFoundError: funcgrad.torch does not support 'fx': record a function of arrays with "
        "fg.make_program, whose Program can be read, changed and run"
    )
    done = run("-c", code.replace("torch.fx", "torch.no_such_thing"), cwd=tmp_path)
    assert done.stderr.strip().endswith("ModuleNotFoundError: No module named 'torch.no_such_thing'")


def test_pytorch_itself_is_not_replaced_under_anybodys_feet(tmp_path: Path) -> None:
    code = "import sys, types\nsys.modules['torch'] = types.ModuleType('torch')\n"
    code += "sys.modules['torch'].__file__ = 'somewhere'\n"
    code += "import funcgrad.torch\nfuncgrad.torch.install()\n"
    done = run("-c", code, cwd=tmp_path)
    assert (
        "ImportError: torch has been imported already, from somewhere: install() comes first" in done.stderr
    )


def test_the_command_without_a_program_says_how_it_is_used(tmp_path: Path) -> None:
    usage = "usage: python -m funcgrad.torch (script.py | -m module) [arguments]"
    assert run("-m", "funcgrad.torch", cwd=tmp_path).stdout.strip() == usage
    lone = run("-m", "funcgrad.torch", "-m", cwd=tmp_path)
    assert lone.returncode == 1
    assert lone.stderr.strip() == usage
