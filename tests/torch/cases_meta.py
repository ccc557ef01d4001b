# ruff: noqa: E501 - scripts, with a line for each subject
"""Scripts on the `meta` device: shapes, dtypes and histories without numbers, and what is refused."""

HEAD = """
import copy
nn, F = torch.nn, torch.nn.functional
torch.manual_seed(0)
def show(f):
    try: print(f())
    except Exception as e: print(type(e).__name__ + ":", str(e).split("\\n")[0])
m = torch.empty(3, 4, device="meta")
"""

CASES = r"""
## texts
print(m, m.device, m.is_meta, m.type(), m.dtype, m.nbytes, m.numel(), m.get_device(), m.data_ptr(), torch.ones(1).is_meta)
print(m.long(), m.requires_grad_() * 2, nn.Parameter(torch.empty(2, device="meta", dtype=torch.float64)), f"{m.sum()}", [m.detach()[0]])
print(repr(torch.device("meta")), str(torch.device("meta")), torch.device("meta") == torch.device("meta"), torch.device("meta:0"), torch.empty(0, device="meta"), torch.empty((), device="meta", dtype=torch.bool))
print(torch.empty(100_000, 100_000, device="meta") @ torch.empty(100_000, 100_000, device="meta"), torch.empty(100_000, 100_000, device="meta").nbytes)
## no numbers
for f in (lambda: m.item(), lambda: m.sum().item(), lambda: m.tolist(), lambda: m.numpy(), lambda: m.numpy(force=True), lambda: np.asarray(m), lambda: bool(m.sum()), lambda: bool(m), lambda: float(m.sum()), lambda: int(m.sum()), lambda: complex(m.sum()), lambda: f"{m.sum():.2f}", lambda: [1, 2][torch.empty((), device="meta", dtype=torch.int64)]): show(f)
for f in (lambda: m.cpu(), lambda: m.to("cpu"), lambda: m.to("cpu", torch.float64), lambda: m.to(torch.ones(1)), lambda: torch.ones(3, 4).copy_(m), lambda: torch.allclose(m, m), lambda: torch.tensor([m.sum()]), lambda: nn.Linear(2, 2, device="meta").to("cpu"), lambda: nn.Linear(2, 2, device="meta").cpu(), lambda: torch.Generator("meta"), lambda: 1 if torch.zeros(1, device="meta") == 0 else 0): show(f)
m.copy_(torch.ones(3, 4)); m.fill_(3.); m[0] = torch.ones(4); m[0, 0] = 5.; show(lambda: m[0, 0].item()); show(lambda: m.sum().item()); print(m, m._version)
## two devices
c = torch.ones(3, 4)
for f in (lambda: m + c, lambda: c + m, lambda: m + torch.tensor(2.), lambda: torch.tensor(2.) * m, lambda: torch.cat([m, c]), lambda: torch.where(m > 0, m, c), lambda: m[torch.tensor([0])], lambda: torch.tensor(3, device="meta") + torch.ones(())): show(f)
print(c)
## where things are made
with torch.device("meta"):
    with torch.device("cpu"): b = torch.ones(2)
    c = torch.ones(2, device="cpu")
    made = torch.ones(2), b, c, torch.tensor([1]), torch.zeros_like(c), torch.from_numpy(np.ones(2)), torch.arange(3), torch.as_tensor([1.]), torch.rand(2), torch.tensor(3.), torch.FloatTensor([1.]), torch.eye(2), torch.full((2,), 1), torch.linspace(0, 1, 3), torch.randint(3, (2,)), torch.randperm(3), c.new_zeros(2), torch.asarray([1])
print([(t.device.type, t.dtype, t.shape) for t in made], torch.ones(1).device, torch.get_default_device())
torch.set_default_device("meta"); print(torch.ones(2), torch.get_default_device()); torch.set_default_device("cpu"); print(torch.ones(1), torch.get_default_device())
print(torch.zeros_like(m), torch.zeros_like(m, device="cpu"), torch.rand_like(m), torch.randint_like(m, 3), torch.full_like(m, 2, dtype=torch.int64), m.new_zeros(2), m.new_tensor([1.]), m.new_full((2,), 1.), torch.ones(1).to("meta"), torch.ones(1).to(m), torch.as_tensor(torch.ones(1), device="meta"))
torch.manual_seed(0); torch.rand(9, device="meta"); nn.Linear(3, 3, device="meta"); F.dropout(m); m.normal_(); m.uniform_(); m.bernoulli_(); m.exponential_(); nn.init.orthogonal_(m); nn.init.trunc_normal_(m); nn.init.xavier_normal_(m); print(torch.rand(2))
## how it would lie
print(m.t().stride(), m.t().is_contiguous(), m[1].storage_offset(), m[:, 1:3].stride(), m.expand(2, 3, 4).stride(), m.diagonal().stride(), m.as_strided((2, 2), (1, 2)).stride(), m.chunk(2, 1)[1].storage_offset(), m.t().contiguous().stride(), m.unfold(0, 2, 1).stride(), m.t().reshape(12).stride())
show(lambda: m.t().view(12)); show(lambda: m.view(-1, 5)); print(m.view(2, 6), m.t()._base is m, m.unsqueeze(0).squeeze().shape)
## operations
for f in (lambda: m.double().sum(), lambda: m.int() + m, lambda: m * (1 + 2j), lambda: (m > 0).any(), lambda: m.argmax(), lambda: m.mean(1, keepdim=True), lambda: m.var(), lambda: m.cumsum(0), lambda: m.sort(0).indices, lambda: m.topk(2), lambda: m.median(), lambda: torch.stack([m, m]), lambda: torch.einsum("ij,kj->ik", m, m), lambda: torch.linalg.svd(m), lambda: torch.linalg.inv(m[:, :3]), lambda: m.softmax(1), lambda: torch.bernoulli(m), lambda: torch.multinomial(m, 2), lambda: list(m.unbind(1))[:1], lambda: m.half(), lambda: m.to(torch.int32), lambda: F.pad(m, (1, 1)), lambda: torch.fft.rfft(m)): show(f)
## histories
x = torch.empty(3, 4, device="meta", requires_grad=True); y = (x.exp() @ torch.empty(4, 2, device="meta")).relu(); print(y, y.sum().grad_fn)
y.sum().backward(); print(x.grad, x.grad.is_meta); y = x * 2; y.register_hook(lambda g: print("hook", g)); y.sum().backward()
z = x.clone(); v = z[0]; v.mul_(2); print(z, v, z._version); z.sum().backward(); show(lambda: x.add_(1)); show(lambda: x.backward()); show(lambda: y.grad_fn(torch.empty(3, 4, device="meta")))
print(torch.autograd.grad((x ** 2).sum(), x, create_graph=True)); w = x * 1; s = w.sin(); w.mul_(2); show(lambda: s.sum().backward())
a = copy.deepcopy(x); print(a, a.grad)
## modules
with torch.device("meta"): net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 10), nn.Dropout(.5), nn.LogSoftmax(1))
x = torch.empty(2, 3, 8, 8, device="meta"); out = net(x); print(out, net[1].running_mean, net[1].num_batches_tracked); out.sum().backward(); print([p.grad.shape for p in net.parameters()])
for O in (torch.optim.SGD, torch.optim.AdamW): o = O(net.parameters(), lr=.1); o.step(); o.step(); print({k: v for k, v in o.state_dict()["state"].get(0, {}).items() if v is not None and k != "step"})
e = nn.Embedding(10, 4, device="meta"); print(e(torch.zeros(2, 3, dtype=torch.int64, device="meta"))); print(nn.LSTM(4, 8, 2, batch_first=True, device="meta")(torch.empty(2, 5, 4, device="meta"))[1][0])
t = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, device="meta"); print(t(torch.empty(2, 5, 16, device="meta")).shape, sum(p.numel() for p in t.parameters()))
l = nn.Linear(2, 2, device="meta"); print(l.to_empty(device="cpu").weight.device, l.to("meta").weight.device, nn.BatchNorm1d(2).to("meta").num_batches_tracked, nn.Linear(2, 2).to(device="meta", dtype=torch.float64).weight, nn.Linear(2, 2, device="meta").half().bias)
l = nn.Linear(2, 2, device="meta"); print(l.load_state_dict(nn.Linear(2, 2).state_dict(), assign=True), l.weight.device, l.weight.requires_grad, type(l.weight).__name__)
show(lambda: nn.Linear(2, 2).load_state_dict(nn.Linear(2, 2, device="meta").state_dict())); l = nn.Linear(2, 2, device="meta"); print(l.load_state_dict(nn.Linear(2, 2).state_dict()), l.weight)
print(torch.func.functional_call(nn.Linear(2, 2, device="meta"), nn.Linear(2, 2).state_dict(), torch.ones(1, 2)).shape, copy.deepcopy(l).weight, l.state_dict())
"""


def cases():
    """``(name, code)`` of every script."""
    for block in CASES.strip().removeprefix("## ").split("\n## "):
        name, _, code = block.partition("\n")
        yield name, f"{HEAD}{code}\npass"
