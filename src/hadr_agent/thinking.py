"""Where a reasoning model's thinking ends and its answer begins: pure functions over text.

It does not know the history: what is removed here is removed from the displayed answer alone.
"""

import re
from collections.abc import Mapping
from typing import cast

_TAG = re.compile(r"<(?P<close>/?)(?:\w+:)?think(?:ing)?\s*>", re.IGNORECASE)
# Code that an answer quotes (a closed fence, backticks closed on their own line), or else a tag.
_CODE_OR_TAG = re.compile(
    r"^ {0,3}(?P<fence>```+|~~~+)[^\n]*\n.*?^ {0,3}(?P=fence)[ \t]*$"
    r"|(?P<ticks>`+)[^`\n]+(?P=ticks)"
    rf"|(?P<tag>{_TAG.pattern})",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)


def strip_think(text: object) -> str:
    """Return what a person should read of an assistant turn's `content`: everything but its thinking.

    `text` is the content as received: a string, a list of content parts, or None. The rules stand at `split_think`.
    Empty when nothing visible is left.
    """
    return split_think(text)[1]


def split_think(text: object) -> tuple[str, str]:
    """Split an assistant turn's `content` into (thinking, answer), each without surrounding white space.

    - `<think>…</think>` is thinking wherever it stands and as often as it stands, in upper or lower case, also as
      `<thinking>` or with a prefix (`<seed:think>`). Blocks may nest.
    - A closing tag that nothing opened ends thinking that began in the prompt (DeepSeek-R1 and QwQ templates).
    - A block that is never closed hides all the rest if it begins a line, as models begin to think. In the middle of
      a line it is text, so that an answer which speaks of the tag is not lost.
    - Tags in code that the text quotes (closed fences, backticks) are text.
    """
    text = _as_text(text)
    thinking: list[str] = []
    answer: list[str] = []
    at = scan = 0  # text before `at` is sorted; text before `scan` is known to hold no block
    while (tag := _next_tag(text, scan)) is not None:
        scan = tag.end()
        if tag["close"]:
            if not thinking and not answer:
                thinking.append(text[: tag.start()])
                answer.append("")
                at = scan
            continue
        end = _matching_close(text, tag.end())
        if end is None and text[at : tag.start()].rpartition("\n")[2].strip():
            continue
        answer.append(text[at : tag.start()])
        thinking.append(text[tag.end() : end.start() if end else len(text)])
        at = scan = end.end() if end else len(text)
    answer.append(text[at:])
    shown = "".join(answer).strip()
    visible = any(letter.isprintable() and not letter.isspace() for letter in shown)
    return "\n\n".join(part.strip() for part in thinking if part.strip()), shown if visible else ""


def thinking_of(turn: Mapping[str, object]) -> str:
    """All thinking of an assistant turn: from its own field (`reasoning_content`, `reasoning`) and from its content."""
    fields = (turn.get("reasoning_content") or turn.get("reasoning"), split_think(turn.get("content"))[0])
    return "\n\n".join(text.strip() for text in fields if isinstance(text, str) and text.strip())


def _next_tag(text: str, start: int) -> re.Match[str] | None:
    """The first tag from `start` on that does not stand in quoted code."""
    return next((match for match in _CODE_OR_TAG.finditer(text, start) if match["tag"]), None)


def _matching_close(text: str, start: int) -> re.Match[str] | None:
    """The tag that closes a block opened just before `start`: the balanced one, else the first that closes anything.

    Thinking is not Markdown: here a tag is quoted only if backticks touch it on both sides.
    """
    tags = [tag for tag in _TAG.finditer(text, start) if f"`{tag[0]}`" != text[tag.start() - 1 : tag.end() + 1]]
    depth = 1
    for tag in tags:
        depth += -1 if tag["close"] else 1
        if depth == 0:
            return tag
    return next((tag for tag in tags if tag["close"]), None)


def _as_text(content: object) -> str:
    """The text of a content. Of a list of parts, the texts joined; thinking parts, as Mistral sends them, have none."""
    if isinstance(content, list):
        return "".join(map(_as_text, cast("list[object]", content)))
    if isinstance(content, dict):
        return _as_text(cast("dict[str, object]", content).get("text"))
    return content if isinstance(content, str) else ""
