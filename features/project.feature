Feature: The project keeps its shape
  The loop is small because everything else has its own room. That stays true only if something looks: at the size of
  the loop, at who may import whom, at what a newcomer waits for, at the ids that students type.

  Scenario: PROJECT-1: the loop can be read aloud: agent.py has fewer than 100 lines and no branch that belongs elsewhere
    When agent.py is read
    Then it has fewer than 100 lines
    And it has one loop over rounds, nothing deeper than a loop in it, and no except

  Scenario Outline: PROJECT-2: a room imports only the rooms it may know
    When the imports of the rooms are read
    Then <room> imports none of <forbidden>

    Examples:
      | room                                  | forbidden                                                                                   |
      | agent                                 | display, settings, scripted, example_tools, httpx2                                          |
      | tools                                 | agent, provider, display, settings, scripted, openai                                        |
      | provider                              | agent, display, settings, scripted                                                          |
      | thinking                              | agent, tools, provider, display, settings, scripted, openai                                 |
      | settings                              | agent, tools, provider, display, scripted, openai                                           |
      | scripted                              | agent, display, settings                                                                    |
      | text_tools                            | agent, limits, transcript, chat, report, compare, display, settings, scripted, httpx2       |
      | transcript                            | agent, limits, thinking, chat, report, compare, display, settings, scripted, openai, httpx2 |
      | limits                                | transcript, thinking, chat, report, compare, display, settings, scripted, openai, httpx2    |
      | chat                                  | agent, limits, transcript, thinking, report, compare, settings, scripted, openai, httpx2    |
      | report                                | agent, limits, transcript, chat, compare, display, settings, scripted, openai, httpx2       |
      | compare                               | tools, limits, transcript, chat, report, display, settings, scripted, openai, httpx2        |
      | every room                            | cli, hadr_course, hadr_dispatch                                                             |
      | every room but display                | rich                                                                                        |
      | every room but settings               | dotenv                                                                                      |
      | every room of hadr_course             | cli, hadr_dispatch, rich, dotenv                                                            |
      | every room of hadr_dispatch           | cli, hadr_course, dotenv                                                                    |
      | every room of hadr_dispatch but board | rich                                                                                        |

  Scenario Outline: PROJECT-3: what costs time is loaded when it is needed
    When Python runs <code>
    Then it has loaded none of openai, pydantic, rich, httpx2, dotenv

    Examples:
      | code                                                        |
      | import hadr_agent                                           |
      | from hadr_agent.cli import main; main(['--help'])           |
      | from hadr_agent.cli import main; main(['--version'])        |
      | from hadr_agent import strip_think; strip_think('x')        |

  Scenario Outline: PROJECT-4: behave -n runs the one scenario that is meant, and fails if there is none
    When behave runs with -n <id>
    Then it runs <count> scenario and exits with <code>

    Examples:
      | id      | count | code |
      | LOOP-3  | 1     | 0    |
      | LOOP-99 | 0     | 1    |

  Scenario: PROJECT-5: every scenario has an id that a student can type
    When the features are read
    Then every scenario is called by an id, a colon and a sentence, and each id stands once
    And no family goes beyond nine, and none leaves a number out
    And no sentence mentions another id

  Scenario: PROJECT-6: what the README shows is what there is: its commands work, its loop is the loop
    When the hadr-agent and hadr-dispatch commands of the README are run offline, beside the files that it shows
    Then each of them exits with 0
    And the loop that it shows stands in agent.py

  Scenario Outline: PROJECT-7: a caller's mistake is told at once, and names the thing
    When a caller writes <code>
    Then it raises <error> that says "<words>"

    Examples:
      | code                                                  | error      | words                                 |
      | OpenAIProvider(OpenAI(), "m", tools=[])               | TypeError  | tools: the provider itself puts this into each request |
      | OpenAIProvider(OpenAI(), "m").with_options(stream=1)  | TypeError  | stream: the provider itself puts this into each request |
      | agent_loop(provider, [], Toolbox(), max_rounds=0)     | ValueError | max_rounds must be at least 1, not 0  |
      | agent_loop(provider, [], Toolbox(), max_rounds=-3)    | ValueError | max_rounds must be at least 1, not -3 |
      | Toolbox(now, now)                                     | ValueError | two tools are called 'now'            |
      | Toolbox(print)                                        | TypeError  | put @tool on the function             |

  Scenario: PROJECT-8: every public name is there and says what it is
    When the public names are loaded
    Then each of them has a docstring
