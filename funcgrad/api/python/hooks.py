"""The hooks that rewritten functions ask at every statement that control flow could become."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from sys import _getframe
from types import (
    BuiltinMethodType,
    CodeType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, TypeVar

import numpy as np

from funcgrad.api.njit.standins import MATHEMATICS
from funcgrad.api.python import builtin_functions
from funcgrad.api.python.asked import is_generator, is_recorded, makes_iterators, noting
from funcgrad.api.python.blocks import items
from funcgrad.api.python.blocks.appending import check_append
from funcgrad.api.python.blocks.branches import condition, recorded_branch, recorded_choice
from funcgrad.api.python.blocks.carried import FirstTripDiffers, Loop
from funcgrad.api.python.blocks.cells import State, is_undecided, listed
from funcgrad.api.python.blocks.known import known_loop
from funcgrad.api.python.blocks.loops import INDEX, Items, repeated
from funcgrad.api.python.blocks.numbered import numbered, of_numbers_alone
from funcgrad.api.python.blocks.outside import check_names_changed_by
from funcgrad.api.python.blocks.plain_while import MOST_FIRST_TRIPS, counted_while
from funcgrad.api.python.blocks.recording import current_block, note_made, refuse_change
from funcgrad.api.python.changing import CHANGING, CHANGING_ARRAYS, check_call, gone_through
from funcgrad.api.python.classes import constructed
from funcgrad.api.python.functions import recordable, use_by_default
from funcgrad.api.python.guarded.decisions import note_truth
from funcgrad.api.python.guarded.guards import require
from funcgrad.api.python.guarded.kept import (
    has_iterators,
    note_array,
    note_called,
    note_elements,
    note_own,
    note_reachable,
    refuse_going_on,
)
from funcgrad.api.python.guarded.said import saying
from funcgrad.api.python.guarded.state import (
    check_draw,
    check_read,
    is_unseeded,
    note_generator,
    seeded_classes,
    seeding_instead,
)
from funcgrad.api.python.identity import check_unchosen
from funcgrad.api.python.parts import ChangesParts
from funcgrad.api.python.seen import conversion_that_keeps
from funcgrad.api.python.statement_notes import KeepsNotes
from funcgrad.tracing.python.handed import TAKE_FUNCTIONS, handing
from funcgrad.tracing.python.inside import INSIDE
from funcgrad.tracing.python.operating import COMPARED, is_users_operator, operated
from funcgrad.tracing.python.owners import is_of_package, is_users
from funcgrad.tracing.python.protocols import ASKED, asking, contained, iterated, special
from funcgrad.tracing.python.standins import stand_in_for
from funcgrad.types import Anything, Result, Tree

Block = Callable[..., Any]
T = TypeVar("T")
_THEIRS = frozenset({FunctionType, BuiltinMethodType, type(np.sum), np.ufunc})
"""The types of functions that something may stand in for."""
_BOUND = frozenset({BuiltinMethodType, type(re.compile("").match), MethodType, MethodWrapperType})
_PYTHONS = frozenset({BuiltinMethodType, type})
_UNBOUND = frozenset({WrapperDescriptorType, MethodDescriptorType})
_LOOKING = (print, isinstance, type, id, iter, hash, repr, str)
"""Functions that leave an iterator where it is."""
_ADVANCING = frozenset({"__next__", "send", "throw", "read", "readline", "readlines", "readinto"})


def noted(x: T) -> T:
    """The argument, which the function and the block that are being recorded make themselves."""
    return note_made(note_own(x))


class Hooks(KeepsNotes, ChangesParts):
    """What rewritten functions ask; `unroll` is the number of operations up to which loops are unrolled."""

    whole_numbers_wrap = False
    """Whether whole numbers have 64 bits in the language that is meant."""

    # -- functions ---------------------------------------------------------------------------------------

    def is_users(self, function: FunctionType) -> bool:
        """Whether the function is the user's own."""
        return is_users(function.__code__)

    def asked_by(self, code: CodeType) -> Hooks:
        """What the calls of some code ask."""
        return HooksOfPackages(self) if is_of_package(code) else self

    def note_without_source(self, function: FunctionType, reason: str) -> None:
        """Remember a function that stays as it is."""
        code = function.__code__
        self.notes[code.co_filename, code.co_firstlineno] = f"{code.co_name}: {reason}"
        note_reachable(function)

    def function(self, function: Anything) -> Anything:
        """What is called instead of `function`."""
        kind = type(function)
        instead = saying(function)
        if instead is not None:
            return instead
        note_called(function)
        check_read(function)
        if current_block() is not None:
            check_names_changed_by(function)
        found = self._found(function, kind)
        if any(function is x for x in _LOOKING):
            return found
        within = current_block() is not None and not is_recorded(found)
        if has_iterators() or within:
            return self._without_going_on(function, found, within)
        return found

    def _found(self, function: Anything, kind: type) -> Anything:
        found = self._called_instead(function, kind)
        if kind not in _PYTHONS:
            return found
        if function in ASKED:
            found = asking(function, found, self.function)
        if makes_iterators(function):
            found = noting(found, note_own)
        return handing(found, self.handed) if function in TAKE_FUNCTIONS else found

    def handed(self, function: Anything) -> Anything:
        """What is called in place of a function that Python's own are handed: what any call asks for."""
        again = self._handed(function)
        return self.function(function) if again is function else again

    def _handed(self, function: Anything) -> Anything:
        """What is handed to a function of Python's own in place of a function of the user's."""
        note_called(function)
        return self.recordable(function)

    def _without_going_on(self, function: Anything, found: Anything, within: bool) -> Anything:
        """What is called instead of `function`, which may not advance an iterator from outside.

        In a block neither one of the function's own that was made before.
        """
        if getattr(function, "__name__", "") in _ADVANCING:
            refuse_going_on(getattr(function, "__self__", None))
        asked = type(function) in _PYTHONS and function in ASKED

        def calling(*args: Tree, **kwargs: Tree) -> Result:
            given = [x for x in (*args, *kwargs.values()) if isinstance(x, Iterator)]
            for x in given:
                refuse_going_on(x)
                if within and not (asked and special(x, "__next__") is not None):
                    refuse_change(x, "an iterator from outside is advanced")
            made = found(*args, **kwargs)
            new = within and isinstance(made, Iterator) and not any(made is x for x in given)
            return noted(made) if new else made

        return calling

    def _called_instead(self, function: Anything, kind: type) -> Anything:
        found = self._of_library(function, kind)
        if found is not None:
            return found
        if kind is FunctionType and (function.__module__ or "").startswith("funcgrad."):
            return self._taking_functions(function)
        if kind is BuiltinMethodType:
            return function
        if kind in _UNBOUND:
            return self._unbound(function)
        if isinstance(function, type):
            return self._class(function)
        again = recordable(function, self)
        if is_generator(again):
            again = noting(of_numbers_alone(function, again) if kind is FunctionType else again, note_own)
        found = self._instead_of(function) if again is function else None
        return again if found is None else found

    def _of_library(self, function: Anything, kind: type) -> Anything:
        """What is called instead of a function or method of a library's; None where it is as it is."""
        found = seeding_instead(function)
        if found is not None:
            return found
        if kind in _BOUND:
            found = self._builtin(function)
            check_draw(function)
        if found is None and kind in _THEIRS:
            found = stand_in_for(function) or self._instead_of(function)
        return found

    def _unbound(self, function: Anything) -> Anything:
        """``list.append`` or ``object.__setattr__``, called as the method of what it is given first."""

        def calling(*args: Tree, **kwargs: Tree) -> Result:
            if not args or not issubclass(type(args[0]), function.__objclass__):
                return function(*args, **kwargs)
            if function.__name__ == "__setattr__" and len(args) == 3:
                return self.set_plainly(function, *args)
            method = function.__get__(args[0], type(args[0]))
            return self._called_instead(method, type(method))(*args[1:], **kwargs)

        return calling

    def recordable(self, function: Anything) -> Anything:
        """The function, rewritten where it can be."""
        return recordable(function, self)

    def _instead_of(self, function: Anything) -> Anything:
        """What takes traced values and lists of them in place of a function of NumPy's or SciPy's."""
        theirs = type(function) is not FunctionType or not self.is_users(function)
        return INSIDE.instead_of(function) if theirs else None

    def _builtin(self, function: Anything) -> Anything:
        owner = function.__self__
        found = None
        if type(owner) is ModuleType:
            found = builtin_functions.BUILTINS.get(function) or MATHEMATICS.get(function)
        if type(function) is MethodWrapperType and function.__name__ == "__setattr__":
            return partial(self.set_plainly, type(owner).__mro__[-1].__setattr__, owner)
        if found is None and isinstance(owner, list | dict) and function.__name__ in CHANGING:
            check_unchosen(owner)
        if isinstance(owner, np.ndarray) and function.__name__ in CHANGING_ARRAYS:
            note_array(owner, ... if function.__name__ == "fill" else 0)
        elif found is None and function.__name__ in CHANGING:
            note_elements(owner)
        if found is None and type(owner) is list and function.__name__ == "append":
            check_append(owner)
        elif found is None and current_block() is not None:
            found = check_call(function)
        return found

    def _taking_functions(self, function: FunctionType) -> Anything:
        """A function of ours, which is handed the user's functions rewritten."""

        def calling(*args: Tree, **kwargs: Tree) -> Result:
            given = [self._handed(x) if callable(x) else x for x in args]
            named = {key: self._handed(x) if callable(x) else x for key, x in kwargs.items()}
            return function(*given, **named)

        return calling

    def _class(self, function: type) -> Anything:
        found = builtin_functions.BUILTINS.get(function)
        if found is not None:
            return found
        make = INSIDE.instead_of(function) or constructed(function, self.recordable, noted)
        if current_block() is None and not issubclass(function, (*seeded_classes(), Iterator)):
            return make

        def made(*args: Tree, **kwargs: Tree) -> Anything:
            found = make(*args, **kwargs)
            unseeded = issubclass(function, seeded_classes()) and is_unseeded(function, args, kwargs)
            return note_generator(found, unseeded)

        return made

    # -- branches ----------------------------------------------------------------------------------------

    def branch(
        self, test: object, first: Block, second: Block, bound: Sequence[str], after: Sequence[str]
    ) -> None:
        """``if test: first() else: second()``"""
        test = self.truth(test)
        if is_undecided(test):
            line = _getframe(1).f_lineno
            recorded_branch(test, (first, second), State.of((first, second), bound), after, "an if", line)
            self.note(first, line, f"a branch that chooses {listed(after)}")
            return
        note_truth(test)
        if test:
            first()
        else:
            second()

    def choose(self, test: object, body: Block, orelse: Block) -> object:
        """``body() if test else orelse()``"""
        test = self.truth(test)
        if is_undecided(test):
            return recorded_choice(test, body, orelse, _getframe(1).f_lineno)
        note_truth(test)
        return body() if test else orelse()

    def and_(self, first: object, *others: Block) -> object:
        """``first and others[0]() and ...``"""
        value = first
        for k, other in enumerate(others):
            if is_undecided(value):
                return builtin_functions.both(value, self._rest(self.and_, others[k:]))
            note_truth(value)
            if not value:
                return value
            value = other()
        return value

    def or_(self, first: object, *others: Block) -> object:
        """``first or others[0]() or ...``"""
        value = first
        for k, other in enumerate(others):
            if is_undecided(value):
                return builtin_functions.either(value, self._rest(self.or_, others[k:]))
            note_truth(value)
            if value:
                return value
            value = other()
        return value

    def _rest(self, together: Callable[..., Any], others: Sequence[Block]) -> Block:
        """The operands that are left, as one."""
        first, *further = others

        def rest() -> Anything:
            return together(first(), *further)

        return rest if further else first

    def not_(self, x: object) -> object:
        """``not x``"""
        x = self.truth(x)
        if is_undecided(x):
            return builtin_functions.negated(x)
        note_truth(x)
        return not x

    def compare(self, names: str, first: object, second: object, *others: Block) -> object:
        """A chain of comparisons, or ``in``."""
        name, _, rest = names.partition(",")
        found = self._compared(name, first, second)
        if not rest:
            return found

        def further() -> Anything:
            return self.compare(rest, second, others[0](), *others[1:])

        return self.and_(found, further)

    def _compared(self, name: str, first: Anything, second: Anything) -> Anything:
        if name in ("in_", "not_in"):
            refuse_going_on(second)
            if isinstance(second, Iterator) and special(second, "__next__") is None:
                refuse_change(second, "an iterator from outside is advanced")
            found = contained(first, second, self.function)
            if found is not NotImplemented:
                return found if name == "in_" else self.not_(found)
        elif name in COMPARED and is_users_operator(name, first, second):
            return operated(name, (first, second), self.function)
        return builtin_functions.compared(name, first, second)

    def assert_(self, test: object, message: Block | None) -> None:
        """``assert test, message()``"""
        if is_undecided(test):
            require(condition(test))
        elif not test:
            raise AssertionError(*([message()] if message is not None else []))

    def returned(self, done: object, value: Block) -> object:
        """What a function returns that may also come to its end."""
        if is_undecided(done):
            builtin_functions.refuse_half_return()
        return value() if done else None

    # -- loops -------------------------------------------------------------------------------------------

    def while_(
        self, test: Block, body: Block, bound: Sequence[str], carried: Sequence[str], after: Sequence[str]
    ) -> None:
        """``while test(): body()``"""
        line = _getframe(1).f_lineno
        state = State.of((body, test), bound)
        loop = Loop(body, state, tuple(carried), tuple(after), "the while loop", line)
        attempts = MOST_FIRST_TRIPS
        while True:
            goes_on = self.truth(test())
            if is_undecided(goes_on):
                self._repeat(loop, [], lambda _: (body(), ())[1], lambda _: test())
                self.note(body, line, f"a while loop that carries {listed(carried)}")
                return
            note_truth(goes_on)
            if not goes_on:
                return
            try:
                if attempts and counted_while(self, loop, test):
                    return
                attempts = 0
            except FirstTripDiffers:
                attempts -= 1
            body()

    def for_(
        self,
        iterable: Anything,
        body: Block,
        goes_on: Block | None,
        bound: Sequence[str],
        carried: Sequence[str],
        after: Sequence[str],
    ) -> None:
        """``for item in iterable: body(item)``, while ``goes_on()``"""
        iterable = numbered(self.gone_over(iterable), goes_on is not None)
        if not items.recordable_items(iterable):
            for item in self.gone_through(iterable):
                body(item)
                if goes_on is not None and not self._still(goes_on):
                    break
            return
        state = State.of((body, goes_on), bound)
        loop = Loop(body, state, tuple(carried), tuple(after), "the for loop", _getframe(1).f_lineno)
        length = items.known_length(iterable)
        if length is None:
            self._count_up_to_traced(loop, items.items_of(iterable), goes_on)
            self.note(body, loop.line, f"a loop of a traced number of trips that carries {listed(carried)}")
        else:
            self._count_up_to(loop, iterable, length, goes_on)

    def gone_through(self, iterable: T) -> T | Iterable[Any]:
        """What a loop goes through; raises for what would be used up."""
        if special(iterable, "__next__") is None:  # where an iterator of the user's is, is in its attributes
            gone_through(iterable)
        refuse_going_on(iterable)
        return iterated(iterable, self.function)

    def gone_over(self, iterable: object) -> object:
        """What a ``for`` goes over."""
        return iterable

    def _still(self, goes_on: Block) -> bool:
        return bool(goes_on())

    def _repeat(self, loop: Loop, lead: Anything, run: Anything, test: Anything) -> None:
        entry = loop.state.values()
        try:
            repeated(loop, entry, lead, run, test)[1]()
        except FirstTripDiffers as reason:
            raise reason.error from None

    def _count_up_to_traced(self, loop: Loop, found: Items, goes_on: Block | None) -> None:
        length, rows = found.length, found.rows

        def run(lead: Sequence[Any]) -> list[Any]:
            loop.block(found.item(lead[0], [builtin_functions.item_of(x, lead[0]) for x in rows]))
            return [lead[0] + 1]

        def test(lead: Sequence[Any]) -> Anything:
            inside = lead[0] < length
            return inside if goes_on is None else self.and_(inside, goes_on)

        self._repeat(loop, [(0, INDEX)], run, test)

    def _count_up_to(self, loop: Loop, iterable: Anything, length: int, goes_on: Block | None) -> None:
        """A loop over a known number of items: unrolled where that is short, or where it must be."""
        known_loop(self, loop, iterable, length, goes_on)


class HooksOfPackages(Hooks):
    """The hooks of code of installed packages, whose conversions keep what is traced."""

    def __init__(self, asking: Hooks) -> None:
        super().__init__(asking.unroll)
        self.share(asking)
        self._asking = asking

    def asked_by(self, code: CodeType) -> Hooks:
        """What the calls of some code ask: those of the user's own are not of a package."""
        return self if is_of_package(code) else self._asking

    def function(self, function: object) -> object:
        """What is called instead of `function`."""
        kept = conversion_that_keeps(function)
        return super().function(function) if kept is None else kept


use_by_default(Hooks())
