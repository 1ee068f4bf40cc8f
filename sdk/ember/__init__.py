"""Ember: ExecuTorch programs as firmware for a board."""

__version__ = "0.1.0"
