"""Front ends as modules of PyTorch: samples become features, in training, in PyTorch and
on a board by the same code. Importing this needs PyTorch, as `ember export` does.

    from ember.frontends import MFCC, LogMel, Streaming

Each is made of operators of PyTorch alone (torch.fft.rfft among them), so that a network
that begins with one trains, is saved, and runs on a GPU as any other. `ember export` makes
programs of it that need no complex numbers; docs/front-ends.md has all of it.
"""

from ember.frontends.spectra import MFCC, LogMel, mel_filters
from ember.frontends.streaming import Streaming

__all__ = ["MFCC", "LogMel", "Streaming", "mel_filters"]
