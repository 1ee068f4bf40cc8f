"""Which definitions the bytes of one memory may hold: ranges, no tensors."""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right

Definition = tuple[str | int, ...]  # how, and by which instruction and value
# What wrote a byte, and the address at which that write began.
Token = tuple[Definition, int]
Tokens = frozenset[Token]
# Ranges relative to the start of what is read, without gaps.
Content = tuple[tuple[int, int, Tokens], ...]

_NEVER: Definition = ("nothing",)
NOTHING: Tokens = frozenset({(_NEVER, 0)})  # since the memory was lent


class ByteMap:
    """`tokens[n]` is what the bytes from `starts[n]` up to the next start may hold.

    Addresses are relative to `bases[n]`: what is read is what was written, no copy.
    """

    def __init__(self) -> None:
        self.starts = [0]
        self.tokens = [NOTHING]
        self.bases = [0]

    def copy(self) -> ByteMap:
        twin = ByteMap()
        twin.starts, twin.tokens = self.starts[:], self.tokens[:]
        twin.bases = self.bases[:]
        return twin

    def read(self, start: int, end: int) -> Content:
        """The content of [start, end), with addresses relative to `start`."""
        pieces: list[tuple[int, int, Tokens]] = []
        starts, last = self.starts, len(self.starts) - 1
        at = bisect_right(starts, start) - 1
        while start < end and at <= last and starts[at] < end:
            low = max(starts[at], start) - start
            stop = starts[at + 1] if at < last else end
            high = min(stop, end) - start
            tokens = _moved(self.tokens[at], self.bases[at] - start)
            if pieces and pieces[-1][2] == tokens:
                low = pieces.pop()[0]
            pieces.append((low, high, tokens))
            at += 1
        return tuple(pieces)

    def write(self, start: int, content: Content) -> None:
        """Sets the bytes from `start` on to `content`, as read() gave it."""
        for low, high, tokens in content:
            self._put(start + low, start + high, tokens, start)

    def add(self, start: int, content: Content) -> None:
        """The bytes may also hold `content`."""
        end = start + (content[-1][1] if content else 0)
        self.write(start, union(self.read(start, end), content))

    def _put(self, start: int, end: int, tokens: Tokens, base: int = 0) -> None:
        if start >= end:
            return
        first, last = bisect_left(self.starts, start), bisect_left(self.starts, end)
        ends_here = last < len(self.starts) and self.starts[last] == end
        starts, now, bases = [start], [tokens], [base]
        if not ends_here:
            starts.append(end)
            now.append(self.tokens[last - 1])
            bases.append(self.bases[last - 1])
        self.starts[first:last] = starts
        self.tokens[first:last] = now
        self.bases[first:last] = bases

    def join(self, other: ByteMap) -> bool:
        """Adds what `other` holds; whether that changed anything."""
        starts: list[int] = []
        joined: list[tuple[Tokens, int]] = []
        grown = False
        mine = theirs = 0
        for start in dict.fromkeys(heapq.merge(self.starts, other.starts)):
            mine = _at(self.starts, mine, start)
            theirs = _at(other.starts, theirs, start)
            both = _either(
                *(self.tokens[mine], self.bases[mine]),
                *(other.tokens[theirs], other.bases[theirs]),
            )
            grown = grown or len(both[0]) > len(self.tokens[mine])
            if not joined or joined[-1] != both:
                starts.append(start)
                joined.append(both)
        if grown:
            self.starts = starts
            self.tokens = [tokens for tokens, _ in joined]
            self.bases = [base for _, base in joined]
        return grown


def _either(
    tokens: Tokens, base: int, other: Tokens, other_base: int
) -> tuple[Tokens, int]:
    """The tokens of both, and what their addresses are relative to."""
    if base == other_base:
        return (tokens if tokens == other else tokens | other), base
    if tokens <= NOTHING:  # which is nowhere
        return tokens | other, other_base
    if other <= NOTHING:
        return tokens | other, base
    return _moved(tokens, base) | _moved(other, other_base), 0


def _moved(tokens: Tokens, by: int) -> Tokens:
    """Tokens whose writes began `by` bytes later."""
    if by == 0 or tokens is NOTHING:
        return tokens
    if len(tokens) == 1:
        ((what, origin),) = tokens
        return frozenset(((what, 0 if what == _NEVER else origin + by),))
    return frozenset(
        (what, 0 if what == _NEVER else origin + by) for what, origin in tokens
    )


def _at(starts: list[int], index: int, start: int) -> int:
    """The range that holds `start`, looking from `index` on."""
    while index + 1 < len(starts) and starts[index + 1] <= start:
        index += 1
    return index


def union(content: Content, other: Content) -> Content:
    """The content of bytes that may hold either; both have the same length."""
    joined = ByteMap()
    joined._put(0, content[-1][1] if content else 0, frozenset())
    for low, high, tokens in content:
        joined._put(low, high, tokens)
    theirs = ByteMap()
    for low, high, tokens in other:
        theirs._put(low, high, tokens)
    joined.join(theirs)
    return joined.read(0, content[-1][1] if content else 0)
