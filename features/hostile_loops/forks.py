"""Leaves processes behind that outlive it."""

import os
import time


def agent_loop(provider, messages, tools, *, max_rounds=10):
    for _ in range(5):
        if os.fork() == 0:
            time.sleep(600)
    time.sleep(600)
