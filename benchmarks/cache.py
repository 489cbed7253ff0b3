"""Prompt tokens that a session of 40 rounds bills: ours, with the thinking stripped, with the arguments dumped again.
Not measured: a real provider's tokens, cache blocks, expiry and surcharges for cache writes, output tokens, quality.

    uv run python benchmarks/cache.py

The loop is the same three times; what differs is the turn that it appends. The scripted provider counts: a token is
four characters of JSON, and its cache holds the latest request and the turn it was answered with, to the character.
(DeepSeek documents that its cache holds both. One that holds requests alone would favour stripping further.)
39 rounds read a piece of a file, the 40th answers. Nothing is random: every run prints the same.
Billed input is in tokens at the full price: prompt - cached + cached times the price of a cached token (`PRICES`).
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle, islice

from openai.types.chat import ChatCompletion, ChatCompletionMessage

from hadr_agent.agent import agent_loop
from hadr_agent.provider import Message, Usage
from hadr_agent.scripted import ScriptedProvider, TurnForm
from hadr_agent.thinking import strip_think
from hadr_agent.tools import Toolbox, ToolSpec, tool

ROUNDS = 40
THINKING = (60, 300)
"""Tokens a round, without the tags."""

PRICES = {
    # api-docs.deepseek.com/quick_start/pricing, "Models & Pricing", for deepseek-flash (DeepSeek-V4.1-Flash):
    # 1M input tokens cost $0.003 (cache hit) or $0.15 (cache miss), twice that in peak hours.
    "DeepSeek": 0.003 / 0.15,
    # docs.mistral.ai/studio-api/conversations/advanced/prompt-caching, "Prompt caching":
    # "Cached prompt tokens are billed at 10% of the standard input token price". Google says the same of Gemini:
    # docs.cloud.google.com, "Context caching overview": "a 90% discount on cached tokens".
    "Mistral": 0.10,
    # platform.minimaxi.com/docs/api-reference/anthropic-api-compatible-cache, for MiniMax-M2.7:
    # ¥2.1 for 1M input tokens, ¥0.42 for cache reads. (M2 to M2.5: ¥0.21, so a tenth.)
    "MiniMax": 0.42 / 2.1,
}
"""What a cached input token costs, by the provider's own page, where an uncached one costs 1.

Looked up on 2026-11-30 in stored copies of these pages. Prices change: look again before you decide by them.
"""

# --- the script

SYSTEM = (
    "You are a careful assistant who reviews code. Use the tools to read what you need before you say anything about "
    "it, one piece at a time. Never guess what a file holds. Answer in two or three sentences, for somebody in a hurry."
)
TASK = "The nightly export sometimes writes a row twice. Find out where that can happen, and say what to change."
THOUGHTS = (
    "The piece I have just read opens the cursor before the lock is taken, which could matter. ",
    "But the caller may hold that lock already; I cannot tell from here. ",
    "If the retry wraps the whole batch and not a single row, rows before the failure are written again. ",
    "Let me rule out the simple causes first: an index without a unique key, a loop that starts one row early. ",
    "The time stamps in the report are two seconds apart, which looks like the back-off and not like two schedulers. ",
    "So far nothing here commits, so the commit must happen further down or in the caller. ",
    "I should read on from the line where this piece was cut, and then look at who calls it. ",
)
LINES = (
    "def flush(self, rows: list[Row]) -> int:",
    "    for attempt in range(self.retries):",
    "        with self.pool.connection() as connection:",
    "            written += connection.insert_many(self.table, rows)",
    "        except OperationalError as error:",
    "            log.warning('retrying after %s', error)",
    "            time.sleep(self.backoff * 2**attempt)",
    "    return written",
)


def script(thinking: int) -> list[TurnForm]:
    turns: list[TurnForm] = []
    for number in range(1, ROUNDS):
        thoughts, thought = islice(cycle(THOUGHTS), number, None), f"Round {number}. "
        while len(thought) < 4 * thinking:
            thought += next(thoughts)
        # Compact, as most models write their arguments; `json.dumps` puts blanks behind colons and commas.
        arguments = f'{{"path":"export/writer_{number % 7}.py","start":{40 * number},"lines":8}}'
        call = {"name": "read", "arguments": arguments}
        turns.append({"think": thought[: 4 * thinking], "say": "I read on.", "calls": [call]})
    return [*turns, {"think": THOUGHTS[2], "say": "The retry wraps the whole batch: retry single rows instead."}]


@tool
def read(path: str, start: int, lines: int) -> str:
    """Read some lines of a file."""
    return "\n".join(f"{start + at:5}  {line}" for at, line in enumerate(islice(cycle(LINES), lines)))


# --- the variants: what becomes of a turn before it is appended


def as_it_came(message: ChatCompletionMessage) -> None:
    pass


def without_thinking(message: ChatCompletionMessage) -> None:
    message.content = strip_think(message.content)


def arguments_dumped(message: ChatCompletionMessage) -> None:
    for call in message.tool_calls or []:
        if call.type == "function":
            call.function.arguments = json.dumps(json.loads(call.function.arguments))


VARIANTS: dict[str, Callable[[ChatCompletionMessage], None]] = {
    "ours": as_it_came,
    "thinking stripped": without_thinking,
    "arguments dumped": arguments_dumped,
}


@dataclass(frozen=True)
class Changing:
    """A provider whose turns are changed before the loop sees them."""

    inner: ScriptedProvider
    change: Callable[[ChatCompletionMessage], None]

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ChatCompletion:
        completion = self.inner.complete(messages, tools)
        self.change(completion.choices[0].message)
        return completion


# --- the tables


@dataclass(frozen=True)
class Row:
    variant: str
    prompt: int
    cached: int

    def billed(self, price: float) -> float:
        return self.prompt - self.cached + self.cached * price


def measure(thinking: int) -> list[Row]:
    rows: list[Row] = []
    for variant, change in VARIANTS.items():
        history: list[Message] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": TASK}]
        with ScriptedProvider(script(thinking), strict=False) as provider:
            usage: Usage = agent_loop(Changing(provider, change), history, Toolbox(read), max_rounds=ROUNDS).usage
        rows.append(Row(variant, usage.prompt_tokens or 0, usage.cached_tokens or 0))
    return rows


def table(rows: list[Row]) -> str:
    ours = rows[0]
    names = "".join(f"{f'{name} ({price:.2f})':>24}" for name, price in PRICES.items())
    lines = [f"{'variant':18}{'prompt':>10}{'cached':>10}{'share':>8}{names}"]
    for row in rows:
        billed = "".join(
            f"{f'{row.billed(price):,.0f}  {row.billed(price) / ours.billed(price):5.2f}x':>24}"
            for price in PRICES.values()
        )
        lines.append(f"{row.variant:18}{row.prompt:10,}{row.cached:10,}{row.cached / row.prompt:8.1%}{billed}")
    return "\n".join(lines)


def break_even(ours: Row, stripped: Row) -> float:
    """The price of a cached token at which both bill the same."""
    fresh, stripped_fresh = ours.prompt - ours.cached, stripped.prompt - stripped.cached
    return (stripped_fresh - fresh) / (ours.cached - stripped.cached)


def main() -> None:
    for thinking in THINKING:
        rows = measure(thinking)
        ours, stripped, dumped = rows
        even, more = break_even(ours, stripped), dumped.billed(0.1) / ours.billed(0.1) - 1
        print(f"Thinking of {thinking} tokens a round; prices of cached input in brackets")
        print(table(rows))
        print(f"Dropping the thinking bills less input wherever a cached token costs more than {even:.3f}.")
        print(f"Dumping arguments again changes nothing for the model and bills more: {more:.1%} at a price of 0.10.\n")
    print(CAVEAT)


CAVEAT = """\
So the bill for input is no reason to keep long thinking, unless cached tokens are nearly free. What dropping it costs
is not in the tables: the model no longer sees why it did what it did, and may think it all again, in output tokens;
and some providers answer the next request with HTTP 400. DeepSeek ("Thinking Mode") wants the `reasoning_content` of
turns with tool calls back in every later request, Anthropic ("Thinking in tool and multi-turn workflows") refuses
turns that were rebuilt without their thinking."""


if __name__ == "__main__":
    main()
