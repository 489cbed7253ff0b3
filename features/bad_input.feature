Feature: Bad input
  Whatever a user gets wrong must be said in a line or two: what is wrong, where, and what to do. A traceback tells a
  beginner nothing, and a key that is printed once is a key that is lost.

  Background:
    Given nothing but the file tools.py
      """
      raise RuntimeError("not today")
      """

  Scenario Outline: BAD-1: a setting that cannot be used is named, with what to do about it
    Given the variable <name> is <value>
    When I run hadr-agent "Hello"
    Then it exits with 2
    And the complaint says "<words>"
    And neither stream says "secret"

    Examples:
      | name            | value                                      | words                              |
      | OPENAI_BASE_URL | "https://api.example.com/v1"               | OPENAI_API_KEY is not set          |
      | OPENAI_BASE_URL | ""                                         | set but empty                      |
      | OPENAI_BASE_URL | "localhost:8000/v1"                        | is not an address                  |
      | OPENAI_BASE_URL | "ftp://localhost/v1"                       | is not an address                  |
      | OPENAI_BASE_URL | "http://a..b/v1"                           | is not an address                  |
      | OPENAI_BASE_URL | "http://user:secret@:80/v1"                | is not an address                  |
      | OPENAI_BASE_URL | "http://localhost:99999/v1"                | is not an address                  |
      | OPENAI_BASE_URL | "http://localhost:8000/v1/chat/completions" | leave out /chat/completions       |
      | OPENAI_API_KEY  | "sk-secret\nkey"                           | OPENAI_API_KEY (from the environment) holds a line break |
      | OPENAI_API_KEY  | "sk-secret-ä"                              | special character                  |

  Scenario Outline: BAD-2: arguments that make no sense are explained
    When I run hadr-agent <arguments>
    Then it exits with 2
    And the complaint says "<words>"

    Examples:
      | arguments                          | words                                |
      | "--max-rounds" "0" "Hello"         | must be at least 1, not '0'          |
      | "--max-rounds" "ten" "Hello"       | must be at least 1, not 'ten'        |
      | "--tools" "now,nope" "Hello"       | unknown tool 'nope'                  |
      | "--tools" "shell" "Hello"          | shell needs --allow-shell            |
      | "--tools" "now,now" "Hello"        | two tools are called 'now'           |
      | "--bogus" "Hello"                  | unrecognized arguments: --bogus      |
      | "roll" "dice"                      | unrecognized arguments: dice         |
      | ""                                 | the task is empty                    |
      | "  \n"                             | the task is empty                    |
      | "-"                                | the task is empty                    |
      | "--quiet"                          | there is no task                     |
      | "serve" "--port" "99999999"        | port 99999999 cannot be used         |
      | "serve" "--script" "tools.py"      | tools.py: line 1: not JSON           |

  Scenario Outline: BAD-3: a file that cannot be used is named, with the line if there is one
    Given the file <file> with the bytes <bytes>
    When I run hadr-agent <arguments> "Hello"
    Then it exits with 2
    And the complaint says "<words>"

    Examples:
      | file      | bytes                                | arguments                     | words                                       |
      | prompt.md | "\u00ff\u00fe"                        | "--system-prompt" "prompt.md" | the system prompt is not text in UTF-8      |
      | other.md  | ""                                   | "--system-prompt" "prompt.md" | the system prompt cannot be read: prompt.md |
      | other.md  | ""                                   | "--system-prompt" "."         | Is a directory                              |
      | other.py  | ""                                   | "--tools-file" "tools.py"     | --tools-file tools.py, line 1: RuntimeError: not today |
      | tools.py  | "import sys\nsys.exit(0)\n"          | "--tools-file" "tools.py"     | line 2: SystemExit                          |
      | tools.py  | "def half(:\n"                       | "--tools-file" "tools.py"     | line 1: SyntaxError                         |
      | tools.py  | "from hadr_agent import tool\n@tool\ndef f(x): pass\n" | "--tools-file" "tools.py" | tool f, parameter 'x': no type hint |
      | tools.py  | "import os\nraise RuntimeError(os.environ['MY_TOKEN'] + chr(27))\n" | "--tools-file" "tools.py" | RuntimeError: ***␛ |
      | other.py  | ""                                   | "--tools-file" "nope.py"      | the tools file cannot be read: nope.py      |
      | .env      | "A=\u00ff"                           | "--quiet"                     | .env cannot be read                         |

  Scenario Outline: BAD-4: a reader that leaves early gets no traceback
    When I run hadr-agent "why is the sky blue?" into a pipe that is closed at once, <and stderr>
    Then it exits with 0

    Examples:
      | and stderr            |
      | stderr is read        |
      | stderr goes there too |

  Scenario: BAD-5: an answer that the output cannot encode is written with escapes, and that is said
    Given the variable PYTHONIOENCODING is "ascii"
    And a model that plays
      """
      {"say": "Grüße"}
      """
    When I run hadr-agent "Hello"
    Then it exits with 0
    And stdout is "Gr\xfc\xdfe"
    And stderr says "stdout cannot show every character"

  Scenario: BAD-6: a disk that is full is said
    When I run hadr-agent "why is the sky blue?" into a full disk
    Then it exits with 3
    And the complaint says "No space left"

  Scenario: BAD-7: nobody at the terminal means that a command is not approved
    Given a model that plays
      """
      {"calls": [{"name": "shell", "arguments": {"command": "touch ran"}}]}
      {"say": "Not allowed."}
      """
    When I run hadr-agent "--allow-shell" "Touch a file"
    Then it exits with 0
    And the model was told "Error: not approved: shell was not run, since nobody allowed it. Go on without it."
    And there is no file "ran"

  Scenario Outline: BAD-8: a server that cannot be reached is named, with what to look at
    Given the variable OPENAI_BASE_URL is "http://127.0.0.1:9/v1"
    And the variable ALL_PROXY is <proxy>
    When I run hadr-agent "--quiet" "Hello"
    Then it exits with <code>
    And stderr says "<words>"
    And stderr says "Look at <what>"
    And neither stream says "secret"

    Examples:
      | proxy                           | code | words                                  | what             |
      | ""                              | 4    | http://127.0.0.1:9/v1/chat/completions | OPENAI_BASE_URL  |
      | "socks9://u:secret@127.0.0.1:1" | 2    | the connection cannot be set up        | the variables of proxies |

  Scenario: BAD-9: an interrupt ends the run with 130 and leaves no call without its tool message
    Given the tools file
      """
      import os, signal, time
      from hadr_agent import tool

      @tool
      def wait() -> str:
          "Wait."
          os.kill(os.getpid(), signal.SIGINT)
          time.sleep(60)
          return "late"
      """
    And a model that plays
      """
      {"calls": [{"name": "wait"}, {"name": "wait"}]}
      """
    When I run hadr-agent "--tools-file" "tools.py" "--json" "go"
    Then it exits with 130
    And the document's history ends with 2 tool messages that say "interrupted"
    And the complaint says "interrupted"
