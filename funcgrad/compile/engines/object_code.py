"""LLVM modules to object code for this machine. Knows llvmlite and nothing of this package.

`compiler_process` runs this file as a program too, so that a compilation can be given up: see `serve`.
"""

from __future__ import annotations

import functools
import json
import os
import pickle
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

if TYPE_CHECKING:
    from funcgrad.types import Foreign


LAST = " ; inlined last: "
"""What stands on the first line of a function that is inlined when loops are vectors; what it calls follows,
declared."""


READY = b"object code of funcgrad\n"
"""What the program says when it can compile."""


class Work(NamedTuple):
    """What is to be compiled, and how."""

    modules: tuple[str | bytes, ...]
    exported: tuple[str, ...]
    loops: bool
    assembly: bool


@functools.cache
def triple() -> str:
    """The target triple of this process."""
    return str(_llvm().get_process_triple())


@functools.cache
def host_cpu() -> tuple[str, str]:
    """The name and the features of the processor this process runs on."""
    return str(_llvm().get_host_cpu_name()), str(_llvm().get_host_cpu_features().flatten())


def _llvm() -> Foreign:
    import llvmlite.binding  # noqa: PLC0415 - as a program, found by the path that is read first

    return llvmlite.binding


@functools.cache
def target() -> Foreign:
    """LLVM's target of this machine."""
    llvm = _llvm()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_triple(triple())


@functools.cache
def _machine() -> Foreign:
    name, features = host_cpu()
    return target().create_target_machine(
        cpu=name, features=features, opt=3, reloc="pic", codemodel="small", jit=False
    )


def data_layout() -> str:
    """The data layout of the host, as LLVM IR spells it."""
    return str(_machine().target_data)


def compiled_object(work: Work) -> tuple[bytes, tuple[str, ...]]:
    """Object code (or assembly text) of modules linked and optimised as one, and what it leaves undefined.

    Raises RuntimeError for what LLVM refuses.
    """
    # What LLVM remembers of types and of metadata goes with their context.
    context = _llvm().create_context()
    modules, last = _without_last(work.modules)
    module = _linked(modules, context)
    keep = frozenset(work.exported)
    _hide(module, keep.union(last.values()))
    _optimise(module, work.loops)
    if last:
        vectors = _called_for_vectors(str(module), last.values())
        texts = [t.replace(" alwaysinline", "") if name in vectors else t for t, name in last.items()]
        _inline_last(module, [_llvm().parse_assembly(text, context) for text in texts])
        _hide(module, keep)
    if work.assembly:
        return _machine().emit_assembly(module).encode(), ()
    code = bytes(_machine().emit_object(module))
    values = (*module.functions, *module.global_variables)
    declared = sorted(value.name for value in values if value.is_declaration)
    return code, tuple(name for name in declared if not name.startswith("llvm."))


def _hide(module: Foreign, keep: frozenset[str]) -> None:
    """Make what a module defines private to it, but for these names."""
    for value in (*module.functions, *module.global_variables):
        if not (value.is_declaration or value.name in keep or value.name.startswith("llvm.")):
            value.linkage = "internal"


def _without_last(modules: Sequence[str | bytes]) -> tuple[list[str | bytes], dict[str, str]]:
    """The modules with what is to be inlined last declared alone, and each of that with what it calls.

    A loop with a call of a function that has variants for vectors becomes one of vectors, and is not if that
    function has been inlined before.
    """
    last: dict[str, str] = {}
    return [_declaring_last(text, last) if isinstance(text, str) else text for text in modules], last


def _declaring_last(text: str, last: dict[str, str]) -> str:
    """A module that declares what is to be inlined last, which is added to what there is of that."""
    while LAST in text:
        before, _, after = text.partition(LAST)
        start = before.rindex("\ndefine ") + 1
        head, (called, _, rest) = before[start:], after.partition("\n")
        body, _, rest = rest.partition("\n}")
        signature = head.removeprefix("define linkonce_odr ").removesuffix(" {").replace(" noinline", "")
        text = f"{before[:start]}declare {signature}{rest}"
        whole = f"{called}\n{head.replace(' noinline', ' alwaysinline')}\n{body}\n}}"
        last[whole] = called.partition("@")[2].partition("(")[0]
    return text


def _called_for_vectors(text: str, names: Iterable[str]) -> set[str]:
    """What mends results that loops of vectors call: the one for numbers has what these leave over.

    To inline it there took the compiler of a chain of thirty functions 0.1 s.
    """
    called = set(re.findall(r" call [^\n@]*@([\w.]+)\.\d+\(", text))
    return {name for name in names if name.removesuffix(".all") in called}


def _inline_last(module: Foreign, modules: Sequence[Foreign]) -> None:
    """Inline functions that the optimised module has only had the declarations of."""
    llvm = _llvm()
    for each in modules:
        each.triple, each.data_layout = module.triple, module.data_layout
        module.link_in(each)
    manager = llvm.create_new_module_pass_manager()
    manager.add_always_inliner_pass()
    try:
        manager.run(module, llvm.create_pass_builder(_machine(), llvm.create_pipeline_tuning_options()))
    finally:
        _give_back(manager)


def _linked(modules: Sequence[str | bytes], context: Foreign) -> Foreign:
    llvm = _llvm()
    first, *rest = [
        llvm.parse_assembly(text, context) if isinstance(text, str) else llvm.parse_bitcode(text, context)
        for text in modules
    ]
    first.triple = triple()
    first.data_layout = data_layout()
    for module in rest:
        module.triple, module.data_layout = first.triple, first.data_layout
        first.link_in(module)
    first.verify()
    return first


def _optimise(module: Foreign, loops: bool) -> None:
    llvm = _llvm()
    options = llvm.create_pipeline_tuning_options(speed_level=3 if loops else 1)
    options.loop_vectorization = loops
    # Packing straight-line code takes a quarter of the time and was not seen to pay.
    options.slp_vectorization = False
    options.loop_unrolling = loops
    options.loop_interleaving = loops
    if not loops:
        options.inlining_threshold = 25  # what is called from one place is inlined all the same
    builder = llvm.create_pass_builder(_machine(), options)
    manager = builder.getModulePassManager()
    # Whether rows of one array overlap is asked before each loop over rows: asked once, before the loop
    # around it, it is of all rows that they take together, and these overlap wherever an array is changed.
    llvm.set_option("", "-hoist-runtime-checks=false")
    try:
        manager.run(module, builder)
    finally:
        # Options are the process's: what others compile here finds LLVM's own.
        llvm.set_option("", "-hoist-runtime-checks=true")
        _give_back(manager)


def _give_back(manager: Foreign) -> None:
    """Free a manager of passes, a tenth of a megabyte.

    Its class inherits first from one whose ``_dispose`` does nothing, so llvmlite (to 0.50) never frees it.
    """
    llvm = _llvm()
    kinds: tuple[Any, ...] = type(manager).__mro__
    own = next((kind for kind in kinds if "_dispose" in vars(kind) and kind is not llvm.ffi.ObjectRef), None)
    if own is None or type(manager)._dispose is not llvm.ffi.ObjectRef._dispose:
        manager.close()
        return
    own._dispose(manager)
    manager.detach()


def serve(given: BinaryIO, out: BinaryIO) -> None:
    """Read where modules are imported from and say `READY`; read each `Work` and write its result.

    That is a pickled pair: of `compiled_object`, or of an error's text and None.
    """
    sys.path[:] = json.loads(given.readline())
    _machine()
    out.write(READY)
    out.flush()
    while True:
        try:
            work = Work(*pickle.load(given))
        except EOFError:
            return
        result: tuple[object, object]
        try:
            result = compiled_object(work)
        except RuntimeError as error:
            result = str(error), None
        pickle.dump(result, out)
        out.flush()


def leave_with(parent: int, ended: Callable[[int], None] = os._exit) -> None:
    """End this process when its parent has ended: nobody would read what it makes."""
    while os.getppid() == parent:
        time.sleep(0.5)
    ended(1)


if __name__ == "__main__":
    # Ctrl-C goes to all processes of a terminal; whoever waits for this one decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=leave_with, args=(os.getppid(),), daemon=True).start()
    serve(sys.stdin.buffer, sys.stdout.buffer)
