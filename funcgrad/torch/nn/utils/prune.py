"""``torch.nn.utils.prune``: parameters some of whose elements are held at zero by a mask.

A pruned parameter ``weight`` is split: ``weight_orig`` is the parameter, ``weight_mask`` a buffer of zeros
and ones, and ``weight`` their product, computed again before each call of the module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.nn.module import Module
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.types import Anything, Number

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]


class BasePruningMethod:
    """A way to choose the elements of a mask; a hook of the modules that it is applied to.

    Classes of it define ``compute_mask(t, default_mask)`` and `PRUNING_TYPE`: "unstructured" methods are
    given the elements that are left, "structured" ones the slices that are left, "global" ones everything.
    """

    PRUNING_TYPE: ClassVar[str] = "unstructured"
    _tensor_name: str

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Operand:
        """The mask by the importance of elements, from one of those that were pruned before."""
        raise NotImplementedError(f"{type(self).__name__} has no compute_mask")

    def __call__(self, module: Module, inputs: Anything) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    def apply_mask(self, module: Module) -> Operand:
        """The product of the parameter and its mask."""
        name = self._tensor_name
        mask, original = getattr(module, f"{name}_mask"), getattr(module, f"{name}_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(
        cls,
        module: Module,
        name: str,
        *args: Anything,
        importance_scores: Tensor | None = None,
        **kwargs: Anything,
    ) -> BasePruningMethod:
        """Prune a parameter of a module, further where it is pruned already; returns the method in charge."""
        method = cls(*args, **kwargs)
        method._tensor_name = name
        earlier = _hook_of(module, name)
        if earlier is None:
            original = getattr(module, name)
            mask = FUNCTIONS["ones_like"](original, requires_grad=False)
        else:
            _drop_hook(module, name)
            original, mask = getattr(module, f"{name}_orig"), getattr(module, f"{name}_mask")
        scores = original if importance_scores is None else importance_scores
        if scores.shape != original.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}"
            )
        chosen: BasePruningMethod = method
        if earlier is not None:
            chosen = earlier if isinstance(earlier, PruningContainer) else PruningContainer(earlier)
            chosen.add_pruning_method(method)
        mask = chosen.compute_mask(scores.detach(), mask)
        if earlier is None:
            del module._parameters[name]
            module.register_parameter(f"{name}_orig", original)
        module.register_buffer(f"{name}_mask", mask)
        setattr(module, name, chosen.apply_mask(module))
        module.register_forward_pre_hook(chosen)
        return chosen

    def prune(
        self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None
    ) -> Operand:
        """A tensor with the elements at zero that this method chooses."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        before = FUNCTIONS["ones_like"](t) if default_mask is None else default_mask
        return t * self.compute_mask(scores.detach(), before)

    def remove(self, module: Module) -> None:
        """Make the product the parameter again, for good."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(f"{name}_orig")
        del module._buffers[f"{name}_mask"]
        original.data = weight.detach()
        module.register_parameter(name, original)


class PruningContainer(BasePruningMethod):
    """Methods one after another, each on what those before it have left."""

    def __init__(self, *args: Anything) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        given = args[0] if len(args) == 1 and isinstance(args[0], Iterable) else args
        for method in given:
            if not self._pruning_methods:
                self._tensor_name = method._tensor_name
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod | None) -> None:
        """Add a method; TypeError for what is none, ValueError for one of another parameter."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and method._tensor_name != self._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to "
                f"{self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += () if method is None else (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Anything:
        return iter(self._pruning_methods)

    def __getitem__(self, k: int) -> BasePruningMethod:
        return self._pruning_methods[k]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Operand:
        """The mask of the last method, on what is left."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        where: Any
        if method.PRUNING_TYPE == "unstructured":
            where = mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = method.dim % t.dim()  # type: ignore[attr-defined]
            left = mask.sum([k for k in range(t.dim()) if k != dim]) != 0
            where = tuple([slice(None)] * dim + [left])
        elif method.PRUNING_TYPE == "global":
            where = tuple([slice(None)] * t.dim())
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        found = mask.clone()
        found[where] = method.compute_mask(t[where], mask[where]).to(dtype=mask.dtype)
        return found


class Identity(BasePruningMethod):
    """Prunes nothing: makes the parts that a pruned parameter has."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Operand:
        """The mask as it is."""
        return default_mask


class _ByAmount(BasePruningMethod):
    """A method that prunes a number of elements or slices, or a fraction of them."""

    def __init__(self, amount: Number) -> None:
        _require_amount(amount)
        self.amount = amount

    def count(self, size: int) -> int:
        """How many of so many; ValueError for more than there are."""
        if isinstance(self.amount, int):
            if self.amount > size:
                raise ValueError(
                    f"amount={self.amount} should be smaller than the number of parameters to prune={size}"
                )
            return self.amount
        counted: int = round(self.amount * size)
        return counted


class RandomUnstructured(_ByAmount):
    """Prunes elements by chance."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Operand:
        """The mask with so many zeros more."""
        mask = default_mask.clone()
        count = self.count(t.nelement())
        if count:
            drawn = FUNCTIONS["rand_like"](t)
            mask.view(-1)[FUNCTIONS["topk"](drawn.view(-1), k=count).indices] = 0
        return mask


class L1Unstructured(_ByAmount):
    """Prunes the elements of the smallest magnitude."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Operand:
        """The mask with so many zeros more."""
        mask = default_mask.clone()
        count = self.count(t.nelement())
        if count:
            smallest = FUNCTIONS["topk"](t.abs().reshape(-1), k=count, largest=False)
            mask.view(-1)[smallest.indices] = 0
        return mask


class _Structured(_ByAmount):
    """A method that prunes whole slices along a dimension."""

    PRUNING_TYPE: ClassVar[str] = "structured"

    def __init__(self, amount: Number, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def with_slices(self, t: Tensor, default_mask: Tensor, keep: Tensor) -> Operand:
        """The mask in which the slices that are not kept are zero."""
        shape = [1] * t.dim()
        shape[self.dim] = t.shape[self.dim]
        return default_mask * keep.reshape(shape).to(dtype=default_mask.dtype)

    def slices(self, t: Tensor) -> int:
        """How many there are; ValueError for a vector, IndexError for a dimension that is not there."""
        if t.dim() <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                f"{t.shape} with {t.dim()} dims"
            )
        if not -t.dim() <= self.dim < t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        return int(t.shape[self.dim])


class RandomStructured(_Structured):
    """Prunes slices by chance."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Operand:
        """The mask with so many slices of zeros more."""
        size = self.slices(t)
        count = self.count(size)
        if not count:
            return default_mask
        drawn = FUNCTIONS["rand"](size)
        keep = drawn > FUNCTIONS["kthvalue"](drawn, k=count).values
        return self.with_slices(t, default_mask, keep)


class LnStructured(_Structured):
    """Prunes the slices with the smallest norms."""

    def __init__(self, amount: Number, n: Anything, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Operand:
        """The mask with so many slices of zeros more."""
        size = self.slices(t)
        count = self.count(size)
        if not count:
            return default_mask
        others = [k for k in range(t.dim()) if k != self.dim % t.dim()]
        norms = FUNCTIONS["norm"](t, p=self.n, dim=others)
        keep = FUNCTIONS["zeros"](size)
        keep[FUNCTIONS["topk"](norms, k=size - count).indices] = 1
        return self.with_slices(t, default_mask, keep)


class CustomFromMask(BasePruningMethod):
    """Prunes by a mask of the user's."""

    PRUNING_TYPE: ClassVar[str] = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Operand:
        """Both masks together."""
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def identity(module: Module, name: str) -> Module:
    """Split a parameter as pruning does, without pruning it; returns the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: Number) -> Module:
    """Prune elements by chance: `amount` of them, or that fraction; returns the module."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: Module, name: str, amount: Number, importance_scores: Tensor | None = None
) -> Module:
    """Prune the elements of the smallest magnitude (or score); returns the module.

    >>> layer = fg.torch.nn.Linear(3, 2)
    >>> int((l1_unstructured(layer, "weight", amount=4).weight == 0).sum())
    4
    >>> sorted(layer.state_dict())
    ['bias', 'weight_mask', 'weight_orig']
    """
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: Number, dim: int) -> Module:
    """Prune slices along a dimension by chance; returns the module."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module, name: str, amount: Number, n: Anything, dim: int, importance_scores: Tensor | None = None
) -> Module:
    """Prune the slices along a dimension with the smallest `n`-norms; returns the module."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune where a mask is zero; returns the module."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: Mapping[tuple[Module, str], Tensor] | None = None,
    **kwargs: Anything,
) -> None:
    """Prune several parameters as if they were one vector. TypeError for a method of slices."""
    parameters, given = list(parameters), dict(importance_scores or {})
    pruned = [getattr(module, name) for module, name in parameters]
    scores = [given.get(key, t).detach() for key, t in zip(parameters, pruned, strict=True)]
    masks = [
        getattr(module, f"{name}_mask", FUNCTIONS["ones_like"](t))
        for (module, name), t in zip(parameters, pruned, strict=True)
    ]
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    method._tensor_name = "temp"
    together = FUNCTIONS["cat"]([t.reshape(-1) for t in scores])
    before = FUNCTIONS["cat"]([mask.detach().reshape(-1) for mask in masks])
    mask = PruningContainer(method).compute_mask(together, before)
    start = 0
    for (module, name), t in zip(parameters, pruned, strict=True):
        custom_from_mask(module, name, mask[start : start + t.numel()].view_as(t))
        start += t.numel()


def remove(module: Module, name: str) -> Module:
    """Make a pruned parameter one whole again, zeros and all; ValueError for one that is not pruned."""
    method = _hook_of(module, name)
    if method is None:
        raise ValueError(
            f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
        )
    _drop_hook(module, name)
    method.remove(module)
    return module


def is_pruned(module: Module) -> bool:
    """Whether a parameter of a module or of one inside of it is pruned."""
    return any(
        isinstance(hook.call, BasePruningMethod)
        for _, part in module.named_modules()
        for hook in part._forward_pre_hooks.values()
    )


def _hook_of(module: Module, name: str) -> BasePruningMethod | None:
    for hook in module._forward_pre_hooks.values():
        if isinstance(hook.call, BasePruningMethod) and hook.call._tensor_name == name:
            return hook.call
    return None


def _drop_hook(module: Module, name: str) -> None:
    for key, hook in list(module._forward_pre_hooks.items()):
        if isinstance(hook.call, BasePruningMethod) and hook.call._tensor_name == name:
            del module._forward_pre_hooks[key]


def _require_amount(amount: Anything) -> None:
    if isinstance(amount, bool) or not isinstance(amount, int | float):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or (isinstance(amount, float) and amount > 1):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer"
        )


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
