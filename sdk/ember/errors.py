"""The exception for users: what went wrong and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["SdkError", "UsageError", "problem_list"]


class SdkError(Exception):
    """A failure that is not a bug: printed once, by cli.py, without a traceback.

    `what` is one sentence that names what failed and where, without a full stop; `hint`
    is the remedy, if there is one; `more` is advice for all errors of the class.
    """

    more: str | None = None

    def __init__(self, what: str, hint: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint


class UsageError(SdkError):
    """The command line was wrong: exit status 2 instead of 1."""


def problem_list(what: str, problems: Sequence[str], shown: int = 20) -> str:
    """A sentence for one problem, a list of lines for several."""
    if len(problems) == 1:
        return f"{what}: {problems[0]}"
    lines = [f"{what}: {len(problems)} problems"]
    lines += [f"  - {problem}" for problem in problems[:shown]]
    if len(problems) > shown:
        lines.append(f"  - and {len(problems) - shown} more")
    return "\n".join(lines)
