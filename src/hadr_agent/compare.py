"""The same task under several system prompts, side by side: rounds, tokens, cost.

It knows runs and their usage, not providers or files: it is handed what plays a run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hadr_agent.agent import LoopResult
from hadr_agent.provider import Message, Usage

HEAD = ("prompt", "runs", "answered", "rounds", "prompt tokens", "cached", "completion", "cost")


@dataclass(frozen=True)
class Prices:
    """What a million tokens cost, in any currency: new input, cached input, output."""

    fresh: float
    cached: float
    output: float

    def cost(self, usage: Usage) -> float | None:
        """What a usage costs; None where the provider did not report it."""
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        cached = usage.cached_tokens or 0
        fresh = usage.prompt_tokens - cached
        return (fresh * self.fresh + cached * self.cached + usage.completion_tokens * self.output) / 1_000_000


def compare(
    prompts: Mapping[str, Sequence[Message]],
    task: str,
    runs: int,
    play: Callable[[list[Message]], LoopResult],
    prices: Prices | None,
) -> str:
    """Play the task so many times under each prompt and return a table of the means, one line a prompt.

    prompts: by name, the messages that stand before the task.
    """
    rows: list[Sequence[str]] = [HEAD]
    for name, prompt in prompts.items():
        results = [play([*prompt, {"role": "user", "content": task}]) for _ in range(runs)]
        rows.append(_row(name, results, prices))
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]
    return "\n".join(lines)


def _row(name: str, results: Sequence[LoopResult], prices: Prices | None) -> Sequence[str]:
    total = sum((result.usage for result in results), Usage())
    count = len(results)
    cost = prices.cost(total) if prices else None
    return (
        name,
        str(count),
        str(sum(result.stop == "answered" for result in results)),
        f"{sum(result.rounds for result in results) / count:.1f}",
        *(_mean(number, count) for number in (total.prompt_tokens, total.cached_tokens, total.completion_tokens)),
        "-" if cost is None else f"{cost / count:.6f}",
    )


def _mean(number: int | None, count: int) -> str:
    return "-" if number is None else f"{number / count:,.0f}"
