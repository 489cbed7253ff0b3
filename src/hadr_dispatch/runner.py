"""The runner of an operation: observe, one run of the agent loop, one tick. It alone has the clock.

It knows the world, the desk and a session's files. What a model says and does is the loop's and the tools'.
"""

import json
import os
from collections.abc import Callable, Mapping, MutableSequence, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Self, cast

import portalocker

from hadr_agent.agent import Event as LoopEvent
from hadr_agent.agent import agent_loop
from hadr_agent.provider import Message, Provider, ProviderError, Usage, as_list, as_object
from hadr_agent.transcript import Transcript
from hadr_dispatch.observation import Event
from hadr_dispatch.officer import HANDOVER
from hadr_dispatch.scenario import Scenario
from hadr_dispatch.score import Effort
from hadr_dispatch.state import briefing, heading, state_message
from hadr_dispatch.tools import Desk, dispatch_tools
from hadr_dispatch.world import World

MAX_ROUNDS = 6
HISTORY_TOKENS = 100_000
"""When a history has about so many tokens, at four characters each, it is handed over to a new one."""

_IN_A_ROW = 3
_MAY_PASS = (None, 408, 409, 429)  # besides 5xx: a failure that asking again may mend


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
        while path and self._history_path(self._number + 1).exists():
            self._number += 1
        self.messages: MutableSequence[Message] = self._open()

    @classmethod
    def open(cls, scenario: Scenario, seed: int, path: Path | None = None) -> Self:
        """Begin an operation, or go on with the one in the file. Raises OperationError and SessionError."""
        if path is None:
            return cls(World.start(scenario, seed), [], None, -1)
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
        except portalocker.LockException:
            raise OperationError(
                f"the session {path} is in use by another process; wait, or take another file"
            ) from None
        except OSError as error:
            raise OperationError(f"the session {path} cannot be opened: {error.strerror}") from error
        whole = path.read_bytes()
        kept = whole[: whole.rfind(b"\n") + 1]
        os.ftruncate(file, len(kept))  # a half-written last line: that tick has not passed
        try:
            lines = [as_object(json.loads(line)) for line in kept.splitlines()]
            wakes = [as_object(line.pop("wake")) | {"tick": line["tick"]} for line in lines if "wake" in line]
            if lines and lines[0].get("seed") != seed:
                raise OperationError(
                    f"{path} is an operation with seed {lines[0].get('seed')!r}, not {seed}; give its seed"
                )
            world = World.replay(scenario, lines) if lines else World.start(scenario, seed)
        except (ValueError, KeyError, TypeError) as error:
            raise OperationError(f"{path} is no operation that can go on: {error}. It stays as it is.") from error
        session = cls(world, wakes, path, file)
        if not lines:
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

    def _history_path(self, number: int) -> Path:
        path = cast("Path", self._path)
        return path.with_name(f"{path.stem}.history-{number}.jsonl")

    def _open(self) -> MutableSequence[Message]:
        return Transcript.open(self._history_path(self._number)) if self._path else []

    def _write(self, line: Mapping[str, object]) -> None:
        if self._file >= 0:
            try:
                os.write(self._file, json.dumps(line).encode() + b"\n")
                os.fsync(self._file)
            except OSError as error:
                raise OperationError(f"the session {self._path} cannot be written: {error.strerror}") from error


class Runner:
    """Runs an operation tick by tick. `desk` is what the tools work on; `tools` stay the same in every wake.

    prompt: the system prompt. max_rounds: of one wake. on_event: told of the loop's requests, turns and results.
    notice: told of a wake that failed. history_tokens: when a history is handed over.
    """

    def __init__(
        self,
        session: Session,
        prompt: str,
        *,
        max_rounds: int = MAX_ROUNDS,
        history_tokens: int = HISTORY_TOKENS,
        on_event: Callable[[LoopEvent], object] | None = None,
        notice: Callable[[str], object] | None = None,
    ) -> None:
        self.session, self.world = session, session.world
        self.desk = Desk(self.world.observe())
        self.tools = dispatch_tools(self.desk)
        self._prompt, self._max_rounds, self._history_tokens = prompt, max_rounds, history_tokens
        self._on_event, self._notice = on_event, notice
        self._before: int | None = None  # tokens of the last request and its reply
        self._wake = Effort(resent=0)
        self._failures = 0

    @property
    def effort(self) -> Effort:
        """What all wakes took, those before a resume included."""
        wakes = [(wake, Usage(**cast("dict[str, int | None]", wake["usage"]))) for wake in self.session.wakes]
        return Effort(
            len(wakes),
            sum(cast("int", wake["rounds"]) for wake, _ in wakes),
            sum(wake["stop"] == "max_rounds" for wake, _ in wakes),
            sum((usage for _, usage in wakes), Usage()),
            sum(cast("int", wake["resent"]) for wake, _ in wakes),
        )

    def tick(self, provider: Provider) -> None:
        """One tick: wake the model if something has changed, carry out its orders, let time pass once.

        Raises ProviderError if asking again would not help or has not helped three times in a row; time then stands
        still, as it does when an interrupt comes through.
        """
        now = self.world.tick
        self.desk.look(self.world.observe())
        last = cast("int", self.session.wakes[-1]["tick"]) - 1 if self.session.wakes else -1
        changes = [event for event in self.world.events if event.known and event.tick > last]
        wake = self._wake_up(provider, changes) if any(event.wakes for event in changes) or not now else None
        for order in self.desk.orders:
            self.world.apply(order)
        self.world.next_tick(now)
        self.session.passed(wake)

    def _wake_up(self, provider: Provider, changes: list[Event]) -> Mapping[str, object]:
        self._wake = Effort(resent=0)
        try:
            stop = self._ask(provider, changes)
            self._failures = 0
        except ProviderError as error:
            if error.context_overflow:
                self._new_history("The history before this one did not fit the model any more.", changes)
                stop = self._ask(provider, changes)
            else:
                self._failures += 1
                may_pass = error.status in _MAY_PASS or (error.status or 0) >= 500
                if not may_pass or self._failures == _IN_A_ROW:
                    raise
                if self._notice:
                    self._notice(f"tick {self.world.tick} passes without the model: {error}")
                stop = "provider_error"
        usage = asdict(self._wake.usage)
        return {"rounds": self._wake.rounds, "stop": stop, "usage": usage, "resent": self._wake.resent}

    def _ask(self, provider: Provider, changes: list[Event]) -> str:
        """Run the loop on the state message of this tick, or go on with a run that was interrupted."""
        messages = self.session.messages
        at = max((at for at, message in enumerate(messages) if message["role"] == "user"), default=-1)
        asked = str(messages[at].get("content")) if at >= 0 else ""
        if asked == HANDOVER or (heading(self.desk.seen) not in asked.splitlines() and self._is_full()):
            self._hand_over(provider, changes)
            messages, at = self.session.messages, len(self.session.messages) - 1
        elif heading(self.desk.seen) not in asked.splitlines():
            self._begin(state_message(self.desk.seen, changes))
            at = len(messages) - 1
        else:
            self._give_again(list(messages[at + 1 :]))
        done = sum(message["role"] == "assistant" for message in messages[at + 1 :])
        if messages[-1]["role"] == "assistant":
            return "answered"
        if done >= self._max_rounds:
            return "max_rounds"
        return agent_loop(
            provider, messages, self.tools, max_rounds=self._max_rounds - done, on_event=self._counted
        ).stop

    def _give_again(self, turns: list[Message]) -> None:
        """After a resume: the orders of this tick that had been answered, on the desk once more."""
        answers = {str(each.get("tool_call_id")): str(each.get("content")) for each in turns if each["role"] == "tool"}
        for call in [as_object(call) for turn in turns for call in as_list(turn.get("tool_calls"))]:
            if answers.get(str(call.get("id")), "Error").startswith(("accepted", "refused", "noted")):
                self.tools.run(call)

    def _begin(self, state: str, before: str = "") -> None:
        messages = self.session.messages
        if not messages:
            messages.append({"role": "system", "content": self._prompt})
            state = "\n\n".join(filter(None, [briefing(self.world.scenario), before, state]))
        messages.append({"role": "user", "content": state})

    def _is_full(self) -> bool:
        return sum(len(json.dumps(message)) for message in self.session.messages) // 4 > self._history_tokens

    def _hand_over(self, provider: Provider, changes: list[Event]) -> None:
        """Let the model write what the next history should know, and begin that with it."""
        messages = self.session.messages
        asked = [message for message in messages if message["role"] == "user"][-1]
        if asked.get("content") != HANDOVER:
            messages.append({"role": "user", "content": HANDOVER})
        if messages[-1]["role"] == "user":
            written = agent_loop(provider, messages, self.tools.closed(), max_rounds=1, on_event=self._counted).answer
        else:
            written = str(messages[-1].get("content"))
        self._new_history(written or "The dispatcher before you left no handover.", changes)

    def _new_history(self, written: str, changes: list[Event]) -> None:
        self.session.hand_over()
        self._before = None
        self._begin(state_message(self.desk.seen, changes), f"Handover from the dispatcher before you:\n{written}")

    def _counted(self, event: LoopEvent) -> None:
        if event.completion:
            usage = Usage.of(event.completion)
            before = usage.cached_tokens if self._before is None and self.session.wakes else self._before
            self._before = (usage.prompt_tokens or 0) + (usage.completion_tokens or 0)
            self._wake = replace(
                self._wake,
                rounds=self._wake.rounds + 1,
                usage=self._wake.usage + usage,
                resent=(self._wake.resent or 0) + (before or 0),
            )
        if self._on_event:
            self._on_event(event)
