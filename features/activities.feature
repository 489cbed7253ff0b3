Feature: Activities
  Four pages in docs take a student through one model call, the loop, a scenario of their own, and the dispatcher. A
  page that shows what does not happen costs a class an hour, so each command is run here, in a copy of the project and
  offline, and each shown output is compared. In a page, … stands for any part of a line, alone on a line for any lines.

  Scenario Outline: ACTIVITY-1: what a page tells to run is run, and prints what the page shows
    Given the page docs/<page>.md, and a copy of the project
    When its files are written, its changes made and its commands run, from top to bottom
    Then all <commands> commands exit as the page says, and all <shown> shown outputs are found

    Examples:
      | page           | commands | shown |
      | one-model-call | 4        | 4     |
      | the-loop       | 7        | 5     |
      | add-a-scenario | 2        | 2     |
      | dispatcher     | 4        | 3     |

  Scenario Outline: ACTIVITY-2: a page that shows what does not happen is told so
    Given a page of <lines>, and a copy of the project
    When its files are written, its changes made and its commands run, from top to bottom
    Then it is told "<complaint>"

    Examples: commands
      | lines                                                    | complaint                                               |
      | ```sh / echo one / ``` / ```text / two / ```             | line 5: expected "two", found "one"                     |
      | ```sh / echo one; echo two / ``` / ```text / one / ```   | line 6: expected the end, found "two"                   |
      | ```sh / echo one / ``` / ```text / one / two / ```       | line 6: expected "two", found the end                   |
      | ```sh / echo one 5 / ``` / ```text / one … six / ```     | line 5: expected "one … six", found "one 5"             |
      | ```sh / echo one / ``` / ```text / … / two / … / ```     | line 6: expected "two", found no such line              |
      | ```sh / false / ```                                      | line 1: expected exit code 0, found 1                   |
      | ```sh exit=3 / true / ```                                | line 1: expected exit code 3, found 0                   |
      | ```sh / false / true / ```                               | line 1: expected exit code 0, found 1                   |
      | ```sh / uv run hadr-agent --max-round 2 "secret" / ```   | line 1: expected exit code 0, found 2                   |
      | ```sh / uv run hadr-agent serve --port x / ```           | line 1: expected a server that runs, found exit code 2  |

    Examples: what nothing would look at
      | lines                                                    | complaint                                               |
      | ```text / one / ```                                      | line 1: expected a ```sh block straight before ```text  |
      | ```sh / echo one / ``` / So: / ```text / one / ```       | line 5: expected a ```sh block straight before ```text  |
      | ```sh / echo one / ``` / ```text / … / … … / ```         | line 4: expected more than …, found nothing else        |
      | ```json / {} / ```                                       | line 1: expected sh, text, diff or a file, found json   |
      | ```python / print() / ```                                | line 1: expected a first line such as # name.py         |
      | Then run `uv run behave` again.                          | line 1: expected uv run in ```sh blocks only            |
      | ```diff / --- README.md / -no such line / +one / ```     | line 1: expected "no such line" once in README.md       |

  Scenario Outline: ACTIVITY-3: a page is short, has every part, and points to what is there
    When the page docs/<page>.md is read
    Then it has at most 120 lines
    And it has the parts "What to look at", "What the tests do not prove", "What production agents add", "Questions"
    And it says what to look at in `rounds`, `cached_tokens`, `<think>`
    And its table says what they add, and where it stands here, at least 5 times
    And each of its <links> links leads to a file that is there, and that holds the name it is called by

    Examples:
      | page           | links |
      | one-model-call | 5     |
      | the-loop       | 6     |
      | add-a-scenario | 8     |
      | dispatcher     | 16    |

  Scenario Outline: ACTIVITY-4: the scenario that students copy is green for right loops, and red for those that break what it is about
    Given the scenario of docs/add-a-scenario.md
    When it is run on the loop <loop>
    Then its outcome is "<said>"

    Examples: right, however they are written
      | loop                            | said   |
      | right_loops/smallest            | passed |
      | right_loops/while_loop          | passed |
      | right_loops/own_repair          | passed |
      | right_loops/one_round_function  | passed |
      | right_loops/recursive           | passed |

    Examples: wrong, with the history as it was recorded
      | loop                                 | said                                                                                 |
      | wrong_loops/unknown_tool_dropped     | found "tool, call_2: 13" / The recorded history: / user: What are                    |
      | wrong_loops/unknown_tool_escapes     | found nothing; the loop raised KeyError: 'multiply' / The recorded history: / user:  |
      | wrong_loops/first_call_only          | line 6: expected "tool, call_2: 13", found                                           |
      | wrong_loops/one_tool_message_for_all | requirement 2                                                                        |
      | wrong_loops/turn_after_tool_messages | requirement 2                                                                        |
      | wrong_loops/thinking_stripped        | requirement 1 (the assistant turn goes into the history unchanged): the history, line 2 |
      | wrong_loops/turn_twice               | expected "tool, call_1                                                               |
      | wrong_loops/only_known_fields        | passed                                                                               |

  Scenario Outline: ACTIVITY-5: each further scenario that students write can be green, and is red for the loop named beside it
    Given the scenario of docs/add-a-scenario.md, changed to the row <row> of its table
    When it is run on the loop <loop>
    Then its outcome is "<said>"

    Examples:
      | row               | loop                 | said                                                             |
      | invalid arguments | right_loops/smallest | passed                                                           |
      | invalid arguments | that the row names   | requirement 2 (exactly one tool message for each tool call)      |
      | a tool exception  | right_loops/smallest | passed                                                           |
      | a tool exception  | that the row names   | requirement 2 (exactly one tool message for each tool call)      |
