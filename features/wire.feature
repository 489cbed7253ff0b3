Feature: Tool calls as text
  Many small models, and many servers, know no tool calls. A provider around the provider lets them call tools in plain
  text, and the loop never notices. What it must not do: take a quotation or a thought for a call, let a call that went
  wrong pass for the answer, or break the prompt cache. In the rows, ⏎ stands for a line break.

  Scenario Outline: WIRE-1: the tools stand in the system prompt, turns go back as written, results are user messages
    Given <system prompt>
    And a model without tool calls, whose turns are
      """
      {"role": "assistant", "content": "<think>\nI add — so.\n</think>\n\n{\"tool\":\"add\",  \"args\": {\"a\": 2, \"b\": 3}}\n ", "reasoning_content": "Hm.", "unknown": [null]}
      {"role": "assistant", "content": "{\"tool\": \"look\"}\n{\"tool\": \"fail\"}"}
      {"role": "assistant", "content": "Five, at tick 0."}
      """
    When the loop runs on the task "2 + 3?"
    Then each request holds "model, messages" in this order
    And each system message is <begins> and the tools, in the same bytes
    And each request begins with the one before
    And no request has tool calls or tool messages in it
    And request 2 holds turn 1 as the model sent it
    And request 3 holds turn 2 as the model sent it
    And request 2 ends with the user messages Result of add:⏎5
    And request 3 ends with the user messages Result of look:⏎tick 0 + Result of fail:⏎Error: RuntimeError: disk on fire
    And every tool call has a tool message in the history
    And the answer is "Five, at tick 0."

    Examples:
      | system prompt                | begins     |
      | the system prompt "Be kind." | "Be kind." |
      | no system prompt             | ""         |

  Scenario Outline: WIRE-2: lines of JSON at the end of a reply are calls, bare or in a fence
    Given a model without tool calls that writes <text>
    When the loop runs on the task "Go"
    Then request 2 ends with the user messages <results>
    And the answer is "Done."

    Examples:
      | text                                                                              | results                                    |
      | {"tool": "add", "args": {"a": 2, "b": 3}}                                         | Result of add:⏎5                           |
      | {"args": {"b": 3, "a": 2}, "tool": "add"}                                         | Result of add:⏎5                           |
      | Let me add.⏎{"tool": "add", "args": {"a": 2, "b": 3}}                             | Result of add:⏎5                           |
      | ⏎⏎  {"tool": "add", "args": {"a": 2, "b": 3}}  ⏎⏎                                 | Result of add:⏎5                           |
      | ```json⏎{"tool": "add", "args": {"a": 2, "b": 3}}⏎```                             | Result of add:⏎5                           |
      | Let me add.⏎⏎```⏎⏎{"tool": "add", "args": {"a": 2, "b": 3}}⏎```⏎                  | Result of add:⏎5                           |
      | <think>2 + 3</think>{"tool": "add", "args": {"a": 2, "b": 3}}                     | Result of add:⏎5                           |
      | {"tool": "add", "args": {"a": 2, "b": 3}}⏎⏎{"tool": "echo", "args": {"text": "ä"}} | Result of add:⏎5 + Result of echo:⏎ä      |
      | ```⏎{"tool": "look"}⏎{"tool": "look", "args": {}}⏎```                             | Result of look:⏎tick 0 + Result of look:⏎tick 0 |

  Scenario Outline: WIRE-3: what a model thinks, quotes or says by the way is no call
    Given a model without tool calls that writes <text>
    When the loop runs on the task "Go"
    Then the model is asked 1 time
    And the tools that ran are ""
    And the answer reads as <answer>

    Examples:
      | text                                                                           | answer                                           |
      | Say {"tool": "look"} to look.                                                  | Say {"tool": "look"} to look.                    |
      | {"tool": "look"}⏎That is how one looks.                                        | {"tool": "look"}⏎That is how one looks.          |
      | ```⏎{"tool": "look"}⏎```⏎That is how.                                          | ```⏎{"tool": "look"}⏎```⏎That is how.            |
      | One calls it by `{"tool": "look"}`                                             | One calls it by `{"tool": "look"}`               |
      | ```⏎print(1)⏎{"tool": "look"}⏎```                                              | ```⏎print(1)⏎{"tool": "look"}⏎```                |
      | Nothing.<think>⏎{"tool": "look"}⏎</think>                                      | Nothing.                                         |
      | <think>⏎{"tool": "look"}⏎</think>Nothing.                                      | Nothing.                                         |
      | {"tool": "hammer", "price": 5}                                                 | {"tool": "hammer", "price": 5}                   |
      | {"name": "look", "args": {}}                                                   | {"name": "look", "args": {}}                     |
      | <think><tool_call>{"name": "look"}</tool_call></think>Nothing.                 | Nothing.                                         |
      | So: `<tool_call>{"name": "look"}</tool_call>`                                  | So: `<tool_call>{"name": "look"}</tool_call>`    |
      | ```xml⏎<tool_call>⏎{"name": "look"}⏎</tool_call>⏎```                           | ```xml⏎<tool_call>⏎{"name": "look"}⏎</tool_call>⏎``` |
      | `[TOOL_CALLS]look[ARGS]{}` is Mistral's.                                       | `[TOOL_CALLS]look[ARGS]{}` is Mistral's.         |

  Scenario Outline: WIRE-4: with a sentinel, only what stands behind it is a call, and all of it must be one
    Given the sentinel "TOOL:"
    And a model without tool calls that writes <text>
    When the loop runs on the task "Go"
    Then the system message asks for a line TOOL:
    And the model reads <words>
    And the tools that ran are "<ran>"

    Examples:
      | text                                                        | words                                              | ran       |
      | TOOL:⏎{"tool": "look"}                                      | "Result of look:"                                  | look      |
      | I look.⏎TOOL: {"tool": "look"}                              | "Result of look:"                                  | look      |
      | TOOL:⏎```json⏎{"tool": "look"}⏎```                          | "Result of look:"                                  | look      |
      | TOOL:⏎{"tool": "look"}⏎{"tool": "fail"}                     | "Result of look:" "Result of fail:"                | look, fail |
      | TOOL:⏎{"tool": "look"}⏎TOOL:⏎{"tool": "fail"}               | "Result of look:" "Result of fail:"                | look, fail |
      | TOOL:⏎look                                                  | "Error: that was no call that can be read. To call a tool, end your reply with a line TOOL:" | |
      | TOOL:                                                       | "Error: that was no call that can be read"         |           |
      | TOOL:⏎{"tool": "look", "why": "to see"}                     | "Error: that was no call that can be read"         |           |
      | TOOL:⏎{"tool": "echo", "args": {"text": "a                  | "Result of echo:⏎Error: the arguments could not be read" |     |
      | TOOL:⏎{"tool": "look"}⏎I looked.                            | "Result of look:" "Error: that was no call that can be read" | look |
      | {"tool": "look"}                                            | nothing more                                       |           |
      | Sure.⏎{"tool": "look"                                       | nothing more                                       |           |
      | Say TOOL: before it.                                        | nothing more                                       |           |
      | ```⏎TOOL:⏎{"tool": "look"}⏎```⏎That is how.                 | nothing more                                       |           |

  Scenario Outline: WIRE-5: what is meant as a call and cannot be run goes back to the model as an error, not to the user
    Given a model without tool calls that writes <text>
    When the loop runs on the task "Go"
    Then the model reads <words>
    And the tools that ran are ""
    And the answer is "Done."

    Examples: lines of JSON
      | text                                           | words                                                              |
      | {"tool": "echo", "args": {"text": "a           | "Result of echo:⏎Error: the arguments could not be read"           |
      | I try.⏎{"tool": "echo", "args": {text: "a"}}   | "Result of echo:⏎Error: the arguments could not be read"           |
      | {"tool": look, "args": {}}                     | "Error: that was no call that can be read. To call a tool, end your reply with one line of JSON" |
      | {"tool": 5}                                    | "Error: that was no call that can be read"                         |
      | {"tool": "look", "args": null}                 | "they are null, not a JSON object"                                 |
      | {"tool": "echo", "args": "a"}                  | "they are text, not a JSON object"                                 |
      | {"tool": "add", "args": {"a": "2", "b": 3}}    | "Result of add:⏎Error: wrong arguments for add, so it was not run: a should be a valid integer" |
      | {"tool": "add", "args": {"a": 2}}              | "b is missing"                                                     |
      | {"tool": "dig", "args": {"a": 2}}              | "Result of dig:⏎Error: unknown tool 'dig'. Available tools: add, echo, look, fail, note" |

    Examples: markup
      | text                                                                     | words                                      |
      | <tool_call>⏎{"name": "echo", "arguments": {"text": "a                    | "Error: that was no call that can be read" |
      | <tool_call>look()</tool_call>                                            | "Error: that was no call that can be read" |
      | [TOOL_CALLS][{"name": "look", "argu                                      | "Error: that was no call that can be read" |
      | [TOOL_CALLS]echo[ARGS]{"text": "a                                        | "Result of echo:⏎Error: the arguments could not be read" |
      | <tool_call>⏎<function=add>⏎<parameter=a>⏎two⏎</parameter>⏎<parameter=b>⏎3⏎</parameter>⏎</function>⏎</tool_call> | "a should be a valid integer" |
      | <tool_call>⏎<function=note>⏎<parameter=title>⏎a⏎</parameter>⏎<parameter=count>⏎5 | "Error:"                           |

  Scenario Outline: WIRE-6: the markup of tool calls that a server left in the text is read, each value by its schema
    Given a model without tool calls that writes <text>
    When the loop runs on the task "Go"
    Then request 2 ends with the user messages <results>
    And the answer is "Done."

    Examples: JSON, as Hermes and Qwen write it, and Mistral
      | text                                                                                          | results                                 |
      | <tool_call>⏎{"name": "add", "arguments": {"a": 2, "b": 3}}⏎</tool_call>                       | Result of add:⏎5                        |
      | Let me add.⏎<tool_call>{"name": "add", "arguments": "{\"a\": 2, \"b\": 3}"}</tool_call>       | Result of add:⏎5                        |
      | <tool_call>{"name": "look"}</tool_call>⏎<tool_call>{"name": "echo", "arguments": {"text": "ä"}}</tool_call> | Result of look:⏎tick 0 + Result of echo:⏎ä |
      | <tool_call>{"name": "look", "arguments": {}}                                                  | Result of look:⏎tick 0                  |
      | [TOOL_CALLS][{"name": "add", "arguments": {"a": 2, "b": 3}}, {"name": "look"}]                | Result of add:⏎5 + Result of look:⏎tick 0 |
      | [TOOL_CALLS]add[ARGS]{"a": 2, "b": 3}                                                         | Result of add:⏎5                        |
      | I add.[TOOL_CALLS]add{"a": 2, "b": 3}[TOOL_CALLS]look[ARGS]{}                                 | Result of add:⏎5 + Result of look:⏎tick 0 |

    Examples: XML, as Qwen's coder and MiniMax write it
      | text                                                                                          | results                                 |
      | <tool_call>⏎<function=add>⏎<parameter=a>⏎2⏎</parameter>⏎<parameter=b>⏎3⏎</parameter>⏎</function>⏎</tool_call> | Result of add:⏎5        |
      | <tool_call><function=look></function></tool_call><tool_call><function=echo><parameter=text>⏎ä⏎ b⏎</parameter></function></tool_call> | Result of look:⏎tick 0 + Result of echo:⏎ä⏎ b |
      | <minimax:tool_call>⏎<invoke name="add">⏎<parameter name="a">2</parameter>⏎<parameter name="b">3</parameter>⏎</invoke>⏎<invoke name="look">⏎</invoke>⏎</minimax:tool_call> | Result of add:⏎5 + Result of look:⏎tick 0 |
      | <tool_call><function=note><parameter=title>5</parameter><parameter=count>5</parameter></function></tool_call> | Result of note:⏎['5', 5, None, None] |
      | <tool_call><function=note><parameter=title>{"a": 1}</parameter><parameter=lines>["b"]</parameter></function></tool_call> | Result of note:⏎['{"a": 1}', None, ['b'], None] |
      | <minimax:tool_call><invoke name="note"><parameter name="title">true</parameter><parameter name="place">5</parameter></invoke></minimax:tool_call> | Result of note:⏎['true', None, None, '5'] |

  Scenario: WIRE-7: a tool result is never read as a call, nor a call read twice
    Given a model without tool calls, whose turns are
      """
      {"role": "assistant", "content": "{\"tool\": \"echo\", \"args\": {\"text\": \"<tool_call>{\\\"name\\\": \\\"fail\\\"}</tool_call>\\n{\\\"tool\\\": \\\"fail\\\"}\"}}"}
      {"role": "assistant", "content": "{\"tool\": \"look\"}"}
      {"role": "assistant", "content": "Done."}
      """
    When the loop runs on the task "{\"tool\": \"fail\"}"
    Then request 2 ends with the user messages Result of echo:⏎<tool_call>{"name": "fail"}</tool_call>⏎{"tool": "fail"}
    And each request begins with the one before
    And the tools that ran are "echo, look"
    And the model is asked 3 times

  Scenario Outline: WIRE-8: on the native wire, a call that a server left in the text is never shown as an answer
    Given a model that plays
      """
      {"role": "assistant", "content": <content>}
      """
    When I run hadr-agent "What time is it?"
    Then each request that came in offers tools natively
    And it exits with <code>
    And stderr <says> "try --wire text"

    Examples:
      | content                                                                                  | code | says         |
      | "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>"                      | 3    | says         |
      | "Let me see. <tool_call>\n{\"name\": \"now\""                                            | 3    | says         |
      | "<minimax:tool_call>\n<invoke name=\"now\">\n</invoke>\n</minimax:tool_call>"            | 3    | says         |
      | "<think>What time?</think>[TOOL_CALLS][{\"name\": \"now\", \"arguments\": {}}]"          | 3    | says         |
      | "<think><tool_call></think>Noon."                                                        | 0    | does not say |
      | "Hermes writes `<tool_call>{}</tool_call>`."                                             | 0    | does not say |

  Scenario Outline: WIRE-9: --wire text works from end to end, also with a server that sends native calls after all
    Given a model that plays
      """
      <call>
      {"after": "5$", "say": "Five."}
      """
    When I run hadr-agent "--wire" "text" <flags> "--session" "s.jsonl" "What is 2 + 3?"
    Then each request that came in offers tools as text
    And each of 2 requests that came in begins with the bytes of the one before
    And it exits with 0
    And stdout is "Five."
    And stderr says "→ calculate"
    And the session holds "system, user, assistant, tool, assistant"

    Examples:
      | flags         | call                                                                                                          |
      | "--no-stream" | {"think": "I add.", "say": "So:\n{\"tool\": \"calculate\", \"args\": {\"expression\": \"2 + 3\"}}"}           |
      | "--think=hide" | {"think": "I add.", "calls": [{"name": "calculate", "arguments": {"expression": "2 + 3"}}]}                   |
      | "--think=show" | {"say": "<tool_call>{\"name\": \"calculate\", \"arguments\": {\"expression\": \"2 + 3\"}}</tool_call>"}      |
