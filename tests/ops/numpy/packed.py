"""ember::packed_conv2d.out in two networks, ember::winograd_conv2d.out in one;
running this file with tests/shared on the path writes the cases again.

No exporter writes such programs: the SDK makes them for cores with DSP instructions.
What is expected comes from the network with plain weights, in portable C.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy_images
from row_programs import Network

from ember import kernels, program
from ember.files.tensors import DType
from ember.model import Model
from ember.plan.passes.execute import Executable
from ember.plan.replan import trimmed
from ember.program import types
from ember.select.packed import QUADS, WINOGRAD, Form, with_packed
from ember.select.resolve import Call, MethodNeeds

INT8 = DType.INT8
_PLAIN = "quantized_conv2d_dsp"


def small() -> Model:
    """Rows of taps that are no fours, and taps beside the image: few bytes, as a start
    of fuzzing."""
    net = Network(6, (1, 3, 6, 5))
    return net.model(net.conv(net.conv(net.input, 8, 3, 2), 4, 3))


def large() -> Model:
    """An odd number of pixels, rows of taps that are no fours, taps beside the image
    and across it, strides, one block of weights to five, and extreme weights."""
    net = Network(5, (1, 3, 9, 11))
    x = net.conv(net.input, 8, 3, 2)  # 5 x 6
    x = net.plus(x, net.conv(net.input, 8, 1, 2))
    x = net.conv(x, 12, 1)
    x = net.conv(x, 4, 3)
    x = net.conv(x, 20, 1, padding=1)  # 7 x 8
    x = net.conv(x, 4, 5, padding=4)  # 11 x 12
    x = net.conv(x, 16, 1, 2)  # 6 x 6
    x = net.conv(x, 8, 2, padding=0)  # 5 x 5
    x = net.conv(x, 36, 1)
    return net.model(net.conv(x, 4, 4, padding=1))


def tiles() -> Model:
    """Sizes that are no whole tiles, in number no whole fours, with more and less than
    the taps' own padding."""
    net = Network(8, (1, 8, 7, 5))
    x = net.conv(net.input, 8, 3)  # 7 x 5
    x = net.conv(x, 8, 3, padding=3)  # 11 x 9
    return net.model(net.conv(x, 2, 3, padding=0))  # 9 x 7


def extreme(content: program.Program) -> program.Program:
    """With -128 and 127 among the weights of every filter."""
    (method,) = content.methods
    constants = list(content.constants)
    random = np.random.default_rng(7)
    weights = [
        value
        for value in method.values
        if isinstance(value, types.Tensor) and value.is_constant and value.dtype == INT8
    ]
    for value in weights:
        old = np.frombuffer(constants[value.data_index], np.int8)
        ends = random.choice(np.array([-128, 127], np.int8), old.size)
        mixed = np.where(random.random(old.size) < 0.2, ends, old)
        constants[value.data_index] = mixed.astype(np.int8).tobytes()
    return replace(content, constants=tuple(constants))


def packed(content: program.Program, form: Form) -> program.Program:
    (method,) = content.methods
    calls = tuple(
        Call(index, _PLAIN, True, 0, 0, False, False, "")
        for index, name, _ in method.kernel_calls()
        if name.startswith("cortex_m::quantized_conv2d.")
    )
    need = MethodNeeds(0, calls, (), 0, 0, 0, False)
    return trimmed(with_packed(content, [need], form, kernels.load()))


def write(model: Model, folder: Path, form: Form) -> None:
    plain = extreme(model.program)
    content = packed(plain, form)
    names = [name for _, name, _ in content.methods[0].kernel_calls()]
    assert form.operator.full_name in names, names
    numpy_images.write(folder, content, model, Executable.of(plain))


for network, form in (
    (small, QUADS),
    (large, QUADS),
    (tiles, WINOGRAD),
):
    write(network(), Path() / network.__name__, form)
