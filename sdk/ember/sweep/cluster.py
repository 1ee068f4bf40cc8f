"""Batches become results on Dask's workers, on the host or on many computers.

The scheduler keeps the contents of cases on its disk, under their hashes; a worker asks
for those that its cache lacks. The work of a lost worker is done by another.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import math
import os
import shutil
import signal
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ember import writing
from ember.errors import SdkError
from ember.sweep import work
from ember.sweep.points import Batch, CaseContent
from ember.sweep.work import PointResult

if TYPE_CHECKING:
    from distributed import Client, Future, Scheduler, Worker

_CONNECT_S = 20
_QUEUED = 8  # batches of each worker that its scheduler knows
_LEAST_TASKS = 4  # of each worker, if there are points enough
_LOST = "the worker died each time that it ran this case"


def need() -> None:
    """Raises SdkError if Dask is missing."""
    if importlib.util.find_spec("distributed") is None:
        raise SdkError(
            "ember sweep runs on dask.distributed, which is not installed",
            hint="pip install 'ember[sweep]'",
        )


@contextlib.contextmanager
def connected(scheduler: str | None, workers: int | None) -> Iterator[Client]:
    """A client of the scheduler, or of `workers` processes on the host."""
    import distributed

    if scheduler is None:
        count = workers or os.cpu_count() or 1
        with (
            _own_folder(),
            _local(count) as cluster,
            distributed.Client(cluster) as client,
        ):
            client.register_plugin(_own_group_type()())
            client.wait_for_workers(count)
            yield client
        return
    try:
        client = distributed.Client(scheduler, timeout=_CONNECT_S)
    except (OSError, ValueError, TimeoutError) as error:
        raise SdkError(
            f"no scheduler of Dask answers at {scheduler}: {error}",
            hint="start one by `dask scheduler`, then workers by `dask worker ADDRESS`",
        ) from error
    with client:
        if not client.scheduler_info()["workers"]:
            raise SdkError(
                f"the scheduler {scheduler} has no workers",
                hint=f"on each computer: dask worker {scheduler}",
            )
        yield client


@contextlib.contextmanager
def _own_folder() -> Iterator[None]:
    """Scheduler and workers keep their files in a folder that is removed at the end."""
    import dask

    with (
        tempfile.TemporaryDirectory(
            prefix="ember-dask-", ignore_cleanup_errors=True
        ) as folder,
        dask.config.set({"temporary-directory": folder}),
    ):
        yield


def _local(count: int) -> Any:
    import distributed

    try:
        return distributed.LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0" if has_dashboard() else None,
            silence_logs=50,  # what matters becomes a result
        )
    except RuntimeError as error:
        cause = _cause(error)
        if cause is None or cause.filename is None:
            raise
        raise writing.failed(Path(cause.filename), cause) from error


def _own_group_type() -> type:
    """The plugin of workers on the host; made in a function because Dask may be
    missing."""
    from distributed import WorkerPlugin

    class OwnGroup(WorkerPlugin):  # type: ignore[misc]
        """Shields workers and their emulators from Ctrl-C, whose ends would become
        results: the command ends the worker, and the worker its processes."""

        def setup(self, worker: Worker) -> None:
            with contextlib.suppress(PermissionError):  # it leads a group already
                os.setsid()

        def teardown(self, worker: Worker) -> None:
            if os.getsid(0) == os.getpid():
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                os.killpg(0, signal.SIGTERM)

    return OwnGroup


def _cause(error: BaseException | None) -> OSError | None:
    """The system error for which something of Dask's did not start, if there is one."""
    while error is not None and not isinstance(error, OSError):
        error = error.__cause__
    return error


def has_dashboard() -> bool:
    """Whether Dask can show its pages."""
    return importlib.util.find_spec("bokeh") is not None


# ---- contents ------------------------------------------------------------------------


def _store_type() -> type:
    """The plugin of the scheduler; made in a function because Dask may be missing."""
    from distributed.diagnostics.plugin import SchedulerPlugin

    class ContentStore(SchedulerPlugin):  # type: ignore[misc]
        """Cases on the scheduler's disk, by their hashes."""

        name = "ember-contents"
        idempotent = True

        async def start(self, scheduler: Scheduler) -> None:
            self.folder = Path(tempfile.mkdtemp(prefix="ember-contents-"))
            scheduler.handlers |= {
                "ember_missing": self.missing,
                "ember_put": self.put,
                "ember_get": self.get,
            }

        async def close(self) -> None:
            shutil.rmtree(self.folder, ignore_errors=True)

        def missing(self, digests: Sequence[str]) -> list[str]:
            return [
                digest for digest in digests if not (self.folder / digest).is_file()
            ]

        def put(self, digest: str, content: bytes) -> None:
            aside = self.folder / f"{digest}.new"
            aside.write_bytes(content)
            aside.rename(self.folder / digest)

        def get(self, digest: str) -> bytes:
            return (self.folder / digest).read_bytes()

    return ContentStore


def _send(
    client: Client, batches: Iterable[Batch], known: _Contents, sent: set[str]
) -> None:
    """Gives the scheduler the cases of the batches that it lacks; `sent` has those that
    it got."""
    digests = {member.digest for batch in batches for member in batch.members} - sent
    if not digests:
        return
    missing = client.sync(client.scheduler.ember_missing, digests=sorted(digests))
    for digest in missing:
        content = known[digest].packed()
        client.sync(client.scheduler.ember_put, digest=digest, content=content)
    sent |= digests


_Contents = Mapping[str, CaseContent]  # by digest


def _fetch(digest: str) -> bytes:
    """On a worker: the content of a case, from the scheduler."""
    from distributed import get_worker
    from distributed.utils import sync

    worker = get_worker()
    content: bytes = sync(worker.loop, worker.scheduler.ember_get, digest=digest)
    return content


def _work(batch: Batch, topic: str) -> list[PointResult]:
    """On a worker: the results of a batch, each told at once to those that listen."""
    from distributed import get_worker

    worker = get_worker()

    def tell(result: PointResult) -> None:
        worker.log_event(topic, {"result": asdict(result)})

    return work.run(batch, str(worker.name), _fetch, tell)


# ---- batches -------------------------------------------------------------------------

Task = Callable[..., list[PointResult]]  # of a batch and the topic that it tells


def run(
    client: Client,
    batches: Sequence[Batch],
    contents: _Contents,
    on_results: Callable[[list[PointResult]], None],
    task: Task = _work,
) -> None:
    """Passes results to `on_results` as they come, in any thread: those of each batch,
    preceded by those that its worker reports early.

    `task` is what a worker does with a batch. A case that kills workers gets an error
    as its result. Raises SdkError if the workers cannot run anything or the scheduler
    has gone.
    """
    client.register_plugin(_store_type()())
    workers = max(1, len(client.scheduler_info()["workers"]))
    count = sum(len(batch.members) for batch in batches)
    most = math.ceil(count / (workers * _LEAST_TASKS))
    batches = [part for batch in batches for part in batch.split(most)]
    topic = f"ember-{uuid.uuid4()}"
    ended = threading.Event()

    def told(event: tuple[float, dict[str, Any]]) -> None:
        if not ended.is_set():
            on_results([PointResult(**event[1]["result"])])

    client.subscribe_topic(topic, told)
    suspects: list[Batch] = []
    sent: set[str] = set()
    done = partial(_done, client, contents, sent, partial(task, topic=topic))
    try:
        for batch, results in done(batches, _QUEUED * workers):
            if results is None:
                suspects += batch.split(1)
            else:
                on_results(results)
        # A worker takes what it was to do next with it: now nothing is.
        for batch, results in done(suspects, 1):
            on_results(work.failed(batch, _LOST) if results is None else results)
    finally:
        ended.set()  # workers that are stopped tell of their emulators' ends


def _done(
    client: Client,
    contents: _Contents,
    sent: set[str],
    task: Task,
    batches: Sequence[Batch],
    most: int,
) -> Iterator[tuple[Batch, list[PointResult] | None]]:
    """Batches as they are done, of which the scheduler has `most` at a time; None: all
    workers that had it died."""
    from distributed import as_completed

    waiting = iter(batches)
    done = as_completed(with_results=True, raise_errors=False)
    pending: dict[str, Batch] = {}

    def submit(count: int) -> None:
        part = {
            f"{batch.name}-{most}": batch  # the same points can be split another way
            for batch in itertools.islice(waiting, count)
        }
        if not part:
            return
        _send(client, part.values(), contents, sent)
        pending.update(part)
        done.update(client.map(task, list(part.values()), key=list(part), pure=False))

    submit(most)
    for future, answer in done:
        yield pending.pop(future.key), _results(future, answer)
        if len(pending) <= most // 2:  # several at once cost less each
            submit(most - len(pending))


def _results(future: Future, answer: Any) -> list[PointResult] | None:
    """The answer of a task; None: all workers that had it died."""
    from distributed import KilledWorker

    if future.cancelled():
        raise SdkError(
            "the scheduler went away", hint="the same command goes on where this ended"
        )
    if future.status == "finished":
        results: list[PointResult] = answer
        return results
    error = future.exception()
    if isinstance(error, KilledWorker):
        return None
    if isinstance(error, SdkError):
        raise error
    raise SdkError(f"a worker failed: {type(error).__name__}: {error}")
