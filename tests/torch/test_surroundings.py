"""What surrounds programs written for PyTorch: devices that are not here, mixed precision, scripting."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import funcgrad.torch as torch

PROGRAM = """
import torch, torch.backends.cudnn as cudnn
import torch.multiprocessing as mp
from torch import nn
from torch.cuda.amp import GradScaler
from torch.nn.parallel import DataParallel

torch.manual_seed(1)
torch.cuda.manual_seed_all(1)
cudnn.benchmark, cudnn.deterministic = True, True
torch.backends.cuda.matmul.allow_tf32 = True
torch.set_float32_matmul_precision("high")
torch.set_num_threads(2)
mps = torch.backends.mps.is_available()
device = torch.device("cuda" if torch.cuda.is_available() else "mps" if mps else "cpu")

@torch.jit.script
def swish(x):
    return x * torch.sigmoid(x)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 16), nn.Linear(16, 1)

    @torch.jit.ignore
    def note(self):
        return torch.jit.is_scripting()

    def forward(self, x):
        return self.b(swish(self.a(x)))

model = torch.compile(nn.DataParallel(Net()).to(device), mode="reduce-overhead")
steps = torch.optim.Adam(model.parameters(), lr=0.02)
scaler = torch.amp.GradScaler(enabled=device.type == "cuda")
x = torch.randn(64, 4, device=device)
y = (x ** 2).sum(1, keepdim=True)
for epoch in range(150):
    steps.zero_grad(set_to_none=True)
    with torch.autocast(device_type=device.type, enabled=device.type == "cuda"):
        loss = nn.functional.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(steps)
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    scaler.step(steps)
    scaler.update()
if torch.cuda.is_available():
    torch.cuda.synchronize()
torch.cuda.empty_cache()
print(bool(loss < 2.0), torch.cuda.max_memory_allocated(), torch.__version__ >= "2.1", model.module.note())
"""


def answers(module: Any, code: str) -> Any:
    """What an expression gives with this module for torch: its value, or the error, and the warnings."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = eval(code, {"torch": module})
            value = found if isinstance(found, bool | int | float | list | None) else type(found).__name__
        except (AssertionError, RuntimeError) as error:
            value = f"{type(error).__name__}: {error}"
    return value, [w.category.__name__ for w in said]


def test_a_program_for_any_device_runs_here(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, "-W", "error", "-m", "funcgrad.torch", "program.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stdout.split() == ["True", "0", "True", "False"], done.stderr


SAME = [
    "torch.cuda.is_available()",
    "torch.cuda.device_count()",
    "torch.cuda.is_initialized()",
    "torch.cuda.is_bf16_supported()",
    "torch.cuda.manual_seed(0)",
    "torch.cuda.manual_seed_all(0)",
    "torch.cuda.seed_all()",
    "torch.cuda.empty_cache()",
    "torch.cuda.memory_allocated()",
    "torch.cuda.max_memory_reserved()",
    "torch.cuda.current_device()",
    "torch.cuda.get_device_name(0)",
    "torch.cuda.get_device_properties(0)",
    "torch.cuda.get_device_capability()",
    "torch.cuda.mem_get_info()",
    "torch.cuda.get_rng_state()",
    "torch.cuda.get_rng_state_all()",
    "torch.cuda.set_rng_state_all([])",
    "torch.cuda.get_arch_list()",
    "torch.cuda.Stream()",
    "torch.cuda.Event(enable_timing=True)",
    "torch.cuda.amp.autocast()",
    "torch.cuda.amp.autocast(enabled=False)",
    "torch.cuda.amp.GradScaler()",
    "torch.cuda.amp.GradScaler().get_scale()",
    "torch.cuda.amp.GradScaler(enabled=False).state_dict() == {}",
    "torch.amp.GradScaler().is_enabled()",
    "torch.amp.GradScaler('cuda', enabled=False).scale(3.0)",
    "torch.autocast('cpu')",
    "torch.autocast('cuda')",
    "torch.autocast('cuda', enabled=False)",
    "torch.ones(1).cuda()",
    "torch.nn.Linear(1, 1).cuda()",
    "torch.mps.is_available()",
    "torch.mps.device_count()",
    "torch.mps.manual_seed(0)",
    "torch.xpu.is_available()",
    "torch.xpu.device_count()",
    "torch.xpu.empty_cache()",
    "torch.xpu.current_device()",
    "torch.accelerator.is_available()",
    "torch.accelerator.device_count()",
    "torch.accelerator.current_accelerator()",
    "torch.accelerator.current_device_index()",
    "torch.backends.cudnn.is_available()",
    "torch.backends.cudnn.version()",
    "torch.backends.cudnn.benchmark",
    "torch.backends.cudnn.deterministic",
    "torch.backends.cudnn.enabled",
    "torch.backends.cuda.is_built()",
    "torch.backends.cuda.matmul.allow_tf32",
    "torch.backends.cuda.flash_sdp_enabled()",
    "torch.backends.mps.is_available()",
    "torch.backends.mps.is_built()",
    "torch.version.cuda",
    "torch.version.hip",
    "torch.version.debug",
    "torch.__version__ >= '2.0'",
    "torch.__version__ > (2, 13)",
    "torch.__version__ >= (2, 13)",
    "torch.__version__ < '3'",
    "torch.__version__ == '2.13.0'",
    "torch.jit.is_scripting()",
    "torch.jit.is_tracing()",
    "torch.jit.annotate(list, [1])",
    "torch.compiler.is_compiling()",
    "torch.compile(abs, mode='default', options={})",
    "torch.nn.DataParallel(torch.nn.Linear(2, 1)).device_ids",
    "list(torch.nn.DataParallel(torch.nn.Linear(2, 1)).state_dict())",
    "sorted(torch.multiprocessing.get_all_sharing_strategies())",
    "torch.multiprocessing.get_sharing_strategy()",
]


@pytest.mark.peers("torch")
@pytest.mark.parametrize("code", SAME)
def test_answers_what_pytorch_answers_without_devices(code: str) -> None:
    import torch as theirs

    if theirs.cuda.is_available():
        pytest.skip("PyTorch has a device here")
    assert answers(torch, code) == answers(theirs, code)


def test_devices_say_that_they_are_not_available() -> None:
    for device in (torch.cuda, torch.mps, torch.xpu, torch.accelerator):
        assert device.is_available() is False
        assert device.device_count() == 0
        assert device.synchronize() is None
        assert device.empty_cache() is None
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        torch.ones(1).cuda()
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        torch.nn.Linear(1, 1).cuda()
    with pytest.raises(AssertionError, match="Torch not compiled with XPU enabled"):
        torch.xpu.get_device_name()
    with pytest.raises(AttributeError, match="there is no CUDA"):
        torch.cuda.CUDAGraph  # noqa: B018 - asking is the point


def test_flags_can_be_set_and_restored() -> None:
    with torch.backends.cudnn.flags(enabled=False, benchmark=True):
        assert torch.backends.cudnn.enabled is False
        assert torch.backends.cudnn.benchmark is True
    assert torch.backends.cudnn.enabled is True
    torch.backends.cuda.enable_math_sdp(False)
    assert torch.backends.cuda.math_sdp_enabled() is False
    torch.backends.cuda.enable_math_sdp(True)


def test_what_would_be_scripted_or_compiled_stays_what_it_is() -> None:
    def f(x: Any) -> Any:
        return x + 1

    model = torch.nn.Linear(2, 1)
    assert torch.jit.script(f) is torch.jit.export(f) is torch.jit.unused(f) is torch.jit.ignore(f) is f
    assert torch.jit.ignore(drop=True)(f) is f
    assert torch.jit.trace(model, torch.ones(1, 2)) is model
    assert torch.jit.freeze(model.eval()) is model
    assert torch.compile(f) is f
    assert torch.compile(backend="eager")(f) is f
    assert torch.compiler.disable()(f) is f
    for refused in (torch.jit.load, torch.jit.save):
        with pytest.raises(NotImplementedError, match="state_dict"):
            refused("model.pt", "again")


def test_an_enabled_scaler_of_the_cpu_says_that_it_scales_nothing() -> None:
    with pytest.warns(UserWarning, match="full precision needs no scaling"):
        scaler = torch.amp.GradScaler("cpu")
    x = torch.ones(2)
    assert scaler.scale(x) is x


def test_a_device_of_no_known_kind_is_refused_in_their_words() -> None:
    for refused in (lambda: torch.zeros(2, device="foo"), lambda: torch.device("foo:1")):
        with pytest.raises(RuntimeError, match="at start of device string: foo"):
            refused()


def test_mixed_precision_says_that_nothing_is_cast() -> None:
    with pytest.warns(UserWarning, match="keep the dtype"):

        @torch.autocast("cpu")
        def f(x: Any) -> Any:
            return x @ x

    with pytest.warns(UserWarning, match="keep the dtype"), torch.autocast("cpu", dtype=torch.bfloat16):
        assert (torch.eye(2) @ torch.eye(2)).dtype is torch.float32
    with torch.autocast("cpu", enabled=False):
        pass

    assert f(torch.eye(2)).dtype is torch.float32
    with pytest.raises(RuntimeError, match="device_type 'foo'"):
        torch.autocast("foo")


def test_tensors_travel_between_processes_as_copies() -> None:
    queue = torch.multiprocessing.SimpleQueue()
    queue.put(torch.arange(3))
    assert queue.get().tolist() == [0, 1, 2]
    with pytest.raises(AssertionError, match="no sharing strategy"):
        torch.multiprocessing.set_sharing_strategy("telepathy")
