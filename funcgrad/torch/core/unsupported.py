"""What PyTorch has and this package does not: said by name, with what to use instead."""

from __future__ import annotations

import re

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


_DEVICES = "it belongs to devices and libraries that are not here"
_SPARSE = UNSUPPORTED["to_sparse"]
_QUANTIZED = UNSUPPORTED["quantize_per_tensor"]
_COMPILER = "it belongs to PyTorch's compiler; record a function of arrays with fg.make_program"
_STORAGE = "values live in NumPy's memory, which has no storages; use .numpy()"
_DISPATCH = "it belongs to PyTorch's dispatcher and its C++ objects"
_INSIDE = "PyTorch's module uses it itself"
_BACKWARD = "it is a step of PyTorch's kernels; use the function that it is a part of"
_PATTERNS: tuple[tuple[str, str], ...] = (
    (
        r"(cudnn|miopen|mkldnn|fbgemm)_.*|.*_(cuda|xpu|ipu|mtia|vulkan|xla).*|ipu|mtia|xpu|record_stream",
        _DEVICES,
    ),
    (
        r".*(gpu|cudagraph|autocast_(ipu|xla)|cxx11|distributed|Distributed|vulkan).*|Stream|Event|reinforce",
        _DEVICES,
    ),
    (
        r".*(sparse|coalesce|crow_|ccol_|col_indices|row_indices|sspaddmm|saddmm|hspmm|hsmm|dsmm|spmm).*",
        _SPARSE,
    ),
    (
        r"smm|indices|values|indices_copy|values_copy|sparse_dim|dense_dim|to_(coo|csr|csc|bsr|bsc|mkldnn).*",
        _SPARSE,
    ),
    (
        r"(fake_)?quantize.*|q_.*|Q[IU].*|.*quantized.*|dequantize|qscheme|int_repr|choose_qparams.*|.*fake_quant.*",
        _QUANTIZED,
    ),
    (
        r"(Script|Lite|Concrete|Recursive|TopLevel|Traced|Static|ONNX|Compl).*|.*(Graph|Trac|Schema|Module(Type)?)$",
        _COMPILER,
    ),
    (
        r".*Type(Builder)?$|(Any|Awa|Bool|Class|Device|Dict|Enum|Interface|List|Optional|PyObject).*(Type|Obj.*)$",
        _COMPILER,
    ),
    (
        r"(parse|import|merge|unify)_(ir|schema|type|.*ir_module).*|(jit|save|export|onednn|fuser|last|optimized).*",
        _COMPILER,
    ),
    (
        r"(run_frozen|enable_onednn|set_fusion|strict_fusion|interface|Attribute|Error|Future|fork|wait).*",
        _COMPILER,
    ),
    (
        r"(sym_.*|Sym.*|cond|while_loop|AliasDb|Argument.*|Block|Call.*|Capsule|Code|Dispatch.*|Execut.*)",
        _COMPILER,
    ),
    (
        r"(IODescriptor|Node|Type|Use|Value|Gradient|FileCheck|Fatal.*|JIT.*|Logg.*|Noop.*|Lock.*|Operator.*)",
        _COMPILER,
    ),
    (
        r".*Storage.*|.*storage.*|const_data_ptr|PyTorchFile.*|.*SerializationContext|DeepCopyMemoTable|from_file",
        _STORAGE,
    ),
    (
        r"(Disable|Exclude|Aggregation|Benchmark|Throughput|Tag|Out[A-Z]|Accelerator|BFloat16|.*torch_function).*",
        _DISPATCH,
    ),
    (
        r"(thread_safe|prepare_multi|get_file|classproperty|hash_tensor|init_num|read_vitals|set_vital|vitals).*",
        _DISPATCH,
    ),
    (
        r"(Profiler|Kineto|kineto|Saved|Nested|Device|enforce_grad|is_tensor_like|.*view_replay|.*multithreading).*",
        _DISPATCH,
    ),
    (
        r"(native_|batch_norm_(backward|elemt|gather|stats|update)).*|convolution|.*_backward_weights",
        _BACKWARD,
    ),
    (
        r"(_?grid_sampler|affine_grid_generator|embedding_renorm_|.*_generator$|gru|lstm|rnn_(relu|tanh)).*",
        _BACKWARD,
    ),
    (r"(assert_int_or_pair|boolean_dispatch|Callable|Tensor|factory_kwargs|Container|.*Mode)$", _DISPATCH),
    (
        r"(Scaling|Swizzle|(scaled_)?grouped_mm|scaled_mm|(LinearC|linear_c)rossEntropy.*|linear_cross_entropy).*",
        _DEVICES,
    ),
    (
        r"(DataPipe|.*DataPipe|DataChunk|functional_datapipe|.*determinis.*|.*validation.*)",
        "data pipes are not here",
    ),
    (r"(BufferDict|ModuleDict|ParameterDict|TracingState|GraphExecutorState|CompilationUnit)$", _COMPILER),
    (r"region_activation_memory_budget|swap_in_optimizer_params_and_state", _COMPILER),
    (r"set_(override_stale_capture|warn_on_accumulate_grad)_stream.*", _DEVICES),
    (r"index", "dimensions that are objects are not supported; index by number"),
    (
        r"bind|copy_method_params|Text|capture_logs|tree_map|set_module|.*[oO]paque.*|get_swap_module.*|is_trace.*",
        _INSIDE,
    ),
    (r"slice_inverse", _BACKWARD),
    (r"GraphExecGroup|CheckpointFunction", "a checkpoint is made by `checkpoint` alone"),
    (r"(eig|lstsq|matrix_rank|solve|symeig)$", "PyTorch itself has removed it; use torch.linalg"),
    (
        r"(Lazy|pin_memory|is_pinned|share_memory|is_shared|chalf|bfloat16|to_padded_tensor|refine|align|names)",
        _NUMPY,
    ),
)


def reason_for(name: str) -> str | None:
    """Why one of PyTorch's names is not here; None for a name of no known reason.

    >>> reason_for("cudnn_convolution")
    'it belongs to devices and libraries that are not here'
    """
    if name in UNSUPPORTED:
        return UNSUPPORTED[name]
    return next((reason for pattern, reason in _PATTERNS if re.fullmatch(pattern, name)), None)


def unsupported(name: str) -> str:
    """The message for one of PyTorch's names that has a reason."""
    return f"funcgrad.torch does not support {name!r}: {reason_for(name)}"


def missing(module: str, name: str) -> AttributeError:
    """The error for an attribute that a module here does not have."""
    reason = reason_for(name)
    if reason is not None:
        return AttributeError(f"{module} does not support {name!r}: {reason}")
    return AttributeError(f"module {module!r} has no attribute {name!r}")


def missing_attribute(name: str) -> AttributeError:
    """The error for an attribute that a tensor does not have."""
    if name != "names" and reason_for(name) is not None:
        return AttributeError(unsupported(name))
    return AttributeError(f"'Tensor' object has no attribute '{name}'")
