"""The benchmarks run, agree and report. Nothing here judges a time."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import funcgrad as fg
from benchmarks.compare import Change
from benchmarks.harness import ContenderError, Fresh, output_of
from benchmarks.model import Contender, Missing, Row, Timing, Workload
from benchmarks.problems import PROBLEMS, problem
from benchmarks.report import cell
from benchmarks.worker import first_line
from benchmarks.workloads import WORKLOADS
from benchmarks.workloads.startup import nothing_to_build
from funcgrad.api.calling.calls import CACHE
from funcgrad.ir.program import Program
from funcgrad.transforms.control.keeping import held_programs

ROOT = Path(__file__).parents[1]


def benchmarks(*arguments: str) -> subprocess.CompletedProcess[str]:
    """``python -m benchmarks`` in a process of its own."""
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_list_names_the_workloads_of_the_targets() -> None:
    listed = benchmarks("--list")
    assert listed.returncode == 0, listed.stderr
    names = [line.split()[0] for line in listed.stdout.splitlines()]
    assert len(names) == len(set(names))
    assert {"import", "recording", "four-operations", "first-four-operations", "chain-1e5"} <= set(names)


def test_quick_run_of_one_workload_reports_times_and_targets() -> None:
    ran = benchmarks("--quick", "--only", "four-operations", "--peers", "autograd", "--json")
    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout)
    assert set(report) >= {"date", "machine", "versions", "revision", "load", "workloads"}
    (row,) = report["workloads"]
    assert row["disagreement"] == ""
    assert row["contenders"]["funcgrad"]["best"] > 0.0
    assert row["contenders"]["torch"] == {"missing": "not asked for", "failed": False}
    autograd = row["contenders"]["autograd"]
    # Timed where it is installed, and named where it is not: never silently absent.
    assert autograd.get("missing") == "not installed" or autograd["ratio_best"] > 0.0
    within, torch_target, autograd_target, *_ = row["targets"]
    assert within["reached"] is not None
    assert torch_target["reached"] is None
    assert (autograd_target["reached"] is None) == ("missing" in autograd)


def test_engines_are_compared_where_both_make_machine_code() -> None:
    command = [sys.executable, "-m", "benchmarks.engines", "jit-scalar", "recording"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    heading, _, row, _, *rest = ran.stdout.splitlines()
    assert heading.startswith("| row | machine code, direct | by Numba | a call, direct |")
    assert row.startswith("| jit-scalar | ")
    assert row.count(" µs ") == 2
    assert all(float(ratio.strip(" |")) > 0.0 for ratio in row.split(" | ")[-2:])
    assert rest[:2] == ["nothing compiled: recording", "failed: no row"]


def test_a_revision_is_compared_with_itself() -> None:
    ran = benchmarks("--quick", "--compare", "HEAD", "--only", "four-operations")
    lines = ran.stdout.splitlines()
    assert lines[0].split() == ["HEAD", "now", "ratio"], ran.stderr
    assert lines[1].startswith("four-operations ")
    assert [line.split(":")[0] for line in lines[2:]] == ["slower beyond noise", "faster beyond noise"]


def test_a_revision_that_git_has_not_is_refused() -> None:
    refused = benchmarks("--compare", "no-such-revision", "--only", "four-operations")
    assert refused.returncode != 0
    assert "git has no revision no-such-revision" in refused.stderr


@pytest.mark.parametrize(
    ("before", "after", "moved"),
    [
        ((1.0, 1.1, 1.2, 1.1, 1.0), (2.0, 2.1, 2.2, 2.0, 2.1), True),
        ((2.0, 2.1, 2.2, 2.0, 2.1), (1.0, 1.1, 1.2, 1.1, 1.0), True),
        ((1.0, 2.0, 3.0, 2.0, 1.5), (1.2, 2.1, 3.1, 2.2, 1.9), False),
        ((1.0, 1.0, 1.0, 1.0, 1.0), (1.02, 1.02, 1.02, 1.02, 1.02), False),
    ],
)
def test_what_moved_is_told_from_noise(
    before: tuple[float, ...], after: tuple[float, ...], moved: bool
) -> None:
    workload = Workload(name="w", title="", contenders=())
    assert Change(workload, Timing(before), Timing(after)).moved == moved


def test_equal_revisions_hardly_ever_seem_to_have_moved() -> None:
    # One in seven did by their middle halves alone.
    workload = Workload(name="w", title="", contenders=())
    times = np.random.default_rng(0).lognormal(0.0, 0.2, (300, 2, 5))
    found = [Change(workload, Timing(tuple(before)), Timing(tuple(after))) for before, after in times]
    assert sum(change.moved for change in found) < 0.03 * len(found)


def test_a_second_measurement_decides_with_the_first() -> None:
    workload = Workload(name="w", title="", contenders=())
    fast, slow = Timing((1.0, 1.1, 1.2, 1.3, 1.4)), Timing((2.0, 2.1, 2.2, 2.3, 2.4))
    slower = Change(workload, fast, slow)
    assert slower.moved
    assert slower.joined(slower).moved
    assert not slower.joined(Change(workload, fast, fast)).moved
    failed = Change(workload, None, None, "failed")
    assert slower.joined(failed).reason == "failed"


@pytest.mark.parametrize(
    "workload", [w for w in WORKLOADS if w.name.startswith("front-")], ids=lambda w: w.name
)
def test_front_ends_are_timed_by_the_equation_and_transform_anew(workload: Workload) -> None:
    call = workload.contenders[0].build(fg, np, workload.inputs(np))
    call()
    misses = CACHE.misses
    seconds, program = call()
    assert CACHE.misses > misses
    assert seconds > 0.0
    assert equations_of(program) == workload.operations


def equations_of(program: Program) -> int:
    """The equations of a Program and of those that it holds."""
    held = [inner for e in program.equations for inner in held_programs(e.primitive)]
    return len(program.equations) + sum(map(equations_of, held))


def test_unknown_workload_is_refused_by_name() -> None:
    refused = benchmarks("--only", "no-such-thing")
    assert refused.returncode != 0
    assert "no workload is called no-such-thing" in refused.stderr


def test_compiled_workloads_judge_the_gradient_by_its_objective() -> None:
    ran = benchmarks("--quick", "--only", "jit-scalar", "--peers", "--json")
    assert ran.returncode == 0, ran.stderr
    (row,) = json.loads(ran.stdout)["workloads"]
    # The objective has no gradient to agree about.
    assert row["disagreement"] == ""
    assert row["contenders"]["funcgrad.objective"]["best"] > 0.0
    peers, objective = row["targets"]
    assert peers["reached"] is None
    assert objective["target"] == "≤ 3.5 of funcgrad.objective"
    assert objective["reached"] is not None


@pytest.mark.parametrize("name", sorted(PROBLEMS))
def test_problems_are_numpy_functions_of_the_arguments_that_come_with_them(name: str) -> None:
    small = {"n": 50} if name in ("black_scholes", "chain30", "logsumexp", "sort", "cumsum") else {}
    objective, args = problem(name, **small)
    assert objective.__name__ == name
    # Walking through time, and factorising, are left to the benchmarks themselves.
    if name not in ("lstm", "recurrence", "van_der_pol", "van_der_pol_array", "gp"):
        assert np.ndim(objective(*args)) == 0


def test_caches_of_first_calls(tmp_path: Path) -> None:
    contender = Contender("funcgrad", "funcgrad", nothing_to_build, cache="CACHE")
    workload = Workload(name="w", title="", contenders=(contender,), measure="first call")
    assert Fresh(workload, 1.0, tmp_path).cache_of(contender) == {}
    empty = Fresh(replace(workload, cache="empty"), 1.0, tmp_path)
    assert empty.cache_of(contender) != empty.cache_of(contender)
    warm = Fresh(replace(workload, cache="warm"), 1.0, tmp_path)
    assert warm.cache_of(contender) == warm.cache_of(contender)
    assert Path(warm.cache_of(contender)["CACHE"]).is_dir()


def test_new_process_that_does_not_answer_is_given_up() -> None:
    with pytest.raises(ContenderError, match="no answer after 0 s"):
        output_of(("-c", "import time; time.sleep(60)"), 0.3, {})


def test_what_a_library_does_not_support_is_told_from_a_failure() -> None:
    class UnsupportedFunctionError(Exception):
        """By its name."""

    entry = Missing(first_line(UnsupportedFunctionError("np.f\nsecond line")), failed=True)
    assert entry.reason == "unsupported: UnsupportedFunctionError: np.f"
    workload = Workload(name="w", title="", contenders=())
    row = Row(workload, {"funcgrad": entry, "torch": Missing("ValueError", failed=True)})
    assert [cell(row, name, "best") for name in ("funcgrad", "torch", "jax")] == [
        "unsupported",
        "failed",
        "–",
    ]
