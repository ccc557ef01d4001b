"""Functions of layers on tensors of dtypes that PyTorch has them not for, and in half precision."""

HEAD = """
F = torch.nn.functional
x = torch.tensor([[1.5, -2.25, 0.5, 3.0], [0.25, -0.125, 2.0, -1.0]]).to(torch.{dtype})
p = (x.abs() if x.dtype != torch.bool else x)
i = torch.tensor([1, 0])
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
"""
BY_HALVES = ("F.softmax(x, 0)", "F.instance_norm", "F.scaled_dot_product_attention")
"""What PyTorch computes in half precision where single is taken here: other last digits."""
DTYPES = ("int64", "uint8", "bool", "complex64", "float16")


def cases():
    """``(name, code)`` of every expression in every dtype."""
    for line in EXPRESSIONS.strip().split("\n"):
        for code in line.split(" | "):
            for dtype in DTYPES[:-1] if code.startswith(BY_HALVES) else DTYPES:
                yield f"{code} of {dtype}", HEAD.format(dtype=dtype) + code
