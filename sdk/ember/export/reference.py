"""A lowered program becomes its expected outputs, and its ETRecord."""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from ember.errors import SdkError
from ember.export.graph import states
from ember.export.packages import need
from ember.export.source import Sample

# Operators whose every output element is an element of the input or a padding: PyTorch
# has them for float32 only, in which each integer of 16 bits has a place, or for small
# images.
_PICKING = (
    "max_pool2d_with_indices",
    "quantized_max_pool2d",
    "upsample_nearest2d",
    "reflection_pad2d",
)


def of_int8(module: Any, changed: Sequence[int]) -> states.Run:
    """Runs a module of the Cortex-M dialect in PyTorch."""
    torch = need("torch")
    modes = need("torch.utils._python_dispatch")

    class PickingInFloat(modes.TorchDispatchMode):  # type: ignore[misc, name-defined]
        def __torch_dispatch__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            name = function.overloadpacket.__name__
            dtype = args[0].dtype if name in _PICKING else None
            if dtype not in (torch.int8, torch.int16):
                return function(*args, **(kwargs or {}))
            picked = function(args[0].float(), *args[1:], **(kwargs or {}))
            if isinstance(picked, tuple):
                return (picked[0].to(dtype), *picked[1:])
            return picked.to(dtype)

    run = states.run_of(module, changed)

    def outputs(samples: Sequence[Sample]) -> list[Any]:
        with PickingInFloat(), _convolving_in_double():
            return run(samples)

    return outputs


@contextlib.contextmanager
def _convolving_in_double() -> Iterator[None]:
    """PyTorch convolves integers only without dilation; in float64 the sums are exact.
    Its modes do not see what the operators of the dialect call."""
    functional = need("torch.nn.functional")
    plain = functional.conv2d

    def conv2d(x: Any, weight: Any, bias: Any = None, **options: Any) -> Any:
        if x.is_floating_point():
            return plain(x, weight, bias, **options)
        bias = bias if bias is None else bias.double()
        return plain(x.double(), weight.double(), bias, **options).to(x.dtype)

    with mock.patch.object(functional, "conv2d", conv2d):
        yield


def of_runtime(content: bytes) -> states.Run:
    """Runs a program in ExecuTorch's runtime, which has XNNPACK."""
    runtime = need("executorch.extension.pybindings.portable_lib")

    def outputs(samples: Sequence[Sample]) -> list[Any]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.pte"
            path.write_bytes(content)
            loaded = runtime._load_for_executorch(str(path))
            return [states.kept(loaded.forward(_flat(sample))) for sample in samples]

    return outputs


def _flat(sample: Sample) -> tuple[Any, ...]:
    """Copies of the inputs in the flat order in which the program takes them."""
    leaves, _ = need("torch.utils._pytree").tree_flatten(states.kept(sample))
    return tuple(leaves)


# ---- the ETRecord, for ExecuTorch's Inspector ----------------------------------------


def of_program(manager: Any, inputs: Sample) -> bytes | None:
    """The file of an ETRecord, by which the Inspector maps instructions to operators
    and lines of the model; None if the flow was not asked to keep it.

    inputs -- of the program, on which the Inspector computes what it expects
    """
    try:
        record = manager.get_etrecord()
    except RuntimeError:  # nobody asked for one
        return None
    file = io.BytesIO()
    try:
        record.update_representative_inputs(inputs)
        record.save(file)
    except Exception as error:
        said = str(error).partition("\n")[0]
        raise SdkError(
            f"ExecuTorch cannot write an ETRecord of this model: {said}",
            hint="leave out --etrecord",
        ) from error
    return file.getvalue()
