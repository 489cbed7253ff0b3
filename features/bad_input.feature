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
      | other.py  | ""                                   | "--tools-file" "nope.py"      | the tools file cannot be read: nope.py      |
      | .env      | "A=\u00ff"                           | "--quiet"                     | .env cannot be read                         |

  Scenario: BAD-4: a reader that leaves early gets no traceback
    When I run hadr-agent "why is the sky blue?" into a pipe that is closed at once
    Then it exits with 0
    And the complaint says "stdout was closed"

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

  Scenario: BAD-8: a server that is not there is named
    Given the variable OPENAI_BASE_URL is "http://127.0.0.1:9/v1"
    When I run hadr-agent "Hello"
    Then it exits with 4
    And the complaint says "http://127.0.0.1:9/v1/chat/completions"
    And the complaint says "Look at OPENAI_BASE_URL"

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
