"""What placing must assume about the link that follows it, round after round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Assumed:
    """Bytes that are known only once the code is linked."""

    stack: int
    # Code and variables, by memory; None: as much as a board usually needs.
    linked: Mapping[str, int] | None = None
    spread: bool = True  # over the memories of the board, with copies of constants

    def covers(self, linked: Mapping[str, int]) -> bool:
        """Whether the linked firmware takes no more than this."""
        known = self.linked
        return known is not None and all(
            size <= known.get(name, 0) for name, size in linked.items()
        )

    def grown(self, linked: Mapping[str, int]) -> Assumed:
        """This, with at least as much as was linked."""
        known = self.linked or {}
        most = {name: max(size, known.get(name, 0)) for name, size in linked.items()}
        return replace(self, linked=most)
