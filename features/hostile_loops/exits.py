"""Ends the program in the middle of a round."""

import sys


def agent_loop(provider, messages, tools, *, max_rounds=10):
    provider.complete(messages, tools.specs)
    sys.exit(0)
