"""Images at other coordinates: given ones, affine maps, other sizes, turned, moved."""

from __future__ import annotations

import itertools

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.ops.arrays.structure import aval, cast, shape_of
from funcgrad.scipy.ndimage.arguments import for_each, image, is_traced, refused, scipys
from funcgrad.scipy.ndimage.splines import prepared, values_at, values_on_grid
from funcgrad.scipy.originals import at_hand
from funcgrad.scipy.reals import as_doubles
from funcgrad.scipy.special import cosdg, sindg
from funcgrad.tracing.lists import asoperand
from funcgrad.types import Array, ArrayLike, AxisLike, Number, ShapeLike

FLOAT = np.dtype(np.float64)


def map_coordinates(
    input: ArrayLike,
    coordinates: ArrayLike,
    output: object = None,
    order: int = 3,
    mode: str = "constant",
    cval: Number = 0.0,
    prefilter: bool = True,
) -> Array:
    """The values of the spline through an image at coordinates; differentiable by both.

    >>> x = np.arange(9.0).reshape(3, 3) ** 2
    >>> at = fg.grad(lambda c: fg.scipy.ndimage.map_coordinates(x, c, order=1)[0])
    >>> print(at(np.array([[0.5], [1.5]])))
    [[18.]
     [ 6.]]
    """
    if not is_traced(input, coordinates):
        return scipys("map_coordinates")(input, coordinates, output, order, mode, cval, prefilter)
    x, dtype = image("map_coordinates", input, output)
    c = asoperand(coordinates)
    if aval(c).dtype.kind == "c":
        raise TypeError("Complex type not supported")
    if len(shape_of(x)) < 1 or len(shape_of(c)) < 2:
        raise RuntimeError("input and output rank must be > 0")
    if shape_of(c)[0] != len(shape_of(x)):
        raise RuntimeError("invalid shape for coordinate array")
    filtered, reach = prepared(x, order, mode, cval, prefilter)
    points = [cast(c[k], FLOAT) + reach for k in range(len(shape_of(x)))]
    return cast(values_at(filtered, points, order, mode, cval), dtype)


def affine_transform(
    input: ArrayLike,
    matrix: ArrayLike,
    offset: ArrayLike = 0.0,
    output_shape: ShapeLike = None,
    output: object = None,
    order: int = 3,
    mode: str = "constant",
    cval: Number = 0.0,
    prefilter: bool = True,
) -> Array:
    """The image whose point p is the spline's at ``matrix @ p + offset``; differentiable by all three.

    >>> x = np.arange(9.0).reshape(3, 3)
    >>> moved = lambda o: fg.scipy.ndimage.affine_transform(x, np.eye(2), o, order=1)[1, 1]
    >>> print(fg.grad(moved)(np.array([0.2, -0.3])))
    [3. 1.]
    """
    if not is_traced(input, matrix, offset):
        given = (offset, output_shape, output, order, mode, cval, prefilter)
        return scipys("affine_transform")(input, matrix, *given)
    x, dtype = image("affine_transform", input, output)
    ndim = len(shape_of(x))
    shape = shape_of(x) if output_shape is None else tuple(int(n) for n in output_shape)
    m = as_doubles(asoperand(matrix), "an affine transformation")
    if len(shape_of(m)) not in (1, 2) or shape_of(m)[0] < 1:
        raise RuntimeError("no proper affine matrix provided")
    if len(shape_of(m)) == 2 and shape_of(m)[1] == ndim + 1 and shape_of(m)[0] in (ndim, ndim + 1):
        below = at_hand(matrix)
        last = None if below is None or shape_of(m)[0] == ndim else np.asarray(below)[ndim]
        if last is not None and not np.array_equal(last, [*[0.0] * ndim, 1.0]):
            raise ValueError("a homogeneous transformation matrix has zeros and a 1 in its last row")
        m, offset = m[:ndim, :ndim], m[:ndim, ndim]
    if shape_of(m)[0] != ndim:
        raise RuntimeError("affine matrix has wrong number of rows")
    if len(shape_of(m)) == 2 and shape_of(m)[1] != len(shape):
        raise RuntimeError("affine matrix has wrong number of columns")
    moved = for_each(asoperand(offset), ndim)
    filtered, reach = prepared(x, order, mode, cval, prefilter)
    if len(shape_of(m)) == 1:
        lines = [m[k] * (np.arange(shape[k]) + moved[k] / m[k]) + reach for k in range(ndim)]
        return cast(values_on_grid(filtered, lines, order, mode, cval), dtype)
    grid = np.meshgrid(*[np.arange(float(n)) for n in shape], indexing="ij")
    points = [sum(m[k, j] * g for j, g in enumerate(grid)) + moved[k] + reach for k in range(ndim)]
    return cast(values_at(filtered, points, order, mode, cval), dtype)


def zoom(
    input: ArrayLike,
    zoom: ArrayLike,
    output: object = None,
    order: int = 3,
    mode: str = "constant",
    cval: Number = 0.0,
    prefilter: bool = True,
    *,
    grid_mode: bool = False,
) -> Array:
    """The image in another size.

    >>> print(fg.jacobian(lambda x: fg.scipy.ndimage.zoom(x, 1.5, order=1))(np.ones(2)))
    [[1.  0. ]
     [0.5 0.5]
     [0.  1. ]]
    """
    if is_traced(zoom):
        raise refused("zoom by a traced factor", "A factor decides sizes; use affine_transform for others.")
    if not is_traced(input):
        return scipys("zoom")(input, zoom, output, order, mode, cval, prefilter, grid_mode=grid_mode)
    x, dtype = image("zoom", input, output)
    sizes = shape_of(x)
    factors = for_each(zoom, len(sizes))
    shape = [round(n * f) for n, f in zip(sizes, factors, strict=True)]
    if all(f == 1 for f in factors) and prefilter:
        return cast(x, dtype)
    filtered, reach = prepared(x, order, mode, cval, prefilter)
    lines = []
    for n, m in zip(sizes, shape, strict=True):
        taken, left = (n, m) if grid_mode else (n - 1, m - 1)
        step = taken / left if left else 1.0
        places = step * (np.arange(m) + 0.5) - 0.5 if grid_mode else step * np.arange(m)
        lines.append(places + reach)
    return cast(values_on_grid(filtered, lines, order, mode, cval), dtype)


def shift(
    input: ArrayLike,
    shift: ArrayLike,
    output: object = None,
    order: int = 3,
    mode: str = "constant",
    cval: Number = 0.0,
    prefilter: bool = True,
) -> Array:
    """The image moved; differentiable by the way.

    >>> x = np.array([0.0, 1.0, 4.0, 9.0])
    >>> print(fg.grad(lambda s: fg.scipy.ndimage.shift(x, s, order=1)[2])(0.5))
    -3.0
    """
    if not is_traced(input, shift):
        return scipys("shift")(input, shift, output, order, mode, cval, prefilter)
    x, dtype = image("shift", input, output)
    moves = for_each(asoperand(shift), len(shape_of(x)))
    filtered, reach = prepared(x, order, mode, cval, prefilter)
    lines = [np.arange(float(n)) - move + reach for n, move in zip(shape_of(x), moves, strict=True)]
    return cast(values_on_grid(filtered, lines, order, mode, cval), dtype)


def rotate(
    input: ArrayLike,
    angle: ArrayLike,
    axes: AxisLike = (1, 0),
    reshape: bool = True,
    output: object = None,
    order: int = 3,
    mode: str = "constant",
    cval: Number = 0.0,
    prefilter: bool = True,
) -> Array:
    """The image turned by an angle in degrees; differentiable by it. With `reshape` it decides the shape.

    >>> x = np.arange(9.0).reshape(3, 3)
    >>> turned = lambda a: fg.scipy.ndimage.rotate(x, a, reshape=False, order=1)[0, 1]
    >>> print(fg.grad(turned)(10.0).round(4))
    0.0263
    """
    if not is_traced(input, angle):
        return scipys("rotate")(input, angle, axes, reshape, output, order, mode, cval, prefilter)
    x, dtype = image("rotate", input, output)
    sizes = shape_of(x)
    if len(sizes) < 2:
        raise ValueError("input array should be at least 2D")
    if len(axes) != 2:
        raise ValueError("axes should contain exactly two values")
    if any(not -len(sizes) <= a < len(sizes) for a in axes):
        raise ValueError("invalid rotation plane specified")
    first, second = sorted(a % len(sizes) for a in axes)
    c, s = cosdg(angle), sindg(angle)
    matrix = fnp.stack([fnp.stack([c, s]), fnp.stack([-s, c])])
    plane = np.array([sizes[first], sizes[second]])
    turned = plane
    if reshape:
        corners = np.array([[0, 0, plane[0], plane[0]], [0, plane[1], 0, plane[1]]])
        turned = np.array([int(extent + 0.5) for extent in fnp.ptp(matrix @ corners, axis=1)])
    offset = (plane - 1) / 2 - matrix @ ((turned - 1) / 2)
    options = (tuple(turned), None, order, mode, cval, prefilter)
    if len(sizes) == 2:
        return cast(affine_transform(x, matrix, offset, *options), dtype)
    others = [a for a in range(len(sizes)) if a not in (first, second)]
    moved = np.moveaxis(x, others, list(range(len(others))))
    planes = [
        affine_transform(moved[index], matrix, offset, *options)
        for index in itertools.product(*[range(sizes[a]) for a in others])
    ]
    stacked = fnp.reshape(fnp.stack(planes), (*[sizes[a] for a in others], *[int(n) for n in turned]))
    return cast(np.moveaxis(stacked, list(range(len(others))), others), dtype)
