"""The operators ember::* that filter samples, as PyTorch computes them: sums in the
order of the kernels, so that boards give the same bits.

ember::resample(window, taps, up, down)   (.., reach - 1 + n) -> (.., n up / down)
ember::biquads(x, held, sections)         (.., n) -> (.., n), (.., sections, 2)

kernels/signal/resample.h and biquads.c have the formulas. resample takes float32, or
int16 with taps of 15 fraction bits.
"""

from __future__ import annotations

from typing import Any

from ember.export.packages import need

SCHEMAS = {
    "resample": "Tensor window, Tensor taps, int up, int down",
    "biquads": "Tensor x, Tensor held, Tensor sections",
}
RESULTS = {"biquads": 2}  # others have one
FRACTION = 15  # bits of integer taps


def resample(window: Any, taps: Any, up: int, down: int) -> Any:
    torch = need("torch")
    reach = taps.shape[1]
    count = (window.shape[-1] - reach + 1) * up // down
    steps = torch.arange(count, device=window.device) * down
    samples, phases = steps // up, taps[steps % up]
    integers = not window.is_floating_point()
    wide = window.to(torch.int64) if integers else window
    total = wide.new_zeros((*window.shape[:-1], count))
    for k in range(reach):
        total = total + wide[..., samples + k] * phases[:, k]
    if not integers:
        return total
    rounded = (total + (1 << (FRACTION - 1))) >> FRACTION
    return rounded.clamp(-32768, 32767).to(torch.int16)


def biquads(x: Any, held: Any, sections: Any) -> tuple[Any, Any]:
    torch = need("torch")
    y, states = x, []
    for index, section in enumerate(sections):
        b0, b1, b2, a1, a2 = section.unbind()
        p, q = held[..., index, :].unbind(-1)
        outputs = []
        for sample in y.unbind(-1):
            out = b0 * sample + p
            p = (b1 * sample - a1 * out) + q
            q = b2 * sample - a2 * out
            outputs.append(out)
        y = torch.stack(outputs, dim=-1) if outputs else y.clone()
        states.append(torch.stack([p, q], dim=-1))
    return y, torch.stack(states, dim=-2)


def biquads_shape(x: Any, held: Any, sections: Any) -> tuple[Any, Any]:
    return x.new_empty(x.shape), held.new_empty(held.shape)
