"""Owns how an error looks in IPython and notebooks: the user's frames, the message, how to see the rest.

A FuncgradError renders itself. Other errors that have passed through funcgrad, such as one of the user's own
function or one of PyTorch's words, are shown by a handler that `install` gives to the shell.
"""

from __future__ import annotations

import os
import sys
from types import TracebackType

from funcgrad.config import tracebacks_are_full
from funcgrad.later import Later
from funcgrad.source import is_library_code
from funcgrad.types import Foreign

# Only where a notebook's kernel is not IPython's.
plain = Later("traceback")

_PACKAGE = os.path.dirname(__file__) + os.sep
HINT = "Library frames are hidden; fg.config.tracebacks('full') shows them from the next error on."


def rendered(error: BaseException) -> list[str]:
    """The traceback of an error as IPython shows it, without library frames."""
    shell = running_shell()
    if shell is None:
        shown: list[str] = plain.format_exception(error)
        return shown
    full = tracebacks_are_full()
    kept, hidden = (error.__traceback__, False) if full else divided(error.__traceback__)
    for link in chained(error):
        link.__traceback__ = link.__traceback__ if full else divided(link.__traceback__)[0]
    lines: list[str] = shell.InteractiveTB.structured_traceback(
        type(error), error, kept, tb_offset=1 if full else 0
    )
    return [*lines, HINT] if hidden else lines


def running_shell() -> Foreign:
    """The IPython shell of this process, or None."""
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return get_ipython() if get_ipython is not None else None


def chained(error: BaseException) -> list[BaseException]:
    """The errors that are shown before it: causes, and contexts that are not suppressed."""
    found: list[BaseException] = []
    link: BaseException | None = error
    while link is not None:
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
        if link is None or link is error or any(link is other for other in found):
            break
        found.append(link)
    return found


def divided(traceback: TracebackType | None) -> tuple[TracebackType | None, bool]:
    """The traceback of the user's frames, if there are any, and whether frames of libraries are left out.

    The shell's own frames, at the beginning, count for nothing.
    """
    entries = []
    hidden = False
    entry = traceback
    while entry is not None:
        file = entry.tb_frame.f_code.co_filename
        if not is_library_code(entry.tb_frame.f_code) and not file.startswith(_shell_folder()):
            entries.append(entry)
        elif entries:
            hidden = True
        entry = entry.tb_next
    if not entries:
        return traceback, False
    kept: TracebackType | None = None
    for entry in reversed(entries):
        kept = TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno or -1)
    return kept, hidden


def _shell_folder() -> str:
    file = getattr(sys.modules.get("IPython"), "__file__", None) or "no file"
    return os.path.dirname(file) + os.sep


def concerns(traceback: TracebackType | None) -> bool:
    """Whether an error has passed through funcgrad."""
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename.startswith(_PACKAGE):
            return True
        traceback = traceback.tb_next
    return False


def install() -> None:
    """Show errors that passed through funcgrad without library frames, unless the shell has a handler."""
    shell = running_shell()
    if shell is not None and not shell.custom_exceptions:
        shell.set_custom_exc((Exception, KeyboardInterrupt), show)


def show(
    shell: Foreign,
    kind: type[BaseException],
    error: BaseException,
    traceback: TracebackType | None,
    tb_offset: int | None = None,
) -> None:
    """What the shell calls for an error of a cell."""
    renders_itself = hasattr(error, "_render_traceback_")
    if not renders_itself and not tracebacks_are_full() and concerns(traceback):
        shell._showtraceback(kind, error, rendered(error))
        sys.last_type, sys.last_value, sys.last_traceback = kind, error, traceback
    else:
        shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)
