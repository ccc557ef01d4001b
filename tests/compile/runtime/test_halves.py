"""A module in two halves: what stays together, what each is given, and that both find one another."""

import numpy as np
import pytest

from funcgrad.compile.engines.binary import Binary, pack, unpack
from funcgrad.compile.engines.direct import halves as dividing
from funcgrad.compile.engines.llvm import compile_works
from funcgrad.compile.engines.object_code import Work

from .conftest import run_address

INNER = """define internal void @"inner{k}.{k}"(ptr %a0) noinline #0 {{
entry:
  %x = load double, ptr %a0
  %y = fmul double %x, {k}.0
  %z = call double @deepest{k}(double %y)
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


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(dividing, "LEAST", 5)


def test_what_is_optimised_in_view_of_one_another_stays_together():
    _, definitions, _ = dividing.sections(TEXT)
    groups = sorted([[x.name for x in group] for group in dividing.together(definitions)])
    assert groups == [["inner1.1", "deepest1"], ["inner2.2", "deepest2"], ["inner3.3", "deepest3"], ["run"]]
    optimised = TEXT.replace("noinline optnone", "noinline")
    assert len(dividing.together(dividing.sections(optimised)[1])) == 1


def test_a_short_module_and_one_that_hangs_together_stay_as_they_are(short, monkeypatch):
    optimised = TEXT.replace("noinline optnone", "noinline")
    assert dividing.halves(optimised, ["run"]) == ((optimised, ("run",)),)
    monkeypatch.setattr(dividing, "LEAST", 400)
    assert dividing.halves(TEXT, ["run"]) == ((TEXT, ("run",)),)


def test_halves_that_were_compiled_apart_find_one_another(short):
    found = dividing.halves(TEXT, ["run"])
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
