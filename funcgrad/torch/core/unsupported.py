"""What PyTorch has and this package does not: said by name, with what to use instead."""

from __future__ import annotations

__all__ = ["MISSING_MODULES", "UNSUPPORTED", "missing_attribute", "unsupported"]

_NUMPY = "values live in NumPy's memory on the CPU; leave the call out"
UNSUPPORTED = {
    "cuda": f"there is no CUDA here: {_NUMPY}",
    "mps": f"there is no Metal here: {_NUMPY}",
    "xpu": f"there are no accelerators here: {_NUMPY}",
    "to_sparse": "sparse layouts are not supported; keep the tensor dense, or use scipy.sparse on `.numpy()`",
    "to_sparse_csr": "sparse layouts are not supported; keep the tensor dense, or use scipy.sparse on "
    "`.numpy()`",
    "sparse_coo_tensor": "sparse layouts are not supported; make a dense tensor and fill it with index_put_",
    "sparse_csr_tensor": "sparse layouts are not supported; make a dense tensor and fill it with index_put_",
    "names": "named tensors are not supported; refer to dimensions by number",
    "rename": "named tensors are not supported; refer to dimensions by number",
    "rename_": "named tensors are not supported; refer to dimensions by number",
    "refine_names": "named tensors are not supported; refer to dimensions by number",
    "align_to": "named tensors are not supported; refer to dimensions by number and use permute",
    "bfloat16": "NumPy has no bfloat16; use float32, or float16 to save memory",
    "chalf": "NumPy has no half-precision complex numbers; use complex64",
    "complex32": "NumPy has no half-precision complex numbers; use complex64",
    "quantize_per_tensor": "quantized tensors are not supported; use integer tensors and a scale of your own",
    "quint8": "quantized tensors are not supported; use integer tensors and a scale of your own",
    "qint8": "quantized tensors are not supported; use integer tensors and a scale of your own",
    "share_memory_": "memory shared between processes is not supported; use multiprocessing.shared_memory "
    "and from_numpy",
    "pin_memory": f"there is no page-locked memory here: {_NUMPY}",
    "distributed": "there is no distributed training here",
}

MISSING_MODULES = {
    "distributed": UNSUPPORTED["distributed"],
    "export": "record a function of arrays with fg.make_program",
    "fx": "record a function of arrays with fg.make_program, whose Program can be read, changed and run",
    "onnx": "record a function of arrays with fg.make_program",
    "ao": "quantized tensors are not supported; use integer tensors and a scale of your own",
    "quantization": "quantized tensors are not supported; use integer tensors and a scale of your own",
    "sparse": UNSUPPORTED["to_sparse"],
    "nested": "pad the sequences to one length",
    "hub": "models of the hub are PyTorch's own",
    "package": "pickle the state of the module",
    "utils.tensorboard": "write numbers with a logger of your own",
    "utils.cpp_extension": "extensions are PyTorch's own; write NumPy or Numba",
}
"""Submodules that are not here, as paths below ``torch``."""
UNSUPPORTED.update(MISSING_MODULES)


def unsupported(name: str) -> str:
    """The message for one of the names above."""
    return f"funcgrad.torch does not support {name!r}: {UNSUPPORTED[name]}"


def missing_attribute(name: str) -> AttributeError:
    """The error for an attribute that a tensor does not have."""
    if name in UNSUPPORTED and name != "names":
        return AttributeError(unsupported(name))
    return AttributeError(f"'Tensor' object has no attribute '{name}'")
