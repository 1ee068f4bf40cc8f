"""Batches become results on Dask's workers, of this computer or of many.

The scheduler keeps the contents of cases on its disk, under their hashes; a worker asks
for those that its cache does not have. What a lost worker was to do, another does.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ember import writing
from ember.errors import SdkError
from ember.sweep import work
from ember.sweep.content import CaseContent
from ember.sweep.points import Batch
from ember.sweep.work import PointResult

if TYPE_CHECKING:
    from distributed import Client, Future, Scheduler

_CONNECT_S = 20
_QUEUED = 8  # batches of each worker that its scheduler knows
_LOST = "the worker died each time that it ran this case"


def need() -> None:
    """SdkError where Dask is missing."""
    if importlib.util.find_spec("distributed") is None:
        raise SdkError(
            "ember sweep runs on dask.distributed, which is not installed",
            hint="pip install 'ember[sweep]'",
        )


@contextlib.contextmanager
def connected(scheduler: str | None, workers: int | None) -> Iterator[Client]:
    """A client of the scheduler, or of `workers` processes on this computer."""
    import distributed

    if scheduler is None:
        count = workers or os.cpu_count() or 1
        with (
            _own_folder(),
            _local(count) as cluster,
            distributed.Client(cluster) as client,
        ):
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
    """What scheduler and workers keep on disk goes with them."""
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


def _cause(error: BaseException | None) -> OSError | None:
    """Why something of Dask's did not start, where the system refused it."""
    while error is not None and not isinstance(error, OSError):
        error = error.__cause__
    return error


def has_dashboard() -> bool:
    """Whether Dask can show its pages."""
    return importlib.util.find_spec("bokeh") is not None


# ---- contents ------------------------------------------------------------------------


def _store_type() -> type:
    """The plugin of the scheduler; a function, since Dask may be missing."""
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
    """Give the scheduler what it does not have of the batches' cases; `sent` are those
    that it has got, or had."""
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


def _work(batch: Batch) -> list[PointResult]:
    """On a worker: the results of a batch."""
    from distributed import get_worker

    return work.run(batch, str(get_worker().name), _fetch)


# ---- batches -------------------------------------------------------------------------

Task = Callable[[Batch], list[PointResult]]


def run(
    client: Client,
    batches: Sequence[Batch],
    contents: _Contents,
    on_results: Callable[[list[PointResult]], None],
    task: Task = _work,
) -> None:
    """Give the results of each batch to `on_results` as they come.

    `task` is what a worker does with a batch. A case that kills workers becomes an
    error of its own. SdkError where the workers cannot run anything, or their scheduler
    went away.
    """
    client.register_plugin(_store_type()())
    workers = max(1, len(client.scheduler_info()["workers"]))
    suspects: list[Batch] = []
    sent: set[str] = set()
    done = partial(_done, client, contents, sent, task)
    for batch, results in done(batches, _QUEUED * workers):
        if results is None:
            suspects += batch.split()
        else:
            on_results(results)
    # A worker takes what it was to do next with it: now nothing is.
    for batch, results in done(suspects, 1):
        on_results(work.failed(batch, _LOST) if results is None else results)


def _done(
    client: Client,
    contents: _Contents,
    sent: set[str],
    task: Task,
    batches: Sequence[Batch],
    most: int,
) -> Iterator[tuple[Batch, list[PointResult] | None]]:
    """Batches as they are done, with `most` of them at the scheduler; None: all workers
    died that had one."""
    from distributed import as_completed

    waiting = iter(batches)
    done = as_completed(with_results=True, raise_errors=False)
    pending: dict[str, Batch] = {}

    def submit(count: int) -> None:
        part = {
            f"{batch.name}-{most}": batch  # what was a batch may be alone now
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
    """The answer of a task; None: all workers died that had it."""
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
