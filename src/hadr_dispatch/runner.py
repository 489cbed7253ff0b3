"""The runner of an operation: observe, one run of the agent loop, one tick. It alone has the clock.

It knows the world, the desk and the session. What a model says and does is the loop's and the tools'.
"""

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import replace

from hadr_agent.agent import Event as LoopEvent
from hadr_agent.agent import agent_loop
from hadr_agent.provider import CHARS_PER_TOKEN, Provider, ProviderError, Usage, as_list, as_object
from hadr_agent.thinking import strip_think
from hadr_agent.tools import ToolCall
from hadr_dispatch.observation import Event
from hadr_dispatch.officer import HANDOVER
from hadr_dispatch.score import Effort
from hadr_dispatch.session import FAILED, OperationError, Session, Wake
from hadr_dispatch.state import briefing, state_message, tick_of
from hadr_dispatch.tools import ANSWERS, Desk, dispatch_tools

MAX_ROUNDS = 6
HISTORY_TOKENS = 100_000
"""When a history has about so many tokens, at CHARS_PER_TOKEN each, it is handed over to a new one."""

_MAY_PASS = (None, 408, 409, 429)  # besides 5xx: a failure that asking again may mend
_EARLY = {"no_answer": "it said nothing", "cut_off": "it was cut off at the token limit three times in a row"}


class Runner:
    """Runs an operation tick by tick. `desk` is what the tools work on; `tools` stay the same in every wake.

    prompt: the system prompt. max_rounds: of one wake. on_event: told of the loop's requests, turns and results.
    notice: told of what a person should know. history_tokens: when a history is handed over. patience: after so many
    wakes in a row in which the provider failed, the failure is raised.
    """

    def __init__(
        self,
        session: Session,
        prompt: str,
        *,
        max_rounds: int = MAX_ROUNDS,
        history_tokens: int = HISTORY_TOKENS,
        patience: int = 3,
        on_event: Callable[[LoopEvent], object] | None = None,
        notice: Callable[[str], object] | None = None,
    ) -> None:
        """Raises OperationError if the histories know of a later tick than the log."""
        self.session, self.world = session, session.world
        self.desk = Desk(self.world.observe())
        self.tools = dispatch_tools(self.desk)
        self._prompt, self._max_rounds, self._history_tokens = prompt, max_rounds, history_tokens
        self._patience, self._on_event, self._notice = patience, on_event, notice
        self._before: int | None = None  # tokens of the last request and its reply
        self._wake = Wake(0, 0, "", Usage(), 0)
        self._failures = 0
        list(self._orders_given())  # raises here, not in the first tick

    @property
    def effort(self) -> Effort:
        """What all wakes took, those before a resume included."""
        wakes = self.session.wakes
        return Effort(
            len(wakes),
            sum(wake.rounds for wake in wakes),
            sum(wake.stop == "max_rounds" for wake in wakes),
            sum(wake.stop == FAILED for wake in wakes),
            sum((wake.usage for wake in wakes), Usage()),
            sum(wake.resent for wake in wakes),
        )

    def tick(self, provider: Provider) -> None:
        """One tick: wake the model if something has changed, carry out its orders, let time pass once.

        Raises ProviderError if asking again would not help, if nobody was ever reached, or if `patience` is at its end;
        time then stands still, as it does when an interrupt comes through.
        """
        now = self.world.tick
        self.desk.look(self.world.observe())
        for call in list(self._orders_given()):
            self.tools.run(call)
        heard = [wake.tick - 1 for wake in self.session.wakes if wake.stop != FAILED]
        changes = [event for event in self.world.events if event.known and event.tick > max(heard, default=-1)]
        wake = self._wake_up(provider, changes) if any(event.wakes for event in changes) or not now else None
        for order in self.desk.orders:
            self.world.apply(order)
        self.world.next_tick(now)
        self.session.passed(wake)

    def _orders_given(self) -> Iterator[ToolCall]:
        """After a stop in this tick: the calls that the desk had answered, in whichever history they are."""
        for history in (*self.session.earlier, self.session.messages):
            tick = None
            for at, message in enumerate(history):
                tick = tick_of(message) if message["role"] == "user" else tick
                if tick is not None and tick > self.world.tick:
                    raise OperationError(
                        f"the history of this session knows of tick {tick}, but its log ends at tick "
                        f"{self.world.tick}: no tick is played twice"
                    )
                calls = [as_object(call) for call in as_list(message.get("tool_calls"))]
                for call, answer in zip(calls, history[at + 1 :], strict=False):
                    if tick == self.world.tick and str(answer.get("content")).startswith(ANSWERS):
                        yield call

    def _wake_up(self, provider: Provider, changes: list[Event]) -> Wake:
        self._wake = Wake(self.world.tick + 1, 0, "", Usage(), 0)
        try:
            stop = self._heard(provider, changes)
            self._failures = 0
        except ProviderError as error:
            self._failures += 1
            may_pass = error.status in _MAY_PASS or (error.status or 0) >= 500
            is_reached = self._wake.rounds or error.status or any(wake.rounds for wake in self.session.wakes)
            if not may_pass or not is_reached or self._failures >= self._patience:
                raise
            self._tell(f"passes without the model: {error}")
            stop = FAILED
        if stop in _EARLY:
            self._tell(f"the model gave no answer: {_EARLY[stop]}")
        elif stop not in ("answered", "max_rounds", FAILED):
            self._tell(f"the model's part ended early: {stop}")
        return replace(self._wake, stop=stop)

    def _tell(self, what: str) -> None:
        if self._notice:
            self._notice(f"tick {self.world.tick}: {what}")

    def _heard(self, provider: Provider, changes: list[Event]) -> str:
        try:
            return self._ask(provider, changes)
        except ProviderError as error:
            if not error.context_overflow or len(self.session.messages) < 3:  # prompt and state alone do not fit
                raise
        self._tell("the history does not fit the model any more; a new one begins")
        self._new_history()
        return self._ask(provider, changes)

    def _ask(self, provider: Provider, changes: list[Event]) -> str:
        """Run the loop on the state message of this tick, or go on with a run that was interrupted."""
        messages = self.session.messages
        at = max((at for at, message in enumerate(messages) if message["role"] == "user"), default=-1)
        if at < 0 or tick_of(messages[at]) != self.world.tick:
            if at >= 0 and (messages[at]["content"] == HANDOVER or self._is_full()):
                self._hand_over(provider)
                messages = self.session.messages
            self._begin(changes)
            at = len(messages) - 1
        done = sum(message["role"] == "assistant" for message in messages[at + 1 :])
        if messages[-1]["role"] == "assistant":
            return "answered"
        if done >= self._max_rounds:
            return "max_rounds"
        return agent_loop(
            provider, messages, self.tools, max_rounds=self._max_rounds - done, on_event=self._counted
        ).stop

    def _begin(self, changes: list[Event]) -> None:
        """The state message of this tick; at the beginning of a history, all that never changes before it."""
        messages, state = self.session.messages, state_message(self.desk.seen, changes)
        if not messages:
            messages.append({"role": "system", "content": self._prompt})
        if not any(message["role"] == "user" for message in messages):
            state = "\n\n".join(filter(None, [briefing(self.world.scenario), self._handover(), state]))
        messages.append({"role": "user", "content": state})

    def _handover(self) -> str:
        """What the history before this one leaves to it."""
        if not self.session.earlier:
            return ""
        said = itertools.dropwhile(lambda message: message.get("content") != HANDOVER, self.session.earlier[-1])
        texts = [strip_think(message.get("content")) for message in said if message["role"] == "assistant"]
        written = "".join(texts[-1:]) or "none; the history before this one did not fit the model any more"
        return f"Handover from the dispatcher before you:\n{written}"

    def _is_full(self) -> bool:
        characters = sum(len(json.dumps(message)) for message in self.session.messages)
        return characters // CHARS_PER_TOKEN > self._history_tokens

    def _hand_over(self, provider: Provider) -> None:
        """Let the model write what the next history should know."""
        messages = self.session.messages
        asked = [message for message in messages if message["role"] == "user"][-1]
        if asked.get("content") != HANDOVER:
            messages.append({"role": "user", "content": HANDOVER})
        if messages[-1]["role"] == "user":
            agent_loop(provider, messages, self.tools.closed(), max_rounds=1, on_event=self._counted)
        self._tell("the history is full; it is handed over to a new one")
        self._new_history()

    def _new_history(self) -> None:
        self.session.hand_over()
        self._before = None

    def _counted(self, event: LoopEvent) -> None:
        if event.completion:
            usage = Usage.of(event.completion)
            before = usage.cached_tokens if self._before is None and self.session.wakes else self._before
            self._before = (usage.prompt_tokens or 0) + (usage.completion_tokens or 0)
            self._wake = replace(
                self._wake,
                rounds=self._wake.rounds + 1,
                usage=self._wake.usage + usage,
                resent=self._wake.resent + (before or 0),
            )
        if self._on_event:
            self._on_event(event)
