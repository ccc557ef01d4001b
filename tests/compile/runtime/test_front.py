"""Compiled kernels do what Python does with the same source."""

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from funcgrad.compile.engines.build import NUMBERS, assembly, build
from funcgrad.compile.engines.direct.translate import translate
from funcgrad.compile.language.external import External, Overload
from funcgrad.compile.language.rows import WORDS
from funcgrad.compile.language.values import Unsupported

N = 11

ELEMENTWISE = {
    "arithmetic": "x[i] * 2.0 + y[i] / (x[i] - 0.3) - -y[i]",
    "floor_division": "x[i] // y[i]",
    "remainder": "x[i] % y[i]",
    "power": "x[i] ** 3 + y[i] ** -2 + x[i] ** 0",
    "general_power": "abs(x[i]) ** y[i]",
    "comparison": "1.0 if x[i] < y[i] else 2.0",
    "chained_comparison": "1.0 if -1.0 < x[i] <= y[i] else 2.0",
    "bool_operation": "1.0 if x[i] < y[i] and not (y[i] > 0.0 or x[i] == 1.0) else 2.0",
    "guarded_load": "x[i - 5] if i >= 5 and x[i - 5] > 0.0 else y[i]",
    "integer_cast": "float(int(x[i] * 10.0) // 3)",
    "integers": "float((i * 7 - 20) // 3 + (i - 4) % 5 + (i << 2) - (i >> 1) + (i & 5) ^ (i | 2))",
    "negative_divisors": "float((i - 4) // -3 * 100 + (i - 4) % -3)",
    "division_of_integers": "(i - 4) / 3",
    "elementary": "math.sqrt(abs(x[i])) + math.exp(x[i]) * math.sin(y[i]) + math.tanh(x[i])",
    "numpy_functions": "np.floor(x[i]) + np.arctan2(y[i], x[i]) + np.rint(y[i]) + np.cbrt(x[i])",
    "extremes": "min(x[i], y[i]) + max(x[i], y[i], 0.25) + float(min(i, 3))",
    "numpy_extremes": "np.minimum(x[i], y[i]) - np.maximum(x[i], 0.5)",
    "classification": "1.0 if np.isfinite(x[i]) else 2.0 if np.isnan(x[i]) else 3.0",
    "sized_integers": "float(np.int8(i * 10)) + float(np.uint8(i * 20)) + float(np.int32(i) * 3)",
    "single_precision": "float(np.float32(x[i]) * np.float32(1.1))",
    "complex_numbers": "(complex(x[i], y[i]) * complex(1.0, 2.0) / complex(y[i], 0.5)).imag",
    "complex_parts": "abs(complex(x[i], y[i])) + complex(x[i], y[i]).conjugate().imag",
}


def elementwise(expression: str) -> str:
    return f"""
def run(p, n):
    x = as_f64(p[0])
    y = as_f64(p[1])
    z = as_f64(p[2])
    for i in range(n[0]):
        z[i] = {expression}
"""


CONTROL = {
    "while_loop": """
def run(p, n):
    z = as_f64(p[0])
    total = 0.0
    k = n[0]
    while k > 0 and total < 20.0:
        k -= 2
        if k == 5:
            continue
        if k < -3:
            break
        total += k
    z[0] = total
    z[1] = k
""",
    "ranges": """
def run(p, n):
    z = as_f64(p[0])
    total = 0
    for i in range(n[0], -3, -2):
        total = total * 3 + i
    for i in range(2, n[0], 3):
        total = total * 3 + i
    step = n[1]
    for i in range(0, n[0], step):
        total = total * 3 + i
    for i in range(n[0], 0, -step):
        total = total * 3 + i
    z[0] = total
    z[1] = i
""",
    "widened_variable": """
def run(p, n):
    z = as_f64(p[0])
    best = 0
    for i in range(n[0]):
        if i > 3:
            best = best + 0.5
    z[0] = best
""",
    "helpers": """
def scaled(x, factor):
    if factor > 2:
        return x * factor
    return x

def turned(c):
    return c * complex(0.0, 1.0)

def fill(z, start, value):
    for i in range(start, start + 2):
        z[i] = value

def run(p, n):
    z = as_f64(p[0])
    z[0] = scaled(1.5, n[0])
    z[1] = scaled(2, n[1])
    z[2] = turned(complex(1.0, 2.0)).real
    fill(z, 3, 7.0)
    fill(shifted(z, 2), 3, 8.0)
""",
    "nested_branches": """
def run(p, n):
    z = as_f64(p[0])
    for i in range(n[0]):
        for j in range(i):
            if i % 2 == 0:
                if j % 2:
                    z[i] += 1.0
                elif j == 4:
                    z[i] += 10.0
                else:
                    z[i] -= 2.0
            else:
                z[i] = z[i] + z[j]
""",
    "stack_memory": """
def run(p, n):
    z = as_f64(p[0])
    recent = stack_f64(4)
    flags = stack_bool(4)
    for i in range(4):
        recent[i] = i
        flags[i] = i > 1
    for i in range(n[0]):
        recent[i % 4] = recent[(i + 1) % 4] + (2.0 if flags[i % 4] else 0.5)
        z[i] = recent[i % 4]
""",
    "tuple_assignment": """
def run(p, n):
    z = as_f64(p[0])
    a, b = 0.0, 1.0
    for i in range(n[0]):
        a, b = b, a + b
        z[i] = a
""",
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_an_expression_has_the_value_python_gives_it(run_kernel, rng, name):
    x = rng.normal(size=N) * 3
    y = rng.normal(size=N) * 3
    if name == "classification":
        x[:3] = np.nan, np.inf, -np.inf
    if name in ("floor_division", "remainder"):
        x[:4], y[:4] = (0.0, -0.0, 7.0, -7.0), (2.0, 2.0, -2.0, 2.0)
    source = elementwise(ELEMENTWISE[name])
    expected = run_kernel(source, [x, y, np.zeros(N)], [N], by="python")
    found = run_kernel(source, [x, y, np.zeros(N)], [N])
    np.testing.assert_allclose(found[2], expected[2], rtol=1e-13)


@pytest.mark.parametrize("name", CONTROL)
def test_control_flow_goes_where_python_goes(run_kernel, name):
    expected = run_kernel(CONTROL[name], [np.ones(N)], [N, 3], by="python")
    found = run_kernel(CONTROL[name], [np.ones(N)], [N, 3])
    np.testing.assert_array_equal(found[0], expected[0])


ALL_STORAGES = [
    "f16", "f32", "f64", "c64", "c128", "bool",
    *(f"{sign}{bits}" for sign in "iu" for bits in (8, 16, 32, 64)),
]  # fmt: skip
DTYPES = dict(
    zip(ALL_STORAGES, ["float16", "float32", "float64", "complex64", "complex128", "bool"], strict=False)
) | {
    f"{sign}{bits}": f"{name}{bits}"
    for sign, name in (("i", "int"), ("u", "uint"))
    for bits in (8, 16, 32, 64)
}


def test_elements_of_every_dtype_are_loaded_and_stored(run_kernel, rng):
    lines = ["def run(p, n):"]
    buffers = []
    for k, storage in enumerate(ALL_STORAGES):
        lines += [f"    a{k} = as_{storage}(p[{2 * k}])", f"    b{k} = as_{storage}(p[{2 * k + 1}])"]
        lines += ["    for i in range(n[0]):", f"        b{k}[n[0] - 1 - i] = a{k}[i]"]
        values = (rng.normal(size=N) * 100 + 1j * rng.normal(size=N)).astype(np.complex128)
        dtype = np.dtype(DTYPES[storage])
        values = values if dtype.kind == "c" else np.abs(values) if dtype.kind == "u" else values.real
        buffers += [(values > 0 if dtype.kind == "b" else values).astype(dtype), np.zeros(N, dtype)]
    found = run_kernel("\n".join(lines), buffers, [N])
    for k, storage in enumerate(ALL_STORAGES):
        np.testing.assert_array_equal(found[2 * k + 1], buffers[2 * k][::-1], err_msg=storage)


def test_numbers_convert_as_they_are_stored(run_kernel):
    source = """
def run(p, n):
    x = as_f64(p[0])
    small = as_i8(p[1])
    unsigned = as_u16(p[2])
    half = as_f16(p[3])
    pair = as_c64(p[4])
    for i in range(n[0]):
        small[i] = int(x[i])
        unsigned[i] = int(x[i])
        half[i] = x[i]
        pair[i] = x[i]
"""
    x = np.array([0.0, 1.9, -1.9, 100.2, 3.14159])
    buffers = [
        x,
        np.zeros(5, np.int8),
        np.zeros(5, np.uint16),
        np.zeros(5, np.float16),
        np.zeros(5, np.complex64),
    ]
    _, small, unsigned, half, pair = run_kernel(source, buffers, [5])
    np.testing.assert_array_equal(small, [0, 1, -1, 100, 3])
    np.testing.assert_array_equal(unsigned, [0, 1, 65535, 100, 3])
    np.testing.assert_array_equal(half, x.astype(np.float32).astype(np.float16))
    np.testing.assert_array_equal(pair, x.astype(np.complex64))


def test_integer_division_by_zero_is_zero_and_never_traps(run_kernel):
    source = """
def run(p, n):
    a = as_i64(p[0])
    b = as_i64(p[1])
    q = as_i64(p[2])
    for i in range(n[0]):
        q[i] = a[i] // b[i]
"""
    a, b = np.array([5, 0, -5, 7, -7]), np.array([0, 0, 0, -2, 2])
    found = run_kernel(source, [a, b, np.ones(5, np.int64)], [5])
    np.testing.assert_array_equal(found[2], [0, 0, 0, -4, -4])


def test_the_smallest_integer_over_minus_one_wraps(run_kernel):
    source = """
def run(p, n):
    a = as_i64(p[0])
    a[0] = a[0] // n[0]
    a[1] = a[1] % n[0]
"""
    smallest = -(2**63)
    (found,) = run_kernel(source, [np.array([smallest, smallest])], [-1])
    assert found.tolist() == [smallest, 0]


def test_integers_wrap_around_as_numpys_do(run_kernel):
    source = """
def run(p, n):
    x = as_i64(p[0])
    y = as_i64(p[1])
    z = as_i32(p[2])
    for i in range(n[0]):
        y[i] = x[i] * x[i] + x[i] - (x[i] + 1 > x[i])
        z[i] = int32(x[i]) * 3
"""
    x = np.array([2**62 + 1, 2**63 - 1, -(2**63), 3_000_000_000, 5])
    with np.errstate(over="ignore"):
        expected = x * x + x - (x + 1 > x)
        narrow = x.astype(np.int32) * np.int32(3)
    _, wide, small = run_kernel(source, [x, np.zeros(5, np.int64), np.zeros(5, np.int32)], [5])
    np.testing.assert_array_equal(wide, expected)
    np.testing.assert_array_equal(small, narrow)


def test_counts_of_bits_beyond_the_word_shift_everything_out(run_kernel):
    source = """
def run(p, n):
    x = as_i64(p[0])
    k = as_i64(p[1])
    left = as_i64(p[2])
    right = as_i64(p[3])
    unsigned = as_u64(p[4])
    for i in range(n[0]):
        left[i] = x[i] << k[i]
        right[i] = x[i] >> k[i]
        unsigned[i] = uint64(x[i]) >> uint64(k[i])
"""
    x = np.array([5, -5, 5, -5, 5, -5, 1])
    k = np.array([1, 1, 63, 63, 64, 64, 1000])
    empty = np.zeros(7, np.int64)
    found = run_kernel(source, [x, k, empty, empty, empty.astype(np.uint64)], [7])
    np.testing.assert_array_equal(found[2], np.left_shift(x, k))
    np.testing.assert_array_equal(found[3], np.right_shift(x, k))
    np.testing.assert_array_equal(found[4], np.right_shift(x.astype(np.uint64), k.astype(np.uint64)))


LEAVES = {
    "f": ("x[i]", "y[i]", "0.5", "3.0", "-2.0", "float(j)"),
    "i": ("i", "j", "2", "-3", "n[1]", "k[i]"),
    "b": ("x[i] < y[i]", "i > j", "k[i] == 2", "True"),
}
NUMBERS_OF = ("({0} + {0})", "({0} - {0})", "({0} * {0})", "({0} if {b} else {0})", "(-{0})", "abs({0})")
FORMS = {
    "f": (*NUMBERS_OF, "min({0}, {0})", "max({0}, {0})", "float({i})", "math.sqrt(abs({f}))"),
    "i": (*NUMBERS_OF, "({i} // 3)", "({i} // -2)", "({i} % 7)", "({i} % -2)", "({i} & {i})", "({i} | {i})"),
    "b": ("({f} < {f})", "({f} != {f})", "({i} >= {i})", "({b} and {b})", "({b} or {b})", "(not {b})"),
}


@st.composite
def expressions(draw, kind="f", depth=3):
    """Source of a float, an integer or a truth value, that Python and NumPy's scalars can work out."""
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        return draw(st.sampled_from(LEAVES[kind]))
    form = draw(st.sampled_from(FORMS[kind])).replace("{0}", f"{{{kind}}}")
    return re.sub(r"{(\w)}", lambda found: draw(expressions(found[1], depth - 1)), form)


RANDOM = """
def run(p, n):
    x = as_f64(p[0])
    y = as_f64(p[1])
    k = as_i64(p[2])
    z = as_f64(p[3])
    for i in range(n[0]):
        total = 0.0
        for j in range(n[1]):
            if {}:
                total = total * 0.5 + {}
            else:
                total = total - {}
        z[i] = total
"""


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(parts=st.tuples(expressions("b"), expressions("f"), expressions("i")))
def test_random_kernels_do_what_python_does(run_kernel, parts):
    source = RANDOM.format(*parts)
    x, y = np.array([0.5, -1.5, 2.0, 0.0]), np.array([1.5, -1.5, -0.25, 3.0])
    buffers = [x, y, np.array([2, -1, 5, 0]), np.zeros(4)]
    expected = run_kernel(source, buffers, [4, 3], by="python")
    found = run_kernel(source, buffers, [4, 3])
    np.testing.assert_allclose(found[3], expected[3], rtol=1e-12, atol=1e-12)


MEMBERSHIP = """
def run(p, n):
    y = as_f64(p[0])
    for i in range(n[0]):
        if i in (1, n[1], 7):
            y[i] = 1.0
        elif i not in (2, 4):
            y[i] = 2.0
"""


def test_membership_of_a_tuple(run_kernel):
    (expected,) = run_kernel(MEMBERSHIP, [np.zeros(N)], [N, 3], by="python")
    (found,) = run_kernel(MEMBERSHIP, [np.zeros(N)], [N, 3])
    np.testing.assert_array_equal(found, expected)


def many_pointers(count: int) -> str:
    lines = ["def run(p, n):", *(f"    x{k} = as_f64(p[{k}])" for k in range(count))]
    lines += ["    for i in range(n[0]):"]
    lines += [f"        x{k + 1}[i] = x{k}[i] * 2.0 + x0[i]" for k in range(count - 1)]
    return "\n".join(lines)


def test_a_loop_over_twelve_buffers_needs_no_overlap_checks():
    text = assembly(many_pointers(12), ["run"])
    if "mulpd" not in text and "fmadd" not in text:
        pytest.skip("not x86-64")
    # Overlap checks would compare every pair of buffers before the loop: some sixty conditional jumps.
    assert text.count("pd\t") > 20
    assert sum(line.strip().startswith(("jae", "ja\t", "jb", "jbe")) for line in text.splitlines()) < 10


def test_views_in_one_scope_may_overlap(run_kernel):
    source = """
def run(p, n):
    x = as_f64(p[0], 7)
    y = as_f64(p[1], 7)
    z = as_f64(p[2])
    z[0] = x[0]
    y[0] = 1.0
"""
    text = translate(source, ["run"], frozenset(), NUMBERS)
    assert text.count('!"buffer ') == 2
    assert text.count("!alias.scope") == 3


APART = """
def copied(x, y, z):
    x[0] = y[0] + z[0]


def run(p, n):
    a, b, c = as_f64(p[0]), as_f64(p[1]), as_f64(p[2])
    copied(a, b, c)
    x, y = as_f64(p[3]), as_f64(p[4])
    x[0] = y[0]
"""


@pytest.mark.parametrize(("inlining", "others"), [("noinline", [1, 1, 2, 2, 2]), ("alwaysinline", [4] * 5)])
def test_a_function_that_is_called_keeps_apart_its_own_memory_alone(inlining, others):
    # LLVM goes through all of them at every comparison of two accesses.
    text = translate(APART, ["run"], frozenset(), NUMBERS, inlining=inlining)
    lists = dict(re.findall(r"^(!\d+) = !\{(.*)\}$", text, re.MULTILINE))
    found = [lists[number].split(", ") for number in re.findall(r"!noalias (!\d+)", text)]
    assert sorted(map(len, found)) == others
    assert all('"buffer ' in lists[scope] for scopes in found for scope in scopes)


EXCHANGED = """
def turned(other, x, y):
    other[0] = x[0]
    return y, x


def run(p, n):
    x, y, z = as_f64(p[0], 7), as_f64(p[1], 7), as_f64(p[2])
    a, b = turned(z, x, y)
    a[0] = 1.0
    z[0] = b[0]
"""


@pytest.mark.parametrize("inlining", ["noinline", "alwaysinline"])
def test_memory_that_a_function_returns_is_in_the_scope_in_which_it_was_given(inlining):
    text = translate(EXCHANGED, ["run"], frozenset(), NUMBERS, inlining=inlining)
    names = dict(re.findall(r'^(!\d+) = !\{!"(buffer \d+)", !1\}$', text, re.MULTILINE))
    lists = {k: names[v] for k, v in re.findall(r"^(!\d+) = !\{(!\d+)\}$", text, re.MULTILINE) if v in names}
    body = text[text.index("@run(") :].split("\n}")[0]
    into_a, from_b, into_z = [lists[k] for k in re.findall(r"!alias.scope (!\d+)", body)]
    assert into_a == from_b != into_z


REUSED = """
def moved(x, y, z):
    z[0] = x[0]
    y[0] = 1.0


def run(p, n):
    x, y, z, other = as_f64(p[0], 0, 3, 4), as_f64(p[1], 1, 5, 9), as_f64(p[2], 2, 4, 5), as_f64(p[3])
    other[0] = 0.0
    moved(x, y, z)
"""


@pytest.mark.parametrize("inlining", ["noinline", "alwaysinline"])
def test_memory_that_is_used_at_other_times_may_be_the_same(inlining):
    # Else what is written to y may come before x is read, which may lie there.
    text = translate(REUSED, ["run"], frozenset(), NUMBERS, inlining=inlining)
    found = re.findall(r"^(!\d+) = !\{((?:!\d+, )*!\d+)\}$", text, re.MULTILINE)
    lists = {number: set(scopes.split(", ")) for number, scopes in found}
    body = text[text.index('@"moved') :].split("\n}")[0]
    accesses = re.findall(r"!alias.scope (!\d+), !noalias (!\d+)", body)
    (of_x, apart_x), (of_z, apart_z), (of_y, apart_y) = [(lists[k], lists[m]) for k, m in accesses]
    assert of_z <= apart_x
    assert of_z <= apart_y
    assert of_x | of_y <= apart_z
    assert not of_y & apart_x
    assert not of_x & apart_y


SHORT_LOOPS = """
def run(p, n):
    x, y = as_f64(p[0]), as_f64(p[1])
    for i in range(4):
        for j in range(4):
            for k in range(4):
                x[i * 4 + k] = x[i * 4 + k] + y[i * 4 + j] * y[j * 4 + k]
"""


def test_short_loops_around_short_loops_are_not_made_vectors_of_elements_that_lie_apart():
    # The innermost is unrolled before; turns of the next would be vectors by gather and scatter.
    text = translate(SHORT_LOOPS, ["run"], frozenset(), NUMBERS)
    assert len(re.findall(r"^!\d+ = distinct !\{.*!4\}$", text, re.MULTILINE)) == 2


def test_the_flags_of_a_function_are_on_its_arithmetic_alone():
    text = translate(elementwise("x[i] + y[i]"), ["run"], frozenset({"contract"}), NUMBERS)
    assert "fadd contract" in text
    assert "nnan" not in text
    assert "ninf" not in text


SQUARE = """
define linkonce_odr double @test_square(double %x) alwaysinline {
  %y = fmul double %x, %x
  ret double %y
}
"""
SQUARED = External("squared", (Overload("test_square", ("f64",), "f64"),))


def test_functions_of_other_modules_are_inlined():
    binary = build(
        elementwise("squared(x[i]) + squared(2)"), ["run"], namespace={"squared": SQUARED}, modules=[SQUARE]
    )
    assert binary.needs == ()


REFUSED = {
    "a try statement": "    try:\n        x[0] = 1.0\n    finally:\n        x[1] = 1.0",
    "an unknown name": "    x[0] = missing",
    "a list": "    x[0] = [1.0][0]",
    "an attribute": "    x[0] = x.size",
    "a float index": "    x[0.5] = 1.0",
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_outside_the_subset_is_refused(what):
    with pytest.raises(Unsupported):
        translate(f"def run(p, n):\n    x = as_f64(p[0])\n{REFUSED[what]}\n", ["run"], frozenset(), NUMBERS)


def test_several_functions_come_in_one_binary(load):
    source = """
def run(p, n):
    x = as_f64(p[0])
    x[0] = 1.0

def stage(p, n, begin, end):
    x = as_f64(p[0])
    for i in range(begin, end):
        x[i] = i
"""
    assert set(load(source, "run", "stage")) == {"run", "stage"}


STRONG_ZEROS = """
def run(p, n):
    x = as_f64(p[0])
    y = as_f64(p[1])
    z = as_f64(p[2])
    for i in range(n[0]):
        t = x[i]
        negative = -t
        z[3 * i] = select(t == 0, t, t * y[i])
        z[3 * i + 1] = select(negative == 0, negative, negative * y[i])
        z[3 * i + 2] = select(x[i] == 0, x[i], x[i] * y[i])
"""


def test_products_that_a_zero_makes_zero_ask_for_it_by_comparisons_of_their_own(run_kernel):
    (ir,) = [translate(STRONG_ZEROS, ["run"], frozenset(), {**NUMBERS, **WORDS})]
    assert [ir.count(f"fcmp {predicate}") for predicate in ("oeq", "ueq")] == [2, 1]
    x, y = (
        each.ravel().copy() for each in np.meshgrid([0.0, -0.0, 2.0, np.nan, np.inf], [3.0, np.inf, np.nan])
    )
    found = run_kernel(STRONG_ZEROS, [x, y, np.zeros(45)], [15])[2].reshape(15, 3)
    with np.errstate(invalid="ignore"):
        expected = np.where(x == 0, x, x * y)
        np.testing.assert_array_equal(found, np.stack([expected, np.where(x == 0, -x, -x * y), expected], 1))
    np.testing.assert_array_equal(np.signbit(found[x == 0, 0]), np.signbit(x[x == 0]))
