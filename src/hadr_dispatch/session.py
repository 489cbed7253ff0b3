"""An operation on disk: what happened in each tick, and what the model was told and said.

It knows files, not models. Whether a log is true, the world says.
"""

import json
import os
import re
import stat
from collections.abc import Mapping, MutableSequence, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

import portalocker
from pydantic import TypeAdapter, ValidationError

from hadr_agent.provider import Message, Usage, as_object
from hadr_agent.transcript import Transcript, load
from hadr_dispatch.scenario import Scenario
from hadr_dispatch.world import World

FAILED = "provider_error"
"""The stop of a wake in which the model was not heard; the next tick wakes it again."""


class OperationError(Exception):
    """A session that cannot be used: which file, why, what to do."""


@dataclass(frozen=True)
class Wake:
    """What one wake took. tick: the one that passed with it. stop: of the loop's run, or why there was none.

    resent: tokens of what an earlier request or its reply had held already.
    """

    tick: int
    rounds: int
    stop: str
    usage: Usage
    resent: int


_WAKE = TypeAdapter(Wake)


class Session:
    """An operation on disk: a log with one line for each tick, and beside it the histories, one message a line.

    A tick has passed if its line is in the log; whatever a model did since the last line is in the histories. Without a
    path, all is kept in memory. Made by `Session.open`. notices: what had to be mended when it was opened.
    """

    def __init__(self, world: World, wakes: Sequence[Wake], path: Path | None, file: int) -> None:
        self.world = world
        self.wakes = list(wakes)
        self.notices: list[str] = []
        self._path, self._file = path, file
        self.earlier = [load(file) for file in histories(path)[:-1]] if path else []
        """The histories before this one, as they were handed over."""
        self.messages: MutableSequence[Message] = self._open()

    @classmethod
    def open(cls, scenario: Scenario, seed: int | None, path: Path | None = None) -> Self:
        """Begin an operation, or go on with the one in the file. seed: None for the file's, or 0 for a new one.

        Raises OperationError and SessionError.
        """
        if path is None:
            return cls(World.start(scenario, seed or 0), (), None, -1)
        file = _locked(path)
        try:
            whole = path.read_bytes()
            kept = whole[: whole.rfind(b"\n") + 1]
            begun = World.start(scenario, seed or 0)
            head = _line(begun.log[0])
            if not kept and head.startswith(whole):
                if full := [file for file in histories(path) if file.stat().st_size]:
                    raise OperationError(f"{path} is empty, but {full[0]} is not; take another file")
                os.ftruncate(file, 0)
                _append(file, head, path)
                return cls(begun, (), path, file)
            world, wakes, _ = _read(scenario, kept, path)
            if seed not in (None, world.seed):
                raise OperationError(f"{path} is an operation with seed {world.seed}, not {seed}; give its seed")
            os.ftruncate(file, len(kept))  # a half-written last line: that tick has not passed
            return cls(world, wakes, path, file)
        except BaseException:
            os.close(file)
            raise

    def passed(self, wake: Wake | None) -> None:
        """Put the tick that has just passed on disk, with what its wake took. Raises OperationError."""
        told = {"wake": {key: value for key, value in asdict(wake).items() if key != "tick"}} if wake else {}
        if self._path:
            _append(self._file, _line({**self.world.log[-1], **told}), self._path)
        if wake:
            self.wakes.append(wake)

    def hand_over(self) -> None:
        """Begin a new history; the old one stays on disk."""
        self.earlier.append(list(self.messages))
        self._close_history()
        self.messages = self._open()

    def close(self) -> None:
        """Let go of the files."""
        self._close_history()
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _close_history(self) -> None:
        if isinstance(self.messages, Transcript):
            self.messages.close()

    def _open(self) -> MutableSequence[Message]:
        if self._path is None:
            return []
        history = Transcript.open(_history(self._path, len(self.earlier) + 1))
        self.notices += history.notices
        return history


def recorded(scenario: Scenario, path: Path) -> tuple[World, Sequence[Wake], Sequence[Sequence[Message]]]:
    """The operation of a session as far as it got: world, wakes, histories. Raises OperationError and SessionError."""
    try:
        if not path.is_file():
            raise OperationError(f"there is no session {path}")
        text = path.read_bytes()
    except OSError as error:
        raise OperationError(f"the session {path} cannot be read: {error.strerror}") from error
    world, wakes, files = _read(scenario, text[: text.rfind(b"\n") + 1], path)
    return world, wakes, [load(file) for file in files]


def histories(path: Path) -> list[Path]:
    """The files of the histories that stand beside a session's log, the first one first."""
    found: list[Path] = []
    while (file := _history(path, len(found) + 1)).exists():
        found.append(file)
    return found


def _history(path: Path, number: int) -> Path:
    return path.with_name(f"{path.stem}.history-{number}{path.suffix}")


def _locked(path: Path) -> int:
    """The file, made if need be, for this process alone."""
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OperationError(f"the session {path} is no file that could be kept")
        portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
    except portalocker.LockException:
        raise OperationError(f"the session {path} is in use by another process; wait, or take another file") from None
    except OSError as error:
        raise OperationError(f"the session {path} cannot be opened: {error.strerror}") from error
    return file


def _line(value: Mapping[str, object]) -> bytes:
    return json.dumps(value).encode() + b"\n"


def _append(file: int, line: bytes, path: Path) -> None:
    """Put a line on disk, whole or not at all."""
    end = os.fstat(file).st_size
    try:
        if os.write(file, line) != len(line):
            raise OSError("the disk is full")
        os.fsync(file)
    except OSError as error:
        os.ftruncate(file, end)
        raise OperationError(f"the session {path} cannot be written: {error.strerror or error}") from error


def _read(scenario: Scenario, text: bytes, path: Path) -> tuple[World, Sequence[Wake], Sequence[Path]]:
    """The world that a log leads to, what each wake took, and the files of the histories."""
    wakes: list[Wake] = []
    files = histories(path)
    name = re.compile(re.escape(f"{path.stem}.history-") + r"\d+" + re.escape(path.suffix))
    there = [file for file in path.absolute().parent.iterdir() if name.fullmatch(file.name)]
    try:
        lines = [as_object(json.loads(line)) for line in text.splitlines()]
        for line in lines:
            if "wake" in line:
                wakes.append(_WAKE.validate_python({**as_object(line.pop("wake")), "tick": line.get("tick")}))
        world = World.replay(scenario, lines)
        if len(there) > len(files) or (any(wake.rounds for wake in wakes) and not files):
            raise OperationError(f"{_history(path, len(files) + 1)} is not there, and belongs to {path}; put it back")
        return world, wakes, files
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        what = f"wake.{'.'.join(map(str, first['loc']))}: {first['msg']}"
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        what = str(error)
    raise OperationError(f"{path} is no operation that can go on: {what}. It stays as it is.")
