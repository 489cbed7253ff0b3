"""A history in a file: one message a line, as on the wire, written as it is appended, mended when it is loaded.

It does not know who appends or what is sent. What happened to a run (Ctrl-C, kill, full disk) it reads off the file.
"""

import contextlib
import json
import os
import signal
import time
from collections.abc import Generator, Iterable, Iterator, MutableSequence
from pathlib import Path
from typing import NoReturn, Self, overload

import portalocker

from hadr_agent.provider import Message, as_list, as_object, replayable_call
from hadr_agent.tools import ToolCall, arguments_problem, interrupted

_ROLES = ("system", "developer", "user", "assistant", "tool")
_BEGINNING = b'{"role": "'  # of every session: its first line is a system or a user message


class SessionError(Exception):
    """A file that is no session, is in use, or cannot be read or written: which one, and what to do."""


class Transcript(MutableSequence[Message]):
    """A history that is on disk as soon as it is appended to. Made by `Transcript.open`, ended by `close` or `with`.

    It only grows at its end, as the loop wants it: nothing that was written is ever changed.
    `notices` says what had to be mended when the file was loaded.
    """

    def __init__(self, path: Path, file: int, messages: list[Message], notices: list[str]) -> None:
        self.path = path
        self.notices = notices
        self._file = file
        self._messages = messages
        self._synced = True

    @classmethod
    def open(cls, path: Path | str) -> Self:
        """Open the session in this file, or begin one.

        A half-written last line is cut off, and calls that an interrupt left open are answered, at the file's end.
        Everything else is mended in memory alone. Raises SessionError; the file then stays as it is.
        """
        path = Path(path)
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
        except OSError as error:
            raise SessionError(f"the session {path} cannot be opened: {error.strerror}") from error
        try:
            _lock(file)
            messages, notices, end = _load(path)
            transcript = cls(path, file, messages, notices)
            os.ftruncate(file, end)
            if end and os.pread(file, 1, end - 1) != b"\n":
                os.write(file, b"\n")
            transcript._answer_open_calls()
        except portalocker.AlreadyLocked:
            os.close(file)
            raise SessionError(f"the session {path} is in use by another process; wait, or take another file") from None
        except portalocker.LockException as error:
            os.close(file)
            raise SessionError(f"the session {path} cannot be locked: {error}") from error
        except BaseException:
            os.close(file)
            raise
        return transcript

    def append(self, value: Message) -> None:
        """Write the message to the file, then add it. Raises SessionError if it cannot be written whole."""
        line = json.dumps(value).encode() + b"\n"
        with _uninterrupted():
            end = os.fstat(self._file).st_size
            try:
                if os.write(self._file, line) != len(line):
                    raise OSError("the disk is full")
            except OSError as error:
                with contextlib.suppress(OSError):
                    os.ftruncate(self._file, end)
                raise SessionError(f"the session {self.path} cannot be written: {error.strerror or error}") from error
            self._messages.append(value)
            self._synced = False

    def insert(self, index: int, value: Message) -> None:
        if index != len(self):
            self._refuse()
        self.append(value)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> MutableSequence[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | MutableSequence[Message]:
        return self._messages[index]

    def __setitem__(self, index: object, value: object) -> NoReturn:
        self._refuse()

    def __delitem__(self, index: object) -> NoReturn:
        self._refuse()

    def __len__(self) -> int:
        return len(self._messages)

    def __iter__(self) -> Iterator[Message]:
        """All messages. Whoever reads them all is about to send them, so before that they are on the disk for sure."""
        self._sync()
        return iter(self._messages)

    def close(self) -> None:
        """End the session: it is on the disk, and other processes may go on with it."""
        if self._file >= 0:
            self._sync()
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _sync(self) -> None:
        if not self._synced:
            os.fsync(self._file)
            self._synced = True

    def _refuse(self) -> NoReturn:
        raise TypeError("a session only grows at its end")

    def _answer_open_calls(self) -> None:
        for call in _open_calls(self._messages):
            self.notices.append(f"call {call.get('id')!r} had no result; it is answered as interrupted")
            self.append(interrupted(call).message)


def _lock(file: int) -> None:
    """Lock the file for this process. A killed one may keep its lock for some milliseconds, so ask for a second."""
    for attempt in range(20):
        try:
            portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
            return
        except portalocker.AlreadyLocked:
            if attempt == 19:
                raise
            time.sleep(0.05)


def load(path: Path | str) -> list[Message]:
    """The history in a session file, mended in memory; the file stays as it is. Raises SessionError."""
    messages, _, _ = _load(Path(path))
    return [*messages, *(interrupted(call).message for call in _open_calls(messages))]


def _load(path: Path) -> tuple[list[Message], list[str], int]:
    """(the messages, mended but for open calls at the end; what was mended; where the last whole line ends)"""
    messages: list[Message] = []
    notices: list[str] = []
    end = 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                message = _message(line)
                if message is None:
                    if file.read(1) or not _is_half_written(line, first=number == 1):
                        raise SessionError(
                            f"{path} is not a session: line {number} is not a message. It stays as it is."
                        )
                    notices.append("the last line was half-written; it is left out")
                    break
                messages.append(message)
                end += len(line)
    except OSError as error:
        raise SessionError(f"the session {path} cannot be read: {error.strerror}") from error
    return list(_mended(messages, notices)), notices, end


def _message(line: bytes) -> Message | None:
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    message = as_object(value)
    return message if message.get("role") in _ROLES else None


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _is_half_written(line: bytes, *, first: bool) -> bool:
    """Could this be the beginning of a message's line (or the zeros that a power cut leaves)?"""
    if line.strip() and (line.endswith(b"\n") or _is_json(line)):
        return False  # a line of ours is written with its line break, and no part of it is JSON
    begun = line.rstrip(b"\0").rstrip(b"\n")
    if first:
        return begun.startswith(_BEGINNING) or _BEGINNING.startswith(begun)
    return not begun or begun.startswith(b"{")


def _mended(messages: Iterable[Message], notices: list[str]) -> Iterator[Message]:
    """The messages as providers take them: each call answered once, straight after its turn, and nothing else."""
    waiting: list[tuple[str, ToolCall]] = []  # calls without a result so far, with the id that the file gives them
    for number, message in enumerate(messages, 1):
        where, role = f"message {number}", message["role"]
        if role == "tool":
            ident = str(message.get("tool_call_id"))
            found = next((each for each in waiting if ident in (each[0], each[1].get("id"))), None)
            if found is None:
                notices.append(f"{where}: a result that no open call asked for; it is left out")
                continue
            waiting.remove(found)
            yield message if ident == found[1].get("id") else {**message, "tool_call_id": found[1].get("id")}
            continue
        for _, call in waiting:
            notices.append(f"{where}: call {call.get('id')!r} had no result before it; it is answered as interrupted")
            yield interrupted(call).message
        waiting = []
        if role == "system" and number > 1:
            notices.append(f"{where}: a system message that is not the first; it is left out")
        elif role == "assistant":
            mended = _mended_turn(message, number)
            if mended is not message:
                notices.append(f"{where}: a turn that providers refuse; its tool calls or empty fields are mended")
            stored = [str(as_object(call).get("id")) for call in as_list(message.get("tool_calls"))]
            waiting = list(zip(stored, map(as_object, as_list(mended.get("tool_calls"))), strict=True))
            yield mended
        else:
            yield message


def _open_calls(messages: list[Message]) -> list[ToolCall]:
    """The calls of the last turn that have no result."""
    answered: set[str] = set()
    for message in reversed(messages):
        if message["role"] != "tool":
            calls = map(as_object, as_list(message.get("tool_calls")))
            return [call for call in calls if str(call.get("id")) not in answered]
        answered.add(str(message.get("tool_call_id")))
    return []


def _mended_turn(turn: Message, number: int) -> Message:
    """The turn of an older file as the loop would append it today; the same object if there is nothing to mend."""
    calls = map(as_object, as_list(turn.get("tool_calls")))
    used: set[object] = set()
    mended = {key: value for key, value in turn.items() if key != "tool_calls"}
    if mended_calls := [_mended_call(call, used, number, place) for place, call in enumerate(calls)]:
        mended["tool_calls"] = mended_calls
    elif turn.get("content") is None:
        mended["content"] = ""
    return turn if mended == turn else mended


def _mended_call(call: ToolCall, used: set[object], number: int, place: int) -> ToolCall:
    # The id is the same at every load, so that the prompt cache still hits.
    mended = replayable_call(call, used, lambda: f"m{number:05}{place:03}")
    function = as_object(mended.get("function"))
    if function and arguments_problem(function.get("arguments")):
        mended["function"] = {**function, "arguments": "{}"}
    return mended


@contextlib.contextmanager
def _uninterrupted() -> Generator[None]:
    """Let Ctrl-C wait until a message is both in the file and in memory, or in neither."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
