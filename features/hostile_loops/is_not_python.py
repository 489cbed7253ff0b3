"""Does not parse."""

def agent_loop(:
