"""Where a reasoning model's thinking ends and its answer begins: pure functions over text.

It does not know the history: what is removed here is removed from the displayed answer alone.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping
from typing import cast

_TAG = re.compile(r"<(?P<close>/?)(?:\w+:)?think(?:ing)?\s*>", re.IGNORECASE)
# A line that may open a fence of code, backticks closed on their own line, or a tag: whichever comes first.
_ITEM = re.compile(
    r"^ {0,3}(?P<fence>```+|~~~+)"
    r"|(?<!`)(?P<ticks>`++)[^`\n]+(?P=ticks)(?!`)"
    rf"|(?P<tag>{_TAG.pattern})",
    re.IGNORECASE | re.MULTILINE,
)
_CLOSING_FENCE = re.compile(r"^ {0,3}(```+|~~~+)[ \t]*$", re.MULTILINE)


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
    closing_fences = _closing_fences(text)
    closing_tags = _closing_tags(text)
    thinking: list[str] = []
    answer: list[str] = []
    at = scan = 0  # text before `at` is sorted; text before `scan` holds no further block
    while item := _ITEM.search(text, scan):
        scan = item.end()
        if item["fence"]:
            scan = _end_of_fence(item, text, closing_fences) or scan
        elif item["tag"] and item["close"]:
            if not thinking and not answer:
                thinking.append(text[: item.start()])
                answer.append("")
                at = scan
        elif item["tag"]:
            end = closing_tags.get(item.start())
            if end is None and text[at : item.start()].rpartition("\n")[2].strip():
                continue
            answer.append(text[at : item.start()])
            thinking.append(text[scan : end.start() if end else len(text)])
            at = scan = end.end() if end else len(text)
    answer.append(text[at:])
    shown = "".join(answer).strip()
    visible = any(letter.isprintable() and not letter.isspace() for letter in shown)
    return "\n\n".join(part.strip() for part in thinking if part.strip()), shown if visible else ""


def thinking_of(turn: Mapping[str, object]) -> str:
    """All thinking of an assistant turn: from its own field (`reasoning_content`, `reasoning`) and from its content."""
    fields = (turn.get("reasoning_content") or turn.get("reasoning"), split_think(turn.get("content"))[0])
    return "\n\n".join(text.strip() for text in fields if isinstance(text, str) and text.strip())


def code_spans(text: str) -> list[tuple[int, int]]:
    """(start, end) of the code that a text quotes: closed fences, and backticks closed on their own line."""
    closing_fences = _closing_fences(text)
    spans: list[tuple[int, int]] = []
    scan = 0
    while item := _ITEM.search(text, scan):
        end = _end_of_fence(item, text, closing_fences) if item["fence"] else item.end() if item["ticks"] else None
        spans += [(item.start(), end)] if end else []
        scan = end or item.end()
    return spans


def _closing_fences(text: str) -> dict[str, list[int]]:
    """Where the lines end that can close a fence, by the fence they close."""
    ends: dict[str, list[int]] = {}
    for fence in _CLOSING_FENCE.finditer(text):
        ends.setdefault(fence[1], []).append(fence.end())
    return ends


def _end_of_fence(opening: re.Match[str], text: str, closing_fences: Mapping[str, list[int]]) -> int | None:
    """Where the fence that a line opens is closed; None if it is not."""
    line_end = text.find("\n", opening.end())
    ends = closing_fences.get(opening["fence"], [])
    later = bisect_right(ends, line_end) if line_end >= 0 else len(ends)
    return ends[later] if later < len(ends) else None


def _closing_tags(text: str) -> dict[int, re.Match[str]]:
    """For each opening tag, by its place, the tag that closes it: the balanced one, else the next that closes anything.

    Thinking is not Markdown: in it, a tag is quoted only if backticks touch it on both sides.
    """
    tags = [tag for tag in _TAG.finditer(text) if f"`{tag[0]}`" != text[max(0, tag.start() - 1) : tag.end() + 1]]
    closes: dict[int, re.Match[str]] = {}
    following: re.Match[str] | None = None
    for tag in reversed(tags):
        if tag["close"]:
            following = tag
        elif following:
            closes[tag.start()] = following
    still_open: list[int] = []
    for tag in tags:
        if not tag["close"]:
            still_open.append(tag.start())
        elif still_open:
            closes[still_open.pop()] = tag
    return closes


def _as_text(content: object) -> str:
    """The text of a content. Of a list of parts, the texts joined; thinking parts, as Mistral sends them, have none."""
    if isinstance(content, list):
        return "".join(map(_as_text, cast("list[object]", content)))
    if isinstance(content, dict):
        return _as_text(cast("dict[str, object]", content).get("text"))
    return content if isinstance(content, str) else ""
