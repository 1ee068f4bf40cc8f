# SPDX-License-Identifier: Apache-2.0
"""Programs become a table of the operators that they call, most used first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from ember import program
from ember.program import Method, bundle, types


def report(paths: Iterable[Path]) -> str:
    counts: Counter[str] = Counter()
    forms: dict[str, Counter[str]] = {}
    programs = 0
    for programs, path in enumerate(paths, 1):  # noqa: B007 - counts
        content = path.read_bytes()
        if path.suffix == ".bpte":
            content = bundle.parse(content).program
        for method in program.parse(content, path.name).methods:
            for _, name, call in method.kernel_calls():
                counts[name] += 1
                kinds = ", ".join(_kind(method, index) for index in call.args)
                forms.setdefault(name, Counter())[kinds] += 1
    lines = [f"{programs} programs, {len(counts)} operators, {counts.total()} calls"]
    for name, count in counts.most_common():
        lines += ["", f"{count:6} {name}"]
        lines += [f"{n:13} ({form})" for form, n in forms[name].most_common()]
    return "\n".join(lines) + "\n"


def _kind(method: Method, index: int) -> str:
    value = method.values[index]
    if isinstance(value, types.Tensor):
        return value.dtype.label
    if isinstance(value, types.TensorList | types.OptionalTensorList):
        kinds = {_kind(method, i) if i >= 0 else "None" for i in value.items}
        return f"[{' | '.join(sorted(kinds))}]"
    return type(value).__name__
