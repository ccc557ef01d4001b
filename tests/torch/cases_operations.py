# ruff: noqa: E501 - a table with a line for each family
"""Operations, each on the same few tensors: values, dtypes, gradients, names of nodes, and errors."""

PRELUDE = """\
x = torch.tensor([[0.5, -1.5, 2.0], [3.0, 0.25, -0.75]], requires_grad=True)
y = torch.tensor([[1.5, 0.5, -2.0], [0.75, 2.5, 1.25]], requires_grad=True)
p = torch.tensor([[0.5, 1.5, 2.0], [3.0, 0.25, 0.75]], requires_grad=True)
u = torch.tensor([0.1, -0.4, 0.8], requires_grad=True)
v = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
s = torch.tensor(1.5, requires_grad=True)
i = torch.tensor([[1, 2, 3], [4, 5, 6]])
k = torch.tensor([2, 0])
b = torch.tensor([[True, False, True], [False, False, True]])
z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
m = torch.tensor([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]], requires_grad=True)
c = torch.arange(24.0).reshape(2, 3, 4)
def weighted(t):
    t = t.resolve_conj()
    if t.is_complex():
        t = torch.view_as_real(t)
    w = torch.arange(1.0, t.numel() + 1).reshape(t.shape).to(t.dtype)
    return (t * w).sum()
"""

DIFFERENTIABLE = """
x + y | x - y | x * y | x / y | 2 - x | 2 / p | x / 2 | x ** 2 | x ** 3.0 | p ** 0.5 | p ** y | 2 ** x | x % 2 | -x | +x | abs(x)
x.add(y, alpha=2) | x.sub(y, alpha=0.5) | torch.rsub(x, y) | x.mul(3) | x.div(y, rounding_mode='floor') | x.div(2, rounding_mode='trunc')
torch.add(x, 1) | torch.mul(x, s) | s * x | x * v | v + x | x + 1.5 | torch.true_divide(x, y)
x.exp() | p.log() | p.sqrt() | p.rsqrt() | x.sin() | x.cos() | x.tan() | u.asin() | u.acos() | x.atan() | x.sinh() | x.cosh() | x.tanh()
x.asinh() | (p + 1).acosh() | u.atanh() | x.sigmoid() | x.erf() | x.erfc() | u.erfinv() | p.lgamma() | p.digamma() | x.expm1() | p.log1p()
p.log2() | p.log10() | x.exp2() | x.square() | p.reciprocal() | x.floor() | x.ceil() | x.trunc() | x.round() | x.frac() | x.sign() | x.abs() | x.relu()
x.clamp(-1, 1) | x.clamp(min=0) | x.clamp(max=0.5) | x.clamp_min(0) | x.clamp_max(0) | torch.clip(x, -1, 1) | x.clamp(min=y) | x.clamp(y, y + 1)
torch.maximum(x, y) | torch.minimum(x, y) | torch.fmax(x, y) | torch.atan2(x, y) | torch.hypot(x, y) | torch.logaddexp(x, y) | torch.logaddexp2(x, y)
torch.fmod(x, y) | torch.remainder(x, y) | torch.copysign(x, y) | torch.xlogy(p, p) | x.lerp(y, 0.3) | x.lerp(y, 0.7) | x.lerp(y, p) | x.deg2rad() | x.rad2deg()
torch.nan_to_num(x) | x.logit(0.1) | torch.sinc(x) | torch.polygamma(1, p) | torch.special.expit(x) | torch.special.entr(p) | torch.special.ndtr(x)
torch.special.xlog1py(x, p) | torch.special.i0(x) | torch.special.i0e(x) | torch.special.i1(x) | torch.special.erfcx(x) | torch.special.log_ndtr(x)
x.sum() | x.sum(0) | x.sum(1, keepdim=True) | x.sum((0, 1)) | x.sum(dim=-1) | x.mean() | x.mean(1) | x.mean((0, 1), keepdim=True) | x.prod() | p.prod(1)
x.max() | x.min() | x.max(1).values | x.max(1, keepdim=True)[0] | x.min(0)[0] | x.amax() | x.amax(1) | x.amin((0, 1)) | x.var() | x.var(1) | x.var(0, unbiased=False)
x.std() | x.std(1, keepdim=True) | x.std(correction=0) | torch.var(x, dim=1, correction=0) | x.norm() | x.norm(1) | x.norm(p=2, dim=1) | x.norm(float('inf'), dim=0) | x.norm(3, 1, keepdim=True)
x.logsumexp(1) | x.logsumexp((0, 1), keepdim=True) | x.cumsum(1) | p.cumprod(1) | x.cummax(1).values | x.cummin(0)[0] | x.logcumsumexp(1) | x.median() | x.median(1).values
x.sort().values | x.sort(0, descending=True)[0] | x.topk(2).values | x.topk(2, dim=1, largest=False)[0] | x.kthvalue(2)[0] | x.nansum() | x.nanmean() | x.quantile(0.3) | x.quantile(0.5, dim=1)
x.softmax(1) | x.log_softmax(0) | torch.softmax(x, -1) | x.dist(y) | torch.std_mean(x)[0] | torch.var_mean(x, 1)[1] | x.diff() | x.diff(dim=0) | x.aminmax().max | x.mode()[0] | torch.nanmedian(x)
x @ x.T | x @ v | v @ v | x.T @ y | x.mm(y.T) | x.mv(v) | v.dot(u) | torch.outer(u, v) | torch.ger(u, v) | v.inner(u) | torch.vdot(u, v) | x[None].bmm(y.T[None]) | x[None] @ y.T | torch.kron(x, y)
torch.addmm(m, x.T, y) | torch.addmm(m, x.T, y, beta=0.5, alpha=2) | torch.addmv(u, m, v) | torch.baddbmm(m[None], x.T[None], y[None]) | torch.addr(m, u, v) | torch.addcmul(x, y, p, value=2) | torch.addcdiv(x, y, p) | torch.addbmm(m, x.T[None], y[None])
torch.einsum('ij,kj->ik', x, y) | torch.einsum('ij->j', x) | torch.einsum('ij,j', x, v) | torch.einsum('ii->i', m) | torch.einsum('ii', m) | torch.tensordot(x, y, 2) | torch.tensordot(x, y, ([1], [1])) | torch.cross(u, v, dim=0) | m.trace() | torch.chain_matmul(m, m) | m.matrix_power(3)
x.view(3, 2) | x.view(-1) | x.reshape(6) | x.reshape(3, -1) | x.T.reshape(6) | x.flatten() | x.ravel() | x.unflatten(1, (3, 1)) | x.t() | x.T | x.mT | x.transpose(0, 1) | x.permute(1, 0) | x.movedim(0, 1) | x.swapaxes(0, 1) | x.squeeze() | x[None].squeeze(0) | x.unsqueeze(1)
x.unsqueeze(-1) | v.expand(2, 3) | v.expand(2, -1) | v.expand_as(x) | torch.broadcast_to(v, (2, 3)) | x.repeat(2, 1) | x.tile(2) | x.tile((2, 1, 1)) | x.repeat_interleave(2) | x.repeat_interleave(2, dim=1) | x.flip(0) | x.flip((0, 1)) | x.fliplr() | x.roll(1) | x.roll(1, 0) | x.roll((1, 2), (0, 1)) | x.rot90() | x.rot90(2)
x.tril() | x.triu(1) | m.diag() | v.diag() | v.diag(1) | m.diagonal() | m.diagonal(1) | v.diag_embed() | v.diagflat() | torch.block_diag(x, v) | x.narrow(1, 0, 2) | x.select(1, 1) | x.unfold(1, 2, 1) | x.split(2, 1)[1] | x.chunk(2, 1)[0] | x.unbind(1)[2] | x.tensor_split(2, 1)[0] | torch.hsplit(x, 3)[1] | x.as_strided((2, 2), (1, 2))
x[0] | x[1, 2] | x[:, 1] | x[..., 0] | x[0:1] | x[:, ::2] | x[None] | x[:, None] | x[[1, 0]] | x[k.clamp(max=1)] | x[:, [0, 2]] | x[[0, 1], [1, 2]] | x[b] | x[b[:, 0]] | x[:, b[0]] | x[-1] | x[-1, -2] | x[1:, 1:] | x[torch.tensor(1)] | x[0, [2, 1]] | x[...] | x[()] | x[0][1] | x[[[0], [1]], [0, 1]] | x[:, k] | x[True] | m[k, :][:, k]
torch.cat([x, y]) | torch.cat([x, y], 1) | torch.cat((x, v[None])) | torch.stack([x, y]) | torch.stack([u, v], 1) | torch.hstack([x, y]) | torch.vstack([x, v]) | torch.dstack([x, y]) | torch.column_stack([u, v]) | torch.concat([x, y], dim=-1) | torch.atleast_2d(v) | torch.atleast_3d(v) | torch.meshgrid(u, v, indexing='ij')[0] | torch.meshgrid(u, v, indexing='xy')[1] | torch.cartesian_prod(u, v)
torch.where(x > 0, x, y) | torch.where(b, x, 0.0) | x.where(b, y) | x.masked_fill(b, 9.0) | x.masked_select(b) | x.masked_scatter(b, y) | x.gather(1, torch.tensor([[0, 2], [1, 1]])) | x.index_select(1, k) | x.take(torch.tensor([0, 4, 4])) | x.take_along_dim(torch.tensor([[0], [2]]), 1)
x.scatter(1, torch.tensor([[0, 2], [1, 0]]), y) | x.scatter(1, torch.tensor([[0], [1]]), 5.0) | x.scatter_add(1, torch.tensor([[0, 0], [1, 1]]), y) | x.index_add(1, k, y[:, :2]) | x.index_copy(1, k, y[:, :2]) | x.index_fill(1, k, 7.0) | x.index_put((torch.tensor([0, 1]), torch.tensor([1, 2])), v[:2]) | x.index_put((torch.tensor([0, 0]), torch.tensor([1, 1])), v[:2], accumulate=True)
torch.linalg.solve(m, v) | torch.linalg.inv(m) | torch.linalg.det(m) | torch.linalg.slogdet(m)[1] | torch.linalg.cholesky(m) | torch.linalg.eigvalsh(m) | torch.linalg.svdvals(m) | torch.linalg.norm(x) | torch.linalg.vector_norm(x, 3) | torch.linalg.matrix_norm(x) | torch.linalg.matrix_norm(x, 'nuc') | torch.linalg.matrix_exp(m * 0.1) | torch.linalg.multi_dot([x, m, v]) | torch.linalg.cross(u, v) | torch.linalg.qr(m)[1].abs() | torch.linalg.eigh(m)[0] | torch.linalg.vecdot(u, v) | torch.inverse(m) | torch.det(m) | torch.logdet(m) | torch.linalg.pinv(x) | torch.cholesky(m) | torch.linalg.matrix_power(m, 2) | torch.linalg.diagonal(m) | torch.linalg.norm(x, 1) | torch.linalg.norm(m, 2) | torch.cdist(x, y)
torch.fft.fft(u).abs() | torch.fft.rfft(u).real | torch.fft.irfft(torch.fft.rfft(u), n=3) | torch.fft.fft2(x).real | torch.fft.ifft(z).real | torch.fft.fftshift(u)
z.abs() | z.real | z.imag | (z * z.conj()).real | z.angle() | (z ** 2).real | z.exp().imag | torch.view_as_real(z) | (z / (1 + 1j)).real | torch.complex(u, v).abs() | torch.polar(p, x).real | z.sum().real | (z @ z).imag | z.sqrt().real | z.conj() | z * 2
x.clone() | x.double() | x.to(torch.float64) | x.half() | x.contiguous() | x.T.contiguous() | x.float() | x.type(torch.float64) | x.to(y) | x.view_as(y) | x.reshape_as(y) | x.type_as(y)
torch.cosine_similarity(x, y) | torch.trapezoid(x) | torch.cumulative_trapezoid(x) | torch.renorm(x, 2, 0, 1.0) | torch.addcmul(x, v, v) | torch.heaviside(x.detach(), y.detach()) | x.sgn() | torch.float_power(p, 2) | torch.mean(x, dim=0) | torch.prod(x, 1, keepdim=True) | torch.square(x) | torch.pow(x, 2) | torch.pow(2, x) | torch.sigmoid(x) | torch.cumsum(x, dim=0)
"""

PLAIN = """
x > y | x >= 0 | x == x | x != y | i > 2 | i == 3.0 | x.eq(y) | torch.lt(x, 0) | x.isnan() | x.isfinite() | torch.isinf(x / 0) | x.signbit() | b & b | b | ~b | ~b | b ^ b | i & 3 | i | 8 | i << 1 | i >> 1 | ~i
x.argmax() | x.argmax(1) | x.argmin(0, keepdim=True) | x.argsort() | x.argsort(0, descending=True) | x.max(1).indices | x.sort().indices | x.topk(2).indices | x.median(1).indices | x.cummax(1).indices | x.mode().indices | x.kthvalue(1).indices | x.max(1) | x.sort()
b.any() | b.all() | b.any(1) | b.all(0, keepdim=True) | b.sum() | i.sum() | i.prod() | i.float().mean() | i.cumsum(1) | i.max() | i.min(1) | b.logical_not() | b.logical_and(i) | torch.logical_xor(b, i) | x.count_nonzero() | i.count_nonzero(1) | torch.isclose(x, x) | torch.allclose(x, y) | torch.equal(x, x) | x.nonzero() | b.nonzero(as_tuple=True) | torch.argwhere(b) | torch.isin(i, torch.tensor([2, 5]))
i / 2 | i // 2 | i % 2 | i ** 2 | -i | i * 1.5 | i + 1 | i + True | b + b | b * b | b + 1 | b + 1.0 | b * 2.5 | i.float() | i.bool() | i.to(torch.int8) + 100 | i.to(torch.uint8) - 5 | i / i | i.true_divide(2) | i.floor_divide(2) | i.div(2, rounding_mode='trunc') | (-i) // 4 | (-i) % 4 | (-i).fmod(4) | 7 // i | 7 % i | 7 / i | 2 ** i | i.abs() | i.sign() | i.clamp(2, 4) | i.clamp(max=3.5) | i.exp() | i.sqrt() | i.sin() | i.sigmoid() | torch.maximum(i, x) | torch.where(b, i, 0) | torch.where(b, 1.0, 2.0) | torch.where(b, x.detach(), i)
torch.arange(5) | torch.arange(1, 2, 0.25) | torch.arange(5.0) | torch.arange(5, 0, -2) | torch.linspace(-1, 1, 4) | torch.linspace(0, 10, 3, dtype=torch.int64) | torch.logspace(0, 2, 3) | torch.eye(2) | torch.eye(2, 3) | torch.zeros(2, 3) | torch.zeros((2, 3)) | torch.ones(2, dtype=torch.int32) | torch.full((2, 2), 7) | torch.full((2,), 1.5) | torch.full((1,), True) | torch.zeros_like(i) | torch.ones_like(x) | torch.full_like(x, 3) | x.new_zeros(2) | x.new_ones((2, 2), dtype=torch.int64) | x.new_full((2,), 3) | i.new_tensor([1.7]) | torch.empty(0) | torch.zeros(2, 0) | torch.tril_indices(3, 3) | torch.triu_indices(2, 3, 1)
torch.tensor([]) | torch.tensor(3) | torch.tensor(True) | torch.tensor([1, 2.5]) | torch.tensor([True, 2]) | torch.tensor([[1, 2], [3, 4]], dtype=torch.float64) | torch.tensor(1 + 2j) | torch.tensor([1.5, 2], dtype=torch.int32) | torch.tensor([torch.tensor(1.0), torch.tensor(2.0)]) | torch.tensor([[]]) | torch.tensor((1, 2)) | torch.tensor([float('nan'), float('inf')]) | torch.tensor(np.arange(3)) | torch.tensor([np.float32(1.5)]) | torch.tensor(range(3)) | torch.tensor([1, 2, 3], dtype=torch.bool) | torch.as_tensor([1, 2]) | torch.asarray([1.0]) | torch.Tensor([1, 2]) | torch.Tensor(2, 2).shape | torch.from_numpy(np.ones(2, np.float32)) | torch.FloatTensor([1, 2]) | torch.LongTensor([1, 2]) | torch.scalar_tensor(2.5) | torch.BoolTensor([True])
x.shape | x.size() | x.size(0) | x.size(-1) | x.dim() | x.ndim | x.numel() | x.stride() | x.T.stride() | x.is_contiguous() | x.T.is_contiguous() | x.element_size() | x.nbytes | x.itemsize | x.storage_offset() | x[1].storage_offset() | x.is_leaf | (x * 2).is_leaf | x.requires_grad | x.dtype | x.type() | i.type() | b.type() | x.is_floating_point() | i.is_floating_point() | z.is_complex() | len(x) | x.tolist() | s.item() | str(x.device) | x.layout | x.is_sparse | x.is_cuda | x.get_device() | x.is_signed() | torch.is_tensor(x) | torch.numel(x) | x.nelement() | x.data.requires_grad | x.detach().requires_grad | x._version | x.names
torch.result_type(i, 1.0) | torch.promote_types(torch.int32, torch.float16) | torch.can_cast(torch.float32, torch.int32) | torch.get_default_dtype() | torch.finfo(torch.float32).eps | torch.iinfo(torch.int8).max | torch.float32.is_floating_point | torch.int64.itemsize | torch.float32.to_complex() | torch.complex64.to_real() | torch.is_floating_point(x) | torch.float == torch.float32 | torch.uint8.is_signed
i.unique() | torch.unique(torch.tensor([3, 1, 3]), return_counts=True) | torch.unique(torch.tensor([3, 1, 3]), return_inverse=True) | torch.unique_consecutive(torch.tensor([1, 1, 2, 1])) | torch.searchsorted(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0.5, 2.0])) | torch.bucketize(torch.tensor([2.0]), torch.tensor([1.0, 2.0]), right=True) | torch.bincount(torch.tensor([0, 1, 1])) | torch.histc(torch.tensor([1.0, 2.0, 1.0]), bins=2, min=0, max=3) | torch.topk(torch.tensor([1, 3, 2]), 2) | torch.gcd(torch.tensor(12), torch.tensor(18)) | torch.broadcast_shapes((2, 1), (3,)) | torch.combinations(torch.tensor([1, 2, 3])) | torch.isreal(z) | torch.heaviside(torch.tensor([-1.0, 0.0]), torch.tensor([0.5])) | torch.nextafter(torch.tensor(1.0), torch.tensor(2.0)) | torch.bitwise_not(i) | torch.is_nonzero(torch.tensor(1)) | torch.corrcoef(x.detach()) | torch.cov(x.detach()) | torch.vander(torch.tensor([1, 2, 3])) | torch.numel(i) | torch.square(i) | torch.ldexp(u.detach(), torch.tensor([1, 2, 3])) | torch.frexp(u.detach())[1] | torch.isposinf(x / 0) | torch.nanquantile(x.detach(), 0.5) | torch.count_nonzero(b)
bool(torch.tensor(1)) | int(torch.tensor(2.7)) | float(torch.tensor(3)) | list(torch.tensor([1, 2])) | f"{torch.tensor(1.5):.3f}" | [1, 2, 3][torch.tensor(1)] | 2 in i | i in i | torch.tensor(2).__index__() | complex(torch.tensor(1j)) | round(torch.tensor(2.567).item(), 1) | torch.tensor([1, 2]) == "a" | torch.tensor([1]) != None | i.tolist() | np.array(i) | np.asarray(i.float()).dtype | i.numpy() | torch.tensor(5).numpy() | hash(x) == hash(x) | reversed(torch.tensor([1, 2, 3])) | divmod(7, 2)
"""

ERRORS = """
x + torch.ones(4) | x @ x | x.view(5) | x.view(-1, -1) | x.view(4, -1) | x.reshape(7) | x.T.view(6) | x[5] | x[0, 0, 0] | x[0, 5] | x[torch.tensor([5])] | x[torch.tensor([0.5])] | x['a'] | s[0] | x.sum(5) | x.sum((0, 0)) | x.transpose(0, 5) | x.permute(0, 0) | x.permute(0) | x.unsqueeze(5) | x.squeeze(5) | x.expand(3, 3) | x.expand(2) | x.expand(-1, 2, 3)
torch.cat([x, v]) | torch.cat([x, torch.ones(3, 2)]) | torch.cat([]) | torch.stack([x, v]) | torch.stack([]) | x.split(0) | x.split([1, 2]) | x.chunk(0) | x.narrow(0, 0, 5) | x.select(0, 5) | x.gather(1, torch.tensor([0])) | x.gather(1, torch.tensor([[9]])) | x.index_select(0, torch.tensor([7])) | x.index_select(0, torch.tensor([[0]])) | x.scatter(1, torch.tensor([[0.5]]), 1.0) | x.masked_fill(i, 1.0) | x.masked_select(i) | torch.where(i, x, y) | x.topk(9) | x.kthvalue(9) | x.unfold(0, 5, 1) | x.take(torch.tensor([99])) | x.diag_embed(0, 0, 0)
x.mm(y) | x.mm(v) | x.bmm(y) | x.mv(u[:2]) | v.dot(x) | v.dot(u[:2]) | torch.outer(x, v) | torch.tensordot(x, y, 1) | torch.einsum('ij,jk', x, y) | torch.einsum('ij', x, y) | torch.cross(x, x[:, :2], dim=1) | torch.addmm(m, x, y) | x @ s | i @ x.T | torch.linalg.inv(x) | torch.linalg.inv(torch.zeros(2, 2)) | torch.linalg.cholesky(-m) | torch.linalg.solve(x, v) | torch.linalg.det(v) | x.trace() | v.trace() | x.t().t().view(2, 3)[None].t()
x.item() | bool(x) | int(x) | float(x) | len(s) | iter(s) | x.numpy() | torch.tensor('a') | torch.tensor([1, 'a']) | torch.tensor([[1], [1, 2]]) | torch.tensor(None) | torch.tensor([None]) | torch.tensor({}) | torch.tensor([1], requires_grad=True) | torch.ones(2, dtype=torch.int64, requires_grad=True) | torch.zeros(-1) | torch.arange(0, 1, 0) | torch.arange(1, 0) | torch.linspace(0, 1, -1) | torch.from_numpy([1]) | torch.from_numpy(np.array(['a'])) | torch.full((2,), 'a') | i.requires_grad_() | b - b | -b | b.mean() | i.mean() | i.std() | x & y | ~x | i ** -1 | x.add(1, 2) | i.add(1, alpha=1.5) | torch.tensor(1).softmax(0)
x.max(5) | torch.tensor([]).max() | torch.zeros(2, 0).max(1) | torch.tensor([]).argmax() | torch.zeros(0, 3).amax(0) | x.quantile(2.0) | x.div(2, rounding_mode='up') | x.clamp() | torch.complex(x, i) | x.imag | torch.view_as_real(x) | x.lerp(y.double(), 0.5) | x.fill_diagonal_(1) | x.requires_grad_(False).sum().backward() | (x * 2).requires_grad_(False) | x.new_tensor('a') | x.type('torch.Foo') | x.nosuch | torch.nosuch | x.to('cuda') | torch.zeros(2, device='cuda') | x.cuda() | torch.load('/nonexistent/file') | x.backward() | (x * 2).backward() | x.sum().backward(1) | x.retain_grad() | (x*2).retain_grad()
"""


def _each(block):
    for line in block.strip().splitlines():
        yield from [part.strip() for part in line.split(" | ")]


def cases():
    """``(name, code)`` of every case."""
    for code in _each(DIFFERENTIABLE):
        body = f"r = {code}\nl = weighted(r) if r.requires_grad else None\n"
        body += "if l is not None:\n    l.backward()\n(r, [t.grad for t in (x, y, p, u, v, s, z, m)])"
        yield f"gradient of {code}", PRELUDE + body
    for code in _each(PLAIN):
        yield f"value of {code}", PRELUDE + code
    for code in _each(ERRORS):
        yield f"error of {code}", PRELUDE + code
