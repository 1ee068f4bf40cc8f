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


def test_the_first_cause_is_told_not_the_pass_of_the_exporter() -> None:
    outer = Exception("An error occurred when running the 'FoldPass' pass after: []")
    error = raised(ValueError("the scale of x is not there"), outer)
    said = blame.of("cannot export net.py", error, Path("net.py")).what
    assert said == "cannot export net.py: ValueError: the scale of x is not there"


def test_an_error_without_words_tells_where_it_comes_from() -> None:
    error = raised(KeyError("x"), RuntimeError())
    said = blame.of("cannot export net.py", error, Path("net.py")).what
    assert "KeyError: 'x' (python/test_export_blame.py:" in said
    assert "`raise inner`" in said


META = {
    "stack_trace": 'File "/home/me/net.py", line 3, in forward',
    "nn_module_stack": {"a": ("", "Net"), "b": ("L['self'].features.3@1", "GELU")},
}


def test_the_module_is_that_of_a_node_that_the_error_names() -> None:
    node = SimpleNamespace(op="call_function", name="gelu_1", target="g", meta=META)
    other = SimpleNamespace(op="call_function", name="gelu", target="g", meta=META)
    error = ValueError("no kernel takes gelu_1")
    for nodes in ([node], [other]):
        said = blame.of("cannot export", error, Path("net.py"), nodes).what
        place = ", in features.3, at net.py:3" if node in nodes else ""
        assert said == f"cannot export{place}: ValueError: no kernel takes gelu_1"


def test_the_place_is_that_of_the_node_the_exporter_was_at() -> None:

    def visit(node: object) -> None:
        raise ValueError("this padding is not supported")

    try:
        visit(SimpleNamespace(meta=META))
    except ValueError as error:
        said = blame.of("cannot export net.py", error, Path("net.py")).what
    assert said.startswith(
        "cannot export net.py, in features.3, at net.py:3: ValueError: this padding"
    )
