"""The intermediate representation: avals, Programs, their check and their fingerprint.

`program` is data. Above it, `text` prints, reads and writes NumPy, and `evaluate` runs; they are handed to
the methods of Programs here, so that the data imports neither.
"""

from funcgrad.ir.evaluate.runner import Runner, checked_inputs
from funcgrad.ir.fingerprint import program_hash, same_program
from funcgrad.ir.program import METHODS
from funcgrad.ir.text.numpy_source import numpy_source
from funcgrad.ir.text.printing import program_text
from funcgrad.ir.text.source_text import SourceText

METHODS.same = same_program
METHODS.hash = program_hash
METHODS.text = program_text
METHODS.checked_inputs = checked_inputs
METHODS.runner = Runner
METHODS.numpy_source = lambda program: SourceText(numpy_source(program))
