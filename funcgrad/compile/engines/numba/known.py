"""Makes the words of the kernel language known to Numba: their types and instructions, from their rows.

Once for a process. They are Python functions, so text under ``numba.njit`` calls them by name.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

from numba.core import types
from numba.core.imputils import Registry as Lowerings
from numba.core.registry import cpu_target
from numba.core.typing.templates import AbstractTemplate, signature
from numba.core.typing.templates import Registry as Typings

from funcgrad.compile.engines.linked_functions import modules_called_by
from funcgrad.compile.engines.numba.functions import (
    HELPER,
    HelperType,
    StageType,
    call_helper,
    stage_address,
    typed_stage,
)
from funcgrad.compile.engines.numba.kinds import (
    SizesType,
    SlotType,
    TableType,
    ViewType,
    kind_of,
    known_of,
    numba_type,
)
from funcgrad.compile.engines.numba.libraries import KernelLibrary, text_library
from funcgrad.compile.engines.numba.lowering import Lowering
from funcgrad.compile.language.rows import WORDS
from funcgrad.compile.language.values import Type
from funcgrad.compile.language.word import Signature, Word
from funcgrad.types import Foreign

TYPINGS, LOWERINGS = Typings(), Lowerings()
INDEX = types.int64


@functools.cache
def known_to_numba() -> None:
    """Tell Numba about every word."""
    for word in WORDS.values():
        TYPINGS.register_global(word.python, types.Function(template_of(word)))
        LOWERINGS.lower(word.python, types.VarArg(types.Any))(lowered_by(word))
    # What Numba knows by itself, and what others have registered: loaded once.
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
    cpu_target.typing_context.install_registry(TYPINGS)
    cpu_target.target_context.install_registry(LOWERINGS)
    for function, template in ((operator.getitem, GETITEM), (operator.setitem, SETITEM)):
        # Numba asks dozens of templates in turn, some of which resolve overloads: views first.
        known = cpu_target.typing_context.resolve_value_type(function)
        known.templates = (template, *[other for other in known.templates if other is not template])


def template_of(word: Word) -> type:
    """How Numba finds the types of a call of a word."""

    def generic(self: Foreign, args: Foreign, kws: Foreign) -> Foreign:
        if kws:
            return None
        if word.name == "parallel":
            if len(args) != 6:
                return None
            return signature(types.none, typed_stage(self.context, args), *args[1:3], INDEX, INDEX, INDEX)
        given = [kind for kind in map(kind_of, args) if kind is not None]
        if len(given) != len(args):
            return None
        found: Signature | None = word.types.rule(given, [known_of(kind) for kind in args])
        if found is None:
            return None
        count = max([getattr(kind, "count", 0) for kind in args], default=0)
        wanted = [
            kind if known_of(kind) is not None and kind_of(kind) == one else numba_type(one, count)
            for kind, one in zip(args, found.arguments, strict=True)
        ]
        return signature(numba_type(found.result, count), *wanted)

    return type(
        f"{word.name}_types",
        (AbstractTemplate,),
        {"key": word.python, "generic": generic, "prefer_literal": True},
    )


def lowered_by(word: Word) -> Foreign:
    """How Numba lowers a call of a word, whatever its types."""

    def lowered(context: Foreign, builder: Foreign, sig: Foreign, args: Foreign) -> Foreign:
        lowering = NumbaLowering(context, builder, sig.args)
        kinds = tuple([kind_of(kind) or "none" for kind in sig.args])
        return word.lowered(lowering, args, Signature(kinds, kind_of(sig.return_type) or "none"))

    return lowered


class NumbaLowering(Lowering):
    """A word's instructions within a function that Numba lowers, which is linked with what they call."""

    def __init__(self, context: Foreign, builder: Foreign, kinds: Foreign) -> None:
        super().__init__(context, builder, [known_of(kind) for kind in kinds])
        self.kinds = kinds

    def stage_address(self) -> Foreign:
        """The address of the function that threads run."""
        return stage_address(self.context, self.builder, self.kinds[0], self.kinds[1:3])

    def call(self, name: str, result: Type, arguments: Sequence[Any]) -> Foreign:
        """A call of a function that another module or the process defines."""
        if name.startswith("funcgrad."):
            link(self.context, name)
        return super().call(name, result, arguments)


def link(context: Foreign, name: str) -> None:
    """Let a function of Numba's be linked with one of ours; a kernel is linked later, as a whole."""
    if not isinstance(context.active_code_library, KernelLibrary):
        libraries = [text_library(context.codegen(), name, text) for text in modules_called_by(f"@{name}(")]
        context.add_linking_libs(libraries)


def of_types(function: Callable[..., Any], generic: Callable[..., Any]) -> type:
    """Register how a function of Python's is typed for our types."""
    template = type(
        f"{function.__name__}_of_memory",
        (AbstractTemplate,),
        {"key": function, "generic": generic, "prefer_literal": True},
    )
    TYPINGS.register(template)
    TYPINGS.register_global(function, types.Function(template))
    return template


def getitem_types(self: Foreign, args: Foreign, kws: Foreign) -> Foreign:
    """An entry of a table or of the sizes, or an element of a view."""
    holder, index = args
    if isinstance(holder, TableType):
        place = known_of(index)
        # Which entry it is, where it stands in the text, says that it overlaps no other.
        scope = place if isinstance(place, int) and 0 <= place < holder.count else None
        return signature(SlotType(scope, holder.count), holder, INDEX)
    if isinstance(holder, SizesType):
        return signature(INDEX, holder, INDEX)
    if isinstance(holder, ViewType) and isinstance(types.unliteral(index), types.Integer | types.Boolean):
        return signature(holder.element, holder, INDEX)
    return None


def setitem_types(self: Foreign, args: Foreign, kws: Foreign) -> Foreign:
    """An element of a view is set."""
    holder, index, _ = args
    if isinstance(holder, ViewType) and isinstance(types.unliteral(index), types.Integer | types.Boolean):
        return signature(types.none, holder, INDEX, holder.element)
    return None


GETITEM = of_types(operator.getitem, getitem_types)
SETITEM = of_types(operator.setitem, setitem_types)


@LOWERINGS.lower(operator.getitem, ViewType, types.Integer)
def lower_element(context: Foreign, builder: Foreign, sig: Foreign, args: Foreign) -> Foreign:
    """Load an element."""
    return Lowering(context, builder, ()).load(sig.args[0], *args)


@LOWERINGS.lower(operator.setitem, ViewType, types.Integer, types.Any)
def lower_store(context: Foreign, builder: Foreign, sig: Foreign, args: Foreign) -> Foreign:
    """Set an element."""
    Lowering(context, builder, ()).store(sig.args[0], *args)
    return context.get_dummy_value()


def entry_of() -> Foreign:
    """Loads an entry of a table, which does not change while a kernel runs."""

    def lowered(context: Foreign, builder: Foreign, sig: Foreign, args: Foreign) -> Foreign:
        holder, index = args
        memory = context.get_value_type(sig.return_type)
        place = builder.gep(
            builder.bitcast(holder, memory.as_pointer()), [index], inbounds=True, source_etype=memory
        )
        loaded = builder.load(place, typ=memory)
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded

    return lowered


LOWERINGS.lower(HELPER, types.VarArg(types.Any))(call_helper)
LOWERINGS.lower(operator.getitem, TableType, types.Integer)(entry_of())
LOWERINGS.lower(operator.getitem, SizesType, types.Integer)(entry_of())


@LOWERINGS.lower_constant(HelperType)
@LOWERINGS.lower_constant(StageType)
def nothing(context: Foreign, builder: Foreign, kind: Foreign, value: Foreign) -> Foreign:
    """Their types say all."""
    return context.get_dummy_value()


@LOWERINGS.lower_cast(ViewType, ViewType)
@LOWERINGS.lower_cast(ViewType, SlotType)
@LOWERINGS.lower_cast(SlotType, SlotType)
def same_address(context: object, builder: object, given: object, wanted: object, value: object) -> Foreign:
    """Other words for the same memory."""
    return value
