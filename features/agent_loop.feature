Feature: The agent loop
  Four requirements make an agent loop: the assistant turn goes into the history unchanged (1), every tool call gets
  exactly one tool message (2), the loop stops at its limit (3), and it never moves the world's clock (4).
  A loop that breaks one of them often works in a demonstration and fails in use: the provider's prompt cache misses,
  or the provider refuses every later request. So the scenarios look at the requests as they went over the wire.

  Scenario: LOOP-1: a turn without tool calls is the answer, after one round
    Given the model's turns are
      """
      {"role": "assistant", "content": "Hello, what can I do for you?"}
      """
    When the loop runs on the task "Hello"
    Then the model is asked 1 time
    And the history ends with turn 1 as the model sent it
    And the answer is "Hello, what can I do for you?"
    And the loop stops as "answered" after 1 round

  Scenario: LOOP-2: a tool call is run and answered by its id
    Given the system prompt "Use the tools."
    And the model's turns are
      """
      {"role": "assistant", "content": "", "finish_reason": "stop", "tool_calls": [{"id": "call_8", "type": "function", "function": {"name": "add", "arguments": "{\"a\": 2, \"b\": 3}"}}]}
      {"role": "assistant", "content": "5"}
      """
    When the loop runs on the task "What is 2 + 3?"
    Then the model is asked 2 times
    And every tool call has exactly one tool message, in call order
    And call "call_8" is answered with "5"
    And each request begins with the one before
    And each request offers the tools "add, echo, fail, look"
    And the tools that ran are "add"
    And the answer is "5"

  Scenario: LOOP-3: the assistant turn goes into the history unchanged, and only the answer loses its thinking
    Given the model's turns are
      """
      {"role": "assistant", "content": "<think>\nThe sum first — für später.\n</think>\n\n Let me add.  ", "reasoning_content": "I will add.", "reasoning_details": [{"type": "reasoning.text", "text": "add", "index": 0}], "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "add", "arguments": "{ \"b\":3 ,\"a\" : 2}"}, "extra_content": {"google": {"thought_signature": "U0lHLTE="}}}]}
      {"role": "assistant", "content": null, "tool_calls": [{"id": "call_2", "type": "function", "function": {"name": "echo", "arguments": "{\"text\": \"\\u00e4 \\/ ä\"}"}}], "a_field_nobody_knows": {"kept": [1, null]}}
      {"role": "assistant", "content": "<think>\nGot 5.\n</think>\n\nThe sum is 5.", "reasoning_content": "It is 5."}
      """
    When the loop runs on the task "What is 2 + 3?"
    Then request 2 holds turn 1 as the model sent it
    And each request begins with the one before
    And request 3 holds turn 2 as the model sent it
    And the history ends with turn 3 as the model sent it
    And the answer is "The sum is 5."

  Scenario: LOOP-4: a tool's error goes back to the model, and the loop carries on
    Given the model's turns are
      """
      {"role": "assistant", "content": "", "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "fail", "arguments": "{}"}}]}
      {"role": "assistant", "content": "The disk is on fire."}
      """
    When the loop runs on the task "Try it"
    Then the model is asked 2 times
    And every tool call has exactly one tool message, in call order
    And the answer to call "call_1" says "disk on fire"
    And the answer is "The disk is on fire."

  Scenario Outline: LOOP-5: the loop stops at max_rounds, with every call answered
    Given a model that calls <calls> tools in every turn, for 15 turns
    And <limit>
    When the loop runs on the task "Never stop"
    Then the model is asked <rounds> times
    And each request begins with the one before
    And every tool call has exactly one tool message, in call order
    And the tools ran <runs> times
    And the loop stops as "max_rounds" after <rounds> rounds
    And the answer is ""
    And the history can be continued

    Examples:
      | limit             | rounds | calls | runs |
      | at most 1 rounds  | 1      | 1     | 1    |
      | at most 3 rounds  | 3      | 1     | 3    |
      | at most 4 rounds  | 4      | 2     | 8    |
      | at most 12 rounds | 12     | 2     | 24   |
      | no limit given    | 10     | 1     | 10   |

  Scenario: LOOP-6: several calls in a turn are answered once each, in the order of the calls
    Given the model's turns are
      """
      {"role": "assistant", "content": "", "tool_calls": [{"id": "call_b", "type": "function", "function": {"name": "echo", "arguments": "{\"text\": \"one\"}"}}, {"id": "call_a", "type": "function", "function": {"name": "echo", "arguments": "{\"text\": \"two\"}"}}, {"id": "call_c", "type": "function", "function": {"name": "fail", "arguments": "{}"}}, {"id": "call_d", "type": "function", "function": {"name": "add", "arguments": "{\"a\": 1, \"b\": 1}"}}]}
      {"role": "assistant", "content": "Done."}
      """
    When the loop runs on the task "Do all of it"
    Then every tool call has exactly one tool message, in call order
    And call "call_b" is answered with "one"
    And call "call_a" is answered with "two"
    And call "call_d" is answered with "2"
    And the tools that ran are "echo, echo, fail, add"
    And the model is asked 2 times

  Scenario: LOOP-7: arguments that are not a JSON object are not run and go back as {}, all others to the byte
    Given the model's turns are
      """
      {"role": "assistant", "content": "", "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "echo", "arguments": "{\"text\": \"hel"}}, {"id": "call_2", "type": "function", "function": {"name": "echo", "arguments": "[1, 2]"}}, {"id": "call_3", "type": "function", "function": {"name": "echo", "arguments": " {\"text\" :\n\"odd but valid\"} "}}]}
      {"role": "assistant", "content": "Sorry."}
      """
    When the loop runs on the task "Say hello"
    Then every tool call has exactly one tool message, in call order
    And the answer to call "call_1" says "{\"text\": \"hel"
    And the answer to call "call_2" says "object"
    And call "call_3" is answered with "odd but valid"
    And the arguments of call "call_1" are replayed as "{}"
    And the arguments of call "call_2" are replayed as "{}"
    And the arguments of call "call_3" are replayed as sent
    And the tools that ran are "echo"
    And the answer is "Sorry."

  Scenario: LOOP-8: a call of an unknown tool is answered with the tools there are
    Given the model's turns are
      """
      {"role": "assistant", "content": "", "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "launch_rocket", "arguments": "{\"to\": \"moon\"}"}}]}
      {"role": "assistant", "content": "I cannot."}
      """
    When the loop runs on the task "To the moon"
    Then every tool call has exactly one tool message, in call order
    And the answer to call "call_1" says "launch_rocket"
    And the answer to call "call_1" says "add"
    And request 2 holds turn 1 as the model sent it
    And the answer is "I cannot."

  Scenario: LOOP-9: the loop never moves the world's clock
    Given a world is at hand, its clock at tick 0
    And the model's turns are
      """
      {"role": "assistant", "content": "", "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]}
      {"role": "assistant", "content": "It is tick 0."}
      """
    When the loop runs on the task "What is the time in the world?"
    Then the clock of the world stands at tick 0
    And the loop's own code calls no next_tick
    And call "call_1" is answered with "tick 0"
