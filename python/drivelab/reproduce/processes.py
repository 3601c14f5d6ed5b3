"""Work on many jobs, one per core at the same time, each in its own process.

Jobs that hold the interpreter's lock would run one after the other in threads. Results come in the
order of the jobs and do not depend on how many run at the same time.
"""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import TYPE_CHECKING, TypeVar

from drivelab._core import available_cores
from drivelab.core_panic import panic_errors
from drivelab.runs.status_line import StatusLine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")


def in_processes(
    work: Callable[[_Job], _Result],
    jobs: Sequence[_Job],
    *,
    what: str,
    name: Callable[[_Job], str],
) -> list[_Result]:
    """Do each job and show how many are done.

    Parameters
    ----------
    work
        A function of a module; jobs and results must be picklable.
    jobs
        At least one.
    what
        Name of the jobs in the progress line, such as ``tests``.
    name
        Returns a job's name, which is shown when it is done.

    Raises
    ------
    Exception
        The exception that a job raised; the other jobs are abandoned.
    """
    line = StatusLine()
    # Spawned, not forked: a fork would copy locks that other threads hold.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(available_cores(), len(jobs)), mp_context=context)
    waiting = {pool.submit(_done, work, job): job for job in jobs}
    line.show(f"0 of {len(jobs)} {what}")
    try:
        for count, done in enumerate(as_completed(waiting), start=1):
            done.result()
            line.show(f"{count} of {len(jobs)} {what}: {name(waiting[done])}")
    except BaseException:
        # Do not wait for jobs that nobody needs any more: one may take minutes.
        pool.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():
            # Kill, because a process started with SIGTERM ignored would go on.
            process.kill()
        raise
    finally:
        line.end()
    pool.shutdown()
    return [each.result() for each in waiting]


def _done(work: Callable[[_Job], _Result], job: _Job) -> _Result:
    """Do a job; a panic of the core becomes an error that can be pickled."""
    with panic_errors():
        return work(job)
