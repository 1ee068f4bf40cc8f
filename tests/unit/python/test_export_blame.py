"""Errors of an exporter become what went wrong, and where."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from ember.export import blame


def raised(inner: Exception, outer: Exception) -> Exception:
    try:
        try:
            raise inner
        except Exception as error:
            raise outer from error
    except Exception as error:
        return error


def test_the_first_cause_is_told_with_the_pass_of_the_exporter() -> None:
    outer = Exception("An error occurred when running the 'FoldPass' pass after: []")
    error = raised(ValueError("the scale of x is not there"), outer)
    said = blame.of("cannot export net.py", error, Path("net.py")).what
    assert said == (
        "cannot export net.py: ValueError: the scale of x is not there,"
        " in FoldPass of the exporter"
    )


def test_an_error_without_words_tells_where_it_comes_from() -> None:
    error = raised(KeyError("x"), RuntimeError())
    said = blame.of("cannot export net.py", error, Path("net.py")).what
    assert "KeyError: 'x' (python/test_export_blame.py:" in said
    assert "`raise inner`" in said


def test_the_line_is_that_of_the_node_the_exporter_was_at() -> None:
    meta = {"stack_trace": 'File "/home/me/net.py", line 3, in forward'}

    def visit(node: object) -> None:
        raise ValueError("this padding is not supported")

    try:
        visit(SimpleNamespace(meta=meta))
    except ValueError as error:
        said = blame.of("cannot export net.py", error, Path("net.py")).what
    assert said.startswith(
        "cannot export net.py, at net.py:3: ValueError: this padding"
    )
