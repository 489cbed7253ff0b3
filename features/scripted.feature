Feature: The scripted provider
  Whoever builds an agent needs a provider that costs nothing, does the same thing twice, and is at least as strict as
  the strictest real one. It plays a script, refuses what some provider would refuse, and knows where a prefix broke.

  Scenario Outline: SCRIPT-1: a history that some provider refuses is answered with status 400, and says where
    Given a script of one turn "Fine."
    When this history is sent
      """
      <history>
      """
    Then the answer is an error with status 400 that says "<words>"

    Examples:
      | history | words |
      | {"role": "user", "content": "a"} {"role": "tool", "tool_call_id": "c1", "content": "x"} | message 2: tool message for 'c1', which the turn before did not call |
      | {"role": "user", "content": "a"} {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]} {"role": "user", "content": "b"} | message 3: call 'c1' has no tool message before it |
      | {"role": "user", "content": "a"} {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]} {"role": "tool", "tool_call_id": "c1", "content": "x"} {"role": "tool", "tool_call_id": "c1", "content": "y"} | message 4: second tool message for 'c1' |
      | {"role": "user", "content": "a"} {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"a"}}]} {"role": "tool", "tool_call_id": "c1", "content": "x"} | message 2, tool_calls[0].function.arguments: they are not valid JSON |
      | {"role": "user", "content": "a"} {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}, {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]} {"role": "tool", "tool_call_id": "c1", "content": "x"} | message 2, tool_calls[1].id: 'c1' is empty or repeated |
      | {"role": "user", "content": "a"} {"role": "assistant", "content": "x", "tool_calls": []} {"role": "user", "content": "b"} | message 2, tool_calls: an empty list |
      | {"role": "user", "content": "a"} {"role": "assistant", "content": null} {"role": "user", "content": "b"} | message 2, content: missing |
      | {"role": "user", "content": "a"} {"role": "assistant", "content": "x", "refusal": null} {"role": "user", "content": "b"} | message 2, refusal: this field was never sent |
      | {"role": "user", "content": "a"} {"role": "system", "content": "x"} | message 2: a system message stands first |
      | {"role": "model", "content": "a"} | message 1, role: 'model' is unknown |

  Scenario: SCRIPT-2: a turn waits for its observation, and says what came in its place
    Given the model's turns are
      """
      {"calls": [{"name": "add", "arguments": {"a": 2, "b": 3}}]}
      {"after": "^6$", "say": "Six."}
      """
    When the loop runs on the task "2 + 3"
    Then the call fails and says "turn 2 is to come after /^6$/, but found: '5'"

  Scenario: SCRIPT-3: what an observation held can be said in a later turn
    Given the model's turns are
      """
      {"after": "between (?P<low>\\d+) and (?P<high>\\d+)", "calls": [{"name": "echo", "arguments": {"text": "{low}\"{high}"}}]}
      {"after": "(?P<echoed>.+)", "think": "It said {echoed}.", "say": "{echoed} {unknown}"}
      """
    When the loop runs on the task "Say something between 3 and 7"
    Then call "call_1_1" is answered with "3\"7"
    And the answer is "3\"7 {unknown}"

  Scenario: SCRIPT-4: a request past the end of the script fails and says so
    Given the model's turns are
      """
      {"calls": [{"name": "look"}]}
      """
    When the loop runs on the task "Look"
    Then the call fails and says "the script has 1 turns, and this request asks for one more"

  Scenario: SCRIPT-5: turns that were not asked for are an error at the end
    Given a script of the turns "One.", "Two." and "Three."
    When the loop runs once inside its with block
    Then leaving the block fails and says "2 of the script's 3 turns were not asked for"

  Scenario Outline: SCRIPT-6: the prefix cache counts what a request shares with the one before and its answer
    Given the model's turns are
      """
      {"role": "assistant", "content": "<think>a</think>One.", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]}
      {"role": "assistant", "content": "Two."}
      """
    When the history is sent again after the first answer with <change>
    Then the second request has <share> of the first and its answer cached
    And the place where the prefix broke is "<place>"

    Examples:
      | change               | share | place                                                                              |
      | nothing changed      | all   |                                                                                    |
      | its thinking removed | part  | request 2, message 2, content: expected "<think>a</think>One.", found "One."       |
      | another tool order   | part  | request 2, tools                                                                   |
      | another task         | part  | request 2, message 1, content: expected "Do it", found "Do it now"                 |

  Scenario: SCRIPT-7: a saved history is a script: its assistant turns are played
    Given a script file
      """
      {"role": "system", "content": "Be kind."}
      {"role": "user", "content": "Hello"}
      {"role": "assistant", "content": "Hello yourself.", "reasoning_content": "A greeting."}
      """
    When the loop plays it on the task "Hello"
    Then the history ends with {"role": "assistant", "content": "Hello yourself.", "reasoning_content": "A greeting."}

  Scenario Outline: SCRIPT-8: a script that cannot be read says which line or turn, and why
    When a script is read from <text>
    Then reading fails and says "<words>"

    Examples:
      | text                              | words                                  |
      | {"say": "a"} / {"say": "b"        | line 2: not JSON                       |
      | {"say": "a"} / ["b"]              | line 2: a turn is a JSON object        |
      | {"sya": "a"}                      | turn 1: unknown key sya                |
      | {"say": "a"} / {"after": "("}     | turn 2: `after` is no regular expression |

  Scenario: SCRIPT-9: any client on this machine can talk to it
    Given the stand-in is served on this machine
    When another client asks "why is the sky blue?" at /v1/chat/completions
    Then it gets an assistant turn that mentions "Rayleigh"
    And it finds a model in /v1/models
    And it gets a 404 that says what is served at /v1/embeddings
