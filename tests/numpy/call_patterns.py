"""Ways to call NumPy's functions: axes, broadcasting, keywords, numbers, empty arrays, every kind of dtype.

Expressions of the arrays in `ARRAYS`, to be evaluated by NumPy and by funcgrad; ``{x}`` stands for any array.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np


def words(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


RNG = np.random.default_rng(0)

ARRAYS: dict[str, Any] = {
    "f": RNG.normal(size=(2, 3)),
    "v": np.array([1.5, -2.0, 0.25]),
    "s": np.array(0.7),
    "e": np.zeros((0, 3)),
    "c3": RNG.normal(size=(2, 3, 4)),
    "m": RNG.normal(size=(3, 3)),
    "row": RNG.normal(size=(1, 3)),
    "col": RNG.normal(size=(2, 1)),
    "n": np.array([1.0, np.nan, 3.0]),
    "inf": np.array([np.inf, -np.inf, 0.0, -0.0, 1e300]),
    "o": np.array([3.0, 1.0, 1.0, 2.0, 3.0]),
    "g": RNG.normal(size=(2, 3)).astype(np.float32),
    "h": np.array([0.5, -1.25, 2.0], np.float16),
    "z": RNG.normal(size=(2, 3)) + 1j * RNG.normal(size=(2, 3)),
    "w": (RNG.normal(size=3) + 1j * RNG.normal(size=3)).astype(np.complex64),
    "i": np.array([[3, -1, 2], [0, 5, -4]]),
    "j": np.array([2, 0, 1]),
    "q": np.array(3),
    "io": np.array([3, 1, 1, 2, 3]),
    "u": np.array([1, 200, 3], np.uint8),
    "k": np.array([1, -2, 3], np.int8),
    "t": np.array([[True, False, True], [False, False, True]]),
    "tv": np.array([True, False, True]),
    "b0": np.array(True),
}

ALL = words("f v s e i j t g h z w u k n q b0 inf")
FEW = words("f v s i j t g h z u")
MIXED = words("f v s i j t g z u k q")

UNARY = words("""
absolute negative positive sign square sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan
arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh floor ceil trunc rint fabs reciprocal
isnan isinf isfinite signbit logical_not invert conjugate deg2rad rad2deg spacing bitwise_count
frexp modf
""")
MORE_UNARY = words("""
real imag angle fix nan_to_num sinc i0 isreal iscomplex isposinf isneginf real_if_close unwrap round
around degrees radians abs fix
""")
BINARY = words("""
add subtract multiply divide true_divide floor_divide remainder mod fmod power float_power maximum
minimum fmax fmin arctan2 hypot copysign nextafter logaddexp logaddexp2 heaviside ldexp gcd lcm
bitwise_and bitwise_or bitwise_xor left_shift right_shift equal not_equal less less_equal greater
greater_equal logical_and logical_or logical_xor divmod
""")
OPERATORS = words("+ - * / // % ** & | ^ << >> == != < <= > >= @")
REDUCTIONS = words("""
sum prod max min mean std var any all argmax argmin ptp median count_nonzero nansum nanprod nanmax
nanmin nanmean nanstd nanvar nanmedian nanargmax nanargmin average
""")
CUMULATIVE = words("cumsum cumprod nancumsum nancumprod cumulative_sum cumulative_prod")
METHODS_OF = words("add multiply maximum minimum logical_and logical_or fmax bitwise_and logaddexp")

OF_UNARY = "(2.0) ; (3) ; (True) ; ([1.0, 2.0]) ; (f, dtype=np.float32) ; (g, dtype='f8') ; (i, dtype=float)"
OF_ANY = """
np.angle({x}, deg=True) ; np.round({x}, 1) ; np.round({x}, -1) ; np.around({x}, decimals=2) ;
np.nan_to_num({x}, nan=5.0, posinf=1.0) ; np.clip({x}, 0, 1) ; np.clip({x}, None, 1) ; np.clip({x}, min=0.5) ;
np.clip({x}, max=j) ; np.clip({x}, 1, 0) ; np.unwrap({x}, period=1.0) ; np.unwrap({x}, axis=0)
"""
OF_BINARY = """
(row, col) ; (e, v) ; (f, j, dtype=np.float32) ; (inf, inf) ; (n, v) ; (f, m) ; (i, i) ; (u, u) ; (k, k) ;
(i, abs(i) + 1) ; (k, u)
"""
OF_REDUCTIONS = """
({x}) ; ({x}, axis=0) ; ({x}, axis=-1) ; ({x}, axis=1) ; ({x}, axis=-1, keepdims=True) ;
({x}, keepdims=True) ; ({x}, axis=()) ; ({x}, axis=(0, 1)) ; ({x}, axis=(-1, 0))
"""
OF_DTYPED_REDUCTIONS = """
({x}, where={x}>0) ; ({x}, axis=-1, where=tv) ; ({x}, dtype=np.float32) ; ({x}, dtype=float) ;
({x}, initial=2) ; ({x}, initial=2, where=tv) ; ({x}, ddof=1) ; ({x}, correction=1) ;
({x}, dtype=bool) ; ({x}, dtype=np.int8) ;
({x}, axis=-1, ddof=3) ; ({x}, where=False) ; ({x}, mean=0.5)
"""
OF_CUMULATIVE = """
({x}) ; ({x}, axis=0) ; ({x}, axis=-1) ; ({x}, axis=-1, dtype=np.float32) ; ({x}, axis=0, dtype=bool) ;
({x}, axis=0, dtype=np.int8) ; ({x}, axis=0, include_initial=True) ; ({x}, include_initial=True)
"""
OF_METHODS = """
.reduce({x}) ; .reduce({x}, axis=-1) ; .reduce({x}, dtype=float) ; .accumulate({x}) ;
.accumulate({x}, axis=-1) ;
.accumulate({x}, dtype=float) ; .reduce({x}, axis=None) ; .reduce({x}, keepdims=True) ;
.reduce({x}, initial=1) ;
.reduce({x}, where={x}>0, initial=1) ; .outer({x}, v) ; .reduceat({x}, [0, 1]) ;
.reduceat({x}, [1, 0], axis=-1) ;
.reduce({x}, axis=(0, 1))
"""

FUNCTIONS_OF_ANY = """
diff({x}) ; diff({x}, n=2) ; diff({x}, axis=0) ; diff({x}, prepend=0) ; diff({x}, append=1.5) ;
diff({x}, n=0) ; diff({x}, axis=-1, prepend={x}) ; ediff1d({x}) ;
ediff1d({x}, to_begin=[1,2], to_end=9) ; gradient({x}) ; gradient({x}, 2.0) ; gradient({x}, axis=-1) ;
gradient({x}, edge_order=2) ; gradient({x}, 0.5, axis=0) ; trapezoid({x}) ; trapezoid({x}, dx=0.5) ;
trapezoid({x}, axis=0) ; trapezoid({x}, v) ; trapezoid({x}, x={x}, axis=0) ; sort({x}) ;
sort({x}, axis=0) ; sort({x}, axis=None) ; sort({x}, axis=-2) ; sort({x}, kind='stable') ;
argsort({x}, kind='stable') ; argsort({x}, axis=0, stable=True) ;
argsort({x}, axis=None, kind='stable') ; sort_complex({x}) ; partition({x}, 1)[..., 1] ; msort({x}) ;
flip({x}) ; flip({x}, 0) ; flip({x}, (0,1)) ; flip({x}, -1) ; flipud({x}) ; fliplr({x}) ; rot90({x}) ;
rot90({x}, 2) ; rot90({x}, -1, axes=(1,0)) ; roll({x}, 1) ; roll({x}, -1, axis=0) ;
roll({x}, (1,2), axis=(0,-1)) ; roll({x}, 5, axis=-1) ; roll({x}, (1,1)) ; transpose({x}) ;
transpose({x}, (1,0)) ; transpose({x}, (-1,0)) ; swapaxes({x}, 0, -1) ; moveaxis({x}, 0, -1) ;
moveaxis({x}, [0,1],[-1,-2]) ; rollaxis({x}, -1) ; rollaxis({x}, 1, -1) ; rollaxis({x}, 0, 2) ;
matrix_transpose({x}) ; permute_dims({x}, (1,0)) ; ravel({x}) ; ravel({x}, order='F') ;
ravel({x}, 'C') ; reshape({x}, -1) ; reshape({x}, (3,-1)) ; reshape({x}, (3,2), order='F') ;
reshape({x}, 6) ; reshape({x}, (-1,-1)) ; resize({x}, (3,4)) ; resize({x}, 5) ; squeeze({x}) ;
squeeze({x}, axis=0) ; expand_dims({x}, 0) ; expand_dims({x}, (0,-1)) ; expand_dims({x}, -1) ;
expand_dims({x}, [0,2]) ; expand_dims({x}, np.array(0)) ; atleast_1d({x}) ; atleast_2d({x}) ;
atleast_3d({x}) ; atleast_1d({x}, v) ; broadcast_to({x}, (2,2,3)) ; broadcast_to({x}, (2,3)) ;
broadcast_arrays({x}, m[:2]) ; tile({x}, 2) ; tile({x}, (2,1)) ; tile({x}, (2,2,2)) ; tile({x}, 0) ;
tile({x}, ()) ; repeat({x}, 2) ; repeat({x}, 2, axis=0) ; repeat({x}, [1,0,2], axis=-1) ;
repeat({x}, 0) ; repeat({x}, [2], axis=0) ; pad({x}, 1) ; pad({x}, (1,2)) ; pad({x}, ((1,2),(0,1))) ;
pad({x}, 1, mode='edge') ; pad({x}, 2, mode='reflect') ; pad({x}, 2, mode='symmetric') ;
pad({x}, 5, mode='reflect') ; pad({x}, 5, mode='wrap') ; pad({x}, 1, constant_values=(4,5)) ;
pad({x}, 2, mode='linear_ramp', end_values=3) ; pad({x}, 1, mode='mean') ;
pad({x}, 1, mode='maximum') ; pad({x}, 2, mode='median', stat_length=2) ;
pad({x}, 3, mode='reflect', reflect_type='odd') ; pad({x}, 0) ;
pad({x}, 3, mode='symmetric', reflect_type='odd') ; pad({x}, {{0:1}}) ;
pad({x}, 1, mode='empty').shape ; concatenate([{x}, {x}]) ; concatenate([{x}, {x}], axis=-1) ;
concatenate([{x}, {x}], axis=None) ; concatenate([{x}, v]) ;
concatenate([{x}, {x}], dtype=np.float32) ; concatenate([{x}, i]) ; concatenate(({x},)) ;
stack([{x}, {x}]) ; stack([{x}, {x}], axis=-1) ; stack([{x}, {x}], axis=1) ;
stack([{x}, {x}], axis=5) ; vstack([{x}, {x}]) ; hstack([{x}, {x}]) ; dstack([{x}, {x}]) ;
column_stack([{x}, {x}]) ; append({x}, 5) ; append({x}, {x}, axis=0) ; insert({x}, 1, 5) ;
insert({x}, [0,1], 7, axis=0) ; insert({x}, 0, v, axis=0) ; insert({x}, -1, 2.5, axis=-1) ;
delete({x}, 1) ; delete({x}, [0,1], axis=0) ; delete({x}, -1, axis=-1) ; delete({x}, slice(0,2)) ;
delete({x}, 9) ; split({x}, 2) ; split({x}, [1,2], axis=-1) ; array_split({x}, 2) ;
array_split({x}, 3, axis=-1) ; hsplit({x}, 3) ; vsplit({x}, 2) ; dsplit({x}, 2) ; unstack({x}) ;
unstack({x}, axis=-1) ; block([{x}, {x}]) ; block([[{x}, {x}],[{x}, {x}]]) ; take({x}, 1) ;
take({x}, [0,2]) ; take({x}, [0,1], axis=0) ; take({x}, [0,-1], axis=-1) ;
take({x}, [0,7], mode='wrap') ; take({x}, [0,7], mode='clip') ; take({x}, [0,-7], mode='clip') ;
take({x}, [[0,1],[1,0]], axis=-1) ; take({x}, [0,99]) ;
take_along_axis({x}, np.argsort({x}, axis=-1, kind='stable'), axis=-1) ;
take_along_axis({x}, np.argsort({x}, axis=None, kind='stable'), axis=None) ;
compress([True,False,True], {x}, axis=-1) ; compress([True,False], {x}) ; extract({x}>0, {x}) ;
choose([0,1,0], [{x}, {x}]) ; choose([0,1,0], [{x}, v]) ; select([{x}>0, {x}<0], [{x}, -{x}]) ;
select([{x}>0], [{x}], default=7) ; where({x}>0, {x}, 0) ; where({x}>0, {x}, v) ; where({x}) ;
where({x}>0, 1, 2) ; nonzero({x}) ; flatnonzero({x}) ; argwhere({x}) ; diag({x}) ; diag({x}, 1) ;
diag({x}, -1) ; diagflat({x}) ; diagflat({x}, 1) ; diagonal({x}) ; diagonal({x}, 1) ;
diagonal({x}, 0, 1, 0) ; trace({x}) ; trace({x}, 1) ; trace({x}, dtype=np.float32) ; tril({x}) ;
triu({x}) ; tril({x}, 1) ; triu({x}, -1) ; vander({x}) ; vander({x}, 2, increasing=True) ;
fill_diagonal({x}, 0) ; dot({x}, {x}.T) ; dot({x}, v) ; dot({x}, 2) ; matmul({x}, {x}.T) ;
vdot({x}, {x}) ; inner({x}, {x}) ; outer({x}, {x}) ; outer({x}, v) ; kron({x}, v) ; kron(m, {x}) ;
tensordot({x}, {x}, axes=0) ; tensordot({x}, {x}, axes=([-1],[-1])) ; tensordot({x}, {x}, 1) ;
vecdot({x}, {x}) ; vecdot({x}, v, axis=-1) ; matvec(m, v) ; vecmat(v, m) ; cross({x}, v) ;
cross({x}, {x}, axis=-1) ; cross({x}, m[:2]) ; einsum('...i,...i', {x}, {x}) ;
einsum('...i->...', {x}) ; einsum('ij->ji', {x}) ; einsum('ij,ij->i', {x}, {x}) ;
einsum({x}, [0,1], [1]) ; einsum('...j,j', {x}, v) ; convolve({x}, v) ; convolve({x}, v, 'same') ;
convolve({x}, [1,2], 'valid') ; correlate({x}, v) ; correlate(v, {x}, 'full') ;
correlate({x}, {x}, 'same') ; correlate([1.0, 2.0], {x}, 'full') ; percentile({x}, 30) ;
percentile({x}, [10, 50], axis=-1) ; quantile({x}, 0.3, axis=0) ;
quantile({x}, [0.1, 0.9], axis=-1, keepdims=True) ; quantile({x}, 0.4, method='lower') ;
quantile({x}, 0.4, method='nearest') ; quantile({x}, 0.4, method='weibull') ;
quantile({x}, 0.4, method='median_unbiased') ;
quantile({x}, 0.5, method='inverted_cdf', weights=abs({x})) ; quantile({x}, 1.5) ;
quantile({x}, [[0.1],[0.2]], axis=(0,1)) ; nanquantile({x}, 0.4) ; nanpercentile({x}, 40, axis=-1) ;
median({x}, axis=(0,1), keepdims=True) ; cov({x}) ; cov({x}, rowvar=False) ; cov({x}, bias=True) ;
cov({x}, ddof=0, fweights=[1,2,3]) ; cov({x}, aweights=[1,2,3.]) ; cov({x}, {x}) ; corrcoef({x}) ;
corrcoef({x}, rowvar=False) ; corrcoef({x}, {x}) ; histogram({x}) ; histogram({x}, 3, range=(0,1)) ;
histogram({x}, [0,1,2], density=True) ; histogram({x}, 3, weights=abs({x})) ; digitize({x}, [0,1,2]) ;
digitize({x}, [2,1,0], right=True) ; searchsorted([0,1,2], {x}) ;
searchsorted([0,1,2], {x}, side='right') ; searchsorted({x}, 0.5) ; searchsorted(np.sort({x}), {x}) ;
interp({x}, [0,1,2], [3.,1.,4.]) ; interp({x}, [0,1,2], [3.,1.,4.], left=9, right=-9) ;
interp({x}, [0.,1.,2.], [3.,1.,4.], period=1.5) ; bincount({x}) ; unique({x}) ; isin({x}, [0.5, 1]) ;
polyval([1,2,3], {x}) ; polyval({x}, 2.0) ; polyfit([0,1,2], {x}, 1) ; polyder({x}) ; polyint({x}) ;
polyint({x}, 2, k=[1,2]) ; polymul({x}, [1,2]) ; polyadd({x}, [1,2]) ; polysub([1,2], {x}) ;
polydiv({x}, [1.,2]) ; poly({x}) ; roots({x}) ; apply_along_axis(lambda r: r*2, 0, {x}) ;
apply_along_axis(lambda r: r.sum(), -1, {x}) ; apply_over_axes(np.sum, {x}, [0,-1]) ;
piecewise({x}, [{x}<0, {x}>=0], [lambda x: -x, 3]) ; piecewise({x}, [{x}<0], [1, 2]) ;
vectorize(lambda x: x+1)({x}) ; isclose({x}, {x}+1e-9) ; isclose({x}, {x}, equal_nan=True) ;
allclose({x}, {x}) ; array_equal({x}, {x}) ; array_equal({x}, {x}, equal_nan=True) ;
array_equiv({x}, {x}) ; zeros_like({x}) ; ones_like({x}, dtype=int) ; full_like({x}, 2.7) ;
empty_like({x}).shape ; full_like({x}, 2, shape=(4,)) ; copy({x}) ; asarray({x}, dtype=np.float32) ;
array({x}, dtype=complex) ; array({x}, ndmin=3) ; array([{x}, {x}]) ; asarray([{x}, {x}]) ;
astype({x}, np.float32) ; astype({x}, int) ; astype({x}, bool) ; ascontiguousarray({x}) ;
asfortranarray({x}) ; require({x}, float) ; shape({x}) ; ndim({x}) ; size({x}) ; size({x}, 0) ;
size({x}, -1) ; iscomplexobj({x}) ; isrealobj({x}) ; isscalar({x}) ; result_type({x}, np.float32) ;
can_cast({x}.dtype, float) ; meshgrid({x}, v) ; meshgrid(v, {x}, indexing='ij', sparse=True) ;
ix_({x}) ; linspace({x}, 2.0, 3) ; linspace(0, {x}, 4, endpoint=False) ; linspace({x}, v, 3, axis=-1) ;
linspace({x}, 2, 3, dtype=int) ; linspace({x}, 2, 3, retstep=True) ; linspace({x}, 2, 1) ;
linspace({x}, 2, 0) ; logspace({x}, 1, 3) ; logspace({x}, 1, 3, base=2) ;
logspace(0.5, 1, 3, base=abs({x}), axis=-1) ; geomspace(abs({x})+1, 9, 3) ;
geomspace(abs({x})+1, 9, 3, axis=-1, endpoint=False) ; geomspace(1, abs({x})+1, 4, dtype=int) ;
packbits({x}) ; nextafter({x}, 1) ; lexsort(({x}, {x})) ; tri(3) ; ldexp({x}, j) ; divmod({x}, 2) ;
put_along_axis({x}, np.argmax({x}, -1, keepdims=True), 0, -1) ; trim_zeros({x}) ; cbrt({x}) ;
nan_to_num({x}) ; float_power({x}, 2) ; union1d({x}, {x}) ; common_type({x}) ; min_scalar_type({x}) ;
require({x}) ; copyto({x}, 1) ; put({x}, 0, 1) ; place({x}, {x}>0, [1]) ; putmask({x}, {x}>0, 1) ;
"""

METHODS_OF_ANY = """
{x}.T ; {x}.mT ; {x}.real ; {x}.imag ; {x}.flatten() ; {x}.flatten('F') ; {x}.ravel() ;
{x}.reshape(-1) ; {x}.reshape(3,-1) ; {x}.reshape((3,-1), order='F') ; {x}.transpose() ;
{x}.transpose(1,0) ; {x}.transpose((1,0)) ; {x}.swapaxes(0,-1) ; {x}.squeeze() ; {x}.repeat(2) ;
{x}.repeat(2, 0) ; {x}.take([0,1]) ; {x}.take([0], axis=-1) ; {x}.diagonal() ; {x}.trace() ;
{x}.cumsum() ; {x}.cumsum(-1) ; {x}.cumprod(0) ; {x}.clip(0,1) ; {x}.round(1) ; {x}.conj() ;
{x}.conjugate() ; {x}.astype(np.float32) ; {x}.astype(complex) ; {x}.astype(int) ; {x}.astype('f2') ;
{x}.copy() ; {x}.argsort(kind='stable') ; {x}.searchsorted(0.5) ; {x}.nonzero() ;
{x}.compress([True,False]) ; {x}.choose([v,v]) ; {x}.dot(v) ; {x}.ndim ; {x}.size ; {x}.shape ;
{x}.dtype ; {x}.nbytes ; {x}.itemsize ; {x}[0] ; {x}[-1] ; {x}[...,0] ; {x}[None] ; {x}[::-1] ;
{x}[1:] ; {x}[{x}>0] ; {x}[...] ; {x}[()] ; {x}[[0,1]] ; {x}[:, [0,2]] ; {x}[[0],[1]] ;
{x}[np.array([True,False,True])] ; {x}[..., None] ; {x}[0,1] ; {x}[-5:5:2] ; {x}[[True,False]] ;
len({x}) ; abs({x}) ; -{x} ; +{x} ; ~{x} ; {x}**2 ; {x}**0.5 ; {x}**-1 ; {x}**0 ; 2**{x} ;
divmod({x}, 2) ; round({x}, 1) ; bool({x}) ; list({x}) ; {x}.view(float) ; {x}.std(ddof=1) ;
{x}.var(axis=0, ddof=1) ; {x}.ptp() ; {x}.sort() ; {x}.fill(0) ; {x}.itemset(1) ; {x}.partition(1) ;
{x}.base is None ; {x}.flat[0] ; {x}.strides ; {x}.to_device('cpu') ; {x}.device ;
"""

CALLS = """
np.r_[v, 1, v] ; np.c_[v, v] ; np.r_[0:3, v] ; np.r_['0,2', v, v] ; np.meshgrid(v, j, i) ;
np.ogrid[0:2,0:3] ; np.indices((2,3)) ; np.eye(3, 2, 1) ; np.identity(3) ; np.tri(2,3,-1) ;
np.fromfunction(lambda a,b: a+b, (2,3)) ; np.unravel_index(j, (2,3)) ;
np.ravel_multi_index((j,j), (3,3)) ; np.ravel_multi_index((j,j+2), (3,3), mode='wrap') ;
np.triu_indices(3) ; np.tril_indices_from(m) ; np.diag_indices_from(m) ; np.mask_indices(3, np.triu) ;
np.hanning(4) ; np.kaiser(4, s) ; np.select([tv, ~tv],[v, 2*v], 0) ; np.lexsort((v, j)) ;
np.digitize(v, o[:0]) ; np.apply_along_axis(np.sort, 0, c3) ; np.apply_along_axis(np.outer, 0, f, v) ;
np.einsum('ij,jk', f, m) ; np.einsum('ijk,ij->k', c3, f) ; np.einsum('ii', m) ; np.einsum('ii->i', m) ;
np.einsum('ij,jk,kl', f, m, m) ; np.einsum('i,j->ij', v, j) ;
np.einsum('...ij,jk->...ik', f, m, optimize=True) ; np.einsum('ij->', f) ; np.einsum('ij,k->', f, v) ;
np.einsum('i...->...', c3) ; np.tensordot(c3, f, axes=([0,1],[0,1])) ; np.tensordot(f, m, axes=(1,0)) ;
np.matmul(c3, c3.swapaxes(-1,-2)) ; np.matmul(v, m) ; np.matmul(m, v) ; np.matmul(v, v) ;
np.matmul(c3, np.ones(4)) ; np.matmul(f, i.T) ; np.matmul(t, t.T) ; np.matmul(g, m) ; np.matmul(z, m) ;
np.matmul(u, u) ; np.dot(c3, np.ones((4,2))) ; np.dot(c3, np.ones((3,4,2))) ;
np.inner(c3, np.ones(4)) ; np.inner(c3, np.ones((5,4))) ; np.vecdot(z, w) ;
np.matvec(z[:, :2].T, s*np.ones(2)) ; np.average(f, axis=0, weights=[1,3]) ; np.histogram2d(v, v, 2) ;
np.histogramdd(f.T, 2) ; np.interp(1.0, v, v) ; np.interp(v, o[:3], v) ; np.where(tv, v, 1j) ;
np.where(tv, h, 2) ; np.where(tv, k, 2.5) ; np.where(s > 0, f, i) ; np.where(True, f, 0) ;
np.where(tv, u, k) ; np.concatenate([h, k]) ; np.concatenate([u, k]) ; np.concatenate([g[0], k]) ;
np.concatenate([tv, v]) ; np.stack([h, v]) ; np.stack([u, tv]) ; np.array([v, j]) ; np.array([s, 1]) ;
np.array([[s, 1],[2, s]]) ; np.array([q, s]) ; np.array([q, True]) ;
np.asarray([s, s], dtype=np.float32) ; np.full((2,2), s) ; np.full(3, q) ; np.full((2,3), v) ;
np.full(2, s, dtype=int) ; np.arange(3)*s ; np.arange(0, 3, 0.5) ; np.linspace(s, q, 3) ;
np.linspace(v, f, 3) ; np.linspace(z, 1, 3) ; np.linspace(g, 1, 3) ; np.linspace(h, 1, 3) ;
np.linspace(-v, v, 4, dtype=int) ; np.linspace(w, 1, 3, axis=-1) ; np.outer(f, f, ) ; np.kron(f, i) ;
np.kron(v, m) ; np.kron(c3, f) ; np.cross(v, m) ; np.cross(f.T, m, axisa=0) ; np.cross(m, m, axisc=0) ;
np.cross(m.T, m, axis=0) ; np.cross(v[:2], v) ; np.cross(v[:2], v[:2]) ; np.trapezoid(c3, f, axis=0) ;
np.trapezoid(c3, np.ones((3,4)), axis=-1) ; np.trapezoid(c3, np.ones((3,4)), axis=-2) ;
np.trapezoid(c3, [1.,2,4], axis=1) ; np.trapezoid(f, x=z) ; np.trapezoid(f, dx=v[1:]) ;
np.gradient(c3) ; np.gradient(c3, axis=(0,1)) ; np.gradient(f, [0.,1.], [0.,1.,3.]) ;
np.gradient(m, 1.0, 2.0) ; np.gradient(m, v, axis=1) ;
np.gradient(o, [0.,1.,1.5,3.,4.], edge_order=2) ; np.gradient(i) ; np.gradient(u) ;
np.logspace(v, 2, 3, base=m, axis=-1) ; np.logspace(0, v, 3, base=v) ; np.geomspace(1, z, 3) ;
np.geomspace(-1, -8, 3) ; np.geomspace(s, 2, 3, dtype=np.float32) ; np.percentile(f, v*v*10, axis=0) ;
np.quantile(f, s) ; np.quantile(f, h[:1]*0.5) ; np.quantile(g, 0.5) ; np.quantile(h, 0.25) ;
np.median(h) ; np.mean(h) ; np.mean(u) ; np.mean(t) ; np.var(h) ; np.var(z) ; np.std(z, ddof=1) ;
np.sum(h) ; np.sum(u, dtype=np.uint8) ; np.prod(k, dtype=np.int8) ; np.mean(i, dtype=np.float32) ;
np.mean(g, dtype=np.float64) ; np.var(i, dtype=np.float32) ; np.clip(u, -1, 300) ; np.clip(u, 2, 100) ;
np.clip(f, v, v+1) ; np.clip(z, 0, 1) ; np.clip(f, i, 2) ; np.clip(h, 0, 1.5) ; np.copysign(i, -1) ;
np.ldexp(f, 2) ; np.power(i, 2) ; np.power(abs(i), j) ; np.power(2, j) ; np.power(u, 2) ;
np.power(t, 2) ; np.power(f, i) ; np.power(k, 2.0) ; np.power(k, -1) ; np.sum(f, axis=-1, out=None) ;
np.cumsum(t, axis=0) ; np.cumsum(u) ; np.cumprod(t) ; np.cumsum(h) ; np.bincount(j) ;
np.bincount(j, minlength=7) ; np.bincount(j, weights=v) ; np.bincount(u) ;
np.histogram(v, 3, density=True) ; np.histogram_bin_edges(v, 3) ;
np.take(f, np.array([[0,1]]), axis=1) ; np.take(c3, 1, axis=-1) ; np.take(f, q-3) ;
np.put_along_axis(f, j[None, :1], 1, 1) ; np.block([[f, f],[row, row]]) ; np.block([1, v]) ;
np.pad(v, (1,), 'constant', constant_values=s) ; np.pad(i, 1, constant_values=2.5) ;
np.pad(v, 7, mode='symmetric') ; np.pad(v, 7, mode='reflect') ; np.pad(v, (0, 8), mode='wrap') ;
np.roll(f, j[:2], axis=(0,1)) ; np.roll(c3, 2) ; np.tile(f, (2,1,2)) ; np.repeat(f, j, axis=1) ;
np.repeat(v, q) ; np.insert(f, 1, [1,2,3], axis=0) ; np.insert(v, [0,2], [7,8]) ; np.insert(v, tv, 9) ;
np.insert(i, 0, 2.7, axis=1) ; np.append(f, row, 0) ; np.delete(v, tv) ; np.delete(c3, 1, 1) ;
np.unwrap(v*5) ; np.unwrap(f*9, axis=0, discont=4) ; np.unwrap(i*3, period=4) ; np.sort(z) ;
np.sort(t) ; np.argmax(z) ; np.max(z) ; np.maximum(z, w) ; np.fmax(n, v) ; np.argmax(n) ;
np.argmin(t) ; np.nanargmax(n) ; np.nanmax(np.array([[1,2.]])*s) ; np.ptp(u) ; np.ptp(k) ;
np.dot(h, h) ; np.dot(u, u) ; np.dot(t, tv) ; np.vdot(w, z[0]) ; np.vdot(i, f) ; np.inner(z, w) ;
np.convolve(u, k) ; np.convolve(h, h) ; np.convolve(z[0], w) ; np.correlate(z[0], w, 'full') ;
np.correlate(w, z[0], 'same') ; np.correlate(o, v, 'valid') ; np.correlate(v, o, 'valid') ;
np.correlate(v, o, 'same') ; np.convolve(v, o, 'same') ; np.convolve(o[:4], v, 'same') ;
np.polyfit(v, o[:3], 1) ; np.polyfit(o, io, 2, w=o) ; np.polyval(v, m) ; np.polyval(z[0], s) ;
np.poly(m) ; np.roots([1., 0., -1.]) ; np.vander(j, 3) ; np.searchsorted(np.sort(v), v, sorter=None) ;
np.searchsorted(o, 1.5, sorter=np.argsort(o)) ; np.compress(tv, c3, axis=1) ; np.extract(t, f) ;
np.piecewise(v, [v<0, v>1], [0, 1, lambda x: x*2]) ; np.select([v>0], [j]) ;
np.choose(j, [v, v+1, v+2]) ; np.choose(j, m) ; np.choose(j, [1, 2, 3]) ;
np.choose(i, [f, f], mode='wrap') ; np.choose(i, [f, f], mode='clip') ; np.choose(j+2, [v, v]) ;
np.isclose(f, f+1e-6, rtol=1e-3) ; np.apply_over_axes(np.sum, c3, (0,2)) ;
np.nanmean(c3*n[:,None], axis=1) ; np.linalg.norm(f) ; np.linalg.norm(f, axis=-1) ;
np.linalg.norm(f, 'fro') ; np.linalg.norm(f, 1) ; np.linalg.norm(f, np.inf) ;
np.linalg.norm(f, -1, axis=0) ; np.linalg.norm(v, 3) ; np.linalg.norm(v, 0) ;
np.linalg.norm(f, 'nuc') ; np.linalg.norm(f, 2) ; np.linalg.norm(m, -2) ; np.linalg.norm(i) ;
np.linalg.norm(z, axis=0, keepdims=True) ; np.linalg.norm(c3) ; np.linalg.norm(c3, axis=(0,-1)) ;
np.linalg.norm(c3, 1, axis=(2,0), keepdims=True) ; np.linalg.norm(v, -np.inf) ; np.linalg.norm(h) ;
np.linalg.norm(g) ; np.linalg.norm(s) ; np.linalg.norm(e) ; np.linalg.vector_norm(c3, axis=None) ;
np.linalg.vector_norm(f, axis=(0,1), ord=1) ; np.linalg.matrix_norm(c3, ord=1) ; np.linalg.inv(m) ;
np.linalg.inv(g[:, :2]) ; np.linalg.inv(h[:,None]*h) ; np.linalg.det(m) ; np.linalg.det(i[:, :2]) ;
np.linalg.det(c3[:, :2, :2]) ; np.linalg.slogdet(m) ; np.linalg.slogdet(z[:, :2]) ;
np.linalg.solve(m, v) ; np.linalg.solve(m, m) ; np.linalg.solve(m, i.T) ;
np.linalg.solve(c3[:, :2, :2], np.ones((2,2,1))) ; np.linalg.lstsq(f.T, v) ; np.linalg.pinv(f) ;
np.linalg.pinv(c3) ; np.linalg.pinv(m@m.T, hermitian=True) ; np.linalg.matrix_power(m, 3) ;
np.linalg.matrix_power(m, -2) ; np.linalg.matrix_power(i[:, :2], 3) ; np.linalg.matrix_power(m, 0) ;
np.linalg.matrix_rank(f) ; np.linalg.cond(m) ; np.linalg.cond(m, 1) ; np.linalg.cond(f) ;
np.linalg.qr(f) ; np.linalg.qr(f.T) ; np.linalg.qr(f.T, 'complete') ; np.linalg.qr(f, 'r') ;
np.linalg.qr(c3) ; np.linalg.cholesky(m@m.T + np.eye(3)) ;
np.linalg.cholesky(m@m.T + np.eye(3), upper=True) ; np.linalg.cholesky(m + 9*np.eye(3)) ;
np.linalg.cholesky(m + 9*np.eye(3), upper=True) ; np.linalg.eigh(m) ; np.linalg.eigh(m, 'U') ;
np.linalg.eigvalsh(m, UPLO='U') ; np.linalg.eigvalsh(m) ; np.linalg.eigvalsh(z[:, :2], 'U') ;
np.linalg.eigvals(m+m.T) ; np.linalg.svd(f) ; np.linalg.svd(f, full_matrices=False) ;
np.linalg.svd(c3, compute_uv=False) ; np.linalg.svd(m+m.T, hermitian=True) ;
np.linalg.svd(m, hermitian=True) ; np.linalg.svd(m, hermitian=True, compute_uv=False) ;
np.linalg.svdvals(f) ; np.linalg.multi_dot([f, m, v]) ; np.linalg.multi_dot([v, m, m, v]) ;
np.linalg.tensorinv(np.eye(6).reshape(2,3,6)*s, ind=2) ;
np.linalg.tensorsolve(np.eye(6).reshape(2,3,2,3)*s, f) ; np.linalg.trace(c3) ;
np.linalg.trace(c3, offset=1) ; np.linalg.diagonal(c3, offset=-1) ; np.linalg.outer(v, v) ;
np.linalg.cross(v, v+1) ; np.linalg.vecdot(z, w) ; np.linalg.matrix_transpose(c3) ;
np.linalg.matmul(f, m) ; np.linalg.tensordot(f, m, axes=1) ; np.fft.fft(f) ; np.fft.fft(f, 5) ;
np.fft.fft(f, 2, axis=0) ; np.fft.ifft(z, norm='ortho') ; np.fft.rfft(f) ; np.fft.rfft(i) ;
np.fft.rfft(z) ; np.fft.irfft(z) ; np.fft.irfft(z, 5) ; np.fft.irfft(z, 3, axis=0, norm='forward') ;
np.fft.hfft(z) ; np.fft.ihfft(f) ; np.fft.fft2(f) ; np.fft.fft2(c3, s=(2,5)) ; np.fft.fftn(c3) ;
np.fft.fftn(c3, axes=(0,0)) ; np.fft.ifftn(c3, s=(2,2), axes=(0,2)) ; np.fft.rfftn(c3, axes=(2,0)) ;
np.fft.irfftn(z) ; np.fft.irfft2(z) ; np.fft.rfft2(f) ; np.fft.fftshift(f) ;
np.fft.fftshift(f, axes=1) ; np.fft.ifftshift(c3, axes=(0,-1)) ; np.fft.fft(g) ; np.fft.fft(h) ;
np.fft.fft(t) ; np.fft.fft(s) ; np.fft.fft(v, 0) ; np.fft.fft(e) ; np.fft.fftfreq(5) ;
np.fft.rfftfreq(5, 0.5) ;
"""


def parts(text: str) -> list[str]:
    """The expressions in a text, which semicolons separate."""
    return [part.strip() for part in text.split(";") if part.strip()]


def of_unary() -> Iterator[str]:
    """Calls of functions of one operand."""
    for name, x in product(UNARY + MORE_UNARY, ALL):
        yield f"np.{name}({x})"
    for name, call in product(UNARY, parts(OF_UNARY)):
        yield f"np.{name}{call}"
    for x, text in product(ALL, parts(OF_ANY)):
        yield text.format(x=x)


def of_binary() -> Iterator[str]:
    """Calls of functions of two operands, and operators."""
    for name, x, y in product(BINARY, FEW, FEW):
        yield f"np.{name}({x}, {y})"
    for name, x in product(BINARY, [*MIXED, "h"]):
        yield from [f"np.{name}{call}" for call in (f"({x}, 2)", f"(2.5, {x})", f"({x}, True)", f"({x}, -1)")]
    for name, call in product(BINARY, parts(OF_BINARY)):
        yield f"np.{name}{call}"
    numbers = ["2", "2.5", "True", "1j", "[1, 2, 3]", "-1"]
    for sign, x in product(OPERATORS, MIXED):
        yield from [f"{x} {sign} {y}" for y in [*MIXED, *numbers]]
        yield from [f"{y} {sign} {x}" for y in numbers]


def of_reductions() -> Iterator[str]:
    """Calls that reduce or accumulate."""
    for name, x, call in product(REDUCTIONS, [*ALL, "c3", "o"], parts(OF_REDUCTIONS)):
        yield f"np.{name}{call.format(x=x)}"
    for name, x, call in product(REDUCTIONS, words("f i t g h z u k n"), parts(OF_DTYPED_REDUCTIONS)):
        yield f"np.{name}{call.format(x=x)}"
    for name, x, call in product(CUMULATIVE, [*ALL, "c3"], parts(OF_CUMULATIVE)):
        yield f"np.{name}{call.format(x=x)}"
    for name, x, call in product(METHODS_OF, words("f v i t z e u c3"), parts(OF_METHODS)):
        yield f"np.{name}{call.format(x=x)}"


def expressions() -> Iterator[str]:
    """Every expression, as text."""
    yield from of_unary()
    yield from of_binary()
    yield from of_reductions()
    for x in [*ALL, "c3", "o"]:
        yield from (f"np.{text.format(x=x)}" for text in parts(FUNCTIONS_OF_ANY))
        yield from (text.format(x=x) for text in parts(METHODS_OF_ANY))
    yield from parts(CALLS)
