"""Holds everything but an agent_loop."""


def my_loop():
    return None
