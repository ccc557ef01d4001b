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
