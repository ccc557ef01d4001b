"""Functions of layers on tensors of dtypes that PyTorch has them not for, and in half precision."""

HEAD = """
F = torch.nn.functional
x = torch.tensor([[1.5, -2.25, 0.5, 3.0], [0.25, -0.125, 2.0, -1.0]]).to(torch.{dtype})
p = (x.abs() if x.dtype != torch.bool else x)
i = torch.tensor([1, 0]); f = torch.ones(2, 4); o = torch.ones(4).to(torch.{dtype})
"""
EXPRESSIONS = """
F.elu(x) | F.selu(x) | F.celu(x) | F.leaky_relu(x) | F.gelu(x) | F.silu(x) | F.mish(x) | F.softplus(x)
F.softshrink(x) | F.hardshrink(x) | F.hardsigmoid(x) | F.hardswish(x) | F.logsigmoid(x)
F.softmax(x, -1) | F.softmax(x, 0) | F.log_softmax(x, 0) | F.softmin(x, 1) | F.glu(x)
F.prelu(x, torch.ones(1).to(x.dtype)) | F.layer_norm(x, (4,)) | F.group_norm(x[None], 1)
F.batch_norm(x, None, None, training=True) | F.instance_norm(x[None]) | F.rms_norm(x, (4,))
F.mse_loss(x, p) | F.smooth_l1_loss(x, p) | F.huber_loss(x, p) | F.mse_loss(x, p.float())
F.nll_loss(x, i) | F.cross_entropy(x, i) | F.multi_margin_loss(x.float().to(x.dtype), i)
F.cosine_similarity(x, p) | F.kl_div(x, p, reduction="sum") | F.gaussian_nll_loss(x, p, p)
F.max_pool1d(x[None], 2) | F.avg_pool1d(x[None], 2) | F.adaptive_avg_pool1d(x[None], 2)
F.adaptive_max_pool1d(x[None], 2) | F.max_pool2d(x[None], 2) | F.avg_pool2d(x[None], 2)
F.avg_pool3d(x[None, None], 1) | F.interpolate(x[None], scale_factor=2)
F.interpolate(x[None], scale_factor=2, mode="linear") | F.threshold(x, 1, 0) | F.relu6(x) | F.relu(x)
F.dropout(x, 0.0) | F.dropout(x, 0.5, False) | torch.selu(x) | torch.softmax(x, 1)
torch.layer_norm(x, (4,)) | torch.nn.GELU("tanh")(x) | torch.median(x)
F.scaled_dot_product_attention(x[None], x[None], x[None])
F.linear(x, torch.ones(3, 4).to(x.dtype)) | F.linear(x, torch.ones(3, 4))
F.conv1d(x[None], torch.ones(1, 2, 2)) | F.conv1d(x[None], torch.ones(1, 2, 2).to(x.dtype))
F.conv_transpose1d(x[None], torch.ones(2, 1, 2).to(x.dtype))
F.conv1d(x[None], torch.ones(1, 2, 2), torch.ones(1)) | F.fold(x[None], (2, 3), (1, 2)) | F.prelu(f, o[:1])
F.max_unpool1d(x[None, :, :2], torch.tensor([[[0, 2], [1, 3]]]), 2) | F.threshold_(x, 1, 0) | F.hardtanh(x)
F.embedding(x, f) | F.embedding(i, x, max_norm=1.0) | F.embedding_bag(i[None], x) | F.layer_norm(f, (4,), o)
F.batch_norm(f, o, o) | F.group_norm(f[None], 1, o[:2]) | F.binary_cross_entropy(f / 9, x)
F.huber_loss(f, p) | F.binary_cross_entropy_with_logits(f, x) | F.binary_cross_entropy(f / 9, f / 9, o)
F.kl_div(f, p, reduction="sum") | F.cross_entropy(x, p) | F.cross_entropy(f, i, o)
F.gaussian_nll_loss(f, f, p) | F.gaussian_nll_loss(p, f, f) | F.margin_ranking_loss(x, p, x)
F.hinge_embedding_loss(x, p) | F.soft_margin_loss(f, x) | F.soft_margin_loss(x, f)
F.multi_margin_loss(f, p[:, 2]) | F.multilabel_margin_loss(f, x) | F.cosine_similarity(x, f)
F.cosine_similarity(f, x) | F.lp_pool1d(x[None], 2.0, 2) | F.local_response_norm(x[None], 2)
F.grid_sample(x[None, None], f[None, :, :2][:, None], align_corners=False)
F.scaled_dot_product_attention(f[None], f[None], f[None], attn_mask=torch.ones(2, 2).to(x.dtype))
"""
BY_HALVES = (
    "F.softmax(x, 0)",
    "F.instance_norm",
    "F.scaled_dot_product_attention(x",
    "F.cosine_similarity(x, f)",
    "F.cosine_similarity(f, x)",
)
"""What PyTorch computes in half precision where single is taken here: other last digits."""
NOT_COMPLEX = ("F.binary_cross_entropy_with_logits(f", "F.multilabel_margin_loss(f", "F.huber_loss(f")
"""What has other reasons for refusing complex numbers here, or none."""
DTYPES = ("int64", "uint8", "bool", "complex64", "float16")


def cases():
    """``(name, code)`` of every expression in every dtype."""
    for line in EXPRESSIONS.strip().split("\n"):
        for code in line.split(" | "):
            left = ["float16"] * code.startswith(BY_HALVES) + ["complex64"] * code.startswith(NOT_COMPLEX)
            for dtype in [d for d in DTYPES if d not in left]:
                yield f"{code} of {dtype}", HEAD.format(dtype=dtype) + code
