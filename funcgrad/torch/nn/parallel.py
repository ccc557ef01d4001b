"""``torch.nn.parallel``: a module spread over no devices is the module."""

from __future__ import annotations

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.nn.module import Module
from funcgrad.types import Anything

__all__ = ["DataParallel"]


class DataParallel(Module):
    """The module itself, one level down: what PyTorch does where there are no devices.

    >>> model = fg.torch.nn.DataParallel(fg.torch.nn.Linear(2, 1))
    >>> model(fg.torch.ones(3, 2)).shape, list(model.state_dict())
    (torch.Size([3, 1]), ['module.weight', 'module.bias'])
    """

    def __init__(
        self, module: Anything, device_ids: Anything = None, output_device: Anything = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.dim = dim
        self.module = module
        self.device_ids: list[int] = []

    def forward(self, *inputs: Operand, **kwargs: Anything) -> Operand:
        """``module(*inputs, **kwargs)``."""
        return self.module(*inputs, **kwargs)
