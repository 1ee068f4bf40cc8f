"""Programs and lists of operators become op info: which operators, on which tensors.

Op info is what ExecuTorch's tools keep in selected_operators.yaml. A kernel key such as
v1/6;0,1|6;0,1 has the dtype (ExecuTorch's number) and the dim order of each tensor
argument of a call; a list counts as its first tensor.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from ember import files, paths
from ember.errors import SdkError, problem_list
from ember.kernels import OperatorKernels
from ember.kernels import library as kernel_library
from ember.program import Method, OptionalTensorList, Program, Tensor, TensorList

DEFAULT = "default"  # the key of an operator that is called with any tensors
_BACKEND = "backend/"  # prefix of a build feature that names a backend
_GROUP = r"\d+;(\d+(,\d+)*)?"
_KEY = re.compile(rf"v\d+(/({_GROUP}(\|{_GROUP})*)?)?")
_FIELDS = frozenset(
    {
        "build_features",
        "custom_classes",
        "debug_info",
        "et_kernel_metadata",
        "include_all_non_op_selectives",
        "include_all_operators",
        "kernel_metadata",
        "operators",
    }
)


@dataclass(frozen=True)
class OpInfo:
    """What a build must include; `|` is the union."""

    keys: Mapping[str, frozenset[str]] = field(default_factory=dict)  # by operator
    sources: Mapping[str, frozenset[str]] = field(
        default_factory=dict
    )  # the programs or files that require it
    everything: bool = False  # include every operator
    # Kept for ExecuTorch's tools, unused here: build features, custom classes, ...
    features: frozenset[str] = frozenset()
    classes: frozenset[str] = frozenset()
    # By operator: the file that gives its schema, and the schema.
    schemas: Mapping[str, tuple[Path, str]] = field(default_factory=dict)

    @property
    def operators(self) -> list[str]:
        return sorted(self.keys)

    @property
    def backends(self) -> frozenset[str]:
        """Ids of the backends that programs delegate to."""
        features = [
            feature for feature in self.features if feature.startswith(_BACKEND)
        ]
        return frozenset(feature.removeprefix(_BACKEND) for feature in features)

    def dtypes(self, op: str) -> frozenset[int] | None:
        """ExecuTorch's numbers of the dtypes that `op` is used with; None means any."""
        keys = self.keys.get(op, frozenset())
        if not keys or DEFAULT in keys:
            return None
        groups = (group for key in keys for group in _groups(key))
        return frozenset(int(group.partition(";")[0]) for group in groups)

    def __or__(self, other: OpInfo) -> OpInfo:
        return OpInfo(
            _union(self.keys, other.keys),
            _union(self.sources, other.sources),
            self.everything or other.everything,
            self.features | other.features,
            self.classes | other.classes,
            {**self.schemas, **other.schemas},
        )

    def to_yaml(self) -> str:
        """The text of a selected_operators.yaml."""
        return _dump(
            {
                "build_features": sorted(self.features),
                "custom_classes": sorted(self.classes),
                "et_kernel_metadata": {
                    op: sorted(self.keys[op]) for op in self.operators if self.keys[op]
                },
                "include_all_non_op_selectives": False,
                "include_all_operators": self.everything,
                "kernel_metadata": {},
                "operators": {
                    op: {
                        "debug_info": sorted(self.sources.get(op, ())),
                        "include_all_overloads": False,
                        "is_root_operator": True,
                        "is_used_for_training": True,
                    }
                    for op in self.operators
                },
            }
        )


def _union(
    a: Mapping[str, frozenset[str]], b: Mapping[str, frozenset[str]]
) -> dict[str, frozenset[str]]:
    return {op: a.get(op, frozenset()) | b.get(op, frozenset()) for op in {**a, **b}}


def _groups(key: str) -> list[str]:
    return [group for group in key.partition("/")[2].split("|") if group]


def union(items: Iterable[OpInfo]) -> OpInfo:
    total = OpInfo()
    for info in items:
        total |= info
    return total


# ---- from a program ------------------------------------------------------------------


def of_program(program: Program, source: str) -> OpInfo:
    """The operators that a program lists, with a key for each kind of call."""
    keys: dict[str, set[str]] = {}
    for method in program.methods:
        for name in method.operator_names:
            keys.setdefault(name, set())
        for _, name, call in method.kernel_calls():
            keys[name].add(_key(method, call.args))
    ids = {each.id for method in program.methods for each in method.delegates}
    return replace(
        _named(keys, source), features=frozenset(_BACKEND + backend for backend in ids)
    )


def _named(keys: Mapping[str, Iterable[str]], source: str) -> OpInfo:
    return OpInfo(
        {op: frozenset(items) for op, items in keys.items()},
        {op: frozenset({source}) for op in keys},
    )


def _key(method: Method, args: Sequence[int]) -> str:
    tensors = (_first_tensor(method, index) for index in args)
    groups = (
        f"{int(tensor.dtype)};{','.join(map(str, tensor.dim_order))}"
        for tensor in tensors
        if tensor
    )
    text = "|".join(groups)
    return f"v1/{text}" if text else "v1"


def _first_tensor(method: Method, index: int) -> Tensor | None:
    value = method.values[index]
    if isinstance(value, TensorList | OptionalTensorList):
        there = (item for item in value.items if item >= 0)
        value = next((method.values[item] for item in there), value)
    return value if isinstance(value, Tensor) else None


# ---- from lists and files ----------------------------------------------------------


def of_names(text: str, known: Iterable[str] | None = None) -> OpInfo:
    """Operators from a command line, "add.out,my::op.out"; aten:: may be omitted.

    With `known`, raises an SdkError that names every operator that is not in it.
    """
    names = [name for name in re.split(r"[\s,]+", text) if name]
    full = [name if "::" in name else f"aten::{name}" for name in names]
    if known is not None:
        check(full, set(known), "--ops")
    return _named({op: [DEFAULT] for op in full}, "--ops")


def check(names: Sequence[str], known: set[str], where: str) -> None:
    """Raise an SdkError if `names` has operators that are not in `known`."""
    problems = []
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.7)
            meant = f": did you mean {near[0]}?" if near else ""
            problems.append(f"Ember has no operator {name}{meant}")
    if problems:
        raise SdkError(
            problem_list(f"{where} names unknown operators", problems),
            hint="docs/operators.md lists every operator",
        )


def check_schemas(
    info: OpInfo, known: Mapping[str, OperatorKernels], methods: Iterable[Method]
) -> None:
    """Raise an SdkError if a schema in a file contradicts Ember's kernels or a call."""
    counts = {
        op: len(kernel_library.arguments(schema))
        for op, (_, schema) in info.schemas.items()
    }
    problems = []
    for op, count in counts.items():
        earlier = known[op].earlier if op in known else ()
        if count in {len(kernel_library.arguments(each.schema)) for each in earlier}:
            counts[op] = known[op].arguments  # which calls of earlier lists have
        elif op in known and known[op].arguments != count:
            problems.append(
                f"{info.schemas[op][0]}: the schema of {op} has {count} arguments, that"
                f" of its kernels {known[op].arguments}: {known[op].schema}"
            )
    for method in methods:
        for index, op, call in method.kernel_calls():
            if op in counts and len(call.args) - counts[op] not in (0, 1):
                problems.append(
                    f"{info.schemas[op][0]}: the schema of {op} has {counts[op]}"
                    f" arguments, instruction {index} of method {method.name} gives"
                    f" {len(call.args)}"
                )
    if problems:
        raise SdkError(problem_list("schemas do not match", problems))


def everything() -> OpInfo:
    return OpInfo(everything=True)


def read(path: Path) -> OpInfo:
    """A selected_operators.yaml, or a list of operators with schemas."""
    data = files.read_yaml(path, "the list of operators")
    if isinstance(data, list) or (isinstance(data, dict) and _is_library(data)):
        entries = kernel_library.of(path, data).entries
        info = _named({entry.op: [DEFAULT] for entry in entries}, str(path))
        given = {entry.op: (path, entry.schema) for entry in entries if entry.schema}
        return replace(info, schemas=given)
    if not isinstance(data, dict):
        raise SdkError(
            f"{path} is not a list of operators",
            hint="see docs/selective-build.md for the layouts",
        )
    return _selected(path, data)


def _is_library(data: Mapping[str, Any]) -> bool:
    return isinstance(data.get("operators"), list)


def _selected(path: Path, data: Mapping[str, Any]) -> OpInfo:
    unknown = sorted(map(str, data.keys() - _FIELDS))
    operators = data.get("operators") or {}
    metadata = data.get("et_kernel_metadata") or {}
    if unknown or not isinstance(operators, dict) or not isinstance(metadata, dict):
        what = (
            f"the field {unknown[0]}" if unknown else "operators that are not a mapping"
        )
        raise SdkError(
            f"{path} is not a selected_operators.yaml: it has {what}",
            hint=f"its fields are {', '.join(sorted(_FIELDS))}",
        )
    keys: dict[str, frozenset[str]] = {}
    for op in (*operators, *metadata):
        items = list(map(str, metadata.get(op) or [DEFAULT]))
        for key in items:
            if key != DEFAULT and not _KEY.fullmatch(key):
                raise SdkError(
                    f"{path}: {op} has the invalid kernel key '{key}'",
                    hint="write keys such as v1/6;0,1|6;0,1: dtype and dim order of"
                    " each tensor",
                )
        keys[str(op)] = frozenset(items)
    return OpInfo(
        keys,
        {op: _sources(path, operators.get(op)) for op in keys},
        bool(data.get("include_all_operators", False)),
        frozenset(map(str, data.get("build_features") or ())),
        frozenset(map(str, data.get("custom_classes") or ())),
    )


def _sources(path: Path, entry: Any) -> frozenset[str]:
    names = entry.get("debug_info") if isinstance(entry, dict) else None
    return frozenset(
        str(name) for name in names or [paths.text(path)] if name is not None
    )


def _dump(data: Any) -> str:
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return str(yaml.dump(data, Dumper=dumper, default_flow_style=False))
