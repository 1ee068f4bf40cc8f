"""Seeds become random graphs of PyTorch, and these become cases by the real exporter.

Importing any module of it needs PyTorch, as `ember export` does.
"""
