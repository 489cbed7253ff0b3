"""Judges what a loop did: the four requirements, where each broke, and which mistake it looks like.

It knows observations and the submission's source as text. It runs nothing.
"""

import ast
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest

from hadr_agent.provider import Message, as_list, as_object
from hadr_agent.scripted import first_difference, history_problems
from hadr_agent.thinking import split_think, strip_think
from hadr_agent.tools import arguments_problem
from hadr_course.examine import Examination, Observation, Probe

REQUIREMENTS = {
    1: "the assistant turn goes into the history unchanged",
    2: "exactly one tool message for each tool call",
    3: "the loop stops at max_rounds",
    4: "the loop never calls next_tick()",
}


@dataclass(frozen=True)
class Mistake:
    """A mistake that people make: its name in words, a hint that is not the solution, and what its line looks like.

    line: regular expressions with " ; " between them, the likeliest first.
    """

    requirement: int
    words: str
    hint: str
    line: str


@dataclass(frozen=True)
class Finding:
    """One mistake in one submission: what, where in the requests, and on which line it probably stands."""

    key: str
    where: str
    line: int | None

    @property
    def mistake(self) -> Mistake:
        return MISTAKES[self.key]


@dataclass(frozen=True)
class Verdict:
    """`requirements`: by number "met", "broken" or "not reached". `trouble`: why it could not be checked to the end."""

    name: str
    requirements: dict[int, str]
    findings: list[Finding]
    trouble: str | None
    trace: str

    @property
    def passed(self) -> bool:
        return self.trouble is None and set(self.requirements.values()) == {"met"}


MISTAKES = {
    "thinking_stripped": Mistake(
        1,
        "thinking is stripped before the turn is appended",
        "Which of the two needs thinking removed: what is shown, or what is sent again?",
        r"strip_think|split_think ; </?think|re\.(sub|split)",
    ),
    "whitespace_trimmed": Mistake(
        1, "white space around the content is trimmed", "A cache compares to the byte; blanks are bytes.", r"strip\("
    ),
    "arguments_dumped_again": Mistake(
        1,
        "arguments are parsed and dumped again",
        "The text of the arguments was there before you parsed it. Keep that text.",
        r"json\.dumps",
    ),
    "valid_arguments_repaired": Mistake(
        1,
        "valid arguments that look odd are replaced by {}",
        "When exactly is a text a JSON object? Ask a parser, not its looks.",
        r"\"\{\}\"|'\{\}'",
    ),
    "only_known_fields": Mistake(
        1,
        "only the known fields of the turn are kept",
        "Providers add fields that you have never heard of, and want them back.",
        r"\"content\" ; tool_calls",
    ),
    "nulls_added": Mistake(
        1,
        "fields that the provider never sent are added as null",
        "There is more than one way to turn a message into a dict. Which one gives back what arrived?",
        r"model_dump|dict\(|vars\(",
    ),
    "invalid_arguments_replayed": Mistake(
        1,
        "arguments that are not a JSON object go back as they came",
        "What does a provider do that parses every old call again?",
        r"append\(",
    ),
    "system_prompt_changed": Mistake(
        1,
        "the system prompt is not the same in every request",
        "What in it changes, and does the model need that there?",
        r"\[0\] ; system ; insert\(",
    ),
    "old_message_changed": Mistake(
        1,
        "a message that was sent before is changed in a later request",
        "The history only grows at its end. What in your loop touches what stands before?",
        r"\[0\] ; insert\( ; content",
    ),
    "history_rebuilt": Mistake(
        1,
        "a request leaves out messages that were sent before",
        "Send the whole history in every round: `messages`, and nothing made from it.",
        r"complete\(",
    ),
    "history_windowed": Mistake(
        1,
        "only the last messages of the history are sent",
        "What does a provider's cache know of a request that begins in the middle?",
        r"complete\( ; \[-",
    ),
    "tools_changed": Mistake(
        1, "the tools are not the same in every request", "Send `tools.specs` as it is.", r"specs"
    ),
    "turn_changed": Mistake(
        1, "the turn is not replayed as it came", "Compare what arrived with what you append.", r"append\("
    ),
    "thinking_in_answer": Mistake(
        1,
        "the answer is returned with its thinking",
        "Who reads the answer, and what do they want to see?",
        r"LoopResult\(",
    ),
    "stops_on_finish_reason": Mistake(
        2,
        "the finish reason decides whether a turn is the answer, not its tool calls",
        "What if the reason says stop, and the turn holds a call all the same?",
        r"finish_reason",
    ),
    "turn_missing": Mistake(
        2, "the turn is not appended", "What do the tool messages answer, if not a turn in the history?", r"append\("
    ),
    "turn_after_tool_messages": Mistake(
        2, "the turn is appended after the tool messages", "In which order did it happen?", r"append\("
    ),
    "turn_twice": Mistake(2, "the turn is appended twice", "Count your appends for one round.", r"append\("),
    "one_tool_message_for_all": Mistake(
        2, "several calls are answered with one tool message", "How many ids does the turn have?", r"join\( ; results\["
    ),
    "first_call_only": Mistake(
        2,
        "only the first call of a turn is answered",
        "A turn may bring more than one call.",
        r"\[0\]|\[:1\] ; tool_calls",
    ),
    "answered_by_name": Mistake(
        2,
        "a tool message carries another id than its call",
        "By what does the provider find the call?",
        r"tool_call_id ; name",
    ),
    "answered_as_user": Mistake(
        2, "a result does not go back as a tool message", "Which role do results have?", r"\"user\"|'user' ; role"
    ),
    "calls_of_one_name_merged": Mistake(
        2,
        "a call gets the result of another call",
        "Two calls may have the same name, never the same id.",
        r"results ; name",
    ),
    "invalid_arguments_run": Mistake(
        2,
        "a tool is run although its arguments could not be read",
        "What would you do with a request that you only understood in part?",
        r"\{\} ; json\.loads ; except ; run\(",
    ),
    "exception_escapes": Mistake(
        2,
        "an error of a tool ends the loop",
        "Who can do something about a failed tool: the caller, or the model?",
        r"raise ; run\(",
    ),
    "unknown_tool_escapes": Mistake(
        2,
        "a call of an unknown tool ends the loop",
        "The model can choose another tool, if it is told.",
        r"raise ; \[.*name",
    ),
    "unknown_tool_dropped": Mistake(
        2,
        "a call of an unknown tool is passed over in silence",
        "The model waits for an answer to every call that it made.",
        r"if .*name ; if ; continue",
    ),
    "call_unanswered": Mistake(
        2,
        "a call is left without a tool message",
        "Every call, whatever happens: also unknown and broken ones.",
        r"continue ; if ",
    ),
    "limit_one_too_many": Mistake(
        3, "one round too many", "Count: which round is the last that may be asked?", r"range\(|while"
    ),
    "limit_one_too_few": Mistake(
        3, "one round too few", "Count: which round is the last that may be asked?", r"range\(|while"
    ),
    "limit_ignored": Mistake(
        3,
        "the loop does not stop at max_rounds",
        "What ends your loop if the model never stops?",
        r"while|count\( ; for ",
    ),
    "limit_counts_tool_calls": Mistake(
        3,
        "the limit counts something else than rounds",
        "One round is one model call, however many tools it calls.",
        r"max_rounds",
    ),
    "limit_leaves_calls_open": Mistake(
        3,
        "at the limit the last calls are left unanswered",
        "Could somebody go on with the history that you leave?",
        r"break|return ; max_rounds",
    ),
    "next_tick_called": Mistake(
        4, "the loop moves the world's clock", "Time belongs to whoever runs the loop.", r"next_tick"
    ),
}


def probes() -> list[Probe]:
    """The tasks that a submission is put to."""
    return [
        Probe("one turn", ["Hello, what can I do for you?"]),
        Probe("twelve rounds", _twelve_rounds()),
        Probe("what goes wrong", _what_goes_wrong()),
        Probe("thirty rounds", [*_endless(1, 30), "At last."], max_rounds=40),
        *(
            Probe(f"limit {limit}, {calls} calls", _endless(calls, 15), max_rounds=limit)
            for limit, calls in ((1, 1), (2, 3), (5, 1), (7, 2))
        ),
    ]


def judge(name: str, examination: Examination) -> Verdict:
    """What the observations say of the four requirements."""
    found: dict[str, str] = {}
    for key, where in _findings(examination):
        found.setdefault(key, where)
    ended = examination.end == "done"
    seen = examination.observations
    findings = [Finding(key, where, _line(examination.source, key)) for key, where in found.items()]
    broken = {finding.mistake.requirement for finding in findings}
    reached = {
        1: _reached(seen.get("twelve rounds"), 3),
        2: _reached(seen.get("twelve rounds"), 2),
        3: sum(observation.finished for name, observation in seen.items() if name.startswith("limit")) == 4,
        4: _reached(seen.get("twelve rounds"), 2),
    }
    verdicts = {
        number: "broken" if number in broken else "met" if reached[number] and ended else "not reached"
        for number in REQUIREMENTS
    }
    trouble = None if ended else examination.end
    if examination.tampered:
        trouble = f"it replaces parts of the checker: {', '.join(examination.tampered[:3])}"
    if trouble is None and not findings:
        trouble = _other_trouble(seen)
    return Verdict(name, verdicts, findings, trouble, examination.trace)


def _reached(observation: Observation | None, requests: int) -> bool:
    return observation is not None and len(observation.requests) >= requests


def _other_trouble(seen: dict[str, Observation]) -> str | None:
    """A loop that keeps the requirements as far as it goes, but does not do its work."""
    for name, observation in seen.items():
        if observation.raised:
            return f"in the task {name!r} it raised {observation.raised}"
        expected = strip_think(_turn(observation, len(observation.probe.turns) - 1).get("content"))
        if not name.startswith("limit") and observation.answer != expected:
            return f"in the task {name!r} the answer should be {expected!r}, but is {observation.answer!r}"
        if name.startswith("limit") and observation.rounds != observation.probe.max_rounds:
            return f"in the task {name!r} it reports {observation.rounds!r} rounds"
    return None


# --- what is put to the loop


def _twelve_rounds() -> list[Message]:
    odd = ['{ "text":"a" }', '{"text":  "ä ß 骰子"}', '{"text": "\\u00e4 \\/"}', '\n{"text" :\t"d"}\n']
    turns: list[Message] = []
    for number in range(1, 13):
        calls = [_call(f"call_{number}a", "echo", odd[number % 4])]
        calls += [_call(f"call_{number}b", "add", '{"b":2 , "a": 1}')] if number % 3 == 0 else []
        extras: Message = (
            {"reasoning_content": f"Thought {number}."} if number % 2 else {"x_unknown": {"kept": [number, None]}}
        )
        content = f"  <think>\nRound {number}, für später.\n</think>\n\nGoing on. "
        turns.append({"role": "assistant", "content": content, "tool_calls": calls, **extras})
    return [*turns, {"role": "assistant", "content": "<think>\nThat was all.\n</think>\n\nDone."}]


_STOP: Message = {"finish_reason": "stop"}  # some providers say so beside tool calls


def _what_goes_wrong() -> list[Message]:
    def turn(*calls: Message) -> Message:
        return {"role": "assistant", "content": "", "tool_calls": list(calls)}

    return [
        {**turn(_call("two_1", "echo", '{"text": "one"}'), _call("two_2", "echo", '{"text": "two"}')), **_STOP},
        turn(_call("broken_1", "echo", '{"text": "hal'), _call("broken_2", "echo", "[1]")),
        turn(_call("fail_1", "fail", "{}"), _call("fail_2", "echo", '{"text": "after"}')),
        turn(_call("unknown_1", "launch", "{}"), _call("unknown_2", "echo", '{"text": "after"}')),
        {"role": "assistant", "content": "It is done."},
    ]


def _endless(calls: int, rounds: int) -> list[Message]:
    return [
        {
            "role": "assistant",
            "content": "Once more.",
            "tool_calls": [
                _call(f"call_{n}_{place}", "echo", json.dumps({"text": f"{n}.{place}"})) for place in range(calls)
            ],
        }
        for n in range(1, rounds + 1)
    ]


def _call(ident: str, name: str, arguments: str) -> Message:
    return {"id": ident, "type": "function", "function": {"name": name, "arguments": arguments}}


# --- what is found


def _findings(examination: Examination) -> Iterator[tuple[str, str]]:
    """(key of the mistake, where), the first sign of each first. What depends on a broken thing is not looked at."""
    for line in _tick_lines(examination.source):
        yield "next_tick_called", f"line {line} names next_tick"
    requests_broken = limit_broken = False
    for name, observation in examination.observations.items():
        if observation.tick:
            yield "next_tick_called", f"in the task {name!r} the clock went to tick {observation.tick}"
        if name.startswith("limit"):
            if not any(each.requests for each in examination.observations.values()):
                continue  # it never asks the model at all; that is no matter of limits
            found = [each for each in _limit_findings(observation) if not (requests_broken and "open" in each[0])]
            yield from () if limit_broken else found
            limit_broken = limit_broken or bool(found)
        else:
            found = [*_request_findings(observation), *_end_findings(observation)]
            yield from found
            requests_broken = requests_broken or bool(found)


def _tick_lines(source: str) -> Iterator[int]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if name == "next_tick" and isinstance(node, ast.expr):
            yield node.lineno


def _turn(observation: Observation, place: int) -> Message:
    turn = observation.probe.turns[place]
    if isinstance(turn, str):
        return {"role": "assistant", "content": turn}
    return {key: value for key, value in turn.items() if key != "finish_reason"}


def _request_findings(observation: Observation) -> Iterator[tuple[str, str]]:
    """Goes through the requests in order and stops at the first that is wrong: the rest follows from it."""
    requests = observation.requests
    for number, (old, new) in enumerate(
        zip_longest(observation.probe.history, requests[0].messages) if requests else (), 1
    ):
        if difference := first_difference(old, new):
            yield _changed(old), f"request 1, message {number}, {difference}"
            return
    for place, (before, after) in enumerate(pairwise(requests)):
        where = f"request {after.number}"
        if difference := first_difference(before.body.get("tools"), after.body.get("tools"), "tools"):
            yield "tools_changed", f"{where}, {difference}"
            return
        known, now = before.messages, after.messages
        turn = _turn(observation, place)
        for number, (old, new) in enumerate(zip_longest(known, now[: len(known)]), 1):
            if difference := first_difference(old, new):
                key = "history_rebuilt" if len(now) <= len(known) and new is not None else _changed(old)
                key = "history_windowed" if number == 1 and new in known else key
                yield key, f"{where}, message {number}, {difference}"
                return
        found = list(_new_messages(turn, now[len(known) :], f"{where}, message ", len(known) + 1))
        yield from found
        if found:
            return


def _changed(old: Message | None) -> str:
    return "system_prompt_changed" if old and old.get("role") == "system" else "old_message_changed"


def _new_messages(turn: Message, new: Sequence[Message], where: str, first: int) -> Iterator[tuple[str, str]]:
    """What a request adds to the one before: the turn, and one tool message for each of its calls."""
    roles = [message.get("role") for message in new]
    if "assistant" not in roles:
        yield "turn_missing", f"{where}{first}: expected the assistant turn, found {roles[:1] or 'nothing'}"
        return
    if roles[0] != "assistant":
        yield "turn_after_tool_messages", f"{where}{first}: expected the assistant turn, found a {roles[0]} message"
        return
    if roles.count("assistant") > 1:
        at = roles.index("assistant", 1)
        yield "turn_twice", f"{where}{first + at}: expected a tool message, found the assistant turn once more"
        return
    yield from _turn_findings(turn, new[0], f"{where}{first}")
    yield from _answer_findings(turn, new[1:], where, first + 1)


def _turn_findings(turn: Message, found: Message, where: str) -> Iterator[tuple[str, str]]:
    difference = first_difference(_as_replayed(turn), found)
    if difference is None:
        return
    expected, got, field = difference.expected, difference.found, difference.field
    key = "turn_changed"
    if field == "content" and isinstance(expected, str) and isinstance(got, str):
        thinking = split_think(expected)[0]
        key = "whitespace_trimmed" if thinking in got and got.strip() == expected.strip() else key
        key = "thinking_stripped" if thinking and thinking not in got else key
    elif field.endswith("function.arguments"):
        raw = as_object(as_object(_at(turn, field)).get("function")).get("arguments")
        key = _arguments_key(str(raw), got)
    elif field not in found and "[" not in field:
        key = "only_known_fields"
    elif got is None or (field not in turn and "[" not in field):
        key = "nulls_added"
    yield key, f"{where}, {difference}"


def _arguments_key(raw: str, found: object) -> str:
    if arguments_problem(raw):
        return "invalid_arguments_replayed"
    if found == "{}":
        return "valid_arguments_repaired"
    same = isinstance(found, str) and not arguments_problem(found) and json.loads(found) == json.loads(raw)
    return "arguments_dumped_again" if same else "turn_changed"


def _at(turn: Message, field: str) -> object:
    number = re.match(r"tool_calls\[(\d+)\]", field)
    return as_list(turn.get("tool_calls"))[int(number[1])] if number else None


def _as_replayed(turn: Message) -> Message:
    """The turn with the one repair that a loop must make."""
    calls = [as_object(call) for call in as_list(turn.get("tool_calls"))]
    mended: list[Message] = []
    for call in calls:
        function = as_object(call["function"])
        text = "{}" if arguments_problem(function["arguments"]) else function["arguments"]
        mended.append({**call, "function": {**function, "arguments": text}})
    return {**turn, "tool_calls": mended} if calls else turn


def _answer_findings(turn: Message, answers: Sequence[Message], where: str, first: int) -> Iterator[tuple[str, str]]:
    calls = [as_object(call) for call in as_list(turn.get("tool_calls"))]
    idents = [call["id"] for call in calls]
    roles = [message.get("role") for message in answers]
    if "user" in roles or (answers and set(roles) != {"tool"}):
        yield "answered_as_user", f"{where}{first}: expected role 'tool', found {roles[0]!r}"
        return
    answered = [message.get("tool_call_id") for message in answers]
    if answered != idents:
        if len(answered) == len(idents):
            key = "answered_by_name"
        elif len(answered) == 1 and answered == idents[:1]:
            whole = "\n" in str(answers[0].get("content"))
            key = "one_tool_message_for_all" if whole else "first_call_only"
        else:
            missing = [as_object(call["function"]).get("name") for call in calls if call["id"] not in answered]
            key = "unknown_tool_dropped" if missing == ["launch"] else "call_unanswered"
        yield key, f"{where}{first}: expected tool messages for {idents}, found {answered}"
        return
    for number, (call, message) in enumerate(zip(calls, answers, strict=True), first):
        function, content = as_object(call["function"]), str(message.get("content"))
        problem = arguments_problem(function["arguments"])
        expected = (
            json.loads(str(function["arguments"])).get("text") if not problem and function["name"] == "echo" else None
        )
        if expected is not None and content != expected:
            yield "calls_of_one_name_merged", f"{where}{number}, content: expected {expected!r}, found {content!r}"
        if problem and not re.search("(?i)error|invalid|json|argument", content):
            yield "invalid_arguments_run", f"{where}{number}, content: expected an error, found {content!r}"


def _end_findings(observation: Observation) -> Iterator[tuple[str, str]]:
    """What shows only in how the run ended: its answer, the last turn, an exception."""
    if observation.raised:
        last = observation.requests[-1].number if observation.requests else 0
        where = f"in the task {observation.probe.name!r}, after request {last}: it raised {observation.raised}"
        if "disk on fire" in observation.raised:
            yield "exception_escapes", where
        elif "launch" in observation.raised:
            yield "unknown_tool_escapes", where
        return
    final = _turn(observation, len(observation.probe.turns) - 1)
    thinking = split_think(final.get("content"))[0]
    if thinking and thinking in str(observation.answer):
        yield "thinking_in_answer", f"the answer: expected it without {thinking!r}, found {observation.answer!r}"
    asked_all = len(observation.requests) == len(observation.probe.turns)
    if observation.finished and observation.requests and not asked_all and observation.stop == "answered":
        played = _turn(observation, len(observation.requests) - 1)
        if played.get("tool_calls"):
            where = f"after request {observation.requests[-1].number}: expected another, since the turn calls tools"
            yield "stops_on_finish_reason", where
        return
    if observation.finished and asked_all and observation.messages:
        yield from _turn_findings(final, observation.messages[-1], f"the history, message {len(observation.messages)}")


def _limit_findings(observation: Observation) -> Iterator[tuple[str, str]]:
    limit, asked = observation.probe.max_rounds, len(observation.requests)
    where = (
        f"max_rounds {limit}, {observation.probe.name.split(', ')[1]} a round: expected {limit} requests, found {asked}"
    )
    if not observation.finished and not asked:
        return
    if asked == limit + 1:
        yield "limit_one_too_many", where
    elif asked > limit:
        yield "limit_ignored", where
    elif asked == limit - 1 and (limit == 1 or len(as_list(_turn(observation, 0)["tool_calls"])) == 1):
        yield "limit_one_too_few", where
    elif asked < limit and asked and not observation.raised:
        yield "limit_counts_tool_calls", where
    elif asked == limit and not observation.raised:
        problems = [text for text in history_problems(observation.messages) if "no tool message" in text]
        if problems and problems[0].startswith("the end"):
            yield "limit_leaves_calls_open", f"max_rounds {limit}: {problems[0]}"


def _line(source: str, key: str) -> int | None:
    """The line on which the mistake probably stands: the first in a function that looks like it."""
    code = _code_lines(source)
    if key == "thinking_in_answer":  # that one is made where the loop returns
        code = [(number, text) for number, text in reversed(code) if text.startswith("return")]
    elif key != "limit_leaves_calls_open":
        code = [(number, text) for number, text in code if not text.startswith("return")]
    for pattern in MISTAKES[key].line.split(" ; "):
        for number, text in code:
            if re.search(pattern, text):
                return number
    return None


def _code_lines(source: str) -> list[tuple[int, str]]:
    """The lines inside functions, without docstrings and comments, numbered."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    lines = source.splitlines()
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            skip = 1 if ast.get_docstring(node) is not None else 0
            for statement in node.body[skip:]:
                inside |= set(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
    return [
        (number, lines[number - 1].strip())
        for number in sorted(inside)
        if not lines[number - 1].strip().startswith("#")
    ]
