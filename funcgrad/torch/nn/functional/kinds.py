"""Dtypes for which PyTorch has no such function, and its words for that: a table by name."""

from __future__ import annotations

from funcgrad.torch.core.dtypes import TYPE_NAMES
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.requiring import kind_of, long_word

INTEGERS, INEXACT_ALONE = "biu", "biuc"
"""Kinds of NumPy's dtypes that are refused: those of integers, and complex numbers too."""

_KERNELS = {
    **dict.fromkeys(("elu", "elu_", "selu", "selu_", "celu", "celu_"), "elu_cpu"),
    **dict.fromkeys(("leaky_relu", "leaky_relu_", "rrelu", "rrelu_"), "leaky_relu_cpu"),
    **dict.fromkeys(("batch_norm", "instance_norm"), "batch_norm"),
    **dict.fromkeys(("adaptive_avg_pool1d", "adaptive_avg_pool2d"), "adaptive_avg_pool2d"),
    **dict.fromkeys(("adaptive_max_pool1d", "adaptive_max_pool2d"), "adaptive_max_pool2d"),
    **dict.fromkeys(("binary_cross_entropy_with_logits", "logsigmoid"), "log_sigmoid_cpu"),
    "multilabel_soft_margin_loss": "log_sigmoid_cpu",
    "adaptive_avg_pool3d": "adaptive_avg_pool3d_cpu",
    "adaptive_max_pool3d": "adaptive_max_pool3d_cpu",
    "binary_cross_entropy": "binary_cross_entropy",
    "gelu": "GeluKernelImpl",
    "glu": "glu_cpu",
    "grid_sample": "grid_sampler_2d_cpu_kernel_impl",
    "group_norm": "GroupNormKernelImpl",
    "hardshrink": "hardshrink_cpu",
    "hardsigmoid": "hardsigmoid_cpu",
    "hardswish": "hardswish_cpu",
    "layer_norm": "LayerNormKernelImpl",
    "max_pool1d": "max_pool1d_impl",
    "max_unpool1d": "max_unpool2d",
    "max_unpool2d": "max_unpool2d",
    "max_unpool3d": "max_unpool3d",
    "mish": "mish_cpu",
    "prelu": "prelu_cpu",
    "softplus": "softplus_cpu",
    "softshrink": "softshrink_check",
}
_NOT_IMPLEMENTED = "\"{kernel}\" not implemented for '{kind}'"


def _all_but(*names: str) -> frozenset[str]:
    return frozenset(TYPE_NAMES) - {"float32", "float64", *names}


_BY_NAME = {
    "avg_pool1d": ("avg_pool2d", _all_but("int64", "float16")),
    "avg_pool2d": ("avg_pool2d", _all_but("int64", "float16")),
    "avg_pool3d": ("avg_pool3d_out_frame", _all_but("int64")),
    "lp_pool1d": ("avg_pool2d", frozenset({"complex64", "complex128"})),
    "lp_pool2d": ("avg_pool2d", frozenset({"complex64", "complex128"})),
    "lp_pool3d": ("avg_pool3d_out_frame", frozenset({"complex64", "complex128", "float16"})),
    "local_response_norm": ("avg_pool2d", _all_but("int64", "float16")),
    **dict.fromkeys(
        ("conv_transpose1d", "conv_transpose2d"),
        ("slow_conv_transpose2d_out_cpu", frozenset({"int32", "int16", "int8", "uint8", "bool"})),
    ),
    "conv_transpose3d": (
        "slow_conv_transpose3d_out_cpu",
        frozenset({"int32", "int16", "int8", "uint8", "bool"}),
    ),
    "bilinear": ("bmm", frozenset({"bool"})),
    "ctc_loss": ("ctc_loss_cpu", _all_but()),
    "multi_margin_loss": ("multi_margin_loss_cpu_kernel", _all_but()),
    "multilabel_margin_loss": ("multilabel_margin_loss_forward_out_frame", _all_but()),
    "max_pool2d": ("max_pool2d", frozenset({"bool", "complex64", "complex128"})),
    "max_pool3d": ("max_pool3d", frozenset({"bool", "complex64", "complex128"})),
}
REFUSED: dict[str, list[tuple[str | frozenset[str], type[Exception], str]]] = {
    **{
        name: [(dtypes, NotImplementedError, f"\"{kernel}\" not implemented for '{{kind}}'")]
        for name, (kernel, dtypes) in _BY_NAME.items()
    },
    **{
        name: [(INEXACT_ALONE, NotImplementedError, _NOT_IMPLEMENTED.replace("{kernel}", kernel))]
        for name, kernel in _KERNELS.items()
    },
    "silu": [(INTEGERS, NotImplementedError, "\"silu_cpu\" not implemented for '{kind}'")],
    "rms_norm": [(INTEGERS, NotImplementedError, "\"rms_norm\" not implemented for '{kind}'")],
    **{
        name: [("bc", NotImplementedError, "\"threshold_cpu\" not implemented for '{kind}'")]
        for name in ("threshold", "threshold_")
    },
    "unfold": [("iu", NotImplementedError, "\"im2col_out_cpu\" not implemented for '{kind}'")],
    "fold": [("iu", NotImplementedError, "\"col2im_out_cpu\" not implemented for '{kind}'")],
    "soft_margin_loss": [
        ("iu", RuntimeError, "result type Float can't be cast to the desired output type {kind}")
    ],
    "scaled_dot_product_attention": [
        (INTEGERS, RuntimeError, "expected scalar type Float but found {kind}"),
        ("c", NotImplementedError, "\"softmax_lastdim_kernel_impl\" not implemented for '{kind}'"),
    ],
    "pdist": [(INEXACT_ALONE, RuntimeError, "pdist only supports floating-point dtypes")],
    **{
        name: [
            ("b", RuntimeError, "Bool inputs not supported for hardtanh"),
            ("c", NotImplementedError, "clamp is not supported for complex types"),
        ]
        for name in ("hardtanh", "hardtanh_", "relu6")
    },
}
"""By function: kinds of the dtype of its first tensor, or names of dtypes, the error and its words."""


OF_BOTH = {"huber_loss": "huber_cpu", "mse_loss": "mse_cpu", "smooth_l1_loss": "smooth_l1_cpu"}
"""Losses of two tensors that are computed in the dtype of both."""


def require_kind(name: str, *args: object) -> None:
    """Raise what PyTorch raises for a tensor of a dtype that a function of the tables is not there for."""
    input = args[0]
    assert isinstance(input, Tensor)
    kind = input._value.dtype.kind
    if name in OF_BOTH:
        kinds = {t._value.dtype.kind for t in args[:2] if isinstance(t, Tensor)}
        if "c" in kinds or not kinds & {"f"}:
            raise NotImplementedError(f"\"{OF_BOTH[name]}\" not implemented for '{kind_of(input)}'")
        return
    for refused, error, message in REFUSED[name]:
        if (kind if isinstance(refused, str) else input._value.dtype.name) in refused:
            raise error(message.format(kind=kind_of(input), long=long_word(input)))
