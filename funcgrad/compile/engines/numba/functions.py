"""Functions of a kernel's source inside Numba: those that it calls, and those that threads are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.core.typing.templates import signature
from numba.extending import register_model, typeof_impl

from funcgrad.compile.engines.numba.kinds import SlotType, ViewType
from funcgrad.compile.runtime.threads import imports
from funcgrad.types import Foreign

WORD, POINTER = ir.IntType(64), ir.IntType(8).as_pointer()
HELPER = "a function of the same kernel"


class Source(Protocol):
    """The functions of one kernel's source, compiled as they are called."""

    def helper(self, name: str, arguments: tuple[Any, ...]) -> tuple[Any, Any]:
        """The descriptor and the type of the result of a function, for arguments of these types."""


class Stage:
    """Stands in a kernel's globals for a function that threads run, which is called from outside."""

    def __init__(self, symbol: str) -> None:
        self.symbol = symbol


class StageType(types.Opaque):
    """A function of C's that the same source defines, by its symbol."""

    def __init__(self, symbol: str) -> None:
        self.symbol = symbol
        super().__init__(name=f"funcgrad.stage({symbol})")


class Helper:
    """Stands in a kernel's globals for a function that it calls."""

    def __init__(self, source: Source, name: str) -> None:
        self.source, self.name = source, name


class HelperType(types.Callable, types.Opaque):
    """A function of the same source."""

    def __init__(self, helper: Helper) -> None:
        self.helper = helper
        super().__init__(name=f"funcgrad.helper({helper.name}, {id(helper.source)})")

    def get_call_type(self, context: Foreign, args: Foreign, kws: Foreign) -> Foreign:
        """Compile it for these arguments, with scopes by place: it serves whatever memory it is given."""
        arguments = with_scopes_of_their_own(tuple([types.unliteral(kind) for kind in args]))
        _, result = self.helper.source.helper(self.helper.name, arguments)
        return signature(result, *arguments, recvr=self)

    def get_call_signatures(self) -> Foreign:
        """It has as many as there are types of arguments."""
        return (), True

    def get_impl_key(self, sig: object) -> str:
        """All of them are called alike."""
        return HELPER


register_model(StageType)(models.OpaqueModel)
register_model(HelperType)(models.OpaqueModel)


@typeof_impl.register(Stage)
def typeof_stage(stage: Stage, context: object) -> StageType:
    """Its type names its symbol."""
    return StageType(stage.symbol)


@typeof_impl.register(Helper)
def typeof_helper(helper: Helper, context: object) -> HelperType:
    """Its type holds it."""
    return HelperType(helper)


def with_scopes_of_their_own(arguments: Sequence[Any]) -> tuple[Any, ...]:
    """The types with alias scopes by place."""
    kinds = [kind for kind in arguments if isinstance(kind, ViewType | SlotType) and kind.scope is not None]
    scopes = {scope: -1 - k for k, scope in enumerate(dict.fromkeys([kind.scope for kind in kinds]))}
    found: list[Any] = []
    for kind in arguments:
        if isinstance(kind, ViewType):
            scope = None if kind.scope is None else scopes[kind.scope]
            found.append(ViewType(kind.storage, scope, len(scopes)))
        elif isinstance(kind, SlotType):
            found.append(SlotType(None if kind.scope is None else scopes[kind.scope], len(scopes)))
        else:
            found.append(kind)
    return tuple(found)


def call_helper(context: Foreign, builder: Foreign, sig: Foreign, args: Foreign) -> Foreign:
    """A call of a function of the same source; its first argument stands for itself."""
    kind, *arguments = sig.args
    descriptor, result = kind.helper.source.helper(kind.helper.name, tuple(arguments))
    # Kernels raise no errors.
    _, value = context.call_internal_no_propagate(
        builder, descriptor, signature(result, *arguments), args[1:]
    )
    return value


def stage_address(context: Foreign, builder: Foreign, kind: Foreign, tables: Sequence[Any]) -> Foreign:
    """The address of a function ``void stage(char **p, int64_t *n, int64_t begin, int64_t end)``."""
    made = ir.FunctionType(ir.VoidType(), [POINTER, POINTER, WORD, WORD])
    module = builder.module
    if isinstance(kind, StageType):
        function = module.globals.get(kind.symbol) or ir.Function(module, made, kind.symbol)
        return builder.ptrtoint(function, WORD)
    arguments = (*tables, types.int64, types.int64)
    compiled = kind.dispatcher.overloads[arguments]
    context.add_linking_libs([compiled.library])
    function = ir.Function(module, made, module.get_unique_name(f"{kind.dispatcher.py_func.__name__}.stage"))
    function.linkage = "internal"
    inner = ir.IRBuilder(function.append_basic_block())
    context.call_internal_no_propagate(inner, compiled.fndesc, compiled.signature, function.args)
    inner.ret_void()
    _pool_symbols()
    return builder.ptrtoint(function, WORD)


def _pool_symbols() -> None:
    """Let code that Numba links by itself find the pool of threads."""
    for name, address in imports().items():
        llvm.add_symbol(name, address)


def typed_stage(context: Foreign, args: Foreign) -> Foreign:
    """The type of `parallel`'s first argument: a function of Numba's is compiled for the others."""
    stage, p, n, *_ = args
    if isinstance(stage, types.Dispatcher):
        stage.get_call_type(context, (p, n, types.int64, types.int64), {})
    return stage
