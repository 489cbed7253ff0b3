"""Many runs side by side: on processes of this machine, or on a Dask cluster.

It knows nothing of what is run. Dask is imported only when a cluster is asked for.
"""

import argparse
import contextlib
import importlib
import logging
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Generator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, InvalidStateError, ProcessPoolExecutor

SECONDS = 10
"""How long a cluster may take to answer."""

_INTERRUPTS = (signal.SIGINT, signal.SIGTERM)
_MOST = 61  # processes: more, Windows does not wait for


class WorkersError(Exception):
    """No workers can be had: why, and what to do."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """--jobs and --cluster, the arguments of `workers`."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--jobs", type=positive, metavar="N", help="processes (default: one a processor)")
    where.add_argument("--cluster", metavar="ADDRESS", help="a Dask scheduler, such as tcp://127.0.0.1:8786")


def positive(text: str) -> int:
    """A count on a command line. Raises ArgumentTypeError."""
    if not (text.isascii() and text.isdecimal() and len(text) < 5 and int(text) > 0):
        raise argparse.ArgumentTypeError(f"must be 1 to 9999, not {text[:40]!r}")
    return int(text)


@contextlib.contextmanager
def workers(jobs: int | None, cluster: str | None) -> Generator[Executor]:
    """So many processes (None: one for each processor), or the Dask cluster at an address. Raises WorkersError."""
    if cluster is not None:
        with _dask(cluster) as executor:
            yield executor
        return
    threading.excepthook = _thread_failed
    with ProcessPoolExecutor(min(jobs or os.cpu_count() or 1, _MOST), initializer=_die_of_interrupts) as pool:
        try:
            _hold_interrupts(True)  # the processes take this over, until they say what an interrupt does there
            try:
                pool.submit(bool)  # the first work starts them
            finally:
                _hold_interrupts(False)
            yield pool
        except BrokenExecutor as error:
            raise WorkersError("a worker process died; try again, with fewer of them by --jobs") from error
        except BaseException:
            for child in multiprocessing.active_children():
                child.terminate()
            pool.shutdown(cancel_futures=True)  # to its end: at exit, Python would wake a thread that is just leaving
            raise


def _thread_failed(args: threading.ExceptHookArgs) -> None:
    """When a pool is interrupted, its own thread may find its work cancelled already, and would say so."""
    if not issubclass(args.exc_type, InvalidStateError):
        threading.__excepthook__(args)


def _hold_interrupts(held: bool) -> None:
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_BLOCK if held else signal.SIG_UNBLOCK, _INTERRUPTS)


def _die_of_interrupts() -> None:
    """In each process: Ctrl-C at a terminal reaches it too, and would print a traceback beside the command's line."""
    for number in _INTERRUPTS:
        signal.signal(number, signal.SIG_DFL)
    _hold_interrupts(False)


@contextlib.contextmanager
def _dask(address: str) -> Generator[Executor]:
    try:
        distributed = importlib.import_module("distributed")
    except ImportError:
        raise WorkersError(
            "--cluster needs Dask: pip install 'hadr-agent[cluster]', or in a checkout: uv sync --extra cluster"
        ) from None
    logging.disable(logging.CRITICAL)  # its own lines about lost connections are not for the user's terminal
    try:
        with contextlib.ExitStack() as stack:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    client = stack.enter_context(distributed.Client(address, timeout=SECONDS, set_as_default=False))
                client.wait_for_workers(1, timeout=SECONDS)
            except (OSError, ValueError, TypeError) as error:
                raise WorkersError(
                    f"no cluster with workers answers at {address} ({type(error).__name__}). "
                    "Is a dask scheduler running there, with a worker?"
                ) from error
            try:
                yield client.get_executor()
            except (OSError, CancelledError) as error:
                raise WorkersError(f"the cluster at {address} was lost; what was finished is kept") from error
    finally:
        logging.disable(logging.NOTSET)
