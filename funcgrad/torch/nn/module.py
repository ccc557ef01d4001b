"""Modules: parameters, buffers and other modules under names, with a forward function.

Owns registration by attribute, changes to all of it, and the printed form, all as PyTorch has them. Calls and
hooks, state dictionaries, and walks over names have files of their own. What layers compute is theirs.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Self

from funcgrad.torch.core.dtypes import ALL_DTYPES
from funcgrad.torch.core.dtypes import dtype as torch_dtype_class
from funcgrad.torch.core.meta import NO_DATA
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor, own
from funcgrad.torch.core.trees import register_module
from funcgrad.torch.nn.module_calls import HOOK_TABLES, Calls
from funcgrad.torch.nn.module_parts import Parts
from funcgrad.torch.nn.module_state import LoadResult, State
from funcgrad.torch.nn.parameter import Buffer, Parameter
from funcgrad.torch.operations.creating.conversion import device
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.types import Anything, Device, DTypeLike

__all__ = ["LoadResult", "Module"]

_TABLES = ("_parameters", "_buffers", "_modules")


class Module(Calls, State, Parts):
    """The base of all layers: assign parameters and other modules as attributes, define ``forward``.

    >>> from funcgrad import torch
    >>> class Scale(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = torch.nn.Parameter(torch.tensor([2.0]))
    ...     def forward(self, x):
    ...         return self.factor * x
    >>> layer = Scale()
    >>> layer(torch.tensor([3.0]))
    tensor([6.], grad_fn=<MulBackward0>)
    >>> [name for name, _ in layer.named_parameters()]
    ['factor']
    """

    training: bool

    def __init_subclass__(cls, **options: Anything) -> None:
        super().__init_subclass__(**options)
        # In the arguments of `fg.jit` and its like a module stands for its parameters and buffers.
        register_module(cls)
        if cls.__module__.startswith("funcgrad.") and "__init__" in cls.__dict__:
            setattr(cls, "__init__", on_its_device(cls.__init__))  # noqa: B010 - mypy allows no assignment

    call_super_init = False
    dump_patches = False

    def __init__(self, *args: Anything, **kwargs: Anything) -> None:
        if args or kwargs:
            name = type(self).__name__
            if kwargs:
                raise TypeError(
                    f"{name}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
                )
            raise TypeError(f"{name}.__init__() takes 1 positional argument but {len(args) + 1} were given")
        held = self.__dict__
        held["training"] = True
        for table in _TABLES:
            held[table] = {}
        held["_non_persistent_buffers_set"] = set()
        for table in HOOK_TABLES:
            held[table] = OrderedDict()

    def forward(self, *args: Anything, **kwargs: Anything) -> Operand:
        """What the module computes; every module defines its own."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    # -- attributes ------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Anything:
        held = self.__dict__
        for table in _TABLES:
            if table in held and name in held[table]:
                return held[table][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Anything) -> None:
        held = self.__dict__
        if isinstance(value, Parameter):
            _require_init(held, "parameters")
            _remove(held, name, "_buffers", "_modules")
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            _require_init(held, "module")
            _remove(held, name, "_parameters", "_buffers")
            held["_modules"][name] = value
        elif isinstance(value, Buffer):
            _require_init(held, "buffers")
            _remove(held, name, "_parameters", "_modules")
            held["_buffers"].pop(name, None)
            self.register_buffer(name, value, value.persistent)
        elif "_parameters" in held and self._set_existing(name, value):
            return
        else:
            object.__setattr__(self, name, value)

    def _set_existing(self, name: str, value: Anything) -> bool:
        """Store what replaces a parameter, module or buffer; False if there is none of that name."""
        held = self.__dict__
        kind = _typename(value)
        if name in held["_parameters"]:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{kind}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            held["_parameters"][name] = None
        elif name in held["_modules"]:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{kind}' as child module '{name}' (torch.nn.Module or None expected)"
                )
            held["_modules"][name] = None
        elif name in held["_buffers"]:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{kind}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None "
                    "expected)"
                )
            held["_buffers"][name] = value
        else:
            return False
        return True

    def __delattr__(self, name: str) -> None:
        for table in _TABLES:
            if name in self.__dict__[table]:
                del self.__dict__[table][name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = {*object.__dir__(self), *[name for table in _TABLES for name in self.__dict__[table]]}
        return sorted([name for name in names if not name[:1].isdigit()])

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under a name; None reserves the name."""
        _check_name(self, name, "parameter", "_parameters")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{_typename(param)}' object to parameter '{name}' (torch.nn.Parameter or "
                "None required)"
            )
        if param is not None and param._node is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created "
                f"explicitly. To express '{name}' as a function of another Tensor, compute the value in the "
                "forward() method."
            )
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is state and not a parameter; in the state dictionary only if persistent."""
        _check_name(self, name, "buffer", "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{_typename(tensor)}' object to buffer '{name}' (torch Tensor or None "
                "required)"
            )
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a module under a name."""
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{_typename(module)} is not a Module subclass")
        _check_name(self, name, "module", "_modules")
        self._modules[name] = module

    register_module = add_module

    # -- changes to all of it --------------------------------------------------------------------------

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call `fn` on every module below, then on this one; returns it."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Self:
        """Set this module and those below it to training (or with False to evaluation); returns it."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Set this module and those below it to evaluation; returns it."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Module:
        """Set whether the parameters require grad; returns the module."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or set them to zero."""
        for parameter in self.parameters():
            grad = parameter._grad
            if grad is None:
                continue
            if set_to_none:
                parameter._grad = None
            else:
                if grad._node is not None:
                    grad.detach_()
                else:
                    grad.requires_grad_(False)
                grad.zero_()

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replace the values of all parameters, their gradients, and all buffers; returns the module."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for parameter in self._parameters.values():
            if parameter is None:
                continue
            grad = parameter._grad
            parameter._grad = None
            parameter._value = own(fn(parameter.detach()))
            if grad is not None:
                parameter._grad = fn(grad.detach())
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Anything, **kwargs: Anything) -> Self:
        """Convert floating-point parameters and buffers to a dtype; returns the module."""

        dtype = kwargs.get("dtype", next((x for x in args if isinstance(x, torch_dtype_class)), None))
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )

        def converted(t: Tensor) -> Tensor:
            if t._value.dtype.kind not in "fc":
                return t.to(*places)
            return t.to(*args, **kwargs)

        places = [x for x in (*args, kwargs.get("device")) if isinstance(x, str | device)]
        try:
            return self._apply(converted)
        except NotImplementedError as error:
            if str(error) != NO_DATA:
                raise
            raise NotImplementedError(
                f"{NO_DATA} Please use torch.nn.Module.to_empty() instead of torch.nn.Module.to() when "
                "moving module from meta to a different device."
            ) from None

    def to_empty(self, *, device: Device, recurse: bool = True) -> Self:
        """Give all parameters and buffers new memory on a device, without their numbers; returns the module.

        >>> from funcgrad import torch
        >>> torch.nn.Linear(2, 1, device="meta").to_empty(device="cpu").weight.device
        device(type='cpu')
        """
        return self._apply(lambda t: FUNCTIONS["empty_like"](t, device=device), recurse)

    def type(self, dst_type: DTypeLike) -> Self:
        """Convert all parameters and buffers to a dtype; returns the module."""

        def converted(t: Tensor) -> Tensor:
            return t.to(dst_type)

        return self._apply(converted)

    def float(self) -> Self:
        """Convert floating-point parameters and buffers to float32; returns the module."""
        return self.to(ALL_DTYPES["float32"])

    def double(self) -> Self:
        """Convert floating-point parameters and buffers to float64; returns the module."""
        return self.to(ALL_DTYPES["float64"])

    def half(self) -> Self:
        """Convert floating-point parameters and buffers to float16; returns the module."""
        return self.to(ALL_DTYPES["float16"])

    def compile(self, *args: object, **kwargs: object) -> None:
        """Accepted, and nothing changes: `fg.jit` compiles functions that take the module."""

    def cpu(self) -> Self:
        """The module itself; NotImplementedError for one on `meta`, which has no numbers to copy."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device: Device = None) -> Self:
        """Not supported: there is no CUDA here."""
        raise AssertionError("Torch not compiled with CUDA enabled")

    def share_memory(self) -> Self:
        """Not supported."""
        raise NotImplementedError(
            "funcgrad.torch does not support share_memory; use multiprocessing.shared_memory and from_numpy"
        )

    # -- printing --------------------------------------------------------------------------------------

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What the printed form says between the parentheses, for modules that define it."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {indented(repr(module))}" for name, module in self._modules.items()]
        if not children and len(lines) <= 1:
            return f"{self._get_name()}({extra})"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines + children) + "\n)"

    # -- copies ----------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for table in HOOK_TABLES:
            self.__dict__.setdefault(table, OrderedDict())


def on_its_device(init: Callable[..., None]) -> Callable[..., None]:
    """The constructor of a layer, which makes its parameters on the device that it is given."""

    @functools.wraps(init)
    def constructed(self: Module, *args: Anything, **kwargs: Anything) -> None:
        if kwargs.get("device") is None:
            return init(self, *args, **kwargs)
        with device(kwargs["device"]):
            return init(self, *args, **kwargs)

    return constructed


def indented(text: str) -> str:
    """All lines but the first moved two places to the right."""
    return text.replace("\n", "\n  ")


def _typename(x: Anything) -> str:
    if isinstance(x, Tensor):
        return str(x.type())
    kind = type(x)
    module = kind.__module__.replace("funcgrad.torch", "torch")
    return kind.__name__ if module in ("builtins", "__builtin__") else f"{module}.{kind.__name__}"


def _require_init(held: dict[str, Any], what: str) -> None:
    if "_parameters" not in held:
        raise AttributeError(f"cannot assign {what} before Module.__init__() call")


def _remove(held: dict[str, Any], name: str, *tables: str) -> None:
    held.pop(name, None)
    for table in tables:
        held[table].pop(name, None)
    held["_non_persistent_buffers_set"].discard(name)


def _check_name(module: Module, name: Anything, what: str, table: str) -> None:
    if "_parameters" not in module.__dict__:
        raise AttributeError(f"cannot assign {what} before Module.__init__() call")
    if not isinstance(name, str):
        raise TypeError(f"{what} name should be a string. Got {_typename(name)}")
    if "." in name:
        raise KeyError(f'{what} name can\'t contain "."' + (f", got: {name}" if what == "module" else ""))
    if name == "":
        raise KeyError(f'{what} name can\'t be empty string ""')
    if hasattr(module, name) and name not in module.__dict__[table]:
        raise KeyError(f"attribute '{name}' already exists")
