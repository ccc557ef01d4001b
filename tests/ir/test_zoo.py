"""What holds for every Program: it checks, prints, parses, compares, pickles, copies and runs as source."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np

from funcgrad.ir.check import check_program
from funcgrad.ir.program import Program
from funcgrad.ir.text.parsing import parse

Specimen = tuple[Program, tuple[Any, ...]]


def assert_same_results(found: tuple[Any, ...], expected: tuple[Any, ...]) -> None:
    """Equal to the bit, but for the sign of NaN."""
    assert len(found) == len(expected)
    for x, y in zip(found, expected, strict=True):
        assert np.asarray(x).dtype == np.asarray(y).dtype
        np.testing.assert_array_equal(x, y)


def test_is_well_formed(specimen: Specimen) -> None:
    check_program(specimen[0])


def test_text_reads_back(specimen: Specimen) -> None:
    program, _ = specimen
    read = parse(str(program))
    assert read == program
    assert hash(read) == hash(program)
    assert read.text(sources=False) == program.text(sources=False)


def test_text_fits_the_page(specimen: Specimen) -> None:
    assert max(len(line) for line in specimen[0].text(sources=False).splitlines()) <= 100


def test_read_program_computes_the_same(specimen: Specimen) -> None:
    program, args = specimen
    assert_same_results(parse(str(program))(*args), program(*args))


def test_pickle_and_copies_are_equal(specimen: Specimen) -> None:
    program, args = specimen
    for other in (copy.copy(program), copy.deepcopy(program)):
        assert other == program
        assert other.text() == program.text()
    assert_same_results(copy.deepcopy(program)(*args), program(*args))


def test_source_runs_alone(specimen: Specimen) -> None:
    program, args = specimen
    names: dict[str, Any] = {}
    exec(program.to_numpy_source(), names)
    [function] = [names[name] for name in (program.name, f"{program.name}_", "function") if name in names][:1]
    results = function(*args)
    assert_same_results(results if len(program.outputs) != 1 else (results,), program(*args))


def test_source_leaves_arguments_alone_and_shares_no_memory(specimen: Specimen) -> None:
    program, args = specimen
    names: dict[str, Any] = {}
    exec(program.to_numpy_source(), names)
    [function] = [names[name] for name in (program.name, f"{program.name}_", "function") if name in names][:1]
    before = pickle.dumps(args)
    results = function(*args)
    arrays = [x for x in (results if isinstance(results, tuple) else (results,)) if isinstance(x, np.ndarray)]
    assert all(x.flags.writeable for x in arrays)
    assert not any(np.may_share_memory(x, y) for x in arrays for y in args if isinstance(y, np.ndarray))
    for x in arrays:
        x[...] = 0
    assert pickle.dumps(args) == before
