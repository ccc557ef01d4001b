# ruff: noqa: E501 - scripts, with a line for each subject
"""Scripts that print: gradients that accumulate, errors in PyTorch's words, names of nodes, hooks, texts of tensors."""

HEAD = """
import copy
nn, F = torch.nn, torch.nn.functional
torch.manual_seed(0)
def show(f):
    try: print(f())
    except Exception as e: print(type(e).__name__ + ":", e)
"""

CASES = r"""
## repeated backward
x = torch.ones(1, requires_grad=True)
y = x**2; z = x**3
y.backward(); print(x.grad); z.backward(); print(x.grad); x.grad.zero_(); print(x.grad)
show(lambda: y.backward())
## retain graph
x = torch.tensor([1., 2.], requires_grad=True); y = (x * x).sum()
for i in range(3): y.backward(retain_graph=i < 2); print(i, x.grad)
show(lambda: y.backward()); show(lambda: y.grad_fn.saved_tensors); show(lambda: y.grad_fn.next_functions[0][0]._saved_self)
w = x.sum(); w.backward(); w.backward(); print(x.grad)
## two losses share
x = torch.tensor(2., requires_grad=True); h = x.exp(); a = h * 2; b = h * 3
a.backward(); print(x.grad); show(lambda: b.backward()); print(x.grad)
## non scalar
x = torch.arange(3., requires_grad=True); y = x * 2
show(lambda: y.backward()); y.backward(torch.tensor([1., .1, .01])); print(x.grad)
show(lambda: y.backward(torch.ones(2))); show(lambda: torch.ones(1).backward()); show(lambda: torch.arange(3, requires_grad=True))
show(lambda: y.backward(torch.ones(3, dtype=torch.complex64))); show(lambda: y.backward(3)); show(lambda: (y+1).backward(torch.ones(3, dtype=torch.float64)))
## hooks order
x = torch.ones(2, requires_grad=True); y = x * 3; z = y.sum()
y.register_hook(lambda g: print("y1", g)); y.register_hook(lambda g: g * 2); y.register_hook(lambda g: print("y2", g))
x.register_hook(lambda g: print("x", g)); x.register_post_accumulate_grad_hook(lambda t: print("acc", t.grad))
y.grad_fn.register_hook(lambda gi, go: print("node", gi, go)); y.grad_fn.register_prehook(lambda go: print("pre", go))
y.retain_grad(); z.backward(); print(x.grad, y.grad)
show(lambda: torch.ones(1).register_hook(print)); show(lambda: y.register_post_accumulate_grad_hook(print)); show(lambda: torch.ones(1).retain_grad())
h = x.register_hook(lambda g: g * 10); h.remove(); x.grad = None; (x * 2).sum().backward(); print(x.grad)
x.register_hook(lambda g: 3); show(lambda: (x * 2).sum().backward())
x = torch.ones(2, requires_grad=True); x.register_hook(lambda g: torch.ones(3)); show(lambda: (x * 2).sum().backward())
x = torch.ones(2, requires_grad=True); x.register_hook(lambda g: torch.ones(2, dtype=torch.double)); show(lambda: (x * 2).sum().backward())
## leaf in place
x = torch.ones(2, requires_grad=True)
show(lambda: x.add_(1)); show(lambda: x.__setitem__(0, 5.)); show(lambda: x[0].mul_(2)); show(lambda: x.view(2).zero_()); show(lambda: torch.add(x, 1, out=x))
with torch.no_grad(): x.add_(1); x[0] = 7
print(x, x._version, x.is_leaf)
y = x.detach(); y.mul_(2); print(x, y)
x.data.fill_(3); print(x)
## in place after saved
x = torch.ones(2, requires_grad=True); y = x.exp(); y.add_(1); show(lambda: y.sum().backward())
y = x * 2; z = y * y; y[0] = 3; show(lambda: z.sum().backward())
y = x * 2; z = y.sin(); y.mul_(2); y.add_(1); show(lambda: z.sum().backward())
w = torch.ones(2, 2, requires_grad=True); b = torch.ones(2, 2); z = b @ w; b.zero_(); show(lambda: z.sum().backward())
y = x * 2; z = torch.sigmoid(y); z.mul_(2); show(lambda: z.sum().backward())
## views in place
x = torch.ones(2, 2, requires_grad=True); y = x.clone(); v = y[0]; v.mul_(3); print(y, v); y.sum().backward(); print(x.grad)
a, b = (x * 1).unbind(); show(lambda: a.mul_(2)); a, b = (x * 1).split(1); show(lambda: a.mul_(2)); a, b = (x * 1).chunk(2); show(lambda: a.zero_())
with torch.no_grad(): v = y[1]
show(lambda: v.mul_(2))
y = torch.zeros(2, 2); y[0] = x[0] * 2; y[1, 1] = x[1, 1]; print(y); y.sum().backward(); print(x.grad, y.is_leaf)
e = x.expand(2, 2, 2).clone(); e[0].mul_(5); print(e.grad_fn, e[0].grad_fn)
s = torch.ones(1).expand(3); show(lambda: s.add_(1)); show(lambda: s.__setitem__(0, 2.))
print(y._base, v._base is y, y[0]._is_view())
## grad_fn names
x = torch.rand(2, 2, requires_grad=True) + 1;
for f in [lambda: x + 1, lambda: 1 - x, lambda: x * x, lambda: x / 2, lambda: x ** 2, lambda: 2 ** x, lambda: x ** x, lambda: -x, lambda: x @ x, lambda: x.T, lambda: x.mT, lambda: x.sum(), lambda: x.sum(0), lambda: x.mean(), lambda: x.mean(1), lambda: x.max(), lambda: x.max(0)[0], lambda: x.prod(), lambda: x.std(), lambda: x.var(0), lambda: x.norm(), lambda: x.abs(), lambda: x.relu(), lambda: x.softmax(0), lambda: x.log_softmax(0), lambda: x[0], lambda: x[0, 1], lambda: x[:1], lambda: x[x > 1], lambda: x[[0, 1]], lambda: x.view(4), lambda: x.reshape(4), lambda: x.flatten(), lambda: x.permute(1, 0), lambda: x.squeeze(), lambda: x.unsqueeze(0), lambda: x.double(), lambda: x.to(torch.float64), lambda: x.clone(), lambda: torch.cat([x, x]), lambda: torch.stack([x, x]), lambda: torch.where(x > 1, x, x), lambda: x.clamp(0), lambda: x.clamp(min=0), lambda: x.cumsum(0), lambda: x.sort()[0], lambda: x.topk(1)[0], lambda: x.gather(0, torch.zeros(1, 2, dtype=torch.long)), lambda: x.masked_fill(x > 1, 0), lambda: torch.einsum("ij,jk", x, x), lambda: x.matmul(x[0]), lambda: x[0].dot(x[1]), lambda: x.inverse(), lambda: x.det(), lambda: torch.linalg.norm(x), lambda: torch.linalg.solve(x, x), lambda: x.expand(3, 2, 2), lambda: x.repeat(2, 1), lambda: x.tril(), lambda: x.diag(), lambda: x.trace(), lambda: F.gelu(x), lambda: F.linear(x, x), lambda: F.linear(x, x, x[0]), lambda: F.mse_loss(x, x), lambda: F.cross_entropy(x, torch.tensor([0, 1])), lambda: F.dropout(x), lambda: F.layer_norm(x, (2,)), lambda: F.embedding(torch.tensor([0]), x), lambda: torch.addmm(x, x, x), lambda: x.bmm(x) if 0 else x[None].bmm(x[None]), lambda: x.logsumexp(0), lambda: x.pow(3), lambda: x.rsqrt(), lambda: x.roll(1), lambda: x.flip(0), lambda: x.median(), lambda: x.amax(), lambda: x.argmax(), lambda: x.index_select(0, torch.tensor([0])), lambda: F.pad(x, (1, 1)), lambda: F.conv2d(x[None, None], x[None, None]), lambda: F.max_pool2d(x[None, None], 1), lambda: F.batch_norm(x, None, None, training=True), lambda: x.lerp(x, .5), lambda: torch.atan2(x, x), lambda: x.detach(), lambda: x.fmod(2), lambda: x % 2, lambda: x // 1, lambda: x.unfold(0, 1, 1), lambda: torch.outer(x[0], x[0]), lambda: torch.linalg.svdvals(x), lambda: torch.linalg.eigh(x)[0], lambda: F.silu(x), lambda: F.normalize(x), lambda: F.cosine_similarity(x, x), lambda: F.scaled_dot_product_attention(x[None], x[None], x[None]), lambda: x.type(torch.float64), lambda: x.real, lambda: torch.complex(x, x), lambda: torch.view_as_complex(x), lambda: torch.fft.fft(x), lambda: F.huber_loss(x, x), lambda: F.binary_cross_entropy_with_logits(x, x), lambda: F.nll_loss(x, torch.tensor([0, 1])), lambda: F.kl_div(x, x, reduction="sum"), lambda: F.softplus(x), lambda: F.leaky_relu(x), lambda: F.elu(x), lambda: torch.tanh(x), lambda: x.scatter(0, torch.zeros(1, 2, dtype=torch.long), x), lambda: x.index_add(0, torch.tensor([0]), x[:1]), lambda: x.copysign(x), lambda: x.nan_to_num(), lambda: x.quantile(.5), lambda: x.cross(x) if 0 else torch.cdist(x, x), lambda: torch.tensordot(x, x), lambda: torch.kron(x, x), lambda: x.movedim(0, 1), lambda: x.contiguous(), lambda: x.narrow(0, 0, 1), lambda: x.select(0, 0), lambda: x.swapaxes(0, 1), lambda: x.take(torch.tensor([0])), lambda: x.maximum(x), lambda: x.cummax(0)[0], lambda: x.renorm(2, 0, 1), lambda: x.float(), lambda: x.half(), lambda: x.T.reshape(4), lambda: x.unflatten(0, (1, 2)), lambda: x.log1p(), lambda: x.erfinv(), lambda: x.addcmul(x, x), lambda: x.sum_to_size(1, 2)]: show(lambda: f().grad_fn and f().grad_fn.name())
## requires_grad propagation
x = torch.ones(2); w = torch.ones(2, requires_grad=True)
print((x * 2).requires_grad, (x * w).requires_grad, (w > 0).requires_grad, w.long().requires_grad, w.argmax().requires_grad, w.detach().requires_grad, w.data.requires_grad, torch.tensor(w).requires_grad if 0 else 0, torch.zeros_like(w).requires_grad, w.new_zeros(2).requires_grad, w.round().requires_grad, w.sign().requires_grad, torch.ones_like(w, requires_grad=True))
show(lambda: (w * 1).requires_grad_(False)); show(lambda: torch.ones(2, dtype=torch.int32).requires_grad_()); show(lambda: setattr(w * 1, "requires_grad", False))
show(lambda: torch.tensor([True], requires_grad=True))
y = w * 2
show(lambda: y.numpy()); show(lambda: copy.deepcopy(y)); show(lambda: float(y)); show(lambda: float(y.sum())); show(lambda: int(y[0])); show(lambda: bool(y)); show(lambda: y.item()); show(lambda: y.tolist()); show(lambda: np.asarray(w)); show(lambda: np.sin(w)); show(lambda: [*w]); show(lambda: f"{y[0]:.3f} {w.sum()} {w}")
show(lambda: torch.tensor(y)); show(lambda: torch.as_tensor(y) is y); show(lambda: torch.from_numpy(y)); show(lambda: torch.tensor([y[0], 3.])); show(lambda: hash(w) == id(w)); show(lambda: w in [w]); show(lambda: w == None); show(lambda: w != 1); show(lambda: len(torch.tensor(1.))); show(lambda: iter(torch.tensor(1.)))
## detach no_grad
x = torch.ones(2, requires_grad=True)
with torch.no_grad(): y = x * 2; print(y, y.requires_grad, y.grad_fn, y.is_leaf); z = torch.ones(1, requires_grad=True); print(z)
show(lambda: y.sum().backward())
with torch.inference_mode(): y = x * 2; print(y, y.is_inference(), y.requires_grad); show(lambda: y._version)
show(lambda: y.requires_grad_()); show(lambda: (y * x)); print((y + 1).is_inference()); show(lambda: y.clone().mul_(x))
with torch.set_grad_enabled(False): print(torch.is_grad_enabled(), (x * 2).requires_grad)
with torch.no_grad():
    with torch.enable_grad(): print((x * 2))
@torch.no_grad()
def f(x): return x * 2
print(f(x), f.__name__); d = x.detach(); d[0] = 5; print(x, d, d.requires_grad); d.requires_grad_(); print(d, x.is_leaf); x.detach_(); print(x); show(lambda: (x*1)[0].detach_())
print(torch.is_inference_mode_enabled())
## None grads
x = torch.ones(2, requires_grad=True); u = torch.ones(2, requires_grad=True); y = x * 2
print(y.grad); print(x.grad, u.grad); show(lambda: torch.autograd.grad(y.sum(), [x, u])); y = x * 2; print(torch.autograd.grad(y.sum(), [x, u], allow_unused=True)); y = x * 2; print(torch.autograd.grad(y.sum(), [x, u], materialize_grads=True))
show(lambda: torch.autograd.grad(y, x)); show(lambda: torch.autograd.grad(torch.ones(1), x)); show(lambda: torch.autograd.grad((x*2).sum(), torch.ones(1))); show(lambda: torch.autograd.grad((x*2).sum(), x, allow_unused=False, materialize_grads=True)); show(lambda: torch.autograd.grad((x*2).sum(), [])); show(lambda: torch.autograd.grad([(x*2).sum()], [x], grad_outputs=[None, None])); show(lambda: torch.autograd.grad((x*2).sum(), u))
show(lambda: torch.autograd.backward([(x*2).sum(), (x*3).sum()])); print(x.grad); show(lambda: torch.autograd.backward([x * 2, x * 3], [torch.ones(2), torch.ones(2)])); print(x.grad); show(lambda: (x*2).sum().backward(inputs=[])); show(lambda: (x*2).sum().backward(inputs=[u])); print(u.grad); show(lambda: torch.autograd.backward([]))
## zero grad
m = nn.Linear(2, 1, bias=False); o = torch.optim.SGD(m.parameters(), lr=.1)
with torch.no_grad(): m.weight.fill_(1.)
m(torch.ones(1, 2)).sum().backward(); print(m.weight.grad); o.step(); print(m.weight); o.zero_grad(set_to_none=False); print(m.weight.grad); o.zero_grad(); print(m.weight.grad); o.step(); print(m.weight, m, o)
m(torch.ones(1, 2)).sum().backward(); m(torch.ones(1, 2)).sum().backward(); print(m.weight.grad); m.zero_grad(); print(m.weight.grad); print(list(m.named_parameters()), m.state_dict(), o.state_dict())
## double backward
x = torch.tensor([1., 2., 3.], requires_grad=True); y = (x ** 3).sum()
g, = torch.autograd.grad(y, x, create_graph=True); print(g); h, = torch.autograd.grad(g.sum(), x, create_graph=True); print(h); t, = torch.autograd.grad(h.sum(), x); print(t)
y = (x ** 3).sum(); y.backward(create_graph=True); print(x.grad); x.grad.sum().backward(); print(x.grad)
x.grad = None; y = (x ** 2).sum(); g, = torch.autograd.grad(y, x); print(g); show(lambda: g.sum().backward()); print(g.requires_grad)
print(torch.autograd.functional.hessian(lambda x: (x ** 3).sum(), x), torch.autograd.functional.jacobian(lambda x: x ** 2, x), torch.autograd.functional.vjp(lambda x: x.sum(), x), torch.autograd.functional.jvp(lambda x: x * 2, x, torch.ones(3)), torch.autograd.functional.hvp(lambda x: (x ** 3).sum(), x, torch.ones(3)))
## batched grads
x = torch.tensor([1., 2., 3.], requires_grad=True); y = x ** 2
print(torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True, retain_graph=True)); show(lambda: torch.autograd.grad(y, x, torch.ones(3), is_grads_batched=True))
## anomaly
x = torch.tensor([-1., 4.], requires_grad=True)
def f():
    with torch.autograd.detect_anomaly(): x.sqrt().sum().backward()
show(f)
def f():
    with torch.autograd.set_detect_anomaly(True): (x * 0 / 0).sum().backward()
show(f); print(torch.is_anomaly_enabled())
x.sqrt().sum().backward(); print(x.grad)
## dtype promotion
ts = [torch.tensor([1], dtype=d) for d in (torch.bool, torch.uint8, torch.int8, torch.int32, torch.int64, torch.float32, torch.float64, torch.complex64)]
for a in ts: print(*[(a + b).dtype for b in ts], (a * 2).dtype, (a * 2.).dtype, (a * 1j).dtype, (a / 2).dtype if 1 else 0, a.sum().dtype, torch.sin(a).dtype if a.dtype != torch.bool or 1 else 0)
print((torch.tensor(1.5) + torch.ones(2, dtype=torch.int32)), torch.tensor(1.5, dtype=torch.float64) + torch.ones(2), torch.ones(2, dtype=torch.int8) + 300, torch.tensor([1, 2]).mean if 0 else 0)
show(lambda: torch.tensor([1, 2]).mean()); show(lambda: torch.ones(2, dtype=torch.int32).add_(1.5)); show(lambda: torch.ones(2) @ torch.ones(2, dtype=torch.float64)); show(lambda: torch.ones(2, 2) @ torch.ones(2, 2, dtype=torch.long)); show(lambda: nn.Linear(2, 2)(torch.ones(2, 2, dtype=torch.float64))); show(lambda: nn.Linear(2, 2)(torch.ones(2, 3))); show(lambda: torch.ones(2, 3) + torch.ones(2, 2)); show(lambda: torch.ones(2, 3) @ torch.ones(2, 2)); show(lambda: torch.cat([torch.ones(2, 2), torch.ones(3)])); show(lambda: torch.stack([torch.ones(2), torch.ones(3)])); show(lambda: torch.ones(2).view(3)); show(lambda: torch.ones(2, 2).T.view(4)); show(lambda: torch.ones(2)[2]); show(lambda: torch.ones(2)[0, 0]); show(lambda: torch.ones(2).sum(1)); show(lambda: torch.ones(2)["a"]); show(lambda: torch.tensor("a")); show(lambda: torch.tensor([[1], [2, 3]])); show(lambda: torch.ones(2, 3).reshape(4)); show(lambda: torch.ones(2).expand(3)); show(lambda: torch.ones(2).item()); show(lambda: -torch.tensor([True])); show(lambda: torch.tensor([True]) - torch.tensor([True])); show(lambda: torch.ones(2, 2)[torch.tensor([3])]); show(lambda: torch.ones(2)[torch.tensor([.5])]); show(lambda: torch.ones(2)[torch.tensor([True])]); show(lambda: F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 3]))); show(lambda: F.cross_entropy(torch.ones(2, 3), torch.tensor([0]))); show(lambda: F.mse_loss(torch.ones(2), torch.ones(3))); show(lambda: torch.ones(3).squeeze(2)); show(lambda: torch.arange(5)[::-1]); show(lambda: torch.zeros(-1))
## complex gradients
z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
z.abs().sum().backward(); print(z.grad); z.grad = None; (z * z.conj()).real.sum().backward(); print(z.grad); z.grad = None; z.angle().sum().backward(); print(z.grad); z.grad = None; (z ** 2).sum().abs().backward(); print(z.grad); show(lambda: (z * 2).sum().backward()); z.grad = None; (z * 2).sum().backward(torch.tensor(1j)); print(z.grad); x = torch.tensor(2., requires_grad=True); (x * z).real.sum().backward(); print(x.grad); print(z, z.real, z.imag, z.conj(), z.resolve_conj(), torch.view_as_real(z), z * x, z.exp())
## print options
x = torch.tensor([1.5, 1000.25, -3e-5, float("inf"), float("nan")]); print(x); torch.set_printoptions(precision=2, sci_mode=True); print(x); torch.set_printoptions(sci_mode=False); print(x, x[:3]); torch.set_printoptions(profile="default"); torch.set_printoptions(threshold=10, edgeitems=2, linewidth=40); print(torch.arange(100.).view(10, 10), torch.arange(1000), torch.arange(24).view(2, 3, 4)); torch.set_printoptions(profile="short"); print(torch.rand(2).mul(0) + 1 / 3, torch.zeros(2000)); torch.set_printoptions(profile="full"); print(torch.arange(300).sum(), torch.zeros(3, 0), torch.zeros(0), torch.tensor([]), torch.zeros(0, dtype=torch.long), torch.tensor(5), torch.tensor([True, False]), torch.tensor(3 + 4j), torch.tensor([[1e10, 1.]]), torch.tensor([1e-10]), torch.tensor([1., 2.], dtype=torch.float64), torch.tensor([1., 2.], dtype=torch.float16), torch.tensor([1, 2], dtype=torch.int8), torch.ones(1, 1, 1, 1)); torch.set_printoptions(profile="default")
print(torch.arange(2000.), torch.rand(50, 50).mul(0), torch.tensor([0.1, 100, 1e5]), torch.tensor([1e8, 1]), torch.tensor([123456789]), torch.tensor([1e-5, 1]), torch.tensor([float("inf"), 1]), torch.tensor([float("nan")]), -torch.zeros(2), torch.tensor([1., -1.]), torch.tensor(1e5), torch.tensor(1e4 + .5), torch.tensor(123456.789), torch.tensor(1e-4), torch.tensor(9.99999e-5), torch.tensor([[[1.]]], requires_grad=True), torch.tensor([1e38, -1e38]), torch.tensor([.5, 1e4]), torch.tensor([1 + 1e-5j, 100j]), torch.tensor([float("inf") + 1j]))
print(nn.Parameter(torch.ones(2)), torch.ones(2, requires_grad=True) * 1, repr(torch.Size([2, 3])), torch.float32, torch.device("cpu"), torch.strided, torch.ones(2).type(), torch.ones(2, dtype=torch.float64).mul(2).requires_grad_(), torch.finfo(torch.float32), torch.iinfo(torch.int8), torch.ones(2).shape, torch.ones(2, 3).stride(), torch.ones(2).data_ptr() > 0, torch.max(torch.ones(2, 2), 0), torch.ones(2, 2).sort(), torch.linalg.svd(torch.eye(2)), torch.linalg.eigh(torch.eye(2)), torch.ones(2).unique(return_counts=True))
## print long grads
x = torch.arange(40., requires_grad=True); print(x * 1.5); print((x * 1.5).view(4, 10).exp()); print(x[:7] * 1e-3); print(x.double() / 3); print((x[:20] / 7).softmax(0)); print(torch.stack([x, x]).to(torch.float64))
## accumulate identity
x = torch.ones(2, requires_grad=True); g = torch.ones(2); x.backward(g); print(x.grad is g, x.grad.data_ptr() == g.data_ptr()); a = x.grad; x.backward(g); print(x.grad is a, x.grad, g); x.grad = None; (x * 1).sum().backward(create_graph=True); a = x.grad; (x * 1).sum().backward(create_graph=True); print(a is x.grad, a, x.grad)
show(lambda: setattr(x, "grad", torch.ones(3))); show(lambda: setattr(x, "grad", 1)); show(lambda: setattr(x, "grad", torch.ones(2, dtype=torch.double))); x.grad = torch.zeros(2); del x.grad; print(x.grad); show(lambda: delattr(x, "data"))
## custom function
class Sq(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): ctx.save_for_backward(x); return x * x
    @staticmethod
    def backward(ctx, g): x, = ctx.saved_tensors; print("bw", g, ctx.needs_input_grad); return 2 * x * g
x = torch.tensor([3.], requires_grad=True); y = Sq.apply(x); print(y, y.grad_fn); y.backward(); print(x.grad); show(lambda: y.backward()); show(lambda: Sq()(x)); show(lambda: Sq.forward)
class Bad(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * x
    @staticmethod
    def backward(ctx, g): return g, g
show(lambda: Bad.apply(x).backward())
class Bad2(Bad):
    @staticmethod
    def backward(ctx, g): return torch.ones(5)
show(lambda: Bad2.apply(x).backward())
class Bad3(Bad):
    @staticmethod
    def backward(ctx, g): return 3
show(lambda: Bad3.apply(x).backward())
class Bad4(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return 3 * x
show(lambda: Bad4.apply(x).backward())
class Bad5(torch.autograd.Function): pass
show(lambda: Bad5.apply(x))
## graph walk
x = torch.ones(2, requires_grad=True); w = torch.ones(2, requires_grad=True); y = ((x * w).relu() + 1).mean()
def walk(f, d=0):
    print(" " * d + (f.name() if f is not None else "None")); [walk(g, d + 2) for g, _ in (f.next_functions if f is not None else ())]
walk(y.grad_fn); print(y.grad_fn.next_functions[0][0].next_functions); print(y.grad_fn.metadata, y.grad_fn.next_functions[0][0].next_functions[0][0].next_functions[0][0].next_functions[0][0].variable); print(str(y.grad_fn)[:28], y.grad_fn.name, repr(type(y.grad_fn)))
## modules printing and errors
m = nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), nn.BatchNorm2d(2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8, 3), nn.Dropout(.5), nn.LSTM(3, 4, 2, batch_first=True), nn.Embedding(3, 4, padding_idx=0), nn.MultiheadAttention(4, 2), nn.TransformerEncoderLayer(4, 2, 8), nn.LayerNorm(3), nn.ModuleList([nn.Tanh()]), nn.ModuleDict({"a": nn.GELU()}), nn.ParameterList([torch.ones(2)])); print(m)
show(lambda: m.load_state_dict({})); show(lambda: nn.Linear(2, 2).load_state_dict({"weight": torch.ones(3, 3), "b": torch.ones(1)})); show(lambda: m.foo); show(lambda: nn.Linear(2, 2).load_state_dict({"weight": torch.ones(2, 2), "bias": torch.ones(2)})); show(lambda: setattr(nn.Linear(2, 2), "weight", torch.ones(2, 2))); show(lambda: nn.Module()(1)); show(lambda: m.register_parameter("a.b", None)); show(lambda: m.add_module("", None)); show(lambda: torch.optim.SGD([], lr=.1)); show(lambda: torch.optim.SGD([torch.ones(2)], lr=-1)); show(lambda: torch.optim.SGD([torch.ones(2, requires_grad=True) * 2], lr=.1)); show(lambda: torch.optim.SGD(torch.ones(2, requires_grad=True), lr=.1)); show(lambda: torch.optim.Adam([torch.ones(2, requires_grad=True)], betas=(2, 0))); print(torch.optim.Adam([torch.ones(2, requires_grad=True)])); print(torch.optim.lr_scheduler.StepLR(torch.optim.SGD([torch.ones(2, requires_grad=True)], lr=1.), 2).get_last_lr())
## training loop
torch.manual_seed(0); X = torch.linspace(-1, 1, 8).unsqueeze(1); Y = 3 * X + 1; w = torch.zeros(1, 1, requires_grad=True); b = torch.zeros(1, requires_grad=True)
for i in range(3):
    loss = ((X @ w + b - Y) ** 2).mean(); loss.backward(); print(i, loss, w.grad)
    with torch.no_grad(): w -= .1 * w.grad; b -= .1 * b.grad; w.grad.zero_(); b.grad = None
print(w, b)
show(lambda: w.sub_(1)); w = w - .1 * 1; w.sum().backward(); print(w.grad)
## in place ops with grads
x = torch.ones(3, requires_grad=True); y = x * 1; y += x; y *= 2; y[1] = 0; y[2:] = x[:1]; print(y, y._version); y.sum().backward(); print(x.grad); z = torch.zeros(3); z += x; print(z); show(lambda: torch.ones(2).add_(x)); show(lambda: torch.ones(3, dtype=torch.long).mul_(x)); q = x.clone(); q.requires_grad_(True); q.zero_(); print(q)
y = x.clone(); y.copy_(torch.arange(3.)); print(y); y = x.clone(); y.fill_(2); print(y); y = x.clone().masked_fill_(x > 0, 3); print(y); y = x.clone(); y.index_fill_(0, torch.tensor([0]), 1); print(y); y = x.clone(); y.unsqueeze_(0); print(y); y.t_(); print(y); y.squeeze_(); print(y); y.resize_(3) if 0 else 0; y.relu_(); print(y); y.clamp_(0); print(y); y.pow_(2); print(y); y.neg_(); print(y); y.exp_(); print(y); y.sub_(1); print(y); y.div_(2); print(y); y.swapaxes_(0, 0); print(y); y.detach_(); print(y); y.requires_grad_(); print(y); y.data = torch.zeros(2); print(y)
## bn state
m = nn.BatchNorm1d(2); show(lambda: m.load_state_dict({"weight": torch.ones(2), "bias": torch.ones(2), "running_mean": torch.ones(2), "running_var": torch.ones(2)})); show(lambda: m.state_dict()); show(lambda: m.state_dict()._metadata); m.eval(); print(m(torch.ones(2, 2)), m.training); show(lambda: m(torch.ones(2))); show(lambda: m.train()(torch.ones(1, 2)))
## print type
y = torch.ones(2, requires_grad=True) * 2; print(type(y.grad_fn), y.grad_fn.__class__.__name__, y.type(), y.dtype, y.layout, y.device, y.shape, y.size(), y.size(0), y.numel(), y.dim(), y.ndim, y.stride(), y.storage_offset(), y.element_size(), y.is_contiguous(), y.is_floating_point(), y.nbytes, y.itemsize)
## optimisers
def mk(): return nn.Parameter(torch.tensor([1., -2.]))
for n, k in [("SGD", dict(lr=.1)), ("SGD", dict(lr=.1, momentum=.9, nesterov=True, weight_decay=.1)), ("SGD", dict(lr=.1, momentum=.9, dampening=.5, maximize=True)), ("Adam", dict(lr=.1)), ("Adam", dict(lr=.1, amsgrad=True, weight_decay=.1)), ("AdamW", dict(lr=.1)), ("Adamax", dict()), ("NAdam", dict()), ("RAdam", dict()), ("Adagrad", dict(lr=.1, lr_decay=.1)), ("Adadelta", dict()), ("RMSprop", dict(centered=True, momentum=.9)), ("Rprop", dict()), ("ASGD", dict()), ("Adafactor", dict())]:
    try:
        p = mk(); o = getattr(torch.optim, n)([p], **k)
        for i in range(4):
            def c(): o.zero_grad(); l = (p ** 4).sum(); l.backward(); return l
            l = o.step(c)
        print(n, p, l); print(o); s = o.state_dict(); print(s["param_groups"], {a: sorted(b) for a, b in s["state"].items()})
    except Exception as e: print(n, type(e).__name__, e)
## schedulers
S = torch.optim.lr_scheduler
for n, a in [("StepLR", (2, .5)), ("MultiStepLR", ([1, 3],)), ("ExponentialLR", (.9,)), ("CosineAnnealingLR", (5,)), ("LambdaLR", (lambda e: .5 ** e,)), ("MultiplicativeLR", (lambda e: .5,)), ("ConstantLR", (.5, 2)), ("LinearLR", (.5, 1., 3)), ("PolynomialLR", (4, 2.)), ("CyclicLR", (.1, .5, 2)), ("OneCycleLR", (1., 10)), ("CosineAnnealingWarmRestarts", (3,))]:
    o = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=.1, momentum=.9); s = getattr(S, n)(o, *a); r = []
    for i in range(6):
        o.step(); s.step(); r.append(round(s.get_last_lr()[0], 6))
    print(n, r, sorted(s.state_dict()))
o = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=.1); s = S.StepLR(o, 1); s.step(); show(lambda: S.SequentialLR(o, [S.ConstantLR(o), S.ExponentialLR(o, .9)], [2]).get_last_lr()); show(lambda: S.StepLR(3, 1))
## param groups
a, b = nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(2)); o = torch.optim.SGD([{"params": [a], "lr": 1.}, {"params": b}], lr=.1, momentum=.9); print(o); print(o.param_groups); show(lambda: o.add_param_group({"params": [a]})); show(lambda: o.load_state_dict({"param_groups": [], "state": {}})); show(lambda: torch.optim.SGD([a, a], lr=.1)); show(lambda: torch.optim.SGD([{"params": a}, {"params": a}], lr=.1)); show(lambda: torch.optim.SGD([a], momentum=-1)); show(lambda: torch.optim.SGD([a], lr=.1, nesterov=True)); show(lambda: torch.optim.Adam([3])); show(lambda: torch.optim.Adam([a], lr=-1)); show(lambda: torch.optim.Adam([a], eps=-1)); show(lambda: torch.optim.Adam({a})); show(lambda: torch.optim.Adam({"a": a})); show(lambda: o.state); show(lambda: o.defaults)
## clip
a = nn.Parameter(torch.tensor([3., 4.])); a.grad = torch.tensor([3., 4.]); print(torch.nn.utils.clip_grad_norm_([a], 1.), a.grad); print(torch.nn.utils.clip_grad_norm_(a, 1., norm_type="inf"), a.grad); torch.nn.utils.clip_grad_value_(a, .1); print(a.grad); a.grad[0] = float("nan"); show(lambda: torch.nn.utils.clip_grad_norm_([a], 1., error_if_nonfinite=True)); print(torch.nn.utils.get_total_norm([torch.ones(4)]), torch.nn.utils.parameters_to_vector([a]), torch.nn.utils.clip_grad_norm_([], 1.))
## packed
P = nn.utils.rnn; p = P.pack_padded_sequence(torch.arange(6.).view(3, 2), torch.tensor([3, 1])); print(p); print(P.pad_packed_sequence(p)); print(P.pad_sequence([torch.ones(2), torch.ones(3)], batch_first=True, padding_value=-1)); print(P.pack_sequence([torch.ones(2), torch.ones(1)])); show(lambda: P.pack_padded_sequence(torch.ones(3, 2), [1, 3])); show(lambda: P.pack_padded_sequence(torch.ones(3, 2), [0, 3])); print(P.unpad_sequence(torch.ones(3, 2), torch.tensor([3, 2]))); print(p.data, p.batch_sizes, p.sorted_indices)
## hooks of modules
m = nn.Sequential(nn.Linear(1, 1, bias=False), nn.ReLU()); nn.init.ones_(m[0].weight)
m[0].register_forward_pre_hook(lambda mod, a: print("pre", a)); m[0].register_forward_hook(lambda mod, a, o: print("fwd", a, o)); m[0].register_full_backward_hook(lambda mod, gi, go: print("bwd", gi, go)); m.register_full_backward_pre_hook(lambda mod, go: print("bpre", go)); m.register_forward_hook(lambda mod, a, k, o: print("kw", k), with_kwargs=True); m.register_forward_hook(lambda mod, a, o: o * 10)
x = torch.ones(1, 1, requires_grad=True); y = m(x); print(y, y.grad_fn.name()); y.backward(); print(x.grad, m[0].weight.grad)
m[0].requires_grad_(False); print([p.requires_grad for p in m.parameters()]); print(m[0].weight); show(lambda: m.apply(lambda q: print(type(q).__name__))); show(lambda: m.get_submodule("0.x")); show(lambda: m.get_parameter("0.weight")); show(lambda: m.double()(torch.ones(1, 1)))
## more prints
print(torch.arange(12).view(3, 4), torch.arange(12.).view(2, 2, 3) / 7, torch.eye(3), torch.eye(3) * 1e-4, torch.linspace(0, 1, 11), torch.logspace(-5, 5, 5), torch.tensor([[1, -2], [300, 4]]), torch.tensor([1.0, 2.5]) > 2, torch.tensor([1e-3, 1e3]), torch.tensor([1e-4, 1e3]), torch.tensor([1., 1000.]), torch.tensor([1., 1001.5]), torch.tensor([0.00001]), torch.tensor(1e-8), torch.tensor(3.14159265), torch.tensor(3.14159265, dtype=torch.float64), torch.tensor([1e5, 1.5]), torch.tensor([99999., 1.5]), torch.tensor([1e6]), torch.tensor([-1e6, 2.]), torch.tensor([[]]), torch.empty(2, 0, 3), torch.tensor(True), torch.tensor([1 + 2j, 3.5 - 1j]), torch.tensor(2, dtype=torch.uint8), torch.tensor([float("-inf"), 1.5]), torch.tensor([float("nan"), 1e10]), torch.arange(30.), torch.arange(30) * 1000, torch.ones(3, 3, requires_grad=True), torch.ones(3, 30, requires_grad=True) * 1.25, torch.tensor([1 / 3, 1e-7]), torch.ones(2, dtype=torch.float16) / 3, sep="\n")
## errors of nn
for c in ["nn.Linear(2, 3)(torch.ones(3))", "nn.Conv2d(1, 1, 3)(torch.ones(1, 2, 5, 5))", "nn.Conv2d(1, 1, 3)(torch.ones(1, 1, 2, 2))", "nn.Conv2d(1, 1, 3)(torch.ones(5, 5))", "nn.Embedding(2, 2)(torch.tensor([2]))", "nn.Embedding(2, 2)(torch.ones(1))", "nn.LSTM(2, 3)(torch.ones(2, 3))", "nn.LSTM(2, 3)(torch.ones(2, 2, 2, 2))", "nn.BatchNorm2d(2)(torch.ones(2, 2))", "nn.LayerNorm(3)(torch.ones(2))", "nn.CrossEntropyLoss()(torch.ones(2, 3), torch.ones(2, 2))", "nn.BCELoss()(torch.tensor([2.]), torch.tensor([1.]))", "nn.BCELoss()(torch.ones(2), torch.ones(3))", "nn.NLLLoss()(torch.ones(2, 3), torch.tensor([1., 2.]))", "nn.MaxPool2d(2)(torch.ones(1, 1, 1, 1))", "nn.MultiheadAttention(3, 2)", "nn.Softmax()(torch.ones(2))", "nn.GroupNorm(2, 3)", "nn.Dropout(2)", "nn.Linear(2, 2)(3)", "nn.Flatten()(torch.ones(2))", "nn.Unflatten(1, (2, 3))(torch.ones(2, 5))", "nn.PReLU(2)(torch.ones(1, 3))", "nn.Upsample(scale_factor=2)(torch.ones(2))", "F.one_hot(torch.tensor([3]), 2)", "F.one_hot(torch.tensor([1.]))", "F.pad(torch.ones(2), (1,))", "F.interpolate(torch.ones(1, 1, 2), mode='foo')", "nn.KLDivLoss()(torch.zeros(2), torch.ones(2))", "F.binary_cross_entropy_with_logits(torch.ones(2), torch.ones(3))", "F.l1_loss(torch.ones(2), torch.ones(3))", "F.smooth_l1_loss(torch.ones(2), torch.ones(3))", "F.huber_loss(torch.ones(2), torch.ones(3))", "F.cosine_embedding_loss(torch.ones(2), torch.ones(2), torch.ones(3))", "F.poisson_nll_loss(torch.ones(2), torch.ones(3))", "F.kl_div(torch.ones(2), torch.ones(3))", "F.softmax(torch.ones(2), dim=3)", "F.embedding(torch.tensor([5]), torch.ones(2, 2))", "nn.Bilinear(2, 2, 1)(torch.ones(1, 2), torch.ones(1, 3))", "nn.GRUCell(2, 3)(torch.ones(1, 3))", "nn.RNN(2, 2, nonlinearity='x')", "nn.Transformer(3, 2)", "nn.Identity()(3)", "nn.Sequential(3)", "nn.ModuleList([3])", "F.gumbel_softmax(torch.ones(2), tau=0.).shape", "nn.init.xavier_uniform_(torch.ones(2))", "nn.init.constant_(torch.ones(2), 3)", "nn.init.calculate_gain('foo')", "F.linear(torch.ones(2), torch.ones(3, 3))", "F.nll_loss(torch.ones(3), torch.tensor([0, 1]))", "F.gaussian_nll_loss(torch.ones(2), torch.ones(2), -torch.ones(2))", "F.conv1d(torch.ones(1, 1, 3), torch.ones(1, 2, 1))", "F.conv2d(torch.ones(1, 2, 3, 3), torch.ones(1, 1, 1, 1), groups=3)", "F.layer_norm(torch.ones(2, 3), (2,))", "F.dropout(torch.ones(2), 1.5)", "F.glu(torch.ones(3))", "F.pixel_shuffle(torch.ones(1, 3, 2, 2), 2)", "F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 1]), label_smoothing=2.)", "F.ctc_loss(torch.ones(2, 1, 3), torch.tensor([[0]]), (2,), (1,))"]: print(c[:40], end=" -> "); show(lambda: eval(c))
## func
f = torch.func
print(f.grad(lambda x: (x ** 3).sum())(torch.tensor([1., 2.])), f.jacrev(lambda x: x ** 2)(torch.tensor([1., 2.])), f.jacfwd(lambda x: x ** 2)(torch.tensor([1., 2.])), f.hessian(lambda x: (x ** 3).sum())(torch.tensor([1., 2.])), f.vmap(lambda x, y: x @ y)(torch.ones(2, 3), torch.ones(2, 3)), f.grad_and_value(lambda x: x.sum())(torch.ones(2)), f.grad(lambda x, y: x * y, argnums=(0, 1))(torch.tensor(2.), torch.tensor(3.)))
show(lambda: f.grad(lambda x: x * 2)(torch.ones(2))); show(lambda: f.grad(lambda x: 3.)(torch.ones(2))); show(lambda: f.grad(lambda x: x.sum())(torch.ones(2, dtype=torch.long))); show(lambda: f.grad(lambda x: x.sum(), argnums=1)(torch.ones(2))); show(lambda: f.vmap(torch.rand_like)(torch.ones(2))); show(lambda: f.vmap(lambda x: F.dropout(x))(torch.ones(2, 3))); show(lambda: f.vmap(lambda x: x + torch.rand(1), randomness="same")(torch.zeros(2)).unique().shape); show(lambda: f.vmap(lambda x: (x, F.dropout(x, 0.)), in_dims=1, out_dims=(0, 1), randomness="different")(torch.ones(2, 3))); show(lambda: f.vmap(lambda x: x, randomness="foo")(torch.ones(2)))
x = torch.ones(3, requires_grad=True); torch.manual_seed(1); y = f.vmap(lambda x: x * torch.rand(()), randomness="same")(x); a = torch.rand(()); y.sum().backward(); print((y == x.grad).all(), (a == y).any(), (torch.rand(()) == y).any())
## losses of one sample
for c in ["F.nll_loss(torch.ones(3), torch.tensor([0]))", "F.nll_loss(torch.ones(3), torch.tensor(0), reduction='none')", "F.cosine_embedding_loss(torch.ones(2), torch.ones(2), torch.ones(()))", "F.cosine_embedding_loss(torch.ones(2, 2, 2), torch.ones(2, 2, 2), torch.ones(2))", "F.cosine_embedding_loss(torch.ones(2, 2), torch.ones(2, 2), torch.ones(2, 1))", "F.interpolate(torch.ones(2, 2), scale_factor=2, mode='bilinear')", "F.bilinear(torch.ones(1, 3), torch.ones(1, 2), torch.ones(1, 2, 2))", "F.bilinear(torch.ones(1, 2), torch.ones(2, 2), torch.ones(1, 2, 2))", "F.linear(torch.ones(2, 2, 2).double(), torch.ones(2, 2), torch.ones(2))", "F.linear(torch.ones(2).double(), torch.ones(2, 2))", "F.linear(torch.ones(2, 2).double(), torch.ones(2, 2))"]: print(c[:30], end=" -> "); show(lambda: eval(c))
## rounded quotients
x = torch.tensor([5., 7.], requires_grad=True)
for f in (lambda: x // 2, lambda: torch.floor_divide(x, 2), lambda: 7 // x, lambda: x // x, lambda: torch.div(x, 2, rounding_mode="floor"), lambda: x.remainder(2)): y = f(); print(y); show(lambda: y.sum().backward()); print(x.grad)
## checkpoints and hooks that warn
ck = __import__("importlib").import_module(torch.__name__ + ".utils.checkpoint").checkpoint; x = torch.ones(2, requires_grad=True)
show(lambda: ck(lambda x: x, x, use_reentrant=True, foo=3)); print(ck(lambda x: x * 2, torch.ones(2), use_reentrant=True)); m = nn.Linear(1, 1); m.register_full_backward_hook(lambda m, gi, go: print(gi, go)); m(torch.ones(1, 1)).sum().backward()
show(lambda: delattr(x, "data")); show(lambda: delattr(x, "requires_grad")); show(lambda: torch.autograd.gradcheck(lambda x: x, torch.ones(1, dtype=torch.float64, requires_grad=True).expand(2)))
fw = torch.autograd.forward_ad; show(fw.exit_dual_level); show(lambda: fw.unpack_dual(torch.ones(1)))
## derivatives in strict mode
AF = torch.autograd.functional; x = torch.ones(2)
for fn in ("hessian", "hvp", "vhp"):
    for f in (lambda x: x.sum(), lambda x: torch.tensor(1.), lambda x: (x ** 3).sum(), lambda x: (x ** 2).sum()):
        show(lambda: getattr(AF, fn)(f, x, *([x] if fn != "hessian" else []), strict=True)); show(lambda: getattr(AF, fn)(f, x, *([x] if fn != "hessian" else [])))
for f in (lambda x: x.sum(), lambda x: torch.tensor(1.), lambda x: x.detach(), lambda x: x ** 2):
    show(lambda: AF.jacobian(f, x, strict=True)); show(lambda: AF.jacobian(f, x, strict=True, create_graph=True)); show(lambda: AF.jvp(f, x, x, strict=True)); show(lambda: AF.vjp(f, x, torch.ones(3)))
show(lambda: AF.jacobian(lambda x: x, x, strict=True, vectorize=True)); show(lambda: AF.hessian(lambda x: x.sum(), x, strict=True, vectorize=True)); show(lambda: AF.jacobian(lambda x: x, x, strategy="foo")); show(lambda: AF.jacobian(lambda x: x, x, strategy="forward-mode")); show(lambda: AF.hessian(lambda x: x, x)); show(lambda: AF.jacobian(lambda x: 3, x)); show(lambda: AF.jacobian(lambda x: x, 3)); show(lambda: AF.hvp(lambda x: x.sum(), x)); show(lambda: AF.jvp(lambda x: x, x)); show(lambda: AF.jvp(lambda x: x, torch.ones(1)))
## tolerances
gc_ = torch.autograd.gradcheck; x = torch.tensor([1., 2.], dtype=torch.double, requires_grad=True)
show(lambda: gc_(lambda x: x * 2, (x,), atol=-1)); show(lambda: gc_(lambda x: x * 2, (x,), rtol=-1)); show(lambda: gc_(lambda x: x * 2, (torch.ones(1),))); show(lambda: gc_(lambda x: x.detach() * 2, (x,)))
"""


def cases():
    """``(name, code)`` of every script."""
    for block in CASES.strip().removeprefix("## ").split("\n## "):
        name, _, code = block.partition("\n")
        yield name, f"{HEAD}{code}\npass"
