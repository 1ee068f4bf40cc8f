"""Cases become the stream of bytes that the test runner reads; its answers, results.

The protocol is described in runtime_c/app/batch.h, with the records that say what the
runner captures and the nodes that it answers with.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ember import program
from ember.cases import Case, CaseTensor, Run, Value, inputs
from ember.errors import SdkError
from ember.files import tensors
from ember.program import Method

WATCH_HEAD = struct.Struct("<IIQII")
_WATCHED = struct.Struct("<II")
_FEED = struct.Struct("<II")
_FED_HEAD = struct.Struct("<II")
BODY = struct.Struct("<5I")  # of a captured node
NO_EVENT = NO_NODE = 0xFFFFFFFF
BEFORE, AFTER = 0, 1
# In scratch before each instruction: the largest int8, and 3.4e38 as a float.
FILL = 0x7F


@dataclass(frozen=True, order=True)
class ValueWatch:
    """A value to be written before or after each execution of an instruction."""

    instruction: int
    when: int  # BEFORE or AFTER
    value: int  # its index in the method


@dataclass(frozen=True)
class Feed:
    """What tensors get just before an event: a value's index, its bytes."""

    event: int
    values: tuple[tuple[int, bytes], ...]


@dataclass(frozen=True)
class Capture:
    """What a case is asked to write while it executes."""

    watches: tuple[tuple[ValueWatch, ...], ...]  # of each method that the case uses
    room: int  # bytes, after which nothing is written any more
    first: int = 0  # the first event that is written
    feeds: tuple[tuple[Feed, ...], ...] | None = None  # of each run
    fill: int = FILL


@dataclass(frozen=True)
class NodeValues:
    """Watched values of one executed instruction, in the order of their indices."""

    run: int
    event: int
    instruction: int
    when: int
    values: tuple[inputs.Value, ...]
    inside: int | None = None  # a node of the delegate, whose output this is

    @property
    def key(self) -> tuple[int, int, int, int, int | None]:
        """Where it stands in the execution of a case."""
        return self.run, self.event, self.when, self.instruction, self.inside


def watch_body(watches: Sequence[ValueWatch], capture: Capture) -> bytes:
    """The body of a WATCH record."""
    head = WATCH_HEAD.pack(len(watches), capture.first, capture.room, capture.fill, 0)
    rows = (
        _WATCHED.pack(2 * watch.instruction + watch.when, watch.value)
        for watch in sorted(watches)
    )
    return b"".join([head, *rows])


def feed_body(feeds: Sequence[Feed]) -> bytes:
    """What stands behind the inputs in the RUN record of a fed case."""
    pieces = []
    for feed in feeds:
        pieces.append(_FEED.pack(feed.event, len(feed.values)))
        for value, data in feed.values:
            pieces += (_FED_HEAD.pack(value, len(data)), data, bytes(-len(data) % 4))
    pieces.append(_FEED.pack(NO_EVENT, 0))
    return b"".join(pieces)


def node(body: bytes, read: tuple[inputs.Value, ...]) -> NodeValues:
    """From the body of a NODE record and its values."""
    _, run, event, moment, inside = BODY.unpack_from(body)
    where = None if inside == NO_NODE else inside
    return NodeValues(run, event, moment // 2, moment % 2, read, where)


# ---- the protocol --------------------------------------------------------------------


VERSION = 5
_HELLO, _CASE, _RUN, _END, _OUTPUT, _RESULT, _DEAD, _CYCLES, _WATCH, _NODE = range(
    1, 11
)
_BUNDLED, _LINKED, _POISON, _TIMED, _CAPTURE, _FED = (1 << bit for bit in range(6))
_HEAD = struct.Struct("<II")  # kind, length
_HELLO_BODY = struct.Struct("<IIQ")
_CASE_BODY = struct.Struct("<8IQ")
_RUN_BODY = struct.Struct("<IIddII")
_DEAD_HEAD = struct.Struct("<II")
_DEAD_BODY = struct.Struct("<5I")
_CYCLES_BODY = struct.Struct("<4I")
_NODE_BODY = struct.Struct("<II")
_OUTPUT_BODY = struct.Struct("<IIiI")
_RESULT_BODY = struct.Struct("<IiIIII6Q")
_END_BODY = struct.Struct("<QQ")
_LEAST = {  # bytes of the records that the runner writes
    _HELLO: _HELLO_BODY.size,
    _CYCLES: _CYCLES_BODY.size,
    _OUTPUT: _OUTPUT_BODY.size,
    _RESULT: _RESULT_BODY.size,
    _NODE: BODY.size,
    _END: _END_BODY.size,
}
_ALIGN = 16
_NOWHERE = 0xFFFFFFFF
_UNKNOWN = 2**64 - 1

OK, UNSUPPORTED, NO_MEMORY = 0, -2, -3  # ember_status_t
READ, OPEN, LOAD, INPUTS, EXECUTE, CHECK, DONE = range(7)  # stages


@dataclass(frozen=True)
class Counted:
    """Processor cycles of one run, by the counter of the board."""

    whole: int  # with those of counting
    nodes: tuple[tuple[int, int], ...]  # of each instruction: cycles, executions


@dataclass(frozen=True)
class Output:
    """The outputs of a run, and the runtime's verdict on a bundle's test case."""

    run: int
    verdict: int
    first_wrong: int
    values: tuple[inputs.Value, ...]
    cycles: Counted | None = None  # where the case asks for them


@dataclass(frozen=True)
class Result:
    """How one case ended on the board. Sizes are bytes."""

    index: int
    status: int
    stage: int
    which: int  # method when loading, else run
    instruction: int | None
    message: str
    needed: int | None  # after NO_MEMORY: at least this much; None: unknown
    method: int
    planned: int
    scratch: int
    used: int
    work: int  # bound of the steps of all runs
    outputs: tuple[Output, ...]


@dataclass(frozen=True)
class Answer:
    """What the runner wrote before it ended or was stopped."""

    memory: int | None  # bytes for cases; None: the runner did not start
    results: tuple[Result, ...]
    finished: bool
    stack_size: int = 0
    stack_used: int = 0


@dataclass(frozen=True)
class Dead:
    """Bytes [start, end) of a planned memory, just before the instructions from
    `first` to `last`; the number of instructions is the exit."""

    memory_id: int
    start: int
    end: int
    first: int
    last: int


Poison = tuple[tuple[Dead, ...], ...]  # of each method that the case uses


# ---- to the runner -----------------------------------------------------------------


def stream(records: Sequence[bytes]) -> bytes:
    """The whole stream, from the record() of each case."""
    return b"".join(pieces(records))


def pieces(records: Iterable[bytes]) -> Iterator[bytes]:
    """The whole stream in pieces, so that only one record is in memory."""
    yield _HEAD.pack(_HELLO, _HELLO_BODY.size) + _HELLO_BODY.pack(VERSION, 0, 0)
    yield from records
    yield _HEAD.pack(_END, 0)


def record(
    case: Case,
    index: int,
    *,
    linked: int | None = None,
    budget: int | None = None,
    poison: Poison | None = None,
    fill: int = 0,
    timed: bool = False,
    capture: Capture | None = None,
) -> bytes:
    """A case and its runs; `linked` is the address of a program inside the runner.

    `budget` is of one execution, in steps (0: no limit; None: what any program of tests
    that ends takes).
    With `poison`, dead memory is overwritten with the byte `fill`. With `timed`, the
    board counts the cycles of each instruction; with `capture`, it writes what
    instructions read and write.
    """
    body = parts(
        case,
        index,
        linked=linked,
        budget=budget,
        poison=poison,
        fill=fill,
        timed=timed,
        capture=capture,
    )
    return b"".join(body)


def parts(
    case: Case,
    index: int,
    *,
    linked: int | None = None,
    budget: int | None = None,
    poison: Poison | None = None,
    fill: int = 0,
    timed: bool = False,
    capture: Capture | None = None,
) -> list[bytes]:
    """The record in pieces; the program is one of them."""
    methods = case.methods
    names = b"".join(name.encode() + b"\0" for name in methods)
    names += bytes(-len(names) % 4)
    contents = [] if linked is not None else [case.content, *case.data]
    flags = _BUNDLED * case.bundled + _LINKED * (linked is not None)
    flags += _POISON * (poison is not None) + _TIMED * timed
    if capture is not None:
        flags += _CAPTURE + _FED * (capture.feeds is not None)
    counts = (len(case.data), len(methods), len(case.runs), len(names))
    steps = _UNKNOWN if budget is None else budget
    head = _CASE_BODY.pack(index, flags, linked or 0, *counts, 0, steps)
    sizes = struct.pack(f"<{len(contents)}I", *(len(content) for content in contents))
    body = [head + sizes + names]
    for piece in contents:
        body += (_padding(body[-1]), piece)
    if contents:
        body.append(_padding(body[-1]))
    by_name = {method.name: method for method in case.program.methods}
    runs = [
        _run(case, run, methods.index(run.method), by_name[run.method])
        for run in case.runs
    ]
    if capture is not None and capture.feeds is not None:
        fed = zip(runs, capture.feeds, strict=True)
        runs = [_with_feeds(run, feeds) for run, feeds in fed]
    before = [_dead(ranges, fill) for ranges in poison or ()]
    if capture is not None:
        before += [_watches(watches, capture) for watches in capture.watches]
    length = sum(map(len, body))
    return [_HEAD.pack(_CASE, length), *body, *before, *runs]


def records(stream: bytes) -> list[bytes]:
    """Split the stream into its records; a board may compute after each of them."""
    cut = []
    at = 0
    while at < len(stream):
        end = at + _HEAD.size + _HEAD.unpack_from(stream, at)[1]
        cut.append(stream[at:end])
        at = end
    return cut


def _dead(ranges: Sequence[Dead], fill: int) -> bytes:
    rows = (
        _DEAD_BODY.pack(dead.memory_id, dead.start, dead.end, dead.first, dead.last)
        for dead in ranges
    )
    body = b"".join([_DEAD_HEAD.pack(len(ranges), fill), *rows])
    return _HEAD.pack(_DEAD, len(body)) + body


def _watches(watches: Sequence[ValueWatch], capture: Capture) -> bytes:
    body = watch_body(watches, capture)
    return _HEAD.pack(_WATCH, len(body)) + body


def _with_feeds(run: bytes, feeds: Sequence[Feed]) -> bytes:
    body = run[_HEAD.size :] + feed_body(feeds)
    return _HEAD.pack(_RUN, len(body)) + body


def _padding(content: bytes) -> bytes:
    return bytes(-len(content) % _ALIGN)


def _run(case: Case, run: Run, index: int, method: Method) -> bytes:
    body = _RUN_BODY.pack(index, run.test or 0, case.rtol, case.atol, int(run.reset), 0)
    if not case.bundled:
        pairs = zip(method.input_values, run.inputs, strict=True)
        body += inputs.to_bytes([lay_out(declared, given) for declared, given in pairs])
    return _HEAD.pack(_RUN, len(body)) + body


def lay_out(declared: program.Value, given: Value) -> inputs.Value:
    """A value in the method's memory layout: tensors in the declared dim order."""
    if isinstance(given, CaseTensor):
        assert isinstance(declared, program.Tensor)
        data = tensors.to_bytes(given.array, given.dtype, declared.dim_order)
        return inputs.TensorValue(given.dtype, given.array.shape, data)
    if isinstance(declared, program.Double) and isinstance(given, int):
        return float(given)
    return given


# ---- from the runner ---------------------------------------------------------------


def answer(data: bytes) -> Answer:
    """The results of every completed case; an incomplete last record is ignored."""
    memory: int | None = None
    results: list[Result] = []
    outputs: list[Output] = []
    cycles: Counted | None = None
    for kind, body in _records(data):
        if kind == _HELLO:
            version, _, memory = _HELLO_BODY.unpack_from(body.data)
            if version != VERSION:
                raise SdkError(
                    f"the test runner uses version {version} of the batch format"
                )
        elif kind == _CYCLES:
            cycles = _counted(body.data)
        elif kind == _OUTPUT:
            _, run, verdict, wrong = _OUTPUT_BODY.unpack_from(body.data)
            outputs.append(Output(run, verdict, wrong, body.values, cycles))
            cycles = None
        elif kind == _RESULT:
            results.append(_result(body.data, tuple(outputs)))
            outputs = []
        elif kind == _END:
            size, used = _END_BODY.unpack_from(body.data)
            return Answer(memory, tuple(results), True, size, used)
    return Answer(memory, tuple(results), False)


def nodes(data: bytes) -> Iterator[NodeValues]:
    """What was captured, in the order of execution; also of a case that did not end."""
    for kind, body in _records(data):
        if kind == _NODE:
            yield node(body.data, body.values)


@dataclass(frozen=True)
class _Body:
    data: bytes
    values: tuple[inputs.Value, ...] = ()


def _records(data: bytes) -> Iterator[tuple[int, _Body]]:
    """The complete records, in order."""
    at = 0
    while at + _HEAD.size <= len(data):
        kind, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        body = data[at : at + length]
        at += length
        if len(body) < length:
            return
        if length < _LEAST.get(kind, 0):
            raise SdkError(
                f"the test runner wrote a record of kind {kind} with {length} bytes,"
                f" not {_LEAST[kind]}"
            )
        if kind not in (_OUTPUT, _NODE):
            yield kind, _Body(body)
            continue
        try:
            outputs, at = inputs.from_bytes(data, at)
        except inputs.TornError:
            return
        yield kind, _Body(body, tuple(outputs))


def _counted(body: bytes) -> Counted:
    _, _, whole, count = _CYCLES_BODY.unpack_from(body)
    nodes = body[_CYCLES_BODY.size :][: count * _NODE_BODY.size]
    if len(nodes) < count * _NODE_BODY.size:
        raise SdkError(f"the test runner wrote cycles of less than {count} nodes")
    return Counted(whole, tuple(_NODE_BODY.iter_unpack(nodes)))


def _result(body: bytes, outputs: tuple[Output, ...]) -> Result:
    index, status, stage, which, instruction, length, needed, *sizes = (
        _RESULT_BODY.unpack_from(body)
    )
    method, planned, scratch, used, work = sizes
    text = body[_RESULT_BODY.size : _RESULT_BODY.size + length]
    return Result(
        index,
        status,
        stage,
        which,
        None if instruction == _NOWHERE else instruction,
        text.decode("utf-8", "replace"),
        None if needed == _UNKNOWN else needed,
        method,
        planned,
        scratch,
        used,
        work,
        outputs,
    )
