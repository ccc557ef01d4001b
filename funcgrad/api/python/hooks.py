"""The hooks that rewritten functions ask at every statement that control flow could become."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Sequence
from sys import _getframe
from types import BuiltinMethodType, CodeType, FunctionType, MethodType, MethodWrapperType, ModuleType
from typing import Any

import numpy as np

from funcgrad.api.njit.standins import MATHEMATICS, enumerated
from funcgrad.api.python import builtin_functions
from funcgrad.api.python.blocks import items
from funcgrad.api.python.blocks.appending import check_append
from funcgrad.api.python.blocks.branches import condition, recorded_branch, recorded_choice
from funcgrad.api.python.blocks.carried import FirstTripDiffers, Loop
from funcgrad.api.python.blocks.cells import State, is_undecided, listed
from funcgrad.api.python.blocks.known import known_loop
from funcgrad.api.python.blocks.loops import INDEX, Items, repeated
from funcgrad.api.python.blocks.outside import check_names_changed_by
from funcgrad.api.python.blocks.recording import Place, current_block, note_made, refuse_change
from funcgrad.api.python.changing import CHANGING, CHANGING_ARRAYS, check_augmented, check_call, gone_through
from funcgrad.api.python.classes import constructed
from funcgrad.api.python.elements import OneOf, store_element
from funcgrad.api.python.functions import recordable, use_by_default
from funcgrad.api.python.guarded.decisions import note_truth
from funcgrad.api.python.guarded.guards import require
from funcgrad.api.python.guarded.kept import (
    has_iterators,
    note_array,
    note_called,
    note_elements,
    note_own,
    note_set,
    refuse_going_on,
)
from funcgrad.api.python.guarded.state import INSTEAD, check_draw, check_read, check_seeded, note_generator
from funcgrad.api.python.guarded.watched import GENERATORS
from funcgrad.api.python.identity import check_unchosen
from funcgrad.api.python.seen import CLASSES, conversion_that_keeps
from funcgrad.tracing.kinds import class_of, pattern_class
from funcgrad.tracing.python.attributes import read
from funcgrad.tracing.python.handed import TAKE_FUNCTIONS, handing
from funcgrad.tracing.python.inside import INSIDE
from funcgrad.tracing.python.operating import operated
from funcgrad.tracing.python.owners import is_of_package, is_users
from funcgrad.tracing.python.standins import stand_in_for
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Index

Block = Callable[..., Any]
_THEIRS = frozenset({FunctionType, BuiltinMethodType, type(np.sum), np.ufunc})
"""The types of functions that something may stand in for."""
_BOUND = frozenset({BuiltinMethodType, MethodType, MethodWrapperType})
_PYTHONS = frozenset({BuiltinMethodType, type})
_COMPILED = type(np.random.default_rng)
_LOOKING = (print, isinstance, type, id, iter, hash, repr, str)
"""Functions that leave an iterator where it is."""
_ADVANCING = frozenset({"__next__", "send", "throw", "read", "readline", "readlines", "readinto"})
UNROLLED_OPERATIONS = 40
"""A loop over a known range is unrolled while its trips together have no more operations than this."""


class Hooks:
    """What rewritten functions ask; `unroll` is the number of operations up to which loops are unrolled."""

    whole_numbers_wrap = False
    """Whether whole numbers have 64 bits in the language that is meant."""

    def __init__(self, unroll: int = UNROLLED_OPERATIONS) -> None:
        self.unroll = unroll
        self.notes: dict[tuple[str, int], str] = {}

    def note(self, block: Block, line: int, text: str) -> None:
        """Remember what has become of a statement."""
        self.notes[block.__code__.co_filename, line] = text

    def report(self) -> tuple[str, ...]:
        """What has become of statements, in the order of their lines."""
        return tuple(
            [f"{os.path.basename(file)}:{line} {text}" for (file, line), text in sorted(self.notes.items())]
        )

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

    def function(self, function: Anything) -> Anything:
        """What is called instead of `function`."""
        kind = type(function)
        note_called(function)
        check_read(function)
        if current_block() is not None:
            check_names_changed_by(function)
        if has_iterators() and function not in _LOOKING:
            return self._without_going_on(function)
        found = self._called_instead(function, kind)
        takes_functions = kind in _PYTHONS and function in TAKE_FUNCTIONS
        return handing(found, self.recordable) if takes_functions else found

    def attribute(self, x: object, name: str) -> object:
        """What is read of an object: a property of the user's is run as any function of theirs."""
        return class_of(x) if name == "__class__" else read(x, name, self.function)

    def pattern_class(self, kind: object) -> object:
        """What stands for a class in a pattern of ``match``."""
        return pattern_class(kind)

    def operated(self, name: str, *operands: object) -> object:
        """What an operator gives: methods of the user's classes are run as any function of theirs."""
        return operated(name, operands, self.function)

    def _without_going_on(self, function: Any) -> Any:
        """What is called instead of `function`, which may not advance an iterator from outside."""
        if getattr(function, "__name__", "") in _ADVANCING:
            refuse_going_on(getattr(function, "__self__", None))
        found = self._called_instead(function, type(function))

        def calling(*args: Any, **kwargs: Any) -> Any:
            for x in args:
                refuse_going_on(x)
            return found(*args, **kwargs)

        return calling

    def _called_instead(self, function: Any, kind: type) -> Any:
        found = self._of_library(function, kind)
        if found is not None:
            return found
        if kind is FunctionType and (function.__module__ or "").startswith("funcgrad."):
            return self._taking_functions(function)
        if kind is BuiltinMethodType:
            return function
        if isinstance(function, type):
            return self._class(function)
        again = recordable(function, self)
        found = self._instead_of(function) if again is function else None
        return again if found is None else found

    def _of_library(self, function: Any, kind: type) -> Any:
        """What is called instead of a function or method of a library's; None where it is as it is."""
        if kind is _COMPILED and function in INSTEAD:
            return INSTEAD[function]
        found = None
        if kind in _BOUND:
            found = self._builtin(function)
            check_draw(function)
        if found is None and kind in _THEIRS:
            found = stand_in_for(function) or self._instead_of(function)
        return found

    def recordable(self, function: Anything) -> Anything:
        """The function, rewritten where it can be."""
        return recordable(function, self)

    def _instead_of(self, function: Any) -> Any:
        """What takes traced values and lists of them in place of a function of NumPy's or SciPy's."""
        theirs = type(function) is not FunctionType or not self.is_users(function)
        return INSIDE.instead_of(function) if theirs else None

    def _builtin(self, function: Any) -> Any:
        owner = function.__self__
        found = None
        if type(owner) is ModuleType:
            found = builtin_functions.BUILTINS.get(function) or MATHEMATICS.get(function)
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

    def _taking_functions(self, function: FunctionType) -> Any:
        """A function of ours, which is handed the user's functions rewritten."""

        def calling(*args: Any, **kwargs: Any) -> Any:
            given = [recordable(x, self) if callable(x) else x for x in args]
            named = {key: recordable(x, self) if callable(x) else x for key, x in kwargs.items()}
            return function(*given, **named)

        return calling

    def _class(self, function: type) -> Any:
        found = builtin_functions.BUILTINS.get(function)
        if found is not None:
            return found
        make = INSIDE.instead_of(function) or constructed(function, self.recordable, note_made)
        if current_block() is None and not issubclass(function, GENERATORS):
            return make

        def made(*args: Any, **kwargs: Any) -> Any:
            if issubclass(function, GENERATORS):
                check_seeded(function, args, kwargs)
            return note_made(note_generator(make(*args, **kwargs)))

        return made

    # -- branches ----------------------------------------------------------------------------------------

    def branch(
        self, test: object, first: Block, second: Block, bound: Sequence[str], after: Sequence[str]
    ) -> None:
        """``if test: first() else: second()``"""
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

        def rest() -> Any:
            return together(first(), *further)

        return rest if further else first

    def not_(self, x: object) -> object:
        """``not x``"""
        if is_undecided(x):
            return builtin_functions.negated(x)
        note_truth(x)
        return not x

    def compare(self, names: str, first: object, second: object, *others: Block) -> object:
        """A chain of comparisons, or ``in``."""
        name, _, rest = names.partition(",")
        found = builtin_functions.compared(name, first, second)
        if not rest:
            return found

        def further() -> Any:
            return self.compare(rest, second, others[0](), *others[1:])

        return self.and_(found, further)

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
        while True:
            goes_on = test()
            if is_undecided(goes_on):
                state = State.of((body, test), bound)
                loop = Loop(body, state, tuple(carried), tuple(after), "the while loop", line)
                self._repeat(loop, [], lambda _: (body(), ())[1], lambda _: test())
                self.note(body, line, f"a while loop that carries {listed(carried)}")
                return
            note_truth(goes_on)
            if not goes_on:
                return
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
        iterable = self.gone_over(iterable)
        if not items.recordable_items(iterable):
            gone_through(iterable)
            for item in iterable:
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

    def gone_over(self, iterable: object) -> object:
        """What a ``for`` goes over."""
        return iterable

    def _still(self, goes_on: Block) -> bool:
        return bool(goes_on())

    def _repeat(self, loop: Loop, lead: Any, run: Any, test: Any) -> None:
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

        def test(lead: Sequence[Any]) -> Any:
            inside = lead[0] < length
            return inside if goes_on is None else self.and_(inside, goes_on)

        self._repeat(loop, [(0, INDEX)], run, test)

    def _count_up_to(self, loop: Loop, iterable: Any, length: int, goes_on: Block | None) -> None:
        """A loop over a known number of items: unrolled where that is short, or where it must be."""
        known_loop(self, loop, iterable, length, goes_on)

    # -- elements ----------------------------------------------------------------------------------------

    def closing(self, names: Sequence[str]) -> Callable[[FunctionType], FunctionType]:
        """Decorates a function that binds names of the one around it, whose cells are made there."""

        def noted(function: FunctionType) -> FunctionType:
            for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
                if name in names:
                    note_made(cell)
                    note_own(cell)
            return function

        return noted

    gone_through = staticmethod(gone_through)
    """Called with what comprehensions go through."""

    def made(self, x: Anything) -> Anything:
        """Called with every list, dict and set that a rewritten function makes."""
        return note_made(note_own(x))

    summed = staticmethod(builtin_functions.summed)
    counted = staticmethod(builtin_functions.counted)
    slice = staticmethod(builtins.slice)

    def item(self, x: Anything, index: Index) -> object:
        """``x[index]``"""
        x = INSIDE.joiner(x)
        if not builtin_functions.is_traced_index(index):
            return note_made(x[index]) if type(index) is builtins.slice and type(x) is list else x[index]
        return builtin_functions.item_of(x, index)

    def store(self, value: object, x: Anything, index: Index) -> None:
        """``x[index] = value``"""
        if isinstance(x, list | dict):
            for one in x.members if type(x) is OneOf else (x,):
                check_unchosen(one)
                note_elements(one)
        if type(x) is list and is_undecided(index):
            store_element(x, index, value)
            return
        if current_block() is not None and type(x) is not OneOf:
            if isinstance(x, list | dict) and is_undecided(index):
                refuse_change(x, f"an element of a {type(x).__name__} is set at a traced index")
            elif isinstance(x, list | dict):
                self._check_element(x, index)
            elif isinstance(x, np.ndarray) and not INSIDE.becomes_traced(x):
                refuse_change(x, "an element of an array that is not traced is set")
            elif type(x) is not Tracer and not INSIDE.is_open(x):
                refuse_change(x, f"an element of a {type(x).__name__} is set")
        note_array(x, index)
        x[index] = value

    def _check_element(self, x: Any, index: Any) -> None:
        """Have the block carry an element of a list or dict."""
        slices = isinstance(x, list) and isinstance(index, builtins.slice)
        made_up = isinstance(x, dict) and hasattr(type(x), "__missing__") and index not in x
        if slices or made_up:
            refuse_change(x, f"elements of a {type(x).__name__} are set that may not be there")
        Place("element", x, index).check()

    def delete(self, x: Anything, index: Index) -> None:
        """``del x[index]``"""
        check_unchosen(x)
        note_elements(x)
        refuse_change(x, f"an element of a {type(x).__name__} is deleted")
        del x[index]

    def augmented(self, operation: str, x: object, value: object) -> object:
        """What ``x += value`` and its kin bind the name to."""
        if isinstance(x, list | dict):
            check_unchosen(x)
        note_elements(x)
        check_augmented(x)
        if current_block() is not None and isinstance(x, np.ndarray) and not INSIDE.becomes_traced(x):
            refuse_change(x, "an array that is not traced is changed in place")
        note_array(x, 0)
        return operated(operation, (x, value), self.function)

    def set_attribute(self, value: object, x: object, name: str) -> None:
        """``x.name = value``"""
        note_set(x, name)
        if current_block() is not None and type(x) is not Tracer:
            Place("attribute", x, name).check()
        setattr(x, name, value)

    def augment_attribute(self, operation: str, x: object, name: str, value: object) -> None:
        """``x.name += value`` and its kin"""
        self.set_attribute(self.augmented(operation, getattr(x, name), value), x, name)

    def augment(self, name: str, x: object, index: Index, value: object) -> None:
        """``x[index] += value`` and its kin"""
        self.store(self.augmented(name, self.item(x, index), value), x, index)


class HooksOfPackages(Hooks):
    """The hooks of code of installed packages, whose conversions keep what is traced."""

    def __init__(self, asking: Hooks) -> None:
        super().__init__(asking.unroll)
        self.notes = asking.notes
        self._asking = asking

    def asked_by(self, code: CodeType) -> Hooks:
        """What the calls of some code ask: those of the user's own are not of a package."""
        return self if is_of_package(code) else self._asking

    def function(self, function: object) -> object:
        """What is called instead of `function`."""
        kept = conversion_that_keeps(function)
        return super().function(function) if kept is None else kept


use_by_default(Hooks())
CLASSES[np.ndenumerate] = enumerated
