# ruff: noqa: E501 - a table with a line for each family
"""What tensors remember: backward, changes in place, views, hooks, modes, functions of the user's."""

CASES = r"""
# backward
x = torch.tensor([1.0, 2.0], requires_grad=True); (x * x).sum().backward(); (x * 3).sum().backward(); x.grad
x = torch.ones(2, requires_grad=True); (x * 2).backward()
x = torch.ones(2, requires_grad=True); y = x * 2; y.backward(torch.ones(2, dtype=torch.float64)); x.grad
x = torch.tensor(2.0, requires_grad=True); y = x ** 2; y.backward(retain_graph=True); y.backward(); x.grad
x = torch.tensor(2.0, requires_grad=True); y = (x ** 2).exp(); y.backward(retain_graph=True); y.backward(retain_graph=True); x.grad
x = torch.tensor(2.0, requires_grad=True); y = x.exp(); z = y * 2; z.backward(); y.backward()
x = torch.tensor(2.0, requires_grad=True); y = x * 3; y.backward(inputs=[x]); x.grad
x = torch.tensor(2.0, requires_grad=True); w = torch.tensor(3.0, requires_grad=True); (x * w).backward(inputs=[w]); (x.grad, w.grad)
x = torch.tensor(2.0, requires_grad=True); y = x * 3; z = y * y; z.backward(inputs=[y]); (x.grad, y.grad)
x = torch.tensor(2.0, requires_grad=True); (x * 2).backward(inputs=x); x.grad
x = torch.tensor(2.0, requires_grad=True); torch.autograd.backward(x * 2, inputs=()); x.grad
x = torch.tensor(1 + 2j, requires_grad=True); (x * x).backward()
x = torch.tensor(1 + 2j, requires_grad=True); (x * x).abs().backward(); x.grad
x = torch.tensor([1.0, 2.0], requires_grad=True); y = x * 2; y.backward(gradient=torch.tensor([1.0, 0.5])); x.grad
x = torch.ones(2, requires_grad=True); torch.autograd.backward([x.sum(), (x * 2).sum()]); x.grad
x = torch.ones(2, requires_grad=True); torch.autograd.backward([x * 2, x.sum()], [torch.ones(2), None]); x.grad
x = torch.ones(2, requires_grad=True); torch.autograd.backward([x * 2, x * 3], [torch.ones(2)] * 3)
x = torch.ones(2, requires_grad=True); (x * 2).sum().backward(torch.tensor(3.0)); x.grad
x = torch.ones(2, requires_grad=True); (x * 2).sum().backward(torch.tensor([3.0])); x.grad
x = torch.ones(2, requires_grad=True); (x * 2).sum().backward(3.0)
x = torch.ones(2, requires_grad=True); y = x.detach() * x; y.sum().backward(); x.grad
x = torch.zeros(3, requires_grad=True); x.sqrt().sum().backward(); x.grad
x = torch.zeros(3, requires_grad=True); x.norm().backward(); x.grad
x = torch.tensor([0.0, -1.0], requires_grad=True); x.abs().sum().backward(); x.grad
x = torch.tensor([0.0, 2.0], requires_grad=True); (x ** 0.5).sum().backward(); x.grad
x = torch.tensor([-2.0, 0.0], requires_grad=True); x.relu().sum().backward(); x.grad
x = torch.tensor([0.0], requires_grad=True); x.log().backward(); x.grad
x = torch.tensor([1.0, 3.0, 3.0], requires_grad=True); x.max().backward(); x.grad
x = torch.tensor([1.0, 3.0, 3.0], requires_grad=True); x.amax(0).backward(); x.grad
x = torch.tensor([2.0, 2.0], requires_grad=True); y = torch.tensor([2.0, 1.0], requires_grad=True); torch.maximum(x, y).sum().backward(); (x.grad, y.grad)
x = torch.tensor([1.0, 3.0, 2.0, 3.0], requires_grad=True); x.median().backward(); x.grad
x = torch.tensor([0.0, 0.0, 4.0], requires_grad=True); x.prod().backward(); x.grad
x = torch.tensor([0.0, 2.0], requires_grad=True); torch.where(x > 1, x.log(), x).sum().backward(); x.grad
x = torch.tensor([0.0, 1.0], requires_grad=True); (x / x).sum().backward(); x.grad
x = torch.tensor(0.0, requires_grad=True); y = torch.tensor(0.0, requires_grad=True); torch.atan2(x, y).backward(); (x.grad, y.grad)
x = torch.tensor(0.0, requires_grad=True); y = torch.tensor(2.0, requires_grad=True); (x ** y).backward(); (x.grad, y.grad)
x = torch.tensor(0.0, requires_grad=True); y = torch.tensor(0.0, requires_grad=True); (x ** y).backward(); (x.grad, y.grad)
x = torch.ones(2, 3, requires_grad=True); x.std().backward(); x.grad
x = torch.tensor(3.0, requires_grad=True); x.std()
x = torch.tensor([1.0, 2.0], requires_grad=True); x.clamp(1.0, 2.0).sum().backward(); x.grad
x = torch.tensor([1.0], requires_grad=True); x.double().sum().backward(); x.grad.dtype
x = torch.tensor([1.0], dtype=torch.float16, requires_grad=True); (x.float() * 3).sum().backward(); x.grad
x = torch.ones(2, requires_grad=True, dtype=torch.float64); y = torch.ones(2, requires_grad=True); (x * y).sum().backward(); (x.grad.dtype, y.grad.dtype)
x = torch.ones(1, requires_grad=True); y = torch.ones(3, requires_grad=True); (x + y).sum().backward(); (x.grad, y.grad)
x = torch.tensor(2.0, requires_grad=True); y = torch.ones(2, 3); (x * y).sum().backward(); x.grad
x = torch.ones(2, requires_grad=True); x.sum().backward(); g = x.grad; x.sum().backward(); (g is x.grad, g)
x = torch.ones(2, requires_grad=True); x.sum().backward(); v = x.grad._version; x.sum().backward(); (v, x.grad._version)
x = torch.ones(2, requires_grad=True); (x * 2).sum().backward(create_graph=True); x.grad.sum().requires_grad
x = torch.tensor(3.0, requires_grad=True); (x ** 3).backward(create_graph=True); g = x.grad; x.grad = None; g.backward(); x.grad
x = torch.tensor(2.0, requires_grad=True); g, = torch.autograd.grad(x ** 4, x, create_graph=True); h, = torch.autograd.grad(g, x, create_graph=True); torch.autograd.grad(h, x)
x = torch.tensor([0.3, 0.6], requires_grad=True); g, = torch.autograd.grad(x.sin().sum(), x, create_graph=True); g.sum().backward(); x.grad
x = torch.tensor([0.3, 0.6], requires_grad=True); g, = torch.autograd.grad((x.exp() * x).sum(), x, create_graph=True); (g ** 2).sum().backward(); x.grad
x = torch.tensor([0.3, 0.6], requires_grad=True); g, = torch.autograd.grad((x + 1).sum(), x, create_graph=True); (g, g.requires_grad)
x = torch.tensor([0.3, 0.6], requires_grad=True); g, = torch.autograd.grad((x * 2).sum(), x, create_graph=True); (g.requires_grad, g.grad_fn is None)
x = torch.randn(3, 3, requires_grad=True); g, = torch.autograd.grad((x @ x).sum(), x, create_graph=True); g.sum().backward(); x.grad.shape
x = torch.tensor([1.0, 2.0], requires_grad=True); g, = torch.autograd.grad(x.softmax(0)[0], x, create_graph=True); g[1].backward(); x.grad
# in place on leaves and others
x = torch.ones(2, requires_grad=True); x.add_(1)
x = torch.ones(2, requires_grad=True); x += 1
x = torch.ones(2, requires_grad=True); x[0] = 5.0
x = torch.ones(2, requires_grad=True); x.zero_()
x = torch.ones(2, requires_grad=True); x.data.add_(1); (x, x._version)
x = torch.ones(2, requires_grad=True); x.detach().add_(1); (x, x._version)
x = torch.ones(2, requires_grad=True)\nwith torch.no_grad():\n    x.mul_(3)\n(x, x._version, x.is_leaf)
x = torch.ones(2, requires_grad=True)\nwith torch.no_grad():\n    x[0] = 7.0\n(x, x.requires_grad)
x = torch.ones(2, requires_grad=True)\nwith torch.no_grad():\n    x -= 0.5\n(x, x.requires_grad)
x = torch.ones(2, requires_grad=True)\ny = x * x\nwith torch.no_grad():\n    x.mul_(3)\ny.sum().backward()
x = torch.ones(2, requires_grad=True); y = x.exp(); y.add_(1); y.sum().backward()
x = torch.ones(2, requires_grad=True); y = x.exp(); y.mul_(2); y.sum().backward()
x = torch.ones(2, requires_grad=True); y = x.sin(); y.add_(1); y.sum().backward(); x.grad
x = torch.ones(2, requires_grad=True); y = x * 2; z = y * y; y.add_(1); z.sum().backward()
x = torch.ones(2, requires_grad=True); y = x * 2; z = y * y; y[0] = 1; z.sum().backward()
x = torch.ones(2, requires_grad=True); y = x * 2; y.mul_(x); y.sum().backward(); x.grad
x = torch.ones(2, requires_grad=True); y = x * 2; y.exp_(); y.sum().backward(); x.grad
x = torch.ones(2, requires_grad=True); y = x * 2; y.exp_(); y.add_(1); y.sum().backward()
x = torch.ones(2, requires_grad=True); y = x * 2; y.sqrt_(); y.sum().backward(); x.grad
x = torch.ones(2, requires_grad=True); y = x * 2; y.relu_(); (y._version, y.grad_fn.name())
x = torch.ones(2, requires_grad=True); y = x * 2; y.zero_(); y.sum().backward(); (x.grad, y)
x = torch.ones(2, requires_grad=True); y = x * 2; y.fill_(3); y.sum().backward(); (x.grad, y.grad_fn.name())
x = torch.ones(2, requires_grad=True); y = torch.zeros(2); y.copy_(x); y.sum().backward(); (x.grad, y.grad_fn.name())
x = torch.ones(2, requires_grad=True); y = torch.zeros(2, 2); y.copy_(x); y.sum().backward(); x.grad
x = torch.ones(2, requires_grad=True); y = torch.zeros(2, dtype=torch.float64); y.copy_(x); y.sum().backward(); x.grad
x = torch.ones(3, requires_grad=True); y = x * 1; y.clamp_(max=0.5); y.sum().backward(); (y, x.grad)
x = torch.ones(3, requires_grad=True); y = x * 1; y.pow_(2); y.sum().backward(); (y, x.grad)
x = torch.ones(3, requires_grad=True); y = x * 1; y.div_(4); y.sub_(1); y.neg_(); y.sum().backward(); (y, x.grad, y._version)
x = torch.ones(3, requires_grad=True); y = x * 1; y += x; y *= 2; y /= 4; y -= 1; y.sum().backward(); (y, x.grad)
x = torch.zeros(2, dtype=torch.int64); x += 1.5
x = torch.zeros(2, dtype=torch.int64); x.add_(2); x
x = torch.zeros(2, dtype=torch.bool); x.add_(1)
x = torch.zeros(2); x.add_(torch.ones(2, dtype=torch.float64)); x
x = torch.zeros(2); x.mul_(1j)
x = torch.zeros(2); x.copy_(torch.ones(3))
x = torch.zeros(3, 2); x.add_(torch.ones(3))
x = torch.zeros(2, 2); x.fill_(torch.tensor(3.0)); x
x = torch.zeros(2); x.fill_(torch.ones(2))
x = torch.zeros(2, 3); x.fill_diagonal_(2.0); x
x = torch.zeros(3); x[1:] = 5; x
x = torch.zeros(3); x[[0, 2]] = torch.tensor([1.0, 2.0]); x
x = torch.zeros(3); x[torch.tensor([True, False, True])] = 4.0; x
x = torch.zeros(2, 2); x[0] = torch.tensor([1.0, 2.0]); x[:, 1] += 10; x
x = torch.zeros(2, 2); x[0] = torch.ones(3)
x = torch.zeros(2, 2); x[[0, 1], [0, 1]] = torch.ones(3)
x = torch.zeros(3); x[5] = 1.0
x = torch.zeros(3, dtype=torch.int64); x[0] = 2.7; x
x = torch.zeros(3); x[0] = torch.tensor([[1.0]]); x
x = torch.zeros(2, 3); x[...] = torch.arange(3.0); x
x = torch.zeros(3); x[None] = 2.0; x
x = torch.zeros(3); x[0] = True; x
x = torch.zeros(4); x[::2] = torch.tensor([1.0, 2.0]); x
x = torch.zeros(3); x[-1] = 9; x
x = torch.zeros(2); x.add_(1).mul_(3); (x, x._version)
x = torch.zeros(2); y = x.add_(1); y is x
x = torch.zeros(3); x.index_fill_(0, torch.tensor([0]), 2.0); x.index_add_(0, torch.tensor([1, 1]), torch.ones(2)); (x, x._version)
x = torch.zeros(3); x.scatter_(0, torch.tensor([0, 2]), torch.tensor([1.0, 2.0])); x.scatter_add_(0, torch.tensor([0, 0]), torch.ones(2)); x
x = torch.zeros(3); x.masked_fill_(torch.tensor([True, False, True]), 1.5); x
x = torch.zeros(2, 2); x.T.add_(torch.tensor([1.0, 2.0])); x
x = torch.arange(4.0); x.view(2, 2)[0] = 9; x
x = torch.zeros(2); x.expand(2, 2).add_(1)
x = torch.zeros(3, 1); y = x.expand(3, 4); y[:, 0] = 1; y[2, 1] = 5; y[:, 2].add_(2); y[0].fill_(7.0); (x, y)
x = torch.zeros(3, 1).expand(3, 4); x[0] = torch.arange(4.0)
x = torch.zeros(3, 1).expand(3, 4); x[:, 1:3] = 1
x = torch.zeros(3, 1).expand(3, 4); x.copy_(torch.ones(3, 4))
x = torch.zeros(3, 1).expand(3, 4); (x.fill_(2), x.zero_())
x = torch.zeros(3, 1).expand(3, 4); x.uniform_()
x = torch.ones(3, 1, requires_grad=True); y = (x * 2).expand(3, 4); y[:, 0] = 5; y.sum().backward(); (x.grad, y)
x = torch.ones(3, 1, requires_grad=True); y = torch.zeros(3, 1).expand(3, 4); y[:, 1] = x[:, 0]; (y * torch.arange(4.0)).sum().backward(); (x.grad, y)
x = torch.zeros(6); a, b = x.unsafe_chunk(2); a[0] = 1; torch.unsafe_split(x, 4)[1].add_(2); x.unsafe_split_with_sizes([2, 4])[1][0] = 3; (x, a._is_view())
x = torch.ones(4, requires_grad=True); a, b = (x * 2).unsafe_split(2); a.mul_(3); (a.sum() + b.sum()).backward(); x.grad
x = torch.ones(2, requires_grad=True); y = torch.zeros(3, 2); y[0] = x; y[1] = x * 2; y.sum().backward(); (x.grad, y)
x = torch.rand(2, 1, requires_grad=True); y = torch.zeros(3, 1); y[0] = x[0] ** 2; y[1] = x[1] ** 3; y[2] = x[1] ** 4; y.backward(gradient=torch.ones(y.size())); bool(torch.allclose(x.grad, torch.stack([2 * x[0], 3 * x[1] ** 2 + 4 * x[1] ** 3])))
x = torch.ones(2, requires_grad=True); y = x * 2; y.requires_grad_(False)
x = torch.ones(2, requires_grad=True); y = x * 2; y.detach_(); (y.requires_grad, y.is_leaf, y.grad_fn)
x = torch.ones(2, requires_grad=True); y = x * 2; v = y[0]; v.detach_()
x = torch.ones(2); x.requires_grad_(); x.requires_grad
x = torch.ones(2, requires_grad=True); x.squeeze_(); x
x = torch.ones(2, 1, requires_grad=True); y = x * 2; y.squeeze_(); y.sum().backward(); (y.shape, x.grad)
x = torch.ones(2, 3); x.t_(); x.shape
x = torch.ones(2, 3); x.transpose_(0, 1); x.unsqueeze_(0); x.shape
x = torch.ones(2); x.resize_(3); x.shape
# views
x = torch.arange(6.0); y = x.view(2, 3); y[0, 0] = 10; (x, y._is_view(), y._base is x)
x = torch.ones(4, requires_grad=True); y = x.clone(); v = y[:2]; v.mul_(3); y.sum().backward(); (y, x.grad, y.grad_fn.name(), v.grad_fn.name())
x = torch.ones(4, requires_grad=True); y = x * 1; v = y[1:]; w = v[1:]; w.mul_(3); y.sum().backward(); (y, x.grad)
x = torch.ones(4, requires_grad=True); y = x * 1; v = y[1:]; y.mul_(2); (v * v).sum().backward(); (v, x.grad)
x = torch.ones(4, requires_grad=True); y = x * 1; v = y[1:3]; v.add_(torch.tensor([1.0, 2.0])); v.sum().backward(); (v, y, x.grad)
x = torch.ones(2, 2, requires_grad=True); y = x * 1; y.t()[0].mul_(2); y.diagonal().add_(1); (y * y).sum().backward(); (y, x.grad)
x = torch.ones(2, 2, requires_grad=True); y = x * 1; y.view(4)[1:3].zero_(); y.sum().backward(); (y, x.grad)
x = torch.ones(3, requires_grad=True); y = torch.zeros(5); y[1:4] = x; y[0] = x[0]; y.pow(2).sum().backward(); (y, x.grad)
x = torch.ones(2, requires_grad=True); y = torch.zeros(2, 2); y.select(1, 0).copy_(x); y.sum().backward(); (y, x.grad, y.grad_fn.name())
x = torch.ones(2, requires_grad=True); v = x.view(2, 1); v._base is x, v.grad_fn.name(), v.is_leaf
x = torch.ones(2, requires_grad=True); x[0].add_(1)
x = torch.ones(2, requires_grad=True); x[:1].mul_(2)
x = torch.ones(2, requires_grad=True); x.t().add_(1)
x = torch.ones(2, requires_grad=True)\nwith torch.no_grad():\n    x[0].add_(1)\n(x, x._version)
x = torch.ones(4, requires_grad=True); a, b = (x * 1).chunk(2); a.add_(1)
x = torch.ones(4, requires_grad=True); a, b = (x * 1).split([1, 3]); b.zero_()
x = torch.ones(2, 2); a, b = x.unbind(); a.add_(1); x
x = torch.ones(4); a, b = x.split(2); a.mul_(3); x
x = torch.ones(4, requires_grad=True); y = x * 1; a, b = y.split(2); y.mul_(2); a.sum().backward()
x = torch.ones(4, requires_grad=True)\ny = x.clone()\nwith torch.no_grad():\n    v = y[:2]\n(v.requires_grad, v._is_view(), v._base is y)
x = torch.ones(4, requires_grad=True)\ny = x.clone()\nwith torch.no_grad():\n    v = y[:2]\n    v.mul_(2)\n(y, y._version)
x = torch.ones(4, requires_grad=True)\ny = x.clone()\nv = y[:2]\nwith torch.no_grad():\n    v.mul_(2)\ny.sum().backward()\n(y, x.grad, y._version)
x = torch.zeros(4); y = x[1:]; z = x.view(2, 2); y[0] = 5; (x._version, y._version, z._version, z)
x = torch.zeros(4); y = x.detach(); z = x.data; x.add_(1); (x._version, y._version, z._version)
x = torch.zeros(4); y = x.clone(); y.add_(1); (x._version, x)
x = torch.zeros(2, 3); (x.data_ptr() == x[0].data_ptr(), x[1].data_ptr() - x.data_ptr(), x.T.data_ptr() == x.data_ptr())
x = torch.zeros(2, 3); y = x.reshape(6); z = x.T.reshape(6); (y._is_view(), z._is_view())
x = torch.zeros(2, 3); (x.contiguous() is x, x.T.contiguous() is x.T, x.to(torch.float32) is x, x.float() is x)
x = torch.zeros(3); (x.expand(2, 3).stride(), x.expand(2, 3).is_contiguous(), x[None].stride())
x = torch.arange(6).view(2, 3).T; (x.stride(), x.is_contiguous(), x.reshape(6))
x = torch.ones(3, requires_grad=True); y = x.expand(2, 3); y.sum().backward(); x.grad
x = torch.ones(3, requires_grad=True); y = x.as_strided((2, 2), (1, 1)); y.sum().backward(); x.grad
x = torch.ones(3, requires_grad=True); x.unfold(0, 2, 1).sum().backward(); x.grad
x = torch.tensor([1 + 2j]); x.real[0] = 5; x
x = torch.tensor([1 + 2j]); y = torch.view_as_real(x); y[0, 1] = 7; x
x = torch.ones(2, requires_grad=True); y = x.view(2); z = y.view(2); z._base is x
x = torch.ones(2, requires_grad=True) * 1; y = x.view(2); y.retain_grad(); y.sum().backward(); y.grad
x = torch.ones(3, requires_grad=True); y = x * 1; y[1] = x[0] * x[2]; y.sum().backward(); x.grad
x = torch.ones(3, requires_grad=True); y = x * 1; y[y > 0] *= 2; y.sum().backward(); (y, x.grad)
x = torch.ones(3, requires_grad=True); y = x * 1; y[[0, 1]] = y[[1, 2]] * 3; y.sum().backward(); (y, x.grad, y.grad_fn.name())
x = torch.ones(3, requires_grad=True); v = torch.ones(2, requires_grad=True); y = x * 1; y[[0, 0]] = v; y.sum().backward(); (x.grad, v.grad)
x = torch.ones(3, requires_grad=True); v = torch.tensor(2.0, requires_grad=True); y = x * 1; y[1:] = v; y.sum().backward(); (x.grad, v.grad)
# non-leaf gradients
x = torch.ones(2, requires_grad=True); y = x * 2; y.retain_grad(); (y * y).sum().backward(); (y.grad, y.retains_grad, x.retains_grad)
x = torch.ones(2, requires_grad=True); x.retain_grad(); x.sum().backward(); x.grad
x = torch.ones(2, requires_grad=True); y = x * 2; y.retain_grad(); y.add_(1); (y * y).sum().backward(); y.grad
x = torch.ones(2, requires_grad=True); y = x * 2; y.retain_grad(); y.sum().backward(retain_graph=True); y.sum().backward(); y.grad
x = torch.ones(2, requires_grad=True); x.grad = torch.ones(3)
x = torch.ones(2, requires_grad=True); x.grad = torch.ones(2, dtype=torch.float64)
x = torch.ones(2, requires_grad=True); x.grad = 3
x = torch.ones(2, requires_grad=True); x.grad = torch.ones(2); x.sum().backward(); x.grad
x = torch.ones(2, requires_grad=True); x.grad = x
x = torch.ones(2, requires_grad=True); x.sum().backward(); del x.grad; x.grad
x = torch.ones(2, requires_grad=True); x.sum().backward(); x.grad.zero_(); x.grad
x = torch.ones(2); x.grad
x = torch.ones(2, requires_grad=True); (x * 2).output_nr
x = torch.ones(2, requires_grad=True); a, b = x.unbind(); (a.output_nr, b.output_nr, b.grad_fn is a.grad_fn)
x = torch.ones(2, requires_grad=True); y = x * 2; y.grad = torch.ones(2); y.grad
# requires_grad
(torch.ones(2).requires_grad, torch.ones(2, requires_grad=True).requires_grad, (torch.ones(2, requires_grad=True) > 0).requires_grad)
x = torch.ones(2, dtype=torch.int64); x.requires_grad = True
x = torch.ones(2); x.requires_grad = 1
x = torch.ones(2, requires_grad=True); y = x * 2; y.requires_grad = False
x = torch.ones(2, requires_grad=True); y = x * 2; y.requires_grad = True; y.requires_grad
x = torch.ones(2, requires_grad=True); x.requires_grad = False; (x * 2).requires_grad
x = torch.ones(2, requires_grad=True); x.argmax().requires_grad
x = torch.ones(2, requires_grad=True); x.int().requires_grad
x = torch.ones(2, requires_grad=True); torch.tensor(x).requires_grad
x = torch.ones(2, requires_grad=True); torch.zeros_like(x).requires_grad
x = torch.ones(2, requires_grad=True); torch.zeros_like(x, requires_grad=True).requires_grad
x = torch.ones(2, requires_grad=True); x.new_ones(2, requires_grad=True).requires_grad
import copy; x = torch.ones(2, requires_grad=True); copy.copy(x).requires_grad
import copy; x = [torch.ones(2, requires_grad=True)] * 2; y = copy.deepcopy(x); (y[0] is y[1], y[0] is x[0])
import pickle; x = torch.ones(2, requires_grad=True); y = pickle.loads(pickle.dumps(x)); (y, y.is_leaf)
x = torch.ones(2, requires_grad=True); y = x.clone(); (y.requires_grad, y.is_leaf, y.grad_fn.name())
x = torch.ones(2, requires_grad=True); y = x.clone().detach().requires_grad_(True); (y.is_leaf, y.grad_fn)
# grad mode
x = torch.ones(2, requires_grad=True)\nwith torch.no_grad():\n    y = x * 2\n    with torch.enable_grad():\n        z = x * 2\n(y.requires_grad, z.requires_grad, torch.is_grad_enabled())
x = torch.ones(2, requires_grad=True)\n@torch.enable_grad()\ndef f(x):\n    return x * 2\nwith torch.no_grad():\n    y = f(x)\ny.requires_grad
@torch.no_grad()\ndef g():\n    yield torch.is_grad_enabled()\n    yield torch.is_grad_enabled()\nlist(g()) + [torch.is_grad_enabled()]
@torch.inference_mode()\ndef f(x):\n    return x * 2\ny = f(torch.ones(2, requires_grad=True))\n(y.requires_grad, y.is_inference())
x = torch.ones(2, requires_grad=True)\ntry:\n    with torch.no_grad():\n        raise ValueError\nexcept ValueError:\n    pass\ntorch.is_grad_enabled()
with torch.inference_mode():\n    c = torch.ones(2)\n    c.add_(1)\n(c.is_inference(), torch.is_inference_mode_enabled())
with torch.inference_mode():\n    c = torch.ones(2)\nx = torch.ones(2, requires_grad=True)\nx * c
with torch.inference_mode():\n    c = torch.ones(2)\nx = torch.ones(2, requires_grad=True)\n(x + c).sum().backward()\nx.grad
with torch.inference_mode():\n    c = torch.ones(2)\nc.requires_grad_()
with torch.inference_mode():\n    c = torch.ones(2)\n(c * 2).is_inference(), c[0].is_inference()
x = torch.ones(2)\nwith torch.inference_mode():\n    x.add_(1)\n(x, x._version)
x = torch.ones(2)\nwith torch.inference_mode(False):\n    y = x * 2\ny.is_inference()
with torch.set_grad_enabled(True):\n    a = torch.is_grad_enabled()\na
with torch.autograd.no_grad():\n    a = torch.is_grad_enabled()\na
with torch.inference_mode():\n    a = torch.is_grad_enabled()\na
# detach and data
x = torch.ones(2, requires_grad=True); y = x.detach(); y[0] = 5; (x, y.requires_grad, y.is_leaf)
x = torch.ones(2, requires_grad=True); y = x * 2; z = y.detach(); (z.requires_grad, z.data_ptr() == y.data_ptr(), z.grad_fn)
x = torch.ones(2, requires_grad=True); x.data[0] = 9; (x, x._version)
x = torch.ones(2, requires_grad=True); x.data = 3
x = torch.ones(2, requires_grad=True); x.data = torch.zeros(2); x
x = torch.ones(2, requires_grad=True); y = x * x; x.data.mul_(5); y.sum().backward(); x.grad
x = torch.ones(2, requires_grad=True); y = (x * 2).detach() * x; y.sum().backward(); x.grad
x = torch.ones(3); y = x.detach(); y.add_(1); (x._version, y._version)
# hooks
x = torch.ones(2, requires_grad=True); h = x.register_hook(lambda g: g * 2); x.sum().backward(); h.remove(); x.sum().backward(); x.grad
x = torch.ones(2, requires_grad=True); l = []; y = x * 2; y.register_hook(lambda g: l.append(g)); y.sum().backward(); (l, x.grad)
x = torch.ones(2, requires_grad=True); y = x * 2; y.register_hook(lambda g: g * 10); y.register_hook(lambda g: g + 1); y.sum().backward(); x.grad
x = torch.ones(2); x.register_hook(lambda g: g)
x = torch.ones(2, requires_grad=True); l = []; x.register_post_accumulate_grad_hook(lambda t: l.append(t.grad.clone())); x.sum().backward(); x.sum().backward(); l
x = torch.ones(2, requires_grad=True); (x * 2).register_post_accumulate_grad_hook(lambda t: None)
x = torch.ones(2); x.register_post_accumulate_grad_hook(lambda t: None)
x = torch.ones(2, requires_grad=True); l = []; y = x * 2; y.grad_fn.register_hook(lambda gi, go: l.append((gi, go))); y.sum().backward(); l
x = torch.ones(2, requires_grad=True); y = x * 2; y.grad_fn.register_hook(lambda gi, go: (gi[0] * 5, None)); y.sum().backward(); x.grad
x = torch.ones(2, requires_grad=True); y = x * 2; y.grad_fn.register_prehook(lambda go: None); y.sum().backward(); x.grad
x = torch.ones(2, requires_grad=True); l = []; y = x * 2; y.retain_grad(); y.register_hook(lambda g: g * 3); y.sum().backward(); (y.grad, x.grad)
x = torch.ones(2, requires_grad=True); l = []; x.register_hook(lambda g: l.append('a')); x.register_hook(lambda g: l.append('b')); (x * x).sum().backward(); l
x = torch.ones(2, requires_grad=True); x.register_hook(lambda g: g.double()); x.sum().backward()
x = torch.ones(2, requires_grad=True); y = x * 2; y.register_hook(lambda g: g * 2); torch.autograd.grad(y.sum(), x)
x = torch.ones(2, requires_grad=True); y = x * 2; y.register_hook(lambda g: g * 2); torch.autograd.grad(y.sum(), y)
x = torch.ones(2, requires_grad=True); x.register_hook(lambda g: g * 2); torch.autograd.grad(x.sum(), x)
x = torch.ones(2, requires_grad=True); l = []; x.register_hook(lambda g: l.append(g.requires_grad)); (x ** 3).sum().backward(create_graph=True); l
x = torch.ones(2, requires_grad=True)\ndef f(g):\n    raise ValueError("stop")\nx.register_hook(f)\nx.sum().backward()
x = torch.ones(2, requires_grad=True); y = x * 2; h = y.register_hook(lambda g: g * 100); y.add_(1); y.sum().backward(); x.grad
x = torch.ones(2, requires_grad=True)\nwith x.register_hook(lambda g: g * 2):\n    x.sum().backward()\nx.sum().backward()\nx.grad
x = torch.ones(2, requires_grad=True); w = torch.ones(2, requires_grad=True); l = []; torch.autograd.graph.register_multi_grad_hook((x, w), lambda gs: l.append([g is not None for g in gs])); (x * w).sum().backward(); l
x = torch.ones(2, requires_grad=True); n = (x * 2).grad_fn.next_functions[0][0]; l = []; n.register_hook(lambda gi, go: l.append(len(go))); (x * 2).sum().backward(); l
# graph
x = torch.ones(2, requires_grad=True); y = (x * 2 + 1).sum(); [f.name() for f, _ in y.grad_fn.next_functions]
x = torch.ones(2, requires_grad=True); y = x * 2; (y.grad_fn.next_functions[0][0].name(), y.grad_fn.next_functions[1], len(y.grad_fn.next_functions))
x = torch.ones(2, requires_grad=True); y = x * x; y.grad_fn.next_functions[0][0] is y.grad_fn.next_functions[1][0]
x = torch.ones(2, requires_grad=True); y = x ** 2; (len(y.grad_fn.next_functions), y.grad_fn._saved_exponent)
x = torch.ones(2, requires_grad=True); y = x.exp(); y.grad_fn._saved_result
x = torch.ones(2, requires_grad=True); y = x.sum(); y.backward(); y.grad_fn.name()
x = torch.ones(2, requires_grad=True); y = x * x; y.sum().backward(); y.grad_fn._saved_self
x = torch.ones(2, requires_grad=True); y = x * 2; (y.grad_fn is y.grad_fn, y.grad_fn == (x * 2).grad_fn)
x = torch.ones(2, requires_grad=True); y = x.view(1, 2); y.grad_fn._saved_self_sym_sizes
x = torch.ones(2, requires_grad=True); y = x * 2; (hasattr(y.grad_fn, 'metadata'), y.grad_fn.metadata)
x = torch.ones(2, requires_grad=True); y = x * 2; isinstance(y.grad_fn, torch.autograd.graph.Node)
x = torch.ones(2, requires_grad=True); y = x * 2; repr(y.grad_fn.next_functions)[:20]
x = torch.ones(2, requires_grad=True); torch.cat([x, torch.ones(1), x]).grad_fn.next_functions[1]
x = torch.ones(2, requires_grad=True); [f is None for f, _ in torch.where(x > 0, x, torch.zeros(2)).grad_fn.next_functions]
x = torch.ones(2, requires_grad=True); e = torch.autograd.graph.get_gradient_edge(x); (e.node.name(), e.output_nr)
x = torch.ones(2, requires_grad=True); str(type(x.grad_fn)), str(type((x+1).grad_fn).__name__)
# autograd.grad
x = torch.tensor(2.0, requires_grad=True); torch.autograd.grad(x ** 2, x)
x = torch.tensor(2.0, requires_grad=True); y = torch.tensor(1.0, requires_grad=True); torch.autograd.grad(x ** 2, [x, y])
x = torch.tensor(2.0, requires_grad=True); y = torch.tensor(1.0, requires_grad=True); torch.autograd.grad(x ** 2, [x, y], allow_unused=True)
x = torch.ones(2, requires_grad=True); torch.autograd.grad([x.sum(), (x * 2).sum()], x)
x = torch.ones(2, requires_grad=True); torch.autograd.grad(x * 2, x, grad_outputs=torch.tensor([1.0, 3.0]))
x = torch.ones(2, requires_grad=True); torch.autograd.grad(x * 2, x, torch.eye(2), is_grads_batched=True)
x = torch.tensor(2.0, requires_grad=True); y = x ** 2; torch.autograd.grad(y, x); torch.autograd.grad(y, x)
x = torch.tensor(2.0, requires_grad=True); y = x ** 2; torch.autograd.grad(y, x, retain_graph=True); torch.autograd.grad(y, x)
x = torch.tensor(2.0, requires_grad=True); torch.autograd.grad(x ** 2, x); x.grad
x = torch.tensor(2.0, requires_grad=True); torch.autograd.grad(x, x)
x = torch.tensor(2.0, requires_grad=True); torch.autograd.grad(x ** 2, ())
x = torch.tensor(2.0, requires_grad=True); torch.autograd.grad(x ** 2, x, materialize_grads=True, allow_unused=False)
x = torch.tensor(2.0, requires_grad=True); y = x * 2; z = y * 3; torch.autograd.grad(z, [x, y])
x = torch.tensor(2.0, requires_grad=True); y = x.detach().requires_grad_(); torch.autograd.grad(x * 2, y, allow_unused=True)
x = torch.tensor(2.0, requires_grad=True); a, = torch.autograd.grad(x ** 3, x, create_graph=True); b, = torch.autograd.grad(a.sum(), x); (a, b)
x = torch.ones(2, 2, requires_grad=True); a, b = x.unbind(); torch.autograd.grad((a * b).sum(), [a, b])
x = torch.ones(2, requires_grad=True); torch.autograd.grad(x.sum(), 3)
x = torch.tensor(2.0, requires_grad=True); torch.autograd.grad(x ** 2, x, grad_outputs=torch.tensor(1.0, dtype=torch.float64))
z = torch.tensor(1 + 1j, requires_grad=True); torch.autograd.grad((z * z).real, z)
z = torch.tensor([1 + 1j], requires_grad=True); torch.autograd.grad(z * z, z, torch.tensor([1j]))
# Function
class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, y):\n        ctx.save_for_backward(x, y)\n        return x * y\n    @staticmethod\n    def backward(ctx, g):\n        x, y = ctx.saved_tensors\n        return g * y, g * x\nx = torch.tensor(2.0, requires_grad=True); y = torch.tensor(3.0, requires_grad=True); z = F.apply(x, y); z.backward(); (z, x.grad, y.grad, z.grad_fn.name())
class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, n):\n        ctx.n = n\n        return x * n\n    @staticmethod\n    def backward(ctx, g):\n        return g * ctx.n, None\nx = torch.tensor(2.0, requires_grad=True); F.apply(x, 5).backward(); x.grad
class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * 2\n    @staticmethod\n    def backward(ctx, g):\n        return g, g\nx = torch.tensor(2.0, requires_grad=True); F.apply(x).backward()
class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, y):\n        return x * 2\n    @staticmethod\n    def backward(ctx, g):\n        return g\nx = torch.tensor(2.0, requires_grad=True); F.apply(x, x).backward()
class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * 2\n    @staticmethod\n    def backward(ctx, g):\n        return torch.ones(3)\nx = torch.ones(2, requires_grad=True); F.apply(x).sum().backward()
class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * 2\n    @staticmethod\n    def backward(ctx, g):\n        return 5\nx = torch.ones(2, requires_grad=True); F.apply(x).sum().backward()
class F(torch.autograd.Function):\n    @staticmethod\n    def forward(x):\n        return x ** 2\n    @staticmethod\n    def setup_context(ctx, inputs, output):\n        ctx.save_for_backward(inputs[0])\n    @staticmethod\n    def backward(ctx, g):\n        return g * 2 * ctx.saved_tensors[0]\nx = torch.tensor(3.0, requires_grad=True); F.apply(x).backward(); x.grad
class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        ctx.mark_non_differentiable(y := x > 0)\n        return x * 2, y\n    @staticmethod\n    def backward(ctx, g, h):\n        return g\nx = torch.ones(2, requires_grad=True); a, b = F.apply(x); (a.requires_grad, b.requires_grad)
class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        y = x.exp()\n        ctx.save_for_backward(y)\n        return y\n    @staticmethod\n    def backward(ctx, g):\n        return g * ctx.saved_tensors[0]\nx = torch.tensor(1.0, requires_grad=True); g, = torch.autograd.grad(F.apply(x), x, create_graph=True); torch.autograd.grad(g, x)
class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        ctx.mark_dirty(x)\n        return x.add_(1)\n    @staticmethod\n    def backward(ctx, g):\n        return g\nx = torch.tensor(1.0, requires_grad=True); y = x * 1; z = F.apply(y); z.backward(); (z is y, x.grad, y.grad_fn.name())
class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        F.need = ctx.needs_input_grad\n        return x * 2\n    @staticmethod\n    def backward(ctx, g):\n        return g\nF.apply(torch.ones(1, requires_grad=True)); a = F.need; F.apply(torch.ones(1)); (a, F.need)
class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x, x * 2\n    @staticmethod\n    def backward(ctx, g, h):\n        return g + 2 * h\nx = torch.tensor(1.0, requires_grad=True); a, b = F.apply(x); (a + b).backward(); x.grad
class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n        return x * x\n    @staticmethod\n    def backward(ctx, g):\n        x, = ctx.saved_tensors\n        return g * 2 * x\nx = torch.tensor(1.0, requires_grad=True); y = F.apply(x); y.backward(); y.backward()
class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n        return x * x\n    @staticmethod\n    def backward(ctx, g):\n        x, = ctx.saved_tensors\n        return g * 2 * x\nx = torch.tensor([1.0], requires_grad=True); w = x * 1; y = F.apply(w); w.add_(1); y.sum().backward()
class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * 2\nx = torch.tensor(1.0, requires_grad=True); F.apply(x).backward()
class F(torch.autograd.Function):\n    pass\nF.apply(torch.ones(1))
class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * 2\n    @staticmethod\n    def backward(ctx, g):\n        return g\nF()
class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        ctx.save_for_backward(5)\n        return x * 2\nF.apply(torch.ones(1))
class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x.view(2)\n    @staticmethod\n    def backward(ctx, g):\n        return g.view(1, 2)\nx = torch.ones(1, 2, requires_grad=True); y = F.apply(x); y.sum().backward(); (x.grad, repr(y))
class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * 2\n    @staticmethod\n    def backward(ctx, g):\n        return None\nx = torch.ones(2, requires_grad=True); F.apply(x).sum().backward(); x.grad
# gradcheck, anomaly
x = torch.tensor([0.3, 0.7], dtype=torch.float64, requires_grad=True); torch.autograd.gradcheck(torch.sin, (x,))
x = torch.tensor([0.3, 0.7], dtype=torch.float64, requires_grad=True); torch.autograd.gradgradcheck(lambda x: (x ** 3).sum(), (x,))
x = torch.tensor([0.3, 0.7], dtype=torch.float64); torch.autograd.gradcheck(torch.sin, (x,))
x = torch.tensor([0.3, 0.7], dtype=torch.float64, requires_grad=True); torch.autograd.gradcheck(lambda a, b: a * b, (x, x.detach().requires_grad_()))
x = torch.tensor([0.3 + 1j, 0.7], dtype=torch.complex128, requires_grad=True); torch.autograd.gradcheck(lambda a: a * a, (x,))
x = torch.tensor([0.3 + 1j, 0.7], dtype=torch.complex128, requires_grad=True); torch.autograd.gradcheck(lambda a: a.abs(), (x,))
torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
x = torch.tensor(0.0, requires_grad=True)\nwith torch.autograd.set_detect_anomaly(True):\n    y = x.sqrt() * 0\n    try:\n        y.backward()\n    except RuntimeError as e:\n        r = str(e)\nr
x = torch.tensor(0.0, requires_grad=True)\nwith torch.autograd.set_detect_anomaly(True, check_nan=False):\n    y = x.sqrt() * 0\n    y.backward()\nx.grad
# functions of functions
torch.func.grad(lambda x: (x ** 2).sum())(torch.tensor([1.0, 2.0]))
torch.func.grad(torch.sin)(torch.tensor(0.5))
torch.func.grad(lambda x, y: (x * y).sum(), argnums=(0, 1))(torch.tensor([1.0]), torch.tensor([2.0]))
torch.func.grad(lambda x: ((x ** 2).sum(), x + 1), has_aux=True)(torch.tensor([1.0, 2.0]))
torch.func.grad_and_value(lambda x: x ** 2)(torch.tensor(3.0))
torch.func.grad(lambda d: (d['a'] * d['b']).sum())({'a': torch.tensor([1.0]), 'b': torch.tensor([2.0])})
torch.func.grad(lambda x: 3.0)(torch.tensor(1.0))
torch.func.grad(torch.func.grad(lambda x: x ** 3))(torch.tensor(2.0))
x = torch.tensor(2.0, requires_grad=True); y = torch.func.grad(lambda t: t ** 3)(x); y.backward(); (y, x.grad)
w = torch.tensor(3.0, requires_grad=True); g = torch.func.grad(lambda t: w * t ** 2)(torch.tensor(2.0)); g.backward(); (g, w.grad)
torch.func.vmap(lambda x: x.sum())(torch.ones(3, 2))
torch.func.vmap(torch.dot)(torch.ones(3, 2), torch.ones(3, 2))
torch.func.vmap(lambda x, y: x + y, in_dims=(0, None))(torch.ones(3, 2), torch.ones(2))
torch.func.vmap(lambda x: x * 2, out_dims=1)(torch.ones(3, 2)).shape
torch.func.vmap(lambda x: (x, x.sum()))(torch.ones(3, 2))
torch.vmap(torch.func.grad(lambda x: x ** 2))(torch.tensor([1.0, 2.0]))
torch.func.vmap(lambda x, y: x + y)(torch.ones(3), torch.ones(4))
torch.func.vmap(lambda x: x.item())(torch.ones(3))
torch.func.jacrev(lambda x: x ** 2)(torch.tensor([1.0, 2.0]))
torch.func.jacfwd(torch.sin)(torch.tensor([0.0, 1.0]))
torch.func.jacrev(lambda x, y: x * y, argnums=(0, 1))(torch.ones(2), torch.ones(2) * 2)
torch.func.hessian(lambda x: (x ** 3).sum())(torch.tensor([1.0, 2.0]))
torch.func.jvp(lambda x: x ** 2, (torch.tensor([1.0, 2.0]),), (torch.ones(2),))
torch.func.jvp(lambda x, y: x * y, (torch.tensor(2.0), torch.tensor(3.0)), (torch.tensor(1.0), torch.tensor(0.0)))
torch.func.vjp(lambda x: (x * 2, x ** 2), torch.tensor([1.0, 2.0]))[1]((torch.ones(2), torch.ones(2)))
torch.func.vjp(lambda x: (x * 2, x), torch.tensor([1.0, 2.0]), has_aux=True)[2]
out, jf = torch.func.linearize(torch.sin, torch.tensor(0.0)); (out, jf(torch.tensor(2.0)))
torch.autograd.functional.jacobian(lambda x, y: x * y, (torch.ones(2), torch.ones(2) * 2))
torch.autograd.functional.jacobian(lambda x: (x, x * 2), torch.ones(2))
torch.autograd.functional.jacobian(lambda x: x.sum() * torch.ones(3), torch.ones(2))
torch.autograd.functional.hessian(lambda x: (x ** 3).sum(), torch.tensor([1.0, 2.0]))
torch.autograd.functional.hessian(lambda x, y: (x * y).sum(), (torch.ones(2), torch.ones(2)))
torch.autograd.functional.hessian(lambda x: x * 2, torch.ones(2))
torch.autograd.functional.vjp(lambda x: x ** 2, torch.tensor([1.0, 2.0]), torch.ones(2))
torch.autograd.functional.vjp(lambda x: x ** 2, torch.tensor([1.0, 2.0]))
torch.autograd.functional.jvp(lambda x: x ** 2, torch.tensor([1.0, 2.0]), torch.ones(2))
torch.autograd.functional.jvp(lambda x: x ** 2, torch.tensor([1.0, 2.0]), torch.ones(3))
torch.autograd.functional.vhp(lambda x: (x ** 3).sum(), torch.tensor([1.0, 2.0]), torch.ones(2))
torch.autograd.functional.hvp(lambda x: (x ** 3).sum(), torch.tensor([1.0, 2.0]), torch.ones(2))
torch.autograd.functional.jacobian(lambda x: 3, torch.ones(2))
torch.autograd.functional.jacobian(lambda x: x.detach(), torch.ones(2))
torch.autograd.functional.jacobian(lambda x: torch.ones(2), torch.ones(2), strict=True)
x = torch.ones(2, requires_grad=True); j = torch.autograd.functional.jacobian(lambda t: t ** 2, x, create_graph=True); j.sum().backward(); x.grad
fwAD = torch.autograd.forward_ad\nwith fwAD.dual_level():\n    d = fwAD.make_dual(torch.tensor(2.0), torch.tensor(1.0))\n    y = d ** 3\n    r = fwAD.unpack_dual(y).tangent\nr
fwAD = torch.autograd.forward_ad\nwith fwAD.dual_level():\n    r = fwAD.unpack_dual(torch.tensor(2.0))\nr.tangent
fwAD = torch.autograd.forward_ad\nwith fwAD.dual_level():\n    d = fwAD.make_dual(torch.tensor([2.0, 3.0]), torch.tensor([1.0, 0.5]))\n    r = fwAD.unpack_dual((d * d).sum())\n(r.primal, r.tangent)
checkpoint = torch.utils.checkpoint.checkpoint\nx = torch.tensor(2.0, requires_grad=True); y = checkpoint(lambda t: t ** 3, x, use_reentrant=False); y.backward(); (y.item(), x.grad)
checkpoint = torch.utils.checkpoint.checkpoint\nx = torch.tensor(2.0, requires_grad=True); w = torch.tensor(5.0, requires_grad=True); y = checkpoint(lambda t: w * t, x, use_reentrant=True); y.backward(); (x.grad, w.grad)
# more of the same
x = torch.tensor(2.0, requires_grad=True); y = x.detach().clone().requires_grad_(); (x*y).backward(); (x.grad, y.grad)
x = torch.ones(2, requires_grad=True); torch.sum(x, dim=0).backward(); x.grad
x = torch.ones(2, 2, requires_grad=True); y = x.sum(0); y.backward(torch.ones(2)); x.grad
x = torch.ones(3, requires_grad=True); x.cumsum(0).backward(torch.tensor([1., 2., 3.])); x.grad
x = torch.tensor([1., 2.], requires_grad=True); torch.stack([x, x**2]).sum().backward(); x.grad
x = torch.tensor([3., 4.], requires_grad=True); x.norm().backward(); x.grad
x = torch.randn(3, requires_grad=True); y = x.std(); y.backward(); x.grad.shape
x = torch.tensor([1., 2.], requires_grad=True); y = x.var(); y.backward(); x.grad
with torch.no_grad():\n    x = torch.ones(2, requires_grad=True)\n    y = x * 2\n(x.requires_grad, y.requires_grad)
x = torch.ones(2)\nx.requires_grad_(True)\ny = (x * 2).sum()\nx.requires_grad_(False)\ny.backward()\nx.grad
x = torch.ones(2, requires_grad=True); y = x * 2; x.requires_grad_(False); y.sum().backward(); x.grad
x = torch.ones(2, requires_grad=True); y = x + 1; y.backward(torch.ones(2, 1))
x = torch.ones(2, requires_grad=True); y = x + 1; y.backward(torch.tensor([1, 1]))
x = torch.ones(2, requires_grad=True); torch.autograd.backward(x.sum(), torch.tensor(2.0)); x.grad
x = torch.ones(2, requires_grad=True); torch.autograd.backward((x.sum(), x.prod())); x.grad
x = torch.ones(2, requires_grad=True); torch.autograd.backward(x.sum(), retain_graph=True); x.grad
x = torch.ones(2, requires_grad=True); torch.autograd.backward([x.sum()], grad_tensors=[torch.tensor(3.)]); x.grad
x = torch.ones(2, requires_grad=True); y = x * 2; torch.autograd.backward(y, torch.ones(2), inputs=[x]); x.grad
x = torch.ones(2, requires_grad=True); (x ** 3).sum().backward(create_graph=True); x.grad.grad_fn is not None
x = torch.tensor([1., 2.], requires_grad=True); g = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)[0]; repr(g)
x = torch.tensor([1., 2.], requires_grad=True); g = torch.autograd.grad((x.exp()).sum(), x, create_graph=True)[0]; repr(g)
x = torch.tensor([1., 2.], requires_grad=True); g = torch.autograd.grad((x * x).sum(), x, create_graph=True)[0]; repr(g)
x = torch.tensor([1., 2.], requires_grad=True); g = torch.autograd.grad((x.sin()).sum(), x, create_graph=True)[0]; repr(g)
x = torch.tensor([1., 2.], requires_grad=True); g = torch.autograd.grad((x / 3).sum(), x, create_graph=True)[0]; repr(g)
x = torch.tensor([1., 2.], requires_grad=True); g = torch.autograd.grad((1 / x).sum(), x, create_graph=True)[0]; repr(g)
x = torch.tensor([1., 2.], requires_grad=True); g = torch.autograd.grad(x.sigmoid().sum(), x, create_graph=True)[0]; g
x = torch.tensor([1., 2.], requires_grad=True); g = torch.autograd.grad(x.log().sum(), x, create_graph=True)[0]; repr(g)
x = torch.tensor([1., 2.], requires_grad=True); g = torch.autograd.grad(x.sqrt().sum(), x, create_graph=True)[0]; repr(g)
x = torch.tensor([1., 2.], requires_grad=True); g = torch.autograd.grad(x.tanh().sum(), x, create_graph=True)[0]; g
x = torch.tensor([1., 2.], requires_grad=True); g = torch.autograd.grad((x ** 2).mean(), x, create_graph=True)[0]; repr(g)
m = torch.ones(2, 2, requires_grad=True); g = torch.autograd.grad((m @ m).sum(), m, create_graph=True)[0]; repr(g)
torch.ones(2, requires_grad=True).tolist()
x = torch.ones(2, requires_grad=True); x.item() if x.numel() == 1 else x.sum().item()
x = torch.tensor([[1, 2], [3, 4]]); [r.tolist() for r in x]
x = torch.arange(6).reshape(2, 3); x.T.tolist(), x.flip(1).tolist(), x.roll(1, 1).tolist()
torch.tensor([1.0]).numpy().flags.writeable
import copy; x = torch.ones(2, requires_grad=True); y = copy.copy(x); y is x
x = torch.ones(2); y = x.clone(); y[0] = 5; x
x = torch.tensor([1.0, 2.0, 3.0]); x[x > 1.5]
x = torch.zeros(3); x[torch.tensor([0, 2])] += 1; x
x = torch.zeros(2, 2); x.diagonal().fill_(1); x
x = torch.zeros(4); x.view(2, 2).t()[0, 1] = 3; x
x = torch.arange(4.); x[1:] = x[:-1].clone(); x
x = torch.arange(4.); x.swapaxes(0, 0).add_(1); x
x = torch.ones(2, requires_grad=True); y = x.view(-1); y.retain_grad(); y.sum().backward(); y.grad
x = torch.ones(2, requires_grad=True); l = []; h1 = x.register_hook(lambda g: l.append(1)); h2 = x.register_hook(lambda g: l.append(2)); h1.remove(); x.sum().backward(); l
x = torch.ones(2, requires_grad=True); y = x * 2; l = []; y.grad_fn.register_prehook(lambda g: l.append(g)); y.sum().backward(); l
x = torch.ones(2, requires_grad=True); x.register_hook(3)
torch.autograd.grad(torch.ones(1, requires_grad=True) * 2, [])
x = torch.ones(1, requires_grad=True); torch.autograd.grad([x * 2, x * 3], [x])
x = torch.ones(1, requires_grad=True); torch.autograd.grad((x * 2,), (x,), (torch.tensor([5.0]),))
x = torch.ones(2, requires_grad=True); torch.autograd.grad(x.sum(), x, only_inputs=True)
x = torch.ones(2, requires_grad=True); y = torch.ones(2, requires_grad=True); torch.autograd.grad((x * 2).sum(), [x, y], allow_unused=True)
x = torch.ones(2, requires_grad=True); a = torch.autograd.functional.vjp(lambda t: t.exp(), x.detach(), torch.ones(2)); a
torch.autograd.functional.jacobian(lambda a, b: (a + b, a * b), (torch.tensor(1.0), torch.tensor(2.0)))
torch.autograd.functional.jacobian(torch.exp, torch.tensor([0.0, 1.0]), vectorize=True)
torch.func.grad(lambda x, y: x * y)(torch.tensor(2.0), torch.tensor(3.0))
torch.func.grad(lambda x: x.sum(), argnums=1)(torch.ones(2))
torch.func.jvp(lambda x: x.sum(), (torch.ones(2),), (torch.ones(3),))
torch.func.vmap(lambda x: x.mm(torch.ones(2, 2)))(torch.ones(3, 2, 2)).shape
torch.func.jacrev(lambda d: d['a'] * 2)({'a': torch.ones(2)})
torch.func.hessian(lambda x: x.prod())(torch.tensor([2.0, 3.0]))
f, g = torch.func.vjp(torch.sin, torch.tensor(0.0)); (f, g(torch.tensor(3.0)))
torch.set_grad_enabled(False); x = torch.ones(1, requires_grad=True); y = x * 2; torch.set_grad_enabled(True); y.requires_grad
torch.is_grad_enabled(), torch.is_inference_mode_enabled()
x = torch.ones(1)\nwith torch.inference_mode():\n    y = x + 1\ny.is_inference(), y.requires_grad
with torch.inference_mode():\n    y = torch.ones(1, requires_grad=True)\ny.requires_grad
torch.inference_mode(True)(lambda: torch.is_inference_mode_enabled())()
repr(torch.nn.Parameter(torch.ones(2, 2)))
torch.tensor([1., 2.]).requires_grad_().sum().backward()
x = torch.tensor([5, 6]); x.sum().backward()
x = torch.tensor([1.5], dtype=torch.float16, requires_grad=True); (x * 2).sum().backward(); x.grad
x = torch.tensor([1, 2]); x.float().requires_grad_().sum().requires_grad
# tangents in no_grad, memory that is shared in part, and slopes at the ends
with torch.no_grad():\n    with torch.autograd.forward_ad.dual_level():\n        x = torch.autograd.forward_ad.make_dual(torch.ones(2), torch.tensor([1., 2.])); y = torch.autograd.forward_ad.unpack_dual(x * x).tangent\ny
with torch.autograd.forward_ad.dual_level():\n    x = torch.autograd.forward_ad.make_dual(torch.ones(2), torch.tensor([1., 2.]))\n    with torch.no_grad():\n        y = x.sin()\n    z = torch.autograd.forward_ad.unpack_dual(y).tangent\nz
with torch.autograd.forward_ad.dual_level():\n    x = torch.autograd.forward_ad.make_dual(torch.ones(2), torch.tensor([1., 2.])); v = x[1:]; v.mul_(5); y = torch.autograd.forward_ad.unpack_dual(x).tangent\ny
class A(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x): ctx.save_for_forward(x); return x * 2\n    @staticmethod\n    def jvp(ctx, t): x, = ctx.saved_tensors; return t * x\nwith torch.no_grad(), torch.autograd.forward_ad.dual_level():\n    x = torch.autograd.forward_ad.make_dual(torch.ones(2), torch.tensor([1., 2.])); y = torch.autograd.forward_ad.unpack_dual(A.apply(x)).tangent\ny
x = torch.ones(4); x[1:].add_(x[:-1]); x
x = torch.arange(5.); x[1:] = x[:-1]; x
x = torch.arange(5.); x[1:].copy_(x[:-1]); x
x = torch.arange(5.); x[1:].mul_(x[:-1]); x
x = torch.arange(4.).view(2, 2); x.t().copy_(x); x
x = torch.arange(4.).view(2, 2); x.t().add_(x); x
x = torch.arange(4.).view(2, 2); x.add_(x.t()); x
p = torch.tensor([0., 1., .5], requires_grad=True); torch.nn.functional.binary_cross_entropy(p, torch.tensor([0., 1., 1.])).backward(); p.grad
p = torch.tensor([0., 1., .5], requires_grad=True); torch.nn.functional.binary_cross_entropy(p, torch.tensor([1., 0., 1.])).backward(); p.grad
p = torch.tensor([0., 1., .5], requires_grad=True); t = torch.tensor([1., 0., 1.], requires_grad=True); torch.nn.functional.binary_cross_entropy(p, t).backward(); (p.grad, t.grad)
p = torch.tensor([0., 1., .5], dtype=torch.float64, requires_grad=True); torch.nn.functional.binary_cross_entropy(p, torch.tensor([1., 0., 1.]).double(), reduction='none')
x = torch.zeros(2, requires_grad=True); y = torch.zeros(2, requires_grad=True); torch.hypot(x, y).sum().backward(); (x.grad, y.grad)
x = torch.zeros(2, requires_grad=True); torch.heaviside(x, torch.ones(2)).sum().backward(); x.grad
x = torch.zeros(2); v = torch.ones(2, requires_grad=True); torch.heaviside(x, v).sum().backward(); v.grad
x = torch.zeros(2, requires_grad=True); torch.heaviside(x, torch.ones(2))
torch.func.jacfwd(lambda x: x > 0)(torch.ones(2))
torch.func.jacfwd(lambda x: x.argmax())(torch.ones(2))
x = torch.tensor([0., .5, 1.], requires_grad=True); torch.logit(x).sum().backward(); x.grad
x = torch.tensor([1., 2., 4.], requires_grad=True); torch.bincount(torch.tensor([0, 1, 1]), x)
with torch.autograd.forward_ad.dual_level():\n    with torch.no_grad():\n        a = torch.is_grad_enabled()\n    b = torch.is_grad_enabled()\n(a, b)
with torch.no_grad():\n    with torch.autograd.forward_ad.dual_level():\n        a = torch.is_grad_enabled()\n    b = torch.is_grad_enabled()\n(a, b, torch.is_grad_enabled(), (torch.ones(1, requires_grad=True) * 2).requires_grad)
# numbers that a dtype cannot hold
torch.tensor([1]).fill_(1 + 2j)
torch.tensor([1.]).fill_(1 + 2j)
torch.tensor([1.]).fill_(1 + 0j)
x = torch.tensor([1., 2.]); x[0] = 1 + 2j; x
x = torch.tensor([1, 2]); x[0] = 1.5; x
x = torch.tensor([1, 2]); x[0] = float('nan'); x
x = torch.tensor([1, 2]); x[0] = float('inf'); x
x = torch.tensor([1, 2], dtype=torch.int8); x[0] = 300; x
x = torch.tensor([1, 2], dtype=torch.uint8); x[0] = -1; x
x = torch.tensor([1, 2], dtype=torch.int8); x.fill_(300)
x = torch.tensor([1, 2], dtype=torch.int8); x.add_(300)
x = torch.tensor([1, 2], dtype=torch.int8); x + 300
x = torch.tensor([1, 2], dtype=torch.uint8); x - 3
x = torch.tensor([True]); x[0] = 5; x
x = torch.tensor([True]); x.fill_(.5)
torch.tensor([1., 2.]).masked_fill(torch.tensor([True, False]), 1j)
torch.tensor([1, 2]).masked_fill(torch.tensor([True, False]), 1.5)
torch.tensor([1, 2]).masked_fill(torch.tensor([True, False]), float('inf'))
torch.tensor([1., 2.]).masked_fill_(torch.tensor([True, False]), 1j)
torch.tensor([1, 2]).index_fill(0, torch.tensor([0]), 1.7)
torch.tensor([1., 2.]).scatter(0, torch.tensor([0]), 1j)
torch.tensor([1, 2]).scatter(0, torch.tensor([0]), 1.7)
torch.full((2,), 1.5, dtype=torch.int64)
torch.full((2,), 1j, dtype=torch.float32)
torch.full((2,), 300, dtype=torch.int8)
torch.full_like(torch.ones(2), 1j)
torch.full_like(torch.ones(2, dtype=torch.int64), 1.7)
torch.tensor([1.5, 2.7], dtype=torch.int64)
torch.tensor([1j], dtype=torch.float32)
torch.tensor([float('nan')]).long()
torch.tensor([1e20]).int()
torch.tensor([-1.]).to(torch.uint8)
torch.tensor([300.]).to(torch.int8)
torch.tensor([1j]).float()
torch.tensor([1j]).to(torch.float32)
torch.ones(2).add_(1j)
torch.ones(2).mul_(torch.tensor(1j))
torch.ones(2) + 1j
torch.clamp(torch.tensor([1, 5]), max=2.5)
torch.where(torch.tensor([True, False]), 1, 2.5)
torch.where(torch.tensor([True, False]), torch.tensor([1, 2]), 2.5)
torch.nn.functional.pad(torch.tensor([1, 2]), (1, 1), value=1.5)
torch.nn.functional.threshold(torch.tensor([1, 2]), 1, 1.5)
torch.tensor([1, 2]).pow(-1)
torch.tensor([1, 2]).pow(.5)
torch.tensor([1, 2]) ** torch.tensor([-1, 2])
2 ** torch.tensor([-1, 2])
torch.tensor([7, -7]) // torch.tensor([2, 2]), torch.tensor([7, -7]) % 3, torch.tensor([7., -7.]) % -3
torch.tensor([1, 2]) // 0
torch.tensor([1, 2]) % 0
torch.tensor([1., 2.]) // 0, torch.tensor([1., 2.]) % 0
torch.tensor([1]) << 70
torch.tensor([1]) >> -1
torch.bitwise_left_shift(torch.tensor([1], dtype=torch.int8), 9)
torch.addcmul(torch.tensor([1]), torch.tensor([2]), torch.tensor([3]), value=.5)
torch.add(torch.tensor([1]), torch.tensor([2]), alpha=.5)
torch.addmm(torch.ones(2, 2).long(), torch.ones(2, 2).long(), torch.ones(2, 2).long(), beta=.5)
torch.linspace(0, 10, 4, dtype=torch.int64)
torch.sum(torch.tensor([True, True])), torch.prod(torch.tensor([2, 3], dtype=torch.int8)), torch.cumsum(torch.tensor([100, 100], dtype=torch.int8), 0)
torch.sum(torch.tensor([100, 100], dtype=torch.int8), dtype=torch.int8)
torch.mean(torch.tensor([1, 2]), dtype=torch.float64)
torch.tensor([1, 2]).std()
torch.tensor([1, 2]).sqrt_()
torch.nn.functional.cross_entropy(torch.ones(2, 3).half(), torch.tensor([0, 1]))
torch.tensor(1, dtype=torch.int32) / torch.tensor(2, dtype=torch.int32), torch.tensor([1.]) * torch.tensor(2., dtype=torch.float64), torch.tensor([1]) * torch.tensor(2.5), torch.tensor([1]) * 2.5, torch.tensor([1], dtype=torch.int8) * torch.tensor(1000)
torch.result_type(torch.tensor([1]), 1.), torch.promote_types(torch.int8, torch.uint8), torch.can_cast(torch.float32, torch.int64)
torch.tensor([1, 2, 3]).float().var(unbiased=False), torch.tensor([1., 2.]).var(0, True, True)
"""


def cases():
    """``(name, code)`` of every case."""
    area = ""
    for line in CASES.strip().splitlines():
        if line.startswith("# "):
            area = line[2:]
        elif line:
            code = line.replace("\\n", "\n")
            yield f"{area}: {line[:110]}", code
