"""Does a session survive SIGKILL at any moment? Checks its file, its requests and its tool runs after every kill.
Not measured: speed, power cuts, failing disks, parallel tools, streams, systems without fork (Windows).

    uv run python benchmarks/kills.py [--kills 1000] [--seed 1]

A session has 20 rounds. Each attempt at it is a process of its own, which opens the file and works until the answer.
It is killed at a random moment, and the next attempt goes on from the file, until the answer stands there. Checked:
- a line that was whole after a kill stays in its place to the byte; every line is a message; the turns are the script's
- the provider, as strict as the strictest, refuses nothing, and each request begins with the one before
- no tool runs twice or after its result was on disk; each result is the tool's own or says "interrupted"
Kernels hardly ever cut a write of this size, so behind every eighth kill the script itself leaves half a line.
The seed fixes the plan, not the machine: a second run is killed at the same times, but in other places.
"""

import argparse
import contextlib
import fcntl
import json
import os
import random
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

from openai import OpenAI

from hadr_agent.agent import agent_loop
from hadr_agent.provider import Message, OpenAIProvider
from hadr_agent.scripted import Request, ScriptedApp, Turn
from hadr_agent.tools import Toolbox, tool
from hadr_agent.transcript import Transcript

ROUNDS = 20
PATIENCE = 60.0  # seconds for an attempt that is not to be killed
TORN = json.dumps({"role": "user", "content": "A line that was never finished: größer, ✓, 🎲."}).encode()
INTERRUPTED = "Error: interrupted."


class CaughtError(Exception):
    """Something that must not happen."""


def expect(condition: bool, said: str) -> None:
    if not condition:
        raise CaughtError(said)


# --- the script, and the server that plays it


def scripted(number: int) -> Turn:
    thought = f"Runde {number}: größer als {number - 1}? Then the next ticket 🎲, and I wait for what it says."
    if number == ROUNDS:
        return Turn.of({"think": thought, "say": "All tickets are stamped ✓."}, number)
    idents = [f"call_{number}_{place}" for place in range(1, 2 + (number % 3 == 0))]
    # Arguments as no `json.dumps` writes them: a file or a request that was dumped anew would be seen.
    arguments = [f'{{"ticket" :  "{ident}",\n "note":"größer ✓"}}' for ident in idents]
    calls = [{"name": "stamp", "id": ident, "arguments": text} for ident, text in zip(idents, arguments, strict=True)]
    return Turn.of({"think": thought, "say": "Moment … ", "calls": calls}, number)


SCRIPT = [scripted(number) for number in range(1, ROUNDS + 1)]


def next_turn(messages: Sequence[Message]) -> Turn:
    """Keeps no state, as real providers do: the same question is answered the same again."""
    return SCRIPT[sum(message.get("role") == "assistant" for message in messages)]


class Log(list[Request]):
    """The app's list of requests, but each goes into a file, before it is answered."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, request: Request) -> None:
        if not request.raw.endswith(b"]}"):
            return  # half-sent by an attempt that was killed; one that is alive fails by the 400
        entry = {"status": request.status, "problems": request.problems, "raw": request.raw.decode("latin-1")}
        with self._path.open("a") as file:
            file.write(json.dumps(entry) + "\n")


class Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """A line for each request would be noise."""


@contextlib.contextmanager
def serving(log: Path) -> Iterator[str]:
    """A server in a process of its own, which ends with the block, or a second after this process, however that ended.

    It takes one connection after the other, so that the log has the requests in the order in which they were made.
    """
    app = ScriptedApp(next_turn)
    app.requests = Log(log)
    server, script = make_server("127.0.0.1", 0, app, handler_class=Quiet), os.getpid()
    server.timeout = 1
    if not (child := os.fork()):
        try:
            while os.getppid() == script:
                server.handle_request()
        finally:
            os._exit(0)
    server.server_close()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)


# --- an attempt


def result_of(ticket: str) -> str:
    """What the tool says; in every fifth round it is longer than a page of memory, the piece in which kernels write."""
    return f"{ticket} ✓ " + "gestempelt, " * (500 if int(ticket.split("_")[1]) % 5 == 0 else 1)


def stamping(runs: int) -> Toolbox:
    def stamp(ticket: str, note: str) -> str:
        """Stamp a ticket."""
        os.write(runs, f"{ticket}\n".encode())
        if int(ticket.split("_")[1]) % 2:
            time.sleep(0.001)  # for kills to find a tool that has had its effect and has no result yet
        return result_of(ticket)

    return Toolbox(tool(stamp))


def is_answer(message: Message) -> bool:
    return message.get("role") == "assistant" and not message.get("tool_calls")


def work(path: Path, provider: OpenAIProvider, tools: Toolbox) -> None:
    with Transcript.open(path) as messages:
        if not messages:
            messages.append({"role": "user", "content": "Stamp all tickets, größte zuerst."})
        if not is_answer(messages[-1]):
            agent_loop(provider, messages, tools, max_rounds=ROUNDS + 1)


def attempt(job: Callable[[], None], seconds: float) -> int:
    """Do the job in a fork (importing the SDK takes longer than a session). Return its exit code, -9 if killed."""
    ended, until_the_end = os.pipe()
    if not (child := os.fork()):
        code = 1
        try:
            job()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(until_the_end)
    try:
        select.select([ended], [], [], seconds)  # readable as soon as the child has ended
    finally:
        os.kill(child, signal.SIGKILL)  # it is not reaped yet, so this cannot reach anybody else
        os.close(ended)
        _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


# --- the checks


class Session:
    """A session seen from outside: what its file and the log of tool runs held after the latest attempt."""

    def __init__(self, path: Path, runs: Path) -> None:
        self.path, self._runs = path, runs
        self._kept = self.torn = b""
        self._messages: list[dict[str, Any]] = []
        self.ran: list[str] = []

    @property
    def is_done(self) -> bool:
        return bool(self._messages) and is_answer(self._messages[-1])

    def check(self) -> None:
        """After an attempt."""
        data = b""
        with contextlib.suppress(FileNotFoundError), self.path.open("rb") as file:
            # Some kernels take a lock off only a moment after its process is gone (Linux: 3 in 1000, up to 92 ms).
            fcntl.flock(file, fcntl.LOCK_EX)
            fcntl.flock(file, fcntl.LOCK_UN)
            data = file.read()
        kept, ran = data[: data.rfind(b"\n") + 1], self._runs.read_text().split()
        expect(kept.startswith(self._kept), "a whole line in the file was changed or lost")
        answered = {message.get("tool_call_id") for message in self._messages}
        late = [ticket for ticket in ran[len(self.ran) :] if ticket in answered]
        expect(not late, f"tools ran though their results were on disk: {late}")
        twice = [ticket for ticket, times in Counter(ran).items() if times > 1]
        expect(not twice, f"tools ran twice: {twice}")
        try:
            self._messages = [json.loads(line) for line in kept.splitlines()]
        except ValueError as error:
            raise CaughtError(f"a line is not JSON: {error}") from None
        expect(all(isinstance(message, dict) for message in self._messages), "a line is not an object")
        self._kept, self.torn, self.ran = kept, data[len(kept) :], ran

    def check_end(self, last_request: str) -> int:
        """Return how many calls were answered as interrupted."""
        expect(not self.torn, "half a line stands behind the answer")
        sent = json.loads(last_request)["messages"]
        expect(sent == self._messages[:-1], "the file does not hold what was sent")
        turns = [message for message in self._messages if message["role"] == "assistant"]
        expect(turns == [turn.message for turn in SCRIPT], "the turns in the file are not those of the script")
        results = [message for message in self._messages if message["role"] == "tool"]
        cut = [message for message in results if message["content"].startswith(INTERRUPTED)]
        for ticket, text in ((each["tool_call_id"], each["content"]) for each in results if each not in cut):
            expect(ticket in self.ran and text == result_of(ticket), f"{ticket}: no tool said {text!r}")
        return len(cut)


def check_requests(entries: list[dict[str, Any]]) -> None:
    for number, entry in enumerate(entries, 1):
        problems = "; ".join(entry["problems"])
        expect(entry["status"] == 200 and not problems, f"request {number} is refused: {problems or entry['status']}")
    for number, (one, other) in enumerate(pairwise(entry["raw"] for entry in entries), 2):
        begins = one == other or other.startswith(one.removesuffix("]}"))
        expect(begins, f"request {number} does not begin with the one before")


# --- the plan


def run(folder: Path, kills: int, chance: random.Random, counts: Counter[str]) -> None:
    log, runs = folder / "requests", folder / "runs"
    log.touch()
    run_log = os.open(runs, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with serving(log) as url, log.open() as requests:
        provider = OpenAIProvider(OpenAI(base_url=url, api_key="none", max_retries=0), "scripted")
        tools, usual = stamping(run_log), 0.0
        while counts["kills"] < kills:
            counts["sessions"] += 1
            os.ftruncate(run_log, 0)
            session = Session(folder / f"{counts['sessions']}.jsonl", runs)
            job = partial(work, session.path, provider, tools)
            while not session.is_done:
                # The first session is not killed, to see over which time the kills are to be spread.
                until = chance.uniform(0, usual * chance.choice([1, 1, 1, 1, 1, 0.05]))
                start, torn = time.perf_counter(), session.torn
                code = attempt(job, until if usual and counts["kills"] < kills else PATIENCE)
                usual = usual or time.perf_counter() - start
                session.check()
                if code != -signal.SIGKILL and not session.is_done:
                    check_requests([json.loads(line) for line in requests])  # if that finds something, it says more
                    raise CaughtError(f"an attempt that was not killed ended without the answer, exit code {code}")
                counts["kills"] += code == -signal.SIGKILL
                counts["mended"] += bool(torn) and session.torn != torn
                counts["torn by kills"] += bool(session.torn) and session.torn != torn
                if not session.torn and not session.is_done and chance.random() < 1 / 8:
                    session.torn = TORN[: chance.randrange(1, len(TORN))]
                    with session.path.open("ab") as file:
                        file.write(session.torn)
            entries = [json.loads(line) for line in requests]
            check_requests(entries)
            counts["interrupted"] += session.check_end(entries[-1]["raw"])
            counts["requests"] += len(entries)
            counts["runs"] += len(session.ran)
            session.path.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=1000, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the random moments (default: %(default)s)")
    options = parser.parse_args()
    os.environ["NO_PROXY"] = "127.0.0.1"  # else a proxy in the environment would stand between SDK and server
    folder, counts, start = Path(tempfile.mkdtemp(prefix="kills-")), Counter[str](), time.perf_counter()
    try:
        run(folder, options.kills, random.Random(options.seed), counts)
    except CaughtError as caught:
        where = f"seed {options.seed}, after {counts['kills']} kills, in session {counts['sessions']}"
        sys.exit(f"FAILED ({where}): {caught}\nThe files are in {folder}")
    shutil.rmtree(folder)
    said = (
        "{kills} kills, {sessions} sessions, {requests} requests, {runs} tool runs, {mended} half-written lines mended "
        "({torn by kills} of them left by a kill itself), {interrupted} calls answered as interrupted"
    )
    print(f"{said.format_map(counts)}, {time.perf_counter() - start:.0f} s, seed {options.seed}")


if __name__ == "__main__":
    main()
