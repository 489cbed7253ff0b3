Feature: Policies compared
  One operation says little: luck decides much of it. So policies are compared on the same seeds, with the error of
  what they differ by, and every operation is counted once, whoever played it and however often a worker died.

  Scenario: EVAL-1: on SURGE the rules stand in their order, by more than their errors
    When I run hadr-dispatch "eval" "--json"
    Then it exits with 0
    And idle scores 0 and par 100
    And random scores under 20
    And no-crew is below par by more than 2 times its error
    And triage is above par by more than 1 times its error
    And best scores more than triage
    And the README shows these scores, errors, deaths and people in care

  Scenario: EVAL-2: each operation is a row once, in the order of policies and seeds
    When I run hadr-dispatch "eval" "--policies" "par,idle,par" "--seeds" "2,0-2" "--csv" "out.csv"
    Then it exits with 0
    And the rows of out.csv are of "par 2, par 0, par 1, idle 2, idle 0, idle 1"
    And stdout matches "^par +3 +100.0 +0.0 +0-3-0 .*^idle +3 +0.0 +0.0 +0-0-3 "

  Scenario: EVAL-3: an earlier run stands beside this one, what is the same in both only once
    Given an earlier run old.csv of idle and par, in which par had a point more with seed 0
    When I run hadr-dispatch "eval" "--policies" "idle,par" "--seeds" "0-2" "--against" "old.csv" "--json"
    Then it exits with 0
    And its rows are of "idle 0, idle 1, idle 2, par 0, par 1, par 2, par (old.csv) 0"

  Scenario Outline: EVAL-4: an earlier run of another <what> is refused
    Given an earlier run old.csv with another <what>
    When I run hadr-dispatch "eval" "--policies" "idle" "--seeds" "0" "--against" "old.csv"
    Then it exits with 2
    And its one complaint says "old.csv has SURGE with <what> 99, this run has"

    Examples:
      | what          |
      | world version |
      | digest        |

  Scenario Outline: EVAL-5: what cannot be evaluated is explained
    When I run hadr-dispatch "eval" <arguments>
    Then it exits with 2
    And its one complaint says "<words>"

    Examples:
      | arguments                          | words                                        |
      | "--policies" "idle,luck"           | unknown policy 'luck' in --policies          |
      | "--scenarios" "NOWHERE"            | there is no scenario 'NOWHERE'               |
      | "--seeds" "5-1"                    | must be such as 3, 1,2,5 or 0-29, not '5-1'  |
      | "--seeds" "few"                    | must be such as 3, 1,2,5 or 0-29, not 'few'  |
      | "--jobs" "0"                       | must be 1 to 9999, not '0'                   |
      | "--csv" "no/out.csv"               | no/out.csv cannot be written                 |
      | "--plot" "no/out.svg"              | no/out.svg cannot be written                 |
      | "--against" "no.csv"               | no.csv cannot be read                        |
      | "--against" "notes.md"             | notes.md is no table of hadr-dispatch eval   |
      | "--cluster" "tcp://127.0.0.1:9"    | no cluster with workers answers at tcp://127.0.0.1:9 |
      | "--jobs" "1" "--cluster" "x"       | not allowed with argument                    |

  Scenario: EVAL-6: one process, two processes and a cluster write the same bytes
    Given a Dask cluster of two workers
    When the rules are evaluated with one job, with two jobs and on the cluster
    Then the three files hold the same bytes

  Scenario: EVAL-7: when a worker dies half-way, the work is finished and nothing is counted twice
    Given a Dask cluster of two workers
    When an evaluation runs on the cluster, and its fourth operation kills the worker that plays it
    Then there is one row for each of its seeds, as without the cluster

  Scenario: EVAL-8: submissions are checked alike in processes and on a cluster
    Given a Dask cluster of two workers
    When two loops are checked by default, with two jobs and on the cluster
    Then the three reports are the same

  Scenario: EVAL-9: the agent takes part through the real loop, and what a provider ends is left out and named
    Given a model that plays
      """
      {"fault": {"status": 401}}
      """
    When I run hadr-dispatch "eval" "--policies" "agent,par" "--scenarios" "DRILL-1" "--seeds" "0" "--csv" "out.csv"
    Then it exits with 4
    And its one complaint says "agent: 1 of its operations could not be finished and count for nothing; DRILL-1 with seed 0 stopped at tick 0"
    And the rows of out.csv are of "par 0"
