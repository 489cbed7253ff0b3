"""Everything a person sees: the answer on stdout, all the rest on stderr. The only importer of rich.

It does not know settings, and asks no model anything. Text from models, tools and errors is shown as text: no markup,
no emoji codes, no control sequences.
"""

import contextlib
import io
import itertools
import json
import re
import sys
import time
import traceback
from collections.abc import Iterator, MutableSequence, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Literal

from markdown_it import MarkdownIt
from openai.types.chat import ChatCompletion
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.markdown import Markdown
from rich.status import Status
from rich.table import Table
from rich.text import Text

from hadr_agent.agent import Event, LoopResult
from hadr_agent.limits import repetitions
from hadr_agent.provider import Message, Usage, as_list, as_object, is_cut_off
from hadr_agent.report import ESTIMATE, SavedRound, rounds_of
from hadr_agent.scripted import first_difference
from hadr_agent.text_tools import leaked_markup
from hadr_agent.thinking import split_think, thinking_of
from hadr_agent.tools import ToolError, ToolResult

Think = Literal["show", "fold", "hide"]

_SHOWN = 1_000  # characters of a tool result
_MINIMUM = 1_024  # tokens below which OpenAI and others cache nothing: developers.openai.com, "Prompt Caching 201"
_CONTROLS: dict[int, int] = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"},  # the symbols for control characters
    0x7F: 0x2421,
    # C1 controls, lone surrogates, and what turns the direction of text, so that a command looks like another
    **dict.fromkeys(
        (*range(0x80, 0xA0), *range(0xD800, 0xE000), *range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD
    ),
}


def printable(text: str) -> str:
    """The text with each control character made visible, so that it cannot steer a terminal."""
    return text.replace("\r\n", "\n").translate(_CONTROLS)


@dataclass(frozen=True)
class Round:
    """What the closing table and --json say of a round. `seconds`: the model call alone."""

    round: int
    tool_calls: int
    usage: Usage
    seconds: float
    finish_reason: str | None
    thinking: str


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Whoever read stderr has left; the answer on stdout may still be wanted."""
        self.quiet = True


class Display:
    """Shows one run. `on_event` is for `agent_loop`, `on_delta` for the provider.

    quiet: only the answer, and what went wrong.
    think: "show" all thinking, "fold" it to its length, or "hide" it.
    """

    def __init__(self, *, quiet: bool = False, think: Think = "show") -> None:
        self.rounds: list[Round] = []
        self._quiet = quiet
        self._think: Think = think
        self._err = _Console(stderr=True, markup=False, highlight=False, emoji=False)
        self._started = self._asked = time.monotonic()
        self._status: Status | None = None
        self._sort_at = 0  # the length of streamed text at which it is sorted again
        self._is_watched = self._err.is_terminal and bool(
            sys.stderr and sys.stderr.isatty()
        )  # not by FORCE_COLOR alone
        self._column = 0  # where the line of thinking that is being printed has got to
        self._streamed = self._shown = ""
        self._turns: list[Message] = []

    def begin(self) -> None:
        """A run begins; what was counted before is not part of it."""
        self.rounds, self._turns, self._started = [], [], time.monotonic()

    # --- while it runs

    def on_event(self, event: Event) -> None:
        """Show a request, an assistant turn or a tool result."""
        if event.kind == "request":
            self._asked, self._streamed, self._shown, self._sort_at = time.monotonic(), "", "", 0
            self._line(f"round {len(self.rounds) + 1}", "bold")
            self._wait("waiting for the model …")
        elif event.completion:
            self._turn(event.completion)
        elif event.result:
            self._result(event.result)

    def on_delta(self, text: str) -> None:
        """Show thinking as it comes, if a person is there to see it."""
        self._streamed += text
        if self._quiet or not self._is_watched or len(self._streamed) < self._sort_at:
            return
        self._sort_at = len(self._streamed) * 101 // 100 + 20  # sorting it all anew for each token would be slow
        thinking, answer = split_think(self._streamed)
        thinking = re.sub(r"<[^<>]{0,12}$", "", thinking)  # perhaps the beginning of a tag
        if self._think == "show":
            self._think_aloud(thinking, to_the_end=bool(answer))
        if answer or self._think != "show":
            self._end_line()
            part, text = ("writing", answer) if answer else ("thinking", thinking)
            self._wait(f"{part} … {len(text):,} characters")

    def _turn(self, completion: ChatCompletion) -> None:
        self._rest()
        choice = completion.choices[0]
        turn = choice.message.to_dict(mode="python", warnings=False)
        calls = as_list(turn.get("tool_calls"))
        thinking, said = thinking_of(turn), split_think(turn.get("content"))[1]
        seconds, usage = time.monotonic() - self._asked, Usage.of(completion)
        number = len(self.rounds) + 1  # not the loop's own, which begins anew when the loop does
        self.rounds.append(Round(number, len(calls), usage, seconds, choice.finish_reason, thinking))
        self._turns.append(turn)
        if self._think == "show":
            self._think_aloud(thinking, to_the_end=True)
            self._end_line()
        elif thinking and self._think == "fold":
            self._line(f"thinking, {len(thinking):,} characters", "dim italic")
        if calls and said:
            self._line(said)
        for call in calls:
            function = as_object(as_object(call).get("function"))
            self._line(_cut(f"→ {function.get('name')} {function.get('arguments') or ''}"), "cyan")

    def _think_aloud(self, thinking: str, *, to_the_end: bool) -> None:
        """Print what is new of the thinking, up to the last whole word, and stay on its line."""
        if self._quiet or not thinking.startswith(self._shown):
            return
        whole = len(thinking) if to_the_end else max(thinking.rfind(" "), thinking.rfind("\n"), len(thinking) - 80)
        fresh = thinking[len(self._shown) : whole]
        if fresh:
            self._rest()
            self._write(Text(self._wrapped(printable(fresh)), "dim italic"), end="")
            self._shown += fresh

    def _wrapped(self, text: str) -> str:
        """The text with line breaks where the terminal would break words, going on from the column reached."""
        if not self._is_watched:
            self._column = 1 if text else 0
            return text
        out: list[str] = []
        for part in re.findall(r"\n| +|[^ \n]+", text):
            if part == "\n":
                self._column = 0
            elif self._column and self._column + cell_len(part) > self._err.width:
                out.append("\n")
                self._column = 0
                part = part.lstrip(" ")
            out.append(part)
            self._column += 0 if part == "\n" else cell_len(part)
        return "".join(out)

    def _end_line(self) -> None:
        if self._column:
            self._write(Text())
            self._column = 0

    def _result(self, result: ToolResult) -> None:
        self._line(_cut(f"← {result.text}"), "red" if result.exception else "green")
        if result.exception and not isinstance(result.exception, ToolError):
            frames = traceback.extract_tb(result.exception.__traceback__)
            if frames:
                self._line(f"  raised at {frames[-1].filename}, line {frames[-1].lineno}, in {frames[-1].name}", "dim")

    # --- at the end

    def answer(self, text: str) -> None:
        """The answer on stdout: Markdown on a terminal, else plain and unwrapped. Raises OSError."""
        text = printable(text)
        if sys.stdout.isatty():
            Console(markup=False, highlight=False, emoji=False).print(_markdown(text))
            return
        encoding = sys.stdout.encoding or "utf-8"
        try:
            text.encode(encoding)
        except UnicodeEncodeError:
            self.notice(f"stdout cannot show every character of the answer ({encoding}); those are written as escapes")
        print(text, flush=True)

    def document(self, result: LoopResult, error: str | None = None) -> None:
        """The run as one JSON document on stdout (--json)."""
        fields: dict[str, object] = {
            "version": 1,
            "answer": result.answer,
            "thinking": self.rounds[-1].thinking if self.rounds else "",
            "stop": result.stop,
            "finish_reason": result.finish_reason,
            "usage": asdict(result.usage),
            "rounds": [asdict(each) for each in self.rounds],
            "messages": list(result.messages),
        }
        print(json.dumps(fields | ({"error": error} if error else {}), indent=2), flush=True)

    def unfinished(self, stop: str, messages: MutableSequence[Message]) -> LoopResult:
        """The result of a run that an exception ended, from the rounds that were shown."""
        usage = sum((each.usage for each in self.rounds), Usage())
        return LoopResult("", len(self.rounds), stop, None, usage, messages)

    def close(self, result: LoopResult) -> None:
        """The closing table, and what a reader should know of how the run ended."""
        self._rest()
        self._end_line()
        if self.rounds:
            self._print(self._table(result.usage))
        if note := self._cache_note(result):
            self._line(note, "dim")
        calls = sum(each.tool_calls for each in self.rounds)
        seconds = time.monotonic() - self._started
        counts = f"{_count(result.rounds, 'round')}, {_count(calls, 'tool call')}, {seconds:.1f} s"
        self._line(f"{result.stop} · {counts}", "bold")

    def so_far(self, messages: Sequence[Message]) -> None:
        """After a run that was stopped: the last thing that was said or found."""
        run = itertools.takewhile(lambda message: message["role"] in ("assistant", "tool"), reversed(messages))
        texts = [split_think(message.get("content"))[1] for message in run]
        if found := next(filter(None, texts), ""):
            self.notice(_cut(f"Found so far: {found}"))
        if (repeated := repetitions(messages)) > 2:
            self.notice(f"The last {repeated} rounds made the very same calls and got the very same results.")

    def differences(self, recorded: Sequence[Message], replayed: Sequence[Message]) -> None:
        """Where the tools gave other results than in the recorded session."""
        pairs = [[m for m in messages if m["role"] == "tool"] for messages in (recorded, replayed)]
        differing = [(old, new) for old, new in zip(*pairs, strict=False) if old.get("content") != new.get("content")]
        for old, new in differing:
            self.notice(_cut(f"{old.get('tool_call_id')}: recorded {old.get('content')!r}, now {new.get('content')!r}"))
        self.hint(f"replay: {_count(len(differing), 'result')} of {len(pairs[1])} differ from the recorded ones")

    def _table(self, total: Usage) -> Table:
        table = Table(box=None, pad_edge=False, header_style="dim", style="dim")
        for name in ("round", "tool calls", "prompt", "cached", "share", "completion", "seconds"):
            table.add_column(name, justify="right")
        for each in self.rounds:
            table.add_row(str(each.round), str(each.tool_calls), *_figures(each.usage), f"{each.seconds:.1f}")
        calls, seconds = sum(each.tool_calls for each in self.rounds), sum(each.seconds for each in self.rounds)
        table.add_row("all", str(calls), *_figures(total), f"{seconds:.1f}", style="bold")
        return table

    def _cache_note(self, result: LoopResult) -> str | None:
        """Why round 2 or a later one found nothing in the provider's prompt cache, if so."""
        missed = next((each for each in self.rounds[1:] if not each.usage.cached_tokens), None)
        if missed is None:
            return None
        where = f"round {missed.round}, nothing cached: "
        if missed.usage.cached_tokens is None:
            return f"{where}this provider does not report cached tokens"
        stored = [(at, m) for at, m in enumerate(result.messages, 1) if m.get("role") == "assistant"][
            -len(self._turns) :
        ]
        for (at, message), turn in zip(stored[: missed.round - 1], self._turns, strict=False):
            if difference := first_difference(turn, message):
                return f"{where}message {at} could not be replayed as it came, {difference}"
        if (missed.usage.prompt_tokens or 0) < _MINIMUM:
            return f"{where}the request is below the provider's minimum (often {_MINIMUM:,} tokens)"
        return f"{where}the provider had no cached beginning of it (expired, or another machine answered)"

    def notice(self, text: str) -> None:
        """Something a person should know, even with --quiet."""
        self._rest()
        self._write(Text(printable(text), "yellow"))

    def hint(self, text: str) -> None:
        """Something that is good to know."""
        self._line(text, "dim")

    def error(self, text: str) -> None:
        """What went wrong, where, and what to do about it."""
        self._rest()
        self._write(Text(f"hadr-agent: {printable(text)}", "red"))

    def ask(self) -> str | None:
        """A line from the person at the terminal, with editing and history; None when they end the input."""
        self._rest()
        with contextlib.suppress(ImportError):
            import_module("readline")  # lets input() edit lines, where there is such a library
        while True:
            try:
                return input("> ")
            except EOFError:
                print()
                return None
            except KeyboardInterrupt:
                print()

    def approve(self, name: str, arguments: dict[str, object]) -> bool:
        """Ask whether a tool may run. Without a terminal to ask at: no."""
        if not (sys.stdin and sys.stdin.isatty() and self._is_watched):
            return False
        self._rest()
        shown = "\n".join(f"  {key}: {value}" for key, value in arguments.items())
        asked = Text(printable(f"{name}\n{shown}\nRun it? [y/N] "), "yellow")
        try:
            return self._err.input(asked).strip().lower() in ("y", "yes")
        except (EOFError, KeyboardInterrupt) as stopped:
            self._write(Text())
            if isinstance(stopped, KeyboardInterrupt):
                raise
            return False

    # --- the terminal

    def _line(self, text: str, style: str = "") -> None:
        self._print(Text(printable(text), style))

    def _print(self, what: RenderableType) -> None:
        if not self._quiet:
            self._write(what)

    def _write(self, what: RenderableType, end: str = "\n") -> None:
        try:
            self._err.print(what, soft_wrap=end == "" or not self._is_watched, end=end)
        except OSError:  # nobody can read stderr, but perhaps stdout
            self._err.quiet = True

    def _wait(self, text: str) -> None:
        """A line that moves while the model is at work."""
        if self._quiet or not self._is_watched:
            return
        if self._status is None:
            self._status = self._err.status(Text(text, "dim"))
            self._status.start()
        self._status.update(Text(text, "dim"))

    def _rest(self) -> None:
        """Stop the line that moves, so that others can be written. A line of thinking stays as it is."""
        if self._status is not None:
            self._status.stop()
            self._status = None


def show_session(messages: Sequence[Message], *, svg: bool = False) -> str:
    """Print a session to stdout round by round, or return it as an SVG picture of a terminal."""
    file = io.StringIO() if svg else sys.stdout
    console = Console(file=file, record=svg, width=100 if svg else None, markup=False, highlight=False, emoji=False)
    rounds = list(rounds_of(messages))
    for each in rounds:
        for text, style in _lines_of(each):
            console.print(Text(printable(text), style), soft_wrap=not (svg or console.is_terminal))
    prompt, cached = sum(each.prompt for each in rounds), sum(each.cached for each in rounds)
    share = f", {cached / prompt:.0%} of them cached" if prompt else ""
    total = f"{_count(len(rounds), 'round')}, {prompt:,} prompt tokens{share}; {ESTIMATE}"
    console.print(Text(total, "dim"), soft_wrap=not (svg or console.is_terminal))
    if not svg:
        return ""
    picture = console.export_svg(title="hadr-agent show")
    return re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL)  # fonts from elsewhere: a picture stands alone


def _lines_of(each: SavedRound) -> Iterator[tuple[str, str]]:
    for message in each.before:
        yield f"{message['role']}: {message.get('content')}", "yellow"
    yield f"round {each.number}: {each.prompt:,} prompt, {each.cached:,} cached, {each.completion:,} completion", "bold"
    if each.broken:
        yield f"the cache broke: {each.broken}", "red"
    if each.thinking:
        yield each.thinking, "dim italic"
    if each.said:
        yield each.said, ""
    for call in each.calls:
        yield f"→ {call}", "cyan"
    for result in each.results:
        yield _cut(f"← {result.get('content')}"), "green"


def shortfall(result: LoopResult) -> str | None:
    """Why a run did not bring a full answer, in words; None if it did."""
    cut, filtered = is_cut_off(result.finish_reason), result.finish_reason == "content_filter"
    if result.stop == "answered":
        how = "cut off at the token limit" if cut else "cut short by the provider's content filter" if filtered else ""
        if not how and (tag := leaked_markup(result.answer)):
            return f"the answer holds a tool call as text ({tag}), which this server did not read; try --wire text"
        return f"the answer was {how}; what is there may mislead" if how else None
    if result.stop == "no_answer":
        refusal = result.messages[-1].get("refusal")
        return "no answer: " + (
            f"the model refused: {refusal}"
            if refusal
            else "the turn was cut off at the token limit, with nothing but thinking in it"
            if cut
            else "the provider's content filter stopped it"
            if filtered
            else "the last turn holds nothing to show, only thinking or nothing at all"
        )
    if result.stop == "max_rounds":
        return f"stopped after {_count(result.rounds, 'round')}, the limit set by --max-rounds, without an answer"
    if result.stop == "cut_off":
        return "stopped without an answer: three turns in a row were cut off at the token limit"
    if result.stop == "token_budget":
        return "stopped without an answer: the token budget (--token-budget) is used up"
    return f"stopped without an answer: {result.stop}"


def _markdown(text: str) -> Markdown:
    """Rich's Markdown, but with HTML as text and links written out, so that nothing the model wrote is lost."""
    shown = Markdown(text, hyperlinks=False)
    shown.parsed = MarkdownIt("commonmark", {"html": False}).enable("strikethrough").enable("table").parse(text)
    return shown


def _figures(usage: Usage) -> list[str]:
    """Prompt, cached, share and completion, for the table. A dash: not reported."""
    share = f"{usage.cached_tokens / usage.prompt_tokens:.0%}" if usage.cached_tokens and usage.prompt_tokens else "-"
    prompt, cached, completion = (
        "-" if number is None else f"{number:,}"
        for number in (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens)
    )
    return [prompt, cached, share, completion]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} … {len(text):,} characters in all"
