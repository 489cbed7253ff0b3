"""Steps for the lessons: what they send, what they return, what they print, how they are written."""

import ast
import contextlib
import importlib.util
import json
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from types import ModuleType

from behave import given, then, when
from behave.runner import Context
from cli_steps import environment, folder

from hadr_agent.provider import ProviderError
from hadr_agent.scripted import Request, history_problems

ROOT = Path(__file__).parents[2]
LESSONS = sorted((ROOT / "docs" / "lessons").glob("*.py"))


def lesson(number: int) -> ModuleType:
    """A lesson as a module. Its file's name begins with a digit, so `import` does not find it."""
    path = next(path for path in LESSONS if path.name.startswith(f"{number}_"))
    spec = importlib.util.spec_from_file_location(f"lesson_{number}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # dataclasses look for it there
    spec.loader.exec_module(module)
    return module


def results_in(messages: list[dict[str, object]]) -> list[str]:
    return [str(message["content"]) for message in messages if message["role"] == "tool"]


def largest(requests: list[Request]) -> int:
    return max(len(request.raw) for request in requests)


def finished(context: Context) -> object:
    """What came of a run of lesson 1; fails if a turn was refused instead."""
    assert context.refused is None, f"expected the run to go through, found {context.refused}"
    return context.lesson_run


def in_words(results: list[str]) -> str:
    """Results of lesson 1 by what they are: "error, file", or "none"."""
    return ", ".join("error" if result.startswith("Error:") else "file" for result in results) or "none"


# --- lesson 1


@given("the coding agent of lesson 1, played by the turns {names}")
def step_coding_agent(context: Context, names: str) -> None:
    context.lesson = lesson(1)
    context.turns = [getattr(context.lesson, name.upper().replace(" ", "_")) for name in names.split(", ")]
    context.source = context.lesson.SOURCE


@given("a project in which add {does}")
def step_project(context: Context, does: str) -> None:
    context.source = context.source.replace("a - b", "a + b") if does == "adds" else context.source


@when("it looks into the project in at most {limit:d} rounds")
def step_investigate(context: Context, limit: int) -> None:
    context.lesson_run = context.refused = None
    try:
        context.lesson_run = context.lesson.investigate(*context.turns, max_rounds=limit, source=context.source)
        context.answer = context.lesson_run.result.answer
    except ProviderError as error:
        context.refused = str(error)


@then("request {number:d} is the last, and holds the results {expected}")
def step_last_request(context: Context, number: int, expected: str) -> None:
    requests = finished(context).requests
    assert len(requests) == number, f"expected {number} requests, found {len(requests)}"
    found = in_words(results_in(requests[-1].messages))
    assert found == expected, f"request {number}: expected the results {expected}, found {found}"


@then('the history ends as "{stop}" after {rounds:d} rounds, and holds the results {expected}')
def step_history(context: Context, stop: str, rounds: int, expected: str) -> None:
    result = context.lesson_run.result
    found = (result.stop, result.rounds, in_words(results_in(result.messages)))
    assert found == (stop, rounds, expected), f"expected {(stop, rounds, expected)}, found {found}"


@then('the answer of the lesson says "{words}"')
def step_answer(context: Context, words: str) -> None:
    found = context.answer or "nothing"
    assert words in found, f"expected an answer with {words!r}, found {found!r}"


@then("the file is as wrong as before")
def step_unedited(context: Context) -> None:
    found = (context.lesson_run.source, context.lesson_run.add_2_3)
    assert found == (context.lesson.SOURCE, -1), f"expected the source as it was and -1, found {found}"


@then('it is refused in request {number:d}, since "{words}"')
def step_refused(context: Context, number: int, words: str) -> None:
    expected = f"request {number}: {words}"
    assert context.refused, f"expected {expected!r}, found the answer {context.answer!r}"
    assert context.refused.startswith(expected), f"expected {expected!r}, found {context.refused!r}"


# --- lesson 2


@given("the break of lesson 2: {named}")
def step_break(context: Context, named: str) -> None:
    context.lesson = lesson(2)
    own = [json.loads(turn) for turn in named.split(" / ")] if named.startswith("{") else None
    context.turns = own or context.lesson.BREAKS[named]


@when("both loops run it")
def step_both_loops(context: Context) -> None:
    context.naive, context.ours = context.lesson.run_naive(context.turns), context.lesson.run_ours(context.turns)


@then('the naive loop sends {count:d} requests, the largest of at least {size:d} bytes, and ends with "{end}"')
def step_naive(context: Context, count: int, size: int, end: str) -> None:
    found = len(context.naive.requests)
    assert found == count, f"the naive loop: expected {count} requests, found {found}"
    found = largest(context.naive.requests)
    assert found >= size, f"the naive loop: expected a request of {size} bytes or more, found {found}"
    assert context.naive.end.startswith(end), f"the naive loop: expected {end!r}, found {context.naive.end!r}"


@then('this project\'s loop sends {count:d} requests of at most {size:d} bytes, and ends with "{end}"')
def step_ours(context: Context, count: int, size: int, end: str) -> None:
    found = len(context.ours.requests)
    assert found == count, f"this project's loop: expected {count} requests, found {found}"
    found = largest(context.ours.requests)
    assert found <= size, f"this project's loop: expected no request over {size} bytes, found {found}"
    assert context.ours.end.startswith(end), f"this project's loop: expected {end!r}, found {context.ours.end!r}"


@then("the history that {loop} loop leaves is {state}")
def step_left(context: Context, loop: str, state: str) -> None:
    problems = history_problems((context.naive if loop == "the naive" else context.ours).messages)
    found = "broken" if problems else "in order"
    assert found == state, f"{loop} loop: expected a history that is {state}, found {problems or 'no problem'}"


@then('the model of this project\'s loop reads "{words}"')
def step_reads(context: Context, words: str) -> None:
    found = results_in(context.ours.requests[-1].messages)
    assert any(words in result for result in found), f"the last request: expected {words!r}, found {found}"


# --- lesson 3


@given("the {name} shell of lesson 3")
def step_shell(context: Context, name: str) -> None:
    context.lesson = lesson(3)
    context.tools = getattr(context.lesson, name)()


@when("the stand-in is given the task about {task}")
def step_stand_in(context: Context, task: str) -> None:
    context.lesson_run = context.lesson.harness(context.lesson.TASKS[task], context.tools)
    context.answer = context.lesson_run.result.answer


@when("the shell is called with {command:json}")
def step_call_shell(context: Context, command: str) -> None:
    function = {"name": "shell", "arguments": json.dumps({"command": command})}
    with contextlib.chdir(folder(context)):  # what should not be run may be run all the same
        context.result = context.tools.run({"id": "call_1", "type": "function", "function": function})


@then("it is sent {count:d} requests of at most {size:d} bytes, and request 2 ends with a result that says {words}")
def step_sent(context: Context, count: int, size: int, words: str) -> None:
    requests, words = context.lesson_run.requests, words.strip('"')
    assert len(requests) == count, f"expected {count} requests, found {len(requests)}"
    assert largest(requests) <= size, f"expected no request over {size} bytes, found {largest(requests)}"
    last = requests[1].messages[-1]
    assert last["role"] == "tool" and words in last["content"], f"request 2: expected {words!r}, found {last!r:.300}"


@then('the files left are "{names}"')
def step_files(context: Context, names: str) -> None:
    found = ", ".join(context.lesson_run.files)
    assert found == names, f"expected the files {names}, found {found}"


@then('the result of the call begins with "{words}"')
def step_result(context: Context, words: str) -> None:
    assert context.result.text.startswith(words), f"expected {words!r}, found {context.result.text!r}"


# --- lesson 4


@when("the parts of lesson 4 are played")
def step_parts(context: Context) -> None:
    context.lesson = lesson(4)
    context.tasks = {
        name: context.lesson.two_tasks(persisted=name == "persisted") for name in ("persisted", "unpersisted")
    }
    context.orphaned = context.lesson.orphaned()
    context.mended = context.lesson.mended(context.orphaned)


@then("the second task is sent like this")
def step_second_task(context: Context) -> None:
    for row in context.table:
        requests = context.tasks[row["scratchpad"]][0].requests
        counts = ", ".join(str(len(request.messages)) for request in requests)
        holds = "yes" if b"12:00:07" in requests[3].raw else "no"
        broke = requests[3].cache_break
        found = [
            row["scratchpad"],
            counts,
            holds,
            f"message {broke.message}, {broke.difference.field}" if broke else "",
        ]
        assert found == row.cells, f"expected {row.cells}, found {found}"


@then("the replies are taken like this")
def step_replies(context: Context) -> None:
    for row in context.table:
        text, sentinel, expected = getattr(context.lesson, row["reply"]), row["sentinel"] or None, row[2]
        inner, result = context.lesson.reply(text, sentinel)
        where = f"{row['reply']}, sentinel {sentinel}"
        if expected:
            found = inner.requests[-1].messages[-1]["content"]
            assert found.startswith(expected), f"{where}: expected the model to read {expected!r}, found {found!r}"
        else:
            found = (len(inner.requests), result.answer)
            assert found == (1, text), f"{where}: expected the reply to be the answer, found {found}"


@then('the history with an orphan is refused with "{words}"')
def step_orphan(context: Context, words: str) -> None:
    found = context.lesson.send(context.orphaned)
    assert found.startswith(words), f"expected {words!r}, found {found!r}"


@then("mended, it is the same without the orphan, and is answered")
def step_mended(context: Context) -> None:
    expected = [message for message in context.orphaned if message["role"] != "tool"]
    assert context.mended == expected, f"expected {expected}, found {context.mended}"
    found = context.lesson.send(context.mended)
    assert found == "answered: You are welcome.", f"expected an answer, found {found!r}"


# --- lesson 5


@when("the twelve rounds of lesson 5 are sent in each way")
def step_ways(context: Context) -> None:
    context.lesson = lesson(5)
    context.ways = {
        f"{way} {thinking}": context.lesson.run(getattr(context.lesson, way), getattr(context.lesson, thinking))
        for way in ("unchanged", "thinking_stripped", "clock_in_prompt")
        for thinking in ("SHORT", "LONG")
    }


def input_cost(context: Context, name: str) -> float:
    """What the requests of a way cost: from their bytes and the cached tokens, not by the lesson's own sum."""
    usages, price = context.ways[name].usages, context.lesson.CACHED_PRICE
    return sum(usage.prompt_tokens - usage.cached_tokens + price * usage.cached_tokens for usage in usages)


@then("the cache holds, breaks and costs like this")
def step_cache(context: Context) -> None:
    for row in context.table:
        name = f"{row['way']} {row['thinking']}"
        run = context.ways[name]
        assert len(run.requests) == 12, f"{name}: expected 12 requests, found {len(run.requests)}"
        breaks = [request.cache_break for request in run.requests if request.cache_break]
        assert len(breaks) == int(row["breaks"]), f"{name}: expected {row['breaks']} breaks, found {breaks}"
        for each in breaks:
            turns = [
                at
                for at, message in enumerate(run.requests[each.request - 1].messages, 1)
                if message["role"] == "assistant"
            ]
            place = {1: "the first message", turns[-1]: "the last turn"}.get(each.message, f"message {each.message}")
            found = f"{place}, {each.difference.field}"
            assert found == row["where"], f"{name}: expected the break in {row['where']}, found {each}"
        cost = input_cost(context, name)
        assert abs(run.cost - cost) < 1, f"{name}: expected a cost of {cost}, found {run.cost}"
        for other in filter(None, row[4].split(", ")):
            more = input_cost(context, other)
            assert cost < more, f"expected {name} to cost less than {other}, found {cost:.0f} and {more:.0f}"


@then("unchanged, each request begins with the bytes of the one before, and at least that much of it is cached")
def step_unchanged(context: Context) -> None:
    run = context.ways["unchanged SHORT"]
    for before, after in pairwise(run.requests):
        start = before.raw.removesuffix(b"]}")
        assert after.raw.startswith(start), f"request {after.number}: expected the bytes of request {before.number}"
    for before, after in pairwise(run.usages):
        found = after.cached_tokens
        assert found >= before.prompt_tokens, f"expected {before.prompt_tokens} cached tokens or more, found {found}"


@then("with the clock, no request has more cached than the second")
def step_clock(context: Context) -> None:
    cached = [usage.cached_tokens for usage in context.ways["clock_in_prompt SHORT"].usages]
    assert set(cached[1:]) == {cached[1]}, f"expected the same little in each request, found {cached}"


@then("the loop's own history is the same in every way")
def step_same_history(context: Context) -> None:
    for thinking in ("SHORT", "LONG"):
        histories = [list(run.result.messages) for name, run in context.ways.items() if name.endswith(thinking)]
        assert all(history == histories[0] for history in histories), f"expected one history, found {histories}"
        assert "<think>" in histories[0][2]["content"], f"expected thinking in it, found {histories[0][2]}"


@then("what keeping the thinking buys is said with the names of its sources")
def step_sources(context: Context) -> None:
    said = context.lesson.WHAT_KEEPING_BUYS
    for source in ("minimax.io/news/why-is-interleaved-thinking-important-for-m2", "api-docs.deepseek.com"):
        assert source in said, f"expected the source {source}, found {said!r}"


# --- all of them


@when("the lesson {name} runs as a script")
def step_script(context: Context, name: str) -> None:
    path = next(path for path in LESSONS if path.stem == name)
    command = [sys.executable, str(path)]
    done = subprocess.run(command, cwd=folder(context), env=environment(context), capture_output=True, timeout=60)
    context.code, context.stdout, context.stderr = done.returncode, done.stdout.decode(), done.stderr.decode()


@when("the lessons are read")
def step_read(context: Context) -> None:
    context.lessons = {path.name: path.read_text() for path in LESSONS}
    assert len(context.lessons) == 5, f"expected five lessons, found {list(context.lessons)}"


@then("none calls a provider in a loop of its own, but for naive_loop in lesson 2")
def step_one_loop(context: Context) -> None:
    found = []
    for name, source in context.lessons.items():
        for function in [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]:
            loops = [node for node in ast.walk(function) if isinstance(node, ast.For | ast.While | ast.comprehension)]
            called = [node for loop in loops for node in ast.walk(loop) if isinstance(node, ast.Attribute)]
            found += [(name, function.name)] * any(node.attr == "complete" for node in called)
        if name[0] != "4":  # it runs two loops after the other
            assert source.count("agent_loop(") == 1, f"expected one call of agent_loop in {name}"
    assert found == [("2_five_breaks.py", "naive_loop")], f"expected the naive loop alone, found {found}"


@then("each has {least:d} to {most:d} lines, and says what you will see and why it matters")
def step_readable(context: Context, least: int, most: int) -> None:
    for name, source in context.lessons.items():
        count, said = len(source.splitlines()), ast.get_docstring(ast.parse(source)) or ""
        assert least <= count <= most, f"{name}: expected {least} to {most} lines, found {count}"
        for words in ("You will see", "It matters because", f"uv run python docs/lessons/{name}"):
            assert words in said, f"{name}: expected {words!r} in its docstring, found {said!r}"


@then("README.md in their folder lists the command of each, and no others")
def step_listed(context: Context) -> None:
    text = (ROOT / "docs" / "lessons" / "README.md").read_text()
    found = re.findall(r"uv run python docs/lessons/(\S+?\.py)", text)
    assert found == list(context.lessons), f"expected {list(context.lessons)}, found {found}"
