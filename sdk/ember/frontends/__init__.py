"""Samples and pixels become features, by PyTorch modules that train and run on a board.

Importing this needs PyTorch, as `ember export` does.

    from ember.frontends import MFCC, RGB565, YUV422, LogMel, Resize, Streaming
    from ember.frontends import Causal, streamed

Spectra consist of PyTorch's operators (torch.fft.rfft among them), so a network that
begins with a spectrum trains, is saved and runs on a GPU like any other; `ember export`
turns it into a program without complex numbers. Filters and images are operators
ember::* and have no gradient. streamed() turns a network of Causal and recurrent layers
into a network that takes a hop at a time: docs/front-ends.md.
"""

from ember.frontends.filters import FIR, Biquads, Resample, Standardise
from ember.frontends.images import RGB565, YUV422, Bayer, Crop, Resize
from ember.frontends.spectra import MFCC, Int8, LogMel, Spectrum, mel_filters
from ember.frontends.streaming import SVDF, Causal, Streaming, reset, streamed

__all__ = [
    "FIR",
    "MFCC",
    "RGB565",
    "SVDF",
    "YUV422",
    "Bayer",
    "Biquads",
    "Causal",
    "Crop",
    "Int8",
    "LogMel",
    "Resample",
    "Resize",
    "Spectrum",
    "Standardise",
    "Streaming",
    "mel_filters",
    "reset",
    "streamed",
]
