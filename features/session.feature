Feature: Sessions
  A run may end at any byte: Ctrl-C, a kill, a full disk, a provider that fails. What was said and done must then still
  be there, every later request must be one that providers take, and the bytes that went out must come first in it, or
  the prompt cache is lost. So a session only grows at its end, and what is not a session is left alone.

  Scenario: SESSION-1: the system prompt is the first line of a session and is sent once, however often it is gone on with
    Given the file prompt.md
      """
      Be — kind.
      """
    And a model that plays
      """
      {"think": "I add.", "calls": [{"name": "calculate", "arguments": {"expression": "2 + 3"}}]}
      {"say": "Five."}
      {"say": "You are welcome."}
      """
    And hadr-agent was run with "--session" "s.jsonl" "--system-prompt" "prompt.md" "What is 2 + 3?" and exited with 0
    When I run hadr-agent "--session" "s.jsonl" "--system-prompt" "prompt.md" "Thank you"
    Then each of 3 requests that came in begins with the bytes of the one before
    And each of them holds one system message, the first
    And the session holds "system, user, assistant, tool, assistant, user, assistant"
    And stdout is "You are welcome."

  Scenario Outline: SESSION-2: a message is in the file before a tool is run or the next request goes out
    Given the model's turns are
      """
      {"role": "assistant", "content": "<think>ä</think>", "unknown": [null], "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": " {}"}}, {"id": "c2", "type": "function", "function": {"name": "fail", "arguments": "{"}}]}
      {"role": "assistant", "content": "\ud83d", "tool_calls": [{"id": "c3", "type": "function", "function": {"name": "echo", "arguments": "{\"text\": \"two\\nlines\"}"}}]}
      {"role": "assistant", "content": "Done."}
      """
    And the file of the session is read at each <moment>
    When the loop works on the task "Go" in a new session
    Then each time the file held "<held>"
    And the messages of each request are the lines of the file

    Examples:
      | moment      | held                                                                                       |
      | request     | user; user, assistant, tool, tool; user, assistant, tool, tool, assistant, tool            |
      | tool result | user, assistant, tool; user, assistant, tool, tool; user, assistant, tool, tool, assistant, tool |
      | run of look | user, assistant                                                                            |

  Scenario Outline: SESSION-3: a session only grows at its end
    Given a session of the messages user, answer, user
    When a program does <change>
    Then it raises TypeError that says "a session only grows at its end"
    And the session holds "user, assistant, user"
    And the file is as it was

    Examples:
      | change                         |
      | session.insert(0, message)     |
      | session.insert(-1, message)    |
      | session[0] = message           |
      | session[-1:] = [message]       |
      | del session[0]                 |
      | session.pop()                  |
      | session.remove(session[0])     |
      | session.clear()                |
      | session.reverse()              |

  Scenario Outline: SESSION-4: a half-written last line is cut off, and every whole line stays byte for byte
    Given a session of <count> whole lines, with <bytes> behind them
    When the session is opened
    Then behind its whole lines the file holds <left>
    And the history is what the file holds
    And <notices> notice is given

    Examples:
      | count | bytes                                                   | left                                          | notices |
      | 3     | ""                                                      | ""                                            | 0       |
      | 3     | "{"                                                     | ""                                            | 1       |
      | 3     | "{\"role\": \"assistant\", \"content\": \"Hel"          | ""                                            | 1       |
      | 3     | "{\"content\": \"Hel"                                   | ""                                            | 1       |
      | 3     | "{\"role\": \"user\", \"content\": \"\u00c3"            | ""                                            | 1       |
      | 3     | "\u0000\u0000\u0000"                                    | ""                                            | 1       |
      | 3     | "{\"role\": \"us\u0000\u0000\u0000"                     | ""                                            | 1       |
      | 3     | "{\"role\": \"user\",  \"content\": \"More\"}"          | "{\"role\": \"user\",  \"content\": \"More\"}\n" | 0    |
      | 0     | ""                                                      | ""                                            | 0       |
      | 0     | "{"                                                     | ""                                            | 1       |
      | 0     | "{\"role\": \"system\", \"content\": \"Be"              | ""                                            | 1       |
      | 0     | "\u0000\u0000\u0000"                                    | ""                                            | 1       |
      | 0     | "{\"role\": \"user\", \"content\": \"Go\"}"             | "{\"role\": \"user\", \"content\": \"Go\"}\n" | 0       |

  Scenario Outline: SESSION-5: a history that providers would refuse is mended: open calls at the file's end, all else in memory
    Given a session of the messages <found>
    When the session is opened
    Then behind its whole lines the file holds the messages <added>
    And the history is <history>
    And a notice says "<words>"

    Examples: an interrupt left calls open at the end
      | found                          | added                        | history                                                    | words                       |
      | user, calls c1                 | interrupted c1               | user, calls c1, interrupted c1                             | 'c1' had no result          |
      | user, calls c1 c2 c3           | interrupted c1, interrupted c2, interrupted c3 | user, calls c1 c2 c3, interrupted c1, interrupted c2, interrupted c3 | 'c3' had no result |
      | user, calls c1 c2, result c1   | interrupted c2               | user, calls c1 c2, result c1, interrupted c2               | 'c2' had no result          |
      | user, calls c1, result c1, calls c1 | interrupted c1          | user, calls c1, result c1, calls c1, interrupted c1        | 'c1' had no result          |

    Examples: an older file is not as it should be
      | found                                        | added          | history                                  | words                                   |
      | user, calls c1, user                         | nothing        | user, calls c1, interrupted c1, user     | message 3: call 'c1' had no result      |
      | user, calls c1, answer                       | nothing        | user, calls c1, interrupted c1, answer   | message 3: call 'c1' had no result      |
      | user, calls c1 c2, result c2, user           | nothing        | user, calls c1 c2, result c2, interrupted c1, user | message 4: call 'c1' had no result |
      | user, calls c1, user, result c1, answer      | nothing        | user, calls c1, interrupted c1, user, answer | message 4: a result that no open call asked for |
      | user, result c9, answer                      | nothing        | user, answer                             | message 2: a result that no open call   |
      | user, calls c1, result c1, result c1, answer | nothing        | user, calls c1, result c1, answer        | message 4: a result that no open call   |
      | system, user, system, answer                 | nothing        | system, user, answer                     | message 3: a system message             |
      | user, broken c1, result c1, answer           | nothing        | user, emptied c1, result c1, answer      | message 2: a turn that providers refuse |
      | user, broken c1                              | interrupted c1 | user, emptied c1, interrupted c1         | message 2: a turn that providers refuse |
      | user, parsed c1, result c1, answer           | nothing        | user, dumped c1, result c1, answer       | message 2: a turn that providers refuse |
      | user, untyped c1, result c1, answer          | nothing        | user, calls c1, result c1, answer        | message 2: a turn that providers refuse |
      | user, nameless c1, result c1, answer         | nothing        | user, unnamed c1, result c1, answer      | message 2: a turn that providers refuse |
      | user, missing c1, result c1, answer          | nothing        | user, filled c1, result c1, answer       | message 2: a turn that providers refuse |
      | user, no calls, user                         | nothing        | user, silence, user                      | message 2: a turn that providers refuse |
      | user, calls c1 c1, result c1, result c1      | nothing        | user, calls c1 m00002001, result c1, result m00002001 | message 2: a turn that providers refuse |
      | user, calls c1 c1, result c1                 | interrupted m00002001 | user, calls c1 m00002001, result c1, interrupted m00002001 | 'm00002001' had no result |

  Scenario Outline: SESSION-6: what cannot be gone on with is refused with the reason, and stays byte for byte
    Given the file s.jsonl with the bytes <bytes>
    When I run hadr-agent <arguments>
    Then it exits with 2
    And the complaint says "<words>"
    And the file s.jsonl still has the bytes <bytes>
    And there is no file "new.jsonl"

    Examples: a file that is no session
      | bytes                                                                     | arguments                      | words            |
      | "Tea\nMilk\n"                                                             | "--session" "s.jsonl" "Hello"  | s.jsonl is not a session: line 1 |
      | "Tea"                                                                     | "--session" "s.jsonl" "Hello"  | is not a session |
      | "[{\"role\": \"user\", \"content\": \"Hi\"}]\n"                           | "--session" "s.jsonl" "Hello"  | is not a session |
      | "{\n  \"role\": \"user\"\n}\n"                                            | "--session" "s.jsonl" "Hello"  | is not a session |
      | "{\"name\": \"a\"}\n{\"name\": \"b\"}\n"                                  | "--session" "s.jsonl" "Hello"  | is not a session |
      | "{\"name\": \"a\"}"                                                       | "--session" "s.jsonl" "Hello"  | is not a session |
      | "{\"name\": \"a\", \"dependen"                                            | "--session" "s.jsonl" "Hello"  | is not a session |
      | "\u007fELF\u0002\u0000\u0000\u00ff"                                       | "--session" "s.jsonl" "Hello"  | is not a session |
      | "{\"role\": \"model\", \"parts\": []}\n"                                  | "--session" "s.jsonl" "Hello"  | is not a session |
      | "{\"role\": \"user\", \"content\": \"Hi\"}\ngarbage\n{\"role\": \"user\", \"content\": \"Hi\"}\n" | "--session" "s.jsonl" "Hello" | line 2 |
      | "{\"role\": \"user\", \"content\": \"Hi\"}\n{\"role\": \"user\", \"cont\n{\"role\": \"user\", \"content\": \"Hi\"}\n" | "--session" "s.jsonl" "Hello" | line 2 |
      | "{\"role\": \"user\", \"content\": \"Hi\"}\nTea"                          | "--session" "s.jsonl" "Hello"  | line 2           |
      | "{\"role\": \"user\", \"content\": \"Hi\"}\n{\"name\": \"a\"}\n"          | "--session" "s.jsonl" "Hello"  | line 2           |
      | "{\"role\": \"user\", \"content\": \"Hi\"}\n{ Tea, Milk }\n"                | "--session" "s.jsonl" "Hello"  | line 2           |
      | "Tea"                                                                     | "show" "s.jsonl"               | is not a session |
      | "Tea"                                                                     | "--replay" "s.jsonl"           | is not a session |

    Examples: --continue where nothing goes on
      | bytes                                                                     | arguments                                   | words                               |
      | "{\"role\": \"user\", \"content\": \"Hi\"}\n{\"role\": \"assistant\", \"content\": \"Hi.\"}\n" | "--session" "s.jsonl" "--continue" | ends with an answer |
      | "{\"role\": \"user\", \"content\": \"Hi\"}\n"                             | "--continue"                                | name it with --session FILE         |
      | "{\"role\": \"user\", \"content\": \"Hi\"}\n"                             | "--session" "s.jsonl" "--continue" "Hello"  | leave out the task                  |
      | "{\"role\": \"user\", \"content\": \"Hi\"}\n"                             | "--session" "new.jsonl" "--continue"        | there is no session new.jsonl       |
      | "{\"role\": \"user\", \"content\": \"Hi\"}\n"                             | "--session" "." "Hello"                     | the session . cannot be opened      |

  Scenario: SESSION-7: a second process on a session is told, and nothing is mixed
    Given a model that plays
      """
      {"say": "Never said."}
      """
    And another process works in the session s.jsonl
    When I run hadr-agent "--session" "s.jsonl" "Hello"
    Then each of 0 requests that came in begins with the bytes of the one before
    And it exits with 2
    And the complaint says "s.jsonl is in use by another process"
    And the other process goes on, and the file holds its messages alone

  Scenario Outline: SESSION-8: a run that was stopped goes on where it was, and no tool is run twice
    Given the tools file
      """
      import os, resource, signal, time
      from hadr_agent import tool

      @tool
      def note(text: str) -> str:
          "Note a text."
          with open("noted", "a") as file:
              file.write(text + "\n")
          return text

      @tool
      def stop(how: str) -> str:
          "Stop the run."
          note(how)
          if how == "disk":
              room = os.path.getsize("s.jsonl") + 20  # for the beginning of the next message
              resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
              return "full"
          os.kill(os.getpid(), getattr(signal, how))
          time.sleep(60)
          return "late"
      """
    And a model that plays
      """
      {"think": "One.", "calls": [{"name": "note", "arguments": {"text": "one"}}]}
      <then>
      {"say": "Done."}
      """
    And hadr-agent was run with "--session" "s.jsonl" "--tools-file" "tools.py" <limit> "go" and exited with <code>
    When I run hadr-agent "--session" "s.jsonl" "--tools-file" "tools.py" "--continue"
    Then each of <count> requests that came in begins with the bytes of the one before
    And it exits with 0
    And stdout is "Done."
    And the tools noted "<noted>"
    And the last request holds the results "<results>"

    Examples:
      | limit              | then                                                                                   | code | count | noted          | results |
      | "--max-rounds=10"  | {"fault": {"status": 400, "body": "{\"error\": {\"message\": \"out of order\"}}"}}     | 4    | 3     | one            | one |
      | "--max-rounds=10"  | {"say": "Half of an answer that breaks off.", "fault": {"cut_after": 2}}               | 4    | 3     | one            | one |
      | "--max-rounds=2"   | {"calls": [{"name": "note", "arguments": {"text": "two"}}]}                            | 3    | 3     | one, two       | one, two |
      | "--token-budget=1" | {"calls": [{"name": "note", "arguments": {"text": "two"}}]}                            | 3    | 3     | one, two       | one, two |
      | "--max-rounds=10"  | {"calls": [{"name": "note", "arguments": {"text": "two"}}, {"name": "stop", "arguments": {"how": "SIGINT"}}, {"name": "note", "arguments": {"text": "three"}}]} | 130 | 3 | one, two, SIGINT | one, two, interrupted, interrupted |
      | "--max-rounds=10"  | {"calls": [{"name": "note", "arguments": {"text": "two"}}, {"name": "stop", "arguments": {"how": "SIGKILL"}}, {"name": "note", "arguments": {"text": "three"}}]} | -9 | 3 | one, two, SIGKILL | one, two, interrupted, interrupted |
      | "--max-rounds=10"  | {"calls": [{"name": "note", "arguments": {"text": "two"}}, {"name": "stop", "arguments": {"how": "disk"}}]} | 3 | 3 | one, two, disk | one, two, interrupted |

  Scenario: SESSION-9: any history, cut at any byte, is opened as one that providers take, and keeps its whole lines
    When histories of any kind are cut at any byte and opened
    Then providers take each of them
    And each file begins with the whole lines that it held
    And each is the same history when it is only read or opened once more
