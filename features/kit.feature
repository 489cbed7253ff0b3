Feature: A pull request is checked by machines, and judged by people
  What CI can prove, it proves and shows; the rest is put before a person, in a list short enough to be read. The kit
  runs in other people's repositories: a workflow that may write more than it must, or that follows a moved tag, is a
  door.

  Scenario: KIT-1: every action is the commit that somebody looked at, with its version beside it
    When the workflows are read
    Then every action is given by 40 hexadecimal digits and a version in a comment

  Scenario: KIT-2: a workflow may do what it needs, and for so long as it needs
    When the workflows are read
    Then the only things they may write are
      | workflow   | may write     |
      | review.yml | pull-requests |
    And each begins with permissions that write nothing
    And none runs on pull_request_target or workflow_run
    And each job has a time limit and a concurrency group
    And each checkout leaves no credentials behind

  Scenario: KIT-3: no text that somebody else wrote reaches a shell
    When the workflows are read
    Then no command in them holds an expression

  Scenario Outline: KIT-4: a review by a model is for those who work here
    When <who> <does> in a pull request from <where>
    Then the model is asked: <asked>

    Examples:
      | who            | does                       | where           | asked |
      | a collaborator | opens it                   | this repository | yes   |
      | a stranger     | opens it                   | a fork          | no    |
      | a member       | writes "@claude, and now?" | this repository | yes   |
      | the owner      | writes "Why, @claude?"     | this repository | yes   |
      | a collaborator | writes "Why?"              | this repository | no    |
      | a contributor  | writes "@claude, and now?" | this repository | no    |
      | a stranger     | writes "@claude, and now?" | a fork          | no    |

  Scenario Outline: KIT-5: without a key, or for a fork, there is no review and no failure
    When the first step of the review runs with <key> for a pull request from <where>
    Then it goes on: <goes on>, and says "<says>"

    Examples:
      | key    | where           | goes on | says                     |
      | a key  | this repository | yes     |                          |
      | a key  | a fork          | no      | comes from a fork        |
      | no key | this repository | no      | ANTHROPIC_API_KEY is not |

  Scenario: KIT-6: nobody lands a change alone, or on red
    When the ruleset is read
    Then the default branch takes only pull requests with an approval that is not stale and not by who pushed last
    And it can be neither deleted nor rewritten, by nobody
    And the checks that it requires are those that CI makes: "Python 3.11", "Python 3.15"

  Scenario: KIT-7: author and reviewer each have their list
    When the pull request template is read
    Then each of the four requirements is a check box in it, in the words of the course
    And at most seven more are for what a reviewer confirms by reading

  Scenario: KIT-8: the summary of a right loop shows the requirements, the rounds, the prefix, and what is left to read
    When the summary is written for "."
    Then all four requirements are "met"
    And each task that ends at its limit has used all of it
    And request n begins request n+1 in each task
    And what a reviewer confirms stands at its end

  Scenario Outline: KIT-9: the summary of a wrong loop says what is broken, and fails nothing
    When the summary is written for "features/wrong_loops/<loop>.py"
    Then the summary shows requirement <number> as "broken"
    And the summary says "<says>"

    Examples:
      | loop                 | number | says                                                                     |
      | thinking_stripped    | 1      | thinking is stripped before the turn is appended                         |
      | history_windowed     | 1      | thirty rounds \| 31 of 40 \| no, request 15 does not begin request 16    |
      | first_call_only      | 2      | only the first call of a turn is answered                                |
      | limit_one_too_many   | 3      | limit 5, 1 calls \| 6 of 5                                               |
      | next_tick_called     | 4      | the loop moves the world's clock                                         |
