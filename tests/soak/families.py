"""What blocks of random programs may say: texts with `{x}` and `{y}` for values, `{n}` and `{k}` for numbers.

Texts of several lines are Python's own loops and branches; they assign `{out}`.
"""

from __future__ import annotations

from tests.laws.lawbook import random_functions as short

LINEAR_ALGEBRA = (
    "np.linalg.solve({x} @ {x}.T * 0.1 + 3.0 * np.eye({n}), np.tanh({x}))",
    "np.linalg.inv({x} @ {x}.T * 0.1 + 2.0 * np.eye({n}))",
    "np.linalg.cholesky({x} @ {x}.T * 0.1 + 2.0 * np.eye({n}))",
    "np.linalg.slogdet({x} @ {x}.T * 0.1 + 2.0 * np.eye({n}))[1]",
    "np.linalg.det(np.tanh({x} @ {x}.T) * 0.1 + np.eye({n}))",
    "np.linalg.eigvalsh({x} @ {x}.T * 0.1 + np.diag(np.arange({n}) * 2.0))",
    "(lambda w, v: (v * np.exp(-0.1 * w)) @ v.T)(*np.linalg.eigh({x} @ {x}.T * 0.1 + np.eye({n})))",
    "np.linalg.qr(np.tanh({x} @ {x}.T) * 0.1 + np.eye({n}))[1]",
    "np.linalg.svd(np.tanh({x} @ {x}.T) * 0.1 + np.diag(1.0 + np.arange({n})), compute_uv=False)",
    "np.linalg.norm({x}) * 0.5",
    "np.trace({x} @ {x}.T) * 0.05",
)

CONTROL = (
    "fg.cond(np.sum({x}) > 0.0, lambda v: np.sin(v), lambda v: 0.5 * v, {x})",
    "fg.fori_loop(0, {k}, lambda i, v: np.tanh(v + 0.1 * i) * 0.9, {x})",
    "fg.while_loop(lambda v: v[1] < {k}.0, lambda v: (np.sin(v[0]) + 0.1, v[1] + 1.0), ({x}, 0.0))[0]",
    "fg.scan(lambda c, r: (np.tanh(c * 0.5 + r), c + r), 0.1 * np.sum({x}, axis=0), {x})[1]",
    "fg.scan(lambda c, r: (fg.cond(np.sum(r) > 0.1, np.sin, np.cos, c) + r, None), 0.0 * {x}[0], {x})[0]",
    "fg.scan(lambda c, r: (np.stack([c[1], np.sin(c[0] + r)]), np.sum(c)), np.ones(2), np.ravel({x}))[1]",
    "fg.scan(lambda c, r: (np.append(c[1:], np.sin(c[0])) + r, None), 0.1 * {x}[:3], np.ravel({x}))[0]",
    "fg.vmap(lambda a: fg.scipy.optimize.brentq(lambda t: t**3 + t - a, -9.0, 9.0))(np.tanh(np.ravel({x})))",
    "fg.fori_loop(0, {x}.shape[0], swept, {x})",
    "fg.map(lambda r: np.cumsum(np.sin(r)), {x})",
    "fg.checkpoint(lambda v: np.tanh(np.sin(v) * v))({x})",
)

RANDOM = (
    "{x} + fg.random.normal(fg.random.key({k}), np.shape({x}))",
    "{x} * fg.random.uniform(fg.random.key({k}), np.shape({x}))",
)

OTHERS = (
    "cube({x})",
    "soft({x})",
    "{x}.astype(np.float32).astype(np.float64) * 0.0 + {x}",
    "{x} * np.arange(np.size({x})).reshape(np.shape({x})) * 0.1",
    "{x} * ({x} > 0.2)",
    "np.where(np.arange(np.shape({x})[-1]) % 2 == 0, {x}, np.sin({x}))",
    "np.diff({x}, axis=-1)",
    "np.gradient({x})",
    "np.interp({x}, np.linspace(-3.0, 3.0, 7), np.sin(np.linspace(-3.0, 3.0, 7)))",
    "np.convolve(np.ravel({x}), np.array([0.5, 0.25, -0.5]), 'same')",
    "np.fft.irfft(np.fft.rfft({x}))",
    "np.einsum('...i->...', {x})",
    "np.nancumsum({x})",
    "np.median({x}) + 0.0 * {x}",
    "np.ptp({x}) * np.tanh({x})",
)

SPECIAL = (
    "special.expit({x})",
    "special.erf({x})",
    "special.gammaln(2.5 + np.tanh({x}))",
    "special.digamma(2.5 + np.tanh({x}))",
    "special.logsumexp({x}, axis=-1)",
    "special.softmax({x}, axis=-1)",
    "special.xlogy(1.5 + np.sin({x}), 1.5 + np.cos({x}))",
    "special.ndtr({x})",
    "special.log_ndtr({x})",
    "special.i0e({x})",
    "special.j0({x})",
    "special.betaln(2.5 + np.tanh({x}), 1.5)",
    "special.gammainc(2.0, 1.5 + np.tanh({x}))",
    "special.softplus({x})",
    "special.log_softmax({x}, axis=0)",
    "special.ndtri(0.5 + 0.4 * np.tanh({x}))",
    "special.erfinv(0.5 * np.tanh({x}))",
    "special.logit(0.5 + 0.4 * np.tanh({x}))",
    "special.gammaincc(1.5 + 0.5 * np.cos({x}), 1.5 + np.tanh({x}))",
    "special.betainc(1.5, 2.0, 0.5 + 0.3 * np.tanh({x}))",
    "special.beta(1.5 + np.tanh({x}), 1.5 + np.sin({x}))",
    "special.kv(0.5, 2.0 + np.tanh({x}))",
    "special.zeta(2.5 + np.tanh({x}), 1.5)",
    "special.polygamma(1, 2.5 + np.tanh({x}))",
    "special.rel_entr(1.5 + np.tanh({x}), 1.5 + np.sin({x}))",
    "special.ellipk(0.5 * np.tanh({x}))",
    "special.spence(2.0 + np.tanh({x}))",
    "special.sici({x})[0]",
    "special.dawsn({x})",
    "special.erfcx({x})",
    "special.exprel({x})",
)

STATS = (
    "stats.norm.logpdf({x}, 0.1, 1.5)",
    "stats.norm.cdf(np.tanh({x}), 0.5 * np.sin({x}))",
    "stats.t.logpdf({x}, 3.0 + np.tanh({x}))",
    "stats.gamma.logpdf(1.5 + np.tanh({x}), 2.5)",
    "stats.beta.pdf(0.5 + 0.4 * np.tanh({x}), 1.5, 2.5)",
    "stats.laplace.pdf({x})",
    "stats.logistic.logcdf({x})",
    "stats.weibull_min.pdf(1.5 + np.tanh({x}), 1.7)",
    "stats.lognorm.logpdf(1.5 + np.tanh({x}), 0.8)",
    "stats.cauchy.cdf({x})",
    "stats.gumbel_r.sf({x})",
    "stats.poisson.logpmf(2, 1.5 + np.tanh({x}))",
    "stats.expon.ppf(0.5 + 0.4 * np.tanh({x}))",
)

SELECTION = (
    "np.sort({x}, axis=0)",
    "np.partition({x}, {k} % np.shape({x})[-1], axis=-1)[..., {k} % np.shape({x})[-1]]",
    "np.percentile({x}, 30.0 + {k}, axis=-1)",
    "np.quantile({x}, np.array([0.21, 0.73]))",
    "np.take_along_axis({x}, np.argsort({x}, axis=-1), axis=-1)",
    "np.roll({x}, {k}, axis=0)",
    "np.pad({x}, 1, mode='reflect')",
    "np.pad({x}, ((1, 2),) * np.ndim({x}), mode='edge')",
    "np.repeat({x}, 2, axis=0)",
    "np.tile({x}, 2)",
    "np.select([{x} > 0.5, {x} > 0.0], [np.sin({x}), {x} ** 2], 0.3)",
    "np.choose(np.arange(np.size({x})).reshape(np.shape({x})) % 2, [{x}, np.cos({x})])",
    "np.searchsorted(np.sort(np.ravel({x})), 0.13) + {x}",
    "np.clip({x}, -0.41, 0.52)",
    "np.einsum('i...,j...->ij', {x}, np.sin({x}))",
    "np.abs(np.fft.fft({x}) + 0.1)",
    "np.fft.irfft(np.fft.rfft({x}) * 1j).real",
    "np.real(np.fft.ifftn(np.fft.fftn({x}) * (1.0 + 0.5j)))",
    "np.angle({x} + 1.5 + 0.5j * np.sin({x}))",
    "np.heaviside({x}, 0.5) * {x}",
    "np.copysign(np.cosh({x}), {x})",
    "np.cumprod(np.cos({x}), axis=-1)",
    "np.var({x}, axis=0, ddof=0)",
    "np.trapezoid({x}, dx=0.5, axis=-1)",
    "np.float32(0.5) * {x} + ({x}.astype(np.float32) > 0.1)",
)

PYTHON = tuple(
    """
total = 0.0
for i in range({n}):
    total = total + np.sin({x}[i]) * (i + 1)
{out} = total * 1.0

if np.sum({x}) > 0.1:
    {out} = np.sin({x})
else:
    {out} = {x} * 0.5

if np.sum({x}) < 0.0:
    {out} = np.cos({x})
elif np.max({x}) > 1.0:
    {out} = {x} * {x} * 0.1
else:
    {out} = {x} + 1.0

s = np.sum({x}) * 0.1
count = 0
while s < 2.0 and count < 20:
    s = s * 1.2 + 0.3
    count += 1
{out} = s * 1.0 + count

{out} = np.zeros(np.shape({x}))
for i in range(1, len({x})):
    {out}[i] = np.tanh({x}[i]) + 0.5 * {out}[i - 1]

acc = 0.0 * np.sum({x})
for r in {x}:
    acc = acc + np.sum(r) ** 2 * 0.1
    if acc > 1.0:
        break
{out} = acc * 1.0

parts = []
for i in range({k}):
    parts.append(np.sin({x}) * i)
{out} = np.array(parts)

{out} = {x} * 1.0
for i in range(len({x}) - 1):
    if np.sum({out}[i]) > np.sum({out}[i + 1]):
        {out}[i] = 0.5 * ({out}[i] + {out}[i + 1])
    else:
        {out}[i + 1] += 0.1 * np.sin({out}[i])

{out} = np.array({x})
for sweep in range(2):
    for i in range(1, len({out})):
        {out}[i] += 0.25 * ({out}[i - 1] - {out}[i])

low = {x}[0]
for i, r in enumerate({x}):
    if i % 2:
        continue
    low = np.minimum(low, r) + 0.05 * i
{out} = low * 1.0

{out} = np.empty({n})
for i in range({n}):
    {out}[i] = np.sum({x}[: i + 1]) * 0.2

{out} = np.sin({x}) if np.mean({x}) > 0.0 else np.cos({x})

{out} = {x} * 1.0
{out}[1:] -= 0.5 * {out}[:-1]
{out}[:-1] = {out}[1:] * 0.5 + 0.1

{out} = {x} * 1.0
flat = {out}.reshape(-1)
flat[::2] += 0.1 * np.sin(flat[::2])
flat[flat > 0.3] *= 0.5

{out} = {x} * 1.0
{out}[0], {out}[-1] = {out}[-1] * 1.0, np.sin({out}[0])
np.add.at({out}, [0, 0, -1], 0.5)

{out} = {x} * 1.0
{out}.T[0] = np.cos({out}.T[-1])
{out}[np.arange(len({out})) % 2 == 0] += 0.25 * np.sum({out})

{out} = {x} * 1.0
turn = 0
while np.sum({out}) < 5.0 and turn < 6:
    {out}[turn % len({out})] += 0.5 + 0.1 * np.sin({out}[turn % len({out})])
    turn += 1

{out} = np.empty_like({x})
np.multiply({x}, 0.5, out={out})
{out}[...] = {out}[::-1] + {x}

table = {{"a": {x} * 0.5, "b": [np.sin({x}), 1.0]}}
table["b"][1] = table["a"] + table["b"][0]
{out} = table["b"][1] * 1.0

pairs = sorted(zip(range(len({x})), {x}), key=lambda pair: -pair[0])
{out} = sum([np.tanh(row) * (k + 1) for k, row in pairs]) * 0.3

first, second = {x} * 1.0, 0.5 * {x}
for _ in range(60):
    first, second = second, 0.9 * np.sin(first) + 0.05
{out} = first + second
""".strip().split("\n\n")
)
"""Python's own loops and branches."""

TO_OTHERS = (
    "{x} > 0.1",
    "np.isfinite({x}) & ({x} < 0.5)",
    "np.argsort({x}, axis=-1, kind='stable')",
    "np.argmax({x})",
    "np.floor({x} * 3.0).astype(int)",
    "np.sign({x}).astype(np.int32)",
    "np.shape({x})[0] + np.arange(4)",
    "{x}.astype(np.float32)",
    "np.float32(0.5) * {x}.astype(np.float32)",
    "{x} * (1.0 + 0.5j)",
    "np.exp(0.5j * {x})",
    "np.fft.fft({x}) * 0.2",
    "{x}.astype(complex)",
)
"""From numbers of double precision to other dtypes."""

BY_KIND = {
    "b": (
        "np.where({x}, 1.5, 0.5)",
        "np.sum({x})",
        "~{x}",
        "{x} * 2.0",
        "np.any({x}, axis=-1)",
        "np.mean({x})",
        "np.cumsum({x})",
        "np.logical_xor({x}, {x}[..., ::-1])",
        "{x} + {x}",
        "{x}.astype(np.float32)",
    ),
    "i": (
        "{x} + 1",
        "{x} // 2",
        "{x} % 3",
        "np.cumsum({x})",
        "{x} * 1.5",
        "np.sin({x} * 0.3)",
        "{x} ** 2",
        "np.sum({x})",
        "np.mean({x})",
        "np.float32(1.5) * {x}",
        "{x} > 1",
        "np.maximum({x}, 1)",
        "{x} / 4",
        "np.minimum({x}, 2).astype(np.int8)",
        "np.sort({x}, axis=-1)",
        "-{x}",
        "{x} & 3",
        "np.array([0.5, 1.0, -0.5])[{x} % 3]",
    ),
    "c": (
        *short.COMPLEX_UNARY,
        *[text.format(x="{x}", axis="-1", keep="False") for text in short.COMPLEX_REDUCTIONS],
        "np.abs({x}) ** 2",
        "({x} * np.conj({x})).real",
        "np.fft.ifft({x})",
        "np.cumsum({x}, axis=-1)",
        "np.linalg.norm({x})",
        "{x}.astype(np.complex64)",
        "np.where({x}.real > 0.0, {x}, 1j * {x})",
        "{x}.T",
        "{x}[..., ::-1]",
    ),
    "f": (*short.UNARY, *short.MOVEMENT),
}
"""Of values that are no double numbers, by the kind of their dtype; `f` is single precision."""

MIXED = {
    "b": ("np.where({x}, {y}, -{y})", "{x} * {y}", "{y} * (1.0 - {x})", "np.sum({y}, where={x})"),
    "i": (
        "{y}[{x} % {m}]",
        "{y} * {x}",
        "np.take({y}, {x} % {m}, axis=0)",
        "{x} - {y}",
        "{y}.flat[{x} % {m}]",
    ),
    "c": ("{x} * {y}", "{y} - {x}", "{x} @ {y}", "np.where({y} > 0.0, {x}, {y})", "({x} + {y}).imag"),
    "f": ("{x} + {y}", "{x} * {y}", "np.maximum({x}, {y})", "np.hypot({x}, 2.0 + {y} ** 2)", "{x} @ {y}"),
}
"""Of one such value and a double number, whose length is `{m}`."""
