Feature: How a run ends
  A run must end where it should, say truthfully how, and leave a history that can go on: after an answer, a limit, a
  turn that was cut off, an interrupt, an error. Success is an answer that somebody can read, and nothing else.

  Scenario Outline: STOP-1: a last turn with nothing to show is no answer
    Given the model's turns are
      """
      <turn>
      """
    When the loop runs on the task "Well?"
    Then the loop stops as "no_answer" after 1 round
    And the answer is ""
    And the finish reason is "<finish reason>"
    And the history can be continued

    Examples:
      | turn                                                                                                                                                                             | finish reason  |
      | {"role": "assistant", "content": "<think>All done, I believe.</think>"}                                                                                                          | stop           |
      | {"role": "assistant", "content": "<think>\nI should consider", "finish_reason": "length"}                                                                                        | length         |
      | {"role": "assistant", "content": ""}                                                                                                                                             | stop           |
      | {"role": "assistant", "content": " \n\u200b"}                                                                                                                                    | stop           |
      | {"role": "assistant", "content": null, "refusal": "I will not."}                                                                                                                 | stop           |
      | {"role": "assistant", "content": "", "finish_reason": "content_filter"}                                                                                                          | content_filter |
      | {"role": "assistant", "content": "", "reasoning_content": "Hm.", "tool_calls": []}                                                                                               | stop           |
      | {"fault": {"body": "{\"choices\": [{\"message\": {\"content\": \"\"}, \"finish_reason\": \"length\"}, {\"message\": {\"content\": \"Or so.\"}, \"finish_reason\": \"stop\"}]}"}} | length         |

  Scenario Outline: STOP-2: tool calls decide whether a turn is the answer, not its finish reason
    Given the model's turns are
      """
      {"role": "assistant", "content": "<think>7</think>", "finish_reason": "<with calls>", "usage": {"prompt_tokens": 20, "completion_tokens": 3}, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{\"a\": 3, \"b\": 4}"}}, {"id": "c2", "type": "custom", "custom": {"name": "type_code", "input": {"never": "offered"}}}]}
      {"role": "assistant", "content": "The answer is 7.", "finish_reason": "<without>", "usage": {"prompt_tokens": 30, "completion_tokens": 4}}
      """
    When the loop runs on the task "3 + 4"
    Then the tools that ran are "add"
    And every tool call has exactly one tool message, in call order
    And the answer to call "c2" says "custom"
    And nothing is warned of
    And the answer is "The answer is 7."
    And the loop stops as "answered" after 2 rounds
    And the run used 50 prompt tokens and 7 completion tokens

    Examples:
      | with calls | without    |
      | stop       | tool_calls |
      | end_turn   | length     |

  Scenario Outline: STOP-3: a turn that was cut off runs none of its calls, and the loop goes on
    Given the model's turns are
      """
      {"role": "assistant", "content": "", "finish_reason": "<reason>", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "echo", "arguments": "{\"text\": \"whole\"}"}}, {"id": "c2", "type": "function", "function": {"name": "echo", "arguments": "{\"text\": \"ha"}}]}
      {"role": "assistant", "content": "Shorter, then."}
      """
    When the loop runs on the task "Write a lot"
    Then the tools that ran are ""
    And every tool call has exactly one tool message, in call order
    And the answer to call "c1" says "cut off at the token limit"
    And the answer to call "c2" says "{\"text\": \"ha"
    And the loop stops as "answered" after 2 rounds

    Examples:
      | reason     |
      | length     |
      | MAX_TOKENS |

  Scenario: STOP-4: three turns in a row that were cut off end the run; a whole one in between starts the count anew
    Given the model's turns are
      """
      {"finish_reason": "length", "calls": [{"name": "echo", "arguments": {"text": "1"}}]}
      {"finish_reason": "length", "calls": [{"name": "echo", "arguments": {"text": "2"}}]}
      {"calls": [{"name": "echo", "arguments": {"text": "3"}}]}
      {"finish_reason": "length", "calls": [{"name": "echo", "arguments": {"text": "4"}}]}
      {"finish_reason": "length", "calls": [{"name": "echo", "arguments": {"text": "5"}}]}
      {"finish_reason": "length", "calls": [{"name": "echo", "arguments": {"text": "6"}}]}
      {"say": "never asked for"}
      """
    When the loop runs on the task "Write a lot"
    Then the tools that ran are "echo"
    And the loop stops as "cut_off" after 6 rounds
    And the history can be continued

  Scenario: STOP-5: stop_when is asked after each round with calls, and its reason stops the run there
    Given a model that calls 2 tools in every turn, for 12 turns
    And stop_when stops after 3 rounds as "enough"
    When the loop runs on the task "Go on"
    Then stop_when saw rounds "1, 2, 3", each with every call answered
    And the loop stops as "enough" after 3 rounds
    And the history can be continued

  Scenario Outline: STOP-6: an interrupt leaves no call without its tool message, and goes on
    Given the model calls <tools> in one turn
    When the loop runs on the task "Go on" and is interrupted
    Then the interrupt came through
    And the calls are answered with "<answers>"
    And the history can be continued

    Examples:
      | tools                 | answers                         |
      | interrupt             | interrupted                     |
      | add, interrupt, add   | 2, interrupted, interrupted     |
      | fail, add, interrupt  | Error, 2, interrupted           |

  Scenario: STOP-7: an event listener that fails leaves no call without its tool message
    Given the model calls add, add in one turn
    And a listener that is interrupted at the first tool result
    When the loop runs on the task "Go on" and is interrupted
    Then the interrupt came through
    And the calls are answered with "2, interrupted"
    And the history can be continued

  Scenario: STOP-8: listeners are told of each request, turn and tool result, in the order of things
    Given the model's turns are
      """
      {"calls": [{"name": "add", "arguments": {"a": 1, "b": 1}}, {"name": "fail"}]}
      {"say": "2"}
      """
    And a listener
    When the loop runs on the task "1 + 1"
    Then the listener heard "1 request, 1 assistant_turn, 1 tool_result, 1 tool_result, 2 request, 2 assistant_turn"
    And turns come with their completion, tool results with their result, requests with neither
    And the listener got the exception of the tool that failed
    And neither the result nor what the listener heard can be changed

  Scenario: STOP-9: an error of the provider comes through, and the history is whole up to the last full round
    Given the model's turns are
      """
      {"calls": [{"name": "add", "arguments": {"a": 1, "b": 1}}]}
      {"fault": {"status": 400, "body": "{\"error\": {\"message\": \"context too long\"}}"}}
      """
    When the loop runs on the task "1 + 1"
    Then the call fails and says "context too long"
    And the history holds "user, assistant, tool"
    And the history can be continued
