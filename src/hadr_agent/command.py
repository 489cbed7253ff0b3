"""How every command of this project begins and ends: streams, complaints in a line or two, exit codes.

It knows no command.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

DONE, USAGE, UNFINISHED, PROVIDER, INTERRUPTED = 0, 2, 3, 4, 130


class UsageError(Exception):
    """What the user has to change, in one or two lines."""


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{self.prog}: {message}\nSee {self.prog} --help.\n")


def run(name: str, command: Callable[[], int]) -> int:
    """Run a command and return its exit code, also when it is interrupted or nobody reads what it writes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
        elif stream is sys.__stdout__ is None:
            return complain(name, "stdout is closed, so an answer would go nowhere", USAGE)
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


def _drop_stdout() -> None:
    """Python would try once more, at exit, to write what could not be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def complain(name: str, text: str, code: int) -> int:
    """Say on stderr what is wrong, as text. Returns the exit code."""
    if not text.replace("\n", "").isprintable():
        from hadr_agent.display import printable

        text = printable(text)
    try:
        if sys.stderr:
            print(f"{name}: {text}", file=sys.stderr, flush=True)
    except OSError:  # nobody reads this either
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    return code
