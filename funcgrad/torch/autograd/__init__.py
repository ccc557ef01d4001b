"""Derivatives of what tensors remember: `backward`, `grad`, `Function`, and the modes."""

from funcgrad.torch.autograd import forward_ad, functional, graph, profiler
from funcgrad.torch.autograd.checks import GradcheckError, gradcheck, gradgradcheck
from funcgrad.torch.autograd.function import Function
from funcgrad.torch.autograd.gradients import grad
from funcgrad.torch.autograd.graph import preserved_version as _unsafe_preserve_version_counter
from funcgrad.torch.autograd.variable import Variable
from funcgrad.torch.core.backward.engine import backward
from funcgrad.torch.core.backward.grad_mode import (
    detect_anomaly,
    enable_grad,
    inference_mode,
    is_multithreading_enabled,
    no_grad,
    set_detect_anomaly,
    set_grad_enabled,
    set_multithreading_enabled,
)

__all__ = [
    "Function",
    "GradcheckError",
    "Variable",
    "_unsafe_preserve_version_counter",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_multithreading_enabled",
    "no_grad",
    "profiler",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]
