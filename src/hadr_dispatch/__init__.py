"""A relief dispatcher on the agent loop: a small world, its tools, and the runner that owns the clock."""
