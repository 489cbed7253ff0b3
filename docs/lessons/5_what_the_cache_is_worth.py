"""What the cache is worth: the same twelve rounds, sent in three ways.

You will see how much of each request the provider had read before, what the input costs, and where the common beginning
ended: with the history unchanged, with its thinking stripped, with a clock in the system prompt. It matters because an
agent sends its whole history in every round. And you will see the other side: with long thinking and cheap cache reads
it costs less to strip it. So do not keep thinking for the money alone; what else it buys is said at the end.

    uv run python docs/lessons/5_what_the_cache_is_worth.py

Not counted: output tokens, and whether the answer is any good. The stand-in's cache holds the last request and the turn
that answered it, to the character; four characters are a token. Real caches forget, and work in blocks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from openai.types.chat import ChatCompletion

from hadr_agent import LoopResult, Message, ScriptedProvider, Toolbox, Usage, agent_loop, strip_think, tool
from hadr_agent.scripted import Request, TurnForm
from hadr_agent.tools import ToolSpec

Edit = Callable[[Sequence[Message]], list[Message]]
ROUNDS = 12
SHORT, LONG = 10, 400  # tokens of thinking in each round
CACHED_PRICE = 0.1
"""The price of a cached input token, where a new one costs 1. MiniMax lists 0.21 and 2.1 yuan a million for its M2.5,
and 0.42 and 2.1 for its M2.7: platform.minimaxi.com/docs/guides/pricing-paygo, as found in November 2026."""
WHAT_KEEPING_BUYS = """\
MiniMax, of its M2 with the thinking of earlier rounds kept, against discarded: SWE-bench Verified 69.4 against 67.2,
Tau^2 87 against 64, BrowseComp 44.0 against 31.4. ("Interleaved Thinking Unlocks Reliable MiniMax-M2 Agentic
Capability", 3 November 2025, minimax.io/news/why-is-interleaved-thinking-important-for-m2; it does not say how often
or in which harness this was measured.) DeepSeek answers HTTP 400 when the reasoning_content of a turn with tool calls
does not come back ("Thinking Mode", api-docs.deepseek.com/guides/thinking_mode)."""


@tool
def read_page(number: int) -> str:
    """Read a page of the log."""
    return f"page {number}: {'all is quiet, ' * 20}"


def script(thinking: int) -> list[TurnForm]:
    """Eleven rounds that read a page each, and the answer. No page is asked for before the last one was read."""
    thought = ("Nothing so far, so I read on. " * thinking)[: 4 * thinking]
    turns: list[TurnForm] = [{"after": f"page {ROUNDS - 1}:", "think": thought, "say": "All is quiet."}]
    for number in range(ROUNDS - 1, 0, -1):
        call = {"name": "read_page", "arguments": {"number": number}}
        turns.insert(0, {"after": f"page {number - 1}:", "think": thought, "calls": [call]})
    return turns


def unchanged(messages: Sequence[Message]) -> list[Message]:
    """One of three ways to send a history. None of them touches the loop's own."""
    return list(messages)


def thinking_stripped(messages: Sequence[Message]) -> list[Message]:
    return [m | {"content": strip_think(m["content"])} if m["role"] == "assistant" else m for m in messages]


def clock_in_prompt(messages: Sequence[Message]) -> list[Message]:
    minute = sum(message["role"] == "assistant" for message in messages)  # each round takes one
    return [messages[0] | {"content": f"It is 12:{minute:02}. {messages[0]['content']}"}, *messages[1:]]


@dataclass
class Edited:
    """A provider that sends an edited copy of the history, and notes what the provider behind it counted."""

    inner: ScriptedProvider
    edit: Edit
    usages: list[Usage] = field(default_factory=list)

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ChatCompletion:
        completion = self.inner.complete(self.edit(messages), tools)
        self.usages.append(Usage.of(completion))
        return completion


@dataclass(frozen=True)
class Run:
    result: LoopResult
    requests: list[Request]
    usages: list[Usage]  # one for each request

    @property
    def cost(self) -> int:
        """All input, in tokens at the full price."""
        total = sum(self.usages, Usage())
        return round((total.prompt_tokens or 0) - (total.cached_tokens or 0) * (1 - CACHED_PRICE))


def run(edit: Edit, thinking: int = SHORT) -> Run:
    provider = Edited(ScriptedProvider(script(thinking)), edit)
    task = "I have read page 0: nothing. Read on, to the end of the log."
    messages: list[Message] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": task}]
    result = agent_loop(provider, messages, Toolbox(read_page), max_rounds=ROUNDS)
    return Run(result, provider.inner.requests, provider.usages)


def main() -> None:
    for edit in (unchanged, thinking_stripped, clock_in_prompt):
        sent = run(edit)
        breaks = [request.cache_break for request in sent.requests if request.cache_break]
        print(f"\n== {edit.__name__.replace('_', ' ')}: {sent.result.stop} after {sent.result.rounds} rounds")
        print(f"prompt tokens in each: {[usage.prompt_tokens for usage in sent.usages]}")
        print(f"of these cached:       {[usage.cached_tokens for usage in sent.usages]}")
        print(f"input: {sent.cost:,} tokens at the full price, if a cached one costs {CACHED_PRICE}")
        print(f"the cache broke {len(breaks)} times{f', first in {breaks[0]}' if breaks else ''}")
    print("\n== The other side: input with the thinking kept, and stripped")
    for thinking in (SHORT, LONG):
        kept, stripped = run(unchanged, thinking).cost, run(thinking_stripped, thinking).cost
        cheaper = "keep" if kept < stripped else "strip"
        print(f"{thinking} tokens of thinking a round: {kept:,} and {stripped:,}; it costs less to {cheaper} it")
    print(f"\n== What keeping it buys\n{WHAT_KEEPING_BUYS}")


if __name__ == "__main__":
    main()
