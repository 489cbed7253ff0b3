"""Steps for thinking: what a person is shown of an assistant turn, and what is kept apart as thinking."""

import json

from behave import then, when
from behave.runner import Context
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st

from hadr_agent.thinking import split_think, strip_think, thinking_of

many = settings(deadline=None, max_examples=300, derandomize=True, database=None)

TAGS = ("think", "THINK", "thinking", "seed:think")
# Texts as models write them: any characters, and whatever thinking and quoted code are made of.
ANYTHING = st.lists(
    st.text(st.characters(), max_size=5) | st.sampled_from(["<think>", "</think>", "`", "```", "~~~\n", "\n", " "])
).map("".join)
WORDS = st.text(st.characters(exclude_characters="<>`~", exclude_categories=["C", "Z"]), min_size=1, max_size=8)


def blocks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(lambda tag, text: f"<{tag}>{text}</{tag}>", st.sampled_from(TAGS), inner)


# What stands in a block: words, or blocks within it.
THOUGHTS = st.recursive(WORDS, lambda inner: st.lists(inner | blocks(inner), min_size=1, max_size=3).map(" ".join))


@when("a person is shown {content}")
def step_shown(context: Context, content: str) -> None:
    context.thinking, context.answer = split_think(json.loads(content))
    context.displayed = strip_think(json.loads(content))


@when("a person asks for the thinking of the turn {turn}")
def step_thinking_of(context: Context, turn: str) -> None:
    context.thinking = thinking_of(json.loads(turn))


@then("the answer reads {expected:json}")
def step_answer_reads(context: Context, expected: str) -> None:
    for found in (context.answer, context.displayed):
        assert found == expected, f"the displayed answer (without thinking): expected {expected!r}, found {found!r}"


@then("the thinking reads {expected:json}")
def step_thinking_reads(context: Context, expected: str) -> None:
    found = context.thinking
    assert found == expected, f"the thinking: expected {expected!r}, found {found!r}"


# --- of any text


@when("a person sees texts of any kind")
def step_any_texts(context: Context) -> None:
    context.texts = ANYTHING


@when("a person sees texts with closed blocks anywhere outside code")
def step_closed_blocks(context: Context) -> None:
    """Lists of what a text consists of: words, and blocks of (their thinking,)."""
    context.texts = st.lists(WORDS | st.tuples(st.sampled_from(TAGS), THOUGHTS))


@then("each is split without failing")
def step_split(context: Context) -> None:
    @many
    @for_all(context.texts)
    def check(text: str) -> None:
        found = split_think(text)
        expected = tuple(part.strip() for part in found)
        assert found == expected, f"the thinking and the answer of {text!a}: expected {expected!a}, found {found!a}"

    check()


@then("each without a tag is the answer as it is, but for white space around it")
def step_untagged(context: Context) -> None:
    @many
    @for_all(context.texts.map(lambda text: text.replace("<", "")))
    def check(text: str) -> None:
        visible = any(letter.isprintable() and not letter.isspace() for letter in text)
        expected = ("", text.strip() if visible else "")
        found = split_think(text)
        assert found == expected, f"the thinking and the answer of {text!a}: expected {expected!a}, found {found!a}"

    check()


@then("each answer is the text without its blocks, and each thinking what the blocks hold")
def step_closed(context: Context) -> None:
    @many
    @for_all(context.texts)
    def check(parts: list[str | tuple[str, str]]) -> None:
        text = "".join(part if isinstance(part, str) else f"<{part[0]}>{part[1]}</{part[0]}>" for part in parts)
        answer = "".join(part for part in parts if isinstance(part, str))
        thinking = "\n\n".join(part[1] for part in parts if not isinstance(part, str))
        found = split_think(text)
        assert found == (thinking, answer), (
            f"the thinking and the answer of {text!a}: expected {(thinking, answer)!a}, found {found!a}"
        )

    check()
