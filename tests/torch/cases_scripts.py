# ruff: noqa: E501 - scripts, with a line for each subject
"""More scripts that print: optimisers, functions of the user's, hooks, losses, modules, transforms, inference."""

HEAD = """
import copy
nn, F = torch.nn, torch.nn.functional
torch.manual_seed(0)
def show(f):
    try: print(f())
    except Exception as e: print(type(e).__name__ + ":", e)
"""

CASES = r"""
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
## programs of seeds
x = torch.ones(1, requires_grad=True); y = x**2; z = x**3
y.backward(); print(x.grad); z.backward(); print(x.grad)
x = torch.tensor([[0.3725], [0.9105]], requires_grad=True); y = torch.zeros(3, 1); y[0] = x[0]**2; y[1] = x[1]**3; y[2] = x[1]**4; y.backward(gradient=torch.ones(y.size())); print(x.grad, y)
w = torch.randn(3, requires_grad=True); b = torch.zeros(1, requires_grad=True); X = torch.arange(12.).view(4, 3); t = X @ torch.tensor([1., -2., .5]) + 3
with torch.no_grad(): w.copy_(torch.zeros(3))
for i in range(5):
    loss = ((X @ w + b - t) ** 2).mean(); loss.backward()
    with torch.no_grad(): w -= 1e-3 * w.grad; b -= 1e-3 * b.grad; w.grad.zero_(); b.grad.zero_()
    print(i, loss, w, b)
w2 = w - .1 * 1; print(w2.is_leaf, w2.requires_grad); w.data -= 1; print(w)
## detach and sharing
a = torch.arange(3., requires_grad=True); d = a.detach(); n = d.numpy(); n[0] = 9; print(a, d, n); e = torch.from_numpy(n); e[1] = 7; print(a, n); f = a.clone().detach(); f[0] = 0; print(a, f); g = torch.tensor(n); n[2] = 5; print(g, e, a); h = torch.as_tensor(n); h[0] = 1; print(n, a._version, d._version)
show(lambda: a.numpy()); b = a * 2; c = b.detach(); c.zero_(); show(lambda: b.sum().backward()); print(a.grad); b = a ** 2; c = b.detach(); c.zero_(); show(lambda: b.sum().backward()); b = a.exp(); b.detach().zero_(); show(lambda: b.sum().backward())
x = torch.ones(2, requires_grad=True); y = x.detach().clone().requires_grad_(True); (x * 2 + y * 3).sum().backward(); print(x.grad, y.grad); z = x.data; z += 1; print(x); (x ** 2).sum().backward(); print(x.grad)
m = nn.Linear(2, 2); s = copy.deepcopy(m); print(all(torch.equal(p, q) for p, q in zip(m.parameters(), s.parameters())), s.weight is m.weight, s.weight.requires_grad); p = copy.copy(m); print(p.weight is m.weight); m.weight.grad = torch.ones(2, 2); print(copy.deepcopy(m).weight.grad)
import pickle; t = torch.ones(2, requires_grad=True); u = pickle.loads(pickle.dumps(t)); print(u, u.requires_grad, u.is_leaf); show(lambda: pickle.loads(pickle.dumps(t * 2))); q = nn.Parameter(torch.ones(2)); print(type(pickle.loads(pickle.dumps(q))).__name__, copy.deepcopy(q), q.data, q.detach(), nn.Parameter(q) is q, isinstance(q * 1, nn.Parameter), nn.Parameter(torch.ones(1), requires_grad=False))
import io; f = io.BytesIO(); torch.save({"a": t, "m": m.state_dict()}, f); f.seek(0); r = torch.load(f); print(r["a"], sorted(r["m"]))
## func
F_ = torch.func; p = {"w": torch.ones(2, 2), "b": torch.zeros(2)}; m = nn.Linear(2, 2)
def loss(p, x): return (torch.func.functional_call(m, {"weight": p["w"], "bias": p["b"]}, (x,)) ** 2).sum()
print(F_.grad(loss)(p, torch.ones(2))); print(F_.vmap(F_.grad(loss), in_dims=(None, 0))(p, torch.eye(2))); print(F_.grad(lambda x: x ** 2)(torch.tensor(3.)), F_.grad(F_.grad(lambda x: x ** 3))(torch.tensor(2.)))
print(F_.jacrev(lambda x: (x, x ** 2))(torch.ones(2)), F_.jacfwd(lambda x: {"a": x ** 2})(torch.ones(2)), F_.jacrev(lambda x, y: x * y, argnums=(0, 1))(torch.ones(2), torch.ones(2)))
out, f = F_.vjp(lambda x: x.sin(), torch.zeros(2)); print(out, f(torch.ones(2))); show(lambda: f(torch.ones(3))); out, f, aux = F_.vjp(lambda x: (x * 2, x + 1), torch.zeros(2), has_aux=True); print(out, aux)
print(F_.jvp(lambda x, y: x * y, (torch.ones(2), torch.full((2,), 3.)), (torch.ones(2), torch.zeros(2)))); show(lambda: F_.jvp(lambda x: x, torch.ones(2), torch.ones(2)))
print(F_.vmap(torch.dot)(torch.ones(3, 2), torch.ones(3, 2)), F_.vmap(lambda x: x.sum(), in_dims=1)(torch.ones(3, 2)), F_.vmap(lambda x: (x, x * 2), out_dims=(0, 1))(torch.ones(3, 2))[1].shape, F_.vmap(lambda d: d["a"] + 1, in_dims=({"a": 0},))({"a": torch.zeros(2)}), F_.vmap(F_.vmap(lambda x: x * 2))(torch.ones(2, 2)), F_.vmap(lambda x: x * 2, chunk_size=2)(torch.ones(5)))
show(lambda: F_.vmap(lambda x: x, in_dims=3)(torch.ones(2))); show(lambda: F_.vmap(lambda x, y: x)(torch.ones(2), torch.ones(3))); show(lambda: F_.vmap(lambda x: 3)(torch.ones(2))); show(lambda: F_.vmap(lambda x: x.item())(torch.ones(2)))
show(lambda: F_.grad(lambda x: x.sum(), argnums=3)(torch.ones(2))); show(lambda: F_.grad(lambda x: (x.sum(), 3))(torch.ones(2)))
x = torch.ones(2, requires_grad=True); g = F_.grad(lambda y: (y * x).sum())(torch.ones(2)); print(g); g.sum().backward(); print(x.grad)
params, buffers = F_.stack_module_state([nn.Linear(1, 1), nn.Linear(1, 1)]); print(params["weight"].shape, buffers, params["weight"].requires_grad); show(lambda: F_.functional_call(m, {"weight": torch.ones(2, 2)}, torch.ones(2)).shape)
## inference and modes
with torch.inference_mode(): a = torch.ones(2); b = a.view(2); a.add_(1); print(a, b, a.is_inference(), b.is_inference()); b.mul_(2); print(a)
show(lambda: a.add_(1)); show(lambda: b.zero_()); show(lambda: a.view(2).is_inference()); show(lambda: a.view(2).add_(1)); show(lambda: a.requires_grad_()); show(lambda: a * torch.ones(2, requires_grad=True)); show(lambda: a.clone().is_inference()); show(lambda: a._version); show(lambda: a.backward()); show(lambda: torch.stack([a, a]).is_inference()); show(lambda: a.__setitem__(0, 1.)); show(lambda: copy.deepcopy(a).is_inference())
x = torch.ones(2, requires_grad=True)
with torch.inference_mode(): v = x[:1]; print(v.is_inference(), v.requires_grad); show(lambda: x.add_(1)); print(x); w = x * 2; print(w.requires_grad)
show(lambda: v.add_(1))
with torch.inference_mode(False): print((x * 2).requires_grad, torch.is_inference_mode_enabled())
## views in inference mode
x = torch.ones(2, requires_grad=True)
with torch.inference_mode(): v = x[:1]; a, b = x.unbind(); print(v.is_inference(), a.is_inference())
print(v.requires_grad, v.is_leaf, v.grad_fn, v); print(v * 2, v._base is x); (v * x[:1]).sum().backward(); show(lambda: v.add_(1)); show(lambda: v.view(1)); show(lambda: v.detach().is_inference())
y = x * 2
show(lambda: w * 2); show(lambda: y * 2); show(lambda: y.sum().backward()); print(x.grad)
n = torch.ones(2)
with torch.inference_mode(): u = n.view(2); print(u.is_inference(), u.requires_grad); u.add_(1)
print(n, n._version, u._version); print(u * x, u.add_(1), n); d = torch.ones(2)
with torch.inference_mode(): i = torch.ones(2); j = i.detach(); k = d.detach(); print(j.is_inference(), k.is_inference(), i[0].is_inference())
show(lambda: i.detach().add_(1)); show(lambda: i.view(2).add_(1)); show(lambda: k.add_(1))
## views in files
import io
x = torch.arange(6); b = io.BytesIO(); torch.save({"x": x, "v": x[1:4], "w": x.view(2, 3).T, "e": torch.ones(3).expand(2, 3), "d": x.detach(), "z": torch.zeros(0, 3), "c": torch.ones(2, 3).T}, b); b.seek(0); y = torch.load(b)
y["x"][2] = 99; print(y); print({k: (t.stride(), t.storage_offset() if k == "x" else 0) for k, t in y.items()})
## what next functions show
x = torch.ones(2, 3, requires_grad=True); i = torch.tensor([0, 1])
for f in (lambda: F.layer_norm(x, (3,)), lambda: F.batch_norm(x, None, None, training=True), lambda: F.conv1d(x[None], torch.ones(1, 2, 1)), lambda: F.nll_loss(x, i), lambda: F.embedding(i[:1], x), lambda: x.scatter(0, i[None], 1.), lambda: x.mode()[0], lambda: F.layer_norm(x, (3,), x[0], x[1]), lambda: x.gather(0, i[None]), lambda: x + 1, lambda: x[i]):
    n = f().grad_fn; print(n.name(), [(type(m).__name__, k) for m, k in n.next_functions])
## draws have histories
x = torch.full((3,), .5, requires_grad=True)
for f in (torch.bernoulli, torch.poisson, lambda x: x.bernoulli(), lambda x: torch.bernoulli(x.detach())):
    x.grad = None; z = f(x); print(type(z.grad_fn).__name__, z.requires_grad); show(lambda: z.sum().backward()); print(x.grad)
## operators that refuse booleans and complex numbers
b = torch.tensor([True, False]); i = torch.tensor([5, -3]); z = torch.tensor([1j, 2.]); x = torch.tensor([5.5, -3.])
for f in (lambda: b // b, lambda: b % b, lambda: b // True, lambda: torch.div(b, b, rounding_mode="trunc"), lambda: torch.div(z, z, rounding_mode="floor"), lambda: torch.fmod(b, b), lambda: b ** b, lambda: b ** True, lambda: b ** 2, lambda: True ** b, lambda: 2 ** b, lambda: b << b, lambda: b >> 1, lambda: i << 1, lambda: i // 2, lambda: i % 2, lambda: x // 2, lambda: x % b, lambda: torch.maximum(i, z), lambda: torch.minimum(x, z), lambda: torch.dot(b, b), lambda: b.floor_divide_(b), lambda: b.remainder_(b), lambda: torch.fmax(x, z), lambda: 7 // i, lambda: i.bool() ** 0, lambda: b ** 0.5): show(f)
## symmetric factors
L = torch.linalg; a = torch.tensor([[4., 2., -1.], [2., -3., .5], [-1., .5, 1.]]); k = torch.tensor([[0., 1.], [1., 0.]]); z = torch.tensor([[2 + 0j, 1 - 1j], [1 + 1j, 3 + 0j]])
print(L.ldl_factor(a)); print(L.ldl_factor_ex(k)); print(L.ldl_factor(z, hermitian=True).pivots, L.ldl_factor(torch.stack([a, 2 * a])).LD.shape)
for m in (a, k): f, p = L.ldl_factor(m); print(m @ L.ldl_solve(f, p, torch.ones(len(m), 2)))
f, p = L.ldl_factor(z, hermitian=True); print((z @ L.ldl_solve(f, p, z, hermitian=True) - z).abs().max() < 1e-5)
for f in (lambda: L.ldl_factor(torch.ones(2, 3)), lambda: L.ldl_factor(torch.ones(2)), lambda: L.ldl_factor(torch.ones(2, 2, dtype=torch.int64)), lambda: L.ldl_factor_ex(torch.zeros(2, 2)).info, lambda: L.ldl_factor(a.clone().requires_grad_()).LD.sum().backward(), lambda: L.ldl_solve(*L.ldl_factor(a), torch.ones(3, 1, requires_grad=True)).sum().backward()): show(f)
## views that a tensor becomes itself while others hold views of it
def begun(*shape): a = torch.arange(6., requires_grad=True); return a, (a * 1).reshape(shape).clone()
a = torch.arange(4., requires_grad=True); x = (a * 1).reshape(2, 2).clone(); v = x[0]; x.t_(); v.mul_(2); print(x, v, v.grad_fn); (x * torch.arange(4.).view(2, 2)).sum().backward(); print(a.grad)
a, x = begun(2, 3); v = x[0]; x.t_(); x.mul_(torch.arange(6.).view(3, 2)); print(x, v); v.sum().backward(); print(a.grad)
a, x = begun(2, 3); v = x[0]; w = x[:, 1]; x.transpose_(0, 1); x[0].mul_(3); print(x, v, w); (v.sum() + w.sum() * 2).backward(); print(a.grad)
a, x = begun(2, 3); v = x.t(); print(v.t_().grad_fn, v.unsqueeze_(1).grad_fn); v[0].mul_(5); print(x, v, v._version); (x * x).sum().backward(); print(a.grad)
a, x = begun(1, 6); v = x[0, 1:3]; x.squeeze_(); v.mul_(2); print(x, v); (x * x).sum().backward(); print(a.grad)
a, x = begun(6); x.as_strided_((2, 2), (1, 2), 1); print(x, x._version); x.mul_(2); x.sum().backward(); print(a.grad)
a, x = begun(6); v = x[1:4]; v.as_strided_((2, 2), (1, 2), 1); print(v); v.mul_(2); print(x, v); x.sum().backward(); print(a.grad)
b = torch.arange(6.).view(2, 3); c = torch.as_strided_(b, (2, 2), (1, 2), 1); print(c is b, b.stride(), b.storage_offset())
for f in (lambda: torch.ones(3, requires_grad=True).as_strided_((2,), (1,)), lambda: torch.arange(4.).resize(2, 2), lambda: torch.arange(4.).resize(3), lambda: torch.arange(4.).resize_as(torch.ones(2, 2)), lambda: torch.arange(4.).module_load(torch.ones(4))): show(f)
## eigenpairs at one end, devices by module, tensors without memory
A = torch.diag(torch.arange(9., dtype=torch.float64)) + 0.1; B = 2 * torch.eye(9, dtype=torch.float64); B[0, 1] = B[1, 0] = .5
for largest in (True, False): E, X = torch.lobpcg(A, 2, largest=largest); print(E, X.abs().round(decimals=5)); E, X = torch.lobpcg(torch.stack([A, 2 * A]), 2, B=torch.stack([B, B]), largest=largest); print(E, X.abs().round(decimals=5))
A.requires_grad_(); E, X = torch.lobpcg(A, 1, largest=False); ((X ** 4).sum() + E.sum()).backward(); print(A.grad.round(decimals=5)); print(torch.rand(2))
for f in (lambda: torch.lobpcg(torch.eye(4), 2), lambda: torch.lobpcg(torch.ones(4, 3)), lambda: torch.lobpcg(torch.eye(9), B=torch.eye(8))): show(f)
print(torch.get_device_module().current_device(), torch.get_device_module("cpu").device_count(), torch.cpu.is_available())
for f in (lambda: torch.get_device_module("meta"), lambda: torch.get_device_module(3), lambda: torch.nn.UninitializedBuffer().shape): show(f)
b = torch.nn.UninitializedBuffer(); print(b, b.persistent); b.materialize((2, 3)); print(b.shape, type(b) is torch.Tensor)
p = torch.nn.UninitializedParameter(); p.materialize((2,)); print(type(p).__name__, p.requires_grad, p.shape)
c = torch.utils.checkpoint; print(c.detach_variable((torch.ones(1, requires_grad=True), 3)), c.get_device_states(torch.ones(1)))
for f in (lambda: c.detach_variable([1]), lambda: c.check_backward_validity([torch.ones(1)])): show(f)
print(torch.nn.functional.conv_tbc(torch.ones(3, 1, 2), torch.ones(2, 2, 1), torch.ones(1)))
## shapes, sizes and options that are refused
F = torch.nn.functional; x = torch.ones(2, 3); z = torch.zeros(2, 3)
for f in (lambda: z.scatter_add(0, torch.tensor([0]), torch.ones(1)), lambda: torch.linalg.norm(torch.ones(2, 2, 2), "fro"), lambda: torch.triu_indices(-1, 2), lambda: torch.searchsorted(x, torch.ones(3, 3)), lambda: torch.cartesian_prod(x), lambda: torch.combinations(x), lambda: F.nll_loss(x, torch.tensor([0, 1]), weight=torch.ones(2)), lambda: x.tile(-1), lambda: x.repeat_interleave(-1), lambda: torch.lerp(torch.ones(2), torch.ones(3), .5), lambda: torch.cdist(x, torch.ones(2, 2)), lambda: torch.cdist(torch.ones(2), torch.ones(2))): show(f)
for f in (lambda: torch.ones(4).unfold(0, 2, 0), lambda: torch.linalg.matrix_power(x, 2), lambda: torch.kron(x, 1), lambda: torch.equal(x, 1), lambda: torch.norm(x, p="foo"), lambda: torch.fft.fft(x, n=0), lambda: torch.fft.fft(x, norm="foo"), lambda: torch.fft.fft(torch.ones(2), dim=1), lambda: torch.zeros([2, "a"]), lambda: torch.randperm(2.5), lambda: torch.ones(2).requires_grad_("a"), lambda: torch.nn.Parameter([1.]), lambda: torch.nn.Parameter(torch.ones(2, dtype=torch.int64))): show(f)
for f in (lambda: F.linear(x, x, torch.ones(3)), lambda: F.linear(x, x, torch.ones(2).double()), lambda: F.scaled_dot_product_attention(torch.ones(1, 2, 3), torch.ones(1, 2, 4), torch.ones(1, 2, 4)), lambda: torch.nn.BatchNorm1d(3)(torch.ones(2, 4)), lambda: torch.nn.AdaptiveAvgPool2d((1,))(torch.ones(1, 1, 2, 2)), lambda: torch.nn.Embedding.from_pretrained(torch.ones(2)), lambda: torch.nn.Conv2d(1, 2, 3)(torch.ones(1, 1, 4, 4).double()), lambda: torch.nn.LayerNorm(3)(x.double()), lambda: setattr(torch.utils.data.DataLoader([1]), "batch_size", 3)): show(f)
import warnings
with warnings.catch_warnings(record=True) as seen: warnings.simplefilter("always"); F.grid_sample(torch.ones(1, 1, 2, 2), torch.zeros(1, 1, 1, 2)); F.affine_grid(torch.ones(1, 2, 3), (1, 1, 2, 2)); F.upsample(torch.ones(1, 1, 2, 2), scale_factor=2)
for w in seen: print(w.category.__name__, w.message)
## slopes at infinities and zeros, medians and signs of what is no number
inf, nan = float("inf"), float("nan")
x = torch.tensor([[-inf, -inf], [-inf, 1.], [inf, 1.], [inf, inf]], requires_grad=True); x.logsumexp(1).sum().backward(); print(x.grad); x.grad = None; torch.logaddexp(x, x).sum().backward(); print(x.grad)
x = torch.tensor([[1., 2.], [0., 3.]], requires_grad=True); y = torch.logsumexp(x, 1); g, = torch.autograd.grad((y ** 2).sum(), x, create_graph=True); (g ** 2).sum().backward(); print(y, g, x.grad); y = x.logsumexp(0); y.add_(1); show(lambda: y.sum().backward())
a = torch.tensor([0., 0., 1., 2., -1.], requires_grad=True); b = torch.tensor([0., 1., 0., 3., 2.], requires_grad=True); torch.xlogy(a, b).sum().backward(); print(a.grad, b.grad)
x = torch.tensor([1., nan, 3., nan], requires_grad=True); y = x.median(); y.backward(); print(y, x.grad); print(torch.tensor([[1., nan, 3.], [1., 2., 3.]]).median(1)); print(torch.sign(torch.tensor([nan, -2., 0.])))
class Same(torch.autograd.Function):
    @staticmethod
    def forward(x, y): return x * y, x
    @staticmethod
    def setup_context(ctx, inputs, output): ctx.save_for_backward(*inputs)
    @staticmethod
    def backward(ctx, g, h): return g, g
show(lambda: Same.apply(torch.ones(2, requires_grad=True), torch.ones(2))); show(lambda: torch.autograd.functional.vjp(lambda x, y: x.sum(), (torch.ones(2), torch.ones(2)), strict=True))
"""


def cases():
    """``(name, code)`` of every script."""
    for block in CASES.strip().removeprefix("## ").split("\n## "):
        name, _, code = block.partition("\n")
        yield name, f"{HEAD}{code}\npass"
