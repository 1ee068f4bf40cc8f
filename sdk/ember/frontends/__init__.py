"""Samples and pixels become features, by modules of PyTorch that run on a board as they
do in training. Importing this needs PyTorch, as `ember export` does.

    from ember.frontends import MFCC, RGB565, YUV422, LogMel, Resize, Streaming
    from ember.frontends import Causal, streamed

Spectra are made of operators of PyTorch alone (torch.fft.rfft among them), so that a
network that begins with one trains, is saved, and runs on a GPU as any other. `ember
export` makes programs of it without complex numbers. Filters, and images in whole
numbers, are operators ember::* and have no gradient. A network of Causal and
recurrent layers becomes one that takes a hop at a time: docs/front-ends.md.
"""

from ember.frontends.filters import FIR, Biquads, Resample, Standardise
from ember.frontends.fixed import Int8, Spectrum
from ember.frontends.hops import Causal, reset, streamed
from ember.frontends.images import RGB565, YUV422, Bayer, Crop, Resize
from ember.frontends.spectra import MFCC, LogMel, mel_filters
from ember.frontends.streaming import Streaming
from ember.frontends.svdf import SVDF

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
