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
    boards = list(dict.fromkeys(outcome.board for outcome in results))
    root = ET.Element("testsuites", _counts(results), time=f"{seconds:.3f}")
    for board in boards:
        mine = [outcome for outcome in results if outcome.board == board]
        suite = ET.SubElement(root, "testsuite", _counts(mine), name=board)
        for outcome in mine:
            _case(suite, outcome)
    return root


def _counts(results: Sequence[Outcome]) -> dict[str, str]:
    statuses = [outcome.status for outcome in results]
    return {
        "tests": str(len(statuses)),
        "failures": str(statuses.count("failed")),
        "errors": str(statuses.count("error")),
    }


def _case(suite: ET.Element, outcome: Outcome) -> None:
    case = ET.SubElement(suite, "testcase", name=outcome.name, classname=outcome.board)
    if outcome.status == "passed":
        return
    problem = ET.SubElement(
        case, _ELEMENTS[outcome.status], message=_text(outcome.message)
    )
    problem.text = _text(f"{outcome.message}\nagain: {outcome.again}")


def _text(text: str) -> str:
    """XML has no control characters."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)
