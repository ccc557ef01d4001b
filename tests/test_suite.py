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


def test_each_case_is_the_suites_or_left_to_ci(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(Path(__file__).with_name("conftest.py").read_text(encoding="utf-8"))
    pytester.makeini(
        "[pytest]\ntestpaths = .\nmarkers =\n    peers(*names): peers\n    at_length: as named\n"
    )
    path = pytester.makepyfile(
        """
        import pytest

        @pytest.mark.at_length
        @pytest.mark.parametrize("case", range(40))
        def test_long(case):
            pass

        @pytest.mark.peers("math")
        @pytest.mark.parametrize("case", range(20))
        def test_beside_a_peer(case):
            pass

        @pytest.mark.at_length
        def test_one():
            pass

        @pytest.mark.parametrize("case", range(10))
        def test_short(case):
            pass
        """
    )
    passed = []
    for arguments in ([], ["--cases", "rest"], [str(path)], ["-m", "peers"]):
        result = pytester.runpytest("-v", *arguments)
        passed.append({line.split(" ")[0] for line in result.outlines if " PASSED" in line})
    share, rest, named, peers = passed
    assert not share & rest
    assert share | rest == named
    assert len(named) == 71
    assert len(peers) == 20
    assert sum("test_short" in name or "test_one" in name for name in share) == 11
    assert 4 <= sum("test_long" in name for name in share) <= 20
    assert any("test_beside_a_peer" in name for name in share)


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
