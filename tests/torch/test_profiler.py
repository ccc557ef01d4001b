"""Profiles keep the time of what programs name, in the steps that a schedule says."""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path

import pytest

import funcgrad.torch as torch
from funcgrad.torch.profiler import ProfilerAction, ProfilerActivity, profile, record_function, schedule


def test_named_parts_are_timed(tmp_path: Path) -> None:
    @record_function("whole")
    def work() -> int:
        for _ in range(2):
            with record_function("part"):
                time.sleep(0.002)
        return 7

    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as p:
        assert work() == 7
    with record_function("outside"):
        pass
    rows = {row.key: row for row in p.key_averages()}
    assert {key: row.count for key, row in rows.items()} == {"part": 2, "whole": 1}
    assert rows["whole"].cpu_time_total >= rows["part"].cpu_time_total >= 4000.0
    assert rows["part"].cpu_time == rows["part"].cpu_time_total / 2
    table = p.key_averages().table(sort_by="cpu_time_total", row_limit=1).splitlines()
    assert len(table) == 2
    assert table[1].split()[0] == "whole"
    with pytest.raises(AttributeError, match="only the CPU is timed"):
        p.key_averages().table(sort_by="cuda_time_total")
    p.export_chrome_trace(str(tmp_path / "trace.json"))
    trace = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
    assert [event["name"] for event in trace] == ["part", "part", "whole"]


def test_a_schedule_says_which_steps_are_recorded() -> None:
    seen = []

    def ready(p: profile) -> None:
        seen.append([event.name for event in p.events()])

    with profile(schedule=schedule(wait=1, warmup=1, active=2, repeat=2), on_trace_ready=ready) as p:
        for step in range(12):
            with record_function(f"step {step}"):
                pass
            p.step()
    assert seen == [
        [part for k in (2, 3) for part in (f"step {k}", f"ProfilerStep#{k}")],
        [part for k in (6, 7) for part in (f"step {k}", f"ProfilerStep#{k}")],
    ]


def test_traces_are_written_for_tensorboard(tmp_path: Path) -> None:
    with profile(on_trace_ready=torch.profiler.tensorboard_trace_handler(str(tmp_path / "log"))):
        pass
    assert [path.name.endswith(".pt.trace.json") for path in (tmp_path / "log").iterdir()] == [True]


def test_the_older_door() -> None:
    with torch.autograd.profiler.profile(use_cuda=False) as p, torch.autograd.profiler.record_function("a"):
        pass
    assert [event.key for event in p.events()] == ["a"]


@pytest.mark.peers("torch")
@pytest.mark.filterwarnings("ignore:Profiler won't be using warmup")
def test_schedules_are_those_of_pytorch() -> None:
    from torch.profiler import schedule as theirs

    with pytest.warns(UserWarning, match="won't be using warmup"):
        schedule(wait=0, warmup=0, active=1)

    for wait, warmup, active, repeat, skip, first in itertools.product(
        (0, 1, 2), (0, 1), (1, 3), (0, 1, 2), (0, 2), (0, 1)
    ):
        options = {
            "wait": wait,
            "warmup": warmup,
            "active": active,
            "repeat": repeat,
            "skip_first": skip,
            "skip_first_wait": first,
        }
        ours, other = schedule(**options), theirs(**options)
        assert [ours(k).name for k in range(25)] == [other(k).name for k in range(25)], options
    assert [action.name for action in ProfilerAction] == ["NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE"]
