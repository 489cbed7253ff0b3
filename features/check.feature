Feature: Commands that check and compare many
  A teacher who stops a check wants the machine back at once, and one who reads a report wants every line of it to say
  something that holds.

  Scenario Outline: CHECK-1: <signal> ends the check and every submission in one line
    Given 5 submissions that hang
    When hadr-course check is run on them, and <signal> reaches <whom>
    Then the command ends with 130
    And it complains with the one line "hadr-course: interrupted"
    And no process of it is left

    Examples:
      | signal  | whom                  |
      | Ctrl-C  | all of its processes  |
      | Ctrl-C  | the first one alone   |
      | SIGTERM | all of its processes  |
      | SIGTERM | the first one alone   |

  Scenario Outline: CHECK-2: what could not be run or found is said, with the reason
    When hadr-course check is run on <path> with <seconds> seconds
    Then the command ends with <code>
    And its output says "<words>"
    And its output does not say "also:"

    Examples:
      | path                   | seconds | code | words                                                          |
      | hostile_loops/hangs.py | 1       | 1    | no end after 1 s, in the task 'one turn'                       |
      | hostile_loops/hangs.py | 1       | 1    | LOOP-1 to LOOP-9 came to no end: no end after 1 s              |
      | hostile_loops          | 1       | 1    | hostile_loops holds no src/hadr_agent/agent.py and no agent.py |
      | nowhere                | 1       | 2    | there is no nowhere; name folders or files of submissions      |

  Scenario Outline: CHECK-3: a phase may leave things out of the finished loop, and says nothing else than it
    Given phase <phase> of the starter, with <old> changed to <new>
    When it is compared with the finished loop
    Then what is not as in the finished loop is "<found>"

    Examples:
      | phase | old                   | new                   | found            |
      | 0     | nothing               | nothing               |                  |
      | 1     | nothing               | nothing               |                  |
      | 1     | finish_reason: str    | finish_reason: object | LoopResult       |
      | 1     | max_rounds: int = 10  | max_rounds: int = 9   | its signature    |
      | 0     | thinking and all      | all                   | its docstring    |
      | 1     | turn.pop("tool_calls" | turn.pop("tools"      | _assistant_turn  |
      | 1     | else "{}"             | else ""               | _replayable_args |

  Scenario Outline: CHECK-4: <signal> ends a comparison in one line, and its processes with it
    When hadr-dispatch eval is run on 2 processes, and <signal> reaches <whom> <moment>
    Then the command ends with 130
    And it complains with the one line "hadr-dispatch: interrupted"
    And no process of it is left

    Examples:
      | signal  | whom                 | moment                      |
      | Ctrl-C  | all of its processes | as the first of them starts |
      | Ctrl-C  | the first one alone  | as the first of them starts |
      | SIGTERM | all of its processes | as the first of them starts |
      | SIGTERM | the first one alone  | as the first of them starts |
      | Ctrl-C  | all of its processes | while they work             |
      | Ctrl-C  | the first one alone  | while they work             |
      | SIGTERM | all of its processes | while they work             |
      | SIGTERM | the first one alone  | while they work             |
