"""A module in two halves: what stays together, what each is given, and that both find one another."""

import numpy as np

from funcgrad.compile.engines.binary import Binary, pack, unpack
from funcgrad.compile.engines.direct import halves as dividing
from funcgrad.compile.engines.llvm import compile_works
from funcgrad.compile.engines.object_code import Work

from .conftest import run_address

INNER = """define internal void @"inner{k}.{k}"(ptr %a0) noinline #0 {{
entry:
  %x = load double, ptr %a0
  %y = fmul double %x, {k}.0
  br label %for2
for2:
  %z = call double @deepest{k}(double %y)
  br label %end3
end3:
  store double %z, ptr %a0
  ret void
}}
define internal double @deepest{k}(double %a0) noinline #0 {{
entry:
  %z = fadd double %a0, {k}.5
  ret double %z
}}
"""
TEXT = (
    "".join([INNER.format(k=k) for k in (1, 2, 3)])
    + """define void @run(ptr %a0, ptr %a1) noinline optnone #0 {
entry:
  %x = load ptr, ptr %a0
"""
    + "".join([f'  call void @"inner{k}.{k}"(ptr %x)\n' for k in (1, 2, 3)])
    + """  ret void
}
attributes #0 = { nounwind }
"""
)


def names_together(text):
    _, definitions, _ = dividing.sections(text)
    return sorted([sorted([x.name for x in group]) for group in dividing.together(definitions)])


def test_what_is_called_in_a_loop_stays_with_what_calls_it():
    apart = [["deepest1", "inner1.1"], ["deepest2", "inner2.2"], ["deepest3", "inner3.3"], ["run"]]
    assert names_together(TEXT) == apart
    assert names_together(TEXT.replace("noinline optnone", "noinline")) == apart
    looping = TEXT.replace(
        "  %x = load ptr, ptr %a0\n", "  br label %for1\nfor1:\n  %x = load ptr, ptr %a0\n"
    )
    assert names_together(looping) == apart
    assert len(names_together(looping.replace("noinline optnone", "noinline"))) == 1


def test_a_short_module_and_one_that_hangs_together_stay_as_they_are():
    assert dividing.halves(INNER.format(k=1), ["inner1.1"], 5) == ((INNER.format(k=1), ("inner1.1",)),)
    assert dividing.halves(TEXT, ["run"], 400) == ((TEXT, ("run",)),)


def test_halves_that_were_compiled_apart_find_one_another():
    found = dividing.halves(TEXT, ["run"], 5)
    assert len(found) == 2
    assert sum(["@deepest1(double %a0) noinline" in half.text for half in found]) == 1
    assert not any(name.startswith("deepest") for half in found for name in half.exported)
    works = [Work((half.text,), half.exported, True, False) for half in found]
    (code, _), (other, _) = compile_works([(work, None) for work in works])
    binary = Binary(code, ("run",), (), "direct", (other,))
    x = np.ones(1)
    for each in (binary, unpack(pack(binary))):
        loaded = each.load()
        run_address(loaded.addresses["run"], [x], [])
    assert x[0] == ((((1 * 1 + 1.5) * 2 + 2.5) * 3 + 3.5) * 1 + 1.5) * 2 * 3 + 2.5 * 3 + 3.5
