"""The committed one-operator programs on this computer; tests/qemu has the boards."""

from __future__ import annotations

from committed import INT8_LAYERS, OPERATORS, check, run


def test_every_operator() -> None:
    """The exporter's programs, and NumPy's."""
    check(run(OPERATORS, "host"))


def test_int8_layers() -> None:
    """The committed part of the cortex_m dialect's calls with random shapes."""
    check(run(INT8_LAYERS, "host"))
