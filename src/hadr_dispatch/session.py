"""An operation on disk: what happened in each tick, and what the model was told and said.

It knows files, not models. Whether a log is true, the world says.
"""

import itertools
import json
import os
from collections.abc import Mapping, MutableSequence, Sequence
from pathlib import Path
from typing import Self

import portalocker

from hadr_agent.provider import Message, as_object
from hadr_agent.transcript import Transcript, load
from hadr_dispatch.scenario import Scenario
from hadr_dispatch.world import World


class OperationError(Exception):
    """A session that cannot be used: which file, why, what to do."""


class Session:
    """An operation on disk: a log with one line for each tick, and beside it the histories, one message a line.

    A tick has passed if its line is in the log; whatever a model did since the last line is in the history. Without a
    path, all is kept in memory. Made by `Session.open`.
    """

    def __init__(self, world: World, wakes: Sequence[Mapping[str, object]], path: Path | None, file: int) -> None:
        self.world = world
        self.wakes = list(wakes)
        self._path, self._file, self._number = path, file, 1
        while path and history_path(path, self._number + 1).exists():
            self._number += 1
        self.messages: MutableSequence[Message] = self._open()

    @classmethod
    def open(cls, scenario: Scenario, seed: int | None, path: Path | None = None) -> Self:
        """Begin an operation, or go on with the one in the file. seed: None for the file's, or 0 for a new one.

        Raises OperationError and SessionError.
        """
        if path is None:
            return cls(World.start(scenario, seed or 0), [], None, -1)
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
        except portalocker.LockException:
            raise OperationError(
                f"the session {path} is in use by another process; wait, or take another file"
            ) from None
        except OSError as error:
            raise OperationError(f"the session {path} cannot be opened: {error.strerror}") from error
        try:
            whole = path.read_bytes()
            kept = whole[: whole.rfind(b"\n") + 1]
            if not kept and history_path(path, 1).exists():
                raise OperationError(
                    f"{path} is empty, but {history_path(path, 1)} is there; move it, or take another file"
                )
            world, wakes = _read(scenario, kept, path) if whole else (World.start(scenario, seed or 0), ())
            if seed not in (None, world.seed):
                raise OperationError(f"{path} is an operation with seed {world.seed}, not {seed}; give its seed")
            session = cls(world, wakes, path, file)
        except BaseException:
            os.close(file)
            raise
        os.ftruncate(file, len(kept))  # a half-written last line: that tick has not passed
        if not kept:
            session._write(world.log[0])
        return session

    def passed(self, wake: Mapping[str, object] | None) -> None:
        """Put the tick that has just passed on disk, with what its wake took."""
        if wake is not None:
            self.wakes.append({**wake, "tick": self.world.tick})
        self._write({**self.world.log[-1], **({"wake": wake} if wake is not None else {})})

    def hand_over(self) -> None:
        """Begin a new history; the old one stays on disk."""
        self.close_history()
        self._number += 1
        self.messages = self._open()

    def close_history(self) -> None:
        if isinstance(self.messages, Transcript):
            self.messages.close()

    def close(self) -> None:
        self.close_history()
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _open(self) -> MutableSequence[Message]:
        return Transcript.open(history_path(self._path, self._number)) if self._path else []

    def _write(self, line: Mapping[str, object]) -> None:
        if self._file >= 0:
            try:
                os.write(self._file, json.dumps(line).encode() + b"\n")
                os.fsync(self._file)
            except OSError as error:
                raise OperationError(f"the session {self._path} cannot be written: {error.strerror}") from error


def recorded(scenario: Scenario, path: Path) -> tuple[World, Sequence[Sequence[Message]]]:
    """The operation of a session as far as it got, and its histories. Raises OperationError and SessionError."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise OperationError(f"the session {path} cannot be read: {error.strerror}") from error
    files = itertools.takewhile(Path.exists, (history_path(path, number) for number in itertools.count(1)))
    return _read(scenario, text[: text.rfind(b"\n") + 1], path)[0], [load(file) for file in files]


def history_path(path: Path, number: int) -> Path:
    """Where the history of this number stands, beside the session's log."""
    return path.with_name(f"{path.stem}.history-{number}.jsonl")


def _read(scenario: Scenario, text: bytes, path: Path) -> tuple[World, Sequence[Mapping[str, object]]]:
    """The world that a log leads to, and what each wake took."""
    try:
        lines = [as_object(json.loads(line)) for line in text.splitlines()]
        wakes = [as_object(line.pop("wake")) | {"tick": line["tick"]} for line in lines if "wake" in line]
        return World.replay(scenario, lines), wakes
    except (ValueError, KeyError, TypeError) as error:
        raise OperationError(f"{path} is no operation that can go on: {error}. It stays as it is.") from error
