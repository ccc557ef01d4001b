"""The hooks of what functions make, and of elements and attributes that they read and write."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from types import FunctionType

import numpy as np

from funcgrad.api.python import builtin_functions
from funcgrad.api.python.asked import AsksUsers
from funcgrad.api.python.blocks.cells import is_undecided
from funcgrad.api.python.blocks.recording import Place, current_block, note_made, refuse_change
from funcgrad.api.python.changing import check_augmented
from funcgrad.api.python.elements import OneOf, lists_meant, store_element
from funcgrad.api.python.guarded.kept import note_array, note_elements, note_own, note_set
from funcgrad.api.python.identity import check_unchosen, is_own_part
from funcgrad.tracing.python.inside import INSIDE
from funcgrad.tracing.python.operating import operated
from funcgrad.tracing.python.protocols import set_by_users, special
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Index


class ChangesParts(AsksUsers):
    """Elements and attributes are read and written as rewritten functions do it."""

    def closing(self, names: Sequence[str]) -> Callable[[FunctionType], FunctionType]:
        """Decorates a function that binds names of the one around it, whose cells are made there."""

        def noted(function: FunctionType) -> FunctionType:
            for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
                if name in names:
                    note_made(cell)
                    note_own(cell)
            return function

        return noted

    def made(self, x: Anything) -> Anything:
        """Called with every list, dict and set that a rewritten function makes."""
        return note_made(note_own(x))

    summed = staticmethod(builtin_functions.summed)
    counted = staticmethod(builtin_functions.counted)
    slice = staticmethod(builtins.slice)

    def item(self, x: Anything, index: Index) -> object:
        """``x[index]``"""
        x = INSIDE.joiner(x)
        method = special(x, "__getitem__")
        if method is not None:
            return self.function(method)(x, index)
        if not builtin_functions.is_traced_index(index):
            return note_made(x[index]) if type(index) is builtins.slice and type(x) is list else x[index]
        return builtin_functions.item_of(x, index)

    def store(self, value: object, x: Anything, index: Index) -> None:
        """``x[index] = value``"""
        method = special(x, "__setitem__")
        if method is not None:
            self.function(method)(x, index, value)
            return
        if isinstance(x, list | dict):
            for one in lists_meant(x):
                check_unchosen(one)
                note_elements(one)
        if builtin_functions.is_traced_index(index):
            builtin_functions.require_within(x, index)
        if type(x) is list and is_undecided(index):
            store_element(x, index, value)
            return
        if current_block() is not None and type(x) is not OneOf and not is_own_part(x):
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

    def _check_element(self, x: Anything, index: Index) -> None:
        """Have the block carry an element of a list or dict."""
        slices = isinstance(x, list) and isinstance(index, builtins.slice)
        made_up = isinstance(x, dict) and hasattr(type(x), "__missing__") and index not in x
        if slices or made_up:
            refuse_change(x, f"elements of a {type(x).__name__} are set that may not be there")
        Place("element", x, index).check()

    def delete(self, x: Anything, index: Index) -> None:
        """``del x[index]``"""
        method = special(x, "__delitem__")
        if method is not None:
            self.function(method)(x, index)
            return
        for one in lists_meant(x):
            check_unchosen(one)
            note_elements(one)
        refuse_change(x, f"an element of a {type(x).__name__} is deleted")
        del x[index]

    def augmented(self, operation: str, x: object, value: object) -> object:
        """What ``x += value`` and its kin bind the name to."""
        for one in lists_meant(x):
            if isinstance(one, list | dict):
                check_unchosen(one)
            note_elements(one)
        check_augmented(x)
        plain = issubclass(type(x), np.ndarray)  # and nothing of ours that stands for an array
        if current_block() is not None and plain and not INSIDE.becomes_traced(x):
            refuse_change(x, "an array that is not traced is changed in place")
        note_array(x, 0)
        return operated(operation, (x, value), self.function)

    def set_attribute(self, value: object, x: object, name: str) -> None:
        """``x.name = value``"""
        if not set_by_users(x, name, value, self.function):
            self.set_plainly(setattr, x, name, value)

    def set_plainly(self, setter: Callable[..., None], x: object, name: str, value: object) -> None:
        """The same without asking the class: ``setattr``, or ``object.__setattr__``."""
        note_set(x, name)
        if current_block() is not None and type(x) is not Tracer:
            Place("attribute", x, name).check()
        setter(x, name, value)

    def augment_attribute(self, operation: str, x: object, name: str) -> Callable[[object], None]:
        """``x.name += value`` and its kin, for a value that is computed when the attribute has been read."""
        held = self.attribute(x, name)

        def change(value: object) -> None:
            self.set_attribute(self.augmented(operation, held, value), x, name)

        return change

    def augment(self, name: str, x: object, index: Index) -> Callable[[object], None]:
        """``x[index] += value`` and its kin, likewise."""
        held = self.item(x, index)

        def change(value: object) -> None:
            self.store(self.augmented(name, held, value), x, index)

        return change
