"""Client CPU per round of the agent loop, beside the openai SDK's own `create` and beside bare JSON on a socket.
Not measured: wall time, memory, imports, making the client, connecting, streaming, a network or a model.

    uv run python benchmarks/overhead.py [--rounds 10,100,400] [--reps 3]

Peers (A B C A B C …, each time in a fresh process, medians over the repetitions):
hadr_agent: `agent_loop` with an `OpenAIProvider` and a `Toolbox` of one tiny tool, unstreamed.
create: a hand-written loop on `client.chat.completions.create`.
floor: `json.dumps` of the same history, a raw socket, `json.loads` of the reply.

N rounds are N tool calls and the answer after them, so N + 1 requests; the CPU (user + sys) is divided by N + 1.
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import platform
import socket
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from multiprocessing.connection import Connection
from typing import Any

# Nothing but the standard library up here: the server and the floor would pay for the rest with a larger heap.

Message = dict[str, Any]
Run = Callable[[int], list[Message]]
"""Works through so many rounds and returns the history."""

SPAWN = multiprocessing.get_context("spawn")  # a fresh interpreter each time, on every system
HOST = "127.0.0.1"
MODEL = "loopback"
QUESTION = {"role": "user", "content": "Add up the numbers, two at a time, until none are left."}
NUMBERS = {"a": {"type": "integer"}, "b": {"type": "integer"}}
PARAMETERS = {"type": "object", "properties": NUMBERS, "required": ["a", "b"]}
SPEC = {"type": "function", "function": {"name": "add", "description": "Add two numbers.", "parameters": PARAMETERS}}


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


# --- the server


class Replies(BaseHTTPRequestHandler):
    """Answers so many requests of a connection with a tool call as its path says, and the next one with text."""

    protocol_version = "HTTP/1.1"  # keep-alive
    disable_nagle_algorithm = True
    answered = 0

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))  # neither parsed nor kept: only the client is measured
        final = self.answered == int(self.path.split("/")[1])
        self.answered = 0 if final else self.answered + 1
        body = json.dumps(_completion(None if final else self.answered)).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self.wfile.write(head.encode() + body)

    def log_message(self, format: str, *args: object) -> None:
        """A line for each request would be noise."""


def _completion(number: int | None) -> Message:
    """The reply with the tool call of this number; for None, the answer in text."""
    message: Message = {"role": "assistant", "content": "That was the last pair."}
    if number is not None:
        thought = f"The sum so far stands. Pair {number} comes next, so I call the tool once more and wait for what it"
        function = {"name": "add", "arguments": json.dumps({"a": number, "b": 1})}
        message["content"] = f"<think>{thought} says about that sum.</think>\n\n"
        message["tool_calls"] = [{"id": f"call_{number:05}", "type": "function", "function": function}]
    reason = "stop" if number is None else "tool_calls"
    choices = [{"index": 0, "message": message, "finish_reason": reason}]
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": MODEL, "choices": choices, "usage": usage}


def serve(pipe: Connection) -> None:
    """Tell the port, then answer until the benchmark ends, however it ends: its end of the pipe closes with it."""
    server = ThreadingHTTPServer((HOST, 0), Replies)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    pipe.send(server.server_port)
    with contextlib.suppress(EOFError, KeyboardInterrupt):
        pipe.recv()


# --- the peers: what each imports and builds before the clock starts, and what it does in the rounds


def hadr_agent(port: int) -> Run:
    import openai

    from hadr_agent.agent import agent_loop
    from hadr_agent.provider import OpenAIProvider
    from hadr_agent.tools import Toolbox, tool

    client, tools = openai.OpenAI(base_url=f"http://{HOST}:{port}", api_key="none", max_retries=0), Toolbox(tool(add))

    def run(rounds: int) -> list[Message]:
        messages: list[Message] = [dict(QUESTION)]
        provider = OpenAIProvider(client.with_options(base_url=f"http://{HOST}:{port}/{rounds}/v1"), MODEL)
        agent_loop(provider, messages, tools, max_rounds=rounds + 1)
        return messages

    return run


def create(port: int) -> Run:
    import openai

    client = openai.OpenAI(base_url=f"http://{HOST}:{port}", api_key="none", max_retries=0)

    def run(rounds: int) -> list[Message]:
        completions = client.with_options(base_url=f"http://{HOST}:{port}/{rounds}/v1").chat.completions

        def ask(messages: list[Message]) -> Message:
            return completions.create(model=MODEL, messages=messages, tools=[SPEC]).choices[0].message.to_dict()

        return _by_hand(ask)

    return run


def floor(port: int) -> Run:
    connection = socket.create_connection((HOST, port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    replies = connection.makefile("rb")

    def run(rounds: int) -> list[Message]:
        head = f"POST /{rounds}/v1/chat/completions HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: "

        def ask(messages: list[Message]) -> Message:
            body = json.dumps({"model": MODEL, "tools": [SPEC], "messages": messages}).encode()
            connection.sendall(f"{head}{len(body)}\r\n\r\n".encode() + body)
            length = 0
            while (line := replies.readline()) != b"\r\n":
                if line.startswith(b"Content-Length:"):
                    length = int(line.split(b":")[1])
            return json.loads(replies.read(length))["choices"][0]["message"]

        return _by_hand(ask)

    return run


def _by_hand(ask: Callable[[list[Message]], Message]) -> list[Message]:
    """The loop of those who have none: no repairs, no checks, nothing caught."""
    messages: list[Message] = [dict(QUESTION)]
    while True:
        messages.append(message := ask(messages))
        if not message.get("tool_calls"):
            return messages
        for call in message["tool_calls"]:
            result = add(**json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": str(result)})


PEERS: dict[str, Callable[[int], Run]] = {"hadr_agent": hadr_agent, "create": create, "floor": floor}


# --- the measurement


@dataclass(frozen=True)
class Row:
    """The medians at one number of rounds, in milliseconds of CPU per round."""

    rounds: int
    hadr_agent: float
    create: float
    floor: float


@contextlib.contextmanager
def process(target: Callable[..., None], *args: object) -> Iterator[Connection]:
    """A fresh process that is given one end of a pipe; here is the other end. A process that fails closes its own."""
    here, there = SPAWN.Pipe()
    child = SPAWN.Process(target=target, args=(there, *args), daemon=True)
    child.start()
    there.close()  # or a failed child would not be an EOFError at the next `recv` but an endless wait
    try:
        yield here
    finally:
        child.terminate()
        child.join()


def measure(pipe: Connection, peer: str, port: int, rounds: int) -> None:
    """Send back the milliseconds of CPU per round, once, measured in this process."""
    run = PEERS[peer](port)
    run(1)  # connects, and brings in what the SDK imports only when it is first used
    start = time.process_time()
    messages = run(rounds)
    spent = time.process_time() - start
    if len(messages) != 2 * rounds + 2:
        raise RuntimeError(f"{peer} ended with {len(messages)} messages after {rounds} rounds: nothing was measured")
    pipe.send(1000 * spent / (rounds + 1))


def medians(port: int, rounds: int, reps: int) -> Row:
    figures: dict[str, list[float]] = {peer: [] for peer in PEERS}
    for _ in range(reps):
        for peer, measured in figures.items():
            with process(measure, peer, port, rounds) as client:
                measured.append(client.recv())
    return Row(rounds, **{peer: statistics.median(measured) for peer, measured in figures.items()})


def report(rows: list[Row]) -> str:
    lines = ["        ms of CPU per round              ratio of CPU"]
    lines += ["rounds  hadr_agent    create     floor  hadr_agent/floor  create/hadr_agent"]
    for row in rows:
        figures = f"{row.rounds:6}  {row.hadr_agent:10.3f}{row.create:10.3f}{row.floor:10.3f}"
        lines.append(f"{figures}  {row.hadr_agent / row.floor:16.2f}  {row.create / row.hadr_agent:17.2f}")
    lines.append("")
    if len(rows) > 1:
        few, many = rows[-2:]
        for peer, growth in (("hadr_agent", many.hadr_agent / few.hadr_agent), ("floor", many.floor / few.floor)):
            lines.append(f"growth from {few.rounds} to {many.rounds} rounds, {peer}: {growth:.2f} times per round")
    return "\n".join([*lines, f"Python {platform.python_version()}, openai {version('openai')}, {os.cpu_count()} CPUs"])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", default="10,100,400", help="numbers of rounds, with commas (default: %(default)s)")
    parser.add_argument("--reps", type=int, default=3, help="repetitions of each measurement (default: %(default)s)")
    options = parser.parse_args()
    os.environ["NO_PROXY"] = HOST  # else a proxy in the environment would stand between the SDK and the loopback
    with process(serve) as server:
        port = server.recv()
        print(report([medians(port, int(rounds), options.reps) for rounds in options.rounds.split(",")]))


if __name__ == "__main__":
    main()
