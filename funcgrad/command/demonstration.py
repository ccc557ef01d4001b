"""``python -m funcgrad`` by itself: what is installed, and one model differentiated, fitted and compiled.

Short enough to be read at once; the longer story is `tour`.
"""

from __future__ import annotations

import inspect

import funcgrad as fg
from funcgrad.command.info import info_text
from funcgrad.command.page import heading
from funcgrad.command.tour import example, loss, show_check, show_data, show_fit, show_times

NEXT = """\
python -m funcgrad tour     the guided run: Programs, kernels, explain, profile, tensors
python -m funcgrad bench    a quick benchmark on this machine, beside the peers that are installed
python -m funcgrad --help   every command"""


def demonstrate() -> None:
    """Print the summary, then what the library does, on real data."""
    print(info_text())
    data, parts, start = example()
    show_data(data, parts)
    heading("The loss: ordinary NumPy")
    print(inspect.getsource(loss).rstrip())
    heading("Its backward Program: print(fg.make_program(fg.grad(loss))(w, X, y))")
    print(fg.make_program(fg.grad(loss))(start, parts.X, parts.y))
    result = show_fit(start, parts)
    heading("The time of a call on this machine")
    show_times(result.x, parts)
    show_check(result.x, parts)
    heading("What to try next")
    print(NEXT)
