"""Takes all the memory that it can get."""


def agent_loop(provider, messages, tools, *, max_rounds=10):
    return ["x" * 10_000_000 for _ in range(100_000)]
