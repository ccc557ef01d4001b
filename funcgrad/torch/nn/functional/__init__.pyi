"""The functions that layers apply, for editors and type checkers; a script writes it."""

from collections.abc import Callable
from typing import Any

from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.tensor import Tensor
from funcgrad.types import Anything, Array, AxisLike, DTypeLike, Padding, ShapeLike

__all__: list[str]

def adaptive_avg_pool1d(input: Operand, output_size: ShapeLike) -> Tensor: ...
def adaptive_avg_pool2d(input: Operand, output_size: ShapeLike) -> Tensor: ...
def adaptive_avg_pool3d(input: Operand, output_size: ShapeLike) -> Tensor: ...
def adaptive_max_pool1d(input: Operand, output_size: ShapeLike, return_indices: bool = False) -> Operands: ...
def adaptive_max_pool1d_with_indices(input: Operand, *args: Operand, **kwargs: Anything) -> Operands: ...
def adaptive_max_pool2d(input: Operand, output_size: ShapeLike, return_indices: bool = False) -> Operands: ...
def adaptive_max_pool2d_with_indices(input: Operand, *args: Operand, **kwargs: Anything) -> Operands: ...
def adaptive_max_pool3d(input: Operand, output_size: ShapeLike, return_indices: bool = False) -> Operands: ...
def adaptive_max_pool3d_with_indices(input: Operand, *args: Operand, **kwargs: Anything) -> Operands: ...
def affine_grid(theta: Operand, size: ShapeLike, align_corners: bool | None = None) -> Tensor: ...
def alpha_dropout(
    input: Operand, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor: ...
def avg_pool1d(
    input: Operand,
    kernel_size: ShapeLike,
    stride: ShapeLike = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor: ...
def avg_pool2d(
    input: Operand,
    kernel_size: ShapeLike,
    stride: ShapeLike = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def avg_pool3d(
    input: Operand,
    kernel_size: ShapeLike,
    stride: ShapeLike = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def batch_norm(
    input: Operand,
    running_mean: Operand | None,
    running_var: Operand | None,
    weight: Operand | None = None,
    bias: Operand | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Tensor: ...
def bilinear(input1: Operand, input2: Operand, weight: Operand, bias: Operand | None = None) -> Tensor: ...
def binary_cross_entropy(
    input: Operand,
    target: Operand,
    weight: Operand | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor: ...
def binary_cross_entropy_with_logits(
    input: Operand,
    target: Operand,
    weight: Operand | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Operand | None = None,
) -> Tensor: ...
def celu(input: Operand, alpha: float = 1.0, inplace: bool = False) -> Tensor: ...
def celu_(input: Operand, alpha: float = 1.0, inplace: bool = False) -> Tensor: ...
def channel_shuffle(input: Operand, groups: int) -> Tensor: ...
def conv1d(
    input: Operand,
    weight: Operand,
    bias: Operand | None = None,
    stride: ShapeLike = 1,
    padding: Padding = 0,
    dilation: ShapeLike = 1,
    groups: int = 1,
) -> Tensor: ...
def conv2d(
    input: Operand,
    weight: Operand,
    bias: Operand | None = None,
    stride: ShapeLike = 1,
    padding: Padding = 0,
    dilation: ShapeLike = 1,
    groups: int = 1,
) -> Tensor: ...
def conv3d(
    input: Operand,
    weight: Operand,
    bias: Operand | None = None,
    stride: ShapeLike = 1,
    padding: Padding = 0,
    dilation: ShapeLike = 1,
    groups: int = 1,
) -> Tensor: ...
def conv_transpose1d(
    input: Operand,
    weight: Operand,
    bias: Operand | None = None,
    stride: ShapeLike = 1,
    padding: Padding = 0,
    output_padding: ShapeLike = 0,
    groups: int = 1,
    dilation: ShapeLike = 1,
) -> Tensor: ...
def conv_transpose2d(
    input: Operand,
    weight: Operand,
    bias: Operand | None = None,
    stride: ShapeLike = 1,
    padding: Padding = 0,
    output_padding: ShapeLike = 0,
    groups: int = 1,
    dilation: ShapeLike = 1,
) -> Tensor: ...
def conv_transpose3d(
    input: Operand,
    weight: Operand,
    bias: Operand | None = None,
    stride: ShapeLike = 1,
    padding: Padding = 0,
    output_padding: ShapeLike = 0,
    groups: int = 1,
    dilation: ShapeLike = 1,
) -> Tensor: ...
def cosine_embedding_loss(
    input1: Operand,
    input2: Operand,
    target: Operand,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor: ...
def cosine_similarity(x1: Operand, x2: Operand, dim: int = 1, eps: float = 1e-08) -> Tensor: ...
def cross_entropy(
    input: Operand,
    target: Operand,
    weight: Operand | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor: ...
def ctc_loss(
    log_probs: Operand,
    targets: Operand,
    input_lengths: Operand,
    target_lengths: Operand,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor: ...
def dropout(input: Operand, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor: ...
def dropout1d(input: Operand, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor: ...
def dropout2d(input: Operand, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor: ...
def dropout3d(input: Operand, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor: ...
def elu(input: Operand, alpha: float = 1.0, inplace: bool = False) -> Tensor: ...
def elu_(input: Operand, alpha: float = 1.0, inplace: bool = False) -> Tensor: ...
def embedding(
    input: Operand,
    weight: Operand,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor: ...
def embedding_bag(
    input: Operand,
    weight: Operand,
    offsets: Operand = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Operand = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor: ...
def feature_alpha_dropout(
    input: Operand, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor: ...
def fold(
    input: Operand,
    output_size: ShapeLike,
    kernel_size: ShapeLike,
    dilation: ShapeLike = 1,
    padding: ShapeLike = 0,
    stride: ShapeLike = 1,
) -> Tensor: ...
def fractional_max_pool2d(
    input: Operand,
    kernel_size: ShapeLike,
    output_size: ShapeLike = None,
    output_ratio: ShapeLike = None,
    return_indices: bool = False,
    _random_samples: Array = None,
) -> Operands: ...
def fractional_max_pool2d_with_indices(input: Operand, *args: Operand, **kwargs: Anything) -> Operands: ...
def fractional_max_pool3d(
    input: Operand,
    kernel_size: ShapeLike,
    output_size: ShapeLike = None,
    output_ratio: ShapeLike = None,
    return_indices: bool = False,
    _random_samples: Array = None,
) -> Operands: ...
def fractional_max_pool3d_with_indices(input: Operand, *args: Operand, **kwargs: Anything) -> Operands: ...
def gaussian_nll_loss(
    input: Operand,
    target: Operand,
    var: Operand,
    full: bool = False,
    eps: float = 1e-06,
    reduction: str = "mean",
) -> Tensor: ...
def gelu(input: Operand, approximate: str = "none", *, out: Tensor | None = None) -> Tensor: ...
def glu(input: Operand, dim: int = -1) -> Tensor: ...
def grid_sample(
    input: Operand,
    grid: Operand,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor: ...
def group_norm(
    input: Operand, num_groups: int, weight: Operand = None, bias: Operand = None, eps: float = 1e-05
) -> Tensor: ...
def gumbel_softmax(
    logits: Operand, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor: ...
def hardshrink(input: Operand, lambd: float = 0.5, *, out: Tensor | None = None) -> Tensor: ...
def hardsigmoid(input: Operand, inplace: bool = False) -> Tensor: ...
def hardswish(input: Operand, inplace: bool = False) -> Tensor: ...
def hardtanh(
    input: Operand, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor: ...
def hardtanh_(
    input: Operand, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor: ...
def hinge_embedding_loss(
    input: Operand,
    target: Operand,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor: ...
def huber_loss(
    input: Operand,
    target: Operand,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Operand | None = None,
) -> Tensor: ...
def instance_norm(
    input: Operand,
    running_mean: Operand | None = None,
    running_var: Operand | None = None,
    weight: Operand | None = None,
    bias: Operand | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Tensor: ...
def interpolate(
    input: Operand,
    size: ShapeLike = None,
    scale_factor: ShapeLike = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor: ...
def kl_div(
    input: Operand,
    target: Operand,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor: ...
def l1_loss(
    input: Operand,
    target: Operand,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Operand | None = None,
) -> Tensor: ...
def layer_norm(
    input: Operand,
    normalized_shape: ShapeLike,
    weight: Operand = None,
    bias: Operand = None,
    eps: float = 1e-05,
) -> Tensor: ...
def leaky_relu(input: Operand, negative_slope: float = 0.01, inplace: bool = False) -> Tensor: ...
def leaky_relu_(input: Operand, negative_slope: float = 0.01, inplace: bool = False) -> Tensor: ...
def linear(
    input: Operand, weight: Operand, bias: Operand | None = None, *, out: Tensor | None = None
) -> Tensor: ...
def local_response_norm(
    input: Operand, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0
) -> Tensor: ...
def log_softmax(
    input: Operand, dim: int | None = None, _stacklevel: int = 3, dtype: DTypeLike = None
) -> Tensor: ...
def logsigmoid(input: Operand, *, out: Tensor | None = None) -> Tensor: ...
def lp_pool1d(
    input: Operand,
    norm_type: float,
    kernel_size: ShapeLike,
    stride: ShapeLike = None,
    ceil_mode: bool = False,
) -> Tensor: ...
def lp_pool2d(
    input: Operand,
    norm_type: float,
    kernel_size: ShapeLike,
    stride: ShapeLike = None,
    ceil_mode: bool = False,
) -> Tensor: ...
def lp_pool3d(
    input: Operand,
    norm_type: float,
    kernel_size: ShapeLike,
    stride: ShapeLike = None,
    ceil_mode: bool = False,
) -> Tensor: ...
def margin_ranking_loss(
    input1: Operand,
    input2: Operand,
    target: Operand,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor: ...
def max_pool1d(
    input: Operand,
    kernel_size: ShapeLike,
    stride: ShapeLike = None,
    padding: Padding = 0,
    dilation: ShapeLike = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Operands: ...
def max_pool1d_with_indices(input: Operand, *args: Operand, **kwargs: Anything) -> Operands: ...
def max_pool2d(
    input: Operand,
    kernel_size: ShapeLike,
    stride: ShapeLike = None,
    padding: Padding = 0,
    dilation: ShapeLike = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Operands: ...
def max_pool2d_with_indices(input: Operand, *args: Operand, **kwargs: Anything) -> Operands: ...
def max_pool3d(
    input: Operand,
    kernel_size: ShapeLike,
    stride: ShapeLike = None,
    padding: Padding = 0,
    dilation: ShapeLike = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Operands: ...
def max_pool3d_with_indices(input: Operand, *args: Operand, **kwargs: Anything) -> Operands: ...
def max_unpool1d(
    input: Operand,
    indices: Operand,
    kernel_size: ShapeLike,
    stride: ShapeLike = None,
    padding: Padding = 0,
    output_size: ShapeLike = None,
) -> Tensor: ...
def max_unpool2d(
    input: Operand,
    indices: Operand,
    kernel_size: ShapeLike,
    stride: ShapeLike = None,
    padding: Padding = 0,
    output_size: ShapeLike = None,
) -> Tensor: ...
def max_unpool3d(
    input: Operand,
    indices: Operand,
    kernel_size: ShapeLike,
    stride: ShapeLike = None,
    padding: Padding = 0,
    output_size: ShapeLike = None,
) -> Tensor: ...
def mish(input: Operand, inplace: bool = False) -> Tensor: ...
def mse_loss(
    input: Operand,
    target: Operand,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Operand | None = None,
) -> Tensor: ...
def multi_head_attention_forward(
    query: Operand,
    key: Operand,
    value: Operand,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Operand,
    in_proj_bias: Operand,
    bias_k: Operand,
    bias_v: Operand,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Operand,
    out_proj_bias: Operand,
    training: bool = True,
    key_padding_mask: Operand = None,
    need_weights: bool = True,
    attn_mask: Operand = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Operand = None,
    k_proj_weight: Operand = None,
    v_proj_weight: Operand = None,
    static_k: Operand = None,
    static_v: Operand = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> Operands: ...
def multi_margin_loss(
    input: Operand,
    target: Operand,
    p: int = 1,
    margin: float = 1.0,
    weight: Operand | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor: ...
def multilabel_margin_loss(
    input: Operand,
    target: Operand,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor: ...
def multilabel_soft_margin_loss(
    input: Operand,
    target: Operand,
    weight: Operand | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor: ...
def nll_loss(
    input: Operand,
    target: Operand,
    weight: Operand | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor: ...
def normalize(
    input: Operand, p: float = 2.0, dim: AxisLike = 1, eps: float = 1e-12, out: Operand = None
) -> Tensor: ...
def one_hot(tensor: Operand, num_classes: int = -1) -> Tensor: ...
def pad(input: Operand, pad: ShapeLike, mode: str = "constant", value: float | None = None) -> Tensor: ...
def pairwise_distance(
    x1: Operand, x2: Operand, p: float = 2.0, eps: float = 1e-06, keepdim: bool = False
) -> Tensor: ...
def pdist(input: Operand, p: float = 2.0) -> Tensor: ...
def pixel_shuffle(input: Operand, upscale_factor: int) -> Tensor: ...
def pixel_unshuffle(input: Operand, downscale_factor: int) -> Tensor: ...
def poisson_nll_loss(
    input: Operand,
    target: Operand,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-08,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor: ...
def prelu(input: Operand, weight: Operand) -> Tensor: ...
def relu(input: Operand, inplace: bool = False) -> Tensor: ...
def relu6(input: Operand, inplace: bool = False) -> Tensor: ...
def relu_(input: Operand, inplace: bool = False) -> Tensor: ...
def rms_norm(
    input: Operand, normalized_shape: ShapeLike, weight: Operand = None, eps: float | None = None
) -> Tensor: ...
def rrelu(
    input: Operand,
    lower: float = 0.125,
    upper: float = 0.3333333333333333,
    training: bool = False,
    inplace: bool = False,
) -> Tensor: ...
def rrelu_(
    input: Operand,
    lower: float = 0.125,
    upper: float = 0.3333333333333333,
    training: bool = False,
    inplace: bool = False,
) -> Tensor: ...
def scaled_dot_product_attention(
    query: Operand,
    key: Operand,
    value: Operand,
    attn_mask: Operand | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor: ...
def selu(input: Operand, inplace: bool = False) -> Tensor: ...
def selu_(input: Operand, inplace: bool = False) -> Tensor: ...
def sigmoid(input: Operand) -> Tensor: ...
def silu(input: Operand, inplace: bool = False) -> Tensor: ...
def smooth_l1_loss(
    input: Operand,
    target: Operand,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor: ...
def soft_margin_loss(
    input: Operand,
    target: Operand,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor: ...
def softmax(
    input: Operand, dim: int | None = None, _stacklevel: int = 3, dtype: DTypeLike = None
) -> Tensor: ...
def softmin(
    input: Operand, dim: int | None = None, _stacklevel: int = 3, dtype: DTypeLike = None
) -> Tensor: ...
def softplus(
    input: Operand, beta: float = 1, threshold: float = 20, *, out: Tensor | None = None
) -> Tensor: ...
def softshrink(input: Operand, lambd: float = 0.5, *, out: Tensor | None = None) -> Tensor: ...
def softsign(input: Operand) -> Tensor: ...
def tanh(input: Operand) -> Tensor: ...
def tanhshrink(input: Operand) -> Tensor: ...
def threshold(input: Operand, threshold: float, value: float, inplace: bool = False) -> Tensor: ...
def threshold_(input: Operand, threshold: float, value: float, inplace: bool = False) -> Tensor: ...
def triplet_margin_loss(
    anchor: Operand,
    positive: Operand,
    negative: Operand,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-06,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor: ...
def triplet_margin_with_distance_loss(
    anchor: Operand,
    positive: Operand,
    negative: Operand,
    *,
    distance_function: Callable[..., Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor: ...
def unfold(
    input: Operand,
    kernel_size: ShapeLike,
    dilation: ShapeLike = 1,
    padding: ShapeLike = 0,
    stride: ShapeLike = 1,
) -> Tensor: ...
def upsample(
    input: Operand,
    size: ShapeLike = None,
    scale_factor: ShapeLike = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor: ...
def upsample_bilinear(input: Operand, size: ShapeLike = None, scale_factor: ShapeLike = None) -> Tensor: ...
def upsample_nearest(input: Operand, size: ShapeLike = None, scale_factor: ShapeLike = None) -> Tensor: ...
