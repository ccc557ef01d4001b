"""The suite's own promises: peers skip by name, seeds are fixed, profiles are derandomised."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings


def test_missing_peer_is_skipped_by_name(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(Path(__file__).with_name("conftest.py").read_text(encoding="utf-8"))
    pytester.makeini("[pytest]\nmarkers =\n    peers(*names): as in pyproject.toml\n")
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.peers("no_such_peer")
        def test_by_marker():
            raise AssertionError("must not run")

        @pytest.mark.peers
        def test_by_import():
            pytest.importorskip("no_such_peer")

        @pytest.mark.peers("math")
        def test_present():
            pass
        """
    )
    result = pytester.runpytest("-rs", "--strict-markers")
    result.assert_outcomes(passed=1, skipped=2)
    result.stdout.fnmatch_lines_random(
        ["*peer no_such_peer is not installed", "*could not import 'no_such_peer'*"]
    )


@pytest.mark.parametrize("turn", [0, 1])
def test_global_generators_start_alike(turn: int) -> None:
    assert random.random() == random.Random(0).random()
    assert np.random.random() == np.random.RandomState(0).random()  # noqa: NPY002 - the global one is tested


def test_generator_is_the_same_in_every_run(rng: np.random.Generator) -> None:
    assert rng.integers(1_000_000) == 493155


def test_hypothesis_is_derandomised() -> None:
    assert settings.default is not None
    assert settings.default.derandomize
    assert settings.default.deadline is None
