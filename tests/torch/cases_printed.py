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
## differentiable optimisers
w = torch.tensor([1., 2.], requires_grad=True); o = torch.optim.SGD([w], lr=.1, differentiable=True); (w * w).sum().backward(); show(o.step); o = torch.optim.ASGD([w], lr=.1, differentiable=True); show(o.step)
show(lambda: torch.no_grad()(o.step)())
print(w); p = torch.ones(2); p.grad = torch.ones(2); o = torch.optim.SGD([p], lr=.1, differentiable=True); o.step(); print(p)
## lazy dtype
for m in (nn.LazyLinear(2), nn.LazyConv1d(2, 1), nn.LazyBatchNorm1d(), nn.LazyBatchNorm1d(affine=False), nn.LazyInstanceNorm1d(affine=True, track_running_stats=True)):
    m = m.double(); x = torch.ones(3, 4, 2, dtype=torch.double)
    show(lambda: m(x).dtype); print([p.dtype for p in m.parameters()], [b.dtype for b in m.buffers()], m); show(lambda: type(m).__name__)
m = nn.LazyLinear(2); m.load_state_dict({"weight": torch.ones(2, 3), "bias": torch.zeros(2)}); print(m.weight, m); print(m(torch.ones(1, 3)), m)
m = nn.LazyLinear(2, dtype=torch.float64); print(m(torch.ones(1, 3, dtype=torch.float64)).dtype)
n = nn.Sequential(nn.LazyLinear(2), nn.ReLU(), nn.LazyLinear(1)).to(torch.float64); print(n(torch.ones(1, 4, dtype=torch.float64)).dtype, n, copy.deepcopy(nn.LazyLinear(3)))
m = nn.LazyLinear(2); o = torch.optim.SGD(m.parameters(), lr=.1); m(torch.ones(1, 2)).sum().backward(); b = m.bias.clone(); o.step(); print(b - m.bias)
## complex parameters
for n, a in [("SGD", {"momentum": .9}), ("Adam", {}), ("Adam", {"amsgrad": True, "weight_decay": .1}), ("AdamW", {}), ("RMSprop", {"momentum": .9, "centered": True}), ("Adagrad", {"initial_accumulator_value": .1}), ("Adadelta", {}), ("Adamax", {}), ("NAdam", {}), ("RAdam", {}), ("Rprop", {}), ("ASGD", {})]:
    z = torch.tensor([[1 + 2j, 3 - 1j], [.5j, -1.]], requires_grad=True); w = torch.ones(2, requires_grad=True); o = getattr(torch.optim, n)([z, w], lr=.1, **a)
    for i in range(3):
        o.zero_grad(); l = (z * z.conj()).real.sum() + (z.T @ w.to(z.dtype)).abs().sum(); l.backward(); o.step()
    print(n, [[round(v.real, 3) + round(v.imag, 3) * 1j for v in r] for r in z.tolist()], w); s = o.state_dict(); print(sorted((k, str(v.dtype)) for k, v in s["state"][0].items() if v is not None))
    q = getattr(torch.optim, n)([z, w], lr=.1, **a); q.load_state_dict(copy.deepcopy(s)); q.step(); print([[round(v.real, 3) + round(v.imag, 3) * 1j for v in r] for r in z.tolist()])
z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True); o = torch.optim.LBFGS([z], line_search_fn="strong_wolfe")
def c(): o.zero_grad(); l = ((z - (1 + 1j)).abs() ** 2).sum(); l.backward(); return l
o.step(c); print([round(v.imag, 3) for v in z.tolist()]); s = o.state_dict()["state"][0]; print(type(s["d"]).__name__, s["d"].shape, type(s["old_dirs"]), s["n_iter"], s["func_evals"])
p = torch.optim.LBFGS([z], line_search_fn="strong_wolfe"); p.load_state_dict(copy.deepcopy(o.state_dict())); p.step(c); print([round(v.real, 3) for v in z.tolist()])
for n in ("Adafactor", "Muon", "SparseAdam"):
    def f(): z = torch.ones(2, 2, dtype=torch.complex64, requires_grad=True); z.grad = torch.ones_like(z); getattr(torch.optim, n)([z]).step()
    show(f)
## rates that are tensors
S = torch.optim.lr_scheduler
for n, a in [("StepLR", (2, .5)), ("ExponentialLR", (.9,)), ("CosineAnnealingLR", (5,)), ("LambdaLR", (lambda e: .5 ** e,)), ("ConstantLR", (.5, 2)), ("LinearLR", (.5, 1., 3)), ("CyclicLR", (.1, .5, 2)), ("OneCycleLR", (1., 10)), ("CosineAnnealingWarmRestarts", (3,)), ("ReduceLROnPlateau", ("min", .5, 0))]:
    lr = torch.tensor(.25); o = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=lr, momentum=.9); s = getattr(S, n)(o, *a); r = []
    for i in range(4): o.step(); s.step(*([1.] if "Plat" in n else [])); r.append(s.get_last_lr()[0])
    print(n, r, o.param_groups[0]["lr"] is lr, lr, sorted(o.param_groups[0]), sorted(k for k in s.state_dict() if k not in ("al", "mode_worse")))
show(lambda: s.step(1., 3)); s = S.StepLR(o, 2); o.step(); s.step(3); print(s.get_last_lr(), s.last_epoch)
for c in ("SGD", "Adam", "Adafactor", "LBFGS", "ASGD", "Rprop", "SparseAdam", "Muon"): show(lambda: getattr(torch.optim, c)([torch.ones(1, 1, requires_grad=True)], lr=torch.tensor([.1, .2])))
for k in ({"lr": torch.tensor(.1), "foreach": True}, {"betas": (.9, torch.tensor(.9))}, {"betas": (torch.tensor(.9), torch.tensor(.9)), "foreach": True}): show(lambda: torch.optim.Adam([torch.ones(1, requires_grad=True)], **k)); show(lambda: torch.optim.AdamW([torch.ones(1, requires_grad=True)], **k))
for k in ({"lr": -1}, {"beta2_decay": 1}, {"eps": (-1, 1)}, {"eps": (None, -1)}, {"d": 0}, {"weight_decay": -1}): show(lambda: torch.optim.Adafactor([torch.ones(1, requires_grad=True)], **k))
for k in ({"lr": -1}, {"momentum": -1}, {"weight_decay": -1}, {"adjust_lr_fn": "x"}): show(lambda: torch.optim.Muon([torch.ones(1, 1, requires_grad=True)], **k))
show(lambda: torch.optim.Muon([torch.ones(2, requires_grad=True)])); print(torch.optim.Muon([torch.ones(2, 1, requires_grad=True)]))
## views and inplace more
x = torch.arange(6.).view(2, 3).requires_grad_(); y = x.clone()
y.t_(); print(y.shape, y.grad_fn, y._version); y.sum().backward(); print(x.grad)
y = x.clone(); y.transpose_(0, 1); y.squeeze_(); y.unsqueeze_(0); print(y.shape, y.grad_fn.name())
y = x.clone(); v = y[:, 1]; w = y.diagonal(); v.zero_(); w.add_(1); print(y, v, w); (y ** 2).sum().backward(); print(x.grad)
y = x.clone(); v = y.view(-1); v[::2] = x.view(-1)[1::2] * 3; x.grad = None; y.sum().backward(); print(x.grad)
y = x.clone(); y.masked_fill_(y > 2, 0.); x.grad = None; y.sum().backward(); print(x.grad); y = x * 1; y[y > 3] *= 5; x.grad = None; y.sum().backward(); print(x.grad)
y = x * 1; y[0], y[1] = y[1].clone(), y[0].clone(); x.grad = None; (y * torch.arange(6.).view(2, 3)).sum().backward(); print(x.grad)
b = torch.zeros(2, 3); b[0].copy_(x[0]); b[1].add_(x[1]); print(b.requires_grad, b.grad_fn, b); b = torch.zeros(3); b.add_(x.sum()); show(lambda: b.backward(torch.ones(3)))
b = torch.zeros(3); v = b[:2]; v.mul_(x[0, :2]); print(b, v, b.is_leaf, v._base is b); b = torch.zeros(3, requires_grad=True); show(lambda: b[:2].mul_(x[0, :2]))
y = x * 2; d = y.detach(); d.zero_(); print(y, y._version, d._version); show(lambda: (y * y).sum().backward())
y = x * 2; z = y * y; y.detach().zero_(); show(lambda: z.sum().backward()); y = x * 2; z = y * y; y.data.zero_(); x.grad = None; z.sum().backward(); print(x.grad)
y = x.exp(); z = y.sum(); y.detach_(); show(lambda: z.backward()); show(lambda: y.requires_grad)
y = x * 1; v = y[0]; y.mul_(2); print(v, v.grad_fn, v._version); x.grad = None; v.sum().backward(); print(x.grad)
y = x * 1; v = y[0]; show(lambda: v.set_(torch.ones(1))); show(lambda: v.resize_(2)); show(lambda: y.resize_as_(torch.ones(6)))
y = x * 1; y += 1; y -= 2; y *= 3; y /= 4; y **= 2; x.grad = None; y.sum().backward(); print(x.grad, y._version)
y = x * 1; y.requires_grad_(); y.retain_grad(); y.sum().backward(); print(y.grad, y.retains_grad, x.retains_grad); y = x * 1; y.retain_grad(); y.mul_(2); y.sum().backward(); print(y.grad)
y = x * 1; hs = []; y.register_hook(lambda g: hs.append(("old", g))); y.mul_(2); y.register_hook(lambda g: hs.append(("new", g))); y.sum().backward(); print(hs)
torch.autograd.graph.increment_version(y); print(y._version); y = x * 1
with torch.autograd._unsafe_preserve_version_counter(y): y.mul_(2)
print(y._version)
show(lambda: x.as_strided((2, 2), (1, 1)).sum().backward()); print(x.grad); show(lambda: torch.ones(2, 3).as_strided((2, 2), (1, 1)))
e = x.expand(2, 2, 3); show(lambda: e.mul_(2)); show(lambda: (x * 1).expand(2, 2, 3).add_(1))
show(lambda: torch.add(x[0], x[1], out=torch.zeros(3))); o = torch.zeros(2); show(lambda: torch.add(torch.ones(3), 1, out=o)); print(o)
o = torch.zeros(3); show(lambda: torch.add(o, o, out=o)); o = torch.arange(4.); print(o)
## hooks more
x = torch.ones(2, requires_grad=True)
def h(g): print("h", g); return None
hd = x.register_hook(h); y = x * 2; y.sum().backward(); print(x.grad); hd.remove(); hd.remove(); y = x * 2; y.sum().backward(); print(x.grad)
with x.register_hook(h): (x * 2).sum().backward()
(x * 2).sum().backward(); print(x.grad)
def inp(g): pass
x.grad = None; z = x * 1; z.register_hook(inp); z.sum().backward(); print(x.grad)
x.grad = None; a = x * 2; b = a.view(2); a.register_hook(lambda g: g * 3); b.register_hook(lambda g: g + 1); (a + b).sum().backward(); print(x.grad)
show(lambda: x.register_hook(lambda: 3) and (x * 1).sum().backward())
x = torch.ones(2, requires_grad=True); x.register_post_accumulate_grad_hook(lambda p: p.grad.zero_()); print(x.grad)
x.register_post_accumulate_grad_hook(lambda p: 3); print(x.grad)
x = torch.ones(2, requires_grad=True); x.register_hook(lambda g: g * 2); g, = torch.autograd.grad((x * 3).sum(), x); print(g, x.grad); x.register_post_accumulate_grad_hook(lambda p: print("no")); torch.autograd.grad((x * 3).sum(), x); (x * 3).sum().backward(inputs=[x]); print(x.grad)
y = x * 3; n = y.grad_fn; n.register_hook(lambda gi, go: tuple(g * 10 if g is not None else None for g in gi)); x.grad = None; y.sum().backward(); print(x.grad)
y = x * 3; y.grad_fn.register_hook(lambda gi, go: (torch.ones(3), None)); show(lambda: y.sum().backward()); y = x * 3; y.grad_fn.register_hook(lambda gi, go: gi[0]); show(lambda: y.sum().backward()); y = x * 3; y.grad_fn.register_prehook(lambda go: (go[0] * 7,)); x.grad = None; y.sum().backward(); print(x.grad)
acc = (x * 1).grad_fn.next_functions[0][0]; print(acc.name(), acc.variable is x, acc.next_functions); acc.register_hook(lambda gi, go: print("acc", gi, go)); acc.register_prehook(lambda g: print("accpre", g)); x.grad = None; (x * 2).sum().backward()
torch.autograd.graph.register_multi_grad_hook((x, y), lambda gs: print("multi", gs)); z = (x * 2 + y * 2).sum()
u = torch.ones(2, requires_grad=True); v = torch.ones(2, requires_grad=True); torch.autograd.graph.register_multi_grad_hook((u, v), lambda g: print("any", g), mode="any"); (u * 2).sum().backward(); (u + v).sum().backward()
show(lambda: torch.autograd.graph.register_multi_grad_hook((u,), print, mode="x"))
e = torch.autograd.graph.get_gradient_edge(u * 2); print(e.node.name(), e.output_nr); print(torch.autograd.grad((u * 2).sum(), torch.autograd.graph.get_gradient_edge(u)))
m = u * 2; k = (m * 3).sum(); print(torch.autograd.grad(k, torch.autograd.graph.get_gradient_edge(m)))
## saved tensor hooks
x = torch.ones(2, requires_grad=True)
print(x.grad)
with torch.autograd.graph.save_on_cpu(): y = (x.sin() ** 2).sum()
y.backward(); print(x.grad)
def f():
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: 3): y = x * x
    y.sum().backward()
def g():
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t): return x.detach().requires_grad_().clone().exp()
def k():
    with torch.autograd.graph.disable_saved_tensors_hooks("no hooks here"):
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t): pass
show(k)
y = x * x; s = y.grad_fn._raw_saved_self; x.grad = None; y.sum().backward(); print(x.grad)
with torch.autograd.graph.allow_mutation_on_saved_tensors(): a = x.clone(); y = a ** 2; a.zero_(); x.grad = None; y.sum().backward(); print(x.grad)
## backward options
x = torch.ones(2, requires_grad=True); w = torch.ones(2, requires_grad=True); y = (x * w).sum()
y.backward(inputs=x, retain_graph=True); print(x.grad, w.grad); y.backward(inputs=[w], retain_graph=True); print(x.grad, w.grad); show(lambda: y.backward(inputs=(x * 1,))); show(lambda: y.backward(inputs=[3])); m = x * 2; k = (m * 3).sum(); show(lambda: k.backward(inputs=[m], retain_graph=True)); print(m.grad)
show(lambda: torch.autograd.backward(y, retain_graph=True, grad_tensors=torch.tensor(2.))); show(lambda: torch.autograd.backward((y, y), (None, torch.tensor(3.)))); print(x.grad); show(lambda: torch.autograd.backward(3)); show(lambda: torch.autograd.backward([y], grad_variables=[torch.tensor(1.)]))
y = x * w; g = torch.tensor([1., 2.], requires_grad=True); a, = torch.autograd.grad(y, x, g, create_graph=True); print(a); print(torch.autograd.grad(a.sum(), (g, w))); show(lambda: torch.autograd.grad(y, x, torch.ones(2))); show(lambda: torch.autograd.grad(y, x, torch.ones(3))); show(lambda: torch.autograd.grad((y, y), x, (torch.ones(2),))); show(lambda: torch.autograd.grad(y.sum(), x, 3.)); show(lambda: torch.autograd.grad(y.sum(), "x")); show(lambda: torch.autograd.grad((x * w).sum(), {"a": x}))
show(lambda: torch.autograd.grad((x * w).sum(), (x, w), retain_graph=False)); show(lambda: torch.autograd.grad((x * w).sum(), x, only_inputs=False)); show(lambda: torch.autograd.grad((x * 1).sum(), (x, x))); show(lambda: torch.autograd.grad(x.sum(), x, allow_unused=True)); show(lambda: torch.autograd.grad(x, x, torch.ones(2))); show(lambda: torch.autograd.grad(x.sum() * 0, w, allow_unused=True))
x.grad = torch.ones(2); a = x.grad; (x * 2).sum().backward(); print(a, a is x.grad); x.grad = None; (x * 2).sum().backward(create_graph=True); a = x.grad; (x * 2).sum().backward(create_graph=True); print(a, a is x.grad, x.grad.grad_fn, x.grad)
show(lambda: setattr(x, "grad", torch.ones(3))); show(lambda: setattr(x, "grad", torch.ones(2, dtype=torch.double))); show(lambda: setattr(x, "grad", 3)); show(lambda: setattr(x, "grad", x)); del x.grad; print(x.grad)
h = torch.ones(2, dtype=torch.half, requires_grad=True); (h.float() * 2).sum().backward(); print(h.grad)
z = torch.ones(2, dtype=torch.complex64, requires_grad=True); show(lambda: (z * 2).sum().backward()); (z * (1 + 2j)).abs().sum().backward(); z.grad = None; (z.real * z.imag + z.real ** 2).sum().backward(); print(z.grad)
## leaves that are views
x = torch.arange(6.).view(2, 3).requires_grad_()
show(lambda: x[0].mul_(2)); show(lambda: x.view(6).mul_(2)); show(lambda: x.t().mul_(2)); show(lambda: x.detach()[0].mul_(2)); print(x)
show(lambda: x.as_strided((2, 2), (1, 1))); x.as_strided((2, 2), (1, 1)).sum().backward(); print(x.grad)
b = torch.arange(6.); w = b[2:].requires_grad_(); show(lambda: w.as_strided((2,), (1,))); show(lambda: w.as_strided((2,), (1,), 3)); w.as_strided((2,), (1,), 3).sum().backward(); print(w.grad)
b = torch.arange(6.); w = b[::2].requires_grad_(); print(w.grad)
b = torch.zeros(3); v = b[:2]; v.requires_grad_(); show(lambda: b.add_(1)); print(v, b, v.is_leaf); show(lambda: b.mul_(torch.ones(3, requires_grad=True))); show(lambda: v); (v * 2).sum().backward(); print(v.grad)
b = torch.zeros(3); v = b[:2]; w = b[1:]; v.requires_grad_(); show(lambda: w.add_(1)); print(v, v._version)
b = torch.zeros(3); v = b[:2]; b.requires_grad_(); show(lambda: v.add_(1)); print(b)
b = torch.zeros(3, requires_grad=True); v = b.detach(); u = v[:2]; u.add_(1); print(b, u._base is v)
b = torch.ones(3); v = b[:2]; b.mul_(torch.full((3,), 2., requires_grad=True)); print(v, v.requires_grad, v.grad_fn); show(lambda: v.sum().backward())
b = torch.ones(3, 2); r = [q for q in b]; print(b, r[1], r[0])
b = torch.ones(4); s = b.split(2); print(b.requires_grad, s[1].requires_grad)
y = torch.ones(2, 2, requires_grad=True) * 1; z = y.view(4); z[0] = 5; y[1, 1] = 3; w = z * y.view(-1); print(w, y.grad_fn.name(), z.grad_fn.name()); w.sum().backward()
n = torch.nn.Parameter(torch.arange(4.).view(2, 2)); show(lambda: n[0].add_(1)); show(lambda: n.data[0].add_(1)); print(n); n2 = torch.nn.Parameter(n[0]); print(n2, n2._base, n2.is_leaf); n2.data[0] = 9; print(n)
## function basics
class F1(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y); ctx.k = 3; return x * y, x + y
    @staticmethod
    def backward(ctx, a, b):
        x, y = ctx.saved_tensors
        print("needs", ctx.needs_input_grad, ctx.k, a, b)
        return a * y + b, a * x + b
x = torch.ones(2, requires_grad=True); y = torch.full((2,), 2.)
p, q = F1.apply(x, y); print(p, q, p.grad_fn is q.grad_fn, p.grad_fn.name(), p.grad_fn.next_functions); p.sum().backward(); print(x.grad, y.grad)
show(lambda: q.sum().backward()); show(lambda: p.grad_fn.saved_tensors)
show(lambda: F1.apply(x)); show(lambda: F1()); show(lambda: F1.apply(3, 4)); show(lambda: F1.forward)
class F2(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
x = torch.ones(2, requires_grad=True); show(lambda: F2.apply(x).sum().backward())
class F3(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, g): return g, g
show(lambda: F3.apply(x).sum().backward())
class F4(F3):
    @staticmethod
    def backward(ctx, g): return torch.ones(3)
show(lambda: F4.apply(x).sum().backward())
class F5(F3):
    @staticmethod
    def backward(ctx, g): return 3
show(lambda: F5.apply(x).sum().backward())
class F6(F3):
    @staticmethod
    def backward(ctx, g): return None
x.grad = None; show(lambda: F6.apply(x).sum().backward()); print(x.grad)
class F7(F3):
    @staticmethod
    def forward(ctx, x): return x
    @staticmethod
    def backward(ctx, g): return g * 5
z = F7.apply(x); print(z is x, z, z._base is x, z.data_ptr() == x.data_ptr()); z.sum().backward(); print(x.grad)
class F8(F3):
    @staticmethod
    def forward(ctx, x): x.mul_(2); ctx.mark_dirty(x); return x
    @staticmethod
    def backward(ctx, g): return g * 2
y = x * 1; z = F8.apply(y); print(z is y, y, y._version); z.sum().backward(); show(lambda: F8.apply(x)); show(lambda: F8.apply(y[0]))
class F9(F3):
    @staticmethod
    def forward(ctx, x): x.mul_(2); return x
    @staticmethod
    def backward(ctx, g): return g * 2
y = x * 1; show(lambda: F9.apply(y))
class Fa(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        a, b = x * 1, x * 2; ctx.mark_non_differentiable(b); ctx.set_materialize_grads(False); return a, b
    @staticmethod
    def backward(ctx, g, h): print(g, h); return g
a, b = Fa.apply(x); print(a, b, b.requires_grad); a.sum().backward(); show(lambda: b.sum().backward())
class Fb(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): ctx.save_for_backward(x.exp()); ctx.save_for_backward(x); return x.exp()
    @staticmethod
    def backward(ctx, g): return g * ctx.saved_tensors[0]
show(lambda: torch.autograd.grad(Fb.apply(x).sum(), x))
class Fc(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): o = x.exp(); ctx.save_for_backward(o); return o
    @staticmethod
    def backward(ctx, g): o, = ctx.saved_tensors; print(o.grad_fn, o.requires_grad); return g * o
g, = torch.autograd.grad(Fc.apply(x).sum(), x, create_graph=True); print(g); print(torch.autograd.grad(g.sum(), x))
y = Fc.apply(x); y.mul_(2)
show(lambda: Fc.apply(x).grad_fn.saved_tensors)
show(lambda: Fc.apply(x).grad_fn); show(lambda: type(Fc.apply(x).grad_fn).__name__); show(lambda: Fc.apply(x).grad_fn.needs_input_grad); show(lambda: Fc.apply(x).grad_fn.metadata)
## function saves wrong things
class A(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): ctx.save_for_backward(3); return x
show(lambda: A.apply(torch.ones(1, requires_grad=True)))
class A(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): ctx.save_for_backward(None, x); return x * 1
    @staticmethod
    def backward(ctx, g): print(ctx.saved_tensors, ctx.saved_variables if 0 else 0); return g
A.apply(torch.ones(1, requires_grad=True)).backward()
class A(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): ctx.save_for_backward([x]); return x * 1
show(lambda: A.apply(torch.ones(1, requires_grad=True)))
class A(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return {"a": x * 1}
    @staticmethod
    def backward(ctx, g): return g
show(lambda: A.apply(torch.ones(1, requires_grad=True)))
class A(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return [x * 1, x * 2]
    @staticmethod
    def backward(ctx, *g): return g[0]
show(lambda: A.apply(torch.ones(1, requires_grad=True)))
class A(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y=None, *, k=2): return x * k
    @staticmethod
    def backward(ctx, *g): return g[0], None
show(lambda: A.apply(torch.ones(1, requires_grad=True), None)); show(lambda: A.apply(x=torch.ones(1, requires_grad=True)))
class A:
    pass
class B(torch.autograd.Function):
    def forward(self, x): return x
    def backward(self, g): return g
show(lambda: B()(torch.ones(1))); show(lambda: B.apply(torch.ones(1, requires_grad=True)))
## function under no grad and nested
class S(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): print(torch.is_grad_enabled(), x.requires_grad); y = x * 2; print(y.requires_grad); return y
    @staticmethod
    def backward(ctx, g): print("b", torch.is_grad_enabled(), g.requires_grad); return g * 2
x = torch.ones(1, requires_grad=True)
with torch.no_grad(): print(S.apply(x))
y = S.apply(S.apply(x)); y.backward(); print(x.grad); y = S.apply(x); y.backward(create_graph=True); print(x.grad)
class E(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x.detach().requires_grad_()
        with torch.enable_grad(): ctx.y = ctx.x ** 3
        return ctx.y.detach()
    @staticmethod
    def backward(ctx, g): ctx.y.backward(g); return ctx.x.grad
x = torch.tensor(2., requires_grad=True); E.apply(x).backward(); print(x.grad)
class D(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, f): ctx.f = f; return x * 1
    @staticmethod
    def backward(ctx, g): return ctx.f(g), None
show(lambda: D.apply(x, lambda g: 1 / 0).backward()); show(lambda: D.apply(x, lambda g: torch.ones(2)).backward()); show(lambda: D.apply(x, lambda g: torch.ones(1, 1)).backward()); show(lambda: D.apply(x, lambda g: g.double()).backward()); print(x.grad, x.grad.dtype)
## functions jvp
class J(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): ctx.x = x; return x ** 2
    @staticmethod
    def backward(ctx, g): return g * 2 * ctx.x
    @staticmethod
    def jvp(ctx, t): print("jvp"); return t * 2 * ctx.x
fwAD = torch.autograd.forward_ad
class K(J):
    jvp = torch.autograd.Function.jvp
class G(torch.autograd.Function):
    generate_vmap_rule = True
    @staticmethod
    def forward(x): return x ** 2
    @staticmethod
    def setup_context(ctx, inputs, output): ctx.save_for_backward(inputs[0])
    @staticmethod
    def backward(ctx, g): return g * 2 * ctx.saved_tensors[0]
    @staticmethod
    def jvp(ctx, t): return t * 7
show(lambda: torch.func.jvp(G.apply, (torch.ones(2),), (torch.ones(2),))); show(lambda: torch.func.grad(lambda x: G.apply(x).sum())(torch.ones(2))); show(lambda: torch.func.vmap(G.apply)(torch.ones(2))); show(lambda: torch.func.vmap(torch.func.grad(G.apply))(torch.ones(2))); show(lambda: torch.func.jacrev(G.apply)(torch.ones(2)))
## forward ad
fwAD = torch.autograd.forward_ad
show(lambda: fwAD.unpack_dual(x)); show(lambda: fwAD.make_dual(torch.ones(2), torch.ones(2)))
w = torch.ones(2, requires_grad=True)
with fwAD.dual_level():
    d = fwAD.make_dual(w, torch.ones(2)); o = (d ** 3).sum(); t = fwAD.unpack_dual(o).tangent; print(t, t.requires_grad); print(torch.autograd.grad(t, w))
    with fwAD.set_forward_grad_enabled(False) if hasattr(fwAD, "set_forward_grad_enabled") else torch.no_grad(): pass
## losses
torch.manual_seed(0); a = torch.tensor([[.2, .5, -.3], [1., -2., .7]], requires_grad=True); b = torch.tensor([[.1, .4, .3], [.9, -1., .2]]); t = torch.tensor([2, 0])
for c in ["F.l1_loss(a, b)", "F.mse_loss(a, b, reduction='sum')", "F.smooth_l1_loss(a, b, beta=.5)", "F.huber_loss(a, b, delta=.3, reduction='none')", "F.cross_entropy(a, t)", "F.cross_entropy(a, t, weight=torch.tensor([1., 2., 3.]), label_smoothing=.1)", "F.cross_entropy(a, t, ignore_index=2)", "F.cross_entropy(a, torch.tensor([-100, -100]))", "F.cross_entropy(a[0], torch.tensor(1))", "F.nll_loss(a.log_softmax(1), t, reduction='none')", "F.binary_cross_entropy(a.sigmoid(), b.sigmoid())", "F.binary_cross_entropy_with_logits(a, b.abs(), pos_weight=torch.tensor([1., 2., 3.]))", "F.binary_cross_entropy(torch.tensor([0., 1.], requires_grad=True), torch.tensor([1., 0.]))", "F.kl_div(a.log_softmax(1), b.softmax(1), reduction='batchmean')", "F.kl_div(a.log_softmax(1), b.log_softmax(1), log_target=True, reduction='sum')", "F.kl_div(a, torch.zeros(2, 3))", "F.hinge_embedding_loss(a, torch.tensor([[1., -1., 1.], [-1., 1., -1.]]))", "F.margin_ranking_loss(a[0], a[1], torch.tensor([1., -1., 1.]), margin=.2)", "F.soft_margin_loss(a, torch.tensor([[1., -1., 1.], [-1., 1., -1.]]))", "F.multi_margin_loss(a, t, p=2)", "F.multi_margin_loss(a, t, reduction='none', weight=torch.tensor([1., 2., 3.]))", "F.multilabel_margin_loss(a, torch.tensor([[1, -1, 0], [0, 2, -1]]))", "F.multilabel_soft_margin_loss(a, (b > .2).float())", "F.triplet_margin_loss(a, b, b.flip(0), swap=True)", "F.cosine_embedding_loss(a, b, torch.tensor([1, -1]))", "F.poisson_nll_loss(a, b.abs(), full=True)", "F.gaussian_nll_loss(a, b, torch.ones(2, 1), full=True)", "F.pairwise_distance(a, b, p=1)", "F.cosine_similarity(a, b, dim=0)", "F.ctc_loss(torch.randn(5, 1, 3).log_softmax(2) * 0 + a.mean() - 1.0986, torch.tensor([[1, 2]]), torch.tensor([5]), torch.tensor([2]))"]:
    def f():
        a.grad = None; l = eval(c); l.sum().backward(); return c, l, a.grad
    show(f)
## errors of losses
a = torch.randn(2, 3); t = torch.tensor([0, 1])
for c in ["F.cross_entropy(a, torch.tensor([0, 3]))", "F.cross_entropy(a, torch.tensor([0., 1.]))", "F.cross_entropy(a, torch.tensor([0]))", "F.cross_entropy(a, t, reduction='avg')", "F.nll_loss(a, torch.tensor([0, -1]))", "F.mse_loss(a, torch.ones(2))", "F.mse_loss(a, torch.ones(2, 4))", "F.binary_cross_entropy(a, a)", "F.binary_cross_entropy(torch.ones(2), torch.ones(3))", "F.binary_cross_entropy_with_logits(a, torch.ones(2))", "F.l1_loss(a, torch.ones(3, 3))", "F.smooth_l1_loss(a, a, beta=-1)", "F.huber_loss(a, a, delta=0)", "F.triplet_margin_loss(a, a, torch.ones(2))", "F.multi_margin_loss(a, torch.tensor([0]))", "F.multi_margin_loss(a, t, p=3)", "F.margin_ranking_loss(torch.ones(2), torch.ones(2), torch.ones(2, 1))", "F.gaussian_nll_loss(a, a, -torch.ones(2, 3))", "F.gaussian_nll_loss(a, a, torch.ones(5))", "F.poisson_nll_loss(a, a, reduction='x')", "F.kl_div(a, a, reduction='mean')", "F.hinge_embedding_loss(a, a, reduction='x')", "nn.CrossEntropyLoss(reduction='x')(a, t)", "nn.MSELoss(size_average=False)(a, a)", "F.mse_loss(a, a, reduce=False)", "nn.BCELoss()(torch.tensor([2.]), torch.tensor([1.]))", "nn.MSELoss()(a)", "nn.CrossEntropyLoss(weight=torch.ones(2))(a, t)", "F.cosine_embedding_loss(a, a, t)", "F.softmax(a)", "F.softmax(a, 5)", "F.log_softmax(a[0])", "F.one_hot(torch.tensor([0, 5]), 3)", "F.one_hot(torch.tensor([-1]))", "F.one_hot(torch.tensor([1.]))", "F.embedding(torch.tensor([5]), a)", "F.dropout(a, 2)", "F.normalize(a, dim=4)", "F.pad(a, (1, 1, 1, 1, 1, 1))", "F.pad(a, (1,))", "F.pad(a, (4, 4), mode='reflect')", "F.layer_norm(a, (2,))", "F.group_norm(torch.ones(2, 3), 2)", "F.batch_norm(a, None, None)", "F.batch_norm(torch.ones(1, 3), None, None, training=True)", "F.linear(a, torch.ones(2, 2))", "F.bilinear(a, a, torch.ones(1, 2, 3))", "F.conv1d(a, a)", "F.conv2d(torch.ones(1, 2, 4, 4), torch.ones(3, 1, 2, 2))", "F.conv2d(torch.ones(1, 2, 4, 4), torch.ones(3, 1, 2, 2), groups=2)", "F.conv2d(torch.ones(1, 2, 4, 4), torch.ones(2, 2, 2, 2), torch.ones(3))", "F.conv2d(torch.ones(1, 2, 4, 4), torch.ones(2, 2, 2, 2), stride=0)", "F.max_pool2d(torch.ones(1, 1, 2, 2), 3)", "F.max_pool2d(torch.ones(1, 1, 4, 4), 2, padding=2)", "F.avg_pool1d(torch.ones(1, 4), 2, padding=2)", "F.pixel_shuffle(torch.ones(1, 3, 2, 2), 2)", "F.multi_head_attention_forward", "F.glu(torch.ones(3))", "F.prelu(a, torch.ones(2))", "F.gumbel_softmax(a, tau=1., hard=True).shape", "F.local_response_norm(a, 2)", "F.embedding_bag(t, a)", "F.rrelu(a, .5, .1)", "F.celu(a, 0)"]:
    show(lambda: (c, type(eval(c)).__name__))
## modules containers
m = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Dropout(.5)); print(m, m[0], m[-1], m[:2], len(m), list(m.children())[1], [n for n, _ in m.named_modules()]); show(lambda: m[5]); show(lambda: m["x"]); m.append(nn.Tanh()); m.insert(1, nn.Identity()); m.extend([nn.GELU()]); del m[0]; print(m); print(m + nn.Sequential(nn.ReLU())); show(lambda: m.pop(0)); show(lambda: nn.Sequential(3)); show(lambda: m(torch.ones(2)).shape)
l = nn.ModuleList([nn.Linear(1, 1), nn.ReLU()]); print(l, len(l), l[0], l[-1:]); l += [nn.Tanh()]; l[1] = nn.GELU(); show(lambda: l(1)); show(lambda: l.append(3)); show(lambda: l[7]); print(l, [type(x).__name__ for x in l]); print(nn.ModuleList([nn.Linear(1, 1) for _ in range(3)]))
d = nn.ModuleDict({"a": nn.Linear(1, 1), "b": nn.ReLU()}); print(d, list(d), "a" in d, d["a"]); d.update({"c": nn.Tanh()}); d.pop("a"); print(list(d.items())); show(lambda: d["z"]); show(lambda: d.update({"k": 3}))
p = nn.ParameterList([torch.ones(2), nn.Parameter(torch.zeros(1)), 3]); print(p, len(p), p[0], p[2], list(dict(p.named_parameters()))); p.append(torch.ones(1)); print(p[-1]); q = nn.ParameterDict({"a": torch.ones(2)}); print(q, q["a"], q.a is q["a"]); q["b"] = torch.zeros(1); print(list(q.keys()), [n for n, _ in q.named_parameters()])
class M(nn.Module):
    def __init__(self): super().__init__(); self.w = nn.Parameter(torch.ones(2)); self.register_buffer("b", torch.zeros(1)); self.register_buffer("c", torch.zeros(1), persistent=False); self.l = nn.Linear(2, 1); self.n = None; self.register_parameter("q", None)
    def forward(self, x): return self.l(x * self.w)
m = M(); print(m, list(m.state_dict()), [n for n, _ in m.named_parameters()], [n for n, _ in m.named_buffers()], m.q); show(lambda: m.zz); show(lambda: setattr(m, "w", torch.ones(2))); show(lambda: m.register_parameter("w", nn.Parameter(torch.ones(1)))); show(lambda: m.register_buffer("w", torch.ones(1))); show(lambda: m.register_parameter("a.b", None)); show(lambda: m.register_parameter("x", torch.ones(1))); show(lambda: m.register_buffer("x", 3)); show(lambda: m.add_module("l2", 3)); show(lambda: m.add_module("w", nn.ReLU())); del m.w; show(lambda: m(torch.ones(2)))
m = M(); print(m.train(False).training, m.l.training, m.eval() is m); show(lambda: m.train(3)); print([str(p.dtype) for p in m.double().parameters()], m.half().w.dtype, m.to(torch.float32).b.dtype, m.float() is m); show(lambda: m.to(torch.int32)); show(lambda: m.type(torch.float64).w.dtype); show(lambda: m.get_buffer("w")); show(lambda: m.get_parameter("l")); show(lambda: m.get_submodule("l.z")); show(lambda: m.set_submodule("l", nn.ReLU())); print(m)
m = M(); s = m.state_dict(); s["w"] += 5; print(m.w); show(lambda: m.load_state_dict({"w": torch.ones(3)})); show(lambda: m.load_state_dict({"w": torch.ones(2), "zz": 3}, strict=False)); show(lambda: m.load_state_dict(3)); print(m.load_state_dict(m.state_dict())); show(lambda: m.load_state_dict({**m.state_dict(), "extra": torch.ones(1)})); c = copy.deepcopy(m); c.w.data.fill_(9); print(m.w, c.w); m.load_state_dict(c.state_dict(), assign=True); print(m.w is c.w, m.w)
show(lambda: nn.Module()(1)); show(lambda: nn.Linear(2, 3, 4, 5, 6, 7)); show(lambda: nn.Linear(-1, 2)); show(lambda: nn.Conv2d(3, 4, 2, groups=2)); show(lambda: nn.Conv2d(4, 4, 2, stride=2, padding="same")); show(lambda: nn.BatchNorm1d(0)); show(lambda: nn.Dropout(2)); show(lambda: nn.Embedding(3, 2, padding_idx=5)); show(lambda: nn.LSTM(2, 0)); show(lambda: nn.LSTM(2, 2, dropout=2)); show(lambda: nn.LSTM(2, 2, dropout=.5)); show(lambda: nn.MultiheadAttention(5, 2)); show(lambda: nn.GroupNorm(2, 3)); show(lambda: nn.RNN(2, 2, nonlinearity="x")); show(lambda: nn.Flatten()(torch.ones(2, 3, 4)).shape); show(lambda: nn.Unflatten(1, (2, 2))(torch.ones(1, 4)).shape); show(lambda: nn.Upsample(scale_factor=2)); show(lambda: nn.Transformer(4, 3)); show(lambda: nn.PReLU(3)(torch.ones(2, 4)))
## hooks of modules more
m = nn.Linear(1, 1); nn.init.ones_(m.weight); nn.init.zeros_(m.bias)
h = m.register_forward_pre_hook(lambda mod, a: (a[0] * 2,)); print(m(torch.ones(1, 1))); h.remove(); m.register_forward_hook(lambda mod, a, o: o * 3); print(m(torch.ones(1, 1))); m.register_forward_pre_hook(lambda mod, a: a[0] * 5, prepend=True); print(m(torch.ones(1, 1)))
m = nn.Linear(1, 1); m.register_forward_hook(lambda mod, a, o: print("always"), always_call=True); show(lambda: m(torch.ones(2)))
g1 = nn.modules.module.register_module_forward_hook(lambda mod, a, o: print("global", type(mod).__name__)); nn.Sequential(nn.ReLU())(torch.ones(1)); g1.remove()
m = nn.Sequential(nn.Linear(1, 1), nn.ReLU()); nn.init.ones_(m[0].weight); nn.init.zeros_(m[0].bias)
m[0].register_full_backward_hook(lambda mod, gi, go: (gi[0] * 2 if gi[0] is not None else None,)); x = torch.ones(1, 1, requires_grad=True); m(x).sum().backward(); print(x.grad, m[0].weight.grad); show(lambda: m[0].register_backward_hook(lambda *a: None)); m2 = nn.ReLU(inplace=True); m2.register_full_backward_hook(lambda mod, gi, go: None); show(lambda: m2(x * 1).sum().backward())
m = nn.Linear(1, 1); m.register_state_dict_post_hook(lambda mod, s, p, l: s.update(extra=3)); print(list(m.state_dict())); m.register_load_state_dict_post_hook(lambda mod, keys: print(keys)); show(lambda: m.load_state_dict({"weight": torch.ones(1, 1)}, strict=False)); m.register_load_state_dict_pre_hook(lambda mod, s, *a: print(sorted(s))); show(lambda: m.load_state_dict({"weight": torch.ones(1, 1), "bias": torch.ones(1)}))
## convolutions that do not fit
x = torch.ones(1, 2, 4, 4); w = torch.ones(2, 2, 2, 2)
for c in ["F.conv2d(x, w, torch.ones(1))", "F.conv2d(x, w, torch.ones(1, 2))", "F.conv1d(x, w)", "F.conv2d(x[0, 0], w)", "F.conv2d(x, w, groups=2)", "F.conv2d(x, torch.ones(3, 1, 2, 2), groups=2)", "F.conv2d(x, w, padding=-1)", "F.conv2d(x, w, stride=-1)", "F.conv_transpose2d(x, torch.ones(3, 2, 2, 2))", "F.pad(x, (4, 0), mode='reflect')", "F.pad(x, (5, 0), mode='circular')", "F.pad(x, (4, 0), mode='circular')", "F.pad(x, (9, 0), mode='replicate')", "F.pad(x[0, 0, 0], (1, 1), mode='reflect')", "F.multi_margin_loss(torch.ones(2, 3), torch.tensor([0, 3]))", "F.multi_margin_loss(torch.ones(3), torch.tensor(1))", "F.multilabel_margin_loss(torch.ones(2, 3), torch.tensor([0, 1, 1]))"]:
    show(lambda: (c, tuple(eval(c).shape)))
## ties of losses
a = torch.tensor([[1., 1., 0.], [2., 1., 3.]], requires_grad=True); t = torch.tensor([0, 1])
for c in ["F.multi_margin_loss(a, t, margin=0.)", "F.multi_margin_loss(a, t, margin=1.)", "F.multi_margin_loss(a, t, margin=1., p=2)", "F.multilabel_margin_loss(a, torch.tensor([[1, -1, 0], [0, 2, -1]]))", "F.margin_ranking_loss(a[0], a[1], torch.tensor([1., 1., -1.]), margin=0.)", "F.margin_ranking_loss(a[0], a[1], torch.tensor([-1., 1., -1.]), margin=1.)", "F.hinge_embedding_loss(a, torch.tensor([[-1., -1., 1.], [-1., -1., 1.]]))", "F.triplet_margin_loss(a, a, a + 1)", "F.triplet_margin_loss(a, a, a)", "F.l1_loss(a, a)", "F.smooth_l1_loss(a, a + 1)", "F.huber_loss(a, a - 1)", "F.pairwise_distance(a, a, eps=0.)", "F.pairwise_distance(a, a, p=1)", "F.cosine_similarity(a * 0, a)", "F.kl_div(a, torch.tensor([[0., 1., .5], [1., 0., 2.]]), reduction='sum')", "F.soft_margin_loss(a * 100, -torch.ones(2, 3))", "F.poisson_nll_loss(a, a.detach(), log_input=False)", "F.gaussian_nll_loss(a, a + 1, a * 0)", "F.relu6(a * 3)", "F.hardtanh(a)", "F.hardsigmoid(a)", "F.softshrink(a, 1.)", "F.hardshrink(a, 1.)", "F.threshold(a, 1., 0.)", "F.leaky_relu(a - 1)", "F.elu(a - 1)", "F.prelu(a - 1, torch.tensor([.5]))", "F.selu(a - 1)", "F.celu(a - 1)", "F.max_pool1d(a[None], 2, 1)", "F.adaptive_max_pool1d(a[None], 2)", "a.clamp(1, 2)", "a.clamp(min=1)", "a.max(1)[0]", "a.amax(1)", "torch.maximum(a, a.detach())", "torch.max(a)", "a.abs().sqrt()", "(a - 1).norm()", "(a * 0).norm(dim=1)", "(a - a).pow(0.5)", "a.std(1)", "(a * 0).std()", "a.prod()", "a.cumprod(1)", "(a - 1).sign()", "torch.atan2(a * 0, a * 0)", "F.normalize(a * 0)", "a.sort()[0]", "a.median()", "a.fmod(1.)", "torch.where(a > 1, a.log(), a)", "F.gelu(a * 0)", "F.softplus(a * 30)", "F.logsigmoid(a * -200)", "a.logsumexp(0)", "torch.logaddexp(a, a)", "torch.special.xlogy(a * 0, a * 0)", "torch.special.entr(a * 0)", "a ** 0", "(a * 0) ** 0", "(a * 0) ** 1", "(a * 0) ** 2", "0 ** a", "torch.linalg.vector_norm(a, 1)", "torch.linalg.vector_norm(a, float('inf'))", "torch.cdist(a, a)", "torch.dist(a, a)", "a.lerp(a, 1.)", "torch.nan_to_num(a / 0)", "a.trunc()", "a.round()", "a.frac()", "a.unfold(1, 2, 1)", "F.dropout(a, 1.)", "F.dropout(a, 0.)"]:
    def f():
        a.grad = None; l = eval(c); l.sum().backward(); return c, l, a.grad
    show(f)
## accumulation details
x = torch.ones(3, requires_grad=True)
for i in range(3): ((x * i).sum()).backward(); print(x.grad, x.grad._version)
g = x.grad; x.grad = None; (x * 2).sum().backward(); print(g, x.grad, g is x.grad); x.grad.zero_(); x.grad += 1; (x * 2).sum().backward(); print(x.grad)
x.grad = x.grad * 2; print(x.grad.requires_grad); x.grad.data.mul_(0); print(x.grad); with_ = x.grad.detach(); (x * 2).sum().backward(); print(with_, x.grad)
x.requires_grad_(False); y = torch.ones(3, requires_grad=True); (x * y).sum().backward(); print(x.grad, y.grad); x.requires_grad = True; (x * y).sum().backward(); print(x.grad, y.grad); x.requires_grad = False; print(x.grad)
a = torch.ones(2, requires_grad=True); b = a; (a * b).sum().backward(); print(a.grad); c = a.clone(); d = a.detach().requires_grad_(); (c * d).sum().backward(); print(a.grad, d.grad, c.grad)
w = torch.ones(2, 3, requires_grad=True); (w[0] * w[1]).sum().backward(); print(w.grad); w.grad = None; w[[0, 0, 1]].sum().backward(); print(w.grad); w.grad = None; w[:, None].expand(2, 4, 3).sum().backward(); print(w.grad); w.grad = None; torch.stack([w, w]).mean().backward(); print(w.grad)
e = nn.Embedding(4, 2, padding_idx=1); e(torch.tensor([0, 1, 0])).sum().backward(); print(e.weight.grad); nn.Embedding(3, 2, max_norm=1.)(torch.tensor([0, 2])).sum().backward(); ff = nn.Embedding(4, 2, scale_grad_by_freq=True); ff(torch.tensor([0, 0, 3])).sum().backward(); print(ff.weight.grad)
i = torch.tensor(3., requires_grad=True); v = torch.ones(3); l = (v * i).sum(); l.backward(); print(i.grad, i.grad.shape, i.item())
s = torch.tensor([1., 2.], requires_grad=True); t = s.double(); u = t.half(); (u * 2).sum().backward(); print(s.grad, s.grad.dtype)
p = torch.tensor([1., 2.], requires_grad=True); q = p.tolist(); r = p[0].item() * p; r.sum().backward(); print(p.grad)
m = nn.Linear(2, 1); x = torch.ones(4, 2)
for k in range(4): (m(x[k:k+1]).sum() / 4).backward()
h = m.weight.grad.clone(); m.zero_grad(); m(x).mean().backward(); print(torch.allclose(h, m.weight.grad)); m.zero_grad(set_to_none=False); print(m.weight.grad, m.bias.grad)
with torch.no_grad(): l = m(x).sum()
show(lambda: l.backward()); show(lambda: m(x).sum().detach().backward()); show(lambda: m(x).argmax().backward()); show(lambda: m(x).backward()); show(lambda: torch.tensor(m(x).sum().item(), requires_grad=True).backward())
## graph facts
x = torch.ones(2, requires_grad=True); y = x * 2; z = y.sum(); print(z.grad_fn.next_functions, y.grad_fn.next_functions, z.grad_fn.next_functions[0][0] is y.grad_fn, y.is_leaf, x.is_leaf, x.grad_fn, y.requires_grad, x.output_nr, x.unbind()[1].output_nr)
del y; z.backward(); print(x.grad); print(z.grad_fn, z.grad_fn.next_functions); show(lambda: z.backward()); print(torch.autograd.graph.get_gradient_edge(z).node is z.grad_fn)
y = x * 2; show(lambda: y.grad); y.retain_grad(); y.sum().backward(); print(y.grad, y.retains_grad)
y = x * 2; y = y + 1; y = y.relu(); print(y.grad_fn.name(), y.grad_fn.next_functions[0][0].name(), y.grad_fn.next_functions[0][0].next_functions); a, b = x.split(1); print(a.grad_fn, b.grad_fn, a.grad_fn is b.grad_fn, a._base is x, a.grad_fn.name()); mx = x.max(0); print(mx, mx.values.grad_fn.name(), mx.indices.requires_grad); print(x.topk(1), x.sort(), torch.aminmax(x), x.mode(), x.kthvalue(1))
print(x.requires_grad_(False), (x * 2).grad_fn); x.requires_grad_(); print(torch.is_grad_enabled(), x.is_inference(), x.device, x.layout, x.is_cuda, x.is_sparse, x.is_contiguous(), x.stride(), x.storage_offset(), x.element_size(), x.nbytes, x.itemsize, x.names if 0 else 0, x.ndim, x.dim(), x.numel(), x.nelement(), x.size(), x.size(0), x.T, x.H if 0 else 0, x.type(), x.is_floating_point(), x.is_complex(), x.is_signed(), x.data_ptr() == x.detach().data_ptr())
show(lambda: x.register_hook()); show(lambda: torch.autograd.grad()); show(lambda: x.size(5)); show(lambda: x.view(3)); show(lambda: x @ torch.ones(3)); show(lambda: x + torch.ones(3)); show(lambda: x[5]); show(lambda: x[0, 0]); show(lambda: x.reshape(-1, -1)); show(lambda: x.view(-1, 0)); show(lambda: x.squeeze(4)); show(lambda: x.expand(3)); show(lambda: x.permute(1)); show(lambda: x.transpose(0, 1)); show(lambda: torch.cat([x, torch.ones(1, 2)])); show(lambda: torch.stack([x, torch.ones(1)])); show(lambda: x.gather(0, torch.tensor([5]))); show(lambda: x.masked_fill(torch.tensor([1]), 0)); show(lambda: x.index_select(0, torch.tensor([7]))); show(lambda: x.item()); show(lambda: x.sum(3)); show(lambda: x.mm(x)); show(lambda: torch.bmm(x, x)); show(lambda: x.chunk(0)); show(lambda: x.split(0)); show(lambda: x.unflatten(0, (3, 1))); show(lambda: x.flip(2)); show(lambda: x.unfold(0, 3, 1)); show(lambda: x.long().mean()); show(lambda: torch.arange(3).requires_grad_()); show(lambda: x.to(torch.long).requires_grad); show(lambda: torch.tensor("a")); show(lambda: torch.tensor([[1, 2], [3]])); show(lambda: torch.ones(-1)); show(lambda: torch.linspace(0, 1, -1)); show(lambda: torch.arange(0, 1, 0)); show(lambda: torch.eye(-1)); show(lambda: torch.full((2,), "a")); show(lambda: torch.from_numpy(3)); show(lambda: x.numpy()); show(lambda: torch.dot(x, torch.ones(2, 1))); show(lambda: torch.linalg.inv(torch.zeros(2, 2))); show(lambda: torch.linalg.cholesky(-torch.eye(2))); show(lambda: torch.einsum("i,j->k", x, x)); show(lambda: torch.where(x, x, x)); show(lambda: x.scatter(0, torch.tensor([3]), x)); show(lambda: torch.nonzero(x)); show(lambda: x.clamp()); show(lambda: x.topk(5)); show(lambda: x.kthvalue(0)); show(lambda: torch.multinomial(x, 5)); show(lambda: torch.bernoulli(x * 5)); show(lambda: torch.normal(x, -x)); show(lambda: x.cumsum(2)); show(lambda: x.roll(1, 3)); show(lambda: x.diag(5)); show(lambda: x.trace()); show(lambda: x.tril()); show(lambda: x.var(5)); show(lambda: x.quantile(2.)); show(lambda: torch.bincount(x)); show(lambda: torch.broadcast_to(x, (3,)))
## anomaly and misc autograd
x = torch.tensor([0., 1.], requires_grad=True)
def f():
    with torch.autograd.detect_anomaly(check_nan=False): (x.sqrt() * 0).sum().backward(); return x.grad
show(f)
def f():
    with torch.autograd.detect_anomaly(): (x.sqrt() * 0).sum().backward()
show(f); print(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
@torch.enable_grad()
def g(): return torch.is_grad_enabled()
with torch.no_grad(): print(g(), torch.is_grad_enabled())
@torch.no_grad
def h(): return torch.is_grad_enabled()
print(h())
def gen():
    with torch.no_grad(): yield torch.is_grad_enabled()
for v in gen(): print(v, torch.is_grad_enabled())
@torch.no_grad()
def gen2(): yield torch.is_grad_enabled(); yield torch.is_grad_enabled()
for v in gen2(): print(v, torch.is_grad_enabled())
print(torch.autograd.gradcheck(lambda a: (a ** 2).sum(), (torch.ones(2, dtype=torch.double, requires_grad=True),)), torch.autograd.gradgradcheck(lambda a: (a ** 3).sum(), (torch.ones(2, dtype=torch.double, requires_grad=True),)))
class Bad(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, g): return g * 3
show(lambda: torch.autograd.gradcheck(Bad.apply, (torch.ones(2, dtype=torch.double, requires_grad=True),))); show(lambda: torch.autograd.gradcheck(Bad.apply, (torch.ones(2, dtype=torch.double, requires_grad=True),), raise_exception=False))
print(torch.autograd.functional.jacobian(lambda a, b: a * b, (torch.ones(2), torch.full((2,), 3.)))); print(torch.autograd.functional.vhp(lambda a: (a ** 3).sum(), torch.ones(2), torch.ones(2))); print(torch.autograd.functional.hessian(lambda a, b: (a * b).sum(), (torch.ones(1), torch.ones(1)))); print(torch.autograd.functional.jacobian(lambda a: a ** 2, torch.ones(2), create_graph=True)); print(torch.autograd.functional.jacobian(lambda a: a ** 2, torch.ones(2), vectorize=True))
## draws that do not fit
for c in ["torch.multinomial(torch.ones(2), 3)", "torch.multinomial(torch.tensor([1., -1.]), 1)", "torch.multinomial(torch.zeros(2), 1)", "torch.multinomial(torch.tensor([float('nan'), 1.]), 1)", "torch.multinomial(torch.ones(2), 0)", "torch.normal(torch.ones(2), -torch.ones(2))", "torch.normal(0., -1., (2,))", "torch.normal(torch.ones(2), -1.)", "torch.bincount(torch.ones(2))", "torch.bincount(torch.tensor([-1]))", "torch.ones(-1)", "torch.zeros(-1)", "torch.empty(-1)", "torch.rand(-1)", "torch.bernoulli(torch.tensor([2.]))", "torch.randint(3, 1, (2,))", "torch.randint(0, (2,))", "torch.randperm(-1)", "torch.empty(2).uniform_(1, 0)", "torch.empty(2).exponential_(-1)", "torch.empty(2).geometric_(2)", "torch.empty(2).cauchy_(0, -1)", "torch.empty(2).log_normal_(0, -1)", "torch.distributions.Normal(0., -1.)", "torch.distributions.Categorical(torch.tensor([-1., 2.]))", "nn.Dropout(-1)", "nn.init.xavier_uniform_(torch.ones(2))", "nn.init.kaiming_normal_(torch.ones(2))", "nn.init.orthogonal_(torch.ones(2))", "nn.init.eye_(torch.ones(2))", "nn.init.dirac_(torch.ones(2))", "nn.init.sparse_(torch.ones(2), .1)", "nn.init.calculate_gain('x')", "nn.init.trunc_normal_(torch.ones(2), 0, -1)"]:
    show(lambda: (c, tuple(eval(c).shape)))
## embeddings by frequency
w = torch.arange(8.).view(4, 2).requires_grad_(); i = torch.tensor([[0, 0, 3], [0, 1, 3]])
for k in [{}, {"scale_grad_by_freq": True}, {"scale_grad_by_freq": True, "padding_idx": 3}]: w.grad = None; y = F.embedding(i, w, **k); print(y.detach()); (y * torch.arange(12.).view(2, 3, 2)).sum().backward(); print(w.grad)
## hardswish at its corners
x = torch.tensor([-3., 3., 0., -3.1, 3.1, 1.], requires_grad=True); F.hardswish(x).sum().backward(); print(x.grad); x.grad = None; F.hardsigmoid(x).sum().backward(); print(x.grad); x = torch.tensor([0., 6., -1., 1.], requires_grad=True)
"""


def cases():
    """``(name, code)`` of every script."""
    for block in CASES.strip().removeprefix("## ").split("\n## "):
        name, _, code = block.partition("\n")
        yield name, f"{HEAD}{code}\npass"
