"""The syntax tree of source, the user's and that of kernels, from any number of threads.

Until 3.11.9 and 3.12.3 CPython counted the depth of all threads' trees in one place, and raised SystemError
when one went on in the middle of another's. We take turns, and try again where somebody else did not.
"""

from __future__ import annotations

import ast
import threading

from funcgrad.shared import keep_through_forks

_TURN = threading.Lock()
keep_through_forks(_TURN)
_MOST_TRIES = 20


def parsed(source: str, file: str = "<unknown>") -> ast.Module:
    """The syntax tree of a module. Raises SyntaxError where the source is none.

    >>> [type(node).__name__ for node in parsed("x = 1").body]
    ['Assign']
    """
    with _TURN:
        for _ in range(_MOST_TRIES):
            try:
                return ast.parse(source, file)
            except SystemError as error:
                if "recursion depth" not in str(error):
                    raise
        return ast.parse(source, file)
