"""The intermediate representation: avals, Programs, their check and their fingerprint.

`program` is data. Above it, `text` prints, reads and writes NumPy, and `evaluate` runs; they are handed to
the methods of Programs here, so that the data imports neither. What compares and prints is imported when a
Program is compared or printed.
"""

from funcgrad.ir.evaluate.runner import Runner, checked_inputs
from funcgrad.ir.program import METHODS, Program
from funcgrad.later import Later as _Later

_fingerprint = _Later("funcgrad.ir.fingerprint")
_numpy_source = _Later("funcgrad.ir.text.numpy_source")
_printing = _Later("funcgrad.ir.text.printing")
_source_text = _Later("funcgrad.ir.text.source_text")


def _same(one: Program, other: Program) -> bool:
    found: bool = _fingerprint.same_program(one, other)
    return found


def _hash(program: Program) -> int:
    found: int = _fingerprint.program_hash(program)
    return found


def _text(program: Program, *, sources: bool = True) -> str:
    found: str = _printing.program_text(program, sources=sources)
    return found


def _source(program: Program) -> str:
    found: str = _source_text.SourceText(_numpy_source.numpy_source(program))
    return found


METHODS.same = _same
METHODS.hash = _hash
METHODS.text = _text
METHODS.checked_inputs = checked_inputs
METHODS.runner = Runner
METHODS.numpy_source = _source
