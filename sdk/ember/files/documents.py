"""An untrusted YAML or JSON file becomes data, or one sentence that says why it cannot.

A small file can expand to more than the host's memory: lists nested to any depth,
aliases of aliases. So a file is measured before objects are created from it; the limits
are far above what Ember's files need, and docs/security.md lists them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from ember import files
from ember.errors import SdkError
from ember.kept import kept

MOST_YAML = 16 * 1024 * 1024  # bytes of a file
MOST_JSON = 256 * 1024 * 1024
_LONG = 32 * 1024  # characters of YAML from which on the parsed data is cached
MOST_DEPTH = 64  # nested lists and mappings
MOST_NODES = 2_000_000  # with every alias expanded

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast
_OPENING = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
_CLOSING = (yaml.MappingEndEvent, yaml.SequenceEndEvent)
# What the constructors of dates, numbers and booleans raise for malformed text.
_WRONG_VALUE = (ValueError, TypeError, AttributeError, LookupError, OverflowError)


def read_yaml(path: Path, what: str = "") -> Any:
    """The content of a YAML file; an SdkError says where it is malformed."""
    name = f"{what} {path}".strip()
    text = _text(path, what)
    if len(text) < _LONG:
        return _parsed(text, name)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return kept(f"YAML of {path}", digest, lambda: _parsed(text, name))


def _parsed(text: str, name: str) -> Any:
    try:
        _measure(yaml.parse(text, _LOADER), name)
        return yaml.load(text, _LOADER)  # noqa: S506 - safe
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        reason = getattr(error, "problem", None) or "it is not text"
        raise SdkError(f"{name}{where}: not YAML: {reason}") from error
    except _WRONG_VALUE as error:
        raise SdkError(
            f"{name}: a value does not match its form or tag: {_line(error)}",
            hint="quote strings that look like dates or numbers",
        ) from error


def _measure(events: Iterator[Any], name: str) -> None:
    """Raise an SdkError if the document is nested too deeply or expands too far."""
    sizes: dict[str, int] = {}  # of nodes with an anchor
    open_: list[tuple[str | None, int]] = []  # anchor; nodes before it
    nodes = 0
    for event in events:
        if isinstance(event, _CLOSING):
            anchor, before = open_.pop()
            if anchor is not None:
                sizes[anchor] = nodes - before
            continue
        nodes += 1
        if isinstance(event, yaml.AliasEvent):
            if any(anchor == event.anchor for anchor, _ in open_):
                raise SdkError(f"{name}: the alias *{event.anchor} contains itself")
            nodes += sizes.get(event.anchor or "", 1)
        elif isinstance(event, _OPENING):
            open_.append((event.anchor, nodes - 1))
            if len(open_) > MOST_DEPTH:
                raise _too_deep(name)
        elif isinstance(event, yaml.ScalarEvent) and event.anchor is not None:
            sizes[event.anchor] = 1
        if nodes > MOST_NODES:
            raise SdkError(
                f"{name}: it has more than {MOST_NODES:,} values once aliases are"
                " expanded"
            )


def read_json(path: Path, what: str = "", most: int = MOST_JSON) -> Any:
    """The content of a JSON file; an SdkError says where it is malformed."""
    name = f"{what} {path}".strip()
    return parse_json(files.read(path, most, what), name)


def parse_json(content: str | bytes, name: str) -> Any:
    """Data from the JSON in a file or message `name`."""
    try:
        data = json.loads(content)
    except RecursionError:
        raise _too_deep(name) from None
    except (
        ValueError
    ) as error:  # wrong syntax or encoding, or a number with too many digits
        raise SdkError(f"{name} is not JSON: {_line(error)}") from error
    if _depth_exceeds(data, MOST_DEPTH):
        raise _too_deep(name)
    return data


def _depth_exceeds(data: Any, most: int) -> bool:
    level = [data] if isinstance(data, dict | list) else []  # depth 1
    for _ in range(most):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
    return bool(level)


def _text(path: Path, what: str) -> str:
    try:
        return files.read(path, MOST_YAML, what).decode("utf-8")
    except UnicodeDecodeError as error:
        raise SdkError(f"{path} is not UTF-8 text") from error


def _too_deep(name: str) -> SdkError:
    return SdkError(
        f"{name}: lists and mappings are nested more than {MOST_DEPTH} deep",
        hint="Ember's files never are: is it damaged or malicious?",
    )


def _line(error: Exception) -> str:
    return str(error).split("\n")[0]
