# ruff: noqa: E501 - a case a line
"""Numbers beside tensors: Python's and NumPy's, on either side, and the sizes that old constructors take."""

CASES = r"""
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); 0.3 % x
s = torch.tensor(0.7, dtype=torch.float64); 0.3 % s
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); 0.3 // x
s = torch.tensor(0.7, dtype=torch.float64); 0.3 // s
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.remainder(0.3, x)
s = torch.tensor(0.7, dtype=torch.float64); torch.remainder(0.3,s)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.fmod(x,0.3)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.where(x>0, 0.3, x)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.where(x>0, x, 0.3)
s = torch.tensor(0.7, dtype=torch.float64); torch.where(s>0, 0.3, 0.7)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.where(x>0,0.3,1)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); x.masked_fill(x>0,0.3)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); x.clamp(0.3,0.7)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); x.clamp_min(0.3)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); x.clamp(min=np.float64(0.3))
h = torch.tensor([3.0, 0.7]); h.clamp(np.float64(0.3),np.float64(1))
h = torch.tensor([3.0, 0.7]); h.clamp_min(np.float64(.3))
h = torch.tensor([3.0, 0.7]); h.clamp_max(np.float64(.3))
n = torch.tensor([5, 7]); n.clamp(5.5)
n = torch.tensor([5, 7]); n.clamp_min(5.5)
n = torch.tensor([5, 7]); n.clamp_max(np.float64(5.5))
n = torch.tensor([5, 7]); n.clamp(np.int64(6))
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.xlogy(0.3,x)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.xlogy(x,0.3)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.special.xlog1py(0.3,x)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.special.zeta(3.3,x.abs()+1.)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.pow(0.3,x)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); 0.3**x
h = torch.tensor([3.0, 0.7]); torch.pow(np.float64(.5),h)
h = torch.tensor([3.0, 0.7]); torch.float_power(0.3,h)
h = torch.tensor([3.0, 0.7]); torch.float_power(h,0.3)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.copysign(x,-0.3)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); s = torch.tensor(0.7, dtype=torch.float64); torch.maximum(s,x)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.lerp(x,x+1,0.3)
h = torch.tensor([3.0, 0.7]); torch.lerp(h,h+1,np.float64(0.3))
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.add(x,0.3,alpha=0.7)
h = torch.tensor([3.0, 0.7]); torch.add(h,h,alpha=np.float64(.7))
n = torch.tensor([5, 7]); torch.add(n,n,alpha=2)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.addcmul(x,x,x,value=0.3)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.rsub(x,0.3)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.sub(0.3,x)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.mul(0.3,x)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.div(0.3,x)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.true_divide(x,0.3)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.floor_divide(x,0.3)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.div(x,0.3,rounding_mode="floor")
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.div(x,0.3,rounding_mode="trunc")
n = torch.tensor([5, 7]); torch.div(n,0.3,rounding_mode="floor")
n = torch.tensor([5, 7]); n//0.3
n = torch.tensor([5, 7]); n%0.3
n = torch.tensor([5, 7]); 0.3%n
n = torch.tensor([5, 7]); 7.5//n
n = torch.tensor([5, 7]); torch.fmod(n,0.3)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); d = torch.float64; torch.isclose(x,torch.tensor(0.7,dtype=d))
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); x==0.7
h = torch.tensor([3.0, 0.7]); h==0.7
h = torch.tensor([3.0, 0.7]); h==np.float64(0.7)
s = torch.tensor(0.7, dtype=torch.float64); s==0.7
torch.tensor(.7)==0.7
h = torch.tensor([3.0, 0.7]); torch.eq(h,.7)
h = torch.tensor([3.0, 0.7]); h>0.7
h = torch.tensor([3.0, 0.7]); h>=np.float64(0.7)
torch.tensor(.7)>=np.float64(.7)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); x.eq(0.7)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.full_like(x,0.3)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); x.new_full((1,),0.3)
d = torch.float64; torch.full((1,),0.3,dtype=d)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); x.fill_(0.3)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); x.clone().index_fill_(0,torch.tensor([0]),0.3)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); d = torch.float64; x.index_put((torch.tensor([0]),),torch.tensor(0.3,dtype=d))
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); x.scatter(0,torch.tensor([0]),0.3)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); x.scatter(0,torch.tensor([0]),0.3,reduce="add")
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.nn.functional.pad(x,(1,0),value=0.3)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.threshold(x,0.3,0.1)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); d = torch.float64; torch.heaviside(x,torch.tensor(0.3,dtype=d))
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.nan_to_num(x*float("nan"),0.3)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); s = torch.tensor(0.7, dtype=torch.float64); torch.hypot(x,s)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); s = torch.tensor(0.7, dtype=torch.float64); torch.atan2(x,s)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); s = torch.tensor(0.7, dtype=torch.float64); torch.logaddexp(x,s)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.searchsorted(x.sort()[0],0.3)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.bucketize(0.3,x.sort()[0])
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.isin(x,0.7)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.isin(0.7,x)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); d = torch.float64; torch.isin(x,torch.tensor([.7],dtype=d))
d = torch.float64; torch.arange(0.1,0.7,0.3,dtype=d)
d = torch.float64; torch.normal(0.3,0.0,(1,),dtype=d)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.normal(x,0.0)
d = torch.float64; torch.normal(0.3,torch.zeros(2,dtype=d))
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.cumulative_trapezoid(x,dx=0.3)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.trapz(x,dx=0.3)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); d = torch.float64; torch.diff(x,prepend=torch.tensor([0.3],dtype=d))
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.nn.functional.leaky_relu(x-3,0.3)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.nn.functional.elu(x-3,0.3)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.nn.functional.huber_loss(x,x+1,delta=0.3)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); torch.renorm(x[None],2,0,0.3)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); x.sub(0.3,alpha=0.7)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); x.add_(0.3)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); x.mul_(np.float64(0.3))
h = torch.tensor([3.0, 0.7]); h.mul_(np.float64(0.3))
h = torch.tensor([3.0, 0.7]); h.add_(np.float64(0.3))
n = torch.tensor([5, 7]); n.add_(np.int64(3))
n = torch.tensor([5, 7]); n+np.float64(.5)
n = torch.tensor([5, 7]); n*np.float32(.5)
torch.tensor(3)*np.float64(.5)
torch.tensor(3)+np.int64(2)
torch.tensor(3,dtype=torch.int32)+np.int64(2)
h = torch.tensor([3.0, 0.7]); h.half()*np.float64(2)
torch.tensor(2.).half()*np.float32(2)
x = torch.tensor([3.0, 0.7, -1.3], dtype=torch.float64); x+1j
h = torch.tensor([3.0, 0.7]); h*np.complex128(1j)
n = torch.tensor([5, 7]); n.true_divide(np.float64(.3))
torch.sum(torch.tensor([0.1])*np.float64(1)).dtype
h = torch.tensor([3.0, 0.7]); h.sum()*np.float64(.1)
h = torch.tensor([3.0, 0.7]); h.mean()/np.int64(3)
h = torch.tensor([3.0, 0.7]); 1-h.mean()*np.float64(.2)
h = torch.tensor([3.0, 0.7]); (h.sum()**np.float64(2)).dtype
h = torch.tensor([3.0, 0.7]); h**np.float64(2)
h = torch.tensor([3.0, 0.7]); h**np.int64(2)
n = torch.tensor([5, 7]); n**np.int64(2)
n = torch.tensor([5, 7]); n**np.float64(.5)
torch.tensor(4.)**np.float64(.5)
h = torch.tensor([3.0, 0.7]); np.float64(2)**h
n = torch.tensor([5, 7]); np.int64(2)**n
h = torch.tensor([3.0, 0.7]); np.float64(2)<h
h = torch.tensor([3.0, 0.7]); np.float64(.7)==h
n = torch.tensor([5, 7]); np.int64(5)!=n
n = torch.tensor([5, 7]); np.float64(3)/n
n = torch.tensor([5, 7]); np.float64(3)-n
n = torch.tensor([5, 7]); np.float64(7)//n
n = torch.tensor([5, 7]); np.float64(7)%n
h = torch.tensor([3.0, 0.7]); abs(-h)
h = torch.tensor([3.0, 0.7]); -h//np.float32(.5)
h = torch.tensor([3.0, 0.7]); h.lerp(h,np.float32(0.5))
h = torch.tensor([3.0, 0.7]); torch.lerp(h, h+1, torch.tensor(0.3))
h = torch.tensor([3.0, 0.7]); torch.dist(h,h+1,np.float64(2))
h = torch.tensor([3.0, 0.7]); h.norm(np.float64(2))
h = torch.tensor([3.0, 0.7]); torch.clamp(h,max=np.float64(1)).dtype
h = torch.tensor([3.0, 0.7]); h.gt(np.float64(1))
h = torch.tensor([3.0, 0.7]); torch.gt(h,np.float64(0.7))
h = torch.tensor([3.0, 0.7]); torch.ne(h,np.float64(.7))
h = torch.tensor([3.0, 0.7]); h.fill_(np.float64(.3))
h = torch.tensor([3.0, 0.7]); h.addcdiv(h,h,value=np.float64(.3))
h = torch.tensor([3.0, 0.7]); h.div(np.float64(3))
h = torch.tensor([3.0, 0.7]); h.pow(np.float64(3))
h = torch.tensor([3.0, 0.7]); h.quantile(np.float64(.5))
h = torch.tensor([3.0, 0.7]); torch.quantile(h,0.3)
h = torch.tensor([3.0, 0.7]); h.index_fill(0,torch.tensor([0]),np.float64(2))
h = torch.tensor([3.0, 0.7]); h.masked_fill(h>0,np.float64(2))
h = torch.tensor([3.0, 0.7]); h.scatter(0,torch.tensor([0]),np.float64(2))
h = torch.tensor([3.0, 0.7]); h.clip(np.float64(0),np.float64(.5))
h = torch.tensor([3.0, 0.7]); torch.nn.functional.dropout(h,np.float64(0.))
torch.tensor([1,2])/np.float64(3)
torch.tensor(0.1)+0.2==torch.tensor(0.3)
h = torch.tensor([3.0, 0.7]); h.sub(np.float64(1),alpha=np.float64(2))
n = torch.tensor([5, 7]); n & np.int64(1)
n = torch.tensor([5, 7]); np.int64(1) & n
n = torch.tensor([5, 7]); n ^ np.int32(3)
n = torch.tensor([5, 7]); n << np.int64(1)
n = torch.tensor([5, 7]); np.int64(1) << n
n = torch.tensor([5, 7]); ~n
y = torch.ones(2); y.new(torch.Size([2, 3])).shape
y = torch.ones(2); y.new(y.size()).shape
y = torch.ones(2); y.new(torch.Size([])).shape
y = torch.ones(2); y.new((2, 3)).tolist()
y = torch.ones(2); y.new(2, 3).shape
y = torch.ones(2); y.new(size=(2,)).shape
y = torch.ones(2); y.new(np.int64(2)).shape
y = torch.ones(2); y.new(2.5)
y = torch.ones(2); y.new([1, 2])
y = torch.ones(2); y.new(device="cpu").shape
y = torch.ones(2); torch.FloatTensor(y.size()).shape
y = torch.ones(2); torch.LongTensor(torch.Size([2])).shape
y = torch.ones(2); torch.DoubleTensor(2, 3).shape
y = torch.ones(2); torch.FloatTensor(np.int64(2)).shape
y = torch.ones(2); torch.Tensor(np.int64(2)).shape
y = torch.ones(2); torch.Tensor(size=(2, 3)).shape
y = torch.ones(2); torch.Tensor(torch.Size([2, 3])).shape
y = torch.ones(2); torch.FloatTensor([1, 2])
y = torch.ones(2); torch.FloatTensor().shape
y = torch.ones(2); torch.BoolTensor([1, 0])
y = torch.ones(2); torch.IntTensor(np.array([1, 2]))
h = torch.tensor([3.0, 0.7], requires_grad=True); np.float64(0.5) * h
h = torch.tensor([3.0, 0.7], requires_grad=True); np.float32(0.5) * h.sum()
h = torch.tensor([3.0, 0.7], requires_grad=True); np.int64(2) - h
h = torch.tensor([3.0, 0.7], requires_grad=True); np.float64(2) / h
h = torch.tensor([3.0, 0.7], requires_grad=True); np.float64(2) ** h
h = torch.tensor([3.0, 0.7], requires_grad=True); h * np.float64(2)
h = torch.tensor([3.0, 0.7], requires_grad=True); h ** np.float64(2)
h = torch.tensor([3.0, 0.7], requires_grad=True); (np.float64(0.5) * h.sum() + np.float64(0.5) * h.mean()).backward(); h.grad
h = torch.tensor([3.0, 0.7], requires_grad=True); np.float64(1) < h
h = torch.tensor([3.0, 0.7], requires_grad=True); np.float64(3) == h
t = torch.tensor([3.0, 6.0, 1.0, -3.0, 0.7, 0.0], dtype=torch.float32); (t // 0.3, t // 0.1, t // -0.3, t // torch.tensor(0.1, dtype=t.dtype), torch.div(t, 0.3, rounding_mode="floor"), torch.div(t, 0.3, rounding_mode="trunc"), torch.floor_divide(t, 0.7), 3.0 // t, t % 0.3, 0.3 % t)
t = torch.tensor([3.0, 6.0, 1.0, -3.0, 0.7, 0.0], dtype=torch.float64); (t // 0.3, t // 0.1, t // -0.3, t // torch.tensor(0.1, dtype=t.dtype), torch.div(t, 0.3, rounding_mode="floor"), torch.div(t, 0.3, rounding_mode="trunc"), torch.floor_divide(t, 0.7), 3.0 // t, t % 0.3, 0.3 % t)
torch.tensor([1.0, -1.0, 0.0]) // 0.0
torch.tensor(3.0) // 0.1
torch.ones(2) > 1j
torch.ones(2) < np.complex128(1j)
torch.lt(torch.ones(2), 1j)
t = torch.tensor([3.0, 0.7], requires_grad=True); torch.div(t, 0.3, rounding_mode="floor").sum().backward(); t.grad
torch.roll(torch.arange(3), np.int64(1))
torch.chunk(torch.arange(3), np.int64(2))
torch.nn.functional.binary_cross_entropy_with_logits(torch.ones(1, 3), torch.zeros(1, 3), pos_weight=torch.tensor(2.0, dtype=torch.float64))
torch.full((2,), np.int64(3))
torch.full((2,), np.float32(0.5))
w = torch.tensor([1.0], requires_grad=True); o = torch.optim.Adam([w], lr=np.float64(0.1)); (w * w).sum().backward(); o.step(); w
x = torch.tensor([[1.0, -2.0]]); d = torch.tensor(0.3, dtype=torch.float64); (torch.addcmul(x, x, d), torch.addcdiv(x, x, d), torch.addcmul(x, d, d), torch.lerp(x, x + 1, d))
d = torch.tensor(0.3, dtype=torch.float64); (torch.full((2,), d), torch.full((2,), d.float()), torch.full((2,), torch.tensor(3)))
p = torch.tensor([[0.2, 0.7]]); d = torch.tensor(0.3, dtype=torch.float64); (torch.nn.functional.binary_cross_entropy(p, p, weight=d), torch.nn.functional.binary_cross_entropy_with_logits(p, p, pos_weight=torch.tensor([0.1, 0.2], dtype=torch.float64)))
m = torch.nn.MultiheadAttention(4, 2); m(torch.ones(3, 1, 4), torch.ones(3, 1, 4), torch.ones(3, 1, 4), attn_mask=torch.zeros(1, 3))
m = torch.nn.MultiheadAttention(4, 2); m(torch.ones(3, 1, 4), torch.ones(3, 1, 4), torch.ones(3, 1, 4), attn_mask=torch.zeros(1, 3, 3))
m = torch.nn.MultiheadAttention(4, 2); m(torch.ones(3, 1, 4), torch.ones(3, 1, 4), torch.ones(3, 1, 4), attn_mask=torch.zeros(3))
"""


def cases():
    """``(name, code)`` of every case."""
    for line in CASES.strip().splitlines():
        yield line, line
