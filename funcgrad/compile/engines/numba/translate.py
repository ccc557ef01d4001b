"""Kernel text to LLVM's assembly by Numba: its bytecode analysis, its type inference, its lowering.

Optimising, linking and loading are ours, as for the other engine. Passes of Numba's that look for arrays,
closures, generators or objects are left out: kernels have none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

from numba.core import bytecode, compiler, funcdesc, interpreter, lowering, postproc, typed_passes, types
from numba.core.callconv import create_error_model
from numba.core.compiler_lock import global_compiler_lock
from numba.core.cpu_options import FastMathOptions
from numba.core.errors import NumbaError
from numba.core.registry import cpu_target
from numba.core.targetconfig import ConfigStack

from funcgrad.compile.engines.numba.functions import Helper, Stage
from funcgrad.compile.engines.numba.kinds import SizesType, TableType
from funcgrad.compile.engines.numba.known import known_to_numba
from funcgrad.compile.engines.numba.libraries import KernelLibrary
from funcgrad.compile.language.rows import CONSTANTS, WORDS
from funcgrad.compile.language.values import Unsupported
from funcgrad.shared import keep_through_forks
from funcgrad.types import Foreign, NumbaFunction

_DEFINITION = re.compile(r"^def (\w+)\(([^)]*)\)", re.MULTILINE)
_HEAD = re.compile(r'^(define [^\n]*@"?([^"(\n]+)"?\([^\n]*?)\s*\n\{', re.MULTILINE)
_SLOT = re.compile(r"\bp\[(\d+)\]")
# As of the other engine: full-width vectors, where LLVM would halve them to keep older processors' clocks up.
_ATTRIBUTES = 'attributes #77 = { nounwind "prefer-vector-width"="512" "no-trapping-math"="true" }'

keep_through_forks(global_compiler_lock)


def translate(source: str, functions: Sequence[str], fastmath: frozenset[str]) -> list[str | bytes]:
    """The LLVM modules of the named functions and of those that they call, or `Unsupported`."""
    known_to_numba()
    with global_compiler_lock, ConfigStack().enter(flags_with(fastmath)):
        return _Kernel(source, functions, fastmath).texts()


class _Kernel:
    """The functions of one source."""

    def __init__(self, source: str, functions: Sequence[str], fastmath: frozenset[str]) -> None:
        self.entries = {
            name: [one.strip() for one in arguments.split(",")]
            for name, arguments in _DEFINITION.findall(source)
            if name in functions
        }
        self.slots = 1 + max([int(k) for k in _SLOT.findall(source)], default=-1)
        names: dict[str, Any] = {**{name: word.python for name, word in WORDS.items()}, **CONSTANTS}
        exec(compile(source, "<kernel>", "exec"), names)
        self.functions = {name: names[name] for name, _ in _DEFINITION.findall(source)}
        for name in self.functions:
            names[name] = Stage(name) if name in self.entries else Helper(self, name)
        for name in functions:
            if name not in self.functions:
                raise Unsupported(f"{name} is not defined by the source")
        self.compiled: dict[tuple[str, tuple[Any, ...]], tuple[Any, Any]] = {}
        self.library = KernelLibrary(cpu_target.target_context.codegen(), "kernel")
        self.target = target_with(fastmath)

    def texts(self) -> list[str | bytes]:
        """The modules: one for each function, and the functions of C's."""
        found = []
        for name, arguments in self.entries.items():
            kinds = (TableType(self.slots), SizesType(), *[types.int64] * (len(arguments) - 2))
            descriptor, result = self.helper(name, kinds)
            found.append(c_function(name, descriptor, result, len(arguments) - 2))
        helpers = {
            found.mangled_name for (name, _), (found, _) in self.compiled.items() if name not in self.entries
        }
        texts = [with_attributes(text, helpers) for text in self.library.texts]
        return [*texts, *found, *self.library.others()]

    def helper(self, name: str, arguments: tuple[Any, ...]) -> tuple[Any, Any]:
        """The descriptor and the result's type of a function, made once for the types of its arguments."""
        key = name, arguments
        if key not in self.compiled:
            try:
                self.compiled[key] = lowered(self.functions[name], arguments, self.target, self.library)
            except NumbaError as error:
                raise Unsupported(str(error)) from None
        return self.compiled[key]


def flags_with(fastmath: frozenset[str]) -> Foreign:
    """The same for what Numba compiles on the way."""
    flags: Any = compiler.Flags()
    flags.error_model = "numpy"
    flags.fastmath = FastMathOptions(set(fastmath)) if fastmath else FastMathOptions(False)
    return flags


def target_with(fastmath: frozenset[str]) -> Foreign:
    """Numba's target: division by zero is no error, and rounding is taken these liberties with."""
    target = cpu_target.target_context
    return target.subtarget(
        fastmath=FastMathOptions(set(fastmath)) if fastmath else False,
        error_model=create_error_model("numpy", target),
    )


def lowered(
    function: NumbaFunction, arguments: tuple[Any, ...], target: Foreign, library: KernelLibrary
) -> tuple[Any, Any]:
    """Lower one function into a library; its descriptor, and the type of its result."""
    typing = cpu_target.typing_context
    identity = bytecode.FunctionIdentity.from_function(function)
    numba_ir = interpreter.Interpreter(identity).interpret(bytecode.ByteCode(identity))
    postproc.PostProcessor(numba_ir).run()
    typemap, result, calltypes, _ = typed_passes.type_inference_stage(
        typing, target, numba_ir, arguments, None
    )
    descriptor = funcdesc.PythonFunctionDescriptor.from_specialized_function(
        numba_ir, typemap, result, calltypes, mangler=target.mangler, inline=False, noalias=False, abi_tags=()
    )
    with target.push_code_library(library):
        lowering.Lower(target, library, descriptor, numba_ir, metadata={}).lower()
    return descriptor, result


def c_function(name: str, descriptor: Foreign, result: Foreign, numbers: int) -> str:
    """The function of C's that calls one of Numba's, which is given room for its result and for an error."""
    returned = "void" if result == types.none else "i64"
    kinds = ["ptr", "ptr", *["i64"] * numbers]
    parameters = ", ".join([f"{kind} %a{k}" for k, kind in enumerate(kinds)])
    inner = f'@"{descriptor.mangled_name}"'
    return "\n".join(
        [
            f"declare i32 {inner}(ptr, ptr, {', '.join(kinds)})",
            f"define {returned} @{name}({parameters}) #77 {{",
            "  %result = alloca i64",
            "  %error = alloca ptr",
            "  store i64 0, ptr %result",
            f"  %status = call i32 {inner}(ptr %result, ptr %error, {parameters})",
            *(["  ret void"] if returned == "void" else ["  %r = load i64, ptr %result", "  ret i64 %r"]),
            "}",
            _ATTRIBUTES,
        ]
    )


def with_attributes(text: str, helpers: Collection[str]) -> str:
    """A module whose functions compute in full-width vectors; those that others call stay functions."""

    def attributed(match: re.Match[str]) -> str:
        outlined = " noinline" if match[2] in helpers else ""
        return f"{match[1]}{outlined} #77\n{{"

    return f"{_HEAD.sub(attributed, text)}\n{_ATTRIBUTES}\n"
