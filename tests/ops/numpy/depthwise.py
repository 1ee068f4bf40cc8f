"""cortex_m::quantized_depthwise_conv2d.out in a network; running this file with
tests/shared on the path writes the case again.

3 x 3 taps of images for which kernels have other loops: few outputs and many, odd and
even rows, strides, padding of 0 to 2, channels that are no fours, and a filter whose
sums are shifted by one. What is expected comes from portable C.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy_images
from row_programs import Network

from ember import program
from ember.model import Model
from ember.plan.passes.execute import Executable
from ember.program import types

DEPTHWISE, SHIFTS = "cortex_m::quantized_depthwise_conv2d.out", 10


def network() -> Model:
    net = Network(11, (1, 6, 45, 31))
    x = net.conv(net.input, 0, 3, 2, depthwise=True)  # 23 x 16
    x = net.conv(x, 0, 3, 1, depthwise=True)
    x = net.conv(x, 0, 3, 2, padding=2, depthwise=True)  # 13 x 9
    x = net.conv(x, 9, 1)
    x = net.conv(x, 0, 3, 1, padding=0, depthwise=True)  # 11 x 7
    x = net.conv(x, 0, 3, 1, depthwise=True)
    x = net.conv(x, 0, 3, 3, padding=1, depthwise=True)  # 4 x 3
    return net.model(net.conv(x, 0, 3, 1, padding=2, depthwise=True))  # 6 x 5


def with_a_near_shift(content: program.Program) -> program.Program:
    """Of one filter of each layer, by the number of the layer."""
    (method,) = content.methods
    constants = list(content.constants)
    calls = [call for _, name, call in method.kernel_calls() if name == DEPTHWISE]
    for number, call in enumerate(calls):
        shifts = method.values[call.args[SHIFTS]]
        assert isinstance(shifts, types.Tensor)
        changed = np.frombuffer(constants[shifts.data_index], np.int32).copy()
        changed[number % changed.size] = -1 - number % 3
        constants[shifts.data_index] = changed.tobytes()
    return replace(content, constants=tuple(constants))


model = network()
changed = with_a_near_shift(model.program)
numpy_images.write(Path(), changed, model, Executable.of(changed))
