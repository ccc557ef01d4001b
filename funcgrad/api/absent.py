"""What is said where a name of JAX's is asked for that is not here: why, and what to write instead."""

from __future__ import annotations

from funcgrad.errors import did_you_mean

_ONE_DEVICE = "there is one device. Leave it out"
_NO_AXES = "axes have no names. Sum over the axis after fg.vmap, or use fg.distribute"
_READY = "results are there when a call returns. Leave it out"
_VALUES = "un-jitted functions see values. Leave fg.jit out, and look at them with print or a debugger"
_SETTING = "it is a setting of JAX's. Leave it out"
_SHAPES = "it is a helper of JAX's own. fg.eval_shape gives the shape of the result"
_WRITTEN: dict[str, tuple[tuple[str, str], ...]] = {
    "fg": (
        ("block_until_ready copy_to_host_async effects_barrier live_arrays", _READY),
        ("Device NamedSharding P Shard default_backend default_device", _ONE_DEVICE),
        ("default_matmul_precision device_count device_get device_put devices", _ONE_DEVICE),
        ("host_count host_id host_ids local_device_count local_devices", _ONE_DEVICE),
        ("make_array_from_callback make_array_from_process_local_data", _ONE_DEVICE),
        ("make_array_from_single_device_arrays make_mesh process_count", _ONE_DEVICE),
        ("process_index process_indices reshard set_mesh smap transfer_guard", _ONE_DEVICE),
        ("pmap shard_map distributed", "there is one device. Use fg.vmap, or fg.distribute for machines"),
        ("make_jaxpr typeof", "Use fg.make_program and fg.eval_shape: a Program is a value"),
        ("remat", "Use fg.checkpoint, which takes its policies too"),
        ("Array", "results are NumPy's arrays. Use np.ndarray"),
        ("float0", "integers have no gradients. Write None for a zero cotangent"),
        ("disable_jit no_tracing no_execution log_compiles explain_cache_misses", _VALUES),
        ("check_tracer_leaks checking_leaks debug_key_reuse enable_checks", _VALUES),
        ("debug_nans debug_infs", 'see "Debug a NaN" in the how-tos, which finds the line'),
        ("debug ensure_compile_time_eval", _VALUES),
        ("enable_x64 numpy_dtype_promotion numpy_rank_promotion", "dtypes are NumPy's. Leave it out"),
        ("default_prng_impl legacy_prng_key", "there is one kind of keys. Leave it out"),
        ("threefry_partitionable", "there is one kind of keys. Leave it out"),
        ("clear_caches", "Use fg.clear_cache: what is on disk"),
        ("named_call", "Use fg.named_scope, or the function's own name"),
        ("lax_numpy jnp", "Use numpy itself, or fg.numpy"),
        ("ops", "Use fg.segment_sum and its kin"),
        ("flatten_util", "Use fg.ravel_pytree"),
        ("experimental", "Use fg.scipy.integrate.odeint for its ode"),
        ("stages", "Use fg.jit(f).lower(x).compile()"),
        ("custom_derivatives custom_batching", "Use fg.custom_vjp, fg.custom_jvp and fg.checkpoint"),
        ("ad_checkpoint", "Use fg.custom_vjp, fg.custom_jvp and fg.checkpoint"),
        ("Ref empty_ref free_ref memory", "Use fg.new_ref and fg.freeze"),
        ("transfer_guard_device_to_device transfer_guard_device_to_host", _ONE_DEVICE),
        ("transfer_guard_host_to_device remove_size_one_mesh_axis_from_type", _ONE_DEVICE),
        ("allow_f16_reductions array_garbage_collection_guard auto_pcast", _SETTING),
        ("jax2tf_associative_scan_reductions make_user_context", _SETTING),
        ("softmax_custom_jvp thread_guard enable_custom_prng", _SETTING),
        ("ad", "Use fg.extend.Primitive, whose rules stand in one class"),
        ("ds", "Use fg.lax.dynamic_slice"),
        ("fwd_and_bwd", "Use fg.vjp, whose pullback can be returned out of fg.jit"),
        ("print_environment_info", "Use python -m funcgrad info"),
    ),
    "fg.lax": (
        ("all_gather all_to_all axis_index axis_size pbroadcast pcast pmax pmean", _NO_AXES),
        ("pmin ppermute precv psend pshuffle psum psum_scatter pswapaxes", _NO_AXES),
        ("ragged_all_to_all", _NO_AXES),
        ("with_sharding_constraint", _ONE_DEVICE),
        ("after_all create_token dce_sink stage", "what is not used is not computed. Leave it out"),
        ("rng_uniform rng_bit_generator", "Use fg.random.uniform and fg.random.bits, with keys"),
        ("RandomAlgorithm", "Use fg.random.uniform and fg.random.bits, with keys"),
        ("conv_general_permutations conv_general_shape_tuple conv_shape_tuple", _SHAPES),
        ("conv_transpose_shape_tuple padtype_to_pads reduce_window_shape_tuple", _SHAPES),
        ("shape_as_value", _SHAPES),
        ("conv_general_dilated_local", "Use conv_general_dilated_patches and dot_general"),
        ("ragged_dot_general RaggedDotDimensionNumbers", "Use fg.lax.ragged_dot"),
        ("scaled_dot", "it is for numbers of eight bits. Use fg.lax.dot_general"),
        ("composite", "it names functions for XLA. Call the function itself"),
        ("AccuracyMode Tolerance DotAlgorithm", "there is one precision. Leave it out"),
        ("DotAlgorithmPreset PrecisionLike", "there is one precision. Leave it out"),
        ("ConvGeneralDilatedDimensionNumbers", "Use fg.lax.ConvDimensionNumbers"),
        ("DotDimensionNumbers", "Use a tuple of pairs of axes"),
    ),
    "fg.lax.linalg": (
        ("qdwh", "Use fg.scipy.linalg.polar"),
        ("EigImplementation EighImplementation SvdAlgorithm", "there is LAPACK's. Leave it out"),
    ),
    "fg.nn": (
        (
            "get_scaled_dot_general_config scaled_dot_general",
            "it is for numbers of eight bits. Use fg.lax.dot_general",
        ),
        ("scaled_matmul", "it is for numbers of eight bits. Use fg.lax.dot_general"),
    ),
    "fg.random": (("random_gamma_p", "it is a primitive of JAX's. Use fg.random.gamma"),),
}
REMEDIES = {
    module: {name: text for names, text in rows for name in names.split()}
    for module, rows in _WRITTEN.items()
}


def missing(module: str, name: str, public: list[str]) -> AttributeError:
    """The error for a name that a module does not have.

    >>> print(missing("funcgrad.lax", "psum", []))
    fg.lax has no psum: axes have no names. Sum over the axis after fg.vmap, or use fg.distribute.
    >>> print(missing("funcgrad.lax", "tahn", ["tanh"]))
    module 'funcgrad.lax' has no attribute 'tahn'. Did you mean 'tanh'?
    """
    ours = module.replace("funcgrad", "fg", 1)
    reason = REMEDIES.get(ours, {}).get(name)
    if reason is None and name.endswith("_p") and ours.startswith("fg.lax"):
        reason = "it is a primitive of JAX's. fg.extend.Primitive makes one"
    if reason is not None:
        return AttributeError(f"{ours} has no {name}: {reason}.")
    hint = did_you_mean(name, public)
    return AttributeError(f"module {module!r} has no attribute {name!r}. {hint}".rstrip())
