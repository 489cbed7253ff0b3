"""For teachers: a student's repository at any phase, and submissions checked. Uses hadr_agent, never the reverse."""
