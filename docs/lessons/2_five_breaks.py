"""Five breaks of the minimum loop, and a sixth of your own: what models do to a loop that expects them to behave.

You will see a naive loop crash, never end, or send a novel, and the project's loop go on, with the same five scripts.
It matters because a crash costs more than the run: it leaves a call without its result, and from then on providers
refuse that history. An error that goes back to the model as a result costs one more round.

    uv run python docs/lessons/2_five_breaks.py

The sixth break is yours: add an entry to `BREAKS`, one line a turn. Arguments that end in the middle, say, or two calls
of which the first fails. Guess what each loop will do before you run it.
"""

import json
from dataclasses import dataclass

from hadr_agent import Message, ScriptedProvider, Toolbox, agent_loop, tool
from hadr_agent.scripted import Request, TurnForm, history_problems


@tool(max_chars=2_000)
def divide(a: int, b: int, digits: int = 4) -> str:
    """Divide a by b, to so many digits behind the point."""
    whole, rest = divmod(a, b)
    behind = ""
    for _ in range(digits):
        next_digit, rest = divmod(rest * 10, b)
        behind += str(next_digit)
    return f"{whole}.{behind}"


def call(name: str, **arguments: object) -> dict[str, object]:
    return {"name": name, "arguments": arguments}


BREAKS: dict[str, list[TurnForm]] = {
    "an unknown tool": [
        {"calls": [call("multiply", a=2, b=3)]},
        {"after": "unknown tool 'multiply'. Available tools: divide", "say": "I can only divide."},
    ],
    "arguments that do not fit": [
        {"calls": [call("divide", a="one", b=3)]},
        {"after": "a should be a valid integer", "calls": [call("divide", a=1, b=3)]},
        {"after": "0.3333", "say": "0.3333"},
    ],
    "a tool that raises": [
        {"calls": [call("divide", a=1, b=0)]},
        {"after": "ZeroDivisionError", "say": "One cannot divide by zero."},
    ],
    # Its script has to end some time; the model would not.
    "a model that never stops": [{"calls": [call("divide", a=1, b=number)]} for number in range(1, 41)],
    "a tool that returns a novel": [
        {"calls": [call("divide", a=1, b=3, digits=300_000)]},
        {"after": "0.3333", "say": "One third."},
    ],
}


@dataclass(frozen=True)
class Outcome:
    """How a run ended, what was sent, and the history that it left behind."""

    end: str
    requests: list[Request]
    messages: list[Message]


def naive_loop(provider: ScriptedProvider, messages: list[Message]) -> str:
    """An example of what not to do. Each line is one that people write; nothing else in the lessons uses it."""
    functions = {"divide": divide.function}
    while True:
        message = provider.complete(messages, [divide.spec]).choices[0].message
        messages.append(message.to_dict())
        if not message.tool_calls:
            return message.content
        for each in message.tool_calls:
            result = functions[each.function.name](**json.loads(each.function.arguments))
            messages.append({"role": "tool", "tool_call_id": each.id, "content": result})


def run_naive(turns: list[TurnForm]) -> Outcome:
    provider = ScriptedProvider(turns)
    messages: list[Message] = [{"role": "user", "content": "Calculate."}]
    try:
        end = f"answered: {naive_loop(provider, messages)}"
    except Exception as error:  # whatever ends it, the lesson shows it
        end = f"ended by {type(error).__name__}: {str(error)[:90]}"
    return Outcome(end, provider.requests, messages)


def run_ours(turns: list[TurnForm]) -> Outcome:
    provider = ScriptedProvider(turns)
    messages: list[Message] = [{"role": "user", "content": "Calculate."}]
    result = agent_loop(provider, messages, Toolbox(divide), max_rounds=5)
    return Outcome(f"{result.stop}: {result.answer or 'no answer'}", provider.requests, messages)


def show(loop: str, outcome: Outcome) -> None:
    print(f"  {loop}")
    for message in outcome.messages[1:5]:
        functions = [each["function"] for each in message.get("tool_calls", [])]
        called = ", ".join(f"{function['name']} {function['arguments']}" for function in functions)
        print(f"    {message['role']:9} {called or str(message['content'])[:100]}")
    print("    …" if len(outcome.messages) > 5 else "    (that is all)")
    print(f"    {outcome.end}")
    print(
        f"    requests: {len(outcome.requests)}, the largest: {max(len(sent.raw) for sent in outcome.requests):,} bytes"
    )
    problems = history_problems(outcome.messages)
    print(f"    can this history be continued? {f'no: {problems[0]}' if problems else 'yes'}")


def main() -> None:
    for number, (name, turns) in enumerate(BREAKS.items(), 1):
        print(f"\n{number}. {name}")
        show("the naive loop", run_naive(turns))
        show("this project's loop", run_ours(turns))


if __name__ == "__main__":
    main()
