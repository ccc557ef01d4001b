"""How many processors and threads there are: the affinity, the control group's quota, the environment."""

from __future__ import annotations

import os

from funcgrad import processors
from funcgrad.processors import available_processors, configured_threads


def test_the_environment_sets_the_number(monkeypatch):
    monkeypatch.setenv("FUNCGRAD_NUM_THREADS", "3")
    assert configured_threads() == 3
    for text in ("", "0", "many"):
        monkeypatch.setenv("FUNCGRAD_NUM_THREADS", text)
        assert configured_threads() == available_processors()


def test_processors_are_those_of_the_affinity_and_the_quota(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(16)), raising=False)
    monkeypatch.setattr(processors, "_group_folders", lambda: [tmp_path])
    assert available_processors() <= 16
    (tmp_path / "cpu.max").write_text("max 100000\n")
    unlimited = available_processors()
    (tmp_path / "cpu.max").write_text("250000 100000\n")
    assert available_processors() == min(3, unlimited)
    (tmp_path / "cpu.max").write_text("50000 100000\n")
    assert available_processors() == 1
