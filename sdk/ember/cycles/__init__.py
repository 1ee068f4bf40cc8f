"""Blocks of code that ran become an estimate of cycles of a core."""
