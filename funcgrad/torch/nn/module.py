"""Modules: parameters, buffers and other modules under names, with a forward function.

Owns registration by attribute, the walks over names, state dictionaries, hooks and the printed form, all as
PyTorch has them. What layers compute is theirs.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from funcgrad.torch.core.dtypes import ALL_DTYPES
from funcgrad.torch.core.hooks import RemovableHandle, added_hook
from funcgrad.torch.core.state import MODES
from funcgrad.torch.core.tensor import Tensor, own
from funcgrad.torch.core.trees import register_module
from funcgrad.torch.nn.backward_hooks import watched_inputs, watched_outputs
from funcgrad.torch.nn.parameter import Buffer, Parameter
from funcgrad.torch.operations.creation import require_cpu

__all__ = ["LoadResult", "Module"]

_TABLES = ("_parameters", "_buffers", "_modules")
_HOOK_TABLES = (
    "_forward_pre_hooks",
    "_forward_hooks",
    "_backward_hooks",
    "_backward_pre_hooks",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


class _Keys(NamedTuple):
    missing_keys: list[str]
    unexpected_keys: list[str]


class LoadResult(_Keys):
    """Which names of a state dictionary and of a module had no partner."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"

    __str__ = __repr__


class Hook(NamedTuple):
    """A hook with how it is to be called."""

    call: Callable[..., Any]
    with_kwargs: bool = False
    always_call: bool = False


class Module:
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
    _version = 1

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # In the arguments of `fg.jit` and its like a module stands for its parameters and buffers.
        register_module(cls)

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    call_super_init = False
    dump_patches = False

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """A module, which has nothing yet; a layer of ours for a device that is not here is refused."""
        if kwargs.get("device") is not None and cls.__module__.startswith("funcgrad."):
            require_cpu(kwargs["device"])
        return super().__new__(cls)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
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
        for table in _HOOK_TABLES:
            held[table] = OrderedDict()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes; every module defines its own."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    # -- calling ---------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        held = self.__dict__
        if not (
            held["_forward_hooks"]
            or held["_forward_pre_hooks"]
            or held["_backward_hooks"]
            or held["_backward_pre_hooks"]
        ):
            return self.forward(*args, **kwargs)
        return self._call_with_hooks(args, kwargs)

    def _call_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for hook in list(self._forward_pre_hooks.values()):
            args, kwargs = _before(self, hook, args, kwargs)
        if self._backward_hooks or self._backward_pre_hooks:
            watch, args = watched_inputs(self, args)
            return watched_outputs(watch, self._forward_with_hooks(args, kwargs))
        return self._forward_with_hooks(args, kwargs)

    def _forward_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            out = self.forward(*args, **kwargs)
        except Exception:
            for hook in self._forward_hooks.values():
                if hook.always_call:
                    _after(self, hook, args, kwargs, None)
            raise
        for hook in list(self._forward_hooks.values()):
            out = _after(self, hook, args, kwargs, out)
        return out

    # -- attributes ------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        held = self.__dict__
        for table in _TABLES:
            if table in held and name in held[table]:
                return held[table][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
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

    def _set_existing(self, name: str, value: Any) -> bool:
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
                "explicitly. To "
                f"express '{name}' as a function of another Tensor, compute the value in the forward() "
                "method."
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

    # -- parts by name ---------------------------------------------------------------------------------

    def get_submodule(self, target: str) -> Module:
        """The module at a path of names such as ``"encoder.0"``."""
        found = self
        for item in target.split(".") if target else ():
            if not hasattr(found, item):
                raise AttributeError(f"{type(found).__name__} has no attribute `{item}`")
            found = getattr(found, item)
            if not isinstance(found, Module):
                raise AttributeError(f"`{item}` is not an nn.Module")
        return found

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Replace the module at a path of names."""
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a path of names."""
        path, _, name = target.rpartition(".")
        found = getattr(self.get_submodule(path), name)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a path of names."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return module._buffers[name]  # type: ignore[no-any-return]

    def get_extra_state(self) -> Any:
        """More state for the state dictionary, for modules that define it."""
        raise RuntimeError("Reached a code path in Module.get_extra_state() that should never be called.")

    def set_extra_state(self, state: Any) -> None:
        """Take back what `get_extra_state` gave."""
        raise RuntimeError("Reached a code path in Module.set_extra_state() that should never be called.")

    # -- walks -----------------------------------------------------------------------------------------

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module and all below it, with their paths; each once."""
        seen = set() if memo is None else memo
        if self in seen:
            return
        if remove_duplicate:
            seen.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(seen, joined(prefix, name), remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """This module and all below it."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly below this one, with their names."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """The modules directly below this one."""
        for _, module in self.named_children():
            yield module

    def _named_members(
        self, table: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen = set()
        modules: Iterable[tuple[str, Module]] = [(prefix, self)]
        if recurse:
            modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        for path, module in modules:
            for name, member in module.__dict__[table].items():
                if member is None or member in seen:
                    continue
                if remove_duplicate:
                    seen.add(member)
                yield joined(path, name), member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters of this module and those below it, with their paths."""
        yield from self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters of this module and those below it."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers of this module and those below it, with their paths."""
        yield from self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers of this module and those below it."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    # -- changes to all of it --------------------------------------------------------------------------

    def apply(self, fn: Callable[[Module], Any]) -> Any:
        """Call `fn` on every module below, then on this one; returns it."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Any:
        """Set this module and those below it to training (or with False to evaluation); returns it."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Any:
        """Set this module and those below it to evaluation; returns it."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
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

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
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

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Convert floating-point parameters and buffers to a dtype; returns the module."""

        def converted(t: Tensor) -> Tensor:
            if t._value.dtype.kind not in "fc":
                return t
            return t.to(*args, **kwargs)  # type: ignore[no-any-return]

        return self._apply(converted)

    def type(self, dst_type: Any) -> Any:
        """Convert all parameters and buffers to a dtype; returns the module."""

        def converted(t: Tensor) -> Tensor:
            return t.to(dst_type)  # type: ignore[no-any-return]

        return self._apply(converted)

    def float(self) -> Any:
        """Convert floating-point parameters and buffers to float32; returns the module."""
        return self.to(ALL_DTYPES["float32"])

    def double(self) -> Any:
        """Convert floating-point parameters and buffers to float64; returns the module."""
        return self.to(ALL_DTYPES["float64"])

    def half(self) -> Any:
        """Convert floating-point parameters and buffers to float16; returns the module."""
        return self.to(ALL_DTYPES["float16"])

    def cpu(self) -> Any:
        """The module itself: values live in NumPy's memory."""
        return self

    def cuda(self, device: Any = None) -> Any:
        """Not supported: there is no CUDA here."""
        raise AssertionError("Torch not compiled with CUDA enabled")

    def share_memory(self) -> Any:
        """Not supported."""
        raise NotImplementedError(
            "funcgrad.torch does not support share_memory; use multiprocessing.shared_memory and from_numpy"
        )

    # -- state dictionaries ----------------------------------------------------------------------------

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """Parameters and persistent buffers by path: tensors on the same memory, without history."""
        if args:
            destination = args[0]
            prefix = args[1] if len(args) > 1 else prefix
            keep_vars = args[2] if len(args) > 2 else keep_vars
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            found = hook(self, destination, prefix, metadata)
            if found is not None:
                destination = found
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        for table, skipped in (("_parameters", ()), ("_buffers", self._non_persistent_buffers_set)):
            for name, t in self.__dict__[table].items():
                if t is not None and name not in skipped:
                    destination[prefix + name] = t if keep_vars else t.detach()
        if type(self).get_extra_state is not Module.get_extra_state:
            destination[f"{prefix}_extra_state"] = self.get_extra_state()

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> LoadResult:
        """Copy tensors by path into parameters and buffers; with `strict` the paths must be the same.

        Raises RuntimeError, with all of them, for paths without partner and shapes that differ.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        metadata = getattr(state_dict, "_metadata", None)
        state = OrderedDict(state_dict)
        _load_into(self, state, "", metadata, assign, strict, missing, unexpected, errors)
        if strict:
            for what, names in (("Unexpected", unexpected), ("Missing", missing)):
                if names:
                    listed = ", ".join(f'"{name}"' for name in names)
                    errors.insert(0, f"{what} key(s) in state_dict: {listed}. ")
        if errors:
            text = "\n\t".join(errors)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{text}")
        return LoadResult(missing, unexpected)

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Copy what belongs to this module alone; notes what does not fit."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        assign = bool(local_metadata.get("assign_to_params_buffers", False))
        members = {k: v for k, v in self._parameters.items() if v is not None}
        skipped = self._non_persistent_buffers_set
        members |= {k: v for k, v in self._buffers.items() if v is not None and k not in skipped}
        for name, held in members.items():
            key = prefix + name
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
            else:
                self._load_one(name, held, key, state_dict[key], assign, error_msgs)
        self._load_extra_state(state_dict, prefix, strict, missing_keys, unexpected_keys)
        if strict:
            for key in state_dict:
                rest = key.removeprefix(prefix).split(".")
                if not key.startswith(prefix) or key == f"{prefix}_extra_state":
                    continue
                if rest[0] not in (self._modules if len(rest) > 1 else members):
                    unexpected_keys.append(key)

    def _load_one(
        self, name: str, held: Tensor, key: str, given: Any, assign: bool, errors: list[str]
    ) -> None:
        if not isinstance(given, Tensor):
            errors.append(
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object '
                "from "
                f"checkpoint but received {type(given)}"
            )
            return
        if given._value.shape != held._value.shape:
            errors.append(
                f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, the "
                "shape in "
                f"current model is {held.shape}."
            )
            return
        if assign:
            if isinstance(held, Parameter) and not isinstance(given, Parameter):
                given = Parameter(given, held.requires_grad)
            setattr(self, name, given)
            return
        memory = own(held)
        memory[...] = given._value
        held._version_box[0] += 1

    def _load_extra_state(
        self, state_dict: Any, prefix: str, strict: bool, missing: list[str], unexpected: list[str]
    ) -> None:
        key = f"{prefix}_extra_state"
        if type(self).set_extra_state is not Module.set_extra_state:
            if key in state_dict:
                self.set_extra_state(state_dict[key])
            elif strict:
                missing.append(key)
        elif strict and key in state_dict:
            unexpected.append(key)

    # -- hooks -----------------------------------------------------------------------------------------

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before forward; what it returns replaces the arguments."""
        return _registered(self._forward_pre_hooks, Hook(hook, with_kwargs), prepend)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after forward; what it returns replaces the output."""
        return _registered(self._forward_hooks, Hook(hook, with_kwargs, always_call), prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` in the backward pass; it may return others."""
        return _registered(self._backward_hooks, hook, prepend)

    register_backward_hook = register_full_backward_hook

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` before the module's backward; it may return others."""
        return _registered(self._backward_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` after `state_dict`."""
        return _registered(self._state_dict_hooks, hook, False)

    _register_state_dict_hook = register_state_dict_post_hook

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before `state_dict`."""
        return _registered(self._state_dict_pre_hooks, hook, False)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, ...)`` before `load_state_dict`."""
        return _registered(self._load_state_dict_pre_hooks, hook, False)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` after `load_state_dict`."""
        return _registered(self._load_state_dict_post_hooks, hook, False)

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
        for table in _HOOK_TABLES:
            self.__dict__.setdefault(table, OrderedDict())


def joined(path: str, name: str) -> str:
    """A path of names with one more."""
    return f"{path}.{name}" if path else name


def indented(text: str) -> str:
    """All lines but the first moved two places to the right."""
    return text.replace("\n", "\n  ")


def _typename(x: Any) -> str:
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


def _check_name(module: Module, name: Any, what: str, table: str) -> None:
    if "_parameters" not in module.__dict__:
        raise AttributeError(f"cannot assign {what} before Module.__init__() call")
    if not isinstance(name, str):
        raise TypeError(f"{what} name should be a string. Got {_typename(name)}")
    if "." in name:
        raise KeyError(f'{what} name can\'t contain "."')
    if name == "":
        raise KeyError(f'{what} name can\'t be empty string ""')
    if hasattr(module, name) and name not in module.__dict__[table]:
        raise KeyError(f"attribute '{name}' already exists")


def _registered(hooks: Any, hook: Any, first: bool) -> RemovableHandle:
    handle = added_hook(hooks, hook)
    if first:
        hooks.move_to_end(handle.id, last=False)
    return handle


def _before(module: Module, hook: Hook, args: Any, kwargs: Any) -> tuple[Any, Any]:
    if hook.with_kwargs:
        found = hook.call(module, args, kwargs)
        if found is None:
            return args, kwargs
        if not (isinstance(found, tuple) and len(found) == 2):
            raise RuntimeError(
                f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {found}."
            )
        return found
    found = hook.call(module, args)
    if found is None:
        return args, kwargs
    return found if isinstance(found, tuple) else (found,), kwargs


def _after(module: Module, hook: Hook, args: Any, kwargs: Any, out: Any) -> Any:
    found = hook.call(module, args, kwargs, out) if hook.with_kwargs else hook.call(module, args, out)
    return out if found is None else found


def _load_into(
    module: Module,
    state: Any,
    prefix: str,
    metadata: Any,
    assign: bool,
    strict: bool,
    missing: list[str],
    unexpected: list[str],
    errors: list[str],
) -> None:
    local = {} if metadata is None else dict(metadata.get(prefix[:-1], {}))
    if assign:
        local["assign_to_params_buffers"] = True
    grad, MODES.grad = MODES.grad, False
    try:
        module._load_from_state_dict(state, prefix, local, True, missing, unexpected, errors)
    finally:
        MODES.grad = grad
    for name, child in module._modules.items():
        if child is not None:
            own_prefix = f"{prefix}{name}."
            part = OrderedDict([(k, v) for k, v in state.items() if k.startswith(own_prefix)])
            _load_into(child, part, own_prefix, metadata, assign, strict, missing, unexpected, errors)
    for hook in module._load_state_dict_post_hooks.values():
        hook(module, LoadResult(missing, unexpected))
