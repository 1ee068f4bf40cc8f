"""Samples become features, by modules of PyTorch that run on a board as they do in
training. Importing this needs PyTorch, as `ember export` does.

    from ember.frontends import MFCC, LogMel, Streaming

Each is made of operators of PyTorch alone (torch.fft.rfft among them), so that a
network that begins with one trains, is saved, and runs on a GPU as any other. `ember
export` makes programs of it without complex numbers: docs/front-ends.md.
"""

from ember.frontends.spectra import MFCC, LogMel, mel_filters
from ember.frontends.streaming import Streaming

__all__ = ["MFCC", "LogMel", "Streaming", "mel_filters"]
