"""Ember: ExecuTorch programs as firmware for a board."""

__version__ = "0.1.0"

__all__ = ["__version__"]
