Feature: Submissions are checked
  A teacher has a pile of loops and little time. Each must be told what it gets wrong, where, and by which likely mistake,
  with a hint that is not the solution; a loop that is written another way but right must pass; and one that hangs,
  forks or cheats must not keep the others waiting.

  Scenario Outline: COURSE-1: every known mistake is called by its name
    When the loop "wrong_loops/<mistake>.py" is checked
    Then the one mistake found is "<mistake>", on a line of the file
    And its requirement is broken, and the others are met

    Examples:
      | mistake                    |
      | answered_as_user           |
      | answered_by_name           |
      | arguments_dumped_again     |
      | calls_of_one_name_merged   |
      | exception_escapes          |
      | first_call_only            |
      | history_rebuilt            |
      | history_windowed           |
      | invalid_arguments_replayed |
      | invalid_arguments_run      |
      | limit_counts_tool_calls    |
      | limit_ignored              |
      | limit_leaves_calls_open    |
      | limit_one_too_few          |
      | limit_one_too_many         |
      | next_tick_called           |
      | nulls_added                |
      | one_tool_message_for_all   |
      | only_known_fields          |
      | stops_on_finish_reason     |
      | system_prompt_changed      |
      | thinking_in_answer         |
      | thinking_stripped          |
      | tools_changed              |
      | turn_after_tool_messages   |
      | turn_twice                 |
      | unknown_tool_dropped       |
      | unknown_tool_escapes       |
      | valid_arguments_repaired   |
      | whitespace_trimmed         |

  Scenario Outline: COURSE-2: a loop that is right passes, however it is written
    When the loop "<loop>" is checked
    Then it meets all requirements, and nothing is found

    Examples:
      | loop                              |
      | ../src/hadr_agent/agent.py        |
      | right_loops/smallest.py           |
      | right_loops/while_loop.py         |
      | right_loops/own_repair.py         |
      | right_loops/one_round_function.py |
      | right_loops/recursive.py          |

  Scenario Outline: COURSE-3: a submission that does harm is ended and reported, and leaves nothing behind
    When the loop "hostile_loops/<loop>.py" is checked, with <seconds> seconds for it
    Then it does not meet the requirements, and the trouble is "<trouble>"
    And no process of it is left

    Examples:
      | loop                 | seconds | trouble                                                                               |
      | hangs                | 2       | no end after 2 s, in the task 'one turn'                                              |
      | hangs_on_import      | 2       | no end after 2 s, while it was loaded                                                 |
      | forks                | 2       | no end after 2 s, in the task 'one turn'                                              |
      | prints_megabytes     | 2       | in the task 'one turn' the answer should be                                           |
      | exits                | 2       | in the task 'one turn' it raised SystemExit: 0                                        |
      | exits_hard           | 2       | its process ended in the task 'one turn'                                              |
      | replaces_the_toolbox | 2       | it replaces parts of the checker: hadr_agent.tools                                    |
      | eats_memory          | 20      | in the task 'one turn' it raised MemoryError                                          |
      | is_not_python        | 2       | it cannot be loaded: SyntaxError: invalid syntax (is_not_python.py, line 3)           |
      | has_no_loop          | 2       | it cannot be loaded: AttributeError                                                   |

  Scenario: COURSE-4: one submission is told in under ten lines: requirements, place, likely line, hint, scenarios
    When hadr-course check is run on "wrong_loops/thinking_stripped.py"
    Then it ends with 1 and prints under ten lines, among them
      | line                                                                                                  |
      | 1 broken      the assistant turn goes into the history unchanged                                      |
      | 2 met         exactly one tool message for each tool call                                             |
      | thinking is stripped before the turn is appended, line 11                                             |
      | request 2, message 3, content: expected "  <think>                                                    |
      | hint: Which of the two needs thinking removed                                                         |
      | of LOOP-1 to LOOP-9, these fail: LOOP-3                                                               |

  Scenario: COURSE-5: a whole class is checked side by side, with a summary, a spreadsheet, a document and a page
    When hadr-course check is run on the class "right_loops/smallest.py", "hostile_loops/exits_hard.py" and "wrong_loops/turn_twice.py"
    Then it ends with 1 and prints a row for each, the right one with "9/9"
    And the CSV has a row for each, with the mistake of the third
    And its rows are told apart as "right_loops/smallest.py, hostile_loops/exits_hard.py, wrong_loops/turn_twice.py"
    And the page shows each, without scripts

  Scenario: COURSE-6: each phase of the starter is green exactly where it should be, and red exactly where it should be
    When hadr-course verify is run
    Then it ends with 0 and says of each phase that it is as it should be

  Scenario Outline: COURSE-7: scenarios of a phase that is not claimed may fail, are shown as such, and count once it is claimed
    Given a starter at phase <phase>
    And its file PHASE claims <claimed>
    When behave runs in it
    Then the command ends with <code>
    And its output says "<words>"

    Examples:
      | phase | claimed | code | words                                                                                   |
      | 0     | 0       | 0    | phase 0 of 2; 9 scenarios not yet claimed                                               |
      | 0     | 0       | 0    | LOOP-1 next: ask the model once                                                         |
      | 0     | 1       | 1    | LOOP-1: a turn without tool calls is the answer                                         |
      | 1     | 1       | 0    | phase 1 of 2; 8 scenarios not yet claimed                                               |
      | 1     | 1       | 0    | LOOP-2 next: run the tool that a turn calls                                             |
      | 1     | 0       | 0    | LOOP-1 passes already                                                                   |
      | 1     | 2       | 1    | LOOP-2: a tool call is run                                                              |
      | 2     | 2       | 0    | 1 feature passed                                                                        |

  Scenario: COURSE-8: a fix of the course reaches a student by an ordinary pull, without touching what they wrote
    Given a starter in a git repository, and a student's clone of it in which they have begun
    When the course fixes its steps, and the student pulls
    Then the pull brings the fix and keeps the student's work

  Scenario Outline: COURSE-9: a starter is never written over anything
    When hadr-course start is asked for <what>
    Then the command ends with 2 and says "<words>"

    Examples:
      | what                 | words          |
      | a folder with a file | exists already |
      | a phase 3            | invalid choice |
