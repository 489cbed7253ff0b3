"""How every command of this project begins and ends: streams, complaints in a line or two, exit codes.

It knows no command.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import signal
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

DONE, USAGE, UNFINISHED, PROVIDER, INTERRUPTED = 0, 2, 3, 4, 130


class UsageError(Exception):
    """What the user has to change, in one or two lines."""


class Parser(argparse.ArgumentParser):
    """Reads a command's arguments; a mistake in them is two lines and exit code 2."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the arguments, and where the help is."""
        raise SystemExit(complain(self.prog, f"{message}\nSee {self.prog} --help.", USAGE))


def run(name: str, command: Callable[[], int]) -> int:
    """Run a command and return its exit code, also when it is interrupted or nobody reads what it writes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
        elif stream is sys.__stdout__ is None:
            return complain(name, "stdout is closed, so an answer would go nowhere", USAGE)
    with contextlib.suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl-C, and leaves nothing running
    try:
        code = command()
        print(end="", flush=True)
        return code
    except BrokenPipeError:
        _drop_stdout()
        return complain(name, "stdout was closed before all was written", DONE)
    except OSError as error:
        _drop_stdout()
        return complain(name, f"the output cannot be written: {error}", UNFINISHED)
    except UsageError as error:
        return complain(name, str(error), USAGE)
    except KeyboardInterrupt:
        return complain(name, "interrupted", INTERRUPTED)


def say(name: str, text: str) -> None:
    """Print the last words of a command. A reader who has left changes nothing of how it ends."""
    try:
        print(_printable(text), flush=True)
    except BrokenPipeError:
        _drop_stdout()
        complain(name, "stdout was closed before all was written", DONE)


def _printable(text: str) -> str:
    if text.replace("\n", "").isprintable():
        return text
    from hadr_agent.display import printable  # which loads what --help has no need of

    return printable(text)


def _drop_stdout() -> None:
    """Python would try once more, at exit, to write what could not be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def complain(name: str, text: str, code: int) -> int:
    """Say on stderr what is wrong, as text. Returns the exit code."""
    try:
        if sys.stderr:
            print(f"{name}: {_printable(text)}", file=sys.stderr, flush=True)
    except OSError:  # nobody reads this either
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    return code
