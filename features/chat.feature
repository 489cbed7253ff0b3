Feature: A chat
  At a terminal one task leads to the next. All of them share one history, so that the model remembers and the prompt
  cache holds; and a run that goes wrong can be stopped without losing what was said before.

  Scenario: CHAT-1: all that is said goes into one history, and each request begins with the one before
    Given a model that plays
      """
      {"calls": [{"name": "calculate", "arguments": {"expression": "1+1"}}]}
      {"say": "Two."}
      {"after": "And twice that", "say": "Four."}
      """
    When I chat with hadr-agent "--think=hide"
      | when it shows | I type           |
      | >             | What is 1 + 1?   |
      | this chat:    | And twice that?  |
      | this chat:    | Ctrl-D           |
    Then it exits with 0
    And the screen shows "Four."
    And request 3 to the model begins with request 2, and both end in what was said

  Scenario: CHAT-2: Ctrl-C stops the run and keeps the chat, with every call answered
    Given the tools file
      """
      import time
      from hadr_agent import tool

      @tool
      def wait() -> str:
          "Wait."
          print("waiting now", flush=True)
          time.sleep(60)
          return "late"
      """
    And a model that plays
      """
      {"calls": [{"name": "wait"}, {"name": "wait"}]}
      {"after": "Still there", "say": "Here I am."}
      """
    When I chat with hadr-agent "--tools-file" "tools.py"
      | when it shows | I type       |
      | >             | Wait         |
      | waiting now   | Ctrl-C       |
      | this chat:    | Still there? |
      | this chat:    | Ctrl-D       |
    Then it exits with 0
    And the screen shows "interrupted"
    And the screen shows "Here I am."
    And the last request to the model answers 2 calls as interrupted

  Scenario: CHAT-3: Ctrl-C at the prompt drops the line, and Ctrl-D ends the chat
    Given a model that plays
      """
      {"say": "Never asked for."}
      """
    When I chat with hadr-agent "--think=hide"
      | when it shows | I type |
      | >             | Ctrl-C |
      | >             | Ctrl-D |
    Then it exits with 0
    And the model was not asked

  Scenario: CHAT-4: the chat says what it can do, what it has, what it used, and saves itself
    Given a model that plays
      """
      {"say": "Hello.", "usage": {"prompt_tokens": 1000, "cached_tokens": 250, "completion_tokens": 1}}
      """
    When I chat with hadr-agent "--tools" "now"
      | when it shows | I type           |
      | >             | Hello            |
      | this chat:    | /help            |
      | Ctrl-D        | /tools           |
      | time zone     | /usage           |
      | 25%           | /save said.jsonl |
      | saved         | /save said.jsonl |
      | cannot be     | Ctrl-D           |
    Then it exits with 0
    And the screen shows "this chat: 1 rounds, 1,000 prompt tokens, 25% of it cached"
    And the screen shows "now: Return the current date, time and weekday in a time zone."
    And the screen shows "said.jsonl cannot be written: File exists"
    And the session "said.jsonl" holds "system, user, assistant"

  Scenario: CHAT-5: a chat with a session goes on where the last one ended
    Given a model that plays
      """
      {"say": "Hello, Ada."}
      {"after": "Who am I", "say": "Ada."}
      """
    And the file talk.jsonl
      """
      {"role": "user", "content": "I am Ada."}
      """
    When I chat with hadr-agent "--session" "talk.jsonl"
      | when it shows | I type    |
      | >             | Greet me  |
      | this chat:    | Who am I? |
      | this chat:    | Ctrl-D    |
    Then it exits with 0
    And the session "talk.jsonl" holds "user, user, assistant, user, assistant"

  Scenario Outline: CHAT-6: where nobody can chat a task is asked for, and said where it can come from
    When I run hadr-agent without a task, and its stdin is <stdin>
    Then it exits with 2
    And the complaint says "there is no task. Give it in quotes: hadr-agent "roll two dice and tell me the time"<more>"
    And stderr does not say "<not said>"

    Examples:
      | stdin  | more                          | not said |
      | a pipe | , or let - read it from stdin | chat     |
      | closed |                               | stdin    |
