"""An un-jitted call that records a loop trip by trip says so, once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg


def long_loop(x: Any) -> Any:
    for _ in range(1200):
        x = np.sin(x) * 1.1
    return x


def test_a_long_loop_is_noticed_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FUNCGRAD_NOTICES", "1")
    fg.grad(long_loop)(1.0)
    fg.grad(long_loop)(2.0)
    said = [line for line in capsys.readouterr().err.splitlines() if "long_loop records" in line]
    (line,) = said
    assert line.startswith("funcgrad: grad of long_loop records 2,400 operations of one line at every call; ")
    assert line.endswith("fg.jit(fg.grad(long_loop)) keeps its loops loops")


def test_a_jacobians_notice_names_the_users_function(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def rotations(x: Any) -> Any:
        for _ in range(1200):
            x = np.cos(x) * 1.1
        return x

    monkeypatch.setenv("FUNCGRAD_NOTICES", "1")
    fg.jacfwd(rotations)(1.0)
    assert "jacfwd of rotations records" in capsys.readouterr().err


def test_nothing_is_said_where_notices_are_off(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def another(x: Any) -> Any:
        for _ in range(1200):
            x = np.sin(x) * 1.1
        return x

    monkeypatch.setenv("FUNCGRAD_NOTICES", "0")
    fg.grad(another)(1.0)
    assert "another" not in capsys.readouterr().err
