Feature: Loops with a known mistake
  A test proves something only if it fails when it should. Each loop in wrong_loops/ is right but for one mistake that
  people really make; the scenarios of agent_loop.feature must catch it where it belongs, and say which requirement
  broke and where. A loop that is written differently but right must pass.

  Scenario Outline: WRONG-1: a loop with one mistake fails where the mistake is
    When the loop "wrong_loops/<mistake>.py" is put to the test
    Then it fails in <scenario>, which says "<message>"

    Examples: requirement 1, the assistant turn goes into the history unchanged
      | mistake                    | scenario | message                                                               |
      | thinking_stripped          | LOOP-3   | request 2, message 2, content: expected "<think>                      |
      | whitespace_trimmed         | LOOP-3   | request 2, message 2, content: expected                               |
      | arguments_dumped_again     | LOOP-3   | request 2, message 2, tool_calls[0].function.arguments: expected      |
      | only_known_fields          | LOOP-3   | request 2, message 2, reasoning_content: expected "I will add."       |
      | nulls_added                | LOOP-1   | message 2, refusal: expected nothing, found "null"                    |
      | invalid_arguments_replayed | LOOP-7   | request 2, message 2, tool_calls[0].function.arguments: expected '{}' |
      | valid_arguments_repaired   | LOOP-3   | request 2, message 2, tool_calls[0].function.arguments: expected      |
      | tools_changed              | LOOP-2   | request 2, tools[0]                                                   |
      | system_prompt_changed      | LOOP-2   | request 2, message 1, content: expected "Use the tools.               |
      | history_rebuilt            | LOOP-3   | request 3, message 2, content: expected "<think>                      |
      | history_windowed           | LOOP-5   | request 11, message 1, role: expected "user", found "assistant"       |
      | thinking_in_answer         | LOOP-3   | the displayed answer (without thinking)                               |

    Examples: requirement 2, exactly one tool message for each tool call
      | mistake                  | scenario | message                                                    |
      | turn_after_tool_messages | LOOP-2   | request 2, message 3: tool message for 'call_8'            |
      | stops_on_finish_reason   | LOOP-2   | expected 2 requests, found 1                               |
      | turn_twice               | LOOP-2   | request 2, message 4: call 'call_8' has no tool message    |
      | one_tool_message_for_all | LOOP-6   | request 2, the end: call 'call_a' has no tool message      |
      | first_call_only          | LOOP-6   | request 2, the end: call 'call_a' has no tool message      |
      | answered_by_name         | LOOP-2   | request 2, message 4: tool message for 'add'               |
      | answered_as_user         | LOOP-2   | request 2, message 4: call 'call_8' has no tool message    |
      | calls_of_one_name_merged | LOOP-6   | request 2, message 3, content: expected 'one', found 'two' |
      | invalid_arguments_run    | LOOP-7   | content: expected a text with                              |
      | exception_escapes        | LOOP-4   | the loop raised RuntimeError                               |
      | unknown_tool_escapes     | LOOP-8   | the loop raised KeyError                                   |
      | unknown_tool_dropped     | LOOP-8   | request 2, the end: call 'call_1' has no tool message      |

    Examples: requirement 3, the loop stops at max_rounds
      | mistake                 | scenario | message                              |
      | limit_one_too_many      | LOOP-5   | expected 1 requests, found 2 |
      | limit_one_too_few       | LOOP-5   | expected 1 requests, found 0         |
      | limit_ignored           | LOOP-5   | expected 1 requests, found   |
      | limit_leaves_calls_open | LOOP-5   | the end: call 'call_1_0'             |
      | limit_counts_tool_calls | LOOP-5   | expected 4 requests, found 2         |

    Examples: requirement 4, the loop never calls next_tick
      | mistake          | scenario | message                                       |
      | next_tick_called | LOOP-9   | expected the clock at tick 0, found tick 1    |

  Scenario Outline: WRONG-2: a loop that is written differently but right passes
    When the loop "right_loops/<loop>.py" is put to the test
    Then it passes every scenario

    Examples:
      | loop               |
      | smallest           |
      | while_loop         |
      | own_repair         |
      | one_round_function |
      | recursive          |
