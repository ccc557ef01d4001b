"""Owns the user's line: finding it, keeping it cheaply, and showing it with a caret.

Answers three questions. Which frame of the running stack is the user's (`user_location`)? What does that
place look like in text (`Source`)? Which frames of a traceback are ours to hide (`strip_library_frames`)?
Knows nothing about tracing, and words no error message.
"""

from __future__ import annotations

import linecache
import opcode
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable
from sys import _getframe
from types import CodeType, FrameType, TracebackType
from typing import Any, NamedTuple, TypeVar

from funcgrad.config import WHEN_PACKAGES_CHANGE, packages_taken_in, tracebacks_are_full

T = TypeVar("T")


class _Place(NamedTuple):
    """A location as plain strings and integers; columns count UTF-8 bytes from zero, as in `ast`."""

    file: str
    label: str
    line: int
    end_line: int
    column: int | None
    end_column: int | None
    function: str


class Source:
    """The user's line: made from a code object and an instruction offset, resolved to text when asked.

    Making one costs two references, so every recorded operation can afford it. Copies and pickles hold
    strings and integers only. Two sources are equal when file, line, column and function are.

    >>> def loss(err):
    ...     return Source(*user_location())
    >>> print(loss(0.5).caret())
      <doctest funcgrad.source.Source[0]>:2 in loss
        return Source(*user_location())
                       ^^^^^^^^^^^^^^^
    """

    __slots__ = ("_code", "_lasti", "_lines", "_place", "backward")

    _code: CodeType
    _lasti: int
    _lines: tuple[str, ...] | None
    _place: _Place | None
    backward: bool
    """Whether reverse mode computes here what belongs to this line, rather than the line itself."""

    def __init__(self, code: CodeType, lasti: int, backward: bool = False) -> None:
        self._code = code
        self._lasti = lasti
        self.backward = backward
        self._lines = None
        self._place = None

    @property
    def file(self) -> str:
        """The file as Python names it: a path, or something like ``<string>``."""
        return self._resolved().file

    @property
    def line(self) -> int:
        """The expression's first line, from one."""
        return self._resolved().line

    @property
    def end_line(self) -> int:
        """The expression's last line, from one."""
        return self._resolved().end_line

    @property
    def column(self) -> int | None:
        """Where the expression starts in its first line, in UTF-8 bytes; None if Python kept no columns."""
        return self._resolved().column

    @property
    def end_column(self) -> int | None:
        """Where the expression ends in its last line, in UTF-8 bytes; None if Python kept no columns."""
        return self._resolved().end_column

    @property
    def function(self) -> str:
        """The function's name, with its class but without the functions around it."""
        return self._resolved().function

    @property
    def text(self) -> str:
        """The expression's whole source lines, or ``""`` where the source is not to be had."""
        return "".join(self._source_lines()).rstrip("\n")

    @property
    def expression(self) -> str:
        """The expression alone, where it stands on one line; ``""`` otherwise."""
        place = self._resolved()
        first = next(iter(self._source_lines()), "")
        if place.column is None or place.end_column is None or place.end_line != place.line:
            return ""
        return first[_characters(first, place.column) : _characters(first, place.end_column)]

    def caret(self, label: str = "") -> str:
        """The place, its line and carets under the expression, indented to stand inside an error message.

        A label, such as "the tracer was made here", goes before the place.
        """
        rows = [f"  {label}: {self}" if label else f"  {self}"]
        first = next(iter(self._source_lines()), "").rstrip()
        if first:
            indent = len(first) - len(first.lstrip())
            # A tab is shown as one space, so that the carets line up at any tab width.
            rows.append("    " + first[indent:].replace("\t", " "))
            carets = _carets(first, indent, self._resolved())
            if carets:
                rows.append("    " + carets)
        return "\n".join(rows)

    def _resolved(self) -> _Place:
        place = self._place
        if place is None:
            place = self._place = _place_of(self._code, self._lasti)
        return place

    def _source_lines(self) -> tuple[str, ...]:
        lines = self._lines
        if lines is None:
            place = self._resolved()
            lines = self._lines = _lines_of(place.file, place.line, place.end_line)
        return lines

    def _identity(self) -> tuple[str, int, int | None, str]:
        place = self._resolved()
        return place.file, place.line, place.column, place.function

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Source):
            return NotImplemented
        return self is other or self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __str__(self) -> str:
        place = self._resolved()
        return f"{place.label}:{place.line} in {place.function}"

    def __repr__(self) -> str:
        return f"<Source {self}>"

    def __copy__(self) -> Source:
        return self

    def __deepcopy__(self, memo: object) -> Source:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (tuple(self._resolved()), self._source_lines(), self.backward)

    def in_reverse(self) -> Source:
        """The same place, as reverse mode visits it."""
        if self.backward:
            return self
        source = Source(self._code, self._lasti, True)
        source._place, source._lines = self._place, self._lines
        return source


_NO_CODE = Source.__init__.__code__
"""Stands in for code that is not to be had; a restored place never asks for it."""


def _restored(place: Iterable[Any], lines: tuple[str, ...], backward: bool = False) -> Source:
    source = Source(_NO_CODE, -1, backward)
    source._place = _Place._make(place)
    source._lines = lines
    return source


_JUMPS_STAND_AT_STATEMENTS = sys.version_info < (3, 12)


_Position = tuple[int | None, int | None, int | None, int | None]

_MOST_INSTRUCTIONS = 100_000
_positions: dict[int, tuple[CodeType, bytes, list[_Position]]] = {}
"""The codes met last, by their ids, with their instructions and the place of each: Python goes through all
of a code for one of them."""


def _position_of(code: CodeType, lasti: int) -> _Position:
    # By identity: codes that differ in their file alone are equal.
    known = _positions.get(id(code))
    if known is None:
        # A copy, for other threads add codes of theirs meanwhile.
        if sum([len(places) for _, _, places in _positions.copy().values()]) > _MOST_INSTRUCTIONS:
            _positions.clear()
        known = _positions[id(code)] = code, code.co_code, list(code.co_positions())
    _, instructions, places = known
    # Instructions are two bytes; an offset of -1 belongs to a frame that has not started.
    index = _maker_of_condition(instructions, max(lasti, 0) // 2)
    return places[index] if index < len(places) else (None, None, None, None)


def _place_of(code: CodeType, lasti: int) -> _Place:
    line, end_line, column, end_column = _position_of(code, lasti)
    if line is None:
        line, end_line, column, end_column = code.co_firstlineno, None, None, None
    return _Place(
        file=code.co_filename,
        label=label_of(code.co_filename),
        line=line,
        end_line=line if end_line is None else end_line,
        column=column,
        end_column=end_column,
        function=code.co_qualname.rpartition("<locals>.")[2],
    )


def _maker_of_condition(instructions: bytes, index: int) -> int:
    """The instruction that made the value whose truth is asked for, or the instruction itself if it is none.

    Python 3.11 places the jump of ``if x:`` at the whole statement; later versions place it at ``x``, but the
    one of ``x and y``, and the copy of ``x`` before it, at the whole of it.
    """
    name = opcode.opname[instructions[2 * index]]
    if name != "TO_BOOL" and ("JUMP" not in name or "_IF_" not in name):
        return index
    before = index - 1
    while instructions[2 * before] == opcode.EXTENDED_ARG:
        before -= 1
    if _JUMPS_STAND_AT_STATEMENTS:
        return before
    return before - 1 if opcode.opname[instructions[2 * before]] == "COPY" else index


def label_of(file: str) -> str:
    """What a reader calls the file: its base name, or the notebook cell it stands for."""
    cell = _cell_of(file)
    if cell is not None:
        return cell
    if file.startswith("<"):  # "<stdin>" or "<doctest guide.md[3]>" is no path
        return file
    folder, name = os.path.split(file)
    if folder and name in ("__init__.py", "__main__.py"):
        return f"{os.path.basename(folder)}/{name}"
    return name


def _cell_of(file: str) -> str | None:
    """``Cell In[3]``, as IPython's tracebacks say, if the file stands for a cell of the running notebook."""
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", None)
    compiler = getattr(get_ipython() if get_ipython is not None else None, "compile", None)
    format_code_name = getattr(compiler, "format_code_name", None)
    parts = format_code_name(file) if format_code_name is not None else None
    return None if parts is None else " ".join(parts)


def _lines_of(file: str, line: int, end_line: int) -> tuple[str, ...]:
    # The check is Python's own habit before it prints a traceback, for files edited while a notebook is open.
    forget_if_changed(file)
    return tuple(lines_of_file(file)[line - 1 : end_line])


def lines_of_file(file: str) -> list[str]:
    """The lines of a file as Python's own cache has them; none of a file that is not to be had."""
    # Through the module's attributes: doctest and IPython put their own functions there.
    return _steadily(lambda: linecache.getlines(file))


def forget_if_changed(file: str) -> None:
    """Have the lines of a file read again if it has changed since."""
    _steadily(lambda: linecache.checkcache(file))


def _steadily(call: Callable[[], T]) -> T:
    """What a function of that cache returns: another thread may forget a file between two of its steps."""
    for _ in range(_MOST_TRIES):
        try:
            return call()
        except KeyError:
            continue
    return call()


_MOST_TRIES = 20


def _carets(text: str, indent: int, place: _Place) -> str:
    if place.column is None or place.end_column is None:
        return ""
    start = max(indent, _characters(text, place.column))
    stop = len(text) if place.end_line > place.line else _characters(text, place.end_column)
    if start >= len(text):  # the file is no longer the one that ran
        return ""
    return " " * _width(text[indent:start]) + "^" * max(1, _width(text[start:stop]))


def _characters(text: str, utf8_bytes: int) -> int:
    return len(text.encode("utf-8", "replace")[:utf8_bytes].decode("utf-8", "replace"))


def _width(text: str) -> int:
    """Columns the text takes on a terminal: two for a wide character, none for a combining one."""
    if text.isascii():
        return len(text)

    def cells(character: str) -> int:
        if unicodedata.category(character) in ("Mn", "Me", "Cf"):
            return 0
        return 2 if unicodedata.east_asian_width(character) in "WF" else 1

    return sum(map(cells, text))


# -- whose frame is it? ---------------------------------------------------------------------------------

_PACKAGE = os.path.dirname(__file__) + os.sep
_STANDARD_LIBRARY = os.path.dirname(os.__file__) + os.sep
# What users install stands inside the standard library's folder on most systems.
_INSTALLED = (_STANDARD_LIBRARY + "site-packages", _STANDARD_LIBRARY + "dist-packages")
# The guided run of `python -m funcgrad` speaks as a user would, so its lines are shown like a user's.
_USER_FOLDER = _PACKAGE + "command" + os.sep
_GENERATED = ("<__array_function__", "<frozen ", "<funcgrad ", "<stringsource>")
_ARRAY_LIBRARIES = (
    *("numpy", "scipy", "pandas", "xarray", "einops", "opt_einsum"),
    *("numba", "matplotlib", "seaborn", "sklearn", "statsmodels"),
)
_MOST_FILES = 4096


TOP = re.compile(r"[/\\\\](?:site|dist)-packages[/\\\\]([^/\\\\.]+)")


def installed_package(file: str) -> str:
    """The installed package that a file is of, unless its functions are traced as the user's own; else "".

    >>> installed_package("/usr/lib/python3/site-packages/filterpy/kalman/kalman_filter.py")
    'filterpy'
    """
    found = TOP.search(file)
    return found[1] if found is not None and found[1] not in packages_taken_in() else ""


def _is_library_file(file: str) -> bool:
    if TOP.search(file) is not None and not installed_package(file):
        return False
    if file.startswith(_PACKAGE):
        return not file.startswith(_USER_FOLDER)
    if file.startswith(_STANDARD_LIBRARY) and not file.startswith(_INSTALLED):
        return True
    if file.startswith(_GENERATED) or file.endswith(".pyx"):
        return True
    return file.startswith(_array_library_folders())


def _array_library_folders() -> tuple[str, ...]:
    """Folders of what works with arrays, as far as it is loaded: its frames cannot run before that."""
    files = [getattr(sys.modules.get(name), "__file__", None) for name in _ARRAY_LIBRARIES]
    return tuple(os.path.dirname(file) + os.sep for file in files if file)


class _LibraryFiles(dict[str, bool]):
    """`_is_library_file`, remembered: a hit costs about half an `lru_cache` call.

    Keyed by file name and not by code object: code objects hash slowly, and are equal across files.
    """

    def __missing__(self, file: str) -> bool:
        if len(self) >= _MOST_FILES:  # a notebook or a generator of code makes new names for ever
            self.clear()
        self[file] = found = _is_library_file(file)
        return found


library_files = _LibraryFiles()
WHEN_PACKAGES_CHANGE.append(library_files.clear)


def is_library_code(code: CodeType) -> bool:
    """Whether the code is funcgrad's, an array library's or the standard library's: not the user's line.

    >>> is_library_code(user_location.__code__), is_library_code((lambda x: x).__code__)
    (True, False)
    """
    return library_files[code.co_filename]


def is_own_code(code: CodeType) -> bool:
    """Whether the code is this library's.

    >>> is_own_code(user_location.__code__), is_own_code((lambda x: x).__code__)
    (True, False)
    """
    return code.co_filename.startswith((_PACKAGE, *_GENERATED))


def user_location(depth: int = 1) -> tuple[CodeType, int]:
    """The code and instruction offset of the nearest user frame, as `Source` takes them.

    The walk starts ``depth`` frames above this function. A caller that knows how many library frames stand
    above it saves 0.1 µs for each by passing more than one. Where the whole stack is library code, as in
    a thread that runs a library function, the outermost frame is the answer.
    """
    frame = _getframe(depth)
    while library_files[(code := frame.f_code).co_filename]:
        outer = frame.f_back
        if outer is None:
            break
        frame = outer
    return code, frame.f_lasti


PLACES: dict[int, tuple[CodeType, int]] = {}
"""The last place of the user's met at each offset of an instruction: one object for each, which a hot call
finds again without asking whose code it is, and of which Python's collector walks over few."""
WHEN_PACKAGES_CHANGE.append(PLACES.clear)

MOST_PLACES = 10_000


def place_of(frame: FrameType) -> tuple[CodeType, int]:
    """The user's place that a frame belongs to, as `user_location` finds it from there; remembered."""
    while library_files[(code := frame.f_code).co_filename]:
        outer = frame.f_back
        if outer is None:
            return code, frame.f_lasti
        frame = outer
    lasti = frame.f_lasti
    known = PLACES.get(lasti)
    if known is not None and known[0] is code:
        return known
    if len(PLACES) >= MOST_PLACES:
        PLACES.clear()
    found = PLACES[lasti] = code, lasti
    return found


def user_stacklevel() -> int:
    """The ``stacklevel`` that makes a `warnings.warn` beside this call name the user's line."""
    level = 1
    frame = _getframe(1)
    while is_library_code(frame.f_code) and frame.f_back is not None:
        frame = frame.f_back
        level += 1
    return level


def user_location_of(error: BaseException) -> tuple[CodeType, int] | None:
    """The innermost user frame that an exception has passed, as `Source` takes it; None if there is none."""
    found = None
    entry = error.__traceback__
    while entry is not None:
        code = entry.tb_frame.f_code
        if not library_files[code.co_filename]:
            found = code, entry.tb_lasti
        entry = entry.tb_next
    return found


# -- tracebacks -----------------------------------------------------------------------------------------


def strip_library_frames(error: BaseException, *, full: bool | None = None) -> None:
    """Leave only user frames and the raising frame in the traceback of ``error`` and of its causes.

    Call it in an ``except`` clause and end that with a bare ``raise``, which adds no entry for its own
    frame. With ``full=True``, or ``FUNCGRAD_TRACEBACKS=full`` in the environment, nothing is hidden.
    """
    if full is None:
        full = tracebacks_are_full()
    if full:
        return
    stripped: set[int] = set()
    link: BaseException | None = error
    # Causes are ours to strip, contexts are not: the user may be handling that exception right now.
    while link is not None and id(link) not in stripped:
        stripped.add(id(link))
        link.__traceback__ = _user_entries(link.__traceback__)
        link = link.__cause__


def _user_entries(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback without library frames, except that its last entry, where the error was raised, stays."""
    entries = []
    while traceback is not None:
        if traceback.tb_next is None or not is_library_code(traceback.tb_frame.f_code):
            entries.append(traceback)
        traceback = traceback.tb_next
    kept: TracebackType | None = None
    for entry in reversed(entries):
        # Python 3.12 and later say None for an instruction without a line; -1 means the same here.
        kept = TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno or -1)
    return kept
