"""The tools that the course starts with. Each is an ordinary function; `@tool` is all that makes it a tool.

They do not know the model or the loop. Files are those below the folder the program was started in.
"""

import ast
import base64
import codecs
import contextlib
import math
import os
import random
import signal
import subprocess
import threading
from collections.abc import Callable
from datetime import datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import IO, Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import Field
from simpleeval import DEFAULT_OPERATORS, InvalidExpression, simple_eval

from hadr_agent.tools import ToolError, is_secret_name, tool

_READ_LIMIT = 200_000  # bytes of a file
_OUTPUT_LIMIT = 200_000  # bytes of a command's output that are kept
_SHELL_SECONDS = 30
_DIGITS = 3_000  # of a calculated whole number
_TOO_LONG = f"the result has more than {_DIGITS:,} digits"
_SECRET_FILES = (
    *(".env*", "*.env", "*secret*", "*credential*", "*token*", "*password*", "auth.json", "service-account*.json"),
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.kdbx", "*.keystore", "id_rsa*", "id_ed25519*", "id_ecdsa*"),
    *(".git", ".ssh", ".aws", ".gnupg", ".azure", ".kube", ".docker", ".netrc", ".npmrc", ".pypirc", ".pgpass"),
    *(".htpasswd", ".my.cnf", ".*_history", "hosts.yml"),
)
_HIDDEN = (".git", ".venv", "__pycache__", "node_modules")  # nothing a reader looks for


@tool
def roll_dice(
    n: Annotated[int, Field(description="how many dice", ge=1, le=100)],
    sides: Annotated[int, Field(description="how many sides each of them has", ge=2, le=1000)],
) -> list[int]:
    """Roll dice and return what each of them shows."""
    return [random.randint(1, sides) for _ in range(n)]


@tool
def now(timezone: Annotated[str, "an IANA name such as Europe/Berlin"] = "UTC") -> str:
    """Return the current date, time and weekday in a time zone."""
    try:
        zone = ZoneInfo(timezone)
    except (OSError, ValueError, LookupError):
        raise ToolError(f"no time zone {timezone!r}; use an IANA name such as UTC or Europe/Berlin") from None
    return datetime.now(zone).strftime("%Y-%m-%d %H:%M:%S %Z, %A")


@tool
def calculate(expression: Annotated[str, Field(description="such as 2**31 - 1", max_length=200)]) -> int | float:
    """Calculate with numbers: + - * / // % **, brackets, pi, e, abs, round, min, max, sqrt, exp, log, sin, cos, tan."""
    try:
        for node in ast.walk(ast.parse(expression.strip(), mode="eval")):
            if isinstance(node, ast.Constant) and type(node.value) not in (int, float):
                raise ToolError(f"{node.value!r} is not a number")
            if not isinstance(node, _SYNTAX) and type(node) not in _OPERATORS:
                raise ToolError(f"{type(node).__name__} is not available; powers are written 2**3")
        result = simple_eval(expression, operators=_OPERATORS, functions=_FUNCTIONS, names=_CONSTANTS)
    except (SyntaxError, InvalidExpression, ArithmeticError, TypeError, ValueError) as error:
        raise ToolError(f"cannot calculate {expression!r}: {error}") from None
    if not isinstance(result, int) and not (isinstance(result, float) and math.isfinite(result)):
        raise ToolError(f"the result of {expression!r} is not a finite real number")
    if abs(result) >= 10**_DIGITS:
        raise ToolError(_TOO_LONG)
    return result


def _power(base: float, exponent: float) -> object:
    if isinstance(base, int) and abs(base) > 1 and exponent * math.log10(abs(base)) >= _DIGITS:
        raise ToolError(_TOO_LONG)
    return base**exponent


def _round(number: float, digits: int = 0) -> float:
    if abs(digits) > 100:
        raise ToolError("round to at most 100 digits")
    return round(number, digits) if digits else round(number)


_SYNTAX = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Call, ast.Name, ast.Constant, ast.Load)
_OPERATORS: dict[type[ast.AST], Callable[..., object]] = {
    **{kind: DEFAULT_OPERATORS[kind] for kind in (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)},
    **{kind: DEFAULT_OPERATORS[kind] for kind in (ast.USub, ast.UAdd)},
    ast.Pow: _power,
}
_CONSTANTS = {"pi": math.pi, "e": math.e}
_FUNCTIONS: dict[str, Callable[..., object]] = {
    "abs": abs,
    "round": _round,
    "min": min,
    "max": max,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
}


@tool
def fetch_secret() -> dict[str, str]:
    """Fetch the secret message. It comes encoded; its encoding is named."""
    return {"encoding": "base64", "text": base64.b64encode(b"The convoy leaves at dawn. Bring tea.").decode()}


@tool
def decode(
    text: Annotated[str, "the encoded text"],
    encoding: Annotated[Literal["base64", "hex", "rot13"], "how it is encoded"],
) -> str:
    """Decode a text."""
    try:
        if encoding == "rot13":
            return codecs.decode(text, "rot13")
        raw = base64.b64decode(text, validate=True) if encoding == "base64" else bytes.fromhex(text)
        return raw.decode()
    except ValueError as error:
        raise ToolError(f"this is not {encoding}: {error}") from None


@tool
def list_files(path: Annotated[str, "a folder of the project"] = ".") -> str:
    """List a folder of the project: one name a line, folders with a slash at the end."""
    folder = _in_project(path)
    if not folder.is_dir():
        raise ToolError(f"{path!r} is not a folder of this project")
    entries = sorted(entry for entry in folder.iterdir() if entry.name not in _HIDDEN)
    names = [(entry.name if entry.name.isprintable() else repr(entry.name), entry.is_dir()) for entry in entries]
    return "\n".join(f"{name}/" if is_folder else name for name, is_folder in names) or "(empty)"


@tool
def read_file(path: Annotated[str, "a text file of the project"]) -> str:
    """Read a text file of the project."""
    file = _in_project(path)
    if not file.is_file():
        raise ToolError(f"{path!r} is not a file of this project; list_files shows what there is")
    if (size := file.stat().st_size) > _READ_LIMIT:
        raise ToolError(f"{path!r} is too large: {size:,} bytes, at most {_READ_LIMIT:,} are read")
    try:
        text = file.read_bytes().decode()
    except UnicodeDecodeError:
        raise ToolError(f"{path!r} is not text in UTF-8") from None
    if "\0" in text:
        raise ToolError(f"{path!r} is a binary file")
    return text


def _in_project(path: str) -> Path:
    """The real path behind `path`, which must lie in the project and must not be one where secrets are kept."""
    project = Path.cwd().resolve()
    try:
        asked = project / path
        real = asked.resolve()
    except (OSError, ValueError, RuntimeError):
        raise ToolError(f"{path[:100]!r} is not a path") from None
    if not real.is_relative_to(project):
        raise ToolError(f"{path!r} lies outside this project")
    if any(_keeps_secrets(name) for name in (*real.relative_to(project).parts, asked.name)):
        raise ToolError(f"{path!r} may hold secrets and is not read")
    return real


def _keeps_secrets(name: str) -> bool:
    return name != ".env.example" and any(fnmatch(name.lower(), pattern) for pattern in _SECRET_FILES)


@tool
def count_words(text: str) -> int:
    """Count the words of a text."""
    return len(text.split())


@tool(needs_approval=True)
def shell(command: Annotated[str, "a command line for sh"]) -> str:
    """Run a shell command in the project and return its exit code and output."""
    kept = {name: value for name, value in os.environ.items() if not is_secret_name(name)}
    process = subprocess.Popen(
        ["sh", "-c", command],
        env=kept,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # so that the command's own children end with it
    )
    output = bytearray()
    reader = threading.Thread(target=_collect, args=(process.stdout, output), daemon=True)
    reader.start()
    try:
        code = process.wait(_SHELL_SECONDS)
        reader.join(1)  # a child in the background may hold the pipe open
    except subprocess.TimeoutExpired:
        raise ToolError(f"ended after {_SHELL_SECONDS} s: {command}\n{_printed(output)}") from None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return f"exit code {code}\n{_printed(output)}"


def _collect(pipe: IO[bytes], output: bytearray) -> None:
    """Read the pipe to its end, so that the command is never held up, but keep only so much of it."""
    while piece := os.read(pipe.fileno(), 65536):
        output += piece[: _OUTPUT_LIMIT - len(output)]


def _printed(output: bytearray) -> str:
    return bytes(output).decode(errors="replace")


STARTER_TOOLS = (roll_dice, now, calculate, fetch_secret, decode, list_files, read_file, count_words)
"""What `hadr-agent` offers unless told otherwise; `shell` comes only with --allow-shell."""
