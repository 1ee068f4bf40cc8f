# SPDX-License-Identifier: Apache-2.0
"""Functions become modules, with the layers and buffers that they use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn


class Apply(nn.Module):
    """A module that is one function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Any) -> Any:
        return self.function(*inputs)


class Net(Apply):
    """A function whose first argument is the module: its layers and buffers, by the
    names that `parts` gives them."""

    def __init__(self, function: Callable[..., Any], **parts: Any) -> None:
        super().__init__(function)
        for name, part in parts.items():
            if isinstance(part, torch.Tensor) and not isinstance(part, nn.Parameter):
                self.register_buffer(name, part)
            else:
                setattr(self, name, part)

    def forward(self, *inputs: Any) -> Any:
        return self.function(self, *inputs)


class NetOfOne(Net):
    """The same with a single input, whose shape can be dynamic."""

    def forward(self, x: Any) -> Any:
        return self.function(self, x)
