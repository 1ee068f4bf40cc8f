"""A front end of whole recordings becomes one of a hop of samples for each call."""

from __future__ import annotations

from typing import Any

from ember.errors import SdkError
from ember.export.packages import need

torch = need("torch")


class Streaming(torch.nn.Module):  # type: ignore[misc, name-defined]
    """One hop of samples in, one frame out: (.., hop) -> (.., features).

    front     a LogMel, an MFCC, or any module with `window`, `hop` and of_frames();
              with `int16` if its samples are
    channels  dimensions before the samples, such as (2,) for stereo

    The last window - hop samples are a state, zeros at the start. Calls in a row give,
    bit by bit on a board, the frames of `front` for window - hop zeros and then all
    samples. Loading the method again, or reset() here, starts again.
    """

    def __init__(self, front: Any, channels: tuple[int, ...] = ()) -> None:
        super().__init__()
        if front.hop > front.window:
            raise SdkError(
                f"a hop of {front.hop} leaves samples out of windows of {front.window}",
                hint="take a hop of at most the window",
            )
        self.front = front
        kept = front.window - front.hop
        dtype = torch.int16 if getattr(front, "int16", False) else torch.float32
        zeros = torch.zeros(*channels, kept, dtype=dtype)
        self.register_buffer("samples", zeros, persistent=False)

    def forward(self, hop: Any) -> Any:
        frame = torch.cat([self.samples, hop], dim=-1)
        self.samples.copy_(frame[..., self.front.hop :])
        return self.front.of_frames(frame)

    def reset(self) -> None:
        self.samples.zero_()
