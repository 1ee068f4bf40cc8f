"""Results of `ember test` become a JUnit report, one suite a board."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from ember import output
from ember.run.testing import Outcome

_ELEMENTS = {"failed": "failure", "error": "error"}


def write(results: Sequence[Outcome], seconds: float, path: Path) -> None:
    text = ET.tostring(report(results, seconds), encoding="unicode")
    output.write_text(f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n', path)


def report(results: Sequence[Outcome], seconds: float) -> ET.Element:
    boards = list(dict.fromkeys(one.board for one in results))
    root = ET.Element("testsuites", _counts(results), time=f"{seconds:.3f}")
    for board in boards:
        mine = [one for one in results if one.board == board]
        suite = ET.SubElement(root, "testsuite", _counts(mine), name=board)
        for one in mine:
            _case(suite, one)
    return root


def _counts(results: Sequence[Outcome]) -> dict[str, str]:
    statuses = [one.status for one in results]
    return {
        "tests": str(len(statuses)),
        "failures": str(statuses.count("failed")),
        "errors": str(statuses.count("error")),
    }


def _case(suite: ET.Element, one: Outcome) -> None:
    case = ET.SubElement(suite, "testcase", name=one.name, classname=one.board)
    if one.status == "passed":
        return
    problem = ET.SubElement(case, _ELEMENTS[one.status], message=_text(one.message))
    problem.text = _text(f"{one.message}\nagain: {one.again}")


def _text(text: str) -> str:
    """XML has no control characters."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)
