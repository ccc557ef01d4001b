"""Writes the stub files of `funcgrad.torch`, whose functions come from tables that no checker can read.

``python docs/making/stubs.py`` writes them again; a test holds that they are what this writes.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import re
import subprocess
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TORCH = "funcgrad.torch"

NOT_TENSORS = frozenset({"__array__", "__array_ufunc__"})
"""What says that it gives an operand and gives more than tensors."""

OPERANDS = f"{TORCH}.core.operand"
REST = [inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD]

Parameters = list[inspect.Parameter]


class Names:
    """The names that annotations of a stub mention, and the imports that they need."""

    def __init__(self, taken: Mapping[str, Any]) -> None:
        self.taken = taken
        self.imports: dict[str, set[str]] = {}

    def text(self, annotation: Any, module: str) -> str:
        """An annotation of a function of `module`, in names that mean the same in the stub."""
        if annotation is inspect.Parameter.empty:
            return self.name("Anything", "funcgrad.types")
        tree = ast.parse(str(annotation), mode="eval")
        known = imported_names(module)
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                node.id = self.name(node.id, known.get(node.id, module))
        return ast.unparse(tree)

    def name(self, name: str, module: str) -> str:
        """The name of what a module has, with an underscore where the stub means something else by it."""
        if hasattr(builtins, name):
            module = "builtins"
            if name not in self.taken:
                return name
        elif name not in self.taken:
            self.imports.setdefault(module, set()).add(name)
            return name
        elif getattr(importlib.import_module(module), name, None) is self.taken[name]:
            return name
        self.imports.setdefault(module, set()).add(f"{name} as _{name}")
        return f"_{name}"

    def lines(self) -> list[str]:
        """The statements that import them."""
        return [f"from {module} import {', '.join(sorted(x))}" for module, x in sorted(self.imports.items())]


@cache
def imported_names(module: str) -> dict[str, str]:
    """The module that each name comes from which a module imports, for checkers too."""
    source = Path(inspect.getsourcefile(importlib.import_module(module)) or "").read_text(encoding="utf-8")
    return {
        x.asname or x.name: node.module or ""
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom)
        for x in node.names
    }


def said_by(name: str, f: Callable[..., Any], kin: Mapping[str, Callable[..., Any]]) -> Callable[..., Any]:
    """The function whose signature says what `f` takes: of a form in place, what it is the form of."""
    if [x.kind for x in inspect.signature(f).parameters.values()][1:] != REST:
        return f
    return next((kin[x] for x in bases(name) if isinstance(kin.get(x), types.FunctionType)), f)


def bases(name: str) -> Iterator[str]:
    """What a form in place, a copy of a view, or the function of a method is a form of."""
    if name.startswith("__i"):
        yield f"__{name[3:]}"
    for suffix in ("_", "_copy"):
        if name.endswith(suffix):
            yield name.removesuffix(suffix)
    yield name.removeprefix("unsafe_")


def takes_axis(f: Callable[..., Any], parameters: Parameters) -> bool:
    """Whether ``axis`` is another word for the function's ``dim``."""
    places = {x.name: number for number, x in enumerate(parameters)}
    if "dim" not in places or "axis" in places or not made_by("with_other_words", f):
        return False
    following = parameters[places["dim"] + 1 :]
    return all(x.default is not x.empty or x.kind is x.VAR_KEYWORD for x in following)


def made_by(maker: str, f: Callable[..., Any]) -> bool:
    """Whether a function, or one that it wraps, was made inside of the function of this name."""
    while True:
        if f.__code__.co_qualname.startswith(f"{maker}.<locals>"):
            return True
        if not hasattr(f, "__wrapped__"):
            return False
        f = f.__wrapped__


def stub(name: str, f: Callable[..., Any], names: Names, kin: Mapping[str, Callable[..., Any]]) -> str:
    """One function as a stub."""
    says = said_by(name, f, kin)
    module = inspect.unwrap(says).__module__
    parameters = list(inspect.signature(says).parameters.values())
    parameters[:1] = list(inspect.signature(f).parameters.values())[:1]
    said: list[str] = []
    starred = False
    axis = takes_axis(says, parameters)
    for x in parameters:
        if x.kind is x.VAR_KEYWORD:
            continue
        if x.kind is x.KEYWORD_ONLY and not starred:
            starred = True
            said.append("*")
        home = module if said else inspect.unwrap(f).__module__
        said.append(parameter(x, names, home, axis and x.name == "dim"))
        starred = starred or x.kind is x.VAR_POSITIONAL
    also = []
    if axis:
        dim = next(x for x in parameters if x.name == "dim")
        also.append(f"axis: {names.text(dim.annotation, module)} = ...")
    returns = returned(says, names)
    if made_by("with_out", f) and all(x.name != "out" for x in parameters):
        tensor = names.name("Tensor", f"{TORCH}.core.tensor")
        out = f"{tensor} | None" if returns == "Tensor" else names.name("Operands", OPERANDS)
        also.append(f"out: {out} = None")
    said += ["*", *also] if also and not starred else also
    said += [f"**{x.name}: {names.text(x.annotation, module)}" for x in parameters if x.kind is x.VAR_KEYWORD]
    return f"def {name}({', '.join(said)}) -> {returns}: ..."


def returned(f: Callable[..., Any], names: Names) -> str:
    """What a function returns: a tensor where it says an operand, left open where it may be several kinds."""
    said = names.text(inspect.signature(f).return_annotation, inspect.unwrap(f).__module__)
    forwards = [x.kind for x in inspect.signature(f).parameters.values()][1:] == REST
    if "| tuple" in said or (
        said == "Operand" and forwards and "<locals>" in inspect.unwrap(f).__code__.co_qualname
    ):
        return names.name("Operands", OPERANDS)
    if said == "Operand" and f.__name__ not in NOT_TENSORS:
        return names.name("Tensor", f"{TORCH}.core.tensor")
    return said


def parameter(x: inspect.Parameter, names: Names, module: str, may_be_missing: bool) -> str:
    """One parameter as a stub says it; defaults that are no literals are left open."""
    star = "*" if x.kind is x.VAR_POSITIONAL else ""
    text = f"{star}{x.name}: {names.text(x.annotation, module)}"
    if x.default is x.empty:
        return f"{text} = ..." if may_be_missing else text
    plain = x.default is None or isinstance(x.default, bool | int | float | str | tuple)
    shown = repr(x.default).replace("'", '"') if plain and "inf" not in repr(x.default) else "..."
    return f"{text} = {shown}"


def functions_of(found: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
    """Those of what was found that are functions, by name in order."""
    return {name: found[name] for name in sorted(found) if isinstance(found[name], types.FunctionType)}


def file_text(doc: str, names: Names, body: Iterable[str]) -> str:
    """A stub file; the body first, as it decides what is imported."""
    lines = sorted(body, key=kind_of_line)
    return "\n".join([f'"""{doc}"""', "", *names.lines(), "", *lines, ""])


def kind_of_line(line: str) -> int:
    """Where a line stands: imports come first, values last."""
    return next(
        i for i, start in enumerate(("from ", "__all__", "class ", "def ", "")) if line.startswith(start)
    )


def stub_of_special() -> str:
    """The one of `funcgrad.torch.special`."""
    return stub_of_functions(f"{TORCH}.special", "What the tables of ``special.py`` say")


def stub_of_functional() -> str:
    """The one of `funcgrad.torch.nn.functional`, whose functions are wrapped."""
    return stub_of_functions(f"{TORCH}.nn.functional", "The functions that layers apply")


def stub_of_functions(name: str, doc: str) -> str:
    """The one of a module of functions."""
    module = importlib.import_module(name)
    found = functions_of({name: vars(module)[name] for name in module.__all__})
    names = Names(found)
    doc += ", for editors and type checkers; a script writes it."
    return file_text(
        doc, names, ["__all__: list[str]", *(stub(x, f, names, found) for x, f in found.items())]
    )


def stub_of_methods() -> str:
    """The one of what modules of operations give to `Tensor`."""
    tensor = importlib.import_module(f"{TORCH}.core.tensor").Tensor
    written = names_written(f"{TORCH}.core.tensor", "Tensor")
    found = {name: x for name, x in sorted(vars(tensor).items()) if name not in written}
    names = Names(dict.fromkeys(found))
    body = []
    for name, x in found.items():
        if isinstance(x, types.FunctionType):
            text = stub(name, x, names, vars(tensor))
            text = re.sub(r"\(\w+(: \w+)?", "(self", text, count=1)
            if name in ("__eq__", "__ne__"):
                text = text.replace("other: Operand", "other: object") + "  # type: ignore[override]"
            body.append(f"    {text}")
        elif isinstance(x, property):
            assert x.fget is not None
            returns = names.text(inspect.signature(x.fget).return_annotation, x.fget.__module__)
            returns = "Tensor" if returns == "Operand" else returns
            body += ["    @property", f"    def {name}(self) -> {returns}: ..."]
            if x.fset is not None:
                given = list(inspect.signature(x.fset).parameters.values())[1].annotation
                said = names.text(given, x.fset.__module__)
                body += [f"    @{name}.setter", f"    def {name}(self, value: {said}) -> None: ..."]
    doc = "The methods of tensors that modules of operations give them, for editors; a script writes it."
    return file_text(doc, names, ["class Methods:", *body])


def names_written(module: str, cls: str) -> set[str]:
    """What the text of a class defines, and what every class has."""
    source = Path(inspect.getsourcefile(importlib.import_module(module)) or "").read_text(encoding="utf-8")
    tree = next(x for x in ast.parse(source).body if isinstance(x, ast.ClassDef) and x.name == cls)
    return {"__dict__", "__weakref__", "__doc__", "__annotations__", "__new__"} | {
        x.name if isinstance(x, ast.FunctionDef) else x.id
        for node in tree.body
        for x in ([node] if isinstance(node, ast.FunctionDef) else ast.walk(node))
        if isinstance(x, ast.FunctionDef) or (isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store))
    }


def stub_of_torch() -> str:
    """The one of `funcgrad.torch` itself."""
    torch = importlib.import_module(TORCH)
    found = {name: getattr(torch, name) for name in dir(torch)}
    found |= {name: getattr(torch, name) for name in torch._FROM_FUNCTIONAL if hasattr(torch, name)}
    names = Names(found)
    origins = imported_names(TORCH)
    kin = found | vars(torch.Tensor)
    body = ["__all__: list[str]"]
    for name, x in sorted(found.items()):
        if isinstance(x, types.ModuleType):
            body.append(f"from {TORCH} import {name} as {name}")
        elif name in torch._FROM_FUNCTIONAL and name not in torch._FUNCTIONS:
            body.append(f"from {TORCH}.nn.functional import {name} as {name}")
        elif name in torch._FROM_SUBMODULES:
            body.append(f"from {TORCH}.{torch._FROM_SUBMODULES[name]} import {name} as {name}")
        elif name in origins:
            body.append(f"from {origins[name]} import {name} as {name}")
        elif isinstance(x, types.FunctionType):
            body.append(stub(name, x, names, kin))
        else:
            body.append(constant(name, x, names))
    doc = "What the tables of ``funcgrad.torch`` hold, for editors and type checkers; a script writes it."
    return file_text(doc, names, body)


def constant(name: str, x: object, names: Names) -> str:
    """A class, where it is defined, or the type of a value."""
    kind = x if isinstance(x, type) else type(x)
    if x is None:
        return f"{name}: None"
    home = home_of(kind)
    if home is None:
        return f"class {name}({names.name('Tensor', f'{TORCH}.core.tensor')}): ..."
    if isinstance(x, type):
        return f"from {home} import {kind.__name__} as {name}"
    return f"{name}: {names.name(kind.__name__, home)}"


def home_of(kind: type) -> str | None:
    """The module whose text defines a class, whatever it says of itself; None for one that is made."""
    if kind.__module__ == "builtins":
        return "builtins"
    homes = (
        name
        for name, module in sorted(sys.modules.items())
        if name.startswith(f"{TORCH}.") and defines(module, kind)
    )
    return next(homes, None)


def defines(module: types.ModuleType, kind: type) -> bool:
    """Whether the text of a module has this class."""
    return vars(module).get(kind.__name__) is kind and kind.__name__ not in imported_names(module.__name__)


def meaning(text: str) -> tuple[set[str], list[str]]:
    """What a stub says, however it is laid out: what it imports, and the rest."""
    tree = ast.parse(text)
    imports = {
        f"{node.module}.{x.name} as {x.asname}"
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for x in node.names
    }
    return imports, [ast.dump(node) for node in tree.body if not isinstance(node, ast.ImportFrom)]


STUBS = {
    "__init__.pyi": stub_of_torch,
    "special.pyi": stub_of_special,
    "nn/functional/__init__.pyi": stub_of_functional,
    "core/methods.pyi": stub_of_methods,
}


def main() -> None:
    """Write the files, as the formatter lays them out."""
    for name, text in STUBS.items():
        path = ROOT / "funcgrad" / "torch" / name
        path.write_text(text(), encoding="utf-8")
        for command in (("check", "--select", "I", "--fix"), ("format",)):
            subprocess.run([sys.executable, "-m", "ruff", *command, "-q", str(path)], check=True)


if __name__ == "__main__":
    main()
