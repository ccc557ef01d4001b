"""The benchmarks run, agree and report. Nothing here judges a time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

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
    torch_target, autograd_target, *_ = row["targets"]
    assert torch_target["reached"] is None
    assert (autograd_target["reached"] is None) == ("missing" in autograd)


def test_unknown_workload_is_refused_by_name() -> None:
    refused = benchmarks("--only", "no-such-thing")
    assert refused.returncode != 0
    assert "no workload is called no-such-thing" in refused.stderr
