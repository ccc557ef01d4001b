# ruff: noqa: E501 - a table with a case in each line
"""What programs met where the facade once answered otherwise than PyTorch: a case in each line."""

CASES = r"""
torch.logcumsumexp(torch.tensor([1e4,2e4,1e4]),0)
torch.logcumsumexp(torch.tensor([float('-inf'),float('-inf'),1.0]),0)
torch.nn.functional.interpolate(torch.arange(16,dtype=torch.uint8).reshape(1,1,4,4)*9, scale_factor=2, mode='bilinear')
torch.nn.functional.interpolate(torch.arange(16,dtype=torch.uint8).reshape(1,1,4,4)*9, size=(2,2), mode='nearest')
torch.nn.functional.interpolate(torch.arange(16,dtype=torch.float32).reshape(1,1,16)*9, size=5, mode='linear')
torch.autograd.Variable(torch.ones(2), requires_grad=True)
x=torch.tensor([1.,2.,2.,3.,2.],requires_grad=True); x.median().backward(); x.grad
x=torch.tensor([1.,2.,2.,3.,2.],requires_grad=True); x.nanmedian().backward(); x.grad
x=torch.tensor([1.,2.,2.,3.,2.],requires_grad=True); x.median(0).values.backward(); x.grad
x=torch.tensor([1.,3.,3.],requires_grad=True); x.max().backward(); x.grad
x=torch.tensor([1.,3.,3.],requires_grad=True); x.amax(0).backward(); x.grad
x=torch.tensor([1.,3.,3.],requires_grad=True); x.aminmax().max.backward(); x.grad
x=torch.tensor([1.,3.,3.],requires_grad=True); x.kthvalue(2)[0].backward(); x.grad
x=torch.tensor([1.,3.,3.],requires_grad=True); x.mode()[0].backward(); x.grad
x=torch.tensor([1.,3.,3.],requires_grad=True); x.quantile(0.5).backward(); x.grad
x=torch.tensor([1.,3.,3.],requires_grad=True); torch.norm(x, float('inf')).backward(); x.grad
x=torch.tensor([1.,3.,-3.],requires_grad=True); torch.linalg.vector_norm(x, float('inf')).backward(); x.grad
x=torch.ones(2,requires_grad=True); b=x*1; v=b.view(2); w=b.view(2); v.mul_(2); g=torch.autograd.grad(w.sum()+v.sum(),x); g
x=torch.ones(4,requires_grad=True); y=x.clone(); v=y[:2]; w=y[1:]; v.mul_(2); w.mul_(3); v.sum().backward(); x.grad
a=torch.ones(2,requires_grad=True); c=torch.ones(2,requires_grad=True); b=a*c; v=b[0:1]; w=b[1:2]; v.mul_(2); torch.autograd.grad(w.sum(),(a,c),allow_unused=True)
x=torch.ones(3,requires_grad=True); calls=[]; a,b,c=x.unbind(); b.register_hook(lambda g: calls.append(g)); (a+c).backward(); (calls, x.grad)
x=torch.ones(3,requires_grad=True); calls=[]; a,b=x.split([1,2]); b.register_hook(lambda g: calls.append(g)); a.sum().backward(); (calls, x.grad)
x=torch.ones(3,requires_grad=True); calls=[]; a,b=x.max(0); c=torch.stack([x,x]).chunk(2); c[0].register_hook(lambda g: calls.append(1)); c[1].sum().backward(); calls
checkpoint = torch.utils.checkpoint.checkpoint; calls=[]; x=torch.ones(2,requires_grad=True); f=lambda t:(t.register_hook(lambda g: calls.append(1)), t*2)[1]; checkpoint(lambda t: f(t*3), x, use_reentrant=False).sum().backward(); (calls,x.grad)
exec("class F(torch.autograd.Function):\n @staticmethod\n def forward(ctx,x):\n  return x*2, 'a', 3\n @staticmethod\n def backward(ctx,*g):\n  global gs\n  gs=g\n  return g[0]*2"); x=torch.ones(2,requires_grad=True); y,s,n=F.apply(x); y.sum().backward(); (gs,s,n,x.grad)
exec("class F(torch.autograd.Function):\n @staticmethod\n def forward(x, k=3):\n  return x*k\n @staticmethod\n def setup_context(ctx,inputs,output):\n  ctx.k=len(inputs)\n  ctx.i=inputs[-1]\n @staticmethod\n def backward(ctx,g):\n  return g*3,None"); x=torch.ones(2,requires_grad=True); y=F.apply(x); (y.grad_fn.k,)
exec("class F(torch.autograd.Function):\n @staticmethod\n def forward(x, k=3):\n  return x*k\n @staticmethod\n def setup_context(ctx,inputs,output):\n  ctx.k=len(inputs)\n @staticmethod\n def backward(ctx,g):\n  return g*3"); x=torch.ones(2,requires_grad=True); y=F.apply(x); y.sum().backward(); (y.grad_fn.k,x.grad)
b=torch.tensor([-1.,0.,2.],requires_grad=True); y=0.0**b; (y,)
b=torch.tensor([-1.,0.,2.],requires_grad=True); y=0.0**b; y.sum().backward(); b.grad
b=torch.tensor([-1.,0.,2.],requires_grad=True); a=torch.zeros(3,requires_grad=True); y=a**b; y.sum().backward(); (a.grad,b.grad)
x=torch.tensor([-2.,-1.,1.,2.],requires_grad=True); y=x.asin(); y.sum().backward(); (y,x.grad)
x=torch.tensor([-2.,-1.,1.,2.],requires_grad=True); y=x.atanh(); y.sum().backward(); (y,x.grad)
x=torch.tensor([-2.,-1.,0.,2.],requires_grad=True); y=x.log(); y.sum().backward(); (y,x.grad)
x=torch.tensor([-2.,-1.,0.,2.],requires_grad=True); y=x.sqrt(); y.sum().backward(); (y,x.grad)
x=torch.tensor([-2.,-1.,0.,2.],requires_grad=True); y=x.log1p(); y.sum().backward(); (y,x.grad)
x=torch.tensor([-2.,-1.,0.,2.],requires_grad=True); y=x.rsqrt(); y.sum().backward(); (y,x.grad)
x=torch.tensor(2.); (torch.logsumexp(x,0),torch.logcumsumexp(x,0),torch.cumsum(x,0),torch.cumprod(x,0),torch.softmax(x,0),torch.log_softmax(x,0),torch.sort(x),torch.topk(x,1),x.cummax(0),x.cummin(0),x.flip(0),x.flip([]),x.sum(0),x.max(0),x.argmax(0),x.median(0),x.mode(0),x.kthvalue(1),x.unique(),x.sort(0,descending=True),x.argsort(),x.var(0,unbiased=False),x.norm(dim=0),x.any(0),x.all(0),x.prod(0),x.mean(0),x.amax(0),x.diff() if 0 else 0)
x=torch.tensor(2.,requires_grad=True); y=x.flip(0); y.backward(); x.grad
x=torch.tensor(2.); (x.roll(1),x.roll(1,0))
x=torch.tensor(2.); x.index_select(0,torch.tensor([0]))
x=torch.tensor(2.); x.gather(0,torch.tensor(0))
x=torch.tensor(2.); (x.repeat(2), x.expand(3), x.unsqueeze(0), x.squeeze(0), x.reshape(1), x.t(), x.T if 0 else 0)
x=torch.tensor([1.,5.],dtype=torch.float64); x.clamp(torch.tensor(2.),torch.tensor(3.))
x=torch.tensor([1.,5.],dtype=torch.float64); x.clamp(min=torch.tensor([2.,2.]))
x=torch.tensor([1,5]); x.clamp(min=torch.tensor([2.,2.]))
x=torch.tensor([1.,5.]); x.clamp(min=torch.tensor([2.,2.],dtype=torch.float64))
x=torch.tensor([1.,5.]); x.clamp_(min=torch.tensor([2.,2.],dtype=torch.float64))
m=torch.eye(2); torch.addmm(m,m,m,alpha=torch.tensor(2.),beta=torch.tensor(3.))
m=torch.eye(2); torch.addcmul(m,m,m,value=torch.tensor(2.))
m=torch.eye(2); torch.addcdiv(m,m,m,value=torch.tensor(2.,requires_grad=True))
m=torch.eye(2); torch.add(m,m,alpha=torch.tensor(2.))
m=torch.eye(2); m.sub(m,alpha=torch.tensor([2.]))
m=torch.eye(2); m.baddbmm(m[None],m[None]) if 0 else torch.baddbmm(m[None],m[None],m[None],alpha=torch.tensor(2.))
m=torch.ones(2); torch.addmv(m,torch.eye(2),m,alpha=torch.tensor(2.))
m=torch.ones(2); torch.lerp(m,m*3,torch.tensor(.5))
l=torch.nn.Linear(2,2); l.weight=torch.ones(2,2)*2
l=torch.nn.Linear(2,2); del l.weight; l.weight=torch.ones(2,2)*2; l(torch.ones(2)).shape
l=torch.nn.Linear(2,2); l.weight=3
l=torch.nn.Linear(2,2); l.register_parameter('weight', 3)
out=torch.tensor(0.); torch.sum(torch.ones(3),out=out) if 0 else torch.sum(torch.ones(3),0,out=out); out
out=torch.zeros(0); torch.add(torch.tensor(1.),torch.tensor(2.),out=out); out
out=torch.zeros(3); torch.add(torch.tensor(1.),torch.tensor(2.),out=out); out
x=torch.ones(2,3); torch.nn.functional.softmax(x,axis=1)
x=torch.ones(2,3); x.gather(axis=0,index=torch.zeros(1,3,dtype=torch.int64))
x=torch.ones(2,requires_grad=True); exec("with torch.no_grad():\n y=x.numpy()"); y
x=torch.ones(2,requires_grad=True); exec("with torch.no_grad():\n y=np.asarray(x)"); y
x=torch.ones(2,requires_grad=True); z=torch.ones(2,requires_grad=True); torch.autograd.grad((x*2).sum(),(x,z),materialize_grads=True)
x=torch.ones(2,requires_grad=True); z=torch.ones(2,requires_grad=True); torch.autograd.grad((x*2).sum(),(x,z),materialize_grads=True,allow_unused=False)
x=torch.arange(6.).reshape(2,3); x[[slice(None),1]]
x=torch.arange(6.).reshape(2,3); x[[slice(None),[0,1]]]
x=torch.arange(6.).reshape(2,3); x[[0,1]]
x=torch.arange(6.).reshape(2,3); x[[[0,1],[1,2]]]
x=torch.arange(6.).reshape(2,3); x[[torch.tensor([0,1]),torch.tensor([1,2])]]
x=torch.arange(6.).reshape(2,3); x[[None,0]]
x=torch.arange(6.).reshape(2,3); x[[...,0]]
x=torch.arange(6.).reshape(2,3); x[[slice(None),1]]=9; x
x=torch.arange(4.).reshape(1,1,4); torch.nn.functional.pad(x,(-1,1),mode='reflect')
x=torch.arange(4.).reshape(1,1,4); torch.nn.functional.pad(x,(-1,-1),mode='replicate')
x=torch.arange(4.).reshape(1,1,4); torch.nn.functional.pad(x,(-1,2),mode='circular')
x=torch.arange(4.).reshape(1,1,4); torch.nn.functional.pad(x,(-1,2))
x=torch.arange(16.).reshape(1,1,4,4); torch.nn.functional.pad(x,(-1,2,1,-2),mode='reflect')
a=torch.ones(2,3,4); b=torch.ones(2,4,5); torch.einsum("...ij,...jk->ik",a,b)
a=torch.ones(2,3,4); torch.einsum("...ij->",a)
a=torch.ones(2,3,4); torch.einsum("...->...",a)
a=torch.ones(2,3,4); torch.einsum("...i->i",a)
a=torch.ones(2,3,4); torch.einsum("ijk",a)
a=torch.ones(2,3,4); torch.einsum(a,[0,1,2],[0,2])
x=torch.ones(2); x.type(torch.DoubleTensor)
x=torch.ones(2); (x.type(torch.float64),x.type('torch.DoubleTensor'),x.type(torch.LongTensor),x.type(torch.FloatTensor))
x=torch.tensor([1.,2.,1.],requires_grad=True); y=torch.unique(x); y
x=torch.tensor([1.,2.,1.],requires_grad=True); y=torch.unique_consecutive(x); y
x=torch.tensor([1.,2.,1.],requires_grad=True); y=torch.unique(x); y.sum().backward()
x=torch.tensor([1.,2.,1.],requires_grad=True); y=torch.unique(x,return_inverse=True,return_counts=True); y
x=torch.ones(2); x.resize_(3); x._version
x=torch.ones(2); y=x.view(2); x.resize_(4); x.shape
x=torch.ones(2,requires_grad=True); x.resize_(3)
x=torch.ones(2,dtype=torch.complex64); x>x
x=torch.ones(2,dtype=torch.complex64); x.max()
x=torch.ones(2,dtype=torch.complex64); torch.maximum(x,x)
x=torch.ones(2,dtype=torch.complex64); x.sort()
x=torch.ones(2,dtype=torch.complex64); x.clamp(0)
x=torch.ones(2,dtype=torch.complex64); x<=1
x=torch.ones(2,dtype=torch.complex64); x.argmax()
x=torch.ones(2,dtype=torch.complex64); torch.relu(x)
x=torch.ones(2,dtype=torch.complex64); x.floor()
x=torch.ones(2,dtype=torch.complex64); x.sign()
x=torch.ones(2,dtype=torch.complex64); x%2
x=torch.ones(2,dtype=torch.complex64); x.median()
x=torch.ones(2,dtype=torch.complex64); x.amax()
x=torch.ones(2,dtype=torch.complex64); torch.atan2(x,x)
x=torch.ones(2,dtype=torch.complex64); x.cummax(0)
x=torch.ones(2,dtype=torch.complex64); torch.isclose(x,x)
x=torch.ones(2,3); x.roll((1,2),0)
x=torch.ones(2,3); x.roll(1,(0,1))
x=torch.arange(6.).reshape(2,3); x.roll((1,2),(0,0))
x=torch.ones(2,3); x.roll((1,2))
exec("once_differentiable=torch.autograd.function.once_differentiable\nclass F(torch.autograd.Function):\n @staticmethod\n def forward(ctx,x):\n  return x*2\n @staticmethod\n @once_differentiable\n def backward(ctx,g):\n  return g*2"); x=torch.ones(2,requires_grad=True); y=F.apply(x).sum(); g,=torch.autograd.grad(y,x,create_graph=True); (g.requires_grad,g.grad_fn is not None and type(g.grad_fn).__name__)
exec("once_differentiable=torch.autograd.function.once_differentiable\nclass F(torch.autograd.Function):\n @staticmethod\n def forward(ctx,x):\n  return x*2\n @staticmethod\n @once_differentiable\n def backward(ctx,g):\n  return g*2"); x=torch.ones(2,requires_grad=True); y=F.apply(x).pow(2).sum(); g,=torch.autograd.grad(y,x,create_graph=True); g.sum().backward()
exec("class F(torch.autograd.Function):\n @staticmethod\n def forward(ctx,x):\n  x.add_(1)\n  ctx.mark_dirty(x)\n  return x\n @staticmethod\n def backward(ctx,g):\n  return g"); x=torch.ones(2,requires_grad=True); F.apply(x)
exec("class F(torch.autograd.Function):\n @staticmethod\n def forward(ctx,x):\n  x.add_(1)\n  ctx.mark_dirty(x)\n  return x\n @staticmethod\n def backward(ctx,g):\n  return g"); x=torch.ones(2,requires_grad=True); y=x*2; z=F.apply(y); z.sum().backward(); (z is y, y._version, x.grad)
x=torch.ones(2,requires_grad=True); y=x*3; y.grad_fn(torch.ones(2))
x=torch.ones(2,requires_grad=True); y=(x*3).sum(); y.grad_fn.next_functions[0][0](torch.ones(2))
x=torch.ones(2,requires_grad=True); torch.autograd.grad((x*2).sum(),x,only_inputs=False)
x=torch.ones(2,requires_grad=True); torch.autograd.grad((x*2).sum(),x,only_inputs=True)
print(torch.arange(1,6.).mul(1.0).requires_grad_()*1000.12345)
print(torch.arange(1,8.).requires_grad_()*1000.12345)
print(torch.arange(1,9.).requires_grad_()*1000.12345)
print(torch.arange(1,10.).requires_grad_().exp())
print(torch.arange(1,7.).requires_grad_()[None]*1.5)
print(torch.arange(1,12.).requires_grad_()/2)
print((torch.arange(1,11.).double().requires_grad_()/2))
print((torch.arange(1,9.).double().requires_grad_()/2).softmax(0))
x=torch.tensor([3.,1.,3.]); x.cummax(0)
x=torch.tensor([[1.,1.],[1.,1.],[2.,1.]]); torch.unique_consecutive(x,dim=0,return_inverse=True,return_counts=True)
x=torch.tensor([[1.,1.],[1.,1.],[2.,1.]]); torch.unique_consecutive(x,dim=1)
x=torch.tensor([1.,2.],requires_grad=True); y=torch.tensor([1.,3.],requires_grad=True); z=x.clamp_min(y); z.sum().backward(); (z,x.grad,y.grad)
x=torch.tensor([1.,2.],requires_grad=True); y=torch.tensor([1.,3.],requires_grad=True); z=x.clamp_max(y); z.sum().backward(); (z,x.grad,y.grad)
x=torch.tensor([1.,2.,float('nan')],requires_grad=True); y=torch.tensor([1.,float('nan'),2.],requires_grad=True); z=torch.fmax(x,y); z.sum().backward(); (z,x.grad,y.grad)
x=torch.tensor([1.,2.,float('nan')],requires_grad=True); y=torch.tensor([1.,float('nan'),2.],requires_grad=True); z=torch.fmin(x,y); z.sum().backward(); (z,x.grad,y.grad)
x=torch.tensor([1.,2.,float('nan')],requires_grad=True); y=torch.nanquantile(x,0.5); y.backward(); (y,x.grad)
x=torch.tensor([3.,0.4],requires_grad=True); m,e=torch.frexp(x); m.sum().backward(); (m,e,x.grad)
x=torch.tensor([3.,0.4],requires_grad=True); torch.FloatTensor(x).sum().backward(); x.grad
x=torch.tensor([3.,0.4],requires_grad=True); torch.Tensor(x).sum().backward(); x.grad
F=torch.nn.functional; x=torch.ones(2); i=torch.tensor([1,3]); (F.mse_loss(x,i),F.smooth_l1_loss(x,i),F.soft_margin_loss(x,i))
x=torch.tensor(2.,requires_grad=True); y=x.flip(0); y.backward(); (y,x.grad)
h=torch.autograd.graph.saved_tensors_hooks; c=[]; x=torch.tensor([1.,2.],requires_grad=True)\nwith h(lambda t:(c.append(("p",t.tolist())),t)[1], lambda t:(c.append("u"),t)[1]):\n    y=(x*x).exp().sum()\nn=list(c); y.backward(); (n,c,x.grad)
h=torch.autograd.graph.saved_tensors_hooks; x=torch.tensor([1.,2.],requires_grad=True)\nwith h(lambda t:t.tolist(), torch.tensor):\n    y=(x@x)*x.sin().sum()\ng,=torch.autograd.grad(y,x,create_graph=True); (g.detach(), torch.autograd.grad(g.sum(),x))
h=torch.autograd.graph.saved_tensors_hooks; x=torch.tensor([1.,2.],requires_grad=True)\nwith h(lambda t:t*2, lambda t:t):\n    y=(x*x).sum()\ny.backward(); x.grad
h=torch.autograd.graph.saved_tensors_hooks; x=torch.tensor([1.,2.],requires_grad=True)\nwith h(lambda t:3, lambda t:t):\n    y=(x*x).sum()\ny.backward()
h=torch.autograd.graph.saved_tensors_hooks; x=torch.tensor([1.,2.],requires_grad=True)\nwith h(lambda t:t, lambda t:t):\n    y=(x*x).sum()\ny.backward(); y.backward()
h=torch.autograd.graph.saved_tensors_hooks; c=[]; x=torch.tensor([1.,2.],requires_grad=True)\nwith h(lambda t:(c.append(1),t)[1], lambda t:t):\n    with h(lambda t:(c.append(2),t)[1], lambda t:t):\n        y=(x*x).sum()\n    z=x.exp().sum()\n(y+z).backward(); (c,x.grad)
x=torch.tensor([1.,2.],requires_grad=True); a=x.clone()\nwith torch.autograd.graph.allow_mutation_on_saved_tensors():\n    y=a.sin(); a.mul_(3); z=(y*a).sum(); a.add_(1)\n    z.backward()\nx.grad
x=torch.tensor([1.,2.],requires_grad=True)\nwith torch.autograd.graph.save_on_cpu(pin_memory=False):\n    y=(x*x).tanh().sum()\ny.backward(); x.grad
g=torch.autograd.graph; x=torch.tensor([1.,2.],requires_grad=True)\nwith g.disable_saved_tensors_hooks("no hooks here"):\n    with g.saved_tensors_hooks(lambda t:t, lambda t:t):\n        pass
class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx,x):\n        ctx.save_for_backward(x)\n        return x**2\n    @staticmethod\n    def backward(ctx,g):\n        x,=ctx.saved_tensors\n        return g*2*x\nc=[]; x=torch.tensor([1.,2.],requires_grad=True)\nwith torch.autograd.graph.saved_tensors_hooks(lambda t:(c.append("p"),t*1)[1], lambda t:(c.append("u"),t)[1]):\n    y=F.apply(x).sum()\ny.backward(); (c,x.grad)
x=torch.tensor([[1.,2.],[3.,4.]],requires_grad=True); w=torch.nn.Linear(2,2); w.weight.data.fill_(.5); w.bias.data.zero_(); c=[]\nwith torch.autograd.graph.saved_tensors_hooks(lambda t:(c.append(tuple(t.shape)),t.clone())[1], lambda t:t):\n    y=torch.nn.functional.layer_norm(torch.relu(w(x)),(2,)).pow(2).sum()\ny.backward(); (x.grad, w.weight.grad)
with torch.utils.checkpoint.set_checkpoint_early_stop(False):\n    x=torch.ones(2,requires_grad=True); torch.utils.checkpoint.checkpoint(torch.sin,x,use_reentrant=False).sum().backward()\nx.grad
x=torch.arange(40.).sin().requires_grad_(); w=torch.hann_window(8); s=torch.stft(x,8,3,window=w,return_complex=True); y=torch.istft(s,8,3,window=w,length=40); (torch.view_as_real(s)**2).sum().backward(); (s.shape, s.detach(), y.detach(), x.grad)
A=(torch.arange(9.).reshape(3,3).sin()*3+torch.eye(3)).requires_grad_(); P,L,U=torch.linalg.lu(A); (L.sum()+(U**2).sum()).backward(); (P.detach(),L.detach(),U.detach(),A.grad)
A=torch.arange(18.).reshape(2,3,3).sin()*3+torch.eye(3); LU,p=torch.linalg.lu_factor(A); B=torch.ones(2,3,2); (LU,p,torch.linalg.lu_solve(LU,p,B),torch.linalg.lu_solve(LU,p,B,adjoint=True),torch.linalg.lu_solve(LU,p,B.mT,left=False))
A=torch.arange(12.).reshape(3,4).sin(); LU,p=torch.linalg.lu_factor(A); (LU,p,*torch.lu_unpack(LU,p))
A=torch.arange(12.).reshape(4,3).square().sin(); LU,p=torch.linalg.lu_factor(A); (LU,p,*torch.lu_unpack(LU,p))
A=torch.eye(3)*2+torch.arange(9.).reshape(3,3).cos()*.1; L=torch.linalg.cholesky(A@A.T); (torch.cholesky_inverse(L), torch.cholesky_inverse(L.mT.clone(),upper=True), L.cholesky_inverse())
A=torch.eye(4,3)+torch.arange(12.).reshape(4,3).cos()*.1; torch.linalg.householder_product(A,torch.tensor([.5,.3,.2]))
torch.histogram(torch.tensor([1.,2.,1.]),bins=4,range=(0.,3.),weight=torch.tensor([1.,2.,4.]))
torch.histogram(torch.tensor([1.,2.,1.]),torch.tensor([0.,1.5,3.]),density=True)
torch.nonzero_static(torch.tensor([[1,0],[0,2]]),size=3)
x=torch.tensor([-1.,2.]); torch.selu_(x); torch.threshold_(x,0.,9.); x
x=torch.arange(6.).reshape(2,3); (torch.slice_copy(x,1,0,2),torch.split_with_sizes_copy(x,[1,2],1),torch.detach_copy(x),torch.alias_copy(x))
x=torch.arange(6.).reshape(2,3); (x.is_set_to(x), x.dim_order(), x.is_pinned(), x.to_dense(), x.hardshrink(2.0), x.prelu(torch.tensor([.1])))
x=torch.arange(3.); x.map_(torch.ones(3),lambda a,b:a+2*b); x
class S(torch.Tensor):\n    pass\nx=torch.ones(2,requires_grad=True); y=(x*2).as_subclass(S); (type(y).__name__, y.sum().item())
torch.is_autocast_enabled()
torch.linalg.solve_ex(torch.eye(2)*2,torch.ones(2))
x=torch.tensor([.3,-.7,1.2]); S=torch.special; [getattr(S,n)(x,4) for n in ("chebyshev_polynomial_t","chebyshev_polynomial_u","chebyshev_polynomial_v","chebyshev_polynomial_w","hermite_polynomial_h","hermite_polynomial_he","laguerre_polynomial_l","legendre_polynomial_p","shifted_chebyshev_polynomial_t","shifted_chebyshev_polynomial_u","shifted_chebyshev_polynomial_v","shifted_chebyshev_polynomial_w")]
torch.special.legendre_polynomial_p(torch.tensor([.3,.4,.5]),torch.tensor([0,3,-1]))
z=torch.arange(12.).reshape(3,4).sin(); (torch.fft.hfft2(z),torch.fft.hfftn(z,norm="ortho"),torch.fft.ihfft2(z).detach(),torch.fft.ihfftn(z,s=(4,6)))
"""


def cases():
    """``(name, code)`` of every case."""
    for line in CASES.strip().splitlines():
        code = line.strip().replace("\\n", "\n")
        yield code, code
