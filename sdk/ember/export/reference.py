"""A lowered program, or its bytes, become the outputs that it shall give."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ember.export import states
from ember.export.packages import need
from ember.export.source import Sample

# Operators whose every output element is an element of the input or a padding: PyTorch
# has them for float32 only, in which every int8 has a place, or for small images.
_PICKING = (
    "max_pool2d_with_indices",
    "quantized_max_pool2d",
    "upsample_nearest2d",
    "reflection_pad2d",
)
# PyTorch convolves integers without dilation only. Both have kernels as (., h, w, .).
_CONVOLVING = ("quantized_conv2d", "quantized_depthwise_conv2d")
_WEIGHT, _DILATION = 1, 5  # of their arguments


def of_int8(module: Any, changed: Sequence[int]) -> states.Run:
    """Calls of a module of the Cortex-M dialect, in PyTorch."""
    torch = need("torch")
    modes = need("torch.utils._python_dispatch")

    class Computable(modes.TorchDispatchMode):  # type: ignore[misc, name-defined]
        def __torch_dispatch__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            name = function.overloadpacket.__name__
            if name in _CONVOLVING and max(args[_DILATION]) > 1:
                return function(*_without_dilation(args), **(kwargs or {}))
            if name not in _PICKING or args[0].dtype != torch.int8:
                return function(*args, **(kwargs or {}))
            picked = function(args[0].float(), *args[1:], **(kwargs or {}))
            if isinstance(picked, tuple):
                return (picked[0].to(torch.int8), *picked[1:])
            return picked.to(torch.int8)

    run = states.run_of(module, changed)

    def outputs(samples: Sequence[Sample]) -> list[Any]:
        with Computable():
            return run(samples)

    return outputs


def _without_dilation(args: Sequence[Any]) -> tuple[Any, ...]:
    """The arguments of the same convolution, with zeros in the gaps of its kernel."""
    weight, (rows, columns) = args[_WEIGHT], args[_DILATION]
    first, height, width, last = weight.shape
    spread = weight.new_zeros(
        first, (height - 1) * rows + 1, (width - 1) * columns + 1, last
    )
    spread[:, ::rows, ::columns] = weight
    changed = {_WEIGHT: spread, _DILATION: [1, 1]}
    return tuple(changed.get(index, value) for index, value in enumerate(args))


def of_runtime(content: bytes) -> states.Run:
    """Calls of a program in ExecuTorch's own runtime, which has XNNPACK."""
    runtime = need("executorch.extension.pybindings.portable_lib")

    def outputs(samples: Sequence[Sample]) -> list[Any]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.pte"
            path.write_bytes(content)
            loaded = runtime._load_for_executorch(str(path))
            return [states.kept(loaded.forward(_flat(sample))) for sample in samples]

    return outputs


def _flat(sample: Sample) -> tuple[Any, ...]:
    """Copies of the inputs as the program takes them, one after the other."""
    leaves, _ = need("torch.utils._pytree").tree_flatten(states.kept(sample))
    return tuple(leaves)
