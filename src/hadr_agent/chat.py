"""A chat at the terminal: one run of the loop for each thing that is said, over one history.

It does not know providers or the loop; it is handed what plays a turn.
"""

import json
from collections.abc import Callable, MutableSequence
from pathlib import Path

from hadr_agent.display import Display
from hadr_agent.provider import Message, Usage, as_object
from hadr_agent.tools import Toolbox

HELP = """\
Say what is to be done. Ctrl-C stops a run and keeps the chat, Ctrl-D ends it.
/tools       what the model may call
/usage       the tokens of this chat
/save FILE   the history as a session, for --session, --replay and show
/help        this"""


def chat(
    play: Callable[[MutableSequence[Message]], object],
    messages: MutableSequence[Message],
    tools: Toolbox,
    display: Display,
) -> None:
    """Ask for a line, play it, and so on until the input ends. `play` runs the loop over the messages and shows it."""
    used: list[Usage] = []
    rounds = 0
    display.hint("a chat: /help says what else there is, Ctrl-D ends it")
    while (line := display.ask()) is not None:
        word, _, rest = line.strip().partition(" ")
        if word == "/tools":
            for spec in tools.specs:
                function = as_object(spec["function"])
                display.hint(f"{function['name']}: {function['description']}")
        elif word == "/usage":
            display.hint(_total(used, rounds))
        elif word == "/save":
            display.hint(_save(rest.strip(), messages))
        elif word.startswith("/"):
            display.hint(HELP)
        elif word:
            messages.append({"role": "user", "content": line})
            play(messages)
            used += [each.usage for each in display.rounds]
            rounds += len(display.rounds)
            display.hint(_total(used, rounds))


def _total(used: list[Usage], rounds: int) -> str:
    total = sum(used, Usage())
    if total.prompt_tokens is None:
        return f"this chat: {rounds} rounds, tokens not reported"
    share = "cached not reported"
    if total.cached_tokens is not None:
        share = f"{total.cached_tokens / max(total.prompt_tokens, 1):.0%} of it cached"
    return f"this chat: {rounds} rounds, {total.prompt_tokens:,} prompt tokens, {share}"


def _save(name: str, messages: MutableSequence[Message]) -> str:
    if not name:
        return "/save FILE: name the file"
    try:
        with Path(name).open("x", encoding="utf-8") as file:
            file.writelines(json.dumps(message) + "\n" for message in messages)
    except OSError as error:
        return f"{name} cannot be written: {error.strerror}"
    return f"saved in {name}"
